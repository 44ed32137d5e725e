"""How files that were checked together fit: run and qrels, run and topics, topics and qrels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hybridcli.commands.checking.reading import Checked
from hybridcli.evaluation.coverage import TOP, Coverage, cover, match_queries
from hybridcli.formats.checks.registry import some
from hybridcli.records import Sheet
from hybridcli.report.findings import Pair

SHOWN = 20  # near matches listed
MISSING = (
    "judged queries missing from the run: each counts 0 here, in ir_measures and in trec_eval -c; "
    "trec_eval 9 without -c and pytrec_eval leave them out, trec_eval 10 without -c and ranx stop"
)


def check_pairs(checked: Sequence[Checked], named: Sequence[Checked]) -> Iterator[Pair]:
    """Compare every run with the qrels and the topics, and the topics with the qrels.

    Those of ``named`` (--qrels, --topics) are taken, else the only ones among ``checked``: with several qrels it is
    not known which belong to which run.
    """
    qrels, topics = _only("qrels", checked, named), _only("topics", checked, named)
    for run in _of_kind("run", checked):
        if qrels is not None:
            yield _run_and_qrels(run, qrels)
        if topics is not None:
            coverage = match_queries(run.content.queries, topics.content.qids)
            pair = _pair(run, topics, coverage)
            _missing(pair.sheet, "unknown-queries", "queries of the run without a topic", coverage.left_only)
            _missing(pair.sheet, "unanswered", "topics without a query in the run", coverage.right_only)
            yield pair
    if qrels is not None and topics is not None:
        coverage = match_queries(topics.content.qids, qrels.content.qrels.queries)
        pair = _pair(topics, qrels, coverage)
        _missing(pair.sheet, "unjudged", "topics without judgements", coverage.left_only)
        _missing(pair.sheet, "unknown-queries", "judged queries without a topic", coverage.right_only)
        yield pair


def _of_kind(kind: str, checked: Sequence[Checked]) -> list[Checked]:
    return [one for one in checked if one.sheet.kind == kind and one.content is not None]


def _only(kind: str, checked: Sequence[Checked], named: Sequence[Checked]) -> Checked | None:
    found = _of_kind(kind, named) or _of_kind(kind, checked)
    return found[0] if len(found) == 1 else None


def _run_and_qrels(run: Checked, qrels: Checked) -> Pair:
    coverage = cover(run.content, qrels.content.qrels)
    pair = _pair(run, qrels, coverage)
    sheet = pair.sheet
    _missing(sheet, "missing", MISSING, coverage.right_only)
    text = "queries of the run without judgements, which enter no mean"
    _missing(sheet, "unjudged", text, coverage.left_only)
    if coverage.top:
        sheet.facts[f"judged_in_top_{TOP}"] = coverage.judged / coverage.top
        sheet.facts[f"relevant_in_top_{TOP}"] = coverage.relevant / coverage.top
        sheet.facts["relevant_retrieved"] = coverage.found
        sheet.facts["judged_not_retrieved"] = coverage.unseen
        unjudged = coverage.top - coverage.judged
        if not coverage.judged:
            sheet.note(
                "unjudged-documents",
                f"no document of any top {TOP} is judged: do both files name documents the same way?",
                count=unjudged,
            )
        elif unjudged:
            text = f"{unjudged:,} of {coverage.top:,} documents in the top {TOP} are unjudged and count as not relevant"
            sheet.note("unjudged-documents", text, count=unjudged)
    return pair


def _pair(left: Checked, right: Checked, coverage: Coverage) -> Pair:
    sheet = Sheet(left.sheet.path, f"{left.sheet.kind} and {right.sheet.kind}")
    sheet.facts["queries_in_both"] = coverage.both
    if not coverage.both:
        sheet.add("no-common-query", "no query is in both files")
    for mine, other in coverage.lookalikes[:SHOWN]:
        text = (
            f"{mine!a} here and {other!a} there look alike but are different ids (ids are compared as bytes)"
        )
        sheet.add("lookalike", text)
    if len(coverage.lookalikes) > SHOWN:
        sheet.add("lookalike", f"{len(coverage.lookalikes) - SHOWN:,} more ids that look alike")
    return Pair(sheet, right.sheet.path)


def _missing(sheet: Sheet, kind: str, text: str, queries: list[str]) -> None:
    if queries:
        sheet.note(kind, f"{text} ({len(queries):,}): {some(queries)}", count=len(queries))
