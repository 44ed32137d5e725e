"""Subsets by hand; the regressions are scikit-learn's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVR

from hybridcli.adaptive import bagging
from hybridcli.adaptive.bagging import (
    Regression,
    fit_machine,
    kernel,
    predictions,
    random_subsets,
    ring_subsets,
    scale_of,
)
from hybridcli.adaptive.pairs import Pairs
from hybridcli.errors import UsageError


class Unshuffled:
    """Leaves the ring in its order, so that arcs can be checked by eye."""

    def permutation(self, count: int) -> np.ndarray:
        return np.arange(count)


def test_ring_by_hand() -> None:
    # 10 queries, 5 models: arcs begin every 2 queries; each shares half, so it is 4 long
    arcs = ring_subsets(10, 5, 0.5, Unshuffled())  # type: ignore[arg-type]
    assert [arc.tolist() for arc in arcs] == [
        [0, 1, 2, 3],
        [2, 3, 4, 5],
        [4, 5, 6, 7],
        [6, 7, 8, 9],
        [0, 1, 8, 9],
    ]


def test_the_study_at_its_size() -> None:
    arcs = ring_subsets(2000, 35, 0.6, np.random.default_rng(0))
    assert {len(arc) for arc in arcs} == {143}  # 2000 / 35 = 57.1 new ones are 40 %
    shared = [len(np.intersect1d(arcs[at], arcs[(at + 1) % 35])) for at in range(35)]
    assert set(shared) <= {85, 86}  # 60 %
    assert len(np.unique(np.concatenate(arcs))) == 2000
    assert ring_subsets(7, 1, 0.6, np.random.default_rng(0))[0].tolist() == list(range(7))


@given(st.integers(1, 60), st.integers(2, 40), st.sampled_from([0.0, 0.1, 0.3, 0.5]), st.integers(0, 99))
def test_a_ring_covers_every_query_evenly(count: int, models: int, overlap: float, seed: int) -> None:
    if models * (1 - overlap) <= 1:
        return
    arcs = ring_subsets(count, models, overlap, np.random.default_rng(seed))
    times = np.bincount(np.concatenate(arcs), minlength=count)
    assert len(arcs) == models
    assert len({len(arc) for arc in arcs}) == 1
    assert all(len(np.unique(arc)) == len(arc) for arc in arcs)
    assert times.min() >= 1


def test_random_subsets_have_their_share() -> None:
    drawn = random_subsets(100, 50, 0.6, np.random.default_rng(3))
    assert {len(subset) for subset in drawn} == {60}
    common = [len(np.intersect1d(drawn[at], drawn[at + 1])) for at in range(49)]
    assert np.mean(common) == pytest.approx(36, abs=1.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda rng: ring_subsets(10, 2, 0.6, rng),
            "--models 2 with --overlap 0.6: every model would have all",
        ),
        (lambda rng: ring_subsets(10, 9, 1.0, rng), "--overlap 1: a share from 0 to below 1"),
        (lambda rng: random_subsets(10, 9, 0.0, rng), "--share 0: a share above 0"),
    ],
)
def test_subsets_that_cannot_be(call: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call(np.random.default_rng(0))  # type: ignore[operator]


@pytest.fixture
def pairs() -> Pairs:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(2, 30, 4)).astype(np.float32)
    return Pairs(np.repeat(np.arange(6), 10), rng.integers(0, 30, 60), vectors[0], vectors[1])


def test_kernel_by_hand(pairs: Pairs) -> None:
    x = pairs.features()
    expected = np.exp(-0.3 * ((x[:, None] - x) ** 2).sum(axis=2))
    np.testing.assert_allclose(kernel(pairs, pairs.take(np.arange(7)), 0.3), expected[:, :7], rtol=1e-9)
    assert scale_of(pairs) == pytest.approx(1 / (8 * x.var()))


@pytest.mark.parametrize("at_once", [1, 1000])
def test_a_machine_predicts_what_scikit_learn_predicts(
    pairs: Pairs, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bagging, "AT_ONCE", at_once)
    monkeypatch.setattr(bagging, "SCORED_AT_ONCE", 7)
    targets = (np.arange(60) % 5 == 0).astype(float)
    machine = fit_machine(pairs, targets, Regression(cost=2.0, epsilon=0.05))
    model = SVR(C=2.0, epsilon=0.05, gamma="scale").fit(pairs.features(), targets)
    np.testing.assert_allclose(machine.predict(pairs), model.predict(pairs.features()), atol=2e-3)
    both = predictions([machine, machine], pairs, jobs=2)
    np.testing.assert_array_equal(both[0], both[1])


def test_a_machine_without_support_is_a_constant(pairs: Pairs) -> None:
    machine = fit_machine(pairs, np.zeros(60), Regression(gamma=1.0))
    assert not len(machine.support)
    assert np.ptp(machine.predict(pairs)) == 0
