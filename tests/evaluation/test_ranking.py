"""Mean ranks, Friedman's test and Nemenyi's critical difference, by hand and against published values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hybridcli.evaluation.ranking import (
    critical_difference,
    distinct_cells,
    rank_systems,
    ranks_in_cells,
)


def test_ranks_by_hand() -> None:
    # three systems, four cells; cell 3 ties the first two, cell 4 ties all
    values = np.array([[0.9, 0.2, 0.5, 0.1], [0.7, 0.4, 0.5, 0.1], [0.8, 0.3, 0.1, 0.1]])
    assert ranks_in_cells(values).tolist() == [[1, 3, 1.5, 2], [3, 1, 1.5, 2], [2, 2, 3, 2]]


def test_friedman_by_hand_without_ties() -> None:
    # ranks a: 1 1 1 2, b: 2 2 3 1, c: 3 3 2 3; rank sums 5, 8, 11
    values = np.array([[3.0, 3, 3, 2], [2, 2, 1, 3], [1, 1, 2, 1]])
    found = rank_systems(values)
    assert found.means.tolist() == [1.25, 2.0, 2.75]
    # 12 / (N k (k + 1)) · Σ R² − 3 N (k + 1) = 12 / 48 · (25 + 64 + 121) − 48 = 4.5
    assert found.chi2 == pytest.approx(4.5)
    assert found.p == pytest.approx(np.exp(-2.25))  # chi² with 2 degrees of freedom: exp(−x / 2)
    # (N − 1) χ² / (N (k − 1) − χ²) = 3 · 4.5 / 3.5, with 2 and 6 degrees of freedom: (1 + F / 3)^−3
    assert found.f == pytest.approx(13.5 / 3.5)
    assert found.p_f == pytest.approx((1 + 13.5 / 3.5 / 3) ** -3)
    assert found.order.tolist() == [0, 1, 2]


def test_friedman_with_ties_is_scipys() -> None:
    from scipy.stats import friedmanchisquare

    values = np.array([[0.9, 0.2, 0.5, 0.1, 0.3], [0.7, 0.4, 0.5, 0.1, 0.2], [0.8, 0.3, 0.1, 0.1, 0.2]])
    want = friedmanchisquare(*values)
    found = rank_systems(values)
    assert found.chi2 == pytest.approx(want.statistic)
    assert found.p == pytest.approx(want.pvalue)


@pytest.mark.parametrize(("systems", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_nemenyi_against_published_critical_values(systems: int, q: float) -> None:
    """Demšar 2006, table 5 (a): q at 0.05."""
    assert critical_difference(systems, 1) / np.sqrt(systems * (systems + 1) / 6) == pytest.approx(
        q, abs=1e-3
    )


def test_nemenyi_of_demsars_example() -> None:
    """Four classifiers on 14 data sets: CD = 1.25 at 0.05 (section 3.2.2)."""
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)


def test_nothing_to_say() -> None:
    same = rank_systems(np.ones((3, 4)))
    assert (same.chi2, same.p, same.f, same.p_f) == (None, None, None, None)
    assert same.means.tolist() == [2, 2, 2]
    assert rank_systems(np.array([[1.0, 2.0]])).critical == 0
    # the same order in every cell: chi² is at its largest, F is without bound
    clear = rank_systems(np.tile(np.array([[3.0], [2.0], [1.0]]), 4))
    assert clear.chi2 == pytest.approx(8.0)
    assert clear.f is None


def test_repeated_cells_count_once() -> None:
    values = np.array([[0.5, 0.1, 0.5, 0.5], [0.25, 0.2, 0.25, 0.3]])
    kept, repeats = distinct_cells(values)
    assert kept.tolist() == [0, 1, 3]
    assert repeats == {2: 0}


@given(arrays(np.float64, (4, 5), elements=st.integers(0, 3).map(float)), st.permutations(range(4)))
def test_ranks_do_not_depend_on_the_order_of_systems(values: np.ndarray, order: list[int]) -> None:
    ranks = ranks_in_cells(values)
    assert ranks.sum(axis=0).tolist() == [10.0] * 5
    assert np.array_equal(ranks_in_cells(values[order]), ranks[order])
