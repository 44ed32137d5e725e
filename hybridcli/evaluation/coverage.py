"""How a run, qrels and topics fit together: what one lacks, how much is judged, ids that nearly match."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from hybridcli.evaluation.hits import match_rows
from hybridcli.records import Qrels, Run, rank_in_segment, segment_of

TOP = 10


@dataclass(slots=True)
class Coverage:
    """What two files have in common; lists are in the order of the file they are from.

    ``both``: queries of either side that the other has. ``left_only``, ``right_only``: the others. ``lookalikes``:
    (left id, right id) pairs that differ as bytes only in their Unicode form, letter case or leading zeros.
    Of a run and qrels only: ``top``: documents in the first ten of the common queries; ``judged``, ``relevant``: of
    those; ``found``: relevant documents anywhere in the run; ``unseen``: judged documents of the common queries that
    the run does not hold.
    """

    both: int
    left_only: list[str]
    right_only: list[str]
    lookalikes: list[tuple[str, str]] = field(default_factory=list)
    top: int = 0
    judged: int = 0
    relevant: int = 0
    found: int = 0
    unseen: int = 0


def match_queries(left: Sequence[str], right: Sequence[str]) -> Coverage:
    """Compare the queries of two files."""
    lefts, rights = set(left), set(right)
    left_only = [qid for qid in left if qid not in rights]
    right_only = [qid for qid in right if qid not in lefts]
    return Coverage(len(lefts & rights), left_only, right_only, near_matches(left_only, right_only))


def cover(run: Run, qrels: Qrels) -> Coverage:
    """Compare a run with qrels."""
    coverage = match_queries(run.queries, qrels.queries)
    judged = set(qrels.queries)
    common = np.array([qid in judged for qid in run.queries], dtype=np.bool_)[segment_of(run.offsets)]
    first = rank_in_segment(run.offsets) <= TOP
    rows, matches = match_rows(run, qrels)
    relevant = qrels.grades[matches] > 0
    coverage.top = int((common & first).sum())
    coverage.judged = int(first[rows].sum())
    coverage.relevant = int((first[rows] & relevant).sum())
    coverage.found = int(relevant.sum())
    held = set(run.queries)
    shared = np.array([qid in held for qid in qrels.queries], dtype=np.bool_)
    lengths = np.diff(qrels.offsets)
    coverage.unseen = int(lengths[shared].sum()) - len(rows)
    coverage.lookalikes += _near_documents(run, qrels)
    return coverage


def _near_documents(run: Run, qrels: Qrels) -> list[tuple[str, str]]:
    """Judged docnos that the run never holds, beside one that it holds and that looks the same."""
    held, judged = run.docnos.series, qrels.docnos.series
    wanted = judged.filter(~judged.is_in(held.implode())).to_list()
    if not wanted:
        return []
    # in pure ASCII nothing can look the same but be another id
    odd = held.filter(held.str.len_bytes() != held.str.len_chars()).to_list()
    return near_matches(odd, [docno for docno in wanted if not docno.isascii()])


def near_matches(left: Iterable[str], right: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of different ids that are the same but for Unicode form, letter case or leading zeros."""
    by_form = {_plain(name): name for name in right}
    pairs = [(name, by_form.get(_plain(name))) for name in left]
    return [(name, other) for name, other in pairs if other is not None and other != name]


def _plain(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().lstrip("0")
