"""Milvus, for collections that one machine does not hold: Milvus Lite, a server or a cluster, by the same calls.

The index folder then holds only where the collection is and how topics are prepared; see ``milvus_server`` for the
connection. Milvus Lite counts BM25's document frequencies for each of its segments.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from hybridcli.console import track
from hybridcli.errors import DataError, UsageError
from hybridcli.records import Run, Topics
from hybridcli.search import ann
from hybridcli.search.index import Index, finish_index, new_index, require_free
from hybridcli.search.milvus_server import ROWS, Piece, Place, connected, place_of, progress_of, send
from hybridcli.search.models import Vectors
from hybridcli.search.queries import TopicEncoder
from hybridcli.search.settings import SearchOptions, SparseSettings

ENGINE = "milvus"
LONGEST = 65_535  # bytes of a text field
LONGEST_DOCNO = 512
MOST = 16_384  # hits that a server gives for a query
MARGIN = 32
QUERIES = 100  # of one request
TEXT_ANALYZER = {"tokenizer": "standard", "filter": ["lowercase"]}
# kind of ``ann.KINDS`` → (Milvus' index type, its parameters by ours, its search parameters by ours)
KINDS: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "flat": ("FLAT", {}, {}),
    "hnsw": ("HNSW", {"m": "M", "ef_construction": "efConstruction"}, {"ef_search": "ef"}),
    "ivf": ("IVF_FLAT", {"lists": "nlist"}, {"probes": "nprobe"}),
    "ivfpq": ("IVF_PQ", {"lists": "nlist", "bytes": "m"}, {"probes": "nprobe"}),
}


def build_index(path: str, passages: Iterable[tuple[str, str]], settings: SparseSettings) -> int:
    """Send (docno, text) passages to a collection with Milvus' BM25; give their number."""
    place = place_of(settings.uri, settings.collection)
    k1, b = settings.bm25(1.5, 0.75)
    analyzer: dict[str, Any] = {"type": settings.language} if settings.language else TEXT_ANALYZER
    require_free(Path(path))
    place.require_free(path)
    task = {"kind": "sparse", "uri": place.uri, "collection_name": place.collection, "k1": k1, "b": b}
    task["analyzer"] = analyzer
    with connected(place.uri) as client:
        schema, indexes = _sparse_schema(client, analyzer, k1, b)
        count = send(
            client,
            place,
            progress_of(path),
            task,
            lambda: client.create_collection(
                place.collection, schema=schema, index_params=indexes, consistency_level="Strong"
            ),
            _text_pieces(passages),
        )
    with new_index(path) as folder:
        finish_index(folder, path, engine=ENGINE, documents=count, options=task)
    shutil.rmtree(progress_of(path))
    return count


def _sparse_schema(client: Any, analyzer: Mapping[str, Any], k1: float, b: float) -> tuple[Any, Any]:
    from pymilvus import DataType, Function, FunctionType

    schema = client.create_schema(auto_id=False)
    schema.add_field("docno", DataType.VARCHAR, is_primary=True, max_length=LONGEST_DOCNO)
    schema.add_field(
        "text", DataType.VARCHAR, max_length=LONGEST, enable_analyzer=True, analyzer_params=dict(analyzer)
    )
    schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
    bm25 = Function(
        name="bm25",
        function_type=FunctionType.BM25,
        input_field_names=["text"],
        output_field_names=["sparse"],
    )
    schema.add_function(bm25)
    indexes = client.prepare_index_params()
    indexes.add_index(
        "sparse",
        index_type="SPARSE_INVERTED_INDEX",
        metric_type="BM25",
        params=_nested({"bm25_k1": k1, "bm25_b": b}),
    )
    return schema, indexes


def _nested(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of an index in the form that servers and Milvus Lite both read; Lite ignores pymilvus' flat one."""
    return {"params": parameters}


def _text_pieces(passages: Iterable[tuple[str, str]]) -> Iterator[Piece]:
    seen: set[str] = set()
    source = iter(passages)
    while piece := list(islice(source, ROWS)):
        digest = hashlib.sha256()
        for docno, text in piece:
            if len(docno.encode()) > LONGEST_DOCNO or len(text.encode()) > LONGEST:
                raise DataError(
                    f"passage {docno[:40]} is too long for Milvus ({LONGEST} bytes); cut documents with "
                    "hybridcli window first"
                )
            if docno in seen or len(docno.split()) != 1:
                raise DataError(f"docno {docno!r} stands twice or has a blank in it")
            seen.add(docno)
            digest.update(f"{docno}\n{len(text)}\n{text}\n".encode())
        yield digest.hexdigest(), [{"docno": docno, "text": text} for docno, text in piece]


def require_kind(kind: str) -> None:
    """Refuse a kind of index that Milvus does not have."""
    if kind not in KINDS:
        raise UsageError(f"--ann {kind}: Milvus has {', '.join(KINDS)}")


def store_vectors(
    place: Place, path: str, docnos: Sequence[str], vectors: Vectors, kind: str, values: Mapping[str, int]
) -> dict[str, Any]:
    """Send vectors (float32[N, dim]) to a collection; give the options to store in the index folder."""
    from pymilvus import DataType

    name, parameters, _ = KINDS[kind]
    dim = int(vectors.shape[1])
    task = {"kind": "dense", "uri": place.uri, "collection_name": place.collection, "dim": dim}
    task["ann"] = {"kind": kind, **values}
    with connected(place.uri) as client:
        schema = client.create_schema(auto_id=False)
        schema.add_field("docno", DataType.VARCHAR, is_primary=True, max_length=LONGEST_DOCNO)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dim)
        indexes = client.prepare_index_params()
        chosen = {theirs: values[ours] for ours, theirs in parameters.items()}
        indexes.add_index("vector", index_type=name, metric_type="IP", params=_nested(chosen))
        send(
            client,
            place,
            progress_of(path),
            task,
            lambda: client.create_collection(
                place.collection, schema=schema, index_params=indexes, consistency_level="Strong"
            ),
            _vector_pieces(docnos, vectors),
        )
    shutil.rmtree(progress_of(path))
    return task


def _vector_pieces(docnos: Sequence[str], vectors: Vectors) -> Iterator[Piece]:
    for start in range(0, len(docnos), ROWS):
        names, rows = docnos[start : start + ROWS], np.asarray(vectors[start : start + ROWS])
        digest = hashlib.sha256("\n".join(names).encode() + rows.tobytes()).hexdigest()
        yield digest, [{"docno": name, "vector": row} for name, row in zip(names, rows, strict=True)]


class MilvusEngine:
    """Searches a collection that ``build_index`` or ``store_vectors`` filled."""

    def __init__(self, parts: list[Index], options: SearchOptions) -> None:
        stored = parts[0].options
        self._place = Place(options.uri or str(stored["uri"]), str(stored["collection_name"]))
        self._stored = stored
        self._sparse = stored["kind"] == "sparse"
        self._field = "sparse" if self._sparse else "vector"
        self._topics = None if self._sparse else TopicEncoder(parts[0], options)
        self.tag = ENGINE if self._topics is None else self._topics.tag
        self._parameters: dict[str, int] = {}
        if not self._sparse:
            kind = str(stored["ann"]["kind"])
            values = {**stored["ann"], **ann.parameters_of(kind, options.ann_params)}
            self._parameters = {theirs: values[ours] for ours, theirs in KINDS[kind][2].items()}

    def search(self, topics: Topics, depth: int) -> Run:
        """Rank the best ``depth`` documents of every query."""
        if depth > MOST:
            raise UsageError(f"--depth {depth}: Milvus gives at most {MOST} documents a query")
        data: list[Any] = topics.texts if self._topics is None else list(self._topics.encode(topics))
        rankings: dict[str, dict[str, float]] = {}
        with connected(self._place.uri) as client:
            self._require_schema(client)
            client.load_collection(self._place.collection)
            starts = range(0, len(data), QUERIES)
            for start in track(starts, "searching", len(starts)):
                found = self._ranked(client, data[start : start + QUERIES], depth)
                rankings.update(zip(topics.qids[start : start + QUERIES], found, strict=True))
        return Run.from_dict(rankings, self.tag)

    def _require_schema(self, client: Any) -> None:
        where = f"Milvus at {self._place.uri}"
        name = self._place.collection
        if not client.has_collection(name):
            raise DataError(f"has no collection {name}; build the index again", path=where)
        fields = {field["name"]: field["params"] for field in client.describe_collection(name)["fields"]}
        if not {"docno", self._field} <= set(fields):
            raise DataError(f"collection {name} has not the fields docno and {self._field}", path=where)
        dim = fields[self._field].get("dim")
        if not self._sparse and int(dim) != self._stored["dim"]:
            raise DataError(f"collection {name} has {dim} dimensions, not {self._stored['dim']}", path=where)

    def _ranked(self, client: Any, data: list[Any], depth: int) -> list[dict[str, float]]:
        """Search, and again with more for the queries whose list is cut among equal scores."""
        rankings: list[dict[str, float]] = [{} for _ in data]
        waiting, want = list(range(len(data))), min(depth + MARGIN, MOST)
        while waiting:
            found = self._hits(client, [data[at] for at in waiting], want)
            again = []
            for at, hits in zip(waiting, found, strict=True):
                if len(hits) == want < MOST and hits[-1][0] == hits[depth - 1][0]:
                    again.append(at)
                else:
                    rankings[at] = {docno: score for score, docno in sorted(hits, reverse=True)[:depth]}
            waiting, want = again, min(want * 4, MOST)
        return rankings

    def _hits(self, client: Any, data: list[Any], want: int) -> list[list[tuple[float, str]]]:
        found = client.search(
            self._place.collection,
            data=data,
            anns_field=self._field,
            limit=want,
            search_params={"metric_type": "BM25" if self._sparse else "IP", "params": self._parameters},
            output_fields=["docno"],
            consistency_level="Strong",
        )
        # BM25 is never negative; Milvus Lite gives it with the sign turned
        sign = abs if self._sparse else float
        return [
            [(sign(float(np.float32(hit["distance"]))), str(hit["docno"])) for hit in hits] for hits in found
        ]


open_engine = MilvusEngine
BUILD_TAKES = frozenset({"k1", "b", "language", "uri", "collection"})
SEARCH_TAKES = frozenset({"uri", "devices", "batch", "model", "ann_params", "query_vectors"})
