"""The carried MiniLM model on sentence-transformers: the real thing, in the slow lane."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hybridcli.errors import DataError, UsageError
from hybridcli.search import dense
from hybridcli.search.encoding import encode_texts, loss_of
from hybridcli.search.models import Encoder, ModelSpec, load_encoder, unit_rows

pytestmark = pytest.mark.slow
TEXTS = ["Net income per share rose.", "snow " * 300, "", "The board met."]


@pytest.fixture(scope="module")
def minilm() -> Encoder:
    return load_encoder(ModelSpec("minilm"), ("cpu",))


def test_the_model_as_it_is(minilm: Encoder) -> None:
    assert (minilm.dim, minilm.max_length, minilm.query_prefix, minilm.passage_prefix) == (384, 256, "", "")
    rows = encode_texts(minilm, ["earnings of a company", "net income", "a cat in the snow"], "", 32, None)
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


def test_vectors_are_those_of_the_library(minilm: Encoder) -> None:
    from sentence_transformers import SentenceTransformer

    from hybridcli.search.models import carried_folder

    plain = SentenceTransformer(str(carried_folder("minilm")), device="cpu")
    expected = plain.encode(["query: " + text for text in TEXTS], normalize_embeddings=True)
    found = encode_texts(minilm, TEXTS, "query: ", 32, None)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_lost_tokens(minilm: Encoder) -> None:
    loss = loss_of(minilm, TEXTS, "")
    # 300 words of one token and two special tokens do not fit 256; 254 of the words do
    assert (loss.over, loss.over_tokens, loss.lost) == (1, 300, 46)
    assert minilm.count_tokens(["", "snow snow"], "").tolist() == [2, 4]
    assert loss_of(minilm, ["snow " * 300], "snow snow ").lost == 48


def test_max_length_and_dim() -> None:
    encoder = load_encoder(ModelSpec("minilm", max_length=16, dim=64), ("cpu",))
    assert encoder.max_length == 16
    rows = encode_texts(encoder, ["snow " * 14, "snow " * 300], "", 32, 64)
    assert rows.shape == (2, 64)
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-5)
    with pytest.raises(UsageError, match="--max-length 513: minilm reads 1 to 512 tokens"):
        load_encoder(ModelSpec("minilm", max_length=513), ("cpu",))


@pytest.mark.filterwarnings("ignore")  # those of the export
def test_onnx_gives_the_same_vectors(minilm: Encoder) -> None:
    pytest.importorskip(
        "optimum.onnxruntime", reason="optimum-onnx needs an environment of its own; see README"
    )
    exported = load_encoder(ModelSpec("minilm", backend="onnx"), ("cpu",))
    found = encode_texts(exported, TEXTS, "", 32, None)
    np.testing.assert_allclose(found, encode_texts(minilm, TEXTS, "", 32, None), atol=1e-5)


def test_bfloat16_is_near(minilm: Encoder) -> None:
    rough = load_encoder(ModelSpec("minilm", dtype="bfloat16"), ("cpu",))
    exact = encode_texts(minilm, TEXTS, "", 32, None)
    found = encode_texts(rough, TEXTS, "", 32, None)
    assert (np.einsum("nd,nd->n", exact, found) > 0.999).all()
    assert not np.array_equal(exact, found)


def test_several_devices_give_the_same_vectors(minilm: Encoder) -> None:
    two = load_encoder(ModelSpec("minilm"), ("cpu", "cpu"))
    batches = [["net income", "cash"], ["board of directors", "risk"], ["share"]]
    for one, other in zip(minilm.encode(batches, ""), two.encode(batches, ""), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_shards_equal_the_whole_to_the_byte(tmp_path: Path) -> None:
    passages = [(f"d{n}", f"Net income {n} rose " * (1 + n % 5)) for n in range(20)]
    spec = ModelSpec("minilm")
    dense.build(str(tmp_path / "whole"), lambda: passages, spec, dense.BuildOptions(batch=4))
    for i in (1, 2):
        how = dense.BuildOptions(batch=4, shard=(i, 2))
        dense.build(str(tmp_path / "parts"), lambda: passages, spec, how)
    whole = dict(_rows(tmp_path / "whole"))
    parts = dict(row for i in (1, 2) for row in _rows(tmp_path / "parts" / f"shard-{i}-of-2"))
    assert parts == whole


def _rows(index: Path) -> list[tuple[str, bytes]]:
    docnos = (index / "docnos.txt").read_text().split()
    return [(docno, row.tobytes()) for docno, row in zip(docnos, np.load(index / "vectors.npy"), strict=True)]


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="cannot be loaded as a sentence-transformers model"):
        load_encoder(ModelSpec(str(tmp_path / "empty")))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (ModelSpec(dtype="int3"), "--dtype int3 is not one of float32, bfloat16, float16"),
        (ModelSpec(backend="tensorflow"), "--backend tensorflow is not one of torch, onnx"),
        (ModelSpec(backend="onnx", dtype="bfloat16"), "need --backend torch"),
        (ModelSpec(dim=385), "--dim 385: minilm gives 384 dimensions"),
    ],
)
def test_settings_that_do_not_fit(spec: ModelSpec, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_encoder(spec)


def test_static_models_through_the_library_equal_ours(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    from tests.search.models import make_static_model

    path = make_static_model(tmp_path / "m")
    texts = ["net cash", "risk", "board share flow"]
    ours = unit_rows(load_encoder(ModelSpec(path)).encode([texts], "")[0], None)
    theirs = SentenceTransformer(path, device="cpu").encode(texts, normalize_embeddings=True)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
