"""From fused scores to ranked lists: 32-bit rounding, the one order, and lists that keep a run's own order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import UsageError
from hybridcli.records import Floats, Ints
from hybridcli.sorting import sort_words

Floats32 = NDArray[np.float32]


def round_scores(scores: Floats) -> Floats32:
    """Round to the 32-bit floats that are ordered, printed and read back; NaN marks rows that are no candidates."""
    with np.errstate(over="ignore"):
        rounded = scores.astype(np.float32)
    require_finite(rounded)
    return rounded + np.float32(0)  # −0 and 0 are one score


def require_finite(scores: Floats | Floats32, *, candidates: bool = False) -> None:
    """Refuse infinite scores, and NaN where all rows are ``candidates``: UsageError."""
    if not np.isfinite(scores).all() if candidates else np.isinf(scores).any():
        problem = "a fused score is too large for a 32-bit float"
        raise UsageError(f"{problem}; choose a normalisation with --norm, or smaller weights")


def order_pool(offsets: Ints, scores: Floats32, k: int | None = None) -> tuple[Ints, Ints]:
    """Rank the rows of each query by score, keeping pool order (docno descending) among equals.

    Gives the rows in ranked order, int64[M], and the number of them for each query, int64[Q]. Rows whose score
    is NaN are left out; each query is cut to its first ``k``.
    """
    counts = np.diff(offsets)
    within = int(counts.max(initial=1) - 1).bit_length()
    if (len(counts)).bit_length() + 32 + within <= 63:
        rows = _sort_packed(offsets, scores, within)
    else:
        rows = np.lexsort((-scores, np.repeat(np.arange(len(counts)), counts)))
    kept = ~np.isnan(scores[rows])
    if kept.all():
        lengths = counts
    else:
        lengths = np.add.reduceat(np.append(kept, False).astype(np.int64), offsets[:-1]) * (counts > 0)
        rows = rows[kept]
    if k is not None and (lengths > k).any():
        starts = np.cumsum(lengths) - lengths
        rows = rows[np.arange(len(rows)) - np.repeat(starts, lengths) < k]
        lengths = np.minimum(lengths, k)
    return rows, lengths


def _sort_packed(offsets: Ints, scores: Floats32, within: int) -> Ints:
    """Sort by one integer a row that holds query, score and row within the query: far faster than an argsort."""
    counts = np.diff(offsets)
    query = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    row = np.arange(len(scores), dtype=np.int64) - np.repeat(offsets[:-1], counts)
    descending = np.where(np.isnan(scores), 2**32 - 1, 2**31 - 1 - sortable(scores))
    descending -= descending.min(initial=0)
    bits = int(descending.max(initial=0)).bit_length()
    packed = ((query << (bits + within)) | (descending << within) | row).view(np.uint64)
    sort_words(packed, within, within + bits + len(counts).bit_length())
    return (packed & np.uint64((1 << within) - 1)).view(np.int64) + np.repeat(offsets[:-1], counts)


def sortable(scores: Floats32) -> Ints:
    """Map 32-bit floats to integers in the same order; neighbouring floats are neighbouring integers; 0 is 0."""
    bits = np.ascontiguousarray(scores, dtype=np.float32).view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits + 2**31), bits)


def from_sortable(keys: Ints) -> Floats32:
    """The inverse of ``sortable``."""
    bits = np.where(keys < 0, -keys - 2**31, keys)
    return bits.astype(np.int32).view(np.float32)


def keep_order(scores: Floats32, falls: NDArray[np.bool_], starts: NDArray[np.bool_]) -> Floats32:
    """Lower scores by the fewest 32-bit steps that make them fall wherever ``falls`` says so.

    Rows stand list by list in ranked order; ``starts[i]``: row i is the first of its list; ``falls[i]``: row i must
    stand strictly below row i − 1. Two scores of a run that are one 32-bit float so keep their order.
    """
    keys = sortable(scores)
    depth = np.cumsum(falls & ~starts)
    lists = np.cumsum(starts)
    # the lowest so far, list by list: a later list is moved below all earlier ones, so none leaks into the next
    base = depth - (lists << 34)
    return from_sortable(np.minimum.accumulate(keys + base) - base)
