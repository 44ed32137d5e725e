"""Windows files: written in one form, read with every field checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hybridcli.errors import DataError
from hybridcli.formats.windows import FIELDS, read_document_windows, read_windows, write_windows
from hybridcli.records import Window

WINDOW = Window("AAPL:3:0", "[Heading] Überblick\na “b”", "AAPL", 3, "table", 0, 2, 4, 9, "Überblick")
LINE = (
    '{"id": "AAPL:3:0", "contents": "[Heading] Überblick\\na “b”", "doc": "AAPL", "unit": 3, "kind": "table", '
    '"start": 0, "end": 2, "char_start": 4, "char_end": 9, "heading": "Überblick"}\n'
)


def test_one_line_a_window_and_back(tmp_path: Path) -> None:
    path = tmp_path / "windows.jsonl.gz"
    write_windows([WINDOW, WINDOW], str(path))
    assert list(read_windows(str(path))) == [WINDOW, WINDOW]
    plain = tmp_path / "windows.jsonl"
    write_windows([WINDOW], str(plain))
    assert plain.read_text(encoding="utf-8") == LINE
    assert WINDOW.body == "a “b”"


def test_the_fields_are_those_of_the_record() -> None:
    assert tuple(FIELDS) == Window.__slots__


def changed(**fields: object) -> str:
    return json.dumps({**json.loads(LINE), **fields})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        *((json.dumps({k: v for k, v in json.loads(LINE).items() if k != field}), f"{field} is missing")
          for field in FIELDS),
        (changed(unit="3"), "unit is '3'; an integer is needed"),
        (changed(start=True), "start is True; an integer is needed"),
        (changed(contents=None), "contents is None; a text is needed"),
        (changed(kind="figure"), "kind is 'figure'; it must be one of table, text"),
        (changed(start=2), "words 2 to 2 are no range"),
        (changed(char_end=4), "characters 4 to 4 do not fit the contents"),
        (changed(char_end=99), "characters 4 to 99 do not fit the contents"),
    ],
)  # fmt: skip
def test_a_line_that_is_no_window(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "windows.jsonl"
    path.write_text(LINE + line, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        list(read_windows(str(path)))
    assert str(caught.value).startswith(f"{path}:2: not a window: {message}")


def test_a_line_that_is_not_json_or_has_a_bad_id(tmp_path: Path) -> None:
    path = tmp_path / "windows.jsonl"
    path.write_text(LINE[:40], encoding="utf-8")
    with pytest.raises(DataError, match=rf"^{path}:1: not JSON"):
        list(read_windows(str(path)))
    path.write_text(changed(id="a b"), encoding="utf-8")
    with pytest.raises(DataError, match=rf"^{path}:1: id 'a b' holds a blank"):
        list(read_windows(str(path)))


def numbered(doc: str, unit: int, number: int, char_start: int) -> str:
    """A window of five characters."""
    place = {"char_start": char_start, "char_end": char_start + 5}
    return changed(id=f"{doc}:{unit}:{number}", contents="a bcd", doc=doc, unit=unit, heading="", **place)


@pytest.mark.parametrize(
    ("places", "line", "message"),
    [
        ([("a", 0, 0, 0), ("a", 0, 0, 6)], 2, "window a:0:0 is given twice"),
        ([("a", 0, 0, 0), ("b", 0, 0, 0), ("a", 1, 0, 0)], 3, "windows of document a stand apart"),
        ([("a", 0, 0, 0), ("a", 1, 0, 0), ("a", 0, 1, 6)], 3, "windows of document a, unit 0 stand apart"),
        ([("a", 0, 1, 6), ("a", 0, 0, 0)], 2, "window a:0:0 begins before the one above it"),
        ([("a", 0, 0, 10**9)], 1, "1,000,000,000 characters before window a:0:0 are missing"),
        ([("a", 0, 0, 0), ("a", 0, 1, 10**9)], 2, "999,999,995 characters before window a:0:1 are missing"),
        ([("a", -1, 0, 0)], 1, "not a window: unit is -1; a number from 0 is needed"),
    ],
)
def test_windows_that_no_text_can_be_rebuilt_from(
    tmp_path: Path, places: list[tuple[str, int, int, int]], line: int, message: str
) -> None:
    """A gap is filled with blanks: one of a damaged offset would fill the memory."""
    path = tmp_path / "windows.jsonl"
    path.write_text("".join(numbered(*place) + "\n" for place in places), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        list(read_document_windows(str(path)))
    assert str(caught.value).startswith(f"{path}:{line}: {message}")


def test_units_may_come_in_any_order_and_windows_overlap(tmp_path: Path) -> None:
    path = tmp_path / "windows.jsonl"
    places = [("a", 3, 0, 0), ("a", 3, 1, 2), ("a", 1, 0, 7), ("b", 3, 0, 0)]
    path.write_text("".join(numbered(*place) + "\n" for place in places), encoding="utf-8")
    assert [window.id for window in read_document_windows(str(path))] == ["a:3:0", "a:3:1", "a:1:0", "b:3:0"]
