"""What a user can choose when building or searching an index; an engine refuses what does not apply to it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields

from hybridcli.errors import UsageError
from hybridcli.search.models import Vectors

# fields whose option has another name
OPTION_NAMES = {"devices": "device", "batch": "batch-size", "query_vectors": "embeddings"}


@dataclass(frozen=True, slots=True)
class SparseSettings:
    """How a sparse index is built; None stands for the engine's default."""

    k1: float | None = None
    b: float | None = None
    pattern: str | None = None
    keep_case: bool = False
    stopwords: str | None = None
    stemmer: str | None = None
    language: str | None = None
    keep_stopwords: bool = False
    threads: int | None = None
    uri: str | None = None
    collection: str | None = None

    def bm25(self, k1: float, b: float) -> tuple[float, float]:
        """Give k1 and b, with these defaults; raises UsageError when they are out of range."""
        k1, b = k1 if self.k1 is None else self.k1, b if self.b is None else self.b
        if not 0 <= k1 < float("inf") or not 0 <= b <= 1:
            raise UsageError(f"BM25 needs k1 of 0 or more and b from 0 to 1, found k1 {k1:g} and b {b:g}")
        return k1, b


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What can be chosen when searching.

    ``query_vectors``: (qids, float[Q, dim]) made elsewhere. ``measure_recall``: compare so many queries with
    exact search. ``rm3``: (feedback terms, feedback documents, weight of the query's own terms). ``uri``: where
    Milvus is now.
    """

    devices: tuple[str, ...] = ()
    batch: int | None = None
    model: str | None = None
    ann_params: str | None = None
    measure_recall: int = 0
    query_vectors: tuple[Sequence[str], Vectors] | None = None
    k1: float | None = None
    b: float | None = None
    language: str | None = None
    rm3: tuple[int, int, float] | None = None
    uri: str | None = None


def refuse_others(chosen: SparseSettings | SearchOptions, takes: Collection[str], engine: str) -> None:
    """Raise UsageError when something is chosen that ``engine`` does not take."""
    given = [field.name for field in fields(chosen) if getattr(chosen, field.name) != field.default]
    wrong = [f"--{OPTION_NAMES.get(name, name.replace('_', '-'))}" for name in given if name not in takes]
    if wrong:
        raise UsageError(f"{', '.join(wrong)} does not apply to the engine {engine}")
