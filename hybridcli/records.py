"""The in-memory forms that every part shares: plain data, no input or output.

Ids are opaque. They are held as ``str`` decoded from UTF-8; comparing two ``str`` by code point is the same
as comparing their UTF-8 bytes, so ``sorted`` and ``max`` give the byte order that trec_eval uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridcli.names import Names

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Ranked lists of several queries, always in the one order: score descending, docno descending in bytes.

    ``queries``: Q distinct qids in the order of the file. ``offsets``: int64[Q + 1]; the rows of query i are
    ``offsets[i]:offsets[i + 1]``. ``docs``: int32[N], codes into ``docnos``. ``scores``: float64[N].
    ``docnos``: V docnos in ascending byte order, so comparing codes compares docnos.
    """

    tag: str
    queries: list[str]
    offsets: Ints
    docs: Codes
    scores: Floats
    docnos: Names

    @classmethod
    def from_dict(cls, rankings: Mapping[str, Mapping[str, float]], tag: str = "run") -> Run:
        """Build from ``{qid: {docno: score}}``; for tests and small inputs."""
        docnos = sorted({docno for ranking in rankings.values() for docno in ranking})
        code = {docno: i for i, docno in enumerate(docnos)}
        rows = [
            (score, code[docno])
            for ranking in rankings.values()
            for docno, score in sorted(ranking.items(), key=lambda row: (row[1], row[0]), reverse=True)
        ]
        lengths = [len(ranking) for ranking in rankings.values()]
        return cls(
            tag=tag,
            queries=list(rankings),
            offsets=offsets_of(np.array(lengths, dtype=np.int64)),
            docs=np.array([doc for _, doc in rows], dtype=np.int32),
            scores=np.array([score for score, _ in rows], dtype=np.float64),
            docnos=Names.of(docnos),
        )

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Give ``{qid: {docno: score}}``, each ranking in order; the inverse of ``from_dict``."""
        docnos = self.docnos.to_list()
        return {
            qid: {
                docnos[doc]: float(score)
                for doc, score in zip(self.docs[start:end], self.scores[start:end], strict=True)
            }
            for qid, start, end in zip(self.queries, self.offsets[:-1], self.offsets[1:], strict=True)
        }


@dataclass(frozen=True, slots=True, eq=False)
class Qrels:
    """Judgements of several queries.

    ``queries``: Q qids in the order of the file. ``offsets``: int64[Q + 1]. Row r says that document
    ``docs[r]`` (a code into ``docnos``, which ascends in bytes) has ``grades[r]`` (int32; below 1 is judged
    and not relevant). Within a query rows ascend by docno and each document stands once; where the file
    judges several references (the diversity-track form), its grade is the highest.

    Reference form only, else all three None: row r of ``pairs`` (int32[P, 2], ascending by qrels row) says
    that the document of qrels row ``pairs[r, 0]`` is relevant to reference ``pairs[r, 1]`` of its query,
    numbered 0, 1, … within the query; ``reference_counts``: int32[Q]; ``reference_ids[q]`` names them.
    """

    queries: list[str]
    offsets: Ints
    docs: Codes
    grades: Codes
    docnos: Names
    pairs: Codes | None = None
    reference_counts: Codes | None = None
    reference_ids: list[list[str]] | None = None

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Give ``{qid: {docno: grade}}``."""
        docnos = self.docnos.to_list()
        return {
            qid: {docnos[self.docs[row]]: int(self.grades[row]) for row in range(start, end)}
            for qid, start, end in zip(self.queries, self.offsets[:-1], self.offsets[1:], strict=True)
        }


@dataclass(frozen=True, slots=True)
class Unit:
    """A table or a run of paragraphs of one document, in reading order.

    ``doc``: docno of the document. ``unit``: 0, 1, … in reading order. ``kind``: ``table`` or ``text``.
    ``text``: what a reader sees; table rows one a line, cells separated by a tab.
    ``heading``: the nearest heading above, or "".
    ``header_rows``: number of leading lines of a table that are its column headers.
    ``facts``: (char_start, char_end, concept) of each inline-XBRL fact printed in the unit.
    """

    doc: str
    unit: int
    kind: str
    text: str
    heading: str = ""
    header_rows: int = 0
    facts: tuple[tuple[int, int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Window:
    """The retrieval unit. ``start``/``end``: words, ``char_start``/``char_end``: characters, in its unit's text.

    ``contents`` ends with exactly ``unit.text[char_start:char_end]``; anything in front of that is a carried heading.
    """

    id: str
    contents: str
    doc: str
    unit: int
    kind: str
    start: int
    end: int
    char_start: int
    char_end: int
    heading: str

    @property
    def body(self) -> str:
        """The window's own text, without a carried heading."""
        return self.contents[len(self.contents) - (self.char_end - self.char_start) :]


@dataclass(frozen=True, slots=True)
class Topics:
    """Queries in the order of the file: ``qids`` and ``texts``, equally long."""

    qids: list[str]
    texts: list[str]


@dataclass(frozen=True, slots=True)
class Judged:
    """A query with its evidence texts, as FinDER publishes it; None where the file does not say."""

    qid: str
    text: str
    references: tuple[str, ...]
    doc: str | None = None
    unit: int | None = None
    category: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A place of a reference in a document, from a word of ``unit`` to a word of ``end_unit`` (often the same).

    ``start``, ``char_start``: first word and character, in ``unit``. ``end``, ``char_end``: one past the last,
    in ``end_unit``. ``similarity``: to the reference, 0 … 1. ``key_start``, ``key_length``: the part of the
    normalised reference that led here, in letters and digits. ``windows``: ids of the windows that overlap the
    span, in reading order; ``covered``: the share of the span in each of them. ``first_share``,
    ``first_windows``: the share of the span, and the number of its windows, in the unit it begins in.
    ``kind``: of the unit with most of it. ``text``: as it stands.
    """

    doc: str
    unit: int
    start: int
    char_start: int
    end_unit: int
    end: int
    char_end: int
    similarity: float
    key_start: int
    key_length: int
    windows: tuple[str, ...]
    covered: tuple[float, ...]
    first_share: float
    first_windows: int
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Label:
    """What became of one reference of one query; ``reference`` is ``r1``, ``r2``, … in the order of the file.

    ``reason``: "" when it is resolved, else why not. ``spans``: the places whose windows are relevant.
    ``others``: further places that were found and not taken, the best first. ``windows``: of all ``spans``.
    ``literal``: the normalised reference is a substring of its windows' text. ``overlap``: share of its words
    that its windows have. ``kind``: ``table`` or ``text``. ``title_only``: within one unit, less than half of
    the reference would be labelled.
    """

    qid: str
    reference: str
    text: str
    reason: str
    kind: str
    spans: tuple[Span, ...] = ()
    others: tuple[Span, ...] = ()
    windows: tuple[str, ...] = ()
    literal: bool = False
    overlap: float = 0.0
    title_only: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """What is odd about a file, at ``line`` (from 1) where there is one.

    ``kind``: a short name such as ``duplicate``. ``wrong``: the file must be mended; otherwise it is a note, and
    ``count`` says how often it was seen, first at ``line``.
    """

    kind: str
    text: str
    line: int | None = None
    wrong: bool = True
    count: int = 1


@dataclass(slots=True)
class Sheet:
    """What ``check`` found in one file: its kind, all problems, and counts and other facts by name."""

    path: str
    kind: str
    problems: list[Problem] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def add(self, kind: str, text: str, line: int | None = None) -> None:
        """Add something that is wrong."""
        self.problems.append(Problem(kind, text, line))

    def note(self, kind: str, text: str, line: int | None = None, count: int = 1) -> None:
        """Add something that is odd but not wrong."""
        self.problems.append(Problem(kind, text, line, wrong=False, count=count))

    def has(self, *kinds: str) -> bool:
        """Whether a problem of one of these kinds was found."""
        return any(problem.kind in kinds for problem in self.problems)

    @property
    def wrong(self) -> int:
        """Number of problems that must be mended."""
        return sum(problem.wrong for problem in self.problems)


def offsets_of(lengths: Ints) -> Ints:
    """Turn Q segment lengths into Q + 1 offsets."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def segment_of(offsets: Ints) -> Codes:
    """Give, for each of the N rows, the number of the segment it stands in: int32[N]."""
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))


def rank_in_segment(offsets: Ints) -> Codes:
    """Give each of the N rows its rank in its segment, from 1: int32[N]."""
    rows = np.arange(offsets[-1], dtype=np.int64)
    return (rows - np.repeat(offsets[:-1], np.diff(offsets)) + 1).astype(np.int32)


def order_rows(offsets: Ints, docs: Codes, scores: Floats) -> Ints:
    """Give the permutation int64[N] that puts each segment in the one order (score, then docno, descending)."""
    return np.lexsort((-docs.astype(np.int64), -scores, segment_of(offsets)))
