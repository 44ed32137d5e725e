"""The form every measure reads: the judged documents a run retrieved, with their ranks.

A measure depends on a ranking only through the ranks of its judged documents and the number retrieved, so one
kernel serves an evaluated run, every point of an oracle's grid, and exhaustive rankings whose full lists are
never written.
"""

from __future__ import annotations

from dataclasses import dataclass

from hybridcli.records import Codes, Ints


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
