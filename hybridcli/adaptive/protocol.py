"""Out-of-fold weights: every query is weighted by a router that has seen neither it nor its group."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np

from hybridcli.adaptive.contest import Contest
from hybridcli.adaptive.exhaustive import Table
from hybridcli.adaptive.folds import validation_split
from hybridcli.adaptive.training import Fitted, Inputs, Router, Settings, Training
from hybridcli.errors import UsageError
from hybridcli.evaluation.measures import Measure
from hybridcli.records import Codes, Floats, Ints

# finished cells by "router/repeat/fold": {"choice": str, "tied": int, "weights": [[float]]}
Cells = MutableMapping[str, dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything that routers are trained and judged on, for Q queries.

    ``points``: float64[G, R], the grid in order of preference (``adaptive.oracle.Grid``). ``groups``: int32[Q].
    ``missed``: the rank that counts for no relevant document found. ``macro``: choose by the mean of the groups'
    means instead of the mean over queries. ``validation``: share of the training groups that choices are made on.
    """

    contest: Contest | Table
    measure: Measure
    points: Floats
    inputs: Inputs
    groups: Codes
    missed: int
    macro: bool = False
    validation: float = 0.2
    seed: int = 0
    settings: Settings = field(default_factory=Settings)

    @cached_property
    def curve(self) -> Floats:
        """The measure of each query at each point: float64[G, Q]."""
        curve: Floats = self.contest.values([self.measure], self.points)[0]
        return curve

    @cached_property
    def singles(self) -> Floats:
        """The measure of each run alone: float64[R, Q]."""
        singles: Floats = self.contest.values([self.measure], np.eye(self.contest.n_runs))[0]
        return singles

    @cached_property
    def best_ranks(self) -> Codes:
        """Best rank of a relevant document in each run: int32[R, Q], 0 where there is none."""
        return self.contest.best_ranks()

    def fingerprint(self, folds: Codes) -> str:
        """A hash of everything that cells depend on; the number of threads is not part of it."""
        digest = hashlib.sha256()
        inputs = self.inputs
        for array in (
            *self.contest.arrays(),
            *(inputs.top_scores, inputs.features, inputs.embeddings),
            *(self.points, self.groups, folds),
        ):
            digest.update(repr(None if array is None else (array.shape, str(array.dtype))).encode())
            digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
        plain = replace(self.settings, jobs=1)
        rest = (
            inputs.categories,
            self.measure.name,
            self.missed,
            self.macro,
            self.validation,
            self.seed,
            plain,
        )
        digest.update(repr(rest).encode())
        return digest.hexdigest()

    def training(self, rows: Ints, split: np.random.Generator | None) -> Training:
        """What a router may see of the training queries ``rows``; nothing of any other query is in it."""
        groups = self.groups[rows]
        chosen = np.zeros(len(rows), dtype=bool)
        if split is not None:
            chosen = validation_split(groups, ~chosen, self.validation, split)
        sizes = np.bincount(groups)
        importance = 1.0 / sizes[groups] if self.macro else np.ones(len(rows))

        def evaluate(weights: Floats, some: Ints) -> Floats:
            values: Floats = self.contest.take(rows[some]).values([self.measure], weights)[0]
            return values

        return Training(
            inputs=self.inputs.take(rows),
            points=self.points,
            curve=self.curve[:, rows],
            singles=self.singles[:, rows],
            best_ranks=self.best_ranks[:, rows],
            missed=self.missed,
            importance=importance,
            validation=chosen,
            evaluate=evaluate,
            settings=self.settings,
        )

    def fit(self, router: Router, rows: Ints, repeat: int, fold: int) -> Fitted:
        """Fit on some queries; what is random depends on seed, repeat and fold only, and for fits on the router."""
        if router.validation == "required" and self.validation == 0:
            raise UsageError(
                f"router {router.name} chooses its settings on validation queries; --validation must be above 0"
            )
        splits = router.validation != "none" and self.validation > 0
        split = np.random.default_rng([self.seed, repeat, fold]) if splits else None
        rng = np.random.default_rng([self.seed, repeat, fold, crc32(router.name.encode())])
        return router.fit(self.training(rows, split), rng)


@dataclass(frozen=True, slots=True, eq=False)
class Routed:
    """Out-of-fold weights of one router: float64[repeats, Q, R], and what it chose in each cell."""

    router: str
    weights: Floats
    choices: list[tuple[str, int]]

    def stability(self) -> list[tuple[str, int]]:
        """How many cells made each choice, most frequent first, then by name."""
        return sorted(
            Counter(choice for choice, _ in self.choices).items(), key=lambda row: (-row[1], row[0])
        )

    def ties(self) -> int:
        """How many cells had a tie at the best setting."""
        return sum(tied > 1 for _, tied in self.choices)


def cross_fit(problem: Problem, router: Router, folds: Codes, done: Cells) -> Iterator[Routed | None]:
    """Fit and apply a router in every (repeat, fold) cell; yield None after each cell, and the result at last.

    ``folds``: int32[repeats, Q] (see ``adaptive.folds``). Cells found in ``done`` are taken from there, finished
    ones are put there, so that work that stopped goes on where it was and ends in the same bytes.
    """
    from threadpoolctl import threadpool_limits

    weights = np.zeros((*folds.shape, problem.contest.n_runs))
    choices = []
    with threadpool_limits(1):  # the same bytes whatever the number of threads
        for repeat, fold_of in enumerate(folds):
            for fold in range(int(fold_of.max()) + 1):
                held = np.flatnonzero(fold_of == fold)
                key = f"{router.name}/{repeat}/{fold}"
                if key not in done:
                    fitted = problem.fit(router, np.flatnonzero(fold_of != fold), repeat, fold)
                    predicted = router.weights(fitted.state, problem.inputs.take(held))
                    done[key] = {
                        "choice": fitted.choice,
                        "tied": fitted.tied,
                        "weights": predicted.tolist(),
                    }
                cell = done[key]
                weights[repeat, held] = cell["weights"]
                choices.append((str(cell["choice"]), int(cell["tied"])))
                yield None
    yield Routed(router.name, weights, choices)


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """A router's out-of-fold values, float64[measures, repeats, Q]."""

    routed: Routed
    values: Floats

    @property
    def averaged(self) -> Floats:
        """Each query's values averaged over the repeats, so that every query counts once: float64[measures, Q]."""
        averaged: Floats = self.values.mean(axis=1)
        return averaged


def reach_of(problem: Problem, routed: Routed, measures: Sequence[Measure]) -> Reached:
    """Evaluate out-of-fold weights."""
    return Reached(routed, problem.contest.values(measures, routed.weights))


def describe(
    problem: Problem, measures: Sequence[Measure], reached: Sequence[Reached], *, grouped: bool
) -> dict[str, Any]:
    """Say what the routers reached, as plain data.

    ``value``: mean over queries of the value averaged over repeats. ``deviation``: of the repeats' means.
    ``macro``: mean of the groups' means. ``headroom``: the share reached of the way from equal weights to the
    per-query oracle on the grid (``landmarks``). ``choices``: how many fits made each choice, and how many tied.
    """
    contest = problem.contest
    equal = contest.values(measures, np.full((1, contest.n_runs), 1 / contest.n_runs))[:, 0].mean(axis=1)
    oracle = contest.values(measures, problem.points).max(axis=1).mean(axis=1)
    rows = []
    for result in reached:
        for number, measure in enumerate(measures):
            averaged, by_repeat = result.averaged[number], result.values[number].mean(axis=1)
            gap = oracle[number] - equal[number]
            row = {
                "router": result.routed.router,
                "measure": measure.name,
                "value": float(averaged.mean()),
                "deviation": float(by_repeat.std(ddof=1)) if len(by_repeat) > 1 else None,
                "headroom": float((averaged.mean() - equal[number]) / gap) if gap > 0 else None,
            }
            if grouped:
                sums, sizes = np.bincount(problem.groups, weights=averaged), np.bincount(problem.groups)
                row["macro"] = float((sums / sizes).mean())
            rows.append(row)
    return {
        "n": contest.size,
        "measures": [measure.name for measure in measures],
        "groups": int(problem.groups.max()) + 1 if grouped else None,
        "validation": problem.validation,
        "seed": problem.seed,
        "rows": rows,
        "landmarks": [[float(low), float(high)] for low, high in zip(equal, oracle, strict=True)],
        "choices": {
            result.routed.router: {"counts": result.routed.stability(), "ties": result.routed.ties()}
            for result in reached
        },
    }
