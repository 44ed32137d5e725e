"""Finished cells of long work, kept in a file as they come: a head line, then one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any, BinaryIO

from hybridcli.errors import DataError, UsageError

Cell = dict[str, Any]


class CellFile(MutableMapping[str, Cell]):
    """A mapping whose new entries are appended to a file at once, and read back when the work goes on.

    ``task``: what the cells depend on, as a hash or text; a file of another task is refused. A last line that was
    cut off when the work stopped is dropped. Numbers read back exactly.
    """

    def __init__(self, path: str, task: str) -> None:
        self._cells: dict[str, Cell] = {}
        head = json.dumps({"schema": "hybridcli/cells/1", "task": task}).encode() + b"\n"
        target = Path(path)
        if target.is_dir() or not target.parent.is_dir():
            raise UsageError(f"{path}: cannot be written; give a file in a folder that exists")
        end = self._read(target, head) if target.exists() and target.stat().st_size else 0
        self._stream: BinaryIO = open(target, "r+b" if end else "wb", buffering=0)
        if not end:
            self._stream.write(head)
        else:
            self._stream.truncate(end)
            self._stream.seek(end)

    def _read(self, target: Path, head: bytes) -> int:
        """Take over whole lines; give where they end."""
        with open(target, "rb") as stream:
            if stream.readline() != head:
                raise DataError(
                    "holds cells of other inputs or options; remove it or name another file", path=str(target)
                )
            end = stream.tell()
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                try:
                    key, cell = json.loads(line)
                except ValueError:
                    break
                self._cells[key] = cell
                end += len(line)
        return end

    def __setitem__(self, key: str, cell: Cell) -> None:
        self._stream.write(json.dumps([key, cell]).encode() + b"\n")
        self._cells[key] = cell

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]

    def __delitem__(self, key: str) -> None:
        raise TypeError("finished cells stay")

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def close(self) -> None:
        """Close the file; it stays."""
        self._stream.close()
