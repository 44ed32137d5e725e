"""Long work that keeps its finished cells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hybridcli.adaptive.protocol import Cells
from hybridcli.errors import InterruptedRun
from hybridcli.formats.cells import CellFile


@contextmanager
def resumable(work: str | None, task: str) -> Iterator[Cells]:
    """Give the cells of long work, kept in the file ``work`` if one is named; an interrupt says how to go on."""
    cells: Cells = {} if work is None else CellFile(work, task)
    try:
        yield cells
    except KeyboardInterrupt:
        how = (
            "give --work FILE to be able to go on" if work is None else "the same command goes on from there"
        )
        raise InterruptedRun(f"interrupted after {len(cells)} fits; {how}") from None
