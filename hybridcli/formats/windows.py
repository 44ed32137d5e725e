"""Windows: JSONL that Anserini's JsonCollection can index as it is (``id`` and ``contents`` in front)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of, open_output
from hybridcli.formats.jsonl import Row, checked_id, read_rows, whole
from hybridcli.records import Window

# in the order of the file
FIELDS: dict[str, type] = {
    "id": str,
    "contents": str,
    "doc": str,
    "unit": int,
    "kind": str,
    "start": int,
    "end": int,
    "char_start": int,
    "char_end": int,
    "heading": str,
}
KINDS = ("table", "text")
GAP = 1 << 20  # characters of a unit in no window, all blanks, beyond which the file must be damaged
_encode = json.JSONEncoder(ensure_ascii=False).encode


def write_windows(windows: Iterable[Window], path: str) -> None:
    """Write windows, one JSON object a line, keys in the order of ``FIELDS``."""
    with open_output(path) as stream:
        for window in windows:
            stream.write(window_line(window))


def window_line(window: Window) -> bytes:
    """One line of a windows file."""
    return (_encode({field: getattr(window, field) for field in FIELDS}) + "\n").encode("utf-8")


def read_windows(path: str) -> Iterator[Window]:
    """Yield the windows of a file; raises DataError for a line that is not a window."""
    for line, row in read_rows(path):
        yield window_of(row, path, line)


def window_of(row: Row, path: str, line: int) -> Window:
    """Check one row; raises DataError unless it is a window."""
    problem = _problem_of(row)
    if problem is not None:
        raise DataError(f"not a window: {problem}", path=name_of(path), line=line)
    checked_id(row["id"], "id", path, line)
    checked_id(row["doc"], "doc", path, line)
    row["contents"], row["heading"] = whole(row["contents"]), whole(row["heading"])
    return Window(**{field: row[field] for field in FIELDS})


def read_document_windows(path: str) -> Iterator[Window]:
    """Yield the windows of a file whose documents' texts are to be rebuilt.

    Raises DataError, besides what ``read_windows`` refuses, for a window given twice, and when the windows of a
    document or unit do not stand together, in reading order, without a gap of more than ``GAP`` characters.
    """
    ids: set[str] = set()
    docs: set[str] = set()
    units: set[int] = set()
    previous: Window | None = None
    for line, row in read_rows(path):
        window = window_of(row, path, line)
        problem = f"window {window.id} is given twice" if window.id in ids else None
        if previous is None or window.doc != previous.doc:
            if window.doc in docs:
                problem = problem or f"windows of document {window.doc} stand apart"
            docs.add(window.doc)
            units.clear()
            previous = None
        if previous is None or window.unit != previous.unit:
            if window.unit in units:
                problem = problem or f"windows of document {window.doc}, unit {window.unit} stand apart"
            units.add(window.unit)
            reached = 0
        else:
            reached = previous.char_end
            if window.char_start < previous.char_start:
                problem = problem or f"window {window.id} begins before the one above it"
        if window.char_start - reached > GAP:
            problem = (
                problem or f"{window.char_start - reached:,} characters before window {window.id} are missing"
            )
        if problem is not None:
            whole_file = "; give every window once, a document's together and in reading order"
            raise DataError(problem + whole_file, path=name_of(path), line=line)
        ids.add(window.id)
        previous = window
        yield window


def _problem_of(row: Row) -> str | None:
    for field, kind in FIELDS.items():
        if field not in row:
            return f"{field} is missing (is this a file of hybridcli window?)"
        if type(row[field]) is not kind:
            return f"{field} is {row[field]!r:.60}; {'a text' if kind is str else 'an integer'} is needed"
    if row["kind"] not in KINDS:
        return f"kind is {row['kind']!r}; it must be one of {', '.join(KINDS)}"
    if row["unit"] < 0:
        return f"unit is {row['unit']}; a number from 0 is needed"
    if not 0 <= row["start"] < row["end"]:
        return f"words {row['start']} to {row['end']} are no range"
    if not 0 <= row["char_start"] < row["char_end"] <= row["char_start"] + len(row["contents"]):
        return f"characters {row['char_start']} to {row['char_end']} do not fit the contents"
    return None
