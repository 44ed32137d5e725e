"""Score normalisations: per query and per run, over the documents that the run retrieved (after the cut to depth).

Each takes a Pool and gives float64[R, N], NaN where the run did not retrieve the document. To add one, write a
function under ``@normalization`` and work out its values by hand in ``tests/fusion/test_normalization.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hybridcli.errors import UsageError
from hybridcli.fusion.pool import Pool
from hybridcli.records import Floats, segment_of


@dataclass(frozen=True, slots=True)
class Normalization:
    """One registry entry; ``formula`` and ``source`` feed the help and the README."""

    name: str
    formula: str
    source: str
    values: Callable[[Pool], Floats]


NORMALIZATIONS: dict[str, Normalization] = {}


def normalization(
    name: str, *, formula: str, source: str
) -> Callable[[Callable[[Pool], Floats]], Callable[[Pool], Floats]]:
    """Register a function from a Pool to normalised scores."""

    def register(function: Callable[[Pool], Floats]) -> Callable[[Pool], Floats]:
        NORMALIZATIONS[name] = Normalization(name, formula, source, function)
        return function

    return register


def find_normalization(name: str) -> Normalization:
    """Look up by name; a UsageError lists the names there are."""
    if name not in NORMALIZATIONS:
        raise UsageError(f"no normalisation {name!r}; there are: {', '.join(NORMALIZATIONS)}")
    return NORMALIZATIONS[name]


def normalization_rows() -> list[tuple[str, str, str]]:
    """One row a normalisation, for help and documents: name, formula, source."""
    return [(n.name, n.formula, n.source) for n in NORMALIZATIONS.values()]


def reduce_rows(ufunc: np.ufunc, values: Floats, pool: Pool) -> Floats:
    """Reduce float64[R, N] over the rows of each query to float64[R, Q]; NaN for a query without rows."""
    reduced = np.full((len(values), len(pool.queries)), np.nan)
    filled = np.flatnonzero(pool.candidates)
    if len(filled):
        reduced[:, filled] = ufunc.reduceat(values, pool.offsets[:-1][filled], axis=1)
    return reduced


@normalization("none", formula="s", source="raw scores")
def none(pool: Pool) -> Floats:
    """Leave the scores as they are."""
    return pool.scores


@normalization(
    "min-max",
    formula="(s − min) / (max − min); a constant list gives 1",
    source="Lee, SIGIR 1997",
)
def min_max(pool: Pool) -> Floats:
    """Map each list to [0, 1]; a constant or single-document list becomes 1, so that a lone hit counts."""
    shifted, top = _from_zero(pool)
    return _divide(shifted, top, constant=1.0)


@normalization(
    "max",
    formula="s / max; a list with a negative score is first shifted to minimum 0",
    source="Wu and Crestani, SAC 2006",
)
def max_(pool: Pool) -> Floats:
    """Divide by the highest score; never divides by a negative number, which would reverse the list."""
    scores = _scaled(pool)
    low = _per_row(reduce_rows(np.fmin, scores, pool), pool)
    shifted = scores - np.where(low < 0, low, 0.0)
    return _divide(shifted, _per_row(reduce_rows(np.fmax, shifted, pool), pool), constant=1.0)


@normalization(
    "sum",
    formula="(s − min) / Σ(s − min); a constant list gives 1/n",
    source="Montague and Aslam, CIKM 2001",
)
def sum_(pool: Pool) -> Floats:
    """Shift the minimum to 0 and scale the list's sum to 1."""
    shifted, top = _from_zero(pool)
    total = _per_row(reduce_rows(np.add, np.nan_to_num(shifted, nan=0.0), pool), pool)
    size = _per_row(pool.lengths.astype(np.float64), pool)
    return np.where(
        top > 0, _divide(shifted, total, constant=0.0), _divide(shifted + 1.0, size, constant=0.0)
    )


@normalization(
    "zmuv",
    formula="(s − mean) / population standard deviation; a constant list gives 0",
    source="Montague and Aslam, CIKM 2001",
)
def zmuv(pool: Pool) -> Floats:
    """Zero mean, unit variance."""
    shifted, top = _from_zero(pool)
    size = np.maximum(pool.lengths, 1)
    mean = reduce_rows(np.add, np.nan_to_num(shifted, nan=0.0), pool) / size
    centred = shifted - _per_row(mean, pool)
    variance = reduce_rows(np.add, np.nan_to_num(centred, nan=0.0) ** 2, pool) / size
    deviation = np.where(top > 0, _per_row(np.sqrt(variance), pool), 0.0)
    return _divide(centred, deviation, constant=0.0)


@normalization("rank", formula="1 − (rank − 1) / n", source="Lee, SIGIR 1997")
def rank(pool: Pool) -> Floats:
    """Evenly spaced by rank in the run's own list of n documents."""
    size = _per_row(np.maximum(pool.lengths, 1).astype(np.float64), pool)
    return np.where(pool.retrieved, 1.0 - (pool.ranks - 1) / size, np.nan)


@normalization(
    "borda",
    formula="(n − rank + 1) / n over the n candidates; absent documents share what is left",
    source="Renda and Straccia, SAC 2003",
)
def borda(pool: Pool) -> Floats:
    """Borda points over the union, divided by its size; absent documents get their share, not NaN."""
    return borda_points(pool) / np.repeat(pool.candidates, pool.candidates)


def borda_points(pool: Pool) -> Floats:
    """Points n … 1 for the documents a run ranks; the others share the rest equally: float64[R, N]."""
    size = np.repeat(pool.candidates, pool.candidates)
    share = (size - np.repeat(pool.lengths, pool.candidates, axis=1) + 1) / 2
    return np.where(pool.retrieved, (size - pool.ranks + 1).astype(np.float64), share)


def _per_row(per_query: Floats, pool: Pool) -> Floats:
    """Spread float64[R, Q] over the rows: float64[R, N]."""
    return per_query[:, segment_of(pool.offsets)]


def _scaled(pool: Pool) -> Floats:
    """Scale each list by a power of two so that its largest magnitude is in [0.5, 1): nothing can overflow later.

    Powers of two are exact, so normalised values do not change.
    """
    _, exponent = np.frexp(np.nan_to_num(reduce_rows(np.fmax, np.abs(pool.scores), pool), nan=0.0))
    return np.ldexp(pool.scores, -exponent[:, segment_of(pool.offsets)])


def _from_zero(pool: Pool) -> tuple[Floats, Floats]:
    """Shift each list's minimum to 0; also give each row the list's highest shifted score, both float64[R, N]."""
    scores = _scaled(pool)
    low = reduce_rows(np.fmin, scores, pool)
    top = reduce_rows(np.fmax, scores, pool) - low
    return scores - _per_row(low, pool), _per_row(top, pool)


def _divide(values: Floats, by: Floats, *, constant: float) -> Floats:
    """Divide where ``by`` is above 0; elsewhere the list is constant. NaN (absent) stays NaN."""
    quotient = np.where(np.isnan(values), np.nan, constant)
    np.divide(values, by, out=quotient, where=by > 0)
    return quotient
