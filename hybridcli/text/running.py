"""The running text of a document, rebuilt from its windows, and the way from a place in it to units and windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import groupby, takewhile

import numpy as np

from hybridcli.records import Ints, Span, Window
from hybridcli.text.matching import Grams, Occurrence
from hybridcli.text.normalizing import Folded, fold


class RunningText:
    """One document: its units one below the other in reading order, as read and folded.

    ``text``: the units' texts, joined by line ends. ``folded``: the same, folded. ``walls``: int64[U + 1], where
    in the folded text each unit begins, and its length.
    """

    def __init__(self, doc: str, windows: Iterable[Window]) -> None:
        self.doc = doc
        self.windows = list(windows)
        parts = [list(part) for _, part in groupby(self.windows, key=lambda window: window.unit)]
        texts = [_merged(part) for part in parts]
        self._units = [part[0].unit for part in parts]
        self._kinds = [part[0].kind for part in parts]
        sizes = [len(text) + 1 for text in texts]
        self._bases: Ints = np.cumsum([0, *sizes])
        self.text = "\n".join(texts)
        self.folded: Folded = fold(self.text)
        self.walls: Ints = np.searchsorted(self.folded.offsets, self._bases)
        base_of = np.repeat(self._bases[:-1], [len(part) for part in parts])
        self._starts = base_of + np.array([window.char_start for window in self.windows], dtype=np.int64)
        self._ends = base_of + np.array([window.char_end for window in self.windows], dtype=np.int64)

    @cached_property
    def grams(self) -> Grams:
        """The folded text, indexed for ``locate``."""
        return Grams(self.folded.text)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {window.id: row for row, window in enumerate(self.windows)}

    def touches(self, place: Occurrence, unit: int) -> bool:
        """Whether a place has a part in the unit of this number."""
        return any(
            self._units[row] == unit for row in range(self._row(place.start), self._row(place.end - 1) + 1)
        )

    def span(self, place: Occurrence, reference: str) -> Span:
        """Say where a place (in folded positions) lies: units, words, characters, windows.

        Marks of punctuation that begin or end the reference are taken in where the place has them too.
        """
        first, last = self._row(place.start), self._row(place.end - 1)
        low = self._with_marks(place.start, _leading_marks(reference)[::-1], -1)
        high = self._with_marks(place.end - 1, _leading_marks(reference[::-1])[::-1], 1) + 1
        marked = np.flatnonzero((self._starts < high) & (self._ends > low))
        inside = np.searchsorted(self.folded.offsets, [self._starts[marked], self._ends[marked]])
        lengths = np.minimum(inside[1], place.end) - np.maximum(inside[0], place.start)
        cuts = np.clip(self.walls[first : last + 2], place.start, place.end)
        shares = np.diff(cuts) / (place.end - place.start)
        return Span(
            doc=self.doc,
            unit=self._units[first],
            start=len(self.text[self._bases[first] : low + 1].split()) - 1,
            char_start=int(low - self._bases[first]),
            end_unit=self._units[last],
            end=len(self.text[self._bases[last] : high].split()),
            char_end=int(high - self._bases[last]),
            similarity=place.similarity,
            key_start=place.key_start,
            key_length=place.key_length,
            windows=tuple(self.windows[row].id for row in marked),
            covered=tuple(float(share) for share in lengths / (place.end - place.start)),
            first_share=float(shares[0]),
            first_windows=int(np.count_nonzero(self._starts[marked] < self._bases[first + 1])),
            kind=self._kinds[first + int(np.argmax(shares))],
            text=self.text[low:high],
        )

    def held_by(self, span: Span) -> tuple[str, str]:
        """Give the text that the windows of a span hold together, as read and folded."""
        low, high = self._starts[self._rows[span.windows[0]]], self._ends[self._rows[span.windows[-1]]]
        first, last = np.searchsorted(self.folded.offsets, [low, high])
        return self.text[low:high], self.folded.text[first:last]

    def _row(self, folded_position: int) -> int:
        return int(np.searchsorted(self.walls, folded_position, side="right")) - 1

    def _with_marks(self, folded_position: int, marks: str, step: int) -> int:
        """Go on from a character over these marks, with or without blanks between, as far as they stand there."""
        position = int(self.folded.offsets[folded_position])
        for mark in marks:
            beside = position + step
            while 0 <= beside < len(self.text) and self.text[beside].isspace():
                beside += step
            if not 0 <= beside < len(self.text) or self.text[beside] != mark:
                break
            position = beside
        return position


def running_texts(windows: Iterable[Window]) -> Iterator[RunningText]:
    """Yield the documents of a stream of windows one at a time; a document's windows must stand together."""
    for doc, part in groupby(windows, key=lambda window: window.doc):
        yield RunningText(doc, part)


def _merged(windows: list[Window]) -> str:
    """Merge the windows of one unit by their character offsets; what no window holds becomes blanks."""
    pieces: list[str] = []
    reached = 0
    for window in windows:
        if window.char_start > reached:
            pieces.append(" " * (window.char_start - reached))
            reached = window.char_start
        if window.char_end > reached:
            pieces.append(window.body[reached - window.char_start :])
            reached = window.char_end
    return "".join(pieces)


def _leading_marks(text: str) -> str:
    """Give what stands before the first letter or digit, without blanks."""
    return "".join(takewhile(lambda char: not char.isalnum(), "".join(text.split())))
