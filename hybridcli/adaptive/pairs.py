"""Candidates of queries as (query, passage) pairs, with what a re-ranker may read of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hybridcli.records import Codes, Floats, Ints, Run, offsets_of, order_rows, rank_in_segment

Mask = NDArray[np.bool_]
Vectors = NDArray[np.floating]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """N pairs; ``query`` and ``passage``: int64[N], rows of what is known of queries and passages.

    ``queries``: float[Q, D] and ``passages``: float[P, D], vectors, or both None. ``judge(query, passage)``:
    float64 scores of pairs by a model that reads their texts, or None.
    """

    query: Ints
    passage: Ints
    queries: Vectors | None = None
    passages: Vectors | None = None
    judge: Callable[[Ints, Ints], Floats] | None = None

    def __len__(self) -> int:
        return len(self.query)

    def take(self, rows: Ints) -> Pairs:
        """Some of the pairs; vectors are shared."""
        return replace(self, query=self.query[rows], passage=self.passage[rows])

    def vectors(self) -> tuple[Floats, Floats, Ints, Ints]:
        """The distinct query and passage vectors in float64, and the row of each pair in them."""
        if self.queries is None or self.passages is None:
            raise ValueError("these pairs have no vectors")
        queries, query = np.unique(self.query, return_inverse=True)
        passages, passage = np.unique(self.passage, return_inverse=True)
        return (
            self.queries[queries].astype(np.float64),
            self.passages[passages].astype(np.float64),
            query.astype(np.int64),
            passage.astype(np.int64),
        )

    def features(self) -> Floats:
        """Query vector, then passage vector: float64[N, 2 D]."""
        queries, passages, query, passage = self.vectors()
        return np.hstack([queries[query], passages[passage]])


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Candidates of Q queries in the order of a run: query i has the pairs ``offsets[i]:offsets[i + 1]``.

    ``grades``: int32[N], as judged; 0 for unjudged documents.
    """

    pairs: Pairs
    offsets: Ints
    grades: Codes

    @property
    def relevant(self) -> Mask:
        """Whether each pair's document is relevant (a grade of at least 1): bool[N]."""
        return self.grades > 0

    @property
    def found(self) -> Mask:
        """Whether each query has a relevant candidate: bool[Q]."""
        counts = np.concatenate(([0], np.cumsum(self.relevant)))
        found: Mask = counts[self.offsets[1:]] > counts[self.offsets[:-1]]
        return found

    def take(self, queries: Ints) -> Lists:
        """The candidates of some queries."""
        rows = segment_rows(self.offsets, queries)
        lengths = np.diff(self.offsets)[queries]
        return Lists(self.pairs.take(rows), offsets_of(lengths), self.grades[rows])

    def first(self, k: int) -> Lists:
        """The first k candidates of each query."""
        rows = first_rows(self.offsets, k)
        lengths = np.minimum(np.diff(self.offsets), k)
        return Lists(self.pairs.take(rows), offsets_of(lengths), self.grades[rows])


def segment_rows(offsets: Ints, segments: Ints) -> Ints:
    """The rows of some segments, segment by segment: int64[M]."""
    starts, lengths = offsets[segments], np.diff(offsets)[segments]
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    rows: Ints = np.repeat(starts, lengths) + within
    return rows


def first_rows(offsets: Ints, k: int) -> Ints:
    """The first k rows of every segment: int64[M]."""
    return np.flatnonzero(rank_in_segment(offsets) <= k)


def reorder(run: Run, k: int, scores: Floats, tag: str) -> Run:
    """Rank the first k documents of each query by new scores; those below keep their order, below.

    ``scores``: float64, one for each of these documents in the order of the run; where a query's are NaN it keeps
    its order. Scores are rounded to 32 bits and put in the one order. Below, and where nothing is re-ranked, scores
    are whole numbers that fall by one, so they never tie.
    """
    head = first_rows(run.offsets, k)
    fresh = np.full(len(run.docs), np.nan)
    fresh[head] = scores.astype(np.float32)
    lengths = np.diff(run.offsets)
    lowest = np.full(len(run.queries), np.inf)
    np.fmin.at(lowest, np.repeat(np.arange(len(lengths)), lengths), fresh)
    base = np.where(np.isfinite(lowest), np.floor(lowest), 0.0)
    ranked = np.isnan(fresh)
    counts = np.cumsum(ranked)
    before = np.concatenate(([0], counts))[run.offsets[:-1]]
    falling = np.repeat(base, lengths) - (counts - np.repeat(before, lengths))
    fresh[ranked] = falling[ranked]
    order = order_rows(run.offsets, run.docs, fresh)
    return replace(run, tag=tag, docs=run.docs[order], scores=fresh[order])
