"""Pairs, families and verdicts."""

from __future__ import annotations

import numpy as np
import pytest

from hybridcli.errors import UsageError
from hybridcli.evaluation.averages import slice_positions, slice_scores
from hybridcli.evaluation.comparisons import (
    Inference,
    Pair,
    compare_pairs,
    estimate_means,
    plan_pairs,
    split_pair,
)
from hybridcli.evaluation.resampling import units_of
from hybridcli.evaluation.scores import Scores

LABELS = ["a", "b", "c"]


def scores_of(values: np.ndarray, measures: tuple[str, ...] = ("RR",)) -> Scores:
    systems, _, queries = values.shape
    return Scores(
        [f"s{at}" for at in range(systems)],
        list(measures),
        [f"q{at}" for at in range(queries)],
        values,
        np.ones((systems, queries), dtype=bool),
        np.ones(queries, dtype=np.int32),
    )


def names(pairs: list[Pair]) -> list[str]:
    return [f"{pair.left}{'>' if pair.planned else '-'}{pair.right}" for pair in pairs]


def test_the_first_run_is_the_baseline() -> None:
    assert names(plan_pairs(LABELS)) == ["b-a", "c-a"]


def test_baselines_pairs_and_plans() -> None:
    assert names(plan_pairs(LABELS, baselines=["b", "c"])) == ["a-b", "c-b", "a-c"]
    assert names(plan_pairs(LABELS, pairs=[("c", "b")])) == ["c-b"]
    assert names(plan_pairs(LABELS, all_pairs=True)) == ["b-a", "c-a", "c-b"]
    # what is planned is not explored again
    assert names(plan_pairs(LABELS, planned=[("b", "a")])) == ["b>a", "c-a"]


def test_pairs_that_are_wrong() -> None:
    with pytest.raises(UsageError, match="no run is called 'x'; the runs are a, b, c"):
        plan_pairs(LABELS, baselines=["x"])
    with pytest.raises(UsageError, match="a is compared with itself"):
        plan_pairs(LABELS, pairs=[("a", "a")])


def test_labels_may_hold_the_separator() -> None:
    assert split_pair("x>y > z", ">", ["x>y", "z"]) == ("x>y", "z")
    assert split_pair("a,b", ",", LABELS) == ("a", "b")
    with pytest.raises(UsageError, match="'a,q' does not name two runs"):
        split_pair("a,q", ",", LABELS)


def noisy(shift: float, queries: int = 300, measures: int = 1) -> Scores:
    generator = np.random.default_rng(11)
    base = generator.random((1, measures, queries))
    other = base + shift + generator.normal(0, 0.1, size=base.shape)
    return scores_of(np.concatenate([base, other]), tuple(f"m{at}" for at in range(measures)))


@pytest.mark.parametrize(
    ("shift", "margin", "verdict"),
    [
        (0.1, None, "better"),
        (-0.1, None, "worse"),
        (0.0, None, "undecided"),
        (0.0, 0.03, "equivalent"),
        (0.0, 0.001, "undecided"),
    ],
)
def test_verdicts(shift: float, margin: float | None, verdict: str) -> None:
    scores = noisy(shift)
    (found,) = compare_pairs(
        scores, plan_pairs(scores.labels), units_of(None, 300), Inference(1000, margin=margin)
    )
    assert found.verdict == verdict
    assert (found.p_equivalent is None) == (margin is None)
    assert found.wins + found.ties + found.losses == found.n == 300


def test_a_verdict_needs_every_test() -> None:
    # three groups: the bootstrap is sure, the eight sign patterns cannot be
    values = np.array([[[0.0] * 6], [[0.2, 0.3, 0.4, 0.1, 0.2, 0.3]]])
    units = units_of(["x", "x", "y", "y", "z", "z"], 6)
    scores = scores_of(values)
    (both,) = compare_pairs(scores, plan_pairs(scores.labels), units, Inference(1000))
    assert both.p["bootstrap"] < 0.05 < both.p["permutation"] == 0.25
    assert both.verdict == "undecided"
    (one,) = compare_pairs(scores, plan_pairs(scores.labels), units, Inference(1000, tests=("bootstrap",)))
    assert one.verdict == "better"


def test_planned_is_one_sided_and_its_own_family() -> None:
    generator = np.random.default_rng(3)
    scores = scores_of(generator.random((4, 2, 80)), ("x", "y"))
    pairs = plan_pairs(scores.labels, planned=[("s1", "s0"), ("s2", "s0")])
    how = Inference(500, correction="bonferroni")
    found = compare_pairs(scores, pairs, units_of(None, 80), how)
    assert [(c.pair.left, c.measure, c.alternative, c.family_size) for c in found] == [
        ("s1", "x", "greater", 2),
        ("s1", "y", "greater", 2),
        ("s2", "x", "greater", 2),
        ("s2", "y", "greater", 2),
        ("s3", "x", "two-sided", 1),
        ("s3", "y", "two-sided", 1),
    ]
    for c in found:
        for test in how.tests:
            assert c.adjusted[test] == pytest.approx(min(1, c.p[test] * c.family_size))
    whole = compare_pairs(scores, pairs, units_of(None, 80), Inference(500, family="all"))
    assert [c.family_size for c in whole] == [4, 4, 4, 4, 2, 2]


def test_identical_runs() -> None:
    scores = scores_of(np.tile(np.random.default_rng(0).random((1, 1, 50)), (2, 1, 1)))
    (found,) = compare_pairs(
        scores, plan_pairs(scores.labels), units_of(None, 50), Inference(200, margin=0.01)
    )
    assert (found.difference, found.low, found.high, found.ties) == (0, 0, 0, 50)
    assert found.p == {"bootstrap": 1.0, "permutation": 1.0}
    assert found.effect is None
    assert found.verdict == "equivalent"


def test_one_query() -> None:
    scores = scores_of(np.array([[[0.2]], [[0.7]]]))
    (found,) = compare_pairs(scores, plan_pairs(scores.labels), units_of(None, 1), Inference(200, margin=0.1))
    assert found.difference == pytest.approx(0.5)
    assert found.low is found.high is found.detectable is found.p["bootstrap"] is found.p_equivalent is None
    assert found.p["permutation"] == 1.0
    assert found.verdict == "undecided"
    (mean, _) = estimate_means(scores, units_of(None, 1), Inference(200))
    assert (mean.mean, mean.low) == (0.2, None)


def test_float_noise_is_no_win() -> None:
    scores = scores_of(np.array([[[0.1 + 0.2, 0.5]], [[0.3, 0.5]]]))
    (found,) = compare_pairs(scores, plan_pairs(scores.labels), units_of(None, 2), Inference(200))
    assert (found.difference, found.ties) == (0.0, 2)


def test_detectable_effect_shrinks_in_no_family() -> None:
    scores = noisy(0.0)
    more = scores_of(np.concatenate([scores.values, scores.values[1:] + 0.01]), ("m0",))
    found = compare_pairs(more, plan_pairs(more.labels), units_of(None, 300), Inference(500))
    for c in found:
        assert c.detectable is not None
        assert c.detectable_in_family is not None
        assert c.detectable < c.detectable_in_family


def test_unknown_family() -> None:
    scores = noisy(0.0)
    with pytest.raises(UsageError, match="unknown family 'x'; choose from measure, all"):
        compare_pairs(scores, plan_pairs(scores.labels), units_of(None, 300), Inference(family="x"))


def test_slices_macro_and_micro() -> None:
    scores = scores_of(np.array([[[1.0, 0.0, 0.0, 0.5]], [[1.0, 1.0, 0.0, 0.5]]]))
    positions = slice_positions(scores.queries, {"q0": "b", "q1": "a", "q2": "a"})
    assert {name: at.tolist() for name, at in positions.items()} == {"a": [1, 2], "b": [0], "(none)": [3]}
    assert list(positions) == ["a", "b", "(none)"]
    units = units_of(None, 4)
    parts = {name: (scores.take(at), units.take(at)) for name, at in positions.items()}
    sliced = slice_scores("category", parts, plan_pairs(scores.labels), Inference(200, tests=("bootstrap",)))
    assert [part.n for part in sliced.slices] == [2, 1, 1]
    assert [part.means[0, 0] for part in sliced.slices] == [0.0, 1.0, 0.5]
    assert sliced.macro[:, 0] == pytest.approx([0.5, (0.5 + 1 + 0.5) / 3])
    assert sliced.micro[:, 0] == pytest.approx(scores.means()[:, 0])
    assert sliced.slices[0].comparisons[0].difference == pytest.approx(0.5)
