"""Each router on cases small enough to work out by hand, and what none of them may learn from."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from hybridcli.adaptive.inputs import choose_routers, first_scores, router_rows
from hybridcli.adaptive.routers import ROUTERS
from hybridcli.adaptive.training import Fitted, Inputs, Settings, Training, first_best, normalised
from hybridcli.errors import UsageError
from hybridcli.fusion.pool import align
from hybridcli.records import Floats, Run

POINTS = np.array([[0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])
SETTINGS = Settings(trees=10, leaves=(2,), depths=(1,), penalties=(100.0, 0.01), bin_penalties=(100.0, 0.01))


def training(
    curve: list[list[float]],
    *,
    ranks: list[list[int]] | None = None,
    tops: list[list[float]] | None = None,
    features: Floats | None = None,
    categories: list[str] | None = None,
    validation: list[int] | None = None,
    importance: list[float] | None = None,
) -> Training:
    """Queries whose curve over POINTS is given; other weights are worth what the nearest point is."""
    values = np.array(curve, dtype=float)
    size = values.shape[1]
    chosen = np.zeros(size, dtype=bool)
    chosen[validation or []] = True

    def evaluate(weights: Floats, rows: np.ndarray) -> Floats:
        point = np.select([weights[..., 0] > 0.75, weights[..., 0] < 0.25], [2, 1], 0)
        return values[point, rows]

    return Training(
        inputs=Inputs(np.array(tops) if tops else np.ones((size, 2)), features, features, categories),
        points=POINTS,
        curve=values,
        singles=values[[2, 1]],
        best_ranks=np.array(ranks if ranks else np.ones((2, size)), dtype=np.int32),
        missed=101,
        importance=np.ones(size) if importance is None else np.array(importance),
        validation=chosen,
        evaluate=evaluate,
        settings=SETTINGS,
    )


def fit(name: str, given: Training) -> Fitted:
    return ROUTERS[name].fit(given, np.random.default_rng(0))


def weigh(name: str, fitted: Fitted, inputs: Inputs) -> list[list[float]]:
    state = json.loads(json.dumps(fitted.state))  # what a saved router is
    return ROUTERS[name].weights(state, inputs).tolist()


def plain(*tops: list[float]) -> Inputs:
    return Inputs(np.array(tops, dtype=float))


def test_equal_weights() -> None:
    fitted = fit("equal", training([[0, 0], [1, 1], [0, 0]]))
    assert weigh("equal", fitted, plain([1, 2], [3, 4])) == [[0.5, 0.5], [0.5, 0.5]]


def test_tuned_takes_the_best_point_of_the_validation_queries() -> None:
    curve = [[0.4, 0.4, 0.1], [0.9, 0.9, 0.0], [0.0, 0.0, 0.2]]
    fitted = fit("tuned", training(curve, validation=[2]))
    assert (fitted.choice, fitted.tied) == ("1,0", 1)
    assert weigh("tuned", fitted, plain([0, 0])) == [[1.0, 0.0]]
    assert fit("tuned", training(curve)).choice == "0,1"  # no validation part: all training queries


def test_tuned_counts_ties_prefers_equal_weights_and_heeds_importance() -> None:
    fitted = fit("tuned", training([[0.3, 0.3], [0.6, 0.0], [0.0, 0.6]]))
    assert (fitted.choice, fitted.tied) == ("0.5,0.5", 3)
    assert fit("tuned", training([[0.3, 0.3], [0.6, 0.0], [0.0, 0.6]], importance=[1, 2])).choice == "1,0"


def test_heuristic_by_hand() -> None:
    fitted = fit("heuristic", training([[0, 0, 0]] * 3, tops=[[10, 0.2], [20, 0.6], [np.nan, 0.4]]))
    assert fitted.state == {"low": [10.0, 0.2], "high": [20.0, 0.6]}
    # (15 − 10) / 10 = 0.5 against (0.3 − 0.2) / 0.4 = 0.25
    (first, second, third, fourth) = weigh(
        "heuristic", fitted, plain([15, 0.3], [5, 0.1], [30, 0.9], [np.nan, 0.5])
    )
    assert first == pytest.approx([2 / 3, 1 / 3])
    assert second == [0.5, 0.5]  # both below anything seen: 0 and 0
    assert third == [0.5, 0.5]  # both clipped to 1
    assert fourth == [0.0, 1.0]


def test_heuristic_with_constant_first_scores_is_equal_weights() -> None:
    fitted = fit("heuristic", training([[0, 0]] * 3, tops=[[-1, -1], [-1, -1]]))
    assert weigh("heuristic", fitted, plain([-1, -1])) == [[0.5, 0.5]]


def test_category_switches_to_the_better_run() -> None:
    # run 1 alone is the last point, run 2 alone the second
    curve = [[0, 0, 0, 0], [0.9, 0.1, 0.5, 0.4], [0.1, 0.3, 0.5, 0.4]]
    given = training(curve, categories=["law", "tax", "tie", "tie"])
    fitted = fit("category", given)
    assert fitted.choice == "law=2 tax=1 tie=2"  # the tie goes to run 2, better on all queries
    asked = Inputs(np.zeros((3, 2)), categories=["tax", "law", "unseen"])
    assert weigh("category", fitted, asked) == [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]


def test_targets_are_shares_of_reciprocal_ranks() -> None:
    given = training([[1, 1, 1]] * 3, ranks=[[1, 0, 4], [3, 2, 0]])
    assert given.targets[0] == pytest.approx([3 / 4, 1 / 4])  # r_d / (r_b + r_d)
    assert given.targets[1] == pytest.approx([2 / 103, 101 / 103])
    assert given.targets[2] == pytest.approx([101 / 105, 4 / 105])
    assert given.reachable.tolist() == [True, True, True]
    assert training([[0]] * 3, ranks=[[0], [0]]).reachable.tolist() == [False]


def signal(size: int = 40) -> Training:
    """Feature 1 says run 1 is right (it ranks first, the other misses), feature 0 the opposite."""
    kind = np.arange(size) % 2
    good = np.where(kind == 1, 1, 0)
    curve = [[0.5] * size, (1.0 - kind).tolist(), kind.astype(float).tolist()]
    features = np.column_stack([kind, np.zeros(size)]).astype(float)
    return training(
        curve,
        ranks=[good.tolist(), (1 - good).tolist()],
        features=features,
        categories=[str(value) for value in kind],
        validation=list(range(0, size, 5)),
    )


@pytest.mark.parametrize("name", ["forest", "ridge", "bins", "reach", "category"])
def test_a_clear_signal_is_learned(name: str) -> None:
    fitted = fit(name, signal())
    asked = Inputs(np.ones((2, 2)), *[np.array([[0.0, 0.0], [1.0, 0.0]])] * 2, categories=["0", "1"])
    low, high = weigh(name, fitted, asked)
    assert low[0] < 0.05 < 0.95 < high[0]
    assert sum(low) == pytest.approx(1)


@pytest.mark.parametrize("name", ["forest", "ridge", "bins"])
def test_queries_that_no_run_answers_teach_nothing(name: str) -> None:
    given = signal()
    dead = np.arange(40) % 3 == 0
    ranks, curve = given.best_ranks.copy(), given.curve.copy()
    ranks[:, dead], curve[:, dead] = 0, 0.0
    absurd = np.where(dead[:, None], 1e6, given.inputs.features)
    states = [
        fit(name, replace(given, best_ranks=ranks, curve=curve, inputs=Inputs(np.ones((40, 2)), x, x))).state
        for x in (given.inputs.features, absurd)
    ]
    assert states[0] == states[1]


@pytest.mark.parametrize("name", ["forest", "ridge", "bins", "reach"])
def test_with_nothing_to_learn_from_weights_are_equal(name: str) -> None:
    given = training([[0.0] * 6] * 3, ranks=[[0] * 6] * 2, features=np.ones((6, 2)), validation=[0, 1])
    fitted = fit(name, given)
    assert fitted.choice == "nothing to learn from"
    asked = Inputs(np.ones((1, 2)), np.ones((1, 2)), np.ones((1, 2)))
    assert weigh(name, fitted, asked) == [[0.5, 0.5]]


def test_bins_choose_the_point_with_the_best_expected_share() -> None:
    # two of three queries want run 2, but less than the third wants equal weights
    given = training(
        [[0.4, 0.4, 1.0], [0.5, 0.5, 0.0], [0.1, 0.1, 0.0]], features=np.zeros((3, 1)), validation=[0]
    )
    fitted = fit("bins", given)
    assert weigh("bins", fitted, Inputs(np.ones((1, 2)), np.zeros((1, 1)))) == [[0.5, 0.5]]


def test_three_runs_share_predicted_weights() -> None:
    assert normalised(np.array([[0.2, -1.0, 0.6], [0.0, -3.0, 0.0], [9.0, 1.0, 0.0]])).tolist() == [
        pytest.approx([0.25, 0.0, 0.75]),
        pytest.approx([1 / 3] * 3),
        pytest.approx([0.5, 0.5, 0.0]),
    ]


def test_equal_means_but_for_rounding_tie() -> None:
    assert first_best(np.array([0.1 + 0.2, 0.3, 0.2])) == (0, 2)
    assert first_best(np.array([0.3, 0.1 + 0.2, 0.2])) == (0, 2)
    assert first_best(np.array([0.3, 0.3 + 1e-9])) == (1, 1)


def test_first_scores_by_query() -> None:
    left = Run.from_dict({"q": {"a": 1.0, "b": 7.0}, "other": {"a": 9.0}})
    right = Run.from_dict({"r": {"a": -2.0}})
    tops = first_scores(align([left, right]), ["r", "q", "s"])
    assert np.array_equal(tops, [[np.nan, -2.0], [7.0, np.nan], [np.nan, np.nan]], equal_nan=True)


def test_the_registry_says_what_it_lacks() -> None:
    assert [row[0] for row in router_rows()] == [
        *("equal", "tuned", "heuristic", "category", "ridge", "forest", "bins", "reach")
    ]
    assert all(row[1] and row[3] for row in router_rows())
    assert [router.name for router in choose_routers(["all"], ["features"])] == [
        *("equal", "tuned", "heuristic", "forest", "bins", "reach")
    ]
    with pytest.raises(UsageError, match="router ridge reads embeddings; give --index"):
        choose_routers(["ridge"], ["features"])
    with pytest.raises(UsageError, match="no router 'best'; there are: equal, tuned"):
        choose_routers(["best"], [])
