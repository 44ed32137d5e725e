"""Reading what is evaluated: from run files and qrels to per-query scores, one run in memory at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridcli.commands.common.runs import require_known_runs, warn_of_foreign_run
from hybridcli.commands.comparing.parts import Part, View, read_parts
from hybridcli.errors import DataError, UsageError
from hybridcli.evaluation.external import external_values, parse_external
from hybridcli.evaluation.hits import Hits, Matcher, judgments_of, merge_hits
from hybridcli.evaluation.measures import Measure, is_own, parse_measure
from hybridcli.evaluation.scores import (
    Scores,
    condensed,
    distinct_labels,
    keep_documents,
    keep_judgments,
)
from hybridcli.formats.files import name_of, stem_of
from hybridcli.formats.per_query import read_per_query
from hybridcli.formats.run_batches import RunBatches, RunSource
from hybridcli.formats.runs import report_findings
from hybridcli.records import Floats, Qrels, Run


@dataclass(slots=True)
class Reading:
    """How runs are read and scored.

    ``condense``: also without unjudged documents. ``keep``: the runs themselves are wanted later.
    ``doc_slices``: docno to slice.
    """

    measures: list[Measure | Any]
    lenient: bool = False
    lower_is_better: Sequence[str] = ()
    condense: bool = False
    keep: bool = False
    doc_slices: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the measures, as printed."""
        return [m.name if isinstance(m, Measure) else str(m) for m in self.measures]


@dataclass(slots=True)
class Evaluated:
    """``scores`` of all systems, ``condensed`` without unjudged documents, ``by_slice`` on document slices.

    ``facts``: one entry a system, for notes and JSON.
    """

    qrels: Qrels
    scores: Scores
    condensed: Scores | None
    by_slice: dict[str, Scores]
    runs: list[Run]
    facts: list[dict[str, Any]]


def parse_measures(names: Sequence[str]) -> list[Measure | Any]:
    """Read the names of measures: our own, else those of ir_measures; each once."""
    found = [parse_measure(name) if is_own(name) else parse_external(name) for name in names]
    return list({m.name if isinstance(m, Measure) else str(m): m for m in found}.values())


def evaluate(qrels: Qrels, paths: Sequence[str], values: Sequence[str], how: Reading) -> Evaluated:
    """Score run files, then files of per-query values, against the qrels."""
    every = [*paths, *values]
    twice = [path for path in every if every.count(path) > 1]
    if twice:
        raise UsageError(f"{twice[0]} is given twice")
    if values and (how.condense or how.keep or how.doc_slices):
        raise UsageError(
            "per-query values (--values) hold no documents: --agreement, --doc-slices and "
            "--without-unjudged need runs"
        )
    require_known_runs("--lower-is-better", how.lower_is_better, paths)
    labels = distinct_labels([stem_of(path) for path in every], every)
    main, condensed_view, slices = _views(qrels, how)
    views = [main, *slices.values(), *([condensed_view] if condensed_view else [])]
    answered: list[NDArray[np.bool_]] = []
    facts: list[dict[str, Any]] = []
    kept: list[Run] = []
    for label, path in zip(labels, paths, strict=False):
        whole = how.keep or any(not isinstance(m, Measure) for m in how.measures)
        source = RunBatches(
            [RunSource(path)], lenient=how.lenient, lower_is_better=[path in how.lower_is_better]
        )
        tag, parts = read_parts(source, views, whole=whole)
        report_findings([path], source.findings)
        for at, view in enumerate(views):
            hits = merge_hits([part.hits[at] for part in parts])
            view.rows.append(_score(hits, parts[0].run, view, how))
        present = np.zeros(len(qrels.queries), dtype=bool)
        for part in parts:
            present[part.places[(part.places >= 0) & (part.lengths > 0)]] = True
        answered.append(present)
        found = sum(len(part.hits[0].query) for part in parts)
        warn_of_foreign_run(label, int(present.sum()), found, int(main.judgments.relevant.sum()))
        facts.append(
            {"label": label, "path": name_of(path), "tag": tag, **_counts(parts, len(qrels.queries))}
        )
        kept += [parts[0].run] if how.keep and parts[0].run is not None else []
    for label, path in zip(labels[len(paths) :], values, strict=True):
        given, present = _given_values(path, qrels, how)
        main.rows.append(given)
        answered.append(present)
        facts.append({"label": label, "path": name_of(path), "missing": int((~present).sum())})

    def scores_of(view: View) -> Scores:
        found = (np.stack(view.rows), np.stack(answered), view.judgments.relevant)
        return Scores(labels, how.names, qrels.queries, *found)

    by_slice = {
        name: scores_of(view).take(np.flatnonzero(view.judgments.judged > 0)) for name, view in slices.items()
    }
    without = scores_of(condensed_view) if condensed_view else None
    return Evaluated(qrels, scores_of(main), without, by_slice, kept, facts)


def _views(qrels: Qrels, how: Reading) -> tuple[View, View | None, dict[str, View]]:
    judgments = judgments_of(qrels)
    slices = {}
    for name in sorted(set(how.doc_slices.values())):
        part = keep_judgments(qrels, _in_slice(how.doc_slices, name, qrels.docnos))
        if not len(part.docs):
            raise DataError(f"no judged document is in the document slice {name!r}")

        def keep(run: Run, name: str = name) -> NDArray[np.bool_]:
            return _in_slice(how.doc_slices, name, run.docnos)

        slices[name] = View(judgments_of(part), Matcher(part), keep)
    matcher = Matcher(qrels)
    return (
        View(judgments, matcher),
        View(judgments, matcher, condense=True) if how.condense else None,
        slices,
    )


def _in_slice(values: dict[str, str], name: str, docnos: Iterable[str]) -> NDArray[np.bool_]:
    return np.array([values.get(docno) == name for docno in docnos], dtype=bool)


def _score(hits: Hits, run: Run | None, view: View, how: Reading) -> Floats:
    """Values of all measures: float64[M, Q]."""
    own = [m for m in how.measures if isinstance(m, Measure)]
    other = [m for m in how.measures if not isinstance(m, Measure)]
    hits = condensed(hits) if view.condense else hits
    values = {m.name: m.values(view.judgments, hits) for m in own}
    if other and run is not None:
        if view.condense:
            raise UsageError(f"--without-unjudged: {other[0]} is not one of our own measures")
        part = run if view.keep is None else keep_documents(run, view.keep(run))
        values |= zip(map(str, other), external_values(other, part, view.matcher.qrels), strict=True)
    return np.stack([values[name] for name in how.names])


def _counts(parts: Sequence[Part], judged: int) -> dict[str, int]:
    places = np.concatenate([part.places for part in parts])
    return {
        "queries": len(places),
        "unjudged": int((places < 0).sum()),
        "missing": judged - int((places >= 0).sum()),
        "narrow_ties": sum(part.narrow_ties for part in parts),
        "tied_queries": sum(part.tied_queries for part in parts),
    }


def _given_values(path: str, qrels: Qrels, how: Reading) -> tuple[Floats, NDArray[np.bool_]]:
    """Per-query values of a file, float64[M, Q], and which queries it gives; others count 0."""
    given = {}
    for name, of_query in read_per_query(path).items():
        given[parse_measure(name).name if is_own(name) else name] = of_query
    for name in how.names:
        if name not in given:
            raise DataError(f"no values of {name} here, only of {', '.join(given)}", path=name_of(path))
    place = {qid: at for at, qid in enumerate(qrels.queries)}
    values = np.zeros((len(how.names), len(place)))
    present = np.zeros(len(place), dtype=bool)
    for row, name in enumerate(how.names):
        for qid, value in given[name].items():
            if qid in place:
                values[row, place[qid]] = value
                present[place[qid]] = True
    return values, present


def data_notes(evaluated: Evaluated, scores: Scores) -> list[str]:
    """What a reader must know of the inputs: judged, unjudged and missing queries, ties in 32 bits.

    ``scores``: those of the queries that enter the means.
    """
    qrels, notes = evaluated.qrels, []
    empty = int((scores.relevant == 0).sum())
    if empty:
        counts = "counts" if empty == 1 else "count"
        notes.append(f"{empty:,} judged {_queries(empty)} no relevant document and {counts} 0 for every run")
    if any(name.startswith("RefHit") for name in evaluated.scores.measures):
        if qrels.pairs is None:
            notes.append("the qrels name no references: RefHit@k is Success@k here")
        elif qrels.reference_counts is not None:
            notes.append(f"RefHit: {int(qrels.reference_counts.sum()):,} references with a relevant document")
    others = [name for name in evaluated.scores.measures if not is_own(name)]
    if others:
        notes.append(f"computed by ir_measures, on our order: {', '.join(others)}")
    for fact in evaluated.facts:
        label = fact["label"]
        if fact["missing"]:
            notes.append(
                f"{label}: {fact['missing']:,} judged {_queries(fact['missing'], 'is', 'are')} missing"
            )
        if fact.get("unjudged"):
            unjudged = fact["unjudged"]
            notes.append(f"{label}: {unjudged:,} {_queries(unjudged, 'is', 'are')} not judged and left out")
    notes += narrow_ties(evaluated)
    tied = [f"{f['label']} {f['tied_queries']:,}" for f in evaluated.facts if f.get("tied_queries")]
    if tied:
        notes.append(f"queries with equal scores, put in order by docno: {', '.join(tied)}")
    return notes


def narrow_ties(evaluated: Evaluated) -> list[str]:
    """Runs that trec_eval 9, which reads 32-bit floats, may order in another way."""
    return [
        f"{fact['label']}: pairs of neighbours that tie in 32 bits only: {fact['narrow_ties']:,}; trec_eval 9 (float) "
        "may order them in another way"
        for fact in evaluated.facts
        if fact.get("narrow_ties")
    ]


def _queries(count: int, one: str = "has", many: str = "have") -> str:
    return f"query {one}" if count == 1 else f"queries {many}"
