"""Dense retrieval: inner products of length-1 vectors of an encoder, exact unless asked otherwise."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hybridcli.console import note
from hybridcli.errors import DataError
from hybridcli.records import Run, Topics
from hybridcli.search import ann
from hybridcli.search.encoding import (
    JOURNAL,
    Encoded,
    Loss,
    Workspace,
    encode_collection,
    survey,
    write_vectors,
)
from hybridcli.search.index import (
    DOCNOS,
    Index,
    finish_index,
    make_shard_folder,
    new_index,
    require_free,
    shard_path,
    sorted_order,
    write_docnos,
)
from hybridcli.search.milvus import ENGINE as MILVUS
from hybridcli.search.milvus import require_kind, store_vectors
from hybridcli.search.milvus_server import Place
from hybridcli.search.models import ModelSpec, Vectors, absolute, load_encoder, rows_of, unit_rows
from hybridcli.search.queries import PROBE_FILE, TopicEncoder, probe_of
from hybridcli.search.ranking import Ranking, Scores, best, collect_run
from hybridcli.search.settings import SearchOptions

ENGINE = "dense"
VECTORS = "vectors.npy"
# scores of all passages that are held at once
SCORES_AT_ONCE = 1 << 24


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How an index is built. ``ann``: a kind of ``ann.KINDS`` with its given parameters. ``shard``: (i, n).

    ``place``: a collection of a Milvus server that holds the vectors, instead of the index folder.
    """

    batch: int | None = None
    devices: tuple[str, ...] = ()
    ann: str = "flat"
    ann_values: tuple[tuple[str, int], ...] = ()
    shard: tuple[int, int] = (1, 1)
    place: Place | None = None


def build(
    path: str, source: Callable[[], Iterable[tuple[str, str]]], spec: ModelSpec, how: BuildOptions
) -> tuple[Loss, int | None]:
    """Encode the (docno, text) passages of ``source``, which is read twice; write the index, or a shard of it.

    Gives what the encoder never saw, and its limit in tokens.

    Interrupted or killed, the same call goes on where it stood; the finished index is the same to the byte.
    """
    place = shard_path(path, how.shard)
    _require_place(path, how)
    count = survey(source())
    encoder = load_encoder(spec, how.devices)
    batch = how.batch or encoder.batch
    spec = replace(
        spec,
        model=absolute(spec.model),
        query_prefix=encoder.query_prefix,
        passage_prefix=encoder.passage_prefix,
        max_length=encoder.max_length,
    )
    make_shard_folder(path, how.shard)
    require_free(Path(place))
    dim = spec.dim or encoder.dim
    ann.settled(
        how.ann, dict(how.ann_values), count // how.shard[1], dim
    )  # fails now, not after the encoding
    task = {"model": asdict(spec), "batch": batch, "shard": list(how.shard)}
    folder = Path(place).with_name(f".{Path(place).name}.part")
    workspace = Workspace(folder, task, dim)
    try:
        encoded = encode_collection(
            source(), count, encoder, workspace, batch=batch, dim=spec.dim, shard=how.shard
        )
        options = {**task, "dim": dim, "collection": encoded.collection}
        _assemble(place, folder, encoded, options, how, probe_of(encoder, spec))
    finally:
        workspace.close()
        if not (folder / JOURNAL).stat().st_size:  # nothing in it to go on from
            shutil.rmtree(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return encoded.loss, encoder.max_length


def _require_place(path: str, how: BuildOptions) -> None:
    """Refuse a place that is taken before the long work begins."""
    if how.place is not None:
        require_kind(how.ann)
        how.place.require_free(path)
    if how.shard[1] == 1:
        require_free(Path(path))


def _assemble(
    place: str, folder: Path, encoded: Encoded, options: dict[str, Any], how: BuildOptions, probe: Vectors
) -> None:
    order = sorted_order(encoded.docnos)
    built = folder / "index"
    shutil.rmtree(built, ignore_errors=True)
    built.mkdir()
    np.save(built / PROBE_FILE, probe)
    docnos = [encoded.docnos[row] for row in order]
    _finish(built, place, docnos, lambda file: write_vectors(encoded, order, file), options, how)


def _finish(
    built: Path,
    place: str,
    docnos: list[str],
    write: Callable[[Path], None],
    options: dict[str, Any],
    how: BuildOptions,
) -> None:
    write_docnos(built, docnos)
    write(built / VECTORS)
    values = ann.settled(how.ann, dict(how.ann_values), len(docnos), options["dim"])
    if how.place is not None:
        vectors = np.load(built / VECTORS, mmap_mode="r")
        kept = store_vectors(how.place, place, docnos, vectors, how.ann, values)
        del vectors
        (built / VECTORS).unlink()
        (built / DOCNOS).unlink()
        finish_index(built, place, engine=MILVUS, documents=len(docnos), options={**options, **kept})
        return
    ann.build(built, how.ann, values, np.load(built / VECTORS, mmap_mode="r"))
    stored = {**options, "ann": {"kind": how.ann, **values}}
    finish_index(built, place, engine=ENGINE, documents=len(docnos), options=stored)


def build_from_vectors(
    path: str, docnos: Sequence[str], vectors: Vectors, model: ModelSpec | None, how: BuildOptions
) -> None:
    """Index vectors made elsewhere (float[N, dim], a row a docno); ``model`` encodes queries, if it is known."""
    _require_place(path, how)
    if vectors.ndim != 2 or len(vectors) != len(docnos):
        raise DataError(
            f"found vectors of shape {vectors.shape} for {len(docnos)} docnos; one row a docno is needed"
        )
    dim = (model.dim if model is not None else None) or vectors.shape[1]
    order = sorted_order(docnos)

    def write(file: Path) -> None:
        rows = np.lib.format.open_memmap(file, "w+", np.float32, (len(order), dim))
        for start in range(0, len(order), 1 << 14):
            at = order[start : start + (1 << 14)]
            piece = rows_of(vectors, at, [docnos[row] for row in at], np.float32)
            rows[start : start + len(piece)] = unit_rows(piece, dim)
        rows.flush()

    spec = None if model is None else asdict(replace(model, model=absolute(model.model)))
    options = {"model": spec, "batch": None, "shard": [1, 1], "dim": dim, "collection": None}
    with new_index(path) as built:
        _finish(built, path, [docnos[place] for place in order], write, options, how)


class DenseEngine:
    """Searches one dense index, or all its shards as one."""

    def __init__(self, parts: list[Index], options: SearchOptions) -> None:
        self._options, self._topics = options, TopicEncoder(parts[0], options)
        self.tag = self._topics.tag
        self._path = os.fspath(parts[0].path if len(parts) == 1 else parts[0].path.parent)
        self._parts = [self._open(part) for part in parts]
        docnos = [part.docnos() for part in parts]
        self.docnos = docnos[0] if len(parts) == 1 else sorted(docno for names in docnos for docno in names)
        place = {docno: code for code, docno in enumerate(self.docnos)}
        self._codes = [np.array([place[docno] for docno in names], dtype=np.int64) for names in docnos]
        if len(place) != len(self.docnos):
            raise DataError("a docno stands in two shards", path=self._path)

    def _open(self, part: Index) -> ann.Neighbours:
        vectors = np.load(part.path / VECTORS, mmap_mode="r", allow_pickle=False)
        stored = dict(part.options["ann"])
        kind = str(stored.pop("kind"))
        values = {**stored, **ann.parameters_of(kind, self._options.ann_params)}
        return ann.Neighbours(vectors, kind, values, part.path)

    def search(self, topics: Topics, depth: int) -> Run:
        """Rank the best ``depth`` passages of every query."""
        queries = self.encode(topics)
        rankings = self._merge([part.search(queries, depth) for part in self._parts], depth)
        if self._options.measure_recall:
            count = min(self._options.measure_recall, len(queries))
            exact = self._merge([part.search_exactly(queries[:count], depth) for part in self._parts], depth)
            share = ann.recall(rankings[:count], exact)
            note(
                f"{self._parts[0].kind}: {share:.2%} of the exact top {depth} found, mean of {count} queries"
            )
        return collect_run(self.tag, topics.qids, self.docnos, rankings)

    def score_all(self, topics: Topics) -> Iterator[Scores]:
        """Give the scores of all passages for one topic after the other, exact whatever the kind of index.

        Sums are made in 64 bits, as in ``search``, but in another order.
        """
        return self._score(self.encode(topics))

    def _score(self, queries: Vectors) -> Iterator[Scores]:
        step = max(1, SCORES_AT_ONCE // max(len(self.docnos), 1))
        for start in range(0, len(queries), step):
            block = queries[start : start + step].astype(np.float64)
            scores = np.empty((len(block), len(self.docnos)), dtype=np.float32)
            for part, codes in zip(self._parts, self._codes, strict=True):
                scores[:, codes] = part.score_all(block)
            yield from scores

    def _merge(self, lists: list[list[Ranking]], depth: int) -> list[Ranking]:
        merged = []
        for rankings in zip(*lists, strict=True):
            codes = [own[found[0]] for own, found in zip(self._codes, rankings, strict=True)]
            merged.append(
                best(np.concatenate(codes), np.concatenate([found[1] for found in rankings]), depth)
            )
        return merged

    def vectors_of(self, docnos: Sequence[str]) -> Vectors:
        """Give the stored vectors of some passages: float32[N, dim]; raises DataError for one that is not here."""
        code = {docno: place for place, docno in enumerate(self.docnos)}
        missing = [docno for docno in docnos if docno not in code]
        if missing:
            raise DataError(
                f"has no vector for {len(missing):,} of {len(docnos):,} passages, the first is {missing[0]}",
                path=self._path,
            )
        wanted = np.array([code[docno] for docno in docnos], dtype=np.int64)
        rows = np.empty((len(wanted), self._parts[0].vectors.shape[1]), dtype=np.float32)
        for part, codes in zip(self._parts, self._codes, strict=True):
            place = np.minimum(np.searchsorted(codes, wanted), max(len(codes) - 1, 0))
            here = np.flatnonzero(codes[place] == wanted) if len(codes) else place[:0]
            rows[here] = part.vectors[place[here]]
        return rows

    def encode(self, topics: Topics) -> Vectors:
        """Give the topics' vectors: float32[Q, dim], rows of length 1."""
        return self._topics.encode(topics)


open_engine = DenseEngine
SEARCH_TAKES = frozenset({"devices", "batch", "model", "ann_params", "measure_recall", "query_vectors"})
