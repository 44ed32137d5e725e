"""The columns of a run in the common form: six of them, single blanks, no comments.

Compiled, or where no compiler was when hybridcli was installed, by numpy and polars, with the same result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybridcli import native
from hybridcli.formats.plain import LINE_END, boundaries
from hybridcli.records import Floats, Ints

SCORE = "column_5"  # polars' own name for it in a file without a head line
NAMES = tuple(f"column_{i}" for i in range(1, 7))
SPARE_BITS = np.arange(64, -1, -8, dtype=np.uint64)  # of a word of 8 bytes that holds 0, 1, … 8


@dataclass(frozen=True, slots=True, eq=False)
class RunColumns:
    """N lines of a run: docno n is ``raw[starts[n]:starts[n] + sizes[n]]``, int64[N]; ``scores``: finite, float64[N].

    ``begins``: whether the qid is not that of the line before, bool[N]. ``ranks``: uint64[N], the bytes of the rank
    as one number, so that numbers compare as plain ranks do; 0 for a rank longer than 8 bytes.
    """

    raw: bytes
    starts: Ints
    sizes: Ints
    scores: Floats
    begins: NDArray[np.bool_]
    ranks: NDArray[np.uint64]

    def queries(self) -> list[str]:
        """The qid of each line that begins a group."""
        found = []
        for start in self.starts[self.begins].tolist():
            line = self.raw.rfind(b"\n", 0, start) + 1
            found.append(self.raw[line : self.raw.index(b" ", line)].decode("utf-8"))
        return found

    def tag(self) -> str:
        """The tag of the first line."""
        line, _, _ = self.raw.partition(b"\n")
        return line.rpartition(b" ")[2].decode("utf-8")


def run_columns(raw: bytes, *, comments: bool = True) -> RunColumns | None:
    """Read whole lines in UTF-8; None where some line is not of the common form or a score is no finite number.

    ``comments``: a line that begins with ``#`` is a comment, and not of the common form.
    """
    return _with_polars(raw, comments) if native.loops is None else _compiled(raw, comments)


def _compiled(raw: bytes, comments: bool) -> RunColumns | None:
    n = int(np.count_nonzero(np.frombuffer(raw, dtype=np.uint8) == LINE_END))
    starts, sizes = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    scores, begins, ranks = np.empty(n), np.empty(n, dtype=np.uint8), np.empty(n, dtype=np.uint64)
    if native.loops.scan(raw, comments, starts, sizes, scores, begins, ranks):
        return RunColumns(raw, starts, sizes, scores, begins.view(np.bool_), ranks)
    return _with_polars(raw, comments)  # numbers can be written in more ways than C++ knows


def _with_polars(raw: bytes, comments: bool) -> RunColumns | None:
    import polars as pl

    table = boundaries(raw, len(NAMES), comments=comments)
    if table is None:
        return None
    starts, sizes = table[:, 1] + 1, table[:, 2] - table[:, 1] - 1
    if not len(table):
        return RunColumns(raw, starts, sizes, np.zeros(0), np.zeros(0, np.bool_), np.zeros(0, np.uint64))
    schema = {name: pl.Float64 if name == SCORE else pl.String for name in NAMES}
    try:
        frame = pl.read_csv(
            raw, separator=" ", has_header=False, quote_char=None, columns=[SCORE], schema=schema
        )
    except pl.exceptions.PolarsError:
        return None
    scores = frame[SCORE].to_numpy()
    if len(frame) != len(table) or frame[SCORE].null_count() or not np.isfinite(scores).all():
        return None
    first = np.append(0, table[:-1, 5] + 1)
    begins = _changes(raw, first, table[:, 0] - first)
    rank_sizes = table[:, 3] - table[:, 2] - 1
    ranks = words(raw + bytes(8), table[:, 2] + 1, rank_sizes) >> (8 * np.maximum(8 - rank_sizes, 0)).astype(
        np.uint64
    )
    ranks[rank_sizes > 8] = 0
    return RunColumns(raw, starts, sizes, scores, begins, ranks)


def _changes(raw: bytes, starts: Ints, sizes: Ints) -> NDArray[np.bool_]:
    """Mark the rows whose text is not that of the row before: bool[N]."""
    changes = np.append(True, sizes[1:] != sizes[:-1])
    for position in range(0, int(sizes.max()), 8):
        word = words(raw, starts + position, sizes - position)
        changes[1:] |= word[1:] != word[:-1]
    return changes


def words(raw: bytes, starts: Ints, sizes: Ints) -> NDArray[np.uint64]:
    """Read up to 8 bytes from each start as one big-endian number, so that numbers compare as bytes do: uint64[N].

    What lies beyond ``sizes`` reads as 0; where a size is below 1 the whole number is 0. At least 7 bytes must
    stand behind the first byte wherever a size is above 0.
    """
    if not len(starts):
        return np.zeros(0, dtype=np.uint64)
    everywhere = np.ndarray((len(raw) - 7,), dtype=">u8", buffer=raw, strides=(1,))
    found = everywhere[np.minimum(starts, len(raw) - 8)].astype(np.uint64)
    spare = SPARE_BITS[np.clip(sizes, 0, 8)]
    found >>= spare
    found <<= spare  # numpy shifts by 64 bits give 0
    return found
