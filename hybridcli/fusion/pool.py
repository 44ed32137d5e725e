"""Several runs laid side by side: the candidates of every query with each run's score and rank."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import UsageError
from hybridcli.records import Codes, Floats, Ints, Run, offsets_of, rank_in_segment, segment_of

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The union of R runs: one row for each (query, document) that any run retrieved.

    ``queries``: Q qids. ``offsets``: int64[Q + 1]; the rows of a query stand by docno descending, so a stable
    sort by score descending gives the one order. ``docs``: int32[N], codes into ``docnos`` (polars String,
    ascending in bytes). ``scores``: float64[R, N], NaN where absent. ``ranks``: int32[R, N] from 1, 0 where
    absent. ``lengths``: int32[R, Q], how many documents each run lists (after the cut to depth).
    """

    queries: list[str]
    offsets: Ints
    docs: Codes
    docnos: pl.Series
    scores: Floats
    ranks: Codes
    lengths: Codes

    @property
    def retrieved(self) -> NDArray[np.bool_]:
        """Whether run i retrieved row n: bool[R, N]."""
        return self.ranks > 0

    @property
    def candidates(self) -> Ints:
        """Number of candidates of each query: int64[Q]."""
        return np.diff(self.offsets)


def merge_orders(orders: Sequence[Sequence[str]]) -> list[str]:
    """Merge the runs' orders of queries into one that doesn't depend on the order of the runs.

    A query follows every query that precedes it in any input; free choices go to the smaller qid in bytes.
    Where the inputs contradict each other, all queries stand in byte order.
    """
    first = list(orders[0]) if orders else []
    if all(list(order) == first for order in orders[1:]):
        return first
    followers: dict[str, list[str]] = {qid: [] for order in orders for qid in order}
    waiting = dict.fromkeys(followers, 0)
    for order in orders:
        for before, after in pairwise(order):
            followers[before].append(after)
            waiting[after] += 1
    ready = [qid for qid, count in waiting.items() if count == 0]
    heapq.heapify(ready)
    merged: list[str] = []
    while ready:
        qid = heapq.heappop(ready)
        merged.append(qid)
        for after in followers[qid]:
            waiting[after] -= 1
            if waiting[after] == 0:
                heapq.heappush(ready, after)
    return merged if len(merged) == len(followers) else sorted(followers)


def only_here(orders: Sequence[Sequence[str]]) -> list[int]:
    """Count, for each run, the queries that no other run has."""
    counts = Counter(qid for order in orders for qid in order)
    return [sum(counts[qid] == 1 for qid in order) for order in orders]


def align(runs: Sequence[Run], depth: int | None = None) -> Pool:
    """Lay runs side by side, each list cut to its first ``depth`` documents.

    Queries are the union over the runs, in the order of ``merge_orders``.
    """
    if not runs:
        raise UsageError("no run given")
    if depth is not None and depth < 1:
        raise UsageError(f"depth must be at least 1, found {depth}")
    docnos, codes = _one_vocabulary(runs)
    queries = merge_orders([run.queries for run in runs])
    place = {qid: position for position, qid in enumerate(queries)}
    lengths = np.zeros((len(runs), len(queries)), dtype=np.int32)
    keys: list[Ints] = []
    ranks: list[Codes] = []
    scores: list[Floats] = []
    size = max(len(docnos), 1)
    for i, run in enumerate(runs):
        at = np.array([place[qid] for qid in run.queries], dtype=np.int64)
        rank = rank_in_segment(run.offsets)
        kept = slice(None) if depth is None else rank <= depth
        counts = np.diff(run.offsets)
        lengths[i, at] = counts if depth is None else np.minimum(counts, depth)
        # one number a (query, document) whose order is the pool's: query ascending, docno descending
        key = at[segment_of(run.offsets)] * size + (size - 1 - codes[i].astype(np.int64))
        keys.append(key[kept])
        ranks.append(rank[kept])
        scores.append(run.scores[kept])
    rows = np.sort(np.concatenate(keys))  # numpy sorts integers faster than np.unique hashes them
    rows = rows[np.append(True, rows[1:] != rows[:-1])[: len(rows)]]
    pool = Pool(
        queries=queries,
        offsets=offsets_of(np.bincount(rows // size, minlength=len(queries)).astype(np.int64)),
        docs=(size - 1 - rows % size).astype(np.int32),
        docnos=docnos,
        scores=np.full((len(runs), len(rows)), np.nan),
        ranks=np.zeros((len(runs), len(rows)), dtype=np.int32),
        lengths=lengths,
    )
    for i, key in enumerate(keys):
        at = np.searchsorted(rows, key)
        pool.scores[i, at] = scores[i]
        pool.ranks[i, at] = ranks[i]
    return pool


def _one_vocabulary(runs: Sequence[Run]) -> tuple[pl.Series, list[Codes]]:
    """Give the union of the runs' docnos, ascending, and each run's documents as codes into it."""
    import polars as pl

    docnos = runs[0].docnos
    if all(run.docnos is docnos for run in runs):
        return docnos, [run.docs for run in runs]
    union = pl.concat([run.docnos.alias("docno") for run in runs]).unique().sort()
    return union, [
        union.search_sorted(run.docnos).to_numpy().astype(np.int32)[run.docs] if len(run.docnos) else run.docs
        for run in runs
    ]
