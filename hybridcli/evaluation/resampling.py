"""Resampling of per-query values: units that stay together, bootstrap replicates, sign flips, intervals.

Queries about one company or document are not independent, so what is drawn is the *unit*: a group of queries,
or a single query where no groups are given. The estimate is always a ratio, the sum of the values drawn over
the number of queries drawn; a group counts by its size, not as one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from hybridcli.errors import UsageError
from hybridcli.records import Floats, Ints

EXACT_UNITS = 15  # 2^15 sign patterns are enumerated, more are sampled
CELLS = 1 << 22  # numbers drawn at a time: bounds memory, and is fixed so that a seed always means the same
KEPT = 1 << 23  # numbers that are kept for the next sample of the same size
NOISE = 1e-10  # relative to the sum of absolute values: smaller differences are float noise
NORMAL = NormalDist()
Draw = Callable[[int, int, int], Iterator[Floats]]


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What is resampled together. ``of_query``: int64[Q], the unit of each query; ``sizes``: float64[G]."""

    of_query: Ints
    sizes: Floats
    grouped: bool

    @property
    def count(self) -> int:
        """G, the number of units."""
        return len(self.sizes)

    def take(self, chosen: Ints) -> Units:
        """The units of some of the queries, in their order."""
        distinct, of_query = np.unique(self.of_query[chosen], return_inverse=True)
        return Units(
            of_query, np.bincount(of_query, minlength=len(distinct)).astype(np.float64), self.grouped
        )

    def sums(self, values: Floats) -> Floats:
        """Sum values [Q, C] over the queries of each unit: float64[G, C]."""
        columns = [np.bincount(self.of_query, weights=column, minlength=self.count) for column in values.T]
        return np.stack(columns, axis=1) if columns else np.zeros((self.count, 0))


def units_of(groups: Sequence[str] | None, size: int) -> Units:
    """Units of Q queries: by group value, or every query by itself."""
    if groups is None:
        return Units(np.arange(size, dtype=np.int64), np.ones(size), grouped=False)
    number: dict[str, int] = {}
    of_query = np.array([number.setdefault(group, len(number)) for group in groups], dtype=np.int64)
    return Units(of_query, np.bincount(of_query, minlength=len(number)).astype(np.float64), grouped=True)


@dataclass(frozen=True)
class Flips:
    """Means under flipped signs. ``means``: float64[B, C]; ``noise``: float64[C], what counts as equal."""

    means: Floats
    noise: Floats
    exact: bool


@dataclass(frozen=True)
class Sample:
    """C columns of per-query values with everything that is drawn from them; draws are made once, when asked.

    ``values``: float64[Q, C]. The same seed draws the same units whatever the columns, so adding a run or a
    measure changes no other figure.
    """

    values: Floats
    units: Units
    replicates: int = 10_000
    seed: int = 0

    @cached_property
    def sums(self) -> Floats:
        """Sum of each unit, float64[G, C], on a grid so coarse that any sum of draws is exact.

        Rounding the sums to multiples of 2^-52 of the largest total makes every product and partial sum below
        exact, hence the same whatever order, thread count or BLAS adds them up.
        """
        sums = self.units.sums(self.values)
        largest = np.abs(sums).max(axis=0, initial=0.0) * (self.units.count + 1)
        grid = np.exp2(np.ceil(np.log2(np.where(largest > 0, largest, 1.0))) - 52)
        return np.asarray(np.round(sums / grid) * grid)

    @cached_property
    def means(self) -> Floats:
        """Mean over the queries: float64[C]."""
        return np.asarray(self.values.sum(axis=0) / len(self.values))

    @cached_property
    def noise(self) -> Floats:
        """Differences of a mean smaller than this are float noise: float64[C]."""
        return np.asarray(NOISE * np.abs(self.values).sum(axis=0) / len(self.values))

    @cached_property
    def bootstrap(self) -> Floats:
        """Means of ``replicates`` resamples: float64[B, C]; one product of counts and unit sums a block."""
        blocks = _kept_or_drawn(_draw_counts, self.replicates, self.units.count, self.seed)
        return np.concatenate(
            [(counts @ self.sums) / (counts @ self.units.sizes)[:, None] for counts in blocks]
        )

    @cached_property
    def flips(self) -> Flips:
        """Means under every sign pattern of the units, or under ``replicates`` random ones."""
        count = self.units.count
        exact = count <= EXACT_UNITS
        blocks = (
            [_patterns(count)] if exact else _kept_or_drawn(_draw_signs, self.replicates, count, self.seed)
        )
        means = np.concatenate([signs @ self.sums for signs in blocks]) / len(self.values)
        return Flips(means, self.noise, exact)

    @cached_property
    def jackknife(self) -> Floats:
        """Means with each unit left out: float64[G, C]."""
        rest = len(self.values) - self.units.sizes
        return np.asarray((self.sums.sum(axis=0) - self.sums) / np.maximum(rest, 1)[:, None])


def _kept_or_drawn(draw: Draw, rows: int, count: int, seed: int) -> Iterable[Floats]:
    """Draw blocks; a size that fits is kept, as means and differences are resampled alike."""
    return _kept(draw, rows, count, seed) if rows * count <= KEPT else draw(rows, count, seed)


@functools.lru_cache(maxsize=2)
def _kept(draw: Draw, rows: int, count: int, seed: int) -> list[Floats]:
    return list(draw(rows, count, seed))


def _blocks(rows: int, width: int) -> Iterator[int]:
    step = max(1, CELLS // max(width, 1))
    for start in range(0, rows, step):
        yield min(step, rows - start)


def _draw_counts(rows: int, count: int, seed: int) -> Iterator[Floats]:
    """How often each unit is drawn, in blocks float64[b, G]: G draws with replacement a row."""
    generator = np.random.default_rng([seed, 1])
    for size in _blocks(rows, count):
        drawn = generator.integers(0, count, size=(size, count))
        drawn += np.arange(size)[:, None] * count
        yield np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count).astype(np.float64)


def _draw_signs(rows: int, count: int, seed: int) -> Iterator[Floats]:
    """Random signs in blocks float64[b, G]."""
    generator = np.random.default_rng([seed, 2])
    for size in _blocks(rows, count):
        packed = generator.integers(0, 256, size=(size, (count + 7) // 8), dtype=np.uint8)
        yield np.asarray(1.0 - 2.0 * np.unpackbits(packed, axis=1, count=count), dtype=np.float64)


def _patterns(count: int) -> Floats:
    bits = (np.arange(1 << count)[:, None] >> np.arange(count)) & 1
    return np.asarray(1.0 - 2.0 * bits)


Interval = Callable[[Sample, float], Floats]
INTERVALS: dict[str, tuple[Interval, str, str]] = {}


def interval(name: str, *, about: str, source: str) -> Callable[[Interval], Interval]:
    """Register a kind of interval: ``(sample, level) -> float64[2, C]``."""

    def register(function: Interval) -> Interval:
        INTERVALS[name] = (function, about, source)
        return function

    return register


def interval_of(name: str, sample: Sample, level: float = 0.95) -> Floats:
    """Bounds of each column, float64[2, C]; NaN with fewer than two units, where nothing can be said.

    Raises UsageError for an unknown name.
    """
    if name not in INTERVALS:
        raise UsageError(f"unknown interval {name!r}; choose from {', '.join(INTERVALS)}")
    if sample.units.count < 2:
        return np.full((2, sample.values.shape[1]), np.nan)
    return INTERVALS[name][0](sample, level)


@interval(
    "percentile",
    about="quantiles of the bootstrap means; agrees with the bootstrap p",
    source="Efron & Tibshirani 1993, ch. 13; by clusters: Davison & Hinkley 1997, 3.8",
)
def percentile(sample: Sample, level: float) -> Floats:
    """Equal tails of the replicates."""
    tail = (1.0 - level) / 2.0
    return np.quantile(sample.bootstrap, [tail, 1.0 - tail], axis=0)


@interval(
    "bca",
    about="quantiles corrected for bias and skewness (jackknife over units)",
    source="Efron 1987",
)
def bca(sample: Sample, level: float) -> Floats:
    """Bias-corrected and accelerated; equals the percentile interval where there is neither bias nor skew."""
    replicates, bounds = sample.bootstrap, np.empty((2, sample.values.shape[1]))
    tail = (1.0 - level) / 2.0
    for column, (mean, noise) in enumerate(zip(sample.means, sample.noise, strict=True)):
        drawn = replicates[:, column]
        below = np.count_nonzero(drawn < mean - noise)
        equal = np.count_nonzero(np.abs(drawn - mean) <= noise)
        least = 0.5 / len(drawn)
        bias = NORMAL.inv_cdf(float(np.clip((below + equal / 2.0) / len(drawn), least, 1.0 - least)))
        lever = sample.jackknife[:, column].mean() - sample.jackknife[:, column]
        spread = (lever**2).sum()
        skew = 0.0 if spread <= noise**2 else (lever**3).sum() / (6.0 * spread**1.5)
        tails = []
        for z in (NORMAL.inv_cdf(tail), NORMAL.inv_cdf(1.0 - tail)):
            tails.append(NORMAL.cdf(bias + (bias + z) / max(1.0 - skew * (bias + z), 1e-9)))
        bounds[:, column] = np.quantile(drawn, tails)
    return bounds


def interval_rows() -> list[tuple[str, str, str]]:
    """(name, what it is, source), for help and README."""
    return [(name, about, source) for name, (_, about, source) in INTERVALS.items()]
