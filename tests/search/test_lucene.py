"""Lucene: the same ranking as bm25s on the same terms, Anserini's analysis, RM3, indexes built elsewhere."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hybridcli.errors import MissingComponentError, UsageError
from hybridcli.records import Topics
from hybridcli.search import java, lucene
from hybridcli.search.engines import build_sparse, open_engine
from hybridcli.search.settings import SearchOptions, SparseSettings

Passages = list[tuple[str, str]]
THREE = [("d1", "cash flow cash"), ("d2", "Cash!"), ("d3", "net income per share"), ("d4", "")]


def has_lucene() -> bool:
    try:
        java.fitting_java(java.jar_of_pyserini())
    except MissingComponentError:
        return False
    return importlib.util.find_spec("jnius") is not None


needs_lucene = pytest.mark.skipif(not has_lucene(), reason="no pyserini, or no Java that fits it")
slow = pytest.mark.slow


def ask(
    path: Path,
    passages: Passages,
    queries: list[str],
    depth: int = 100,
    engine: str = "lucene",
    **settings: Any,
) -> dict[str, dict[str, float]]:
    build_sparse(engine, str(path), passages, SparseSettings(**settings))
    return search(path, queries, depth)


def search(path: Path, queries: list[str], depth: int = 100, **options: Any) -> dict[str, dict[str, float]]:
    topics = Topics([f"q{n}" for n in range(len(queries))], queries)
    return open_engine(str(path), SearchOptions(**options)).search(topics, depth).to_dict()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stopwords": "english"}, "--stopwords does not apply to the engine lucene's own analysis"),
        ({"pattern": ".", "keep_case": True}, "--pattern, --keep-case does not apply"),
        ({"stemmer": "english"}, "--stemmer english is not one of Lucene's: porter, krovetz, none"),
        (
            {"language": "terms", "keep_stopwords": True},
            "--keep-stopwords does not apply .* --language terms",
        ),
        ({"b": -1.0}, "BM25 needs k1 of 0 or more"),
    ],
)
def test_settings_that_do_not_fit(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build_sparse("lucene", str(tmp_path / "i"), THREE, SparseSettings(**settings))
    assert not list(tmp_path.iterdir())


@slow
@needs_lucene
def test_the_same_terms_give_the_scores_of_bm25s(tmp_path: Path) -> None:
    # lengths up to 40 terms are exact in Lucene too, and it counts no empty passage: float rounding is left
    queries = ["cash flow", "cash cash", "income share zebra", "zebra", ""]
    settings = {"k1": 1.5, "b": 0.75}
    ours = ask(tmp_path / "b", THREE[:3], queries, engine="bm25s", **settings)
    found = ask(tmp_path / "l", THREE[:3], queries, language="terms", **settings)
    for qid, ranking in ours.items():
        assert list(found[qid]) == list(ranking)
        assert found[qid] == pytest.approx(ranking, rel=1e-6)


@slow
@needs_lucene
def test_long_passages_differ_by_the_rounding_of_lengths(tmp_path: Path) -> None:
    passages = [(f"d{n}", "cash " + "flow " * (n * 37 % 400)) for n in range(50)]
    ours = ask(tmp_path / "b", passages, ["cash"], engine="bm25s", k1=0.9, b=0.4)["q0"]
    found = ask(tmp_path / "l", passages, ["cash"], language="terms")["q0"]
    differences = [abs(found[docno] / score - 1) for docno, score in ours.items()]
    # a length is cut to its 4 leading bits: at most 1/8 too short, of which b and k1 let through a part
    assert 0 < max(differences) < 0.04


@slow
@needs_lucene
def test_ties_at_the_cut_keep_the_highest_docnos(tmp_path: Path) -> None:
    passages = [(f"{n:04}", "cash") for n in range(500)] + [("é", "cash"), ("Z", "cash")]
    assert list(ask(tmp_path / "i", passages, ["cash"], 3)["q0"]) == ["é", "Z", "0499"]


@slow
@needs_lucene
def test_analysis_of_anserini(tmp_path: Path) -> None:
    passages = [("d1", "The companies are growing"), ("d2", "the of and")]
    queries = ["company grow", "the"]
    assert [list(found) for found in ask(tmp_path / "1", passages, queries).values()] == [["d1"], []]
    found = ask(tmp_path / "2", passages, queries, stemmer="none", keep_stopwords=True)
    assert [list(found) for found in found.values()] == [[], ["d2", "d1"]]
    german = [("d1", "Die Häuser"), ("d2", "Das Auto")]
    assert list(ask(tmp_path / "3", german, ["haus"], language="de")["q0"]) == ["d1"]
    with pytest.raises(UsageError, match="--language belongs to the index"):
        search(tmp_path / "3", ["haus"], language="fr")


@slow
@needs_lucene
@pytest.mark.parametrize("passages", [[], [("a", "")], [("a", "x")]])
def test_small_collections(tmp_path: Path, passages: Passages) -> None:
    found = ask(tmp_path / "i", passages, ["x", ""], depth=1000)
    assert [list(ranking) for ranking in found.values()] == [[docno for docno, text in passages if text], []]


@slow
@needs_lucene
def test_parameters_can_be_chosen_when_searching(tmp_path: Path) -> None:
    ask(tmp_path / "i", THREE, [])
    found = search(tmp_path / "i", ["cash"], k1=0.0, b=0.0)["q0"]
    assert list(found) == ["d2", "d1"]
    assert found["d1"] == found["d2"]


@slow
@needs_lucene
def test_rm3_brings_related_terms(tmp_path: Path) -> None:
    # Anserini expands by no term that more than a tenth of the documents hold
    passages = [("d1", "cash flow statement"), ("d2", "flow statement")] + [
        (f"e{n}", "income") for n in range(40)
    ]
    ask(tmp_path / "i", passages, [])
    assert list(search(tmp_path / "i", ["cash"])["q0"]) == ["d1"]
    assert list(search(tmp_path / "i", ["cash"], rm3=(10, 1, 0.5))["q0"]) == ["d1", "d2"]


@slow
@needs_lucene
def test_an_index_built_by_anserini_itself(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text('{"id": "d1", "contents": "cash flows"}\n')
    jar = java.jar_of_pyserini()
    program = str(java.fitting_java(jar).program)
    command = [program, "-cp", str(jar), "io.anserini.index.IndexCollection", "-collection", "JsonCollection"]
    subprocess.run(
        [*command, "-input", tmp_path / "in", "-index", tmp_path / "i"], check=True, capture_output=True
    )
    assert list(search(tmp_path / "i", ["flow"])["q0"]) == ["d1"]
    assert list(search(tmp_path / "i", ["flow"], language="terms")["q0"]) == ["d1"]
    with pytest.raises(UsageError, match="--rm3 needs an index with document vectors"):
        search(tmp_path / "i", ["flow"], rm3=(10, 10, 0.5))
    with pytest.raises(UsageError, match="--language xx is not one of Anserini's: ar "):
        search(tmp_path / "i", ["flow"], language="xx")


@slow
@needs_lucene
def test_nothing_of_torch_and_nothing_on_stdout(tmp_path: Path) -> None:
    ask(tmp_path / "i", THREE, [])
    (tmp_path / "t.tsv").write_text("q\tcash\n")
    code = (
        "import sys; from hybridcli.cli import main; code = main(sys.argv[1:]);"
        "assert not {'torch', 'openai', 'faiss'} & set(sys.modules); sys.exit(code)"
    )
    args = ["retrieve", str(tmp_path / "i"), str(tmp_path / "t.tsv")]
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=True)
    assert [line.split()[2] for line in done.stdout.splitlines()] == ["d1", "d2"]


def test_the_spool_is_cut_into_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lucene, "SPOOL", 2)
    assert lucene._spool(tmp_path, iter([*THREE, ("é", 'say "x"\n')]), None) == ["d1", "d2", "d3", "d4", "é"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["0.jsonl", "1.jsonl", "2.jsonl"]
    assert (tmp_path / "2.jsonl").read_text(encoding="utf-8") == '{"id": "é", "contents": "say \\"x\\"\\n"}\n'
