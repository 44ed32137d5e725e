"""Nearest neighbours with faiss: exact, or approximate with a loss that can be measured.

Whatever finds the candidates, their scores are inner products computed in 64 bits from the stored vectors and
rounded to 32 bits, so every kind ranks the documents it finds alike, in any blocks, batches or shards.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import DataError, MissingComponentError, UsageError
from hybridcli.records import Ints
from hybridcli.search.models import INSTALL_DENSE, Vectors
from hybridcli.search.ranking import Ranking, best

FILE = "faiss.index"
MARGIN = 32
# rows that are turned to 64 bits at once
PIECE = 1 << 13
REFINE = 4
MOST_NEIGHBOURS = 512  # of a node of a graph; with fewer than 2 faiss ends the process
WIDTH = 4  # faiss looks at that many times as many nodes of a graph as it shall give


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of faiss index. ``factory``: its description for faiss with {parameters}; "" is exact search.

    ``defaults``: every parameter; those in ``tunable`` can be changed when searching.
    """

    what: str
    factory: str
    defaults: dict[str, int]
    tunable: dict[str, str]


GRAPH = {"m": 32, "ef_construction": 200, "ef_search": 0, "threads": 1}
LISTS = {"lists": 0, "probes": 0}
# "np": without polysemous training, which takes long and serves a way of searching that is not used here
KINDS: dict[str, Kind] = {
    "flat": Kind("exact", "", {}, {}),
    "hnsw": Kind("graph of near neighbours", "HNSW{m},Flat", GRAPH, {"ef_search": "efSearch"}),
    "ivf": Kind("clusters, the nearest are searched", "IVF{lists},Flat", LISTS, {"probes": "nprobe"}),
    "pq": Kind("vectors packed into bytes", "PQ{bytes}np", {"bytes": 0}, {}),
    "ivfpq": Kind(
        "clusters of packed vectors", "IVF{lists},PQ{bytes}np", {**LISTS, "bytes": 0}, {"probes": "nprobe"}
    ),
}


def load_faiss() -> Any:
    """Import faiss."""
    try:
        import faiss
    except ImportError:
        raise MissingComponentError("dense retrieval needs faiss", INSTALL_DENSE) from None
    return faiss


def parameters_of(kind: str, text: str | None) -> dict[str, int]:
    """Read ``name=number,…`` for a kind; raises UsageError for what the kind does not have."""
    if kind not in KINDS:
        raise UsageError(f"--ann {kind} is not one of {', '.join(KINDS)}")
    found: dict[str, int] = {}
    for item in (text or "").split(","):
        name, equals, value = item.strip().partition("=")
        if not item.strip():
            continue
        if name not in KINDS[kind].defaults or not equals or not re.fullmatch(r"[0-9]+", value):
            names = ", ".join(f"{key}={number}" for key, number in KINDS[kind].defaults.items()) or "none"
            raise UsageError(f"--ann-params {item.strip()!r}: {kind} has these, with defaults: {names}")
        found[name] = int(value)
    return found


def settled(kind: str, given: Mapping[str, int], rows: int, dim: int) -> dict[str, int]:
    """Fill in defaults; 0 stands for a value that fits the collection, or (ef_search) the depth of a search."""
    values = {**KINDS[kind].defaults, **given}
    if "lists" in values:
        # faiss advises 39 training points a cluster and about 4 √N clusters
        values["lists"] = values["lists"] or max(1, min(int(4 * rows**0.5), rows // 39))
        if values["lists"] > rows > 0:
            raise UsageError(f"--ann-params lists={values['lists']}: there are {rows} vectors only")
        values["probes"] = min(values["probes"] or max(1, values["lists"] // 16), values["lists"])
    if "m" in values and not 2 <= values["m"] <= MOST_NEIGHBOURS:
        raise UsageError(f"--ann-params m={values['m']}: m goes from 2 to {MOST_NEIGHBOURS}")
    low = next((name for name in ("ef_construction", "threads") if values.get(name) == 0), None)
    if low is not None:
        raise UsageError(f"--ann-params {low}=0: 1 or more is needed")
    if "bytes" in values:
        values["bytes"] = values["bytes"] or next(n for n in range(max(1, dim // 8), 0, -1) if dim % n == 0)
        if dim % values["bytes"]:
            raise UsageError(f"--ann-params bytes={values['bytes']} does not divide the {dim} dimensions")
    if KINDS[kind].factory and rows < (256 if "bytes" in values else 1):
        raise UsageError(f"--ann {kind} cannot be trained on {rows} vectors; use --ann flat")
    return values


def build(folder: Path, kind: str, values: Mapping[str, int], vectors: Vectors) -> None:
    """Train and write the faiss index of a kind; nothing for exact search."""
    if not KINDS[kind].factory:
        return
    faiss = load_faiss()
    description = KINDS[kind].factory.format(**values)
    index = faiss.index_factory(vectors.shape[1], description, faiss.METRIC_INNER_PRODUCT)
    if kind == "hnsw":
        index.hnsw.efConstruction = values["ef_construction"]
    for clustered in (index, getattr(index, "pq", index)):
        if hasattr(clustered, "cp"):
            clustered.cp.min_points_per_centroid = 1  # a small collection is no reason for a warning by faiss
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(
        values.get("threads", threads)
    )  # a graph built by several threads is never the same
    try:
        index.train(vectors)
        index.add(vectors)
    finally:
        faiss.omp_set_num_threads(threads)
    faiss.write_index(index, str(folder / FILE))


class Neighbours:
    """Searches vectors (float32[V, dim], rows of length 1 or 0), exactly or with the faiss index beside them."""

    def __init__(self, vectors: Vectors, kind: str, values: Mapping[str, int], folder: Path) -> None:
        self._faiss = load_faiss()
        self.vectors, self.kind = vectors, kind
        self._index = None
        if KINDS[kind].factory:
            self._index = self._read(folder / FILE)
            for name, attribute in KINDS[kind].tunable.items():
                owner = self._index.hnsw if kind == "hnsw" else self._index
                setattr(owner, attribute, values[name])
        self._width_fits = kind == "hnsw" and not values["ef_search"]

    def _read(self, file: Path) -> Any:
        try:
            index = self._faiss.read_index(str(file))
        except RuntimeError as error:
            raise DataError(
                f"cannot be read by faiss: {str(error).splitlines()[0]}", path=str(file)
            ) from None
        return index

    def search(self, queries: Vectors, depth: int) -> list[Ranking]:
        """Give the best ``depth`` rows for each query (float32[Q, dim])."""
        if self._index is None:
            return self.search_exactly(queries, depth)
        want = min(len(self.vectors), depth * (REFINE if "bytes" in KINDS[self.kind].defaults else 1))
        if not len(queries) or not want:
            return [self._rank(query, np.zeros(0, np.int64), depth) for query in queries]
        if self._width_fits:
            self._index.hnsw.efSearch = WIDTH * want
        _, found = self._index.search(queries, want)
        return [
            self._rank(query, codes[codes >= 0], depth) for query, codes in zip(queries, found, strict=True)
        ]

    def search_exactly(self, queries: Vectors, depth: int) -> list[Ranking]:
        """The same without approximation, ties at the cut included.

        faiss sums in 32 bits: two sums are certain to be in the right order only when they differ by more than
        ``slack``. Candidates are taken until the last is that far below the one at ``depth``.
        """
        rows, dim = self.vectors.shape
        slack = 2 * (dim + 1) * 2.0**-24
        rankings: list[Ranking] = [self._rank(query, np.zeros(0, np.int64), depth) for query in queries]
        waiting = np.arange(len(queries))
        want = depth + MARGIN
        while len(waiting) and rows:
            want = min(want, rows)
            scores, found = self._faiss.knn(
                np.ascontiguousarray(queries[waiting]),
                self.vectors,
                want,
                metric=self._faiss.METRIC_INNER_PRODUCT,
            )
            sure: NDArray[np.bool_] = np.ones(len(waiting), bool)
            if want < rows:
                sure = scores[:, -1] < scores[:, depth - 1] - slack
            for place, codes in zip(waiting[sure], found[sure], strict=True):
                rankings[place] = self._rank(queries[place], codes, depth)
            waiting = waiting[~sure]
            want *= 4
        return rankings

    def score_all(self, queries: NDArray[np.float64]) -> NDArray[np.float64]:
        """Inner products of all stored vectors, summed in 64 bits: float64[Q, N], a piece of them at a time."""
        scores = np.empty((len(queries), len(self.vectors)))
        for start in range(0, len(self.vectors), PIECE):
            rows = self.vectors[start : start + PIECE].astype(np.float64)
            scores[:, start : start + PIECE] = queries @ rows.T
        return scores

    def _rank(self, query: NDArray[np.float32], codes: Ints, depth: int) -> Ranking:
        rows = self.vectors[codes].astype(np.float64)
        scores = np.einsum("nd,d->n", rows, query.astype(np.float64), optimize=False)
        return best(codes.astype(np.int64), scores.astype(np.float32), depth)


def recall(found: list[Ranking], exact: list[Ranking]) -> float:
    """The mean share of the exact lists that was found (queries with an empty exact list are left out)."""
    shares = [
        len(np.intersect1d(one[0], other[0])) / len(other[0])
        for one, other in zip(found, exact, strict=True)
        if len(other[0])
    ]
    return float(np.mean(shares)) if shares else 1.0
