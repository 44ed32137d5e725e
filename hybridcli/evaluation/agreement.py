"""How alike two runs are: is there anything to fuse?

All figures but the last are means over the queries that both runs answer, on the top ``depth`` of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybridcli.evaluation.hits import match_rows
from hybridcli.records import Codes, Floats, Ints, Qrels, Run, rank_in_segment

if TYPE_CHECKING:
    import polars as pl

PERSISTENCE = 0.9  # of RBO: the top ten carry 86 % of the weight
PAIRS_AT_A_TIME = 1 << 24


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two runs side by side. ``n``: queries both answer. Shares of relevant documents are over those found by
    either run in its top ``depth``; None where there are none.
    """

    left: str
    right: str
    n: int
    overlap: float
    jaccard: float
    kendall: float | None
    rbo: float
    relevant: int
    left_only: float | None
    right_only: float | None


@dataclass(frozen=True, slots=True, eq=False)
class _List:
    """The top of one run over the shared queries: keys ascending, their ranks; lengths int64[Q]."""

    keys: Ints
    ranks: Codes
    lengths: Ints


def agreements(labels: Sequence[str], runs: Sequence[Run], qrels: Qrels, depth: int) -> list[Agreement]:
    """Compare every pair of runs."""
    names = _all_docnos(runs)
    queries = {qid: at for at, qid in enumerate(dict.fromkeys(q for run in runs for q in run.queries))}
    lists = [_top(run, queries, names, depth) for run in runs]
    found = [_relevant_found(run, qrels, depth) for run in runs]
    width = np.int64(max(len(names), 1))
    return [
        _agreement(labels[a], labels[b], (lists[a], lists[b]), (found[a], found[b]), (width, depth))
        for a in range(len(runs))
        for b in range(a + 1, len(runs))
    ]


def _all_docnos(runs: Sequence[Run]) -> pl.Series:
    import polars as pl

    return pl.concat([run.docnos.series for run in runs]).unique().sort()


def _top(run: Run, queries: dict[str, int], names: pl.Series, depth: int) -> _List:
    rank = rank_in_segment(run.offsets)
    rows = np.flatnonzero(rank <= depth)
    code = names.search_sorted(run.docnos.series).to_numpy().astype(np.int64)
    place = np.array([queries[qid] for qid in run.queries], dtype=np.int64)
    owner = np.searchsorted(run.offsets, rows, side="right") - 1
    keys = place[owner] * np.int64(max(len(names), 1)) + code[run.docs[rows]]
    order = np.argsort(keys)
    lengths = np.zeros(len(queries), dtype=np.int64)
    lengths[place] = np.minimum(np.diff(run.offsets), depth)
    return _List(keys[order], rank[rows][order], lengths)


def _relevant_found(run: Run, qrels: Qrels, depth: int) -> Ints:
    """Rows of the qrels whose document is relevant and in the run's top."""
    run_rows, qrels_rows = match_rows(run, qrels)
    near = rank_in_segment(run.offsets)[run_rows] <= depth
    return np.unique(qrels_rows[near & (qrels.grades[qrels_rows] > 0)])


def _agreement(
    left_label: str,
    right_label: str,
    lists: tuple[_List, _List],
    found: tuple[Ints, Ints],
    shape: tuple[np.int64, int],
) -> Agreement:
    left, right = lists
    width, depth = shape
    both = np.flatnonzero((left.lengths > 0) & (right.lengths > 0))
    _, at_left, at_right = np.intersect1d(left.keys, right.keys, assume_unique=True, return_indices=True)
    query = left.keys[at_left] // width
    ranks = (left.ranks[at_left].astype(np.int64), right.ranks[at_right].astype(np.int64))
    common = np.bincount(query, minlength=len(left.lengths))
    union = left.lengths + right.lengths - common
    tau = _kendall(query, ranks, (left, right), width, common)
    rbo = _rbo(query, np.maximum(*ranks), left.lengths, right.lengths)
    defined = both[~np.isnan(tau[both])]
    either = np.union1d(*found)
    shared = len(np.intersect1d(*found))

    def share(side: Ints) -> float | None:
        return (len(side) - shared) / len(either) if len(either) else None

    n = max(len(both), 1)
    return Agreement(
        left=left_label,
        right=right_label,
        n=len(both),
        overlap=float(common[both].sum() / (n * depth)),
        jaccard=float((common[both] / np.maximum(union[both], 1)).sum() / n),
        kendall=float(tau[defined].mean()) if len(defined) else None,
        rbo=float(rbo[both].sum() / n),
        relevant=len(either),
        left_only=share(found[0]),
        right_only=share(found[1]),
    )


def _rbo(query: Ints, deepest: Ints, left: Ints, right: Ints) -> Floats:
    """Extrapolated rank-biased overlap of each query, for lists of any lengths (Webber et al. 2010, eq. 32)."""
    p = PERSISTENCE
    short, long = np.minimum(left, right), np.maximum(left, right)
    size = int(long.max(initial=0))
    depths = np.arange(1, size + 1)
    powers = np.concatenate(([0.0], np.cumsum(p**depths)))
    harmonic = np.concatenate(([0.0], np.cumsum(p**depths / depths)))
    # a document common from depth m on adds p^d / d at every depth d >= m
    agree = np.bincount(query, weights=harmonic[long[query]] - harmonic[deepest - 1], minlength=len(left))
    at_long = np.bincount(query, minlength=len(left))
    at_short = np.bincount(query, weights=deepest <= short[query], minlength=len(left))
    at_least = np.maximum(short, 1)
    tail = at_short * ((powers[long] - powers[short]) / at_least - (harmonic[long] - harmonic[short]))
    rest = ((at_long - at_short) / np.maximum(long, 1) + at_short / at_least) * p**long
    return np.asarray((1 - p) / p * (agree + tail) + rest)


def _kendall(
    query: Ints, ranks: tuple[Ints, Ints], lists: tuple[_List, _List], width: np.int64, common: Ints
) -> Floats:
    """Kendall's tau-b of each query on the union of two lists; a document absent from a list is tied below it.

    NaN where a list orders nothing.
    """
    left, right = lists
    size = len(common)
    only = (left.lengths - common, right.lengths - common)
    swapped = _inversions(query, ranks, common)
    discordant = only[0] * only[1] + swapped
    concordant = common * (common - 1) / 2.0 - swapped
    for own, rank in zip((left, right), ranks, strict=True):
        # a common document and one that this list alone has: the other list puts the common one above
        above = _documents_above(own, query, rank, width, size)
        extra = (own.lengths - common) * common
        concordant += above
        discordant += extra - above
    n = only[0] + only[1] + common
    total = n * (n - 1) / 2.0
    bottom = np.sqrt(np.prod([total - absent * (absent - 1) / 2.0 for absent in (only[1], only[0])], axis=0))
    tau = np.full(size, np.nan)
    np.divide(concordant - discordant, bottom, out=tau, where=bottom > 0)
    return tau


def _documents_above(own: _List, query: Ints, rank: Ints, width: np.int64, size: int) -> Floats:
    """Sum, over the documents that only this list has, of the common documents ranked above: float64[Q].

    A common document at rank r, the j-th of its query (from 1), stands above L - r documents, of which
    C - j are common.
    """
    order = np.lexsort((rank, query))
    sorted_query, sorted_rank = query[order], rank[order]
    starts = np.searchsorted(sorted_query, np.arange(size + 1))
    nth = np.arange(len(order)) - starts[sorted_query] + 1
    count = np.diff(starts)
    below = (own.lengths[sorted_query] - sorted_rank) - (count[sorted_query] - nth)
    return np.bincount(sorted_query, weights=below, minlength=size).astype(np.float64)


def _inversions(query: Ints, ranks: tuple[Ints, Ints], common: Ints) -> Floats:
    """Pairs of common documents that the two lists order differently: float64[Q]."""
    order = np.lexsort((ranks[0], query))
    second, owner = ranks[1][order], query[order]
    starts = np.searchsorted(owner, np.arange(len(common)))
    result = np.zeros(len(common))
    widest = int(common.max(initial=0))
    step = max(1, PAIRS_AT_A_TIME // max(widest * widest, 1))
    upper: NDArray[np.bool_] = np.triu(np.ones((widest, widest), dtype=bool), 1)
    for start in range(0, len(common), step):
        chosen = np.arange(start, min(start + step, len(common)))
        column = np.arange(widest)
        inside = column < common[chosen, None]
        rows = np.minimum(starts[chosen, None] + column, max(len(second) - 1, 0))
        padded = np.where(inside, second[rows], np.iinfo(np.int32).max) if len(second) else inside
        worse = (padded[:, :, None] > padded[:, None, :]) & upper
        result[chosen] = worse.sum(axis=(1, 2))
    return result
