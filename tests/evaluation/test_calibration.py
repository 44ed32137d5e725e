"""Do tests reject as often as they say, do intervals cover, is the detectable effect detected? By simulation.

A column is one simulated comparison without a difference (unless one is put in): queries in groups that share an
effect, so that the queries of a group are alike.
"""

from __future__ import annotations

import numpy as np
import pytest

from hybridcli.evaluation.resampling import Sample, Units, interval_of, units_of
from hybridcli.evaluation.significance import TESTS, detectable_effect, margin_tests, p_values

TRIALS = 2000
ERROR = np.sqrt(0.05 * 0.95 / TRIALS)  # Monte-Carlo error of a rejection rate of 0.05

pytestmark = pytest.mark.slow


def simulate(
    groups: int, shift: float = 0.0, seed: int = 0, skewed: bool = False
) -> tuple[np.ndarray, Units, Units]:
    """TRIALS comparisons on one grouping: differences [Q, TRIALS], the groups, and the queries alone."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 20, size=groups)
    of_query = np.repeat(np.arange(groups), sizes)
    effects = generator.normal(0, 0.5, size=(groups, TRIALS))
    noise = generator.normal(0, 1, size=(len(of_query), TRIALS))
    if skewed:  # many ties and a few large gains, as hit rates have
        noise = generator.choice([-1.0, 0.0, 1.0], p=[0.1, 0.8, 0.1], size=noise.shape)
        effects = effects * 0.2
    values = effects[of_query] + noise + shift
    return values, units_of([str(group) for group in of_query], len(of_query)), units_of(None, len(of_query))


def coverage(bounds: np.ndarray, truth: float = 0.0) -> float:
    return float(((bounds[0] <= truth) & (truth <= bounds[1])).mean())


@pytest.mark.parametrize("skewed", [False, True])
def test_rejection_rates_without_a_difference(skewed: bool) -> None:
    values, units, _ = simulate(150, skewed=skewed)
    sample = Sample(values, units, 2000, seed=1)
    for name in TESTS:
        for alternative in ("two-sided", "greater"):
            rate = float((p_values(name, sample, alternative) < 0.05).mean())
            # a bootstrap of 150 groups is a little liberal: 0.055 is expected, within the error
            assert rate < 0.05 + 3.5 * ERROR, (name, alternative, rate)
            assert rate > 0.05 - 3.5 * ERROR, (name, alternative, rate)


@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_intervals_cover(kind: str) -> None:
    values, units, single = simulate(150)
    clustered = coverage(interval_of(kind, Sample(values, units, 2000, seed=2)))
    assert 0.93 <= clustered <= 0.97
    by_query = coverage(interval_of(kind, Sample(values, single, 1000, seed=2)))
    assert by_query < 0.85  # too narrow: the queries of a group are no independent witnesses


def test_queries_alone_reject_far_too_often() -> None:
    values, _, single = simulate(150)
    for name in ("bootstrap", "permutation", "t"):
        rate = float((p_values(name, Sample(values, single, 1000, seed=3)) < 0.05).mean())
        assert rate > 0.15, (name, rate)


def test_few_groups() -> None:
    """With 8 groups the bootstrap is liberal, sign flips are not: why a verdict needs both."""
    values, units, _ = simulate(8)
    sample = Sample(values, units, 2000, seed=4)
    p = {name: p_values(name, sample) for name in ("bootstrap", "permutation")}
    assert (p["bootstrap"] < 0.05).mean() > 0.08
    assert (np.maximum(p["bootstrap"], p["permutation"]) < 0.05).mean() < 0.05 + 3 * ERROR


def test_detectable_effect_is_found_four_times_in_five() -> None:
    values, units, _ = simulate(150)
    for two_sided, alternative in ((True, "two-sided"), (False, "greater")):
        effect = float(np.median(detectable_effect(Sample(values, units, 2000, seed=5), two_sided=two_sided)))
        shifted = Sample(values + effect, units, 2000, seed=6)
        for name in ("bootstrap", "permutation", "t"):
            power = float((p_values(name, shifted, alternative) < 0.05).mean())
            assert power == pytest.approx(0.8, abs=0.04), (name, alternative, power)


def test_equivalence_is_not_claimed_at_the_margin() -> None:
    """At a true difference of exactly the margin, equivalence is a false claim: at most 5 % of the time."""
    values, units, _ = simulate(150, shift=0.5)
    margins = margin_tests(Sample(values, units, 2000, seed=7), 0.5)
    assert (margins.equivalent < 0.05).mean() < 0.05 + 3.5 * ERROR
    inside, units, _ = simulate(150, shift=0.0)
    assert (margin_tests(Sample(inside, units, 2000, seed=7), 0.5).equivalent < 0.05).mean() > 0.9
