"""The common form of runs and qrels, which is read fast: columns parted by single blanks, no comments, no gaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from hybridcli.records import Ints

BLANK, LINE_END, HASH = 32, 10, 35
T = TypeVar("T")


def read_plain(data: bytes, read: Callable[[bytes], T | None]) -> T | None:
    """Read whole lines of the common form, or lines that tabs and CRLF keep from it; None where ``read`` finds others.

    ``read`` gets bytes in UTF-8 with blanks for tabs, and gives None for what is not of the common form.
    """
    if not _is_utf8(data):
        return None
    found = read(data)
    if found is None and (b"\t" in data or b"\r" in data):
        found = read(data.replace(b"\t", b" ").replace(b"\r\n", b"\n"))
    return found


def boundaries(data: bytes, columns: int, *, comments: bool = True) -> Ints | None:
    """Give the positions of the blank or line end after each column, int64[lines, columns]; None unless all is plain.

    ``comments``: a line that begins with ``#`` is a comment, and not plain.
    """
    buffer = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(buffer <= BLANK)
    if len(ends) % columns or not len(data) or data[-1] != LINE_END:
        return None if len(data) else ends.reshape(0, columns)
    found = buffer[ends]
    table = ends.reshape(-1, columns)
    plain = (
        (found[columns - 1 :: columns] == LINE_END).all()
        and np.count_nonzero(found == BLANK) == (columns - 1) * len(table)
        and buffer[0] > BLANK
        and (buffer[1:][ends[:-1]] > BLANK).all()  # no column is empty
        and not (comments and b"#" in data and (buffer[np.append(0, table[:-1, -1] + 1)] == HASH).any())
    )
    return table if plain else None


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
