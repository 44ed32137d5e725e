"""Out-of-fold learning: no leak, planted signals found, nothing found where nothing is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hybridcli.adaptive.folds import leave_one_out, repeated_folds
from hybridcli.adaptive.protocol import Problem, Reached, cross_fit, describe, reach_of
from hybridcli.adaptive.routers import ROUTERS
from hybridcli.adaptive.training import Fitted, Inputs, Router, Training
from hybridcli.errors import UsageError
from hybridcli.evaluation.resampling import Sample, units_of
from hybridcli.evaluation.significance import p_values
from hybridcli.records import Codes, Floats
from tests.adaptive.simulated import problem_of, run_of, simulate

LEARNED = ("ridge", "forest", "bins", "reach")


def reached(problem: Problem, name: str, folds: Codes) -> Reached:
    (routed,) = [step for step in cross_fit(problem, ROUTERS[name], folds, {}) if step is not None]
    return reach_of(problem, routed, [problem.measure])


def mean_of(problem: Problem, name: str, folds: Codes) -> float:
    return float(reached(problem, name, folds).averaged[0].mean())


def planted(seed: int = 1, size: int = 500) -> tuple[Problem, Codes]:
    """The right run of each query is told by its first feature; groups have both kinds."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, size).astype(np.int32)
    runs, qrels = simulate(rng, kind)
    features = np.column_stack([kind + 0.2 * rng.normal(size=size), rng.normal(size=(size, 3))])
    groups = (np.arange(size) // 10).astype(np.int32)
    return problem_of(runs, qrels, groups=groups, features=features, embeddings=features), kind


def test_a_planted_signal_is_found() -> None:
    problem, kind = planted()
    folds = repeated_folds(problem.groups, 3, 2, 0)
    right = np.where(kind[:, None] == [0, 1], 0.9, 0.1)
    equal, best = (
        problem.contest.values([problem.measure], weights[None])[0, 0].mean()
        for weights in (np.full(right.shape, 0.5), right)
    )
    for name in ("forest", "ridge", "bins"):
        assert (mean_of(problem, name, folds) - equal) / (best - equal) > 0.75, name


class Spy:
    """A router that notes what it is shown; feature 0 is the query's number."""

    def __init__(self) -> None:
        self.cells: list[tuple[list[int], list[int], list[int]]] = []

    def fit(self, training: Training, rng: np.random.Generator) -> Fitted:
        assert training.inputs.features is not None
        seen = training.inputs.features[:, 0].astype(int)
        assert training.curve.shape[1] == len(seen) == training.best_ranks.shape[1]
        validation = training.validation
        self.cells.append((seen[~validation].tolist(), seen[validation].tolist(), []))
        return Fitted({})

    def weights(self, state: Mapping[str, Any], inputs: Inputs) -> Floats:
        assert inputs.features is not None
        self.cells[-1][2].extend(inputs.features[:, 0].astype(int).tolist())
        return np.full((len(inputs.top_scores), 2), 0.5)


def test_no_group_is_on_two_sides() -> None:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 12, 60).astype(np.int32)
    runs, qrels = simulate(rng, np.zeros(60, dtype=np.int32))
    problem = problem_of(runs, qrels, groups=groups, features=np.arange(60.0)[:, None])
    spy = Spy()
    router = Router("spy", "", "", (), "required", spy.fit, spy.weights)
    folds = repeated_folds(groups, 4, 3, 0)
    assert list(cross_fit(problem, router, folds, {}))[-1] is not None
    assert len(spy.cells) == 12
    for fit, validation, held in spy.cells:
        sides = [set(groups[rows].tolist()) for rows in (fit, validation, held)]
        assert all(sides)
        assert len(set.union(*sides)) == sum(map(len, sides))
        assert sorted(fit + validation + held) == list(range(60))


@pytest.mark.parametrize("name", LEARNED)
def test_knowing_which_query_it_is_gains_nothing(name: str) -> None:
    """The right run is the group's own, and the features name query and group: only a leak could use them."""
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(40), 8).astype(np.int32)
    kind = rng.integers(0, 2, 40)[groups].astype(np.int32)
    runs, qrels = simulate(rng, kind)
    one_hot = np.eye(40)[groups]
    features = np.column_stack([np.arange(320.0), groups, one_hot])
    problem = problem_of(runs, qrels, groups=groups, features=features, embeddings=one_hot)
    equal = mean_of(problem, "equal", repeated_folds(groups, 4, 1, 0))
    assert mean_of(problem, name, repeated_folds(groups, 4, 1, 0)) < equal + 0.03
    # the same features do gain when folds ignore groups: this test can see a leak
    leaky = replace(problem, groups=np.arange(320, dtype=np.int32))
    if name != "bins":  # too coarse for forty columns on a few hundred queries
        assert mean_of(leaky, name, repeated_folds(leaky.groups, 4, 1, 0)) > equal + 0.05


def without_signal(seed: int) -> Problem:
    """Equal runs with scores made from ranks, random features: nothing tells queries apart."""
    rng = np.random.default_rng(seed)
    runs, qrels = simulate(rng, np.full(200, -1, dtype=np.int32), depth=15)
    flat = [
        run_of(
            np.argsort(np.argsort(_scores(run), axis=1), axis=1).astype(float),
            run.tag,
            run.docnos,
            run.queries,
        )
        for run in runs
    ]
    groups = (np.arange(200) // 5).astype(np.int32)
    features = rng.normal(size=(200, 4))
    names = [str(name) for name in rng.integers(0, 4, 200)]
    return problem_of(flat, qrels, groups=groups, features=features, embeddings=features, categories=names)


def _scores(run: Any) -> Floats:
    scores = np.zeros((len(run.queries), len(run.docnos)))
    rows = np.repeat(np.arange(len(run.queries)), np.diff(run.offsets))
    scores[rows, run.docs] = run.scores
    return scores


def passes(problem: Problem, name: str, routers: int) -> bool:
    """The decision rule: one-sided clustered bootstrap p below 0.05 / routers."""
    folds = repeated_folds(problem.groups, 3, 2, 0)
    gain = reached(problem, name, folds).averaged[0] - reached(problem, "equal", folds).averaged[0]
    units = units_of([str(code) for code in problem.groups.tolist()], len(gain))
    sample = Sample(gain[:, None], units, 1000, 0)
    return bool(p_values("bootstrap", sample, "greater")[0] < 0.05 / routers)


def test_without_signal_no_cheap_router_helps() -> None:
    names = ("tuned", "heuristic", "category", "ridge", "bins", "reach")
    won = sum(passes(without_signal(seed), name, len(names)) for seed in range(2) for name in names)
    assert won == 0


@pytest.mark.slow
def test_without_signal_the_decision_rule_keeps_its_level() -> None:
    names = ("tuned", "heuristic", "category", "ridge", "bins", "reach", "forest")
    seeds = range(40)
    won = sum(any(passes(without_signal(seed), name, len(names)) for name in names) for seed in seeds)
    assert won <= 5  # family-wise level 0.05 on 40 data sets: more than 5 has probability 0.014


def test_stopped_work_goes_on_to_the_same_bytes() -> None:
    problem, _ = planted(size=200)
    folds = repeated_folds(problem.groups, 2, 2, 0)
    for name in ("forest", "tuned"):
        whole: dict[str, Any] = {}
        *_, expected = cross_fit(problem, ROUTERS[name], folds, whole)
        stopped: dict[str, Any] = {}
        work = cross_fit(problem, ROUTERS[name], folds, stopped)
        for _ in range(3):
            next(work)
        work.close()
        kept = dict(stopped)
        assert len(kept) == 3
        *_, found = cross_fit(problem, ROUTERS[name], folds, stopped)
        assert found is not None
        assert expected is not None
        assert found.weights.tobytes() == expected.weights.tobytes()
        assert found.choices == expected.choices
        assert stopped == whole


def test_threads_change_nothing_and_the_fingerprint_tells_work_apart() -> None:
    problem, _ = planted(size=200)
    folds = repeated_folds(problem.groups, 2, 1, 0)
    two = replace(problem, settings=replace(problem.settings, jobs=2))
    a, b = reached(problem, "forest", folds), reached(two, "forest", folds)
    assert a.routed.weights.tobytes() == b.routed.weights.tobytes()
    assert problem.fingerprint(folds) == two.fingerprint(folds)
    other = replace(problem, seed=1)
    assert problem.fingerprint(folds) != other.fingerprint(folds)
    assert problem.fingerprint(folds) != problem.fingerprint(folds[:, ::-1])


def test_leaving_a_group_out_chooses_by_the_macro_mean() -> None:
    """One large set prefers run 2, two small ones run 1: the macro mean of the others decides."""
    rng = np.random.default_rng(2)
    groups = np.repeat([0, 1, 2, 3], [200, 20, 20, 20]).astype(np.int32)
    runs, qrels = simulate(rng, np.where(groups == 0, 1, 0).astype(np.int32), strength=4)
    choices = {}
    for macro in (True, False):
        problem = problem_of(runs, qrels, groups=groups, validation=0, macro=macro)
        choices[macro] = reached(problem, "tuned", leave_one_out(groups)).routed.choices
    assert float(choices[True][3][0].split(",")[0]) > 0.5
    assert float(choices[False][3][0].split(",")[0]) < 0.5


def test_noise_gets_no_weight_and_unique_signal_does() -> None:
    """Study B's question on planted runs: a third run of pure noise, and one that alone knows some queries."""
    rng = np.random.default_rng(8)
    runs, qrels = simulate(rng, rng.integers(0, 2, 400).astype(np.int32), strength=4)
    noise = run_of(rng.normal(size=(400, 25)), "noise", runs[0].docnos, runs[0].queries)
    folds = repeated_folds(np.arange(400), 10, 1, 0)
    groups = np.arange(400, dtype=np.int32)
    for third, wanted in ((noise, False), (runs[1], True)):
        other = [runs[0], third] if wanted else [*runs, third]
        problem = problem_of(other, qrels, groups=groups, validation=0)
        weights = reached(problem, "tuned", folds).routed.weights
        assert (weights[..., -1] > 0).all() if wanted else (weights[..., -1] == 0).all()


def test_description_counts_choices_and_headroom() -> None:
    problem, _ = planted(size=200)
    folds = repeated_folds(problem.groups, 2, 2, 0)
    results = [reached(problem, name, folds) for name in ("equal", "tuned")]
    document = describe(problem, [problem.measure], results, grouped=True)
    equal, tuned = document["rows"]
    assert equal["headroom"] == 0
    assert equal["deviation"] == 0
    assert document["choices"]["equal"] == {"counts": [("equal", 4)], "ties": 0}
    assert sum(count for _, count in document["choices"]["tuned"]["counts"]) == 4
    (low, high), gap = document["landmarks"][0], tuned["value"] - equal["value"]
    assert tuned["headroom"] == pytest.approx(gap / (high - low))
    assert tuned["value"] == pytest.approx(results[1].values[0].mean())
    assert equal["macro"] == pytest.approx(low)  # groups of one size


def test_routers_that_choose_need_a_validation_part() -> None:
    problem, _ = planted(size=200)
    none = replace(problem, validation=0.0)
    with pytest.raises(UsageError, match="router ridge chooses its settings on validation queries"):
        none.fit(ROUTERS["ridge"], np.arange(100), 0, 0)
