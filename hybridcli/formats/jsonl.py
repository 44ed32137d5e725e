"""JSONL: one JSON object a line; rows come with their line numbers, fields are checked when they are taken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of, read_lines

Row = dict[str, Any]
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def read_rows(path: str) -> Iterator[tuple[int, Row]]:
    """Yield (line number, object) of a JSONL file; blank lines are skipped."""
    yield from rows_of(read_lines(path), path)


def rows_of(lines: Iterable[tuple[int, str]], path: str) -> Iterator[tuple[int, Row]]:
    """Turn numbered lines into objects; raises DataError for a line that is not one JSON object."""
    for number, line in lines:
        if not line or line.isspace():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            hint = "; one JSON object a line is needed" if line.lstrip()[0] in "{[" else ""
            raise DataError(f"not JSON ({error}){hint}", path=name_of(path), line=number) from None
        if not isinstance(row, dict):
            found = type(row).__name__
            raise DataError(
                f"expected one JSON object a line, found a {found}", path=name_of(path), line=number
            )
        yield number, row


def id_field(row: Row, names: tuple[str, ...], what: str, path: str, line: int) -> str:
    """Take an id (``what``: docno, qid …) from the first of ``names`` that is there; an integer becomes text."""
    name = next((name for name in names if row.get(name) is not None), None)
    if name is None:
        raise DataError(f"no {what}: one of {', '.join(names)} is needed", path=name_of(path), line=line)
    value = row[name]
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise DataError(f"{name} is {value!r}; a text is needed", path=name_of(path), line=line)
    return checked_id(value, what, path, line)


def checked_id(value: str, what: str, path: str, line: int | None) -> str:
    """Refuse an id that no run or qrels file can hold; give it back otherwise."""
    if value.split() != [value]:
        problem = (
            f"{value!r} holds a blank, which run and qrels files cannot hold" if value.strip() else "is empty"
        )
        raise DataError(f"{what} {problem}", path=name_of(path), line=line)
    if whole(value) != value:
        raise DataError(f"{what} {value!r} holds half a surrogate pair", path=name_of(path), line=line)
    if CONTROL.search(value):
        raise DataError(f"{what} {value!r} holds a control character", path=name_of(path), line=line)
    if what == "qid" and value.startswith("#"):
        problem = f"qid {value} begins with '#', which makes a comment of every line of a run or qrels file"
        raise DataError(problem, path=name_of(path), line=line)
    return value


def text_field(row: Row, names: tuple[str, ...], path: str, line: int, *, default: str | None = None) -> str:
    """Take a text from the first of ``names`` that is there; without any, ``default`` or a DataError."""
    name = next((name for name in names if row.get(name) is not None), None)
    if name is None:
        if default is not None:
            return default
        needed = names[0] if len(names) == 1 else f"one of {', '.join(names)}"
        raise DataError(f"no text: {needed} is needed", path=name_of(path), line=line)
    value = row[name]
    if not isinstance(value, str):
        raise DataError(f"{name} is {value!r:.60}; a text is needed", path=name_of(path), line=line)
    return whole(value)


def whole(text: str) -> str:
    r"""Give the text with halves of surrogate pairs (``"\ud800"`` is legal JSON) joined or replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
