"""The bytes of a file to check, and what is odd about its lines whatever they say."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hybridcli.errors import DataError
from hybridcli.formats.files import BOM, GZIP_MAGIC, STDIN, decode, open_bytes
from hybridcli.records import Problem

# what is noted, in this order: kind, what it says
LINE_NOTES = {
    "bom": "a byte-order mark stands before the first line; it is dropped",
    "comment": "comment (a line that begins with #), skipped",
    "blank": "blank line, skipped",
    "crlf": "Windows line end (CRLF)",
    "tab": "tab between columns",
    "spacing": "more than one blank between columns, or blanks at an end of the line",
    "no-newline": "the last line has no line end: is the file whole?",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A file's bytes, decompressed, without a byte-order mark. ``bom``, ``gzip``: what was there."""

    path: str
    data: bytes
    bom: bool = False
    gzip: bool = False

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield (line number, line without its line end)."""
        for number, line in enumerate(io.BytesIO(self.data), start=1):
            yield number, line.rstrip(b"\r\n")


def read_source(path: str) -> Source:
    """Read a file, or stdin; raises DataError when it cannot be read."""
    gzip = False
    if path != STDIN and Path(path).is_file():
        with open(path, "rb") as stream:
            gzip = stream.read(2) == GZIP_MAGIC
    with open_bytes(path, keep_bom=True) as stream:
        data = stream.read()
    bom = data.startswith(BOM)
    return Source(path, data.removeprefix(BOM), bom, gzip)


def line_notes(source: Source, *, columns: bool = True) -> list[Problem]:
    """Note what is odd about the lines, each kind once with its count; ``columns``: blanks separate columns."""
    data = source.data
    count: dict[str, int] = {}
    first: dict[str, int] = {}

    def seen(kind: str, line: int) -> None:
        count[kind] = count.get(kind, 0) + 1
        first.setdefault(kind, line)

    if source.bom:
        seen("bom", 1)
    if _has_odd_lines(data, columns):
        for number, line in enumerate(io.BytesIO(data), start=1):
            if line.endswith(b"\r\n"):
                seen("crlf", number)
            text = line.rstrip(b"\r\n")
            if not text.strip():
                seen("blank", number)
            elif columns and text.startswith(b"#"):
                seen("comment", number)
            elif columns:
                if b"\t" in text:
                    seen("tab", number)
                if b"  " in text or text[:1] == b" " or text[-1:] == b" ":
                    seen("spacing", number)
    if data and not data.endswith(b"\n"):
        seen("no-newline", data.count(b"\n") + 1)
    notes = []
    for kind, about in LINE_NOTES.items():
        if kind in count:
            more = f" ({count[kind]:,} such lines)" if count[kind] > 1 else ""
            notes.append(Problem(kind, about + more, first[kind], wrong=False, count=count[kind]))
    return notes


def _has_odd_lines(data: bytes, columns: bool) -> bool:
    signs = [b"\r", b"\n\n", *([b"\t", b"  ", b"\n ", b" \n", b"\n#"] if columns else [b"\n ", b"\n\t"])]
    return data[:1] in (b"\n", b" ", b"#", b"\t") or any(sign in data for sign in signs)


def decoded_lines(source: Source) -> tuple[list[tuple[int, str]], list[Problem]]:
    """Decode line by line: (line number, text) of those that are UTF-8, and a problem for each other one."""
    lines: list[tuple[int, str]] = []
    problems: list[Problem] = []
    for number, raw in source.lines():
        try:
            lines.append((number, decode(raw, source.path, number)))
        except DataError as error:
            problems.append(Problem("encoding", error.message, number))
    return lines, problems
