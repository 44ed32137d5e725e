"""Windows files: written in one form, read with every field checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hybridcli.errors import DataError
from hybridcli.formats.windows import FIELDS, read_windows, write_windows
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
