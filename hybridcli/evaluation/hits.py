"""The form every measure reads: the judged documents a run retrieved, with their ranks.

A measure depends on a ranking only through the ranks of its judged documents and the number retrieved, so one
kernel serves an evaluated run, every point of an oracle's grid, and exhaustive rankings whose full lists are
never written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybridcli.records import Codes, Ints, Qrels, Run, segment_of

if TYPE_CHECKING:
    import polars as pl

CHUNK = 1 << 10  # queries matched at a time: bounds the memory of a join over a long run


@dataclass(frozen=True, slots=True, eq=False)
class Judgments:
    """What the qrels say of Q queries, aligned by position.

    ``grades``/``offsets``: all judged grades, query by query, descending (the ideal ranking).
    ``relevant``: int32[Q], number of documents with a grade of at least 1. ``judged``: int32[Q].
    ``references``: int32[Q], number of references (1 a query where the qrels name none).
    """

    offsets: Ints
    grades: Codes
    relevant: Codes
    judged: Codes
    references: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Judged documents found, over the same Q queries; rows ascend by query, then rank.

    ``query``, ``rank`` (from 1), ``grade``: int32[H]. ``retrieved``: int32[Q], length of each ranking.
    ``reference_query``, ``reference``, ``reference_rank``: int32[F], one row for each reference that any of its
    documents was found for, with the best rank; where the qrels name no references, a query's one reference is
    found at the rank of its first relevant document.
    """

    query: Codes
    rank: Codes
    grade: Codes
    retrieved: Codes
    reference_query: Codes
    reference: Codes
    reference_rank: Codes


def judgments_of(qrels: Qrels) -> Judgments:
    """Summarise qrels for the measures; queries stay in the order of the qrels."""
    segment = segment_of(qrels.offsets)
    order = np.lexsort((-qrels.grades, segment))
    size = len(qrels.queries)
    relevant = np.bincount(segment[qrels.grades > 0], minlength=size).astype(np.int32)
    counts = qrels.reference_counts
    return Judgments(
        offsets=qrels.offsets,
        grades=qrels.grades[order],
        relevant=relevant,
        judged=np.diff(qrels.offsets).astype(np.int32),
        references=np.ones(size, dtype=np.int32) if counts is None else counts,
    )


def find_hits(run: Run, qrels: Qrels) -> Hits:
    """Find the judged documents in a run; the result is aligned to ``qrels.queries``.

    Queries that the run lacks have nothing retrieved; queries that the qrels lack are left out.
    """
    return Matcher(qrels).find_hits(run)


def match_rows(run: Run, qrels: Qrels) -> tuple[Ints, Ints]:
    """Find the run's judged rows: (rows of the run, ascending; the matching rows of the qrels)."""
    return Matcher(qrels).match_rows(run)


class Matcher:
    """Qrels prepared for finding their documents in many runs, or in many parts of one."""

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        self._place = {qid: i for i, qid in enumerate(qrels.queries)}
        self._width = np.int64(max(len(qrels.docnos), 1))
        # qrels rows ascend by query and document, so their keys ascend and can be searched
        self._keys = segment_of(qrels.offsets).astype(np.int64) * self._width + qrels.docs
        # a table of bits answers "certainly not judged" for nearly every row of a long run, cheaply
        self._mask = np.int64((1 << max(16, (4 * len(self._keys)).bit_length() + 1)) - 1)
        self._table = np.zeros(int(self._mask) + 1, dtype=bool)
        self._table[self._mix(self._keys)] = True
        self._seed, self._hashes, self._codes = _distinct_hashes(qrels.docnos.series)
        self._known = np.zeros(1 << max(16, (8 * len(self._hashes)).bit_length()), dtype=bool)
        self._known[self._low_bits(self._hashes)] = True

    def places(self, run: Run) -> Ints:
        """Position in ``qrels.queries`` of each of the run's queries, or -1: int64[run queries]."""
        return np.array([self._place.get(qid, -1) for qid in run.queries], dtype=np.int64)

    def match_rows(self, run: Run) -> tuple[Ints, Ints]:
        """Find the run's judged rows: (rows of the run, ascending; the matching rows of the qrels)."""
        place = self.places(run)
        own = run.docnos is self.qrels.docnos  # then documents have the codes of the qrels, -1 if not judged
        code = np.empty(0, dtype=np.int64) if own else self.codes_of(run.docnos.series)
        found_rows, found_keys = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for start in range(0, len(run.queries), CHUNK):
            stop = min(start + CHUNK, len(run.queries))
            low, high = run.offsets[start], run.offsets[stop]
            base = np.repeat(place[start:stop] * self._width, np.diff(run.offsets[start : stop + 1]))
            doc = run.docs[low:high].astype(np.int64) if own else code[run.docs[low:high]]
            near = np.flatnonzero((base >= 0) & (doc >= 0))
            key = base[near] + doc[near]
            likely = self._table[self._mix(key)]
            found_rows.append(near[likely] + low)
            found_keys.append(key[likely])
        rows, key = np.concatenate(found_rows), np.concatenate(found_keys)
        if not len(self._keys):
            return rows[:0], rows[:0]
        at = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        good = self._keys[at] == key
        return rows[good], at[good]

    def codes_of(self, docnos: pl.Series) -> Ints:
        """Give, for each docno, its code in the qrels, or -1: by hash, then by the text itself."""
        codes = np.full(len(docnos), -1, dtype=np.int64)
        if not len(self._hashes):
            return codes
        hashes = docnos.hash(self._seed).to_numpy()
        near = np.flatnonzero(self._known[self._low_bits(hashes)])  # most documents are judged nowhere
        order = near[np.argsort(hashes[near])]  # searching for ascending values stays in the cache
        hashes = hashes[order]
        at = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        likely = np.flatnonzero(self._hashes[at] == hashes)
        found, rows = self._codes[at[likely]], order[likely]
        same = (docnos.gather(rows) == self.qrels.docnos.series.gather(found)).to_numpy()
        codes[rows[same]] = found[same]
        return codes

    def _low_bits(self, hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return hashes & np.uint64(len(self._known) - 1)

    def _mix(self, key: Ints) -> Ints:
        return (key ^ (key >> np.int64(17)) * np.int64(0x9E3779B1)) & self._mask

    def find_hits(self, run: Run) -> Hits:
        """Find the judged documents in a run, or in a part of one that holds whole queries."""
        qrels, (run_rows, qrels_rows) = self.qrels, self.match_rows(run)
        place = self.places(run)
        retrieved = np.zeros(len(qrels.queries), dtype=np.int32)
        retrieved[place[place >= 0]] = np.diff(run.offsets)[place >= 0]
        owner = np.searchsorted(run.offsets, run_rows, side="right") - 1
        query = place[owner].astype(np.int32)
        rank = (run_rows - run.offsets[owner] + 1).astype(np.int32)
        order = np.lexsort((rank, query))
        query, rank, qrels_rows = query[order], rank[order], qrels_rows[order]
        grade = qrels.grades[qrels_rows]
        if qrels.pairs is None:
            hit = np.flatnonzero(grade > 0)
            reference = np.zeros(len(hit), dtype=np.int32)
        else:
            hit, reference = expand_references(qrels_rows, qrels.pairs)
        key = query[hit].astype(np.int64) * (int(reference.max(initial=0)) + 1) + reference
        first = np.unique(key, return_index=True)[1]  # the first of equal keys has the best rank
        return Hits(
            query=query,
            rank=rank,
            grade=grade,
            retrieved=retrieved,
            reference_query=query[hit[first]],
            reference=reference[first],
            reference_rank=rank[hit[first]],
        )


def merge_hits(parts: Sequence[Hits]) -> Hits:
    """Join the hits of parts of a run; no query may stand in two of them."""
    if len(parts) == 1:
        return parts[0]
    query = np.concatenate([part.query for part in parts])
    reference_query = np.concatenate([part.reference_query for part in parts])
    order, by_reference = np.argsort(query, kind="stable"), np.argsort(reference_query, kind="stable")
    return Hits(
        query=query[order],
        rank=np.concatenate([part.rank for part in parts])[order],
        grade=np.concatenate([part.grade for part in parts])[order],
        retrieved=np.sum([part.retrieved for part in parts], axis=0, dtype=np.int32),
        reference_query=reference_query[by_reference],
        reference=np.concatenate([part.reference for part in parts])[by_reference],
        reference_rank=np.concatenate([part.reference_rank for part in parts])[by_reference],
    )


def _distinct_hashes(docnos: pl.Series) -> tuple[int, NDArray[np.uint64], Ints]:
    """A seed that gives every docno its own hash, the hashes ascending, and whose each is."""
    seed = 0
    while True:
        hashes = docnos.hash(seed).to_numpy()
        order = np.argsort(hashes)
        ordered = hashes[order]
        if not (ordered[1:] == ordered[:-1]).any():
            return seed, ordered, order
        seed += 1


def expand_references(rows: Ints, pairs: Codes) -> tuple[Ints, Codes]:
    """Repeat each hit once for every reference that its document is relevant to."""
    start = np.searchsorted(pairs[:, 0], rows, side="left")
    stop = np.searchsorted(pairs[:, 0], rows, side="right")
    lengths = stop - start
    hit = np.repeat(np.arange(len(rows)), lengths)
    inside = np.arange(len(hit)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return hit, pairs[np.repeat(start, lengths) + inside, 1]
