"""BM25: hand-computed scores, edges of the collection, the order of ties."""

from __future__ import annotations

from math import log
from pathlib import Path
from typing import Any

import pytest

from hybridcli.errors import UsageError
from hybridcli.records import Topics
from hybridcli.search.engines import build_sparse, open_engine
from hybridcli.search.settings import SearchOptions, SparseSettings

Passages = list[tuple[str, str]]


def ask(
    path: Path,
    passages: Passages,
    queries: dict[str, str],
    *,
    depth: int = 100,
    **settings: Any,
) -> dict[str, dict[str, float]]:
    """Index, search, and give the rankings."""
    assert build_sparse("bm25s", str(path), passages, SparseSettings(**settings)) == len(passages)
    topics = Topics(list(queries), list(queries.values()))
    return open_engine(str(path)).search(topics, depth).to_dict()


THREE = [("d1", "cash flow cash"), ("d2", "cash"), ("d3", "net income per share")]


def test_scores_computed_by_hand(tmp_path: Path) -> None:
    # N = 3; lengths 3, 1, 4; mean 8/3. df(cash) = 2, df(flow) = 1. No factor (k1 + 1).
    found = ask(tmp_path / "i", THREE, {"q": "cash flow"})["q"]
    idf_cash, idf_flow = log(1 + 1.5 / 2.5), log(1 + 2.5 / 1.5)
    norm_1 = 1.5 * (0.25 + 0.75 * 3 / (8 / 3))
    norm_2 = 1.5 * (0.25 + 0.75 * 1 / (8 / 3))
    assert found == pytest.approx(
        {
            "d1": idf_cash * 2 / (2 + norm_1) + idf_flow * 1 / (1 + norm_1),
            "d2": idf_cash * 1 / (1 + norm_2),
        },
        rel=1e-6,
    )
    assert list(found) == ["d1", "d2"]


def test_k1_and_b(tmp_path: Path) -> None:
    found = ask(tmp_path / "i", THREE, {"q": "cash"}, k1=0.9, b=0.0)["q"]
    assert found["d1"] == pytest.approx(log(1.6) * 2 / 2.9, rel=1e-6)
    # k1 = 0: a term is there or not, so both tie and the higher docno is first
    assert list(ask(tmp_path / "i", THREE, {"q": "cash"}, k1=0.0)["q"]) == ["d2", "d1"]


def test_a_repeated_query_term_counts_twice(tmp_path: Path) -> None:
    found = ask(tmp_path / "i", THREE, {"1": "cash", "2": "cash cash"})
    assert found["2"]["d2"] == pytest.approx(2 * found["1"]["d2"], rel=1e-6)


@pytest.mark.parametrize("passages", [[], [("a", "")], [("a", "…"), ("b", "__ --")]])
def test_collections_without_a_term(tmp_path: Path, passages: Passages) -> None:
    assert ask(tmp_path / "i", passages, {"q": "cash"}) == {"q": {}}


def test_one_document_and_depth_beyond_the_collection(tmp_path: Path) -> None:
    found = ask(tmp_path / "i", [("only", "cash")], {"q": "cash", "r": "gold"}, depth=1000)
    assert list(found["q"]) == ["only"]
    assert found["r"] == {}


def test_documents_without_a_query_word_are_not_retrieved(tmp_path: Path) -> None:
    found = ask(tmp_path / "i", [*THREE, ("d4", "")], {"u": "unknown words", "n": "", "m": "flow unknown"})
    assert found["u"] == {}
    assert found["n"] == {}
    assert list(found["m"]) == ["d1"]


def test_ties_at_the_depth_boundary_keep_the_highest_docnos(tmp_path: Path) -> None:
    passages = [(docno, "cash") for docno in ("9", "10", "é", "Z", "a")]
    found = ask(tmp_path / "i", passages, {"q": "cash"}, depth=3)
    assert list(found["q"]) == ["é", "a", "Z"]


def test_the_order_of_the_input_does_not_matter(tmp_path: Path) -> None:
    forward = ask(tmp_path / "1", THREE, {"q": "cash income"})
    assert ask(tmp_path / "2", THREE[::-1], {"q": "cash income"}) == forward


def test_the_same_windows_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("1", "2"):
        ask(tmp_path / name, THREE, {})
    for file in (tmp_path / "1").rglob("*.*"):
        assert file.read_bytes() == (tmp_path / "2" / file.relative_to(tmp_path / "1")).read_bytes()


def test_the_analyzer_is_stored_and_serves_queries(tmp_path: Path) -> None:
    chosen = {"pattern": r"\S+", "keep_case": True, "stopwords": "english"}
    found = ask(tmp_path / "i", [("d", "the U.S. GAAP")], {"q": "U.S.", "r": "u.s.", "s": "the"}, **chosen)
    assert list(found["q"]) == ["d"]
    assert found["r"] == found["s"] == {}


@pytest.mark.parametrize("wrong", [{"k1": -1.0}, {"b": 1.5}, {"k1": float("nan")}])
def test_parameters_out_of_range(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="BM25 needs k1 of 0 or more and b from 0 to 1"):
        ask(tmp_path / "i", THREE, {}, **wrong)


def test_options_that_do_not_apply(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--language, --threads does not apply to the engine bm25s"):
        ask(tmp_path / "i", THREE, {}, language="de", threads=3)
    ask(tmp_path / "i", THREE, {})
    with pytest.raises(UsageError, match="--device, --rm3 does not apply to the engine bm25s"):
        open_engine(str(tmp_path / "i"), SearchOptions(devices=("cpu",), rm3=(10, 10, 0.5)))
    with pytest.raises(UsageError, match="--engine tantivy is not one of bm25s, lucene, milvus"):
        build_sparse("tantivy", str(tmp_path / "i"), [], SparseSettings())
