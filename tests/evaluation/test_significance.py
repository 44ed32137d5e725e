"""Tests and corrections: exact values, agreement with scipy, and what they say when there is nothing to say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridcli.errors import UsageError
from hybridcli.evaluation.resampling import Sample, units_of
from hybridcli.evaluation.significance import (
    CORRECTIONS,
    TESTS,
    adjust,
    detectable_effect,
    margin_tests,
    p_values,
    registry_rows,
    standardised,
)

# P@10 of run A minus B, C, D: many sign patterns tie with the observed sum exactly
KNOWN = np.array(
    [[0.1, 0.2, 0.3, 0.0, -0.1, 0.2], [0.0, -0.1, 0.1, 0.1, 0.0, 0.1], [0.4, 0.2, 0.4, 0.4, 0.2, 0.3]]
).T
EXACT = [3 / 16, 5 / 8, 1 / 32]
T = [0.10986650103422646, 0.3632174676491229, 0.0005261486796519013]


def sample_of(values: np.ndarray, groups: list[str] | None = None, replicates: int = 2000) -> Sample:
    return Sample(values, units_of(groups, len(values)), replicates)


def test_exact_sign_flips() -> None:
    p = p_values("permutation", sample_of(KNOWN))
    assert p == pytest.approx(EXACT, abs=1e-12)
    assert adjust("bonferroni", p) == pytest.approx([0.5625, 1.0, 0.09375], abs=1e-12)
    assert adjust("holm", p) == pytest.approx([0.375, 0.625, 0.09375], abs=1e-12)


def test_exact_sign_flips_of_one_side() -> None:
    greater = p_values("permutation", sample_of(KNOWN), "greater")
    less = p_values("permutation", sample_of(-KNOWN), "less")
    assert greater == pytest.approx([6 / 64, 20 / 64, 1 / 64])
    assert less == pytest.approx(greater)


def test_paired_t() -> None:
    p = p_values("t", sample_of(KNOWN))
    assert p == pytest.approx(T, rel=1e-9)
    assert adjust("bonferroni", p) == pytest.approx([0.3295995031026794, 1.0, 0.001578446038955704], rel=1e-9)
    assert adjust("holm", p) == pytest.approx([0.21973300206845292, T[1], 0.001578446038955704], rel=1e-9)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_t_and_wilcoxon_equal_scipy(alternative: str) -> None:
    from scipy.stats import ttest_1samp, wilcoxon

    values = np.random.default_rng(0).normal(0.2, 1, size=(30, 2))
    ours = p_values("t", sample_of(values), alternative)
    assert ours == pytest.approx(ttest_1samp(values, 0, alternative=alternative).pvalue, rel=1e-9)
    ours = p_values("wilcoxon", sample_of(values), alternative)
    assert ours == pytest.approx([wilcoxon(v, alternative=alternative).pvalue for v in values.T], rel=1e-9)


def test_t_by_groups_is_the_cluster_robust_one() -> None:
    values = np.array([1.0, 0.5, -0.2, 0.8, 0.1, 0.4])[:, None]
    sums, sizes = np.array([1.5, 0.6, 0.5]), np.array([2, 2, 2])
    mean = values.mean()
    error = np.sqrt(3 / 2 * ((sums - sizes * mean) ** 2).sum()) / 6
    from scipy.stats import t

    expected = 2 * t.sf(mean / error, 2)
    assert p_values("t", sample_of(values, ["a", "a", "b", "b", "c", "c"])) == pytest.approx([expected])


def test_sampled_permutation_is_near_the_exact_one() -> None:
    values = np.random.default_rng(5).normal(0.4, 1, size=(15, 1))
    exact = p_values("permutation", sample_of(values))[0]
    # two queries without a difference more than the limit of enumeration: the same p, sampled
    more = np.concatenate([values, np.zeros((2, 1))])
    sampled = p_values("permutation", sample_of(more, replicates=20_000))[0]
    assert sampled == pytest.approx(exact, abs=3 * np.sqrt(exact * (1 - exact) / 20_000))
    assert (sampled * 20_001) % 1 == pytest.approx(0, abs=1e-6) or (sampled * 20_001) % 1 > 1 - 1e-6


def test_bootstrap_p_agrees_with_its_interval() -> None:
    from hybridcli.evaluation.resampling import interval_of

    generator = np.random.default_rng(6)
    values = generator.normal(0.25, 1, size=(60, 40))
    sample = sample_of(values)
    low, high = interval_of("percentile", sample)
    p = p_values("bootstrap", sample)
    clear = np.abs(p - 0.05) > 0.002
    assert ((p < 0.05) == ((low > 0) | (high < 0)))[clear].all()
    assert 0 < (p < 0.05).sum() < 40


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_equal_runs(name: str, alternative: str) -> None:
    assert p_values(name, sample_of(np.zeros((20, 1))), alternative).tolist() == [1.0]


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize(("groups", "size"), [(None, 1), (["a"] * 4, 4)])
def test_one_unit(name: str, groups: list[str] | None, size: int) -> None:
    p = p_values(name, sample_of(np.full((size, 1), 0.5), groups))
    assert np.isnan(p).all() or p[0] == 1.0


@pytest.mark.parametrize("name", TESTS)
def test_a_constant_difference(name: str) -> None:
    p = p_values(name, sample_of(np.full((20, 1), 0.1)))
    assert np.isnan(p[0]) if name == "t" else p[0] < 0.01


@pytest.mark.parametrize("name", TESTS)
def test_sides_and_order(name: str) -> None:
    values = np.random.default_rng(7).normal(0.5, 1, size=(40, 1))
    greater, less = (p_values(name, sample_of(values), side)[0] for side in ("greater", "less"))
    both = p_values(name, sample_of(values))[0]
    assert greater < both < less


def test_names_that_are_wrong() -> None:
    with pytest.raises(UsageError, match="unknown test 'z'; choose from bootstrap, permutation, t, wilcoxon"):
        p_values("z", sample_of(KNOWN))
    with pytest.raises(UsageError, match="unknown alternative 'both'"):
        p_values("t", sample_of(KNOWN), "both")
    with pytest.raises(UsageError, match="unknown correction 'x'; choose from none, holm, bonferroni, bh"):
        adjust("x", np.array([0.1]))


def test_benjamini_hochberg_by_hand() -> None:
    p = np.array([0.01, 0.04, 0.03, 0.5])
    assert adjust("bh", p) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])
    assert adjust("none", p).tolist() == p.tolist()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_corrections_keep_the_order_and_stay_below_one(raw: list[float]) -> None:
    p = np.array(raw)
    for name in CORRECTIONS:
        adjusted = adjust(name, p)
        assert (adjusted >= p - 1e-15).all()
        assert (adjusted <= 1).all()
        order = np.argsort(p, kind="stable")
        assert (np.diff(adjusted[order]) >= -1e-15).all()
    assert (adjust("holm", p) <= adjust("bonferroni", p) + 1e-15).all()
    assert (adjust("bh", p) <= adjust("holm", p) + 1e-15).all()


def test_a_silent_test_counts_in_the_family() -> None:
    adjusted = adjust("bonferroni", np.array([0.01, np.nan]))
    assert adjusted[0] == pytest.approx(0.02)
    assert np.isnan(adjusted[1])


def test_margins() -> None:
    values = np.random.default_rng(8).normal(0.0, 0.1, size=(200, 1))
    near = margin_tests(sample_of(values), 0.05)
    assert near.equivalent[0] < 0.01
    assert near.equivalent[0] == max(near.not_inferior[0], near.not_superior[0])
    shifted = margin_tests(sample_of(values + 0.1), 0.05)
    assert shifted.not_inferior[0] < 0.01 < 0.9 < shifted.equivalent[0]
    assert np.isnan(margin_tests(sample_of(np.ones((1, 1))), 0.1).equivalent).all()


def test_detectable_effect_is_a_multiple_of_the_error() -> None:
    values = np.random.default_rng(9).normal(0, 1, size=(400, 1))
    error = values.std(ddof=1) / np.sqrt(400)
    assert detectable_effect(sample_of(values, replicates=20_000))[0] == pytest.approx(
        2.8016 * error, rel=0.03
    )
    one_sided = detectable_effect(sample_of(values, replicates=20_000), two_sided=False)[0]
    assert one_sided == pytest.approx(2.4865 * error, rel=0.03)
    assert np.isnan(detectable_effect(sample_of(np.ones((1, 1))))[0])
    assert detectable_effect(sample_of(np.zeros((5, 1))))[0] == 0


def test_standardised_effect() -> None:
    assert standardised(sample_of(KNOWN))[2] == pytest.approx(KNOWN[:, 2].mean() / KNOWN[:, 2].std(ddof=1))
    assert np.isnan(standardised(sample_of(np.full((5, 1), 0.3)))[0])
    assert np.isnan(standardised(sample_of(np.ones((1, 1))))[0])


def test_rows_for_the_readme() -> None:
    assert [row[0] for row in registry_rows(TESTS)] == list(TESTS)
    assert all(about and source for _, about, source in registry_rows(TESTS))
