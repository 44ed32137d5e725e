"""Condorcet fusion of one query: pairwise majority, and a symmetric way out of cycles."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import UsageError
from hybridcli.records import Codes, Floats, Ints

MOST_CANDIDATES = 20_000
ABSENT = np.iinfo(np.int32).max


def condorcet_positions(ranks: Codes, borda: Floats) -> Ints:
    """Order n candidates, best first: int64[n] of their positions.

    ``ranks``: int32[R, n], 0 where absent; candidates stand by docno descending, the last tie-break.
    ``borda``: float64[n], the tie-break after Copeland (wins minus losses). A candidate stands after everyone who
    beats it by majority, unless they form a cycle; the members of a cycle stand together.
    """
    n = ranks.shape[1]
    if n > MOST_CANDIDATES:
        raise UsageError(
            f"condorcet compares all pairs of {n:,} candidates of a query; cut the runs with --depth"
        )
    places = np.where(ranks > 0, ranks, ABSENT)
    # runs that prefer the row's candidate, less those that prefer the column's
    majority = np.zeros((n, n), dtype=np.int16)
    for place in places:
        majority += np.less.outer(place, place)
        majority -= np.greater.outer(place, place)
    beats = majority > 0
    copeland = np.count_nonzero(beats, axis=1) - np.count_nonzero(majority < 0, axis=1)
    order = np.lexsort((-borda, -copeland))
    position = np.empty(n, dtype=np.int64)
    position[order] = np.arange(n)
    if (beats & np.greater.outer(position, position)).any():
        order = order[_untangle(beats[np.ix_(order, order)])]
    return order


def _untangle(beats: NDArray[np.bool_]) -> Ints:
    """Order candidates so that nobody precedes a candidate who beats it, but for the members of a cycle.

    ``beats``: bool[n, n], candidates in order of preference, which decides all free choices.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    count, component = connected_components(csr_array(beats), directed=True, connection="strong")
    members: list[list[int]] = [[] for _ in range(count)]
    for candidate, cycle in enumerate(component.tolist()):
        members[cycle].append(candidate)
    between = np.zeros((count, count), dtype=np.bool_)
    winners, losers = np.nonzero(beats)
    between[component[winners], component[losers]] = True
    np.fill_diagonal(between, False)
    waiting = between.sum(axis=0)
    ready = [(group[0], cycle) for cycle, group in enumerate(members) if waiting[cycle] == 0]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        _, cycle = heapq.heappop(ready)
        order += members[cycle]
        waiting -= between[cycle]
        for freed in np.flatnonzero(between[cycle] & (waiting == 0)).tolist():
            heapq.heappush(ready, (members[freed][0], freed))
    return np.array(order, dtype=np.int64)
