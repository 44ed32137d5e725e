"""Grids of fusion weights, enumerated as integers so that no point is lost to floating-point sums."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np

from hybridcli.errors import UsageError
from hybridcli.records import Floats, Ints

MOST_POINTS = 5_000_000
SMALLEST = 1e-30


def parse_weights(text: str, n_runs: int) -> Floats | None:
    """Read ``0.3,0.7`` as weights, float64[R]; None if the text is no list of numbers (a file name, then)."""
    try:
        # Python alone takes 1_0 for 10
        weights = np.array([float(part) for part in text.replace("_", "?").split(",")])
    except ValueError:
        return None
    check_weights(weights, n_runs)
    return weights


def check_weights(weights: Floats, n_runs: int) -> None:
    """Refuse weights that are negative, not finite, all zero, or not one a run; float64[R] or float64[R, Q]."""
    if len(weights) != n_runs:
        raise UsageError(f"{n_runs} runs need {n_runs} weights, found {len(weights)}")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise UsageError("weights must be numbers of at least 0")
    if not (weights > 0).any(axis=0).all():
        raise UsageError("at least one weight must be above 0")
    if (weights.max(axis=0) < SMALLEST).any():
        problem = f"the largest weight must be at least {SMALLEST:g}, or all scores are 0 as 32-bit floats"
        raise UsageError(f"{problem}; multiply all weights by one number")


def steps_of(step: str | float) -> int:
    """Give how many steps make 1: 20 for 0.05. A step that does not divide 1 is a UsageError."""
    try:
        exact = Fraction(str(step))
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"a grid step must be a number such as 0.05 or 1/20, found {step!r}") from None
    if not 0 < exact <= 1:
        raise UsageError(f"a grid step must be above 0 and at most 1, found {step}")
    if exact.numerator != 1:
        raise UsageError(f"a grid step must divide 1 without rest (0.05, 0.1, 0.25, 1/3 …), found {step}")
    return exact.denominator


def simplex_points(n_runs: int, steps: int) -> Ints:
    """Give all weight vectors that sum to 1 in steps of 1/steps, as integers int64[G, R] summing to ``steps``.

    Points ascend lexicographically; G = C(steps + R − 1, R − 1). Divide by ``steps`` for the weights.
    """
    _require(n_runs, steps, comb(steps + n_runs - 1, n_runs - 1))
    # a point is R − 1 bars among its units: each weight is the gap between two bars
    bars = np.array(list(combinations(range(steps + n_runs - 1), n_runs - 1)), dtype=np.int64)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, steps + n_runs - 1)))
    return np.diff(edges, axis=1) - 1


def box_points(n_runs: int, steps: int) -> Ints:
    """Give all vectors of [0, 1]^R in steps of 1/steps but the zero vector, as integers int64[G, R]."""
    _require(n_runs, steps, (steps + 1) ** n_runs - 1)
    points = np.array(list(product(range(steps + 1), repeat=n_runs)), dtype=np.int64)
    return points[1:]


def preference(points: Ints) -> Ints:
    """Order points for resolving ties: nearest to equal weights first, then lexicographically: int64[G].

    The distance is the exact integer R · Σ wᵢ² − (Σ wᵢ)², which is 0 for equal weights.
    """
    n_runs = points.shape[1]
    distance = n_runs * (points**2).sum(axis=1) - points.sum(axis=1) ** 2
    return np.lexsort((*points.T[::-1], distance))


def exact_weights(points: Ints, steps: int) -> Floats:
    """Give the weights as doubles, each the nearest to its fraction: float64[G, R]."""
    return points / steps


def _require(n_runs: int, steps: int, points: int) -> None:
    if n_runs < 1:
        raise UsageError("no run given")
    if steps < 1:
        raise UsageError(f"a grid needs at least 1 step, found {steps}")
    if points > MOST_POINTS:
        raise UsageError(f"{steps} steps over {n_runs} runs give {points:,} points; take a larger step")
