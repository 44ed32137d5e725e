"""The checks of topics, windows, references and provenance: texts, most of them JSONL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from hybridcli.errors import DataError
from hybridcli.formats.checks.registry import Checked, checker
from hybridcli.formats.checks.source import Source, decoded_lines, line_notes
from hybridcli.formats.jsonl import Row, id_field, rows_of
from hybridcli.formats.references import PARQUET_MAGIC, judged_of, references_of
from hybridcli.formats.topics import form_of, trec_topics
from hybridcli.formats.windows import window_of
from hybridcli.records import Sheet, Topics

T = TypeVar("T")


@checker("topics", "TSV qid<TAB>text, JSONL or TREC topics")
def check_topics(source: Source) -> Checked:
    """List everything odd in topics; the content is Topics without bad lines, the first of each qid."""
    sheet, lines = _begin(source, "topics")
    form = form_of(lines)
    if form is trec_topics:
        found = _all_or_first(sheet, lambda: form(lines, source.path))
    else:
        found = list(_each(sheet, lines, lambda line: form([line], source.path)))
    topics = Topics([], [])
    seen: dict[str, int | None] = {}
    for line, qid, text in found:
        if qid in seen:
            sheet.add("duplicate", f"qid {qid} again, first on line {seen[qid]}", line)
            continue
        seen[qid] = line
        if not text:
            sheet.add("empty-query", f"the text of query {qid} is empty", line)
        topics.qids.append(qid)
        topics.texts.append(text)
    sheet.facts.update({"lines": len(lines), "queries": len(topics.qids)})
    sheet.facts["form"] = form.__name__.removesuffix("_topics").upper()
    return _end(sheet, topics if topics.qids else None)


@checker("windows", "JSONL of hybridcli window")
def check_windows(source: Source) -> Checked:
    """List everything odd in windows."""
    sheet, lines = _begin(source, "windows")
    windows = list(_each_row(sheet, lines, source.path, window_of))
    seen: dict[str, int] = {}
    documents: dict[str, None] = {}
    apart: dict[str, int] = {}
    last = None
    for line, window in windows:
        if seen.setdefault(window.id, line) != line:
            sheet.add("duplicate", f"window {window.id} again, first on line {seen[window.id]}", line)
        if window.doc != last and window.doc in documents:
            apart.setdefault(window.doc, line)
        documents[window.doc] = None
        last = window.doc
    if apart:
        sheet.add(
            "scattered",
            f"windows of document {next(iter(apart))} stand apart ({len(apart):,} such documents)",
            next(iter(apart.values())),
        )
    sheet.facts.update({"lines": len(windows), "documents": len(documents)})
    sheet.facts["kinds"] = dict(sorted(Counter(window.kind for _, window in windows).items()))
    return _end(sheet, windows or None)


@checker("references", "JSONL or Parquet of queries with their evidence texts")
def check_references(source: Source) -> Checked:
    """List everything odd in references; of Parquet, the first thing that is wrong."""
    if source.data[:4] == PARQUET_MAGIC:
        sheet = Sheet(source.path, "references")
        judged = _all_or_first(sheet, lambda: references_of(source.data, source.path))
    else:
        sheet, lines = _begin(source, "references")
        judged = []
        first: dict[str, int] = {}
        for line, query in _each_row(sheet, lines, source.path, judged_of):
            if first.setdefault(query.qid, line) != line:
                sheet.add("duplicate", f"qid {query.qid} again, first on line {first[query.qid]}", line)
                continue
            judged.append(query)
            if not query.references:
                sheet.note("no-reference", f"query {query.qid} has no reference", line)
            if any(not text.strip() for text in query.references):
                sheet.add("empty-reference", f"query {query.qid} has an empty reference", line)
    sheet.facts.update({"queries": len(judged), "references": sum(len(q.references) for q in judged)})
    groups = {query.group for query in judged if query.group is not None}
    sheet.facts["groups"] = len(groups)
    return _end(sheet, judged or None)


@checker("provenance", "JSONL of map-labels")
def check_provenance(source: Source) -> Checked:
    """List lines that are no provenance, and references named twice."""
    sheet, lines = _begin(source, "provenance")
    seen: dict[tuple[str, str], int] = {}
    statuses: Counter[str] = Counter()
    for line, (qid, reference, status) in _each_row(sheet, lines, source.path, _provenance):
        if seen.setdefault((qid, reference), line) != line:
            first = seen[qid, reference]
            sheet.add("duplicate", f"reference {reference} of query {qid} again, first on line {first}", line)
        statuses[status] += 1
    sheet.facts.update({"lines": len(lines), "queries": len({qid for qid, _ in seen})})
    sheet.facts["references"] = dict(sorted(statuses.items()))
    return _end(sheet, seen or None)


def _provenance(row: Row, path: str, line: int) -> tuple[str, str, str]:
    qid = id_field(row, ("qid",), "qid", path, line)
    reference = id_field(row, ("reference",), "reference", path, line)
    status = row.get("status")
    if status not in ("resolved", "unresolved"):
        raise DataError(f"status is {status!r}; resolved or unresolved is needed", path=path, line=line)
    return qid, reference, status


def _begin(source: Source, kind: str) -> tuple[Sheet, list[tuple[int, str]]]:
    lines, problems = decoded_lines(source)
    return Sheet(source.path, kind, problems + line_notes(source, columns=False)), lines


def _end(sheet: Sheet, content: Any) -> Checked:
    if content is None and not sheet.wrong:
        sheet.add("empty", f"holds no {sheet.kind}")
    sheet.problems.sort(key=lambda problem: (not problem.wrong, problem.line or 0))
    return sheet, content


def _each(
    sheet: Sheet, lines: Iterable[tuple[int, str]], read: Callable[[tuple[int, str]], Iterable[T]]
) -> Iterator[T]:
    """Read line by line; a line that cannot be read becomes a problem."""
    for line in lines:
        try:
            yield from list(read(line))
        except DataError as error:
            sheet.add("line", error.message, error.line)


def _each_row(
    sheet: Sheet, lines: Iterable[tuple[int, str]], path: str, make: Callable[[Row, str, int], T]
) -> Iterator[tuple[int, T]]:
    return _each(
        sheet,
        lines,
        lambda line: [(number, make(row, path, number)) for number, row in rows_of([line], path)],
    )


def _all_or_first(sheet: Sheet, read: Callable[[], Iterable[T]]) -> list[T]:
    """Read as a whole; what a reader refuses first becomes the only problem."""
    found: list[T] = []
    try:
        for item in read():
            found.append(item)
    except DataError as error:
        sheet.add("line", error.message, error.line)
    return found
