"""What ``compare`` is asked to compare, and what it says beside the tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from hybridcli.console import warn
from hybridcli.evaluation.comparisons import Comparison, Pair, plan_pairs, split_pair
from hybridcli.evaluation.resampling import Units
from hybridcli.evaluation.scores import Scores
from hybridcli.formats.files import read_lines
from hybridcli.formats.per_query import per_query_line

FEW_UNITS = 10  # fewer groups than this carry no reliable interval


def declared_pairs(
    labels: list[str], paths: list[str], baselines: list[str], pairs: list[str], planned: list[str]
) -> list[Pair]:
    """Pairs as asked for; a baseline may be named by its label or by its file."""
    label_of = dict(zip(paths, labels, strict=True))
    declared = []
    for text in planned:
        lines = [line for _, line in read_lines(text)] if Path(text).is_file() else [text]
        declared += [
            split_pair(line, ">", labels) for line in lines if line.strip() and not line.startswith("#")
        ]
    if len(labels) == 1:
        return []
    return plan_pairs(
        labels,
        baselines=[label_of.get(name, name) for name in baselines],
        pairs=[split_pair(text, ",", labels) for text in pairs if text != "all"],
        all_pairs="all" in pairs,
        planned=declared,
    )


def inference_notes(units: Units, comparisons: Sequence[Comparison]) -> list[str]:
    """What a reader must know before believing an interval or a p-value."""
    notes = []
    if units.grouped and units.count < FEW_UNITS:
        few = f"{units.count} groups only: intervals, MDE and equivalence need more (10 at the least); rough"
        warn(few)
        notes.append(few)
    if units.count < 2:
        notes.append("one unit only: no interval, no bootstrap and no t can be had from it")
    same = [c for c in comparisons if c.ties == c.n]
    if same:
        listed = ", ".join(dict.fromkeys(f"{c.pair.left} and {c.pair.right} ({c.measure})" for c in same[:5]))
        notes.append(f"the same value on every query: {listed}")
    return notes


def per_query_lines(scores: Scores) -> Iterator[str]:
    """trec_eval -q lines, then the means under ``all``; with several runs the label stands in front."""
    for row, label in enumerate(scores.labels):
        front = f"{label}\t" if len(scores.labels) > 1 else ""
        for at, qid in enumerate(scores.queries):
            for column, name in enumerate(scores.measures):
                yield front + per_query_line(name, qid, float(scores.values[row, column, at]))
        for column, name in enumerate(scores.measures):
            yield front + per_query_line(name, "all", float(scores.means()[row, column]))
