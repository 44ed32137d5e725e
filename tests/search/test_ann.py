"""Nearest neighbours: exact with ties, approximate with a measured loss."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hybridcli.errors import DataError, UsageError
from hybridcli.search import ann
from hybridcli.search.models import Vectors, unit_rows
from hybridcli.search.ranking import Ranking


def rows(count: int, dim: int = 16, seed: int = 0) -> Vectors:
    return unit_rows(np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32), None)


def plainly(vectors: Vectors, query: np.ndarray, depth: int) -> tuple[list[int], list[float]]:
    """The whole collection sorted: score as float32, then code, both descending."""
    scores = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1).astype(np.float32)
    order = sorted(range(len(vectors)), key=lambda code: (scores[code], code), reverse=True)[:depth]
    return order, scores[order].tolist()


def lists(ranking: Ranking) -> tuple[list[int], list[float]]:
    return ranking[0].tolist(), ranking[1].tolist()


@pytest.mark.parametrize("depth", [1, 10, 100, 5000])
def test_exact_search_is_the_head_of_the_full_order(tmp_path: Path, depth: int) -> None:
    vectors, queries = rows(3000), rows(5, seed=1)
    found = ann.Neighbours(vectors, "flat", {}, tmp_path).search(queries, depth)
    for query, ranking in zip(queries, found, strict=True):
        assert lists(ranking)[0] == plainly(vectors, query, depth)[0]
        assert lists(ranking)[1] == pytest.approx(plainly(vectors, query, depth)[1], rel=1e-6)


def test_many_ties_at_the_cut_keep_the_highest_codes(tmp_path: Path) -> None:
    # 900 copies of one vector: far more than the margin that faiss is asked for
    vectors = np.concatenate([rows(1).repeat(900, axis=0), rows(300, seed=2)])
    [found] = ann.Neighbours(vectors, "flat", {}, tmp_path).search(rows(1), 10)
    assert found[0].tolist() == list(range(899, 889, -1))
    assert len(set(found[1].tolist())) == 1


def test_nothing_to_search(tmp_path: Path) -> None:
    empty = ann.Neighbours(rows(0), "flat", {}, tmp_path)
    assert [len(codes) for codes, _ in empty.search(rows(2), 10)] == [0, 0]
    assert ann.Neighbours(rows(3), "flat", {}, tmp_path).search(rows(0), 10) == []


@pytest.mark.parametrize("kind", [kind for kind in ann.KINDS if kind != "flat"])
def test_approximate_kinds(tmp_path: Path, kind: str) -> None:
    vectors, queries = rows(2000), rows(20, seed=1)
    values = ann.settled(kind, {}, 2000, 16)
    for name in ("1", "2"):
        (tmp_path / name).mkdir()
        ann.build(tmp_path / name, kind, values, vectors)
    assert (tmp_path / "1" / ann.FILE).read_bytes() == (tmp_path / "2" / ann.FILE).read_bytes()
    index = ann.Neighbours(vectors, kind, values, tmp_path / "1")
    found, exact = index.search(queries, 10), index.search_exactly(queries, 10)
    share = ann.recall(found, exact)
    assert 0.3 < share <= 1  # random vectors have no clusters: the hard case
    for one, other in zip(found, exact, strict=True):
        scores = dict(zip(*lists(other), strict=True))
        assert all(scores.get(code, score) == score for code, score in zip(*lists(one), strict=True))


def test_searching_more_finds_more(tmp_path: Path) -> None:
    vectors, queries = rows(2000), rows(20, seed=1)
    ann.build(tmp_path, "ivf", ann.settled("ivf", {"lists": 40}, 2000, 16), vectors)
    exact = ann.Neighbours(vectors, "flat", {}, tmp_path).search(queries, 10)
    shares = [
        ann.recall(ann.Neighbours(vectors, "ivf", {"probes": probes}, tmp_path).search(queries, 10), exact)
        for probes in (1, 8, 40)
    ]
    assert shares[0] < shares[1] < shares[2] == 1


def test_a_graph_is_searched_in_proportion_to_the_depth(tmp_path: Path) -> None:
    vectors, queries = rows(4000, dim=64), rows(20, dim=64, seed=1)
    values = ann.settled("hnsw", {"m": 8}, *vectors.shape)
    assert values["ef_search"] == 0
    ann.build(tmp_path, "hnsw", values, vectors)
    graph = ann.Neighbours(vectors, "hnsw", values, tmp_path)
    narrow = ann.Neighbours(vectors, "hnsw", {**values, "ef_search": 100}, tmp_path)
    for depth in (100, 400):
        exact = graph.search_exactly(queries, depth)
        fits = ann.recall(graph.search(queries, depth), exact)
        assert fits > 0.9
        assert fits > ann.recall(narrow.search(queries, depth), exact)


def test_recall_by_hand() -> None:
    ranking = [(np.array(codes), np.zeros(len(codes), np.float32)) for codes in ([1, 2], [3, 9], [])]
    assert ann.recall([ranking[0], ranking[0]], [ranking[0], ranking[1]]) == 0.5
    assert ann.recall([ranking[2]], [ranking[2]]) == 1


def test_parameters() -> None:
    assert ann.parameters_of("hnsw", "m=16, ef_search=64") == {"m": 16, "ef_search": 64}
    assert ann.parameters_of("flat", None) == {}
    assert ann.settled("ivf", {}, 100_000, 384) == {"lists": 1264, "probes": 79}
    assert ann.settled("pq", {}, 1000, 384) == {"bytes": 48}
    assert ann.settled("pq", {}, 1000, 250) == {"bytes": 25}
    for kind, text, message in (
        ("tree", "", "--ann tree is not one of flat, hnsw, ivf, pq, ivfpq"),
        ("hnsw", "probes=3", "'probes=3': hnsw has these, with defaults: m=32"),
        ("ivf", "probes=many", "'probes=many': ivf has"),
        ("flat", "m=3", "flat has these, with defaults: none"),
    ):
        with pytest.raises(UsageError, match=message):
            ann.parameters_of(kind, text)
    for m in (0, 1, 100_000):
        with pytest.raises(UsageError, match=f"m={m}: m goes from 2 to 512"):
            ann.settled("hnsw", {"m": m}, 1000, 16)
    for name in ("ef_construction", "threads"):
        with pytest.raises(UsageError, match=f"{name}=0: 1 or more is needed"):
            ann.settled("hnsw", {name: 0}, 1000, 16)
    for kind in ("ivf", "ivfpq"):
        assert ann.settled(kind, {"lists": 300}, 300, 16)["lists"] == 300
        with pytest.raises(UsageError, match="lists=301: there are 300 vectors only"):
            ann.settled(kind, {"lists": 301}, 300, 16)
    with pytest.raises(UsageError, match="bytes=7 does not divide the 16 dimensions"):
        ann.settled("pq", {"bytes": 7}, 1000, 16)
    with pytest.raises(UsageError, match="--ann pq cannot be trained on 10 vectors; use --ann flat"):
        ann.settled("pq", {}, 10, 16)


def test_a_file_that_is_no_index(tmp_path: Path) -> None:
    (tmp_path / ann.FILE).write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"faiss.index: cannot be read by faiss"):
        ann.Neighbours(rows(3), "ivf", {"probes": 1}, tmp_path)
