"""Dense indexes: build, search, shards, saved vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from hybridcli.errors import DataError, InterruptedRun, UsageError
from hybridcli.records import Topics
from hybridcli.search import dense
from hybridcli.search.engines import VectorEngine, open_engine
from hybridcli.search.index import open_index
from hybridcli.search.models import ModelSpec
from hybridcli.search.settings import SearchOptions
from tests.search.models import WORDS, make_static_model, table

Passages = list[tuple[str, str]]


@pytest.fixture
def spec(tmp_path: Path) -> ModelSpec:
    return ModelSpec(make_static_model(tmp_path / "model"))


def collection(count: int) -> Passages:
    random = np.random.default_rng(5)
    return [(f"d{row}", " ".join(random.choice(WORDS[:7], 1 + row % 9))) for row in range(count)]


def build(
    path: Path, passages: Passages, spec: ModelSpec, shard: tuple[int, int] = (1, 1), **how: object
) -> str:
    dense.build(str(path), lambda: passages, spec, dense.BuildOptions(shard=shard, **how))  # type: ignore[arg-type]
    return str(path)


def ask(path: str, queries: Sequence[str], depth: int = 10, **options: object) -> dict[str, dict[str, float]]:
    topics = Topics([f"q{n}" for n in range(len(queries))], list(queries))
    return open_engine(path, SearchOptions(**options)).search(topics, depth).to_dict()  # type: ignore[arg-type]


def test_cosines_by_hand(tmp_path: Path, spec: ModelSpec) -> None:
    index = build(tmp_path / "i", [("a", "net"), ("b", "cash cash"), ("c", "")], spec)
    words = table().astype(np.float64)
    words /= np.linalg.norm(words, axis=1)[:, None]
    expected = {"a": words[0] @ words[2], "b": 1.0, "c": 0.0}
    assert ask(index, ["cash"])["q0"] == pytest.approx(expected, abs=1e-6)
    assert np.load(tmp_path / "i" / "vectors.npy").shape == (3, 8)
    assert open_index(index).docnos() == ["a", "b", "c"]


def test_equal_passages_tie_and_the_higher_docno_is_first(tmp_path: Path, spec: ModelSpec) -> None:
    index = build(tmp_path / "i", [(docno, "net cash") for docno in ("9", "10", "é", "Z", "a")], spec)
    found = ask(index, ["net"], depth=3)["q0"]
    assert list(found) == ["é", "a", "Z"]
    assert len(set(found.values())) == 1


@pytest.mark.parametrize("count", [0, 1])
def test_small_collections(tmp_path: Path, spec: ModelSpec, count: int) -> None:
    found = ask(build(tmp_path / "i", collection(count), spec), ["net", ""], depth=1000)
    assert [len(ranking) for ranking in found.values()] == [count, count]
    assert ask(str(tmp_path / "i"), []) == {}


def test_dimensions_are_cut_before_scaling(tmp_path: Path, spec: ModelSpec) -> None:
    index = build(tmp_path / "i", [("a", "net")], ModelSpec(spec.model, dim=2))
    np.testing.assert_allclose(
        np.load(tmp_path / "i" / "vectors.npy")[0], table()[0, :2] / np.linalg.norm(table()[0, :2]), rtol=1e-6
    )
    assert ask(index, ["net"])["q0"]["a"] == pytest.approx(1)


def test_prefixes_are_stored_and_used(tmp_path: Path, spec: ModelSpec) -> None:
    marked = ModelSpec(spec.model, query_prefix="cash ", passage_prefix="risk ")
    index = build(tmp_path / "i", [("a", "net")], marked)
    words = table()
    query, passage = words[2] + words[0], words[4] + words[0]
    cosine = query @ passage / np.linalg.norm(query) / np.linalg.norm(passage)
    assert ask(index, ["net"])["q0"]["a"] == pytest.approx(float(cosine), rel=1e-5)


def test_shards_give_the_same_run(tmp_path: Path, spec: ModelSpec) -> None:
    passages, queries = collection(60), ["net income", "cash risk", "board"]
    whole = ask(build(tmp_path / "whole", passages, spec, batch=4), queries, depth=20)
    for i in (3, 1, 4, 2):
        build(tmp_path / "parts", passages, spec, (i, 4), batch=4)
    assert ask(str(tmp_path / "parts"), queries, depth=20) == whole


def test_stored_vectors_are_given_from_any_shard(tmp_path: Path, spec: ModelSpec) -> None:
    passages = collection(20)
    whole = open_engine(build(tmp_path / "whole", passages, spec, batch=4))
    for i in (1, 2, 3):
        build(tmp_path / "parts", passages, spec, (i, 3), batch=4)
    parts = open_engine(str(tmp_path / "parts"))
    assert isinstance(whole, VectorEngine)
    assert isinstance(parts, VectorEngine)
    docnos = [passages[at][0] for at in (19, 0, 7, 7)]
    stored = dict(zip(whole.docnos, np.load(tmp_path / "whole" / "vectors.npy"), strict=True))
    np.testing.assert_array_equal(whole.vectors_of(docnos), [stored[docno] for docno in docnos])
    np.testing.assert_array_equal(parts.vectors_of(docnos), whole.vectors_of(docnos))
    with pytest.raises(DataError, match=r"whole: has no vector for 1 of 2 passages, the first is zz"):
        whole.vectors_of([docnos[0], "zz"])


def test_shards_that_do_not_fit(tmp_path: Path, spec: ModelSpec) -> None:
    parts = tmp_path / "parts"
    build(parts, collection(20), spec, (1, 2), batch=4)
    with pytest.raises(DataError, match="parts: misses shard-2-of-2; all 2 shards are needed"):
        open_engine(str(parts))
    build(parts, collection(19), spec, (2, 2), batch=4)
    with pytest.raises(
        DataError, match=r"shard-2-of-2: was built with other settings or from other passages"
    ):
        open_engine(str(parts))
    build(parts, collection(20), spec, (1, 3), batch=4)
    with pytest.raises(DataError, match="misses shard-2-of-3"):
        open_engine(str(parts))
    (parts / "notes.txt").write_text("x")
    with pytest.raises(UsageError, match="holds other things than shards"):
        build(parts, collection(20), spec, (2, 2), batch=4)


def test_an_interrupted_build_leaves_no_index(tmp_path: Path, spec: ModelSpec) -> None:
    reads = []

    def interrupted() -> Iterator[tuple[str, str]]:
        reads.append(1)
        yield from collection(5)
        if len(reads) == 2:  # the first reading is the survey
            raise KeyboardInterrupt

    with pytest.raises(InterruptedRun):
        dense.build(str(tmp_path / "i"), interrupted, spec, dense.BuildOptions(batch=2))
    assert not (tmp_path / "i").exists()
    build(tmp_path / "i", collection(5), spec)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["i", "model"]


def test_other_weights_under_the_same_name(tmp_path: Path, spec: ModelSpec) -> None:
    index = build(tmp_path / "i", collection(5), spec)
    Path(spec.model).rename(tmp_path / "moved")
    make_static_model(Path(spec.model), seed=1)
    with pytest.raises(DataError, match="is not the one that built the index"):
        ask(index, ["net"])
    assert ask(index, ["net"], model=str(tmp_path / "moved"))["q0"]
    make_static_model(tmp_path / "short", dim=4)
    with pytest.raises(DataError, match=r"the index has 8 dimensions, the model .*short 4"):
        ask(index, ["net"], model=str(tmp_path / "short"))


def test_long_topics_are_reported(
    tmp_path: Path, spec: ModelSpec, capsys: pytest.CaptureFixture[str]
) -> None:
    index = build(tmp_path / "i", collection(5), ModelSpec(spec.model, max_length=2))
    ask(index, ["net", "net cash flow"])
    assert "1 of 2 topics exceed the encoder's 2 tokens" in capsys.readouterr().err


def test_approximate_search_and_its_measured_loss(
    tmp_path: Path, spec: ModelSpec, capsys: pytest.CaptureFixture[str]
) -> None:
    passages = [(docno, f"{text} {text[::2]}") for docno, text in collection(400)]
    index = build(tmp_path / "i", passages, spec, ann="ivf", ann_values=(("lists", 20), ("probes", 1)))
    ask(index, ["net", "cash", "risk"], measure_recall=2)
    err = capsys.readouterr().err
    assert "ivf: " in err
    assert "% of the exact top 10 found, mean of 2 queries" in err
    exact = ask(build(tmp_path / "e", passages, spec), ["net cash"])
    assert ask(index, ["net cash"], ann_params="probes=20") == exact
    with pytest.raises(UsageError, match="'ef_search=3': ivf has these"):
        ask(index, ["net"], ann_params="ef_search=3")


def test_saved_vectors_without_a_model(tmp_path: Path) -> None:
    vectors = np.array([[3, 4], [0, 2], [1, 0]], dtype=np.float64)
    dense.build_from_vectors(str(tmp_path / "i"), ["b", "c", "a"], vectors, None, dense.BuildOptions())
    queries = (["q1", "q0"], np.array([[1, 0], [0, 5]], dtype=np.float32))
    found = ask(str(tmp_path / "i"), ["", ""], query_vectors=queries)
    assert found["q0"] == pytest.approx({"c": 1, "b": 0.8, "a": 0}, abs=1e-6)
    assert list(found["q1"]) == ["a", "b", "c"]
    with pytest.raises(UsageError, match="made from saved vectors without a model"):
        ask(str(tmp_path / "i"), ["net"])
    with pytest.raises(DataError, match="no vector for 1 of 3 topics, the first is q2"):
        ask(str(tmp_path / "i"), ["", "", ""], query_vectors=queries)
    with pytest.raises(DataError, match=r"found query vectors of shape \(2, 1\) for 2 qids"):
        ask(str(tmp_path / "i"), [""], query_vectors=(queries[0], queries[1][:, :1]))


def test_saved_vectors_with_their_model_equal_encoding(tmp_path: Path, spec: ModelSpec) -> None:
    passages = collection(30)
    index = build(tmp_path / "i", passages, spec)
    again = str(tmp_path / "again")
    dense.build_from_vectors(
        again, open_index(index).docnos(), np.load(tmp_path / "i" / "vectors.npy"), spec, dense.BuildOptions()
    )
    first, second = ask(index, ["net cash"])["q0"], ask(again, ["net cash"])["q0"]
    assert second == pytest.approx(first, rel=1e-6)


def test_saved_vectors_that_are_wrong(tmp_path: Path) -> None:
    def save(vectors: list[list[float]], docnos: list[str]) -> None:
        dense.build_from_vectors(str(tmp_path / "i"), docnos, np.array(vectors), None, dense.BuildOptions())

    with pytest.raises(DataError, match=r"vectors of shape \(1, 2\) for 2 docnos"):
        save([[1, 2]], ["a", "b"])
    with pytest.raises(DataError, match="the vector of a holds NaN, infinity"):
        save([[1, float("nan")]], ["a"])
    assert not (tmp_path / "i").exists()
