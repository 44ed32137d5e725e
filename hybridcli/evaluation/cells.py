"""Every system in every cell, a cell being a measure on a slice of the documents: means, deviations, comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hybridcli.evaluation.comparisons import Comparison, Inference, Pair, compare_pairs
from hybridcli.evaluation.ranking import Ranking, distinct_cells, rank_systems
from hybridcli.evaluation.resampling import Units
from hybridcli.evaluation.scores import Scores
from hybridcli.records import Codes, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One slice: ``means`` and ``deviations`` (of the folds' means; None without folds), float64[R, M]."""

    name: str
    n: int
    means: Floats
    deviations: Floats | None
    comparisons: list[Comparison]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """All parts, the ranking over their distinct cells, and what cells were left out as repeats of another.

    ``names``: of the ranked cells, ``MEASURE SLICE``. ``alike``: systems with the same value on every query of
    every cell, in groups of two or more; they are ranked as one of ``systems`` different ones and share its ranks.
    """

    labels: list[str]
    measures: list[str]
    parts: list[Part]
    ranking: Ranking
    names: list[str]
    repeats: dict[str, str]
    alike: list[list[str]]
    systems: int
    folds: int | None


def fold_deviations(scores: Scores, folds: Codes) -> Floats:
    """Standard deviation (n − 1) of the means of the folds that have queries; ``folds``: int32[Q]. float64[R, M]."""
    means = [scores.values[:, :, folds == fold].mean(axis=2) for fold in np.unique(folds)]
    if len(means) < 2:
        return np.zeros(scores.values.shape[:2])
    deviations: Floats = np.std(means, axis=0, ddof=1)
    return deviations


def make_cells(
    parts: Mapping[str, tuple[Scores, Units, Codes | None]],
    pairs: Sequence[Pair],
    how: Inference,
    folds: int | None,
) -> Cells:
    """Evaluate each part (scores, units, the fold of each query) and rank the systems over all cells."""
    found = [
        Part(
            name,
            len(scores.queries),
            scores.means(),
            None if of_query is None else fold_deviations(scores, of_query),
            compare_pairs(scores, pairs, units, how),
        )
        for name, (scores, units, of_query) in parts.items()
    ]
    first = next(iter(parts.values()))[0]
    values = np.concatenate([part.means for part in found], axis=1)
    names = [f"{measure} {part.name}" for part in found for measure in first.measures]
    kept, repeats = distinct_cells(values)
    alike = _alike(first.labels, [scores for scores, _, _ in parts.values()])
    stands_for = {label: group[0] for group in alike for label in group}
    chosen = [at for at, label in enumerate(first.labels) if stands_for.get(label, label) == label]
    place = {first.labels[at]: row for row, at in enumerate(chosen)}
    ranking = rank_systems(values[chosen][:, kept], how.level)
    ranks = ranking.ranks[[place[stands_for.get(label, label)] for label in first.labels]]
    return Cells(
        first.labels,
        first.measures,
        found,
        replace(ranking, ranks=ranks),
        [names[at] for at in kept],
        {names[at]: names[of] for at, of in repeats.items()},
        alike,
        len(chosen),
        folds,
    )


def _alike(labels: Sequence[str], scores: Sequence[Scores]) -> list[list[str]]:
    groups: dict[bytes, list[str]] = {}
    for at, label in enumerate(labels):
        key = b"".join((np.round(part.values[at], 12) + 0.0).tobytes() for part in scores)
        groups.setdefault(key, []).append(label)
    return [group for group in groups.values() if len(group) > 1]
