"""How much could weights gain: the best fixed point of a grid, the best point of each query, and what no point can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hybridcli.adaptive.contest import Contest
from hybridcli.adaptive.training import TOLERANCE, first_best
from hybridcli.errors import UsageError
from hybridcli.evaluation.measures import Measure
from hybridcli.fusion.weights import box_points, exact_weights, preference, simplex_points, steps_of
from hybridcli.records import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Weightings in order of preference among equals: nearest to equal weights, then lexicographically.

    ``points``: int64[G, R], weights as multiples of 1 / ``steps``.
    """

    points: Ints
    steps: int

    @classmethod
    def of(cls, n_runs: int, step: str | float, *, box: bool = False, forced: Sequence[int] = ()) -> Grid:
        """The simplex (weights sum to 1), or the box [0, 1]^R; ``forced`` runs always have a weight above 0."""
        steps = steps_of(step)
        points = (box_points if box else simplex_points)(n_runs, steps)
        for run in forced:
            points = points[points[:, run] > 0]
        if not len(points):
            raise UsageError(f"--grid {step}: no point gives every forced run a weight; take a smaller step")
        return cls(points[preference(points)], steps)

    @property
    def weights(self) -> Floats:
        """float64[G, R]."""
        return exact_weights(self.points, self.steps)


@dataclass(frozen=True, slots=True, eq=False)
class Landscape:
    """One measure of Q queries over the P = G · K points of K grids that differ in rrf_k.

    ``weights``: float64[P, R] in order of preference; ``variant``: int64[P], 0 … K − 1. ``curve``: float64[P, Q].
    ``equal``: float64[Q], equal weights with the first variant. ``singles``: float64[R, Q], each run alone.
    """

    measure: str
    weights: Floats
    variant: Ints
    curve: Floats
    equal: Floats
    singles: Floats

    @property
    def means(self) -> Floats:
        """Mean over all queries at each point: float64[P]."""
        means: Floats = self.curve.mean(axis=1)
        return means

    @property
    def best(self) -> tuple[int, int]:
        """The preferred one of the points with the highest mean, and how many have it."""
        return first_best(self.means)

    @property
    def oracle(self) -> Floats:
        """The best value of each query: float64[Q]."""
        best: Floats = self.curve.max(axis=0)
        return best

    @property
    def best_by_query(self) -> tuple[Ints, Ints]:
        """The preferred one of each query's best points, int64[Q], and how many are as good, int64[Q]."""
        top = self.oracle
        equal = self.curve >= top - TOLERANCE * np.maximum(np.abs(top), 1.0)
        return equal.argmax(axis=0), equal.sum(axis=0)

    @property
    def unreachable(self) -> int:
        """Number of queries that are 0 at every point."""
        return int((self.oracle <= 0).sum())


def survey(contests: Sequence[Contest], measures: Sequence[Measure], grid: Grid) -> list[Landscape]:
    """Evaluate every point of the grid on each of K contests over the same queries (one an rrf_k)."""
    n_runs, variants = contests[0].n_runs, len(contests)
    curves = np.stack([contest.values(measures, grid.weights) for contest in contests], axis=2)
    fixed = contests[0].values(measures, np.vstack([np.full(n_runs, 1.0 / n_runs), np.eye(n_runs)]))
    return [
        Landscape(
            measure=measure.name,
            weights=np.repeat(grid.weights, variants, axis=0),
            variant=np.tile(np.arange(variants), len(grid.points)),
            curve=curve.reshape(-1, curve.shape[-1]),
            equal=known[0],
            singles=known[1:],
        )
        for measure, curve, known in zip(measures, curves, fixed, strict=True)
    ]


def candidate_reach(contest: Contest, firsts: Sequence[int]) -> list[tuple[str, int | None, float]]:
    """The share of queries with a relevant document among the candidates at all: (where, first k, share).

    ``where`` is ``union`` or the number of a run, from 1; no re-ordering of these candidates can answer more.
    """
    best = contest.best_ranks()
    rows: list[tuple[str, int | None, float]] = []
    for first in (None, *firsts):
        found = (best > 0) & (best <= (first or best.max(initial=0)))
        rows.append(("union", first, float(found.any(axis=0).mean())))
        rows += [(str(run + 1), first, float(hit.mean())) for run, hit in enumerate(found)]
    return rows
