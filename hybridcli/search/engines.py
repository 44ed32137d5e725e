"""The protocol of an engine, and the registry that opens an index with the engine that built it."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

from hybridcli.errors import DataError
from hybridcli.records import Run, Topics
from hybridcli.search.index import open_parts
from hybridcli.search.models import Vectors


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What can be chosen when searching; an engine takes what applies to it.

    ``query_vectors``: (qids, float[Q, dim]) made elsewhere. ``measure_recall``: compare so many queries with
    exact search.
    """

    devices: tuple[str, ...] = ()
    batch: int | None = None
    model: str | None = None
    ann_params: str | None = None
    measure_recall: int = 0
    query_vectors: tuple[Sequence[str], Vectors] | None = None


class Engine(Protocol):
    """What every engine can do once its index is open; ``tag``: the run's tag unless another is given."""

    tag: str

    def search(self, topics: Topics, depth: int) -> Run:
        """Give the best ``depth`` documents of every query, in the one order, scores rounded to 32 bits."""
        ...


@runtime_checkable
class EncodingEngine(Engine, Protocol):
    """An engine that knows vectors of queries."""

    def encode(self, topics: Topics) -> Vectors:
        """Give the topics' vectors: float32[Q, dim]."""
        ...


# engine → the module whose ``open_engine(parts, options)`` opens its index, imported when it is needed
ENGINES = {"bm25s": "sparse", "dense": "dense"}


def open_engine(path: str, options: SearchOptions | None = None) -> Engine:
    """Verify the index folder ``path`` (or its shards) and open it with its engine."""
    parts = open_parts(path)
    name = parts[0].engine
    if name not in ENGINES:
        raise DataError(
            f"was built by the engine {name!r}, this hybridcli knows: {', '.join(ENGINES)}", path=path
        )
    module = importlib.import_module(f"hybridcli.search.{ENGINES[name]}")
    return cast(Engine, module.open_engine(parts, options or SearchOptions()))
