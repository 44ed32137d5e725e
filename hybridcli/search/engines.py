"""The protocol of an engine, and the registry that opens an index with the engine that built it."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import DataError, UsageError
from hybridcli.records import Run, Topics
from hybridcli.search.index import open_parts
from hybridcli.search.models import Vectors
from hybridcli.search.settings import SearchOptions, SparseSettings, refuse_others


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


@runtime_checkable
class VectorEngine(EncodingEngine, Protocol):
    """An engine that gives the vectors it has stored."""

    def vectors_of(self, docnos: Sequence[str]) -> Vectors:
        """Give passages' vectors: float32[N, dim]."""
        ...


@runtime_checkable
class CompleteEngine(Engine, Protocol):
    """An engine that can score every document; ``docnos`` ascend in bytes."""

    docnos: list[str]

    def score_all(self, topics: Topics) -> Iterator[NDArray[np.float32]]:
        """Give the scores of all documents for one topic after the other: float32[D], NaN where not retrieved."""
        ...


# engine → the module whose ``open_engine(parts, options)`` opens its index, imported when it is needed; its
# ``SEARCH_TAKES`` and ``BUILD_TAKES`` name the options that apply
ENGINES = {"bm25s": "sparse", "lucene": "lucene", "dense": "dense", "milvus": "milvus"}
# those whose module has ``build_index(path, passages, settings)``
SPARSE_ENGINES = ("bm25s", "lucene", "milvus")


def open_engine(path: str, options: SearchOptions | None = None) -> Engine:
    """Verify the index folder ``path`` (or its shards) and open it with its engine."""
    parts = open_parts(path)
    name = parts[0].engine
    if name not in ENGINES:
        raise DataError(
            f"was built by the engine {name!r}, this hybridcli knows: {', '.join(ENGINES)}", path=path
        )
    module = importlib.import_module(f"hybridcli.search.{ENGINES[name]}")
    options = options or SearchOptions()
    refuse_others(options, module.SEARCH_TAKES, name)
    return cast(Engine, module.open_engine(parts, options))


def build_sparse(
    engine: str, path: str, passages: Iterable[tuple[str, str]], settings: SparseSettings
) -> int:
    """Build a sparse index of (docno, text) passages at ``path``; give their number."""
    if engine not in SPARSE_ENGINES:
        raise UsageError(f"--engine {engine} is not one of {', '.join(SPARSE_ENGINES)}")
    module = importlib.import_module(f"hybridcli.search.{ENGINES[engine]}")
    refuse_others(settings, module.BUILD_TAKES, engine)
    return cast(int, module.build_index(path, passages, settings))
