"""Comparisons of systems: which pairs, tested how, in which family, and the verdict on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hybridcli.errors import UsageError
from hybridcli.evaluation.resampling import Sample, Units, interval_of
from hybridcli.evaluation.scores import Scores
from hybridcli.evaluation.significance import (
    adjust,
    detectable_effect,
    margin_tests,
    p_values,
    standardised,
)
from hybridcli.records import Floats

Number = float | None
FAMILIES = ("measure", "all")


@dataclass(frozen=True, slots=True)
class Pair:
    """The difference ``left - right`` of two systems; ``planned``: declared in advance, left expected higher."""

    left: str
    right: str
    planned: bool = False


@dataclass(frozen=True, slots=True)
class Inference:
    """How differences are judged; a verdict needs the agreement of all ``tests``."""

    replicates: int = 10_000
    seed: int = 0
    interval: str = "percentile"
    level: float = 0.95
    tests: tuple[str, ...] = ("bootstrap", "permutation")
    correction: str = "holm"
    family: str = "measure"
    alternative: str = "two-sided"
    margin: float | None = None

    @property
    def alpha(self) -> float:
        """1 - level."""
        return 1.0 - self.level


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval; None where nothing can be said."""

    label: str
    measure: str
    n: int
    mean: float
    low: Number
    high: Number


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that is said of one pair on one measure; ``difference`` is the mean of ``left - right``.

    ``p`` and ``adjusted``: by test. ``wins``: queries on which left is higher. ``effect``: difference over the
    standard deviation of the queries' differences. ``detectable``: smallest true difference found with 80 %
    power at alpha; ``detectable_in_family``: at alpha / family size. None where nothing can be said.
    ``verdict``: better or worse when every test's adjusted p is below alpha, else equivalent when the adjusted
    p of equivalence is, else undecided.
    """

    pair: Pair
    measure: str
    n: int
    difference: float
    low: Number
    high: Number
    alternative: str
    family_size: int
    p: dict[str, Number]
    adjusted: dict[str, Number]
    wins: int
    ties: int
    losses: int
    effect: Number
    detectable: Number
    detectable_in_family: Number
    p_not_inferior: Number
    p_equivalent: Number
    verdict: str


def plan_pairs(
    labels: Sequence[str],
    *,
    baselines: Sequence[str] = (),
    pairs: Sequence[tuple[str, str]] = (),
    all_pairs: bool = False,
    planned: Sequence[tuple[str, str]] = (),
) -> list[Pair]:
    """Planned pairs first, then exploratory ones: those named, or every system against each baseline.

    A pair that is planned is not explored again. Without anything named the first system is the baseline.
    """
    result = [Pair(left, right, planned=True) for left, right in planned]
    explored: list[tuple[str, str]] = list(pairs)
    if all_pairs:
        explored += [(right, left) for at, left in enumerate(labels) for right in labels[at + 1 :]]
    named = list(baselines) or ([] if pairs or all_pairs else list(labels[:1]))
    for baseline in named:
        explored += [(label, baseline) for label in labels if label != baseline]
    seen = {frozenset(pair) for pair in planned}
    for left, right in explored:
        if frozenset((left, right)) not in seen:
            seen.add(frozenset((left, right)))
            result.append(Pair(left, right))
    for pair in result:
        for label in (pair.left, pair.right):
            if label not in labels:
                raise UsageError(f"no run is called {label!r}; the runs are {', '.join(labels)}")
        if pair.left == pair.right:
            raise UsageError(f"{pair.left} is compared with itself")
    return result


def split_pair(text: str, separator: str, labels: Sequence[str]) -> tuple[str, str]:
    """Read ``a>b``; a label may hold the separator itself as long as both sides are known labels."""
    parts = text.strip().split(separator)
    for at in range(1, len(parts)):
        left, right = separator.join(parts[:at]).strip(), separator.join(parts[at:]).strip()
        if left in labels and right in labels:
            return left, right
    raise UsageError(
        f"{text!r} does not name two runs; write A{separator}B with A and B among {', '.join(labels)}"
    )


def estimate_means(scores: Scores, units: Units, how: Inference) -> list[Estimate]:
    """Mean and interval of every system on every measure."""
    columns = scores.values.reshape(-1, len(scores.queries)).T
    sample = Sample(columns, units, how.replicates, how.seed)
    low, high = interval_of(how.interval, sample, how.level)
    names = [(label, measure) for label in scores.labels for measure in scores.measures]
    return [
        Estimate(
            label, measure, len(scores.queries), float(sample.means[at]), _number(low[at]), _number(high[at])
        )
        for at, (label, measure) in enumerate(names)
    ]


def compare_pairs(scores: Scores, pairs: Sequence[Pair], units: Units, how: Inference) -> list[Comparison]:
    """Judge every pair on every measure; pair by pair, measures in order within a pair."""
    result: list[Comparison] = []
    for planned in (True, False):
        chosen = [pair for pair in pairs if pair.planned == planned]
        if chosen:
            result += _judge(scores, chosen, units, how, "greater" if planned else how.alternative)
    return result


def differences(scores: Scores, pairs: Sequence[Pair]) -> Floats:
    """Per-query differences, float64[Q, P * M], pair by pair; one in the last bits of two values is none."""
    row = {label: at for at, label in enumerate(scores.labels)}
    stacked = []
    for pair in pairs:
        left, right = scores.values[row[pair.left]], scores.values[row[pair.right]]
        stacked.append(np.where(np.isclose(left, right, rtol=1e-12, atol=1e-12), 0.0, left - right))
    return np.concatenate(stacked).T


def _judge(
    scores: Scores, pairs: list[Pair], units: Units, how: Inference, alternative: str
) -> list[Comparison]:
    if how.family not in FAMILIES:
        raise UsageError(f"unknown family {how.family!r}; choose from {', '.join(FAMILIES)}")
    sample = Sample(differences(scores, pairs), units, how.replicates, how.seed)
    measures = scores.measures
    size = len(pairs) * (len(measures) if how.family == "all" else 1)
    families = _families(len(pairs), len(measures), how.family)
    p = {test: p_values(test, sample, alternative) for test in how.tests}
    adjusted = {test: _adjust_by_family(how.correction, values, families) for test, values in p.items()}
    low, high = interval_of(how.interval, sample, how.level)
    two_sided = alternative == "two-sided"
    alone = detectable_effect(sample, alpha=how.alpha, two_sided=two_sided)
    among = detectable_effect(sample, alpha=how.alpha / size, two_sided=two_sided)
    effect = standardised(sample)
    inferior = equivalent = np.full(len(alone), np.nan)
    if how.margin is not None:
        margins = margin_tests(sample, how.margin, how.tests)
        inferior = _adjust_by_family(how.correction, margins.not_inferior, families)
        equivalent = _adjust_by_family(how.correction, margins.equivalent, families)
    result = []
    for at in range(sample.values.shape[1]):
        column = sample.values[:, at]
        decisive = max((values[at] for values in adjusted.values()), key=lambda p: (np.isnan(p), p))
        result.append(
            Comparison(
                pair=pairs[at // len(measures)],
                measure=measures[at % len(measures)],
                n=len(column),
                difference=float(sample.means[at]) if abs(sample.means[at]) > sample.noise[at] else 0.0,
                low=_number(low[at]),
                high=_number(high[at]),
                alternative=alternative,
                family_size=size,
                p={test: _number(values[at]) for test, values in p.items()},
                adjusted={test: _number(values[at]) for test, values in adjusted.items()},
                wins=int((column > 0).sum()),
                ties=int((column == 0).sum()),
                losses=int((column < 0).sum()),
                effect=_number(effect[at]),
                detectable=_number(alone[at]),
                detectable_in_family=_number(among[at]),
                p_not_inferior=_number(inferior[at]),
                p_equivalent=_number(equivalent[at]),
                verdict=_verdict(decisive, float(sample.means[at]), equivalent[at], how.alpha),
            )
        )
    return result


def _verdict(p: float, difference: float, p_equivalent: float, alpha: float) -> str:
    if p < alpha:  # False for NaN
        return "better" if difference > 0 else "worse"
    return "equivalent" if p_equivalent < alpha else "undecided"


def _families(pairs: int, measures: int, kind: str) -> list[np.ndarray[tuple[int], np.dtype[np.intp]]]:
    """Columns that are corrected together."""
    columns = np.arange(pairs * measures)
    return [columns] if kind == "all" else [columns[columns % measures == at] for at in range(measures)]


def _adjust_by_family(
    correction: str, p: Floats, families: list[np.ndarray[tuple[int], np.dtype[np.intp]]]
) -> Floats:
    adjusted = np.empty_like(p)
    for columns in families:
        adjusted[columns] = adjust(correction, p[columns])
    return adjusted


def _number(value: float) -> Number:
    """A plain float, or None for NaN."""
    return None if np.isnan(value) else float(value)
