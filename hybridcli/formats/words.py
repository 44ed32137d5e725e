"""Word lists: one word or phrase a line."""

from __future__ import annotations

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of, read_lines


def read_words(path: str) -> list[str]:
    """Read a word list; blank lines and lines that start with ``#`` are skipped. An empty list is an error."""
    words = [line.strip() for _, line in read_lines(path) if line.strip() and not line.startswith("#")]
    if not words:
        raise DataError("holds no words; one word or phrase a line is needed", path=name_of(path))
    return words
