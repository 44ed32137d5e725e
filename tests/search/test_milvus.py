"""Milvus: a real Milvus Lite server on loopback; the same rankings as bm25s and exact faiss."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridcli.errors import DataError, HybridcliError, MissingComponentError, UsageError
from hybridcli.records import Topics
from hybridcli.search import dense, milvus, milvus_server
from hybridcli.search.engines import build_sparse, open_engine
from hybridcli.search.milvus_server import Place, place_of
from hybridcli.search.models import ModelSpec
from hybridcli.search.settings import SearchOptions, SparseSettings
from tests.search.models import WORDS, make_static_model
from tests.support import Result

Passages = list[tuple[str, str]]
THREE = [("d1", "cash flow cash"), ("d2", "Cash!"), ("d3", "net income per share")]
slow = pytest.mark.slow


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with its data in a folder of its own."""
    if importlib.util.find_spec("pymilvus") is None or importlib.util.find_spec("milvus_lite") is None:
        pytest.skip("pymilvus or milvus-lite is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = str(tmp_path_factory.mktemp("milvus"))
    command = [sys.executable, "-m", "milvus_lite", "server", "--data-dir", data]
    server = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def search(path: Path, queries: list[str], depth: int = 100, **options: Any) -> dict[str, dict[str, float]]:
    topics = Topics([f"q{n}" for n in range(len(queries))], queries)
    return open_engine(str(path), SearchOptions(**options)).search(topics, depth).to_dict()


def sparse(path: Path, passages: Passages, uri: str, collection: str, **more: Any) -> None:
    settings = SparseSettings(uri=uri, collection=collection, **more)
    assert build_sparse("milvus", str(path), passages, settings) == len(passages)


def collection(count: int) -> Passages:
    random = np.random.default_rng(5)
    return [(f"d{row}", " ".join(random.choice(WORDS[:7], 1 + row % 9))) for row in range(count)]


@slow
def test_the_ranking_of_bm25s(tmp_path: Path, uri: str) -> None:
    queries = ["cash flow", "cash cash", "income share zebra", "zebra", ""]
    sparse(tmp_path / "m", THREE, uri, "ranking", k1=1.2, b=0.6)
    build_sparse("bm25s", str(tmp_path / "b"), THREE, SparseSettings(k1=1.2, b=0.6))
    found, ours = search(tmp_path / "m", queries), search(tmp_path / "b", queries)
    for qid, ranking in ours.items():
        assert list(found[qid]) == list(ranking)
        # Milvus keeps the factor (k1 + 1), which changes no order
        assert found[qid] == pytest.approx({docno: 2.2 * score for docno, score in ranking.items()}, rel=1e-5)


@slow
def test_ties_at_the_cut_keep_the_highest_docnos(tmp_path: Path, uri: str) -> None:
    passages = [(f"{n:04}", "cash") for n in range(600)] + [("é", "cash"), ("Z", "cash")]
    sparse(tmp_path / "i", passages, uri, "ties")
    assert list(search(tmp_path / "i", ["cash"], 3)["q0"]) == ["é", "Z", "0599"]


@slow
def test_dense_equals_exact_faiss(tmp_path: Path, uri: str) -> None:
    spec = ModelSpec(make_static_model(tmp_path / "model"))
    passages, queries = collection(700), ["net cash", "risk", "board share flow"]
    dense.build(str(tmp_path / "f"), lambda: passages, spec, dense.BuildOptions())
    how = dense.BuildOptions(place=Place(uri, "vectors"))
    dense.build(str(tmp_path / "m"), lambda: passages, spec, how)
    exact, found = search(tmp_path / "f", queries, 20), search(tmp_path / "m", queries, 20)
    for qid, ranking in exact.items():
        assert sorted(found[qid].values()) == pytest.approx(sorted(ranking.values()), abs=1e-6)
        assert len(set(found[qid]) & set(ranking)) >= 15  # equal texts differ by float noise only
    assert sorted(file.name for file in (tmp_path / "m").iterdir()) == ["meta.json", "probe.npy"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f", "m", "model"]


@slow
def test_an_approximate_index(tmp_path: Path, uri: str) -> None:
    spec = ModelSpec(make_static_model(tmp_path / "model"))
    values = (("ef_search", 64), ("m", 8))
    how = dense.BuildOptions(ann="hnsw", ann_values=values, place=Place(uri, "graph"))
    dense.build(str(tmp_path / "m"), lambda: collection(700), spec, how)
    assert len(search(tmp_path / "m", ["net"], 20, ann_params="ef_search=128")["q0"]) == 20
    with pytest.raises(UsageError, match="--ann pq: Milvus has flat, hnsw, ivf, ivfpq"):
        dense.build(
            str(tmp_path / "p"),
            lambda: collection(700),
            spec,
            dense.BuildOptions(ann="pq", place=Place(uri, "packed")),
        )


@slow
def test_going_on_after_an_interruption(tmp_path: Path, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(milvus, "ROWS", 10)
    passages = collection(45)

    def interrupted() -> Iterator[tuple[str, str]]:
        yield from passages[:30]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_sparse(
            "milvus", str(tmp_path / "i"), interrupted(), SparseSettings(uri=uri, collection="again")
        )
    assert not (tmp_path / "i").exists()
    journal = (tmp_path / ".i.sent" / "sent.jsonl").read_text().splitlines()
    assert len(journal) == 4
    changed = SparseSettings(uri=uri, collection="again")
    with pytest.raises(DataError, match="have changed since the run that was interrupted; start again"):
        build_sparse("milvus", str(tmp_path / "i"), passages[1:], changed)
    assert not list(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        build_sparse("milvus", str(tmp_path / "i"), interrupted(), changed)
    sparse(tmp_path / "i", passages, uri, "again")
    assert len(search(tmp_path / "i", ["cash net income flow risk board share"])["q0"]) == 45
    assert [path.name for path in tmp_path.iterdir()] == ["i"]


@slow
def test_collections_of_others_are_left_alone(tmp_path: Path, uri: str) -> None:
    sparse(tmp_path / "i", THREE, uri, "mine")
    with pytest.raises(UsageError, match="has a collection mine already; it is left alone"):
        sparse(tmp_path / "other", THREE, uri, "mine")
    sparse(tmp_path / "i", THREE[:1], uri, "mine")  # the index that made it may make it again
    assert list(search(tmp_path / "i", ["cash"])["q0"]) == ["d1"]
    spec = ModelSpec(make_static_model(tmp_path / "model"))
    with pytest.raises(UsageError, match="left alone"):
        dense.build(str(tmp_path / "v"), lambda: THREE, spec, dense.BuildOptions(place=Place(uri, "mine")))


@slow
def test_a_collection_that_is_gone_or_another(tmp_path: Path, uri: str) -> None:
    from pymilvus import DataType, MilvusClient

    sparse(tmp_path / "i", THREE, uri, "gone")
    client = MilvusClient(uri)
    client.drop_collection("gone")
    with pytest.raises(DataError, match="has no collection gone; build the index again"):
        search(tmp_path / "i", ["cash"])
    schema = client.create_schema(auto_id=False)
    schema.add_field("key", DataType.INT64, is_primary=True)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=4)
    client.create_collection("gone", schema=schema)
    with pytest.raises(DataError, match="collection gone has not the fields docno and sparse"):
        search(tmp_path / "i", ["cash"])
    with pytest.raises(UsageError, match="at most 16384 documents"):
        search(tmp_path / "i", ["cash"], depth=20_000)
    client.close()


@slow
def test_nobody_answers(tmp_path: Path) -> None:
    pytest.importorskip("pymilvus")
    with pytest.raises(HybridcliError, match=r"Milvus at http://127.0.0.1:9: .*server unavailable"):
        sparse(tmp_path / "i", THREE, "http://127.0.0.1:9", "x")
    assert not list(tmp_path.iterdir())


@slow
@pytest.mark.parametrize(
    ("passage", "message"),
    [
        (("long", "x" * 70_000), "passage long is too long for Milvus"),
        (("d1", "again"), "docno 'd1' stands twice"),
        (("a b", "x"), "docno 'a b' stands twice or has a blank"),
    ],
)
def test_passages_that_do_not_fit(tmp_path: Path, uri: str, passage: tuple[str, str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        sparse(tmp_path / "i", [*THREE, passage], uri, f"unfit_{len(message)}")
    assert not list(tmp_path.iterdir())
    sparse(tmp_path / "i", THREE, uri, f"unfit_{len(message)}")


def test_an_old_server() -> None:
    with pytest.raises(DataError, match=r"Milvus at u: has version v2\.4\.9; 2\.5 or newer is needed"):
        milvus_server._require_version("u", "v2.4.9")
    milvus_server._require_version("u", "2.6.0")
    milvus_server._require_version("u", "milvus_lite-3.2.2")


def test_places() -> None:
    assert place_of("http://h:1", "c_1") == Place("http://h:1", "c_1")
    with pytest.raises(UsageError, match="needs --uri and --collection"):
        place_of("http://h:1", None)
    with pytest.raises(UsageError, match="put it into the environment variable MILVUS_TOKEN"):
        Place("http://root:secret@h:1", "c")
    with pytest.raises(UsageError, match="letters, digits and _ are allowed"):
        Place("http://h:1", "my-collection")


def test_without_pymilvus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    with pytest.raises(MissingComponentError, match=r"pip install 'hybridcli\[milvus\]'"):
        sparse(tmp_path / "i", THREE, "http://h:1", "c")


@slow
def test_on_the_command_line(tmp_path: Path, uri: str, cli: Callable[..., Result]) -> None:
    (tmp_path / "w.jsonl").write_text(
        '{"id": "d1", "contents": "cash flow"}\n{"id": "d2", "contents": "risk"}\n'
    )
    (tmp_path / "t.tsv").write_text("q\tcash\n")
    model = make_static_model(tmp_path / "model")
    place = ("--engine", "milvus", "--uri", uri, "--collection")
    assert cli("index-sparse", tmp_path / "w.jsonl", "-o", tmp_path / "s", *place, "line_s").code == 0
    dense_args = ("index-dense", tmp_path / "w.jsonl", "-o", tmp_path / "v", "--model", model)
    assert cli(*dense_args, *place, "line_v").code == 0
    assert [
        line.split()[2] for line in cli("retrieve", tmp_path / "s", tmp_path / "t.tsv").out.splitlines()
    ] == ["d1"]
    found = cli("retrieve", tmp_path / "v", tmp_path / "t.tsv", "--uri", uri, "--tag", "vectors").out
    assert [line.split()[2::3] for line in found.splitlines()] == [["d1", "vectors"], ["d2", "vectors"]]
    refused = cli(*dense_args, *place, "line_v", "--shard", "1/2")
    assert (refused.code, "shared among machines by itself" in refused.err) == (2, True)
    assert cli("retrieve", tmp_path / "s", tmp_path / "t.tsv", "--uri", "http://127.0.0.1:9").code == 1
