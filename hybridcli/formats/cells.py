"""Finished cells of long work, kept in a file as they come: a head line, then one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

from hybridcli.errors import DataError, UsageError

Cell = dict[str, Any]


class CellFile(MutableMapping[str, Cell]):
    """A mapping whose new entries are appended to a file at once, and read back when the work goes on.

    ``task``: what the cells depend on, as a hash or text; a file of another task is refused. A last line that was
    cut off when the work stopped is dropped. Numbers read back exactly.
    """

    def __init__(self, path: str, task: str) -> None:
        self._cells: dict[str, Cell] = {}
        self._path = Path(path)
        head = json.dumps({"schema": "hybridcli/cells/1", "task": task}).encode() + b"\n"
        if self._path.is_dir() or not self._path.parent.is_dir():
            raise UsageError(f"{path}: cannot be written; give a file in a folder that exists")
        end = self._read(head) if self._path.exists() and self._path.stat().st_size else 0
        with open(self._path, "ab") as stream:
            stream.truncate(end)
            if not end:
                stream.write(head)

    def _read(self, head: bytes) -> int:
        """Take over whole lines; give where they end."""
        with open(self._path, "rb") as stream:
            if stream.readline() != head:
                raise DataError(
                    "holds cells of other inputs or options; remove it or name another file",
                    path=str(self._path),
                )
            end = stream.tell()
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                try:
                    key, cell = json.loads(line)
                except (ValueError, TypeError):
                    break
                self._cells[key] = cell
                end += len(line)
        return end

    def __setitem__(self, key: str, cell: Cell) -> None:
        with open(self._path, "ab") as stream:
            stream.write(json.dumps([key, cell]).encode() + b"\n")
        self._cells[key] = cell

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]

    def __delitem__(self, key: str) -> None:
        raise TypeError("finished cells stay")

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)
