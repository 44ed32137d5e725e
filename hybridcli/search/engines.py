"""The protocol of an engine, and the registry that opens an index with the engine that built it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from hybridcli.errors import DataError
from hybridcli.records import Run, Topics
from hybridcli.search import sparse
from hybridcli.search.index import Index, open_index


class Engine(Protocol):
    """What every engine can do once its index is open."""

    tag: str

    def search(self, topics: Topics, depth: int) -> Run:
        """Give the best ``depth`` documents of every query, in the one order, scores rounded to 32 bits."""
        ...


Opener = Callable[[Index], Engine]
ENGINES: dict[str, Opener] = {}


def engine(name: str) -> Callable[[Opener], Opener]:
    """Register what opens an index of the engine ``name``."""

    def register(opener: Opener) -> Opener:
        ENGINES[name] = opener
        return opener

    return register


@engine(sparse.ENGINE)
def _open_sparse(index: Index) -> Engine:
    return sparse.SparseEngine(index)


def open_engine(path: str) -> Engine:
    """Verify the index folder ``path`` and open it with its engine."""
    index = open_index(path)
    if index.engine not in ENGINES:
        raise DataError(
            f"was built by the engine {index.engine!r}, this hybridcli knows: {', '.join(ENGINES)}",
            path=path,
        )
    return ENGINES[index.engine](index)
