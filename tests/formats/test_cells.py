"""Finished cells survive a kill, and cells of other work are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridcli.errors import DataError, UsageError
from hybridcli.formats.cells import CellFile


def test_cells_are_there_again(tmp_path: Path) -> None:
    path = str(tmp_path / "work")
    cells = CellFile(path, "task")
    cells["a/0"] = {"weights": [[1 / 3, 0.1]]}
    cells["b/0"] = {"choice": "ü"}
    again = CellFile(path, "task")
    assert dict(again) == {"a/0": {"weights": [[1 / 3, 0.1]]}, "b/0": {"choice": "ü"}}
    again["c/0"] = {}
    assert len(CellFile(path, "task")) == 3


@pytest.mark.parametrize("tail", [b'["c/0", {"x', b"not json\n", b"[1]\n"])
def test_a_line_that_is_not_whole_is_dropped(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "work"
    CellFile(str(path), "task")["a/0"] = {"n": 1}
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    cells = CellFile(str(path), "task")
    assert list(cells) == ["a/0"]
    cells["b/0"] = {"n": 2}
    assert path.read_bytes() == whole + b'["b/0", {"n": 2}]\n'


def test_another_task_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "work"
    CellFile(str(path), "task")["a/0"] = {}
    before = path.read_bytes()
    with pytest.raises(DataError, match="holds cells of other inputs or options"):
        CellFile(str(path), "other")
    path.write_bytes(b"my diary\n")
    with pytest.raises(DataError, match="holds cells of other"):
        CellFile(str(path), "task")
    assert path.read_bytes() == b"my diary\n"
    path.write_bytes(before)
    assert list(CellFile(str(path), "task")) == ["a/0"]


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "work"):
        with pytest.raises(UsageError, match="cannot be written; give a file in a folder that exists"):
            CellFile(str(path), "task")
