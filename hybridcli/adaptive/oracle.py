"""How much could weights gain: the best fixed point of a grid, the best point of each query, and what no point can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hybridcli.adaptive.contest import Contest
from hybridcli.adaptive.exhaustive import Table
from hybridcli.adaptive.training import TOLERANCE, first_best
from hybridcli.errors import UsageError
from hybridcli.evaluation.measures import Measure
from hybridcli.evaluation.resampling import Sample, Units, interval_of
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


def forced_runs(forced: Sequence[str], runs: Sequence[str]) -> list[int]:
    """Read conditions ``RUN>0``: the numbers of the runs, from 0."""
    found = []
    for condition in forced:
        name, sign, zero = condition.rpartition(">")
        if not sign or zero.strip() != "0" or name.strip() not in runs:
            raise UsageError(f"--force {condition!r}: write RUN>0, where RUN is one of {', '.join(runs)}")
        found.append(list(runs).index(name.strip()))
    return found


def spread(queries: Sequence[str], weights: Floats, wanted: Sequence[str]) -> Floats:
    """Give weights, float64[Q, R], in the order of ``wanted``: float64[R, W]; a query not known gets equal weights."""
    known = dict(zip(queries, weights, strict=True))
    equal = np.full(weights.shape[1], 1.0 / weights.shape[1])
    return np.array([known.get(qid, equal) for qid in wanted]).reshape(-1, weights.shape[1]).T


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


def survey(contests: Sequence[Contest | Table], measures: Sequence[Measure], grid: Grid) -> list[Landscape]:
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


def candidate_reach(
    contest: Contest | Table, runs: Sequence[str], firsts: Sequence[int]
) -> list[dict[str, Any]]:
    """The share of queries with a relevant document among the candidates at all.

    ``where`` is ``union`` or a run; ``first``: only the first k of each run, None: all of them. No re-ordering of
    these candidates can answer more.
    """
    best = contest.best_ranks()
    rows: list[dict[str, Any]] = []
    for first in (None, *firsts):
        found = (best > 0) & (best <= (first or best.max(initial=0)))
        for where, hit in (("union", found.any(axis=0)), *zip(runs, found, strict=True)):
            rows.append(
                {"where": where, "first": first, "share": float(hit.mean()), "queries": int(hit.sum())}
            )
    return rows


def describe(
    landscape: Landscape, runs: Sequence[str], rrf_ks: Sequence[float], sample: Sample
) -> list[dict[str, Any]]:
    """Say what one landscape shows, a row a statement: ``row``, ``measure``, ``value`` and what explains it.

    ``sample``: the per-query gain of the oracle over equal weights, float64[Q, 1], with how it is resampled.
    """
    n_runs = len(runs)

    def row(name: str, value: float, weights: Floats | None = None, **more: Any) -> dict[str, Any]:
        shown = None if weights is None else [float(weight) for weight in weights]
        return {"row": name, "measure": landscape.measure, "value": float(value), "weights": shown, **more}

    best, tied = landscape.best
    equal = float(landscape.equal.mean())
    gain = float(landscape.oracle.mean()) - equal
    low, high = (
        None if np.isnan(bound) else float(bound) for bound in interval_of("percentile", sample)[:, 0]
    )
    rows = [
        row(f"{label} alone", values.mean(), np.eye(n_runs)[run])
        for run, (label, values) in enumerate(zip(runs, landscape.singles, strict=True))
    ]
    rows += [
        row("equal weights", equal, np.full(n_runs, 1 / n_runs)),
        row("best fixed point", landscape.means[best], landscape.weights[best], tied=tied),
        row("per-query oracle", landscape.oracle.mean(), tied=float(landscape.best_by_query[1].mean())),
        row("headroom over equal", gain, low=low, high=high, relative=gain / equal if equal > 0 else None),
        row(
            "no weights answer",
            landscape.unreachable / max(len(landscape.equal), 1),
            queries=landscape.unreachable,
        ),
    ]
    if len(rrf_ks) > 1:
        rows[n_runs + 1]["rrf_k"] = rrf_ks[int(landscape.variant[best])]
    return rows


def summarise(
    landscapes: Sequence[Landscape],
    contest: Contest | Table,
    runs: Sequence[str],
    rrf_ks: Sequence[float],
    units: Units,
    *,
    replicates: int,
    seed: int,
    firsts: Sequence[int],
) -> dict[str, Any]:
    """Say everything that the landscapes of several measures show, as plain data (see ``describe``)."""
    rows: list[dict[str, Any]] = []
    for found in landscapes:
        gain = (found.oracle - found.equal)[:, None]
        rows += describe(found, runs, rrf_ks, Sample(gain, units, replicates, seed))
    return {
        "n": contest.size,
        "runs": list(runs),
        "measures": [found.measure for found in landscapes],
        "points": len(landscapes[0].weights),
        "groups": units.count if units.grouped else None,
        "replicates": replicates,
        "seed": seed,
        "rows": rows,
        "candidates": candidate_reach(contest, runs, firsts),
    }
