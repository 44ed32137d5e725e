"""Means by slice: macro means weigh every slice alike, micro means every query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hybridcli.evaluation.comparisons import Comparison, Inference, Pair, compare_pairs
from hybridcli.evaluation.resampling import Units
from hybridcli.evaluation.scores import Scores
from hybridcli.records import Floats, Ints

NO_VALUE = "(none)"  # queries that a slices file does not mention


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """One slice: n queries, their means (float64[R, M]), and the comparisons on them alone."""

    name: str
    n: int
    means: Floats
    comparisons: list[Comparison]


@dataclass(frozen=True, slots=True, eq=False)
class Sliced:
    """All slices of one kind, with the macro mean over them and the micro mean over their queries."""

    name: str
    slices: list[Slice]
    macro: Floats
    micro: Floats
    labels: list[str]
    measures: list[str]


def slice_positions(queries: Sequence[str], values: Mapping[str, str]) -> dict[str, Ints]:
    """Positions of the queries of each value, values in byte order, queries without one last."""
    found: dict[str, list[int]] = {}
    for at, qid in enumerate(queries):
        found.setdefault(values.get(qid, NO_VALUE), []).append(at)
    ordered = sorted(found, key=lambda value: (value == NO_VALUE, value))
    return {value: np.array(found[value], dtype=np.int64) for value in ordered}


def slice_scores(
    name: str, parts: Mapping[str, tuple[Scores, Units]], pairs: Sequence[Pair], how: Inference
) -> Sliced:
    """Evaluate each part; a part without queries is left out."""
    slices = [
        Slice(value, len(scores.queries), scores.means(), compare_pairs(scores, pairs, units, how))
        for value, (scores, units) in parts.items()
        if scores.queries
    ]
    first = next(iter(parts.values()))[0]
    shape = (len(first.labels), len(first.measures))
    total = sum(part.n for part in slices)
    macro = sum((part.means for part in slices), np.zeros(shape)) / max(len(slices), 1)
    micro = sum((part.means * part.n for part in slices), np.zeros(shape)) / max(total, 1)
    return Sliced(name, slices, macro, micro, first.labels, first.measures)
