"""Several runs laid side by side: the candidates of every query with each run's score and rank."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import UsageError
from hybridcli.names import Names
from hybridcli.records import Codes, Floats, Ints, Run, rank_in_segment
from hybridcli.sorting import distinct


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The union of R runs: one row for each (query, document) that any run retrieved.

    ``queries``: Q qids. ``offsets``: int64[Q + 1]; the rows of a query stand by docno descending, so a stable
    sort by score descending gives the one order. ``docs``: int32[N], codes into ``docnos`` (ascending
    in bytes). ``scores``: float64[R, N], NaN where absent. ``ranks``: int32[R, N] from 1, 0 where
    absent. ``lengths``: int32[R, Q], how many documents each run lists (after the cut to depth).
    """

    queries: list[str]
    offsets: Ints
    docs: Codes
    docnos: Names
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
    size = max(len(docnos), 1)
    lists = []
    for i, run in enumerate(runs):
        at = np.array([place[qid] for qid in run.queries], dtype=np.int64)
        rank = rank_in_segment(run.offsets)
        counts = np.diff(run.offsets)
        lengths[i, at] = counts if depth is None else np.minimum(counts, depth)
        # one number a (query, document), in the order of the pool: query ascending, docno descending
        key = np.repeat(at * size + (size - 1), counts) - codes[i]
        kept = slice(None) if depth is None else rank <= depth
        lists.append((key[kept], rank[kept], run.scores[kept]))
    keys = np.concatenate([key for key, _, _ in lists])
    first, row_of = distinct([keys.view(np.uint64)])
    rows = keys[first]
    scores = np.full((len(runs), len(rows)), np.nan)
    ranks = np.zeros((len(runs), len(rows)), dtype=np.int32)
    start = 0
    for i, (key, rank, score) in enumerate(lists):
        own = row_of[start : start + len(key)]
        scores[i, own], ranks[i, own] = score, rank
        start += len(key)
    offsets = np.searchsorted(rows, np.arange(len(queries) + 1) * size)
    docs = np.repeat(np.arange(len(queries)) * size + (size - 1), np.diff(offsets)) - rows
    return Pool(queries, offsets, docs.astype(np.int32), docnos, scores, ranks, lengths)


def _one_vocabulary(runs: Sequence[Run]) -> tuple[Names, list[Codes]]:
    """Give the union of the runs' docnos, ascending, and each run's documents as codes into it."""
    docnos = runs[0].docnos
    if all(run.docnos is docnos for run in runs):
        return docnos, [run.docs for run in runs]
    import polars as pl

    union = pl.concat([run.docnos.series for run in runs]).unique().sort()
    return Names.of(union.to_list()), [
        union.search_sorted(run.docnos.series).to_numpy().astype(np.int32)[run.docs]
        if len(run.docnos)
        else run.docs
        for run in runs
    ]
