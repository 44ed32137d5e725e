"""Cutting units into windows.

A word is a maximal run of characters that are not blanks (``str.split``). Windows begin every *size − overlap* words;
the last one is the first that reaches the end of the unit, so no window lies wholly inside another. Offsets come from
counting, so ``unit.text[char_start:char_end]`` is the window's text, blanks and line ends included.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import gcd
from typing import Protocol

from hybridcli.errors import UsageError
from hybridcli.records import Unit, Window

WORD = re.compile(r"\S+")
CAPTION = 20
Spans = list[tuple[int, int]]


class TokenCounter(Protocol):
    """What cutting needs of a tokenizer (``text.tokens.Tokens`` is one)."""

    special: int

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, the special ones included, as the encoder sees them."""

    def cumulative(self, text: str, words: Spans) -> list[int]:
        """Tokens before each of the words (character spans) of a text, and before its end."""


@dataclass(frozen=True, slots=True)
class Cut:
    """How to cut. ``size`` and ``overlap`` are words, or tokens (without special ones) of ``counter``;
    ``size`` None leaves units whole. ``carry_headings``: see ``Carried``.
    """

    size: int | None = 160
    overlap: int = 32
    carry_headings: bool = False
    counter: TokenCounter | None = None

    def __post_init__(self) -> None:
        if self.size is not None and self.size <= 0:
            raise UsageError(f"a window of {self.size} words or tokens cannot be; give 1 or more")
        if self.overlap < 0:
            raise UsageError(f"an overlap of {self.overlap} cannot be; give 0 or more")
        if self.size is not None and self.overlap >= self.size:
            raise UsageError(
                f"overlap {self.overlap} must be below the window size {self.size}: windows would never advance"
            )


@dataclass(frozen=True, slots=True)
class Carried:
    """What windows of a table carry in front of their own text, outside the offsets.

    ``[Heading] …`` is the unit's heading, one ``[Columns] …`` for each of its header rows; a row that repeats the
    heading, or is a sentence that introduces the table (one cell, over ``CAPTION`` words), is left out. The window
    that begins the unit holds those rows itself, so it carries the heading alone; and not even that when the
    unit's text begins with it.
    """

    heading: str = ""
    columns: str = ""
    repeated: bool = False

    @classmethod
    def of(cls, unit: Unit) -> Carried:
        """Take the heading and header rows of a table; nothing of a text."""
        if unit.kind != "table":
            return cls()
        heading = " ".join(unit.heading.split())
        rows = [row.strip() for row in unit.text.split("\n", unit.header_rows)[: unit.header_rows]]
        carried = [
            row for row in rows if row and row != heading and ("\t" in row or row.count(" ") < CAPTION)
        ]
        return cls(
            heading=f"[Heading] {heading}\n" if heading else "",
            columns="".join(f"[Columns] {row}\n" for row in carried),
            repeated=bool(heading) and " ".join(unit.text[: 2 * len(heading)].split()).startswith(heading),
        )

    def prefix(self, start: int) -> str:
        """The text in front of the window that begins with word ``start`` of the unit."""
        if start > 0:
            return self.heading + self.columns
        return "" if self.repeated else self.heading


def word_spans(text: str) -> Spans:
    """Character spans of the words of a text."""
    return [word.span() for word in WORD.finditer(text)]


def cut_ranges(cumulative: Sequence[int], size: int, overlap: int) -> Spans:
    """Cut n words into ranges [start, end) that weigh at most ``size`` (a heavier single word stands alone).

    ``cumulative``: n + 1 ascending numbers, the weight of all words before each; ``range(n + 1)`` counts words.
    A range begins as early as its overlap with the one before allows, and always reaches further than it.
    """
    count = len(cumulative) - 1
    ranges: Spans = []
    start = 0
    while start < count:
        end = max(bisect_right(cumulative, cumulative[start] + size) - 1, start + 1)
        ranges.append((start, end))
        if end == count:
            break
        # the next range must hold the word at `end`, or it would lie inside this one
        earliest = max(cumulative[end] - overlap, cumulative[end + 1] - size)
        start = min(end, max(bisect_left(cumulative, earliest), start + 1))
    return ranges


def cut_unit(unit: Unit, how: Cut) -> list[Window]:
    """Cut a unit; a unit without words gives no window."""
    if how.size is None or how.counter is not None:
        grain, spans = 1, word_spans(unit.text)
    else:  # windows begin and end at multiples of this many words: no need to look at each
        grain = gcd(how.size, how.overlap)
        spans = [chunk.span() for chunk in _chunk(grain).finditer(unit.text)]
    if not spans:
        return []
    if how.size is None:
        ranges = [(0, len(spans))]
    elif how.counter is None:
        ranges = cut_ranges(range(len(spans) + 1), how.size // grain, how.overlap // grain)
    else:
        ranges = cut_ranges(how.counter.cumulative(unit.text, spans), how.size, how.overlap)
    carried = Carried.of(unit) if how.carry_headings else Carried()
    begin, end = spans[-1]
    last = (len(spans) - 1) * grain + len(unit.text[begin:end].split())
    return [
        make_window(
            unit,
            number,
            (start * grain, min(end * grain, last)),
            (spans[start][0], spans[end - 1][1]),
            carried.prefix(start),
        )
        for number, (start, end) in enumerate(ranges)
    ]


@cache
def _chunk(words: int) -> re.Pattern[str]:
    """Match up to so many words and the blanks between them."""
    return re.compile(rf"\S++(?:\s++\S++){{0,{words - 1}}}+")


def cut(unit: Unit, *, size: int = 160, overlap: int = 32, carry_headings: bool = False) -> list[Window]:
    """Cut a unit into windows of ``size`` words; raises UsageError for an impossible size or overlap."""
    return cut_unit(unit, Cut(size, overlap, carry_headings))


def make_window(
    unit: Unit, number: int, words: tuple[int, int], characters: tuple[int, int], prefix: str
) -> Window:
    """Make window ``DOC:UNIT:NUMBER`` of a range of words and characters."""
    return Window(
        id=f"{unit.doc}:{unit.unit}:{number}",
        contents=prefix + unit.text[characters[0] : characters[1]],
        doc=unit.doc,
        unit=unit.unit,
        kind=unit.kind,
        start=words[0],
        end=words[1],
        char_start=characters[0],
        char_end=characters[1],
        heading=unit.heading,
    )
