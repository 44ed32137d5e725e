"""Bootstrap and sign flips: the exact distributions of a small case, intervals, and the same bytes every time."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from hybridcli.errors import UsageError
from hybridcli.evaluation.resampling import (
    INTERVALS,
    Sample,
    _draw_counts,
    interval_of,
    interval_rows,
    units_of,
)

# P@10 of two runs, run a minus run b, on six queries of three documents
DIFFERENCES = np.array([0.1, 0.2, 0.3, 0.0, -0.1, 0.2])[:, None]
GROUPS = ["c1", "c1", "c2", "c3", "c3", "c3"]


def clustered(replicates: int = 10_000, seed: int = 0) -> Sample:
    return Sample(DIFFERENCES, units_of(GROUPS, 6), replicates, seed)


def all_outcomes() -> list[float]:
    """The 27 equally likely means of three groups drawn with replacement."""
    groups = [(Fraction(3, 10), 2), (Fraction(3, 10), 1), (Fraction(1, 10), 3)]
    drawn = itertools.product(groups, repeat=3)
    return sorted(float(sum(g[0] for g in three) / sum(g[1] for g in three)) for three in drawn)


def test_cluster_bootstrap_is_the_ratio_estimator() -> None:
    sample, outcomes = clustered(), all_outcomes()
    assert sample.means[0] == pytest.approx(7 / 60, abs=1e-12)
    drawn = sample.bootstrap[:, 0]
    assert set(np.round(drawn, 9)) == set(np.round(outcomes, 9))
    assert interval_of("percentile", sample)[:, 0] == pytest.approx([1 / 30, 0.3], abs=1e-9)
    assert drawn.mean() == pytest.approx(0.13037477954144622, abs=4 * 0.0612 / 100)
    assert drawn.std() == pytest.approx(0.06123509809160177, rel=0.03)


def test_every_outcome_has_its_share() -> None:
    drawn = np.round(clustered(27_000).bootstrap[:, 0], 9)
    values, expected = np.unique(np.round(all_outcomes(), 9), return_counts=True)
    for value, count in zip(values, expected, strict=True):
        assert (drawn == value).sum() == pytest.approx(1000 * count, abs=5 * np.sqrt(1000 * count))


def test_queries_alone_have_a_wider_support() -> None:
    drawn = Sample(DIFFERENCES, units_of(None, 6)).bootstrap
    assert drawn.min() < 0 < 1 / 30 < drawn.max() <= 0.3 + 1e-9


def test_sign_flips_are_complete_up_to_fifteen_units() -> None:
    flips = clustered().flips
    assert flips.exact
    sums = [0.3, 0.3, 0.1]
    expected = [
        sum(s * v for s, v in zip(signs, sums, strict=True)) / 6
        for signs in itertools.product((1, -1), repeat=3)
    ]
    assert sorted(flips.means[:, 0]) == pytest.approx(sorted(expected), abs=1e-12)
    values = np.random.default_rng(0).normal(size=(16, 1))
    sampled = Sample(values, units_of(None, 16), 500).flips
    assert not sampled.exact
    assert len(sampled.means) == 500


def test_same_seed_same_bytes_whatever_else_is_drawn() -> None:
    generator = np.random.default_rng(1)
    values = generator.normal(size=(60, 3))
    units = units_of([str(at % 20) for at in range(60)], 60)
    alone, among = Sample(values[:, :1], units, 300, 7), Sample(values, units, 300, 7)
    assert alone.bootstrap.tobytes() == among.bootstrap[:, :1].tobytes()
    assert alone.flips.means.tobytes() == among.flips.means[:, :1].tobytes()
    assert Sample(values, units, 300, 8).bootstrap.tobytes() != among.bootstrap.tobytes()


def test_blocks_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.concatenate(list(_draw_counts(200, 40, 3)))
    assert whole.sum(axis=1).tolist() == [40] * 200
    monkeypatch.setattr("hybridcli.evaluation.resampling.CELLS", 40 * 7)
    assert np.array_equal(np.concatenate(list(_draw_counts(200, 40, 3))), whole)


def test_what_is_too_large_to_keep_is_drawn_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).normal(size=(40, 2))
    kept = Sample(values, units_of(None, 40), 200, 3)
    expected = (kept.bootstrap.tobytes(), kept.flips.means.tobytes())
    monkeypatch.setattr("hybridcli.evaluation.resampling.KEPT", 2000)
    drawn = Sample(values, units_of(None, 40), 200, 3)
    assert (drawn.bootstrap.tobytes(), drawn.flips.means.tobytes()) == expected


def test_sums_are_exact_in_any_order() -> None:
    values = np.random.default_rng(3).random((500, 1)) / 3
    sample = Sample(values, units_of([str(at % 50) for at in range(500)], 500))
    sums = sample.sums[:, 0]
    assert sums.sum() == sums[::-1].sum() == sum(sorted(sums.tolist()))
    assert np.abs(sums - sample.units.sums(values)[:, 0]).max() < 1e-13


def test_bca_equals_percentile_without_bias_and_skew() -> None:
    values = np.concatenate([np.arange(-50, 51)])[:, None] / 50.0
    sample = Sample(values, units_of(None, 101))
    assert interval_of("bca", sample) == pytest.approx(interval_of("percentile", sample), abs=0.01)


@pytest.mark.slow
def test_bca_equals_scipy() -> None:
    from scipy.stats import bootstrap

    values = np.random.default_rng(4).exponential(size=40)
    theirs = bootstrap((values,), np.mean, n_resamples=20_000, method="BCa", random_state=1, batch=5000)
    ours = interval_of("bca", Sample(values[:, None], units_of(None, 40), 20_000))[:, 0]
    assert ours == pytest.approx([theirs.confidence_interval.low, theirs.confidence_interval.high], abs=0.02)
    assert ours.mean() > values.mean()  # leans to the long tail


@pytest.mark.parametrize("name", INTERVALS)
def test_degenerate_samples(name: str) -> None:
    flat = Sample(np.full((12, 1), 0.25), units_of(None, 12), 200)
    assert interval_of(name, flat)[:, 0] == pytest.approx([0.25, 0.25], abs=1e-12)
    nothing = Sample(np.zeros((12, 1)), units_of(None, 12), 200)
    assert interval_of(name, nothing)[:, 0].tolist() == [0, 0]
    for groups, size in ((None, 1), (["a", "a", "a"], 3)):
        one = Sample(np.ones((size, 1)), units_of(groups, size), 200)
        assert np.isnan(interval_of(name, one)).all()


def test_unknown_interval() -> None:
    with pytest.raises(UsageError, match="unknown interval 'normal'; choose from percentile, bca"):
        interval_of("normal", clustered())
    assert [row[0] for row in interval_rows()] == list(INTERVALS)


def test_units_of_a_selection() -> None:
    units = units_of(GROUPS, 6).take(np.array([1, 3, 4]))
    assert units.of_query.tolist() == [0, 1, 1]
    assert units.sizes.tolist() == [1, 2]
