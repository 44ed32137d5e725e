from fractions import Fraction

import numpy as np
import pytest

from hybridcli.errors import UsageError
from hybridcli.fusion.weights import box_points, exact_weights, preference, simplex_points, steps_of


@pytest.mark.parametrize(
    ("n_runs", "steps", "count"),
    [(2, 20, 21), (3, 10, 66), (4, 10, 286), (3, 50, 1326), (1, 7, 1), (2, 1, 2)],
)
def test_simplex_has_every_point_once_and_each_sums_to_one(n_runs: int, steps: int, count: int) -> None:
    points = simplex_points(n_runs, steps)
    assert points.shape == (count, n_runs)
    assert (points.sum(axis=1) == steps).all()
    assert (points >= 0).all()
    rows = [tuple(row) for row in points.tolist()]
    assert rows == sorted(set(rows))
    assert all(sum(Fraction(part, steps) for part in row) == 1 for row in rows)


def test_simplex_by_hand() -> None:
    assert simplex_points(2, 2).tolist() == [[0, 2], [1, 1], [2, 0]]
    assert simplex_points(3, 1).tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]


def test_weights_are_the_nearest_doubles() -> None:
    assert exact_weights(simplex_points(2, 10), 10)[3].tolist() == [0.3, 0.7]


def test_box_leaves_out_the_zero_vector() -> None:
    assert box_points(2, 2).tolist() == [[0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [2, 0], [2, 1], [2, 2]]


def test_ties_go_to_the_middle_then_lexicographically() -> None:
    points = simplex_points(2, 4)
    assert points[preference(points)].tolist() == [[2, 2], [1, 3], [3, 1], [0, 4], [4, 0]]
    three = simplex_points(3, 10)
    assert three[preference(three)][:3].tolist() == [[3, 3, 4], [3, 4, 3], [4, 3, 3]]
    assert np.sort(preference(three)).tolist() == list(range(66))


@pytest.mark.parametrize(
    ("step", "steps"), [("0.05", 20), (0.1, 10), ("1", 1), ("1/3", 3), (0.02, 50), (0.25, 4)]
)
def test_steps(step: str | float, steps: int) -> None:
    assert steps_of(step) == steps


@pytest.mark.parametrize("step", ["0.3", "0", "-0.1", "2", "0.7", "x", "nan", "1/0", "inf"])
def test_a_step_that_does_not_divide_one_is_refused(step: str) -> None:
    with pytest.raises(UsageError, match="step"):
        steps_of(step)


def test_too_many_points_are_refused() -> None:
    with pytest.raises(UsageError, match="points"):
        simplex_points(8, 100)
    with pytest.raises(UsageError, match="at least 1 step"):
        simplex_points(2, 0)
    with pytest.raises(UsageError, match="no run"):
        box_points(0, 2)
