"""Ranking by counting: where the relevant documents stand at any fusion weights, without sorting a list.

A measure reads only the ranks of relevant documents, and a document's rank is 1 + the number of candidates that
stand above it in the one order. So a grid of weights costs one pass of comparisons per point, and every point
ranks exactly as ``fuse`` does with these weights (``hybridcli.fusion.fuse.combine`` states the rules).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import UsageError
from hybridcli.evaluation.hits import Hits, Judgments, expand_references, judgments_of, match_rows
from hybridcli.evaluation.measures import Measure
from hybridcli.fusion.fuse import Plan
from hybridcli.fusion.methods import sum_runs
from hybridcli.fusion.order import Floats32, round_scores
from hybridcli.fusion.pool import Pool
from hybridcli.records import Codes, Floats, Ints, Qrels, Run, offsets_of, segment_of

# comparisons made at once: small enough to stay in the processor's cache
BLOCK = 1 << 15
# remembered patterns of runs with a weight, for each block
MOST_PATTERNS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """The candidates of Q judged queries and which of them are relevant.

    ``offsets``: int64[Q + 1]; rows of a query stand by docno descending. ``parts``: float64[R, N], what each run
    adds to a fused score at weight 1. ``ranks``: int32[R, N], rank in each run, 0 where absent.
    ``hit_rows``: int64[H], the relevant candidates, ascending; ``hit_grades``: int32[H].
    ``pair_hits``, ``pair_references``: int[E], candidate ``hit_rows[pair_hits[e]]`` is relevant to reference
    ``pair_references[e]`` of its query; ordered by query, then reference.
    """

    offsets: Ints
    parts: Floats
    ranks: Codes
    hit_rows: Ints
    hit_grades: Codes
    pair_hits: Ints
    pair_references: Codes
    judgments: Judgments

    @classmethod
    def of(cls, pool: Pool, plan: Plan, qrels: Qrels) -> Contest:
        """Set up for the queries of the qrels, in their order; a query that no run has gets no candidates."""
        if not plan.entry.linear:
            raise UsageError(f"method {plan.method} takes no weights; rrf and weighted do")
        as_run = Run("", pool.queries, pool.offsets, pool.docs, pool.scores[0], pool.docnos)
        return cls.assemble(pool, plan, qrels, *match_rows(as_run, qrels))

    @classmethod
    def assemble(cls, pool: Pool, plan: Plan, qrels: Qrels, found: Ints, judged: Ints) -> Contest:
        """The same, where it is known that the pool's rows ``found`` are judged in the qrels' rows ``judged``."""
        place = {qid: i for i, qid in enumerate(pool.queries)}
        queries = np.array([place.get(qid, -1) for qid in qrels.queries], dtype=np.int64)
        rows, offsets = segments(pool.offsets, queries)
        relevant = qrels.grades[judged] > 0
        found, judged = found[relevant], judged[relevant]
        position = np.full(len(pool.docs), -1, dtype=np.int64)
        position[rows] = np.arange(len(rows))
        order = np.argsort(position[found])
        found, judged = position[found][order], judged[order]
        if qrels.pairs is None:
            hit, reference = np.arange(len(found)), np.zeros(len(found), dtype=np.int32)
        else:
            hit, reference = expand_references(judged, qrels.pairs)
        owner = np.searchsorted(offsets, found, side="right") - 1
        order = np.lexsort((reference, owner[hit]))
        return cls(
            offsets=offsets,
            parts=np.ascontiguousarray(plan.entry.scores(plan.inputs(pool))[:, rows]),
            ranks=np.ascontiguousarray(pool.ranks[:, rows]),
            hit_rows=found,
            hit_grades=qrels.grades[judged],
            pair_hits=hit[order],
            pair_references=reference[order],
            judgments=judgments_of(qrels),
        )

    @property
    def n_runs(self) -> int:
        """Number of runs, R."""
        return len(self.parts)

    @property
    def size(self) -> int:
        """Number of queries, Q."""
        return len(self.offsets) - 1

    @property
    def hit_queries(self) -> Codes:
        """The query of each relevant candidate: int32[H]."""
        owner = np.searchsorted(self.offsets, self.hit_rows, side="right") - 1
        return owner.astype(np.int32)

    def arrays(self) -> list[NDArray[np.generic]]:
        """Everything that values depend on, for a fingerprint."""
        return [
            *(self.offsets, self.parts, self.ranks, self.hit_rows, self.hit_grades),
            *(self.pair_hits, self.pair_references, self.judgments.grades, self.judgments.relevant),
        ]

    def best_ranks(self) -> Codes:
        """Best rank of a relevant document of each query in each run, 0 where it has none: int32[R, Q]."""
        far = np.iinfo(np.int32).max
        ranks = self.ranks[:, self.hit_rows]
        best = np.full((self.n_runs, self.size), far, dtype=np.int32)
        for of_run, found in zip(best, np.where(ranks > 0, ranks, far), strict=True):
            np.minimum.at(of_run, self.hit_queries, found)
        return np.where(best < far, best, 0)

    def take(self, queries: Ints) -> Contest:
        """The same contest over some of the queries, in the given order."""
        rows, offsets = segments(self.offsets, queries)
        hit_offsets = np.searchsorted(self.hit_rows, self.offsets)
        hits, kept_hits = segments(hit_offsets, queries)
        inside = self.hit_rows[hits] - np.repeat(self.offsets[queries], np.diff(kept_hits))
        pair_offsets = np.searchsorted(self.hit_queries[self.pair_hits], np.arange(self.size + 1))
        pairs, kept_pairs = segments(pair_offsets, queries)
        shift = np.repeat(kept_hits[:-1] - hit_offsets[queries], np.diff(kept_pairs))
        judged, judged_offsets = segments(self.judgments.offsets, queries)
        return Contest(
            offsets=offsets,
            parts=self.parts[:, rows],
            ranks=self.ranks[:, rows],
            hit_rows=inside + np.repeat(offsets[:-1], np.diff(kept_hits)),
            hit_grades=self.hit_grades[hits],
            pair_hits=self.pair_hits[pairs] + shift,
            pair_references=self.pair_references[pairs],
            judgments=Judgments(
                judged_offsets,
                self.judgments.grades[judged],
                self.judgments.relevant[queries],
                self.judgments.judged[queries],
                self.judgments.references[queries],
            ),
        )

    def hit_ranks(self, weights: Floats) -> Codes:
        """Rank the relevant candidates at M weightings: int32[M, H], 0 where one is no candidate.

        ``weights``: float64[M, R], or float64[M, Q, R] for weights a query; at least 0, not all 0.
        """
        by_query = weights.ndim == 3
        ranks = np.zeros((len(weights), len(self.hit_rows)), dtype=np.int32)
        for block in self._blocks():
            chosen = weights[:, block.queries] if by_query else weights[:, None, :]
            for number, weighting in enumerate(chosen):
                block.rank(weighting.T[:, :, None], ranks[number])
        return ranks

    def retrieved(self, weights: Floats) -> Codes:
        """How many candidates each query has at weights float64[R] or float64[Q, R]: int32[Q]."""
        active = (np.broadcast_to(weights, (self.size, self.n_runs)) > 0).T
        if active.all():
            return np.diff(self.offsets).astype(np.int32)
        segment = segment_of(self.offsets)
        present = ((self.ranks > 0) & active[:, segment]).any(axis=0)
        return np.bincount(segment[present], minlength=self.size).astype(np.int32)

    def hits(self, weights: Floats) -> Iterator[Hits]:
        """What a measure reads, at each of M weightings (see ``hit_ranks``)."""
        query = self.hit_queries
        pair_query = query[self.pair_hits]
        key = pair_query.astype(np.int64) * (int(self.pair_references.max(initial=0)) + 1)
        _, starts = np.unique(key + self.pair_references, return_index=True)
        far = np.iinfo(np.int32).max
        for weighting, rank in zip(weights, self.hit_ranks(weights), strict=True):
            found = np.flatnonzero(rank > 0)
            order = found[np.argsort((query[found].astype(np.int64) << 32) | rank[found])]
            best = np.where(rank > 0, rank, far)[self.pair_hits]
            best = np.minimum.reduceat(best, starts) if len(starts) else best
            known = best < far
            yield Hits(
                query=query[order],
                rank=rank[order],
                grade=self.hit_grades[order],
                retrieved=self.retrieved(weighting),
                reference_query=pair_query[starts][known],
                reference=self.pair_references[starts][known],
                reference_rank=best[known],
            )

    def values(self, measures: Sequence[Measure], weights: Floats) -> Floats:
        """Evaluate M weightings (see ``hit_ranks``): float64[len(measures), M, Q]."""
        for measure in measures:
            if measure.spec.name == "Judged":
                raise UsageError(f"{measure.name} says nothing about weights; choose another measure")
        result = np.zeros((len(measures), len(weights), self.size))
        for number, hits in enumerate(self.hits(weights)):
            for row, measure in enumerate(measures):
                result[row, number] = measure.values(self.judgments, hits)
        return result

    def _blocks(self) -> Iterator[Block]:
        """Cut the queries that have relevant candidates into padded blocks of similar length."""
        counts = np.diff(self.offsets)
        hit_offsets = np.searchsorted(self.hit_rows, self.offsets)
        work = np.flatnonzero(np.diff(hit_offsets))
        work = work[np.argsort(counts[work], kind="stable")]
        start = 0
        while start < len(work):
            width = int(counts[work[start]])
            stop = start + max(1, BLOCK // width)
            # longer lists than twice the first go to the next block: padding never more than doubles the work
            stop = min(stop, start + int(np.searchsorted(counts[work[start:]], 2 * width, side="right")))
            queries = work[start:stop]
            yield Block.of(self, queries, hit_offsets)
            start = stop


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """B queries side by side, padded to C cells, C a multiple of 64.

    ``parts``: float64[R, B, C]; ``ranks``: int32[R, B, C], 0 where absent or padding.
    For each of its H relevant candidates: ``hits`` (its number in the contest), ``owner`` (0 … B − 1), ``column``.
    """

    queries: Ints
    parts: Floats
    ranks: Codes
    hits: Ints
    owner: Ints
    column: Ints
    absent: dict[bytes, NDArray[np.bool_]] = field(default_factory=dict)

    @classmethod
    def of(cls, contest: Contest, queries: Ints, hit_offsets: Ints) -> Block:
        """Copy some queries out of a contest."""
        counts = np.diff(contest.offsets)[queries]
        column = np.arange(-(-counts.max() // 64) * 64)  # whole 64-bit words, see count_true
        pad = column >= counts[:, None]
        rows = np.where(pad, 0, contest.offsets[queries][:, None] + column)
        hits, bounds = segments(hit_offsets, queries)
        owner = segment_of(bounds).astype(np.int64)
        return cls(
            queries=queries,
            parts=contest.parts[:, rows],
            ranks=np.where(pad, 0, contest.ranks[:, rows]),
            hits=hits,
            owner=owner,
            column=contest.hit_rows[hits] - contest.offsets[queries][owner],
        )

    def rank(self, weights: Floats, ranks: Codes) -> None:
        """Write the ranks of this block's relevant candidates at weights float64[R, B or 1, 1] into ``ranks``."""
        active = weights[:, :, 0] > 0
        scores = round_scores(sum_runs(weights * self.parts))
        np.copyto(scores, np.nan, where=self._absent(active))
        counted = self._count(scores)
        lone = np.broadcast_to(active.sum(axis=0) == 1, len(self.queries))[self.owner]
        if lone.any():
            # a single run with a weight: that run's own ranking
            run = np.broadcast_to(active.argmax(axis=0), len(self.queries))[self.owner]
            counted = np.where(lone, self.ranks[run, self.owner, self.column], counted)
        ranks[self.hits] = counted

    def _absent(self, active: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Cells that no run with a weight retrieved, for active runs bool[R, B or 1]: bool[B, C]."""
        key = active.tobytes()
        if key not in self.absent:
            if len(self.absent) >= MOST_PATTERNS:
                self.absent.clear()
            self.absent[key] = ~np.any((self.ranks > 0) & active[:, :, None], axis=0, keepdims=True)[0]
        return self.absent[key]

    def _count(self, scores: Floats32) -> Codes:
        """1 + the number of candidates above each relevant one, 0 for one without a score: int32[H]."""
        own = scores[self.owner, self.column]
        ranks = np.zeros(len(own), dtype=np.int32)
        width = scores.shape[1]
        column = np.arange(width)
        step = max(1, 2 * BLOCK // width)
        for start in range(0, len(own), step):
            part = slice(start, start + step)
            others, mine = scores[self.owner[part]], own[part, None]
            above = others > mine
            equal = others == mine
            # each is equal to itself; only more than that is a tie, decided by the order of rows
            tied = np.flatnonzero(count_true(equal) > 1)
            if len(tied):
                above[tied] |= equal[tied] & (column < self.column[part][tied, None])
            ranks[part] = count_true(above) + 1
        ranks[np.isnan(own)] = 0
        return ranks


def count_true(matrix: NDArray[np.bool_]) -> Ints:
    """Number of true cells of each row, whose length is a multiple of 64: int64[rows]."""
    words = np.packbits(matrix, axis=1).view(np.uint64)
    counts: Ints = np.bitwise_count(words).sum(axis=1, dtype=np.int64)
    return counts


def segments(offsets: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Rows of some segments one after another, and their new offsets; segment −1 is an empty one."""
    known = chosen >= 0
    lengths = np.where(known, offsets[chosen + 1] - offsets[chosen], 0)
    bounds = offsets_of(lengths)
    starts = np.where(known, offsets[chosen], 0)
    rows = np.arange(bounds[-1]) - np.repeat(bounds[:-1] - starts, lengths)
    return rows, bounds
