"""Milvus, for collections that one machine does not hold: Milvus Lite, a server or a cluster, by the same calls.

The index folder then holds only where the collection is and how topics are prepared. Credentials come from the
environment: MILVUS_TOKEN (or USER:PASSWORD in it), MILVUS_SERVER_PEM for the certificate of a TLS server.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from hybridcli.console import note, track
from hybridcli.errors import DataError, HybridcliError, MissingComponentError, UsageError
from hybridcli.records import Run, Topics
from hybridcli.search import ann
from hybridcli.search.index import META, Index, finish_index, new_index, require_free
from hybridcli.search.models import Vectors
from hybridcli.search.queries import TopicEncoder
from hybridcli.search.settings import SearchOptions, SparseSettings

ENGINE = "milvus"
ROWS = 500  # of one upsert: below the 64 MB of a message also with the longest texts
LONGEST = 65_535  # bytes of a text field
LONGEST_DOCNO = 512
MOST = 16_384  # hits that a server gives for a query
MARGIN = 32
QUERIES = 100  # of one request
OLDEST = (2, 5)  # the first version with BM25
TEXT_ANALYZER = {"tokenizer": "standard", "filter": ["lowercase"]}
# kind of ``ann.KINDS`` → (Milvus' index type, its parameters by ours, its search parameters by ours)
KINDS: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "flat": ("FLAT", {}, {}),
    "hnsw": ("HNSW", {"m": "M", "ef_construction": "efConstruction"}, {"ef_search": "ef"}),
    "ivf": ("IVF_FLAT", {"lists": "nlist"}, {"probes": "nprobe"}),
    "ivfpq": ("IVF_PQ", {"lists": "nlist", "bytes": "m"}, {"probes": "nprobe"}),
}

Piece = tuple[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Place:
    """A collection of a server. ``uri``: http(s)://HOST:PORT, or a Milvus Lite file ending in .db."""

    uri: str
    collection: str

    def __post_init__(self) -> None:
        if "@" in self.uri:
            raise UsageError(
                "--uri must not hold a password; put it into the environment variable MILVUS_TOKEN"
            )
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,254}", self.collection):
            raise UsageError(f"--collection {self.collection!r}: letters, digits and _ are allowed")

    def require_free(self, path: str) -> None:
        """Refuse a collection that is there already, unless the index at ``path``, or an interrupted run, made it."""
        with connected(self.uri) as client:
            if client.has_collection(self.collection) and not self._is_ours(path):
                raise UsageError(
                    f"{self.uri} has a collection {self.collection} already; it is left alone, choose another name"
                )

    def _is_ours(self, path: str) -> bool:
        if progress_of(path).exists():
            return True
        try:
            options = json.loads((Path(path) / META).read_bytes())["options"]
        except (OSError, ValueError, KeyError):
            return False
        return (options.get("uri"), options.get("collection_name")) == (self.uri, self.collection)


def place_of(uri: str | None, collection: str | None) -> Place:
    """The place that a command line names."""
    if uri is None or collection is None:
        raise UsageError("--engine milvus needs --uri and --collection")
    return Place(uri, collection)


def progress_of(path: str) -> Path:
    """Where the progress of sending to the collection of the index at ``path`` is kept."""
    return Path(path).with_name(f".{Path(path).name}.sent")


@contextmanager
def connected(uri: str) -> Iterator[Any]:
    """Give a client; turn what goes wrong with the server into a line a person can act on."""
    try:
        import pymilvus
    except ImportError:
        raise MissingComponentError(
            "--engine milvus needs pymilvus", "pip install 'hybridcli[milvus]'"
        ) from None
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it would print each error with its traceback
    pem = os.environ.get("MILVUS_SERVER_PEM")
    more = {"server_pem_path": pem, "secure": True} if pem else {}
    try:
        client = pymilvus.MilvusClient(uri, token=os.environ.get("MILVUS_TOKEN", ""), timeout=20, **more)
        try:
            _require_version(uri, str(client.get_server_version()))
            yield client
        finally:
            client.close()
    except pymilvus.MilvusException as error:
        reason = str(error.message).splitlines()[0]
        raise HybridcliError(f"Milvus at {uri}: {reason}") from None


def _require_version(uri: str, version: str) -> None:
    found = re.search(r"(\d+)\.(\d+)", version)
    if found and (int(found[1]), int(found[2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise DataError(f"has version {version}; {oldest} or newer is needed (BM25)", path=f"Milvus at {uri}")


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
        count = _send(
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


def store_vectors(
    place: Place, path: str, docnos: Sequence[str], vectors: Vectors, kind: str, values: Mapping[str, int]
) -> dict[str, Any]:
    """Send vectors (float32[N, dim]) to a collection; give the options to store in the index folder."""
    from pymilvus import DataType

    if kind not in KINDS:
        raise UsageError(f"--ann {kind}: Milvus has {', '.join(KINDS)}")
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
        _send(
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


def _send(
    client: Any,
    place: Place,
    progress: Path,
    task: dict[str, Any],
    create: Callable[[], object],
    pieces: Iterable[Piece],
) -> int:
    """Upsert pieces of rows, going on after those that an interrupted run has sent; give the number of rows.

    A piece that was sent but not noted is sent again: an upsert of the same rows changes nothing.
    """
    progress.mkdir(exist_ok=True)
    with open(progress / "sent.jsonl", "a+", encoding="utf-8") as journal:
        try:
            fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"{progress}: another process is working on this index") from None
        journal.seek(0)
        lines = journal.read().splitlines()
        head = json.dumps(task)
        if not lines or lines[0] != head or not client.has_collection(place.collection):
            lines = []
            journal.truncate(0)
            client.drop_collection(place.collection)
            create()
            print(head, file=journal, flush=True)
        done = lines[1:]
        if done:
            note(f"going on after {len(done)} pieces of an interrupted run")
        try:
            count = _upsert(client, place.collection, pieces, done, journal)
        except DataError:  # wrong passages: leave nothing of them
            client.drop_collection(place.collection)
            shutil.rmtree(progress)
            raise
        client.flush(place.collection)
        return count


def _upsert(client: Any, collection: str, pieces: Iterable[Piece], done: list[str], journal: IO[str]) -> int:
    count, at = 0, 0
    for digest, rows in track(pieces, f"sending ({ROWS} rows each)"):
        count += len(rows)
        if at < len(done) and done[at] == digest:
            at += 1
            continue
        if at < len(done):
            raise DataError("the passages have changed since the run that was interrupted; start again")
        client.upsert(collection, rows)
        print(digest, file=journal, flush=True)
    return count


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
