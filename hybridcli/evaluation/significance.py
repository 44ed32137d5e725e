"""Tests of a paired difference, corrections for many tests, equivalence, and what the data could have shown.

A test is one registered function ``(sample, alternative) -> p, float64[C]`` over columns of paired differences;
NaN where it cannot say anything. All of them work on the sample's units: groups when given, else queries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hybridcli.errors import UsageError
from hybridcli.evaluation.resampling import NORMAL, Sample
from hybridcli.records import Floats

Test = Callable[[Sample, str], Floats]
Correction = Callable[[Floats], Floats]
ALTERNATIVES = ("two-sided", "greater", "less")


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered test or correction, with what help and README say of it."""

    name: str
    function: Callable[..., Floats]
    about: str
    source: str


TESTS: dict[str, Entry] = {}
CORRECTIONS: dict[str, Entry] = {}


def difference_test(name: str, *, about: str, source: str) -> Callable[[Test], Test]:
    """Register a test."""

    def register(function: Test) -> Test:
        TESTS[name] = Entry(name, function, about, source)
        return function

    return register


def correction(name: str, *, about: str, source: str) -> Callable[[Correction], Correction]:
    """Register a correction: adjusts the p-values of one family, float64[F] without NaN."""

    def register(function: Correction) -> Correction:
        CORRECTIONS[name] = Entry(name, function, about, source)
        return function

    return register


def p_values(name: str, sample: Sample, alternative: str = "two-sided") -> Floats:
    """p of each column; raises UsageError for an unknown test or alternative."""
    if name not in TESTS:
        raise UsageError(f"unknown test {name!r}; choose from {', '.join(TESTS)}")
    if alternative not in ALTERNATIVES:
        raise UsageError(f"unknown alternative {alternative!r}; choose from {', '.join(ALTERNATIVES)}")
    return TESTS[name].function(sample, alternative)


def adjust(name: str, p: Floats) -> Floats:
    """Adjust the p-values of a family; a test that could say nothing counts as p = 1 and stays NaN."""
    if name not in CORRECTIONS:
        raise UsageError(f"unknown correction {name!r}; choose from {', '.join(CORRECTIONS)}")
    silent = np.isnan(p)
    adjusted = np.minimum(CORRECTIONS[name].function(np.where(silent, 1.0, p)), 1.0)
    return np.where(silent, np.nan, adjusted)


@difference_test(
    "bootstrap",
    about="is the mean difference over such queries (companies) zero? The p that goes with the interval",
    source="Efron & Tibshirani 1993; by clusters: Davison & Hinkley 1997",
)
def bootstrap_test(sample: Sample, alternative: str) -> Floats:
    """Share of bootstrap means on the wrong side of 0, (1 + count) / (1 + B); doubled when two-sided."""
    if sample.units.count < 2:
        return np.full(sample.values.shape[1], np.nan)
    low = _share(sample.bootstrap <= sample.noise)
    high = _share(sample.bootstrap >= -sample.noise)
    return _choose(alternative, low, high, np.minimum(2.0 * np.minimum(low, high), 1.0))


@difference_test(
    "permutation",
    about="could chance alone, swapping the two runs by query (company), give this difference?",
    source="Fisher 1935; Smucker, Allan & Carterette 2007",
)
def permutation_test(sample: Sample, alternative: str) -> Floats:
    """Sign flips of the units; exact with at most 15 units."""
    flips, mean = sample.flips, sample.means
    share = _exact_share if flips.exact else _share
    return _choose(
        alternative,
        share(flips.means >= mean - flips.noise),
        share(flips.means <= mean + flips.noise),
        share(np.abs(flips.means) >= np.abs(mean) - flips.noise),
    )


@difference_test(
    "t",
    about="the same question, taking the mean as normal; with groups, standard errors by cluster",
    source="Student 1908; by clusters: Liang & Zeger 1986",
)
def t_test(sample: Sample, alternative: str) -> Floats:
    """Paired t with G - 1 degrees of freedom; with single queries as units it is the ordinary one."""
    from scipy.special import stdtr

    units, mean = sample.units, sample.means
    undefined = np.full(len(mean), np.nan)
    if units.count < 2:
        return undefined
    rest = sample.sums - units.sizes[:, None] * mean
    error = np.sqrt(units.count / (units.count - 1) * (rest**2).sum(axis=0)) / len(sample.values)
    flat = error <= sample.noise
    t = mean / np.where(flat, 1.0, error)
    below = stdtr(units.count - 1, t)
    above = stdtr(units.count - 1, -t)
    p = _choose(alternative, above, below, 2.0 * np.minimum(below, above))
    # no variance at all: equal runs differ by nothing, and a constant difference has no t
    return np.where(flat, np.where(np.abs(mean) <= sample.noise, 1.0, undefined), p)


@difference_test(
    "wilcoxon",
    about="do queries (companies) more often gain than lose, counting by rank of the gain and not its size?",
    source="Wilcoxon 1945",
)
def wilcoxon_test(sample: Sample, alternative: str) -> Floats:
    """Signed ranks of the units' mean differences; zeros are left out."""
    from scipy.stats import wilcoxon

    differences = sample.sums / sample.units.sizes[:, None]
    p = np.ones(differences.shape[1])
    for column, noise in enumerate(sample.noise):
        unit = np.round(differences[:, column] / max(noise, 1e-300)) * noise  # ties are ties again
        unit = np.where(np.abs(differences[:, column]) <= noise, 0.0, unit)
        if np.any(unit):
            p[column] = wilcoxon(unit, alternative=alternative).pvalue
    return p


def _share(extreme: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
    return np.asarray((1.0 + extreme.sum(axis=0)) / (1.0 + len(extreme)))


def _exact_share(extreme: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
    return np.asarray(extreme.mean(axis=0))


def _choose(alternative: str, greater: Floats, less: Floats, both: Floats) -> Floats:
    return {"greater": greater, "less": less, "two-sided": both}[alternative]


@correction("none", about="no correction", source="")
def none(p: Floats) -> Floats:
    """Leave the p-values alone."""
    return p


@correction("holm", about="no false claim in the family, at 95 %; step-down", source="Holm 1979")
def holm(p: Floats) -> Floats:
    """Multiply the k-th smallest by F - k + 1, never below a smaller one's."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _put_back(stepped, order)


@correction(
    "bonferroni", about="no false claim in the family, at 95 %; p times family size", source="Dunn 1961"
)
def bonferroni(p: Floats) -> Floats:
    """Multiply by the size of the family."""
    return p * len(p)


@correction("bh", about="at most 5 % of the claims are false, on average", source="Benjamini & Hochberg 1995")
def benjamini_hochberg(p: Floats) -> Floats:
    """Step-up: p_(k) * F / k, never above a larger one's."""
    order = np.argsort(p, kind="stable")
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    return _put_back(np.minimum.accumulate(scaled[::-1])[::-1], order)


def _put_back(values: Floats, order: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Floats:
    result = np.empty_like(values)
    result[order] = values
    return result


@dataclass(frozen=True, slots=True)
class Margins:
    """p of two one-sided tests against a margin: float64[C] each (Schuirmann 1987)."""

    not_inferior: Floats
    not_superior: Floats

    @property
    def equivalent(self) -> Floats:
        """p of "within the margin on both sides"."""
        return np.maximum(self.not_inferior, self.not_superior)


def margin_tests(sample: Sample, margin: float, tests: Sequence[str] = ("bootstrap",)) -> Margins:
    """Test difference > -margin, and difference < margin; of several tests the largest p counts."""
    above, below = (
        replace(sample, values=sample.values + margin),
        replace(sample, values=sample.values - margin),
    )
    return Margins(
        np.max([p_values(test, above, "greater") for test in tests], axis=0),
        np.max([p_values(test, below, "less") for test in tests], axis=0),
    )


def detectable_effect(
    sample: Sample, *, alpha: float = 0.05, power: float = 0.8, two_sided: bool = True
) -> Floats:
    """Smallest true difference found with this power, from the bootstrap's standard error: float64[C].

    (z(1 - alpha/2) + z(power)) standard errors; NaN with fewer than two units.
    """
    if sample.units.count < 2:
        return np.full(sample.values.shape[1], np.nan)
    z = NORMAL.inv_cdf(1.0 - alpha / (2.0 if two_sided else 1.0)) + NORMAL.inv_cdf(power)
    return np.asarray(z * sample.bootstrap.std(axis=0, ddof=1))


def standardised(sample: Sample) -> Floats:
    """Mean difference over the standard deviation of the queries' differences; NaN without variance."""
    if len(sample.values) < 2:
        return np.full(sample.values.shape[1], np.nan)
    spread = sample.values.std(axis=0, ddof=1)
    flat = spread <= sample.noise
    return np.where(flat, np.nan, sample.means / np.where(flat, 1.0, spread))


def registry_rows(registry: dict[str, Entry]) -> list[tuple[str, str, str]]:
    """(name, what it answers, source) of tests or corrections, for help and README."""
    return [(entry.name, entry.about, entry.source) for entry in registry.values()]
