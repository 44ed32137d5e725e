"""Bounds for excluded queries, and who they are."""

from __future__ import annotations

import numpy as np
import pytest

from hybridcli.evaluation.comparisons import Inference, plan_pairs
from hybridcli.evaluation.resampling import units_of
from hybridcli.evaluation.scores import Scores
from hybridcli.evaluation.sensitivity import Scenario, contrasts, shares, with_excluded


def scores() -> Scores:
    values = np.array([[[0.0, 1.0]], [[1.0, 1.0]]])
    return Scores(
        ["a", "b"], ["RR"], ["q1", "q2"], values, np.ones((2, 2), dtype=bool), np.ones(2, dtype=np.int32)
    )


def test_all_zero_and_subset_mean() -> None:
    zero = with_excluded(scores(), ["u1", "u2"], np.zeros((2, 1)))
    assert zero.queries == ["q1", "q2", "u1", "u2"]
    assert zero.means()[:, 0].tolist() == [0.25, 0.5]
    filled = with_excluded(scores(), ["u1", "u2"], scores().means())
    assert filled.means()[:, 0].tolist() == [0.5, 1.0]
    assert not filled.answered[:, 2:].any()


def test_the_difference_is_halved_by_as_many_zeros() -> None:
    zero = with_excluded(scores(), ["u1", "u2"], np.zeros((2, 1)))
    (found,) = Scenario("zero", zero, units_of(None, 4)).judged(plan_pairs(["a", "b"]), Inference(200))
    assert (found.n, found.difference) == (4, 0.25)


def test_shares_count_both_sides() -> None:
    found = shares({"q1": "Risk", "q2": "Legal", "u1": "Risk"}, ["q1", "q2"], ["u1", "u2"])
    assert [(s.value, s.resolved, s.unresolved) for s in found] == [
        ("(none)", 0, 1),
        ("Legal", 1, 0),
        ("Risk", 1, 1),
    ]


def test_contrasts_by_hand() -> None:
    found = contrasts(["words", "flag"], np.array([[1.0, 1], [3, 1]]), np.array([[4.0, 1], [6, 1]]))
    assert (found[0].resolved, found[0].unresolved) == (2.0, 5.0)
    assert found[0].effect == pytest.approx(3 / np.sqrt(2))
    assert found[1].effect is None  # no spread
    assert contrasts(["words"], np.array([[1.0]]), np.zeros((0, 1)))[0].effect is None
