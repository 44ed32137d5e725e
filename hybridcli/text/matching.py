"""Finding a reference in a document's folded text, by a prefix key that shrinks step by step.

All texts and positions here are folded ones (see ``hybridcli.text.normalizing``). A document is indexed once by
its runs of ``GRAM`` characters, so that looking for thousands of references in it costs no further scans.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybridcli.records import Codes, Ints
from hybridcli.text.normalizing import codes_of

Hashes = NDArray[np.uint64]

GRAM = 16  # length of the shortest key, and of the pieces that a document is indexed by
STEP = 8  # a reference is looked up by its grams at every eighth character
KEY_LENGTHS = (256, 192, 128, 96, 64, 48, 32, 24, GRAM)
MAX_PLACES = 200  # places of one gram that are looked at
COMPARED = 8  # places of the same key that are compared in full: those that most grams agree on
BAND = 256  # grams whose beginnings fall into one such stretch speak for the same place
GOOD = 0.8  # at this similarity keys from within the reference are not tried
SEEDS = 32  # grams that a reference which may stand in any document is looked for by
SEED_SHARE = 0.25  # of these must stand in a document before that is searched


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Where a reference stands: ``start:end``, how like it is (0 … 1), and the key that led there.

    ``key_start``: 0 for a prefix key; more when only a later part of the reference was found.
    """

    start: int
    end: int
    similarity: float
    key_start: int
    key_length: int


class Grams:
    """A text and where each of its runs of ``GRAM`` characters stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        hashes = rolling_hashes(codes_of(text))
        self._positions: Ints = np.argsort(hashes)
        self._hashes = hashes[self._positions]

    def hits(self, reference: str) -> tuple[Ints, Ints]:
        """Give the grams of a reference that stand in the text: offsets in the reference, positions in the text.

        The reference is at least ``GRAM`` long.
        """
        hashes = rolling_hashes(codes_of(reference))
        last = len(hashes) - 1
        offsets: Ints = np.array([*range(0, last, STEP), last], dtype=np.int64)
        wanted = hashes[offsets]
        first = np.searchsorted(self._hashes, wanted, side="left")
        counts = np.minimum(np.searchsorted(self._hashes, wanted, side="right") - first, MAX_PLACES)
        nth = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(offsets, counts), self._positions[np.repeat(first, counts) + nth]


def locate(reference: str, grams: Grams, *, floor: float, walls: Ints | None = None) -> list[Occurrence]:
    """Give the places where a reference stands, the best first, none overlapping a better one.

    The whole reference is looked for, then its prefixes of ``KEY_LENGTHS``; a key's places are compared by
    similarity over the whole length. When no prefix leads to a good place, the places that most grams from within
    the reference agree on are compared too. Places below ``floor`` are left out unless there is no other: then
    the best one alone is given, for the record; a floor of 1 asks for the whole reference only. With ``walls``
    (ascending positions where units begin) a key must lie between two walls, a place ends at the next wall, the
    longest key that stands anywhere decides, and grams from within are not tried: the mapping within one unit.
    """
    if len(reference) < GRAM:
        return _short(reference, grams.text)
    offsets, positions = grams.hits(reference)
    keys = _prefix_keys(reference, grams.text, np.sort(positions[offsets == 0]), walls)
    places = [
        Occurrence(start, start + len(reference), 1.0, 0, len(reference))
        for start, length in keys.items()
        if length == len(reference)
    ]
    if not places and floor < 1:
        trace = _Trace(reference, grams.text, offsets, positions)
        for length in KEY_LENGTHS:
            starts = [start for start, agreed in keys.items() if agreed == length]
            for start in trace.best_supported(starts):
                wall = len(grams.text) if walls is None else _wall_after(walls, start)
                places.append(
                    trace.best({start}, {min(wall, end) for end in trace.ends(start, start)}, 0, length)
                )
            if places and (walls is not None or max(place.similarity for place in places) >= GOOD):
                break
        else:
            if walls is None:
                places += [trace.place_on(diagonal) for diagonal in trace.diagonals()]
    best = _without_overlaps(places)
    return [place for place in best if place.similarity >= floor] or best[:1]


def similarity_of(reference: str, text: str) -> float:
    """Give 1 − edit distance (insertions, deletions, substitutions) / length of the longer: 0 … 1."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity(reference, text)


def _short(reference: str, text: str) -> list[Occurrence]:
    """Find a reference that is shorter than a key, as it is."""
    places: list[Occurrence] = []
    at = text.find(reference)
    while at >= 0 and len(places) < MAX_PLACES:
        places.append(Occurrence(at, at + len(reference), 1.0, 0, len(reference)))
        at = text.find(reference, at + len(reference))
    return places


def _prefix_keys(reference: str, text: str, starts: Ints, walls: Ints | None) -> dict[int, int]:
    """Give, for each place where the shortest key stands, the longest key that stands there."""
    lengths = [len(reference), *(length for length in KEY_LENGTHS if length < len(reference))]
    keys = {}
    for start in map(int, starts):
        room = len(reference) if walls is None else _wall_after(walls, start) - start
        fitting = (n for n in lengths if n <= room and text.startswith(reference[:n], start))
        length = next(fitting, None)
        if length is not None:
            keys[start] = length
    return keys


class _Trace:
    """The grams that a reference and a text share, and the places they speak for."""

    def __init__(self, reference: str, text: str, offsets: Ints, positions: Ints) -> None:
        self.reference, self.text = reference, text
        self._offsets, self._positions = offsets, positions
        self._diagonals = positions - offsets  # where the reference would begin
        self._slack = 200 + len(reference) // 3  # a page footer or a missing row more or less

    def best_supported(self, starts: Sequence[int]) -> list[int]:
        """Keep the starts that most grams agree with, at most ``COMPARED``."""
        if len(starts) <= COMPARED:
            return list(starts)
        support = [int(np.count_nonzero(self._near(start))) for start in starts]
        ranked = sorted(range(len(starts)), key=lambda row: (-support[row], starts[row]))
        return sorted(starts[row] for row in ranked[:COMPARED])

    def diagonals(self) -> list[int]:
        """Give the beginnings that most grams agree on, the best first: at most three, none with half as many."""
        bands, votes = np.unique(self._diagonals // BAND, return_counts=True)
        order = np.lexsort((bands, -votes))[:3]
        chosen = [
            band for band, vote in zip(bands[order], votes[order], strict=True) if vote > votes.max() / 2
        ]
        return [int(np.median(self._diagonals[self._diagonals // BAND == band])) for band in chosen]

    def place_on(self, diagonal: int) -> Occurrence:
        """Find both ends of the place that begins about here."""
        near = np.flatnonzero(self._near(diagonal))
        first = near[np.lexsort((abs(self._diagonals[near] - diagonal), self._offsets[near]))[0]]
        key_start, position = int(self._offsets[first]), int(self._positions[first])
        starts = {position, max(0, position - key_start)}
        return self.best(starts, self.ends(position - key_start, position), key_start, GRAM)

    def ends(self, start: int, after: int) -> set[int]:
        """Give the likely ends, beyond ``after``, of the place that begins at ``start``.

        The last gram that stands about where it should is the end, or the reference's rest is counted on from it.
        """
        near = np.flatnonzero(self._near(start) & (self._positions >= after))
        last = near[np.lexsort((abs(self._diagonals[near] - start), -self._offsets[near]))[0]]
        end = int(self._positions[last]) + GRAM
        rest = len(self.reference) - int(self._offsets[last]) - GRAM
        return {end, min(len(self.text), end + rest)}

    def best(self, starts: Iterable[int], ends: Iterable[int], key_start: int, length: int) -> Occurrence:
        """Take the start and the end between which the text is most like the reference."""
        choices = [
            Occurrence(start, end, similarity_of(self.reference, self.text[start:end]), key_start, length)
            for start in sorted(starts)
            for end in sorted(ends)
        ]
        return max(choices, key=lambda place: place.similarity)

    def _near(self, diagonal: int) -> NDArray[np.bool_]:
        return abs(self._diagonals - diagonal) <= self._slack


def _wall_after(walls: Ints, position: int) -> int:
    return int(walls[np.searchsorted(walls, position, side="right")])


def _without_overlaps(places: Sequence[Occurrence]) -> list[Occurrence]:
    kept: list[Occurrence] = []
    for place in sorted(places, key=lambda place: (-place.similarity, place.start, -place.key_length)):
        if all(place.end <= other.start or other.end <= place.start for other in kept):
            kept.append(place)
    return kept


class Screen:
    """Finds, in one pass over a document, which of thousands of references are worth looking for in it.

    Each reference gives up to ``SEEDS`` grams, evenly spread; a document's rolling hashes are looked up among all
    of them. A reference shorter than a gram always passes.
    """

    def __init__(self, references: Sequence[str]) -> None:
        seeds: list[Hashes] = []
        for reference in references:
            hashes = rolling_hashes(codes_of(reference))
            count = min(SEEDS, len(hashes))
            seeds.append(np.unique(hashes[np.linspace(0, len(hashes) - 1, count).astype(np.int64)]))
        sizes = np.array([len(own) for own in seeds], dtype=np.int64)
        self._needed = np.ceil(SEED_SHARE * sizes).astype(np.int64)
        flat = np.concatenate([*seeds, np.zeros(0, dtype=np.uint64)])
        self._owners = np.repeat(np.arange(len(references)), sizes)
        self._seeds, self._seed_of = np.unique(flat, return_inverse=True)
        self._table = np.zeros(1 << 22, dtype=bool)  # most hashes of a document are dismissed by this alone
        self._table[_bucket(self._seeds)] = True

    def passing(self, text: str) -> list[int]:
        """Give the numbers of the references worth looking for in a text, ascending."""
        if not len(self._needed):
            return []
        hashes = rolling_hashes(codes_of(text))
        likely = hashes[self._table[_bucket(hashes)]]
        present = np.isin(self._seeds, likely)
        hits = np.bincount(self._owners[present[self._seed_of]], minlength=len(self._needed))
        return [int(number) for number in np.flatnonzero(hits >= self._needed)]


def _bucket(hashes: Hashes) -> Ints:
    return (hashes >> np.uint64(42)).astype(np.int64)


def rolling_hashes(codes: Codes) -> Hashes:
    """Give a 64-bit hash of each run of ``GRAM`` characters, by doubling: uint64[len − GRAM + 1]."""
    hashes = codes.astype(np.uint64)
    if len(codes) < GRAM:
        return hashes[:0]
    factor, step = 0x9E3779B97F4A7C15, 1
    while step < GRAM:
        hashes = hashes[:-step] * np.uint64(factor) + hashes[step:]
        factor = factor * factor % (1 << 64)
        step *= 2
    return hashes
