"""Distinct keys and the rows that have them, by one sort of numbers that hold key and row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybridcli import native
from hybridcli.records import Ints

Words = NDArray[np.uint64]


def distinct(keys: Sequence[Words]) -> tuple[Ints, Ints]:
    """Give a row of each distinct key, ascending by key, int64[M]; and each row's place among these keys, int64[N].

    ``keys``: uint64[N] each; a row's key is its number in the first, then in the second, and so on.
    """
    n = len(keys[0])
    rows = n.bit_length()
    packed, bits = _packed(keys, 64 - rows)
    if packed is not None:
        packed <<= np.uint64(rows)
        packed |= np.arange(n, dtype=np.uint64)
        sort_words(packed, rows, rows + bits)
        order = (packed & np.uint64((1 << rows) - 1)).view(np.int64)
        packed >>= np.uint64(rows)
        ordered = [packed]
    else:
        order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])
        ordered = [key[order] for key in keys]
    fresh = np.zeros(n, dtype=np.bool_)
    fresh[:1] = True
    for key in ordered:
        fresh[1:] |= key[1:] != key[:-1]
    place = np.empty(n, dtype=np.int64)
    place[order] = np.cumsum(fresh) - 1
    return order[fresh], place


def sort_words(words: Words, low: int, high: int) -> None:
    """Sort in place words of which the bits below ``low`` ascend already and those from ``high`` on are the same."""
    if native.loops is None:
        words.sort()
    else:
        native.loops.radix_sort(words, np.empty_like(words), low, high)


def _packed(keys: Sequence[Words], most: int) -> tuple[Words | None, int]:
    """Bring keys into one number each, in the same order, of the bits in which they differ; None if above ``most``.

    A byte is taken from its highest such bit down: the digits of numbers take half the room of their bytes.
    """
    fields = []
    for key in keys:
        differ = int(np.bitwise_or.reduce(key)) ^ int(np.bitwise_and.reduce(key)) if len(key) else 0
        fields += [
            (key, low, width) for low in range(56, -1, -8) if (width := (differ >> low & 255).bit_length())
        ]
    bits = sum(width for _, _, width in fields)
    if bits > most:
        return None, bits
    packed = np.zeros(len(keys[0]), dtype=np.uint64)
    for key, low, width in fields:
        packed <<= np.uint64(width)
        packed |= key >> np.uint64(low) & np.uint64((1 << width) - 1)
    return packed, bits
