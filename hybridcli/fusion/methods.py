"""Fusion methods: functions on aligned runs that give one score a candidate.

A method reads ranks or scores. To add one, write a function under ``@method`` and work out its values by hand in
``tests/fusion/test_methods.py``. No method depends on the order of the runs, down to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hybridcli.errors import UsageError
from hybridcli.fusion.condorcet import condorcet_positions
from hybridcli.fusion.normalization import borda_points, reduce_rows
from hybridcli.fusion.pool import Pool
from hybridcli.records import Floats, segment_of


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """What a method reads: the pool, normalised scores (float64[R, N], NaN where absent) and the parameters."""

    pool: Pool
    values: Floats
    rrf_k: float = 60.0
    rbc_p: float = 0.8
    missing: str = "zero"


Scores = Callable[[Inputs], Floats]


@dataclass(frozen=True, slots=True)
class Method:
    """One registry entry.

    ``reads``: ``ranks`` or ``scores``. ``linear``: the function gives each run's part, float64[R, N], the score is
    their weighted sum, and the method takes weights; otherwise it gives the score, float64[N].
    """

    name: str
    reads: str
    absent: str
    formula: str
    source: str
    linear: bool
    scores: Scores


METHODS: dict[str, Method] = {}


def method(
    name: str, *, reads: str, absent: str, formula: str, source: str, linear: bool = False
) -> Callable[[Scores], Scores]:
    """Register a function from Inputs to scores."""

    def register(function: Scores) -> Scores:
        METHODS[name] = Method(name, reads, absent, formula, source, linear, function)
        return function

    return register


def find_method(name: str) -> Method:
    """Look up by name; a UsageError lists the names there are."""
    if name not in METHODS:
        raise UsageError(
            f"no fusion method {name!r}; there are: {', '.join(METHODS)}, and ranx:NAME for those of ranx"
        )
    return METHODS[name]


def sum_runs(parts: Floats) -> Floats:
    """Add float64[R, N] over the runs so that the order of the runs cannot change the last bit."""
    columns = list(parts)
    if len(columns) > 2:
        # a sorting network: comparing whole runs is many times faster than sorting a few numbers at a time
        for last in range(len(columns) - 1, 0, -1):
            for i in range(last):
                low, high = columns[i], columns[i + 1]
                columns[i], columns[i + 1] = np.minimum(low, high), np.maximum(low, high)
    total: Floats = columns[0].copy()
    for column in columns[1:]:
        total += column
    return total


@method(
    "rrf",
    reads="ranks",
    absent="nothing",
    formula="Σ w / (rrf_k + rank)",
    source="Cormack, Clarke and Büttcher, SIGIR 2009",
    linear=True,
)
def rrf(inputs: Inputs) -> Floats:
    """Reciprocal rank fusion; with weights, weighted reciprocal rank fusion."""
    table: Floats = 1.0 / (
        inputs.rrf_k + np.arange(inputs.pool.ranks.max(initial=0) + 1, dtype=np.float64).clip(1)
    )
    table[0] = 0.0
    parts: Floats = table[inputs.pool.ranks]
    return parts


@method(
    "weighted",
    reads="scores",
    absent="0",
    formula="Σ w · s",
    source="Bartell, Cottrell and Belew, SIGIR 1994",
    linear=True,
)
def weighted(inputs: Inputs) -> Floats:
    """Weighted sum of normalised scores; with two runs, the α of convex combination."""
    return filled(inputs)


@method("combmin", reads="scores", absent="left out", formula="min s", source="Fox and Shaw, TREC-2 1994")
def combmin(inputs: Inputs) -> Floats:
    """The lowest score among the runs that retrieved the document."""
    scores: Floats = np.fmin.reduce(_retrieved(inputs), axis=0)
    return scores


@method("combmax", reads="scores", absent="left out", formula="max s", source="Fox and Shaw, TREC-2 1994")
def combmax(inputs: Inputs) -> Floats:
    """The highest score among the runs that retrieved the document."""
    scores: Floats = np.fmax.reduce(_retrieved(inputs), axis=0)
    return scores


@method("combmed", reads="scores", absent="left out", formula="median s", source="Fox and Shaw, TREC-2 1994")
def combmed(inputs: Inputs) -> Floats:
    """The median score among the runs that retrieved the document (of two: their mean)."""
    ascending = np.sort(_retrieved(inputs), axis=0)  # NaN last
    count = inputs.pool.retrieved.sum(axis=0)
    rows = np.arange(ascending.shape[1])
    median: Floats = ascending[(count - 1) // 2, rows] / 2 + ascending[count // 2, rows] / 2
    return median


@method("combsum", reads="scores", absent="0", formula="Σ s", source="Fox and Shaw, TREC-2 1994")
def combsum(inputs: Inputs) -> Floats:
    """The sum of the scores."""
    return sum_runs(filled(inputs))


@method("combanz", reads="scores", absent="left out", formula="Σ s / N", source="Fox and Shaw, TREC-2 1994")
def combanz(inputs: Inputs) -> Floats:
    """The mean score over the N runs that retrieved the document."""
    return sum_runs(np.nan_to_num(_retrieved(inputs), nan=0.0)) / _hits(inputs)


@method("combmnz", reads="scores", absent="0", formula="N · Σ s", source="Fox and Shaw, TREC-2 1994")
def combmnz(inputs: Inputs) -> Floats:
    """CombSUM times the number N of runs that retrieved the document."""
    return _hits(inputs) * sum_runs(filled(inputs))


@method(
    "isr",
    reads="ranks",
    absent="nothing",
    formula="N · Σ 1 / rank²",
    source="Mourão, Martins and Magalhães, CMIG 2015",
)
def isr(inputs: Inputs) -> Floats:
    """Inverse square rank, times the number N of runs that retrieved the document."""
    return _hits(inputs) * _inverse_squares(inputs)


@method(
    "logisr",
    reads="ranks",
    absent="nothing",
    formula="log(N + 1) · Σ 1 / rank²",
    source="Mourão, Martins and Magalhães, CMIG 2015; N + 1 keeps documents of one run apart",
)
def logisr(inputs: Inputs) -> Floats:
    """Inverse square rank with the logarithm of the number of runs; plain log N would be 0 for a single run."""
    return np.log(_hits(inputs) + 1.0) * _inverse_squares(inputs)


@method(
    "borda",
    reads="ranks",
    absent="an equal share of the points left",
    formula="Σ points; n … 1 over the n candidates",
    source="Aslam and Montague, SIGIR 2001",
)
def borda_fuse(inputs: Inputs) -> Floats:
    """Borda count over the candidates of each query."""
    return sum_runs(borda_points(inputs.pool))


@method(
    "condorcet",
    reads="ranks",
    absent="below every ranked document; two absent do not vote",
    formula="pairwise majority; cycles by Copeland, Borda, docno; score n … 1",
    source="Montague and Aslam, CIKM 2002",
)
def condorcet(inputs: Inputs) -> Floats:
    """Order by pairwise majority; the score is the number of candidates minus the place, plus 1."""
    pool = inputs.pool
    points = borda_fuse(inputs)
    scores = np.empty(len(pool.docs))
    for start, end in zip(pool.offsets[:-1], pool.offsets[1:], strict=True):
        order = condorcet_positions(pool.ranks[:, start:end], points[start:end])
        scores[start + order] = np.arange(end - start, 0, -1)
    return scores


@method(
    "rbc",
    reads="ranks",
    absent="nothing",
    formula="ln Σ (1 − p) · p^(rank − 1)",
    source="Bailey et al., SIGIR 2017; the logarithm keeps deep ranks apart in 32 bits",
)
def rbc(inputs: Inputs) -> Floats:
    """Rank-biased centroid with persistence p, printed as its natural logarithm."""
    ranks = np.where(inputs.pool.retrieved, inputs.pool.ranks - 1.0, np.inf)
    best = ranks.min(axis=0)
    # p^best is taken out of the sum, so that it cannot underflow
    tail = sum_runs(inputs.rbc_p ** (ranks - best))
    scores: Floats = np.log(1 - inputs.rbc_p) + best * np.log(inputs.rbc_p) + np.log(tail)
    return scores


@method(
    "interleave",
    reads="ranks",
    absent="after every rank",
    formula="by best rank, then second best, …, then docno; score n … 1",
    source="Voorhees, Gupta and Johnson-Laird, TREC-3 1995, made symmetric",
)
def interleave(inputs: Inputs) -> Floats:
    """Round robin over the runs, each document at its best rank; equal ranks go to the better second rank."""
    pool = inputs.pool
    ranks = np.sort(np.where(pool.retrieved, pool.ranks, np.iinfo(np.int32).max), axis=0)
    order = np.lexsort((*ranks[::-1], segment_of(pool.offsets)))
    scores = np.empty(len(pool.docs))
    scores[order] = np.repeat(pool.offsets[1:], pool.candidates) - np.arange(len(order))
    return scores


def filled(inputs: Inputs) -> Floats:
    """Normalised scores with absent documents at 0, or at the run's minimum for that query (``missing="min"``)."""
    values = inputs.values
    if inputs.missing == "min":
        low = reduce_rows(np.fmin, _retrieved(inputs), inputs.pool)[:, segment_of(inputs.pool.offsets)]
        values = np.where(np.isnan(values), low, values)
    return np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf)


def _retrieved(inputs: Inputs) -> Floats:
    """Normalised scores where the run retrieved the document, NaN elsewhere."""
    return np.where(inputs.pool.retrieved, inputs.values, np.nan)


def _hits(inputs: Inputs) -> Floats:
    """Number N of runs that retrieved each document: float64[N]."""
    hits: Floats = inputs.pool.retrieved.sum(axis=0, dtype=np.float64)
    return hits


def _inverse_squares(inputs: Inputs) -> Floats:
    ranks = inputs.pool.ranks.astype(np.float64)
    return sum_runs(np.divide(1.0, ranks**2, out=np.zeros_like(ranks), where=ranks > 0))


def method_rows() -> list[tuple[str, str, str, str, str]]:
    """One row a method, for help and documents: name, what it reads, absent documents, formula, source."""
    return [(m.name, m.reads, m.absent, m.formula, m.source) for m in METHODS.values()]
