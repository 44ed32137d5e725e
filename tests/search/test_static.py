"""Static models: the mean of word vectors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from hybridcli.errors import DataError, UsageError
from hybridcli.search.models import ModelSpec, load_encoder, unit_rows
from tests.search.models import make_static_model, table


def test_means_of_word_vectors(tmp_path: Path) -> None:
    encoder = load_encoder(ModelSpec(make_static_model(tmp_path / "m")))
    assert (encoder.dim, encoder.max_length, encoder.name) == (8, None, "m")
    first, second = encoder.encode([["net cash", ""], ["Risk risk"]], "")
    words = table()
    np.testing.assert_allclose(first[0], (words[0] + words[2]) / 2, rtol=1e-6)
    assert not first[1].any()
    np.testing.assert_allclose(second[0], words[4], rtol=1e-6)


def test_a_prefix_and_a_limit(tmp_path: Path) -> None:
    path = make_static_model(tmp_path / "m")
    encoder = load_encoder(ModelSpec(path, max_length=2, query_prefix="share "))
    assert (encoder.query_prefix, encoder.passage_prefix) == ("share ", "")
    found = encoder.encode([["net cash"]], encoder.query_prefix)[0][0]
    np.testing.assert_allclose(found, (table()[6] + table()[0]) / 2, rtol=1e-6)
    assert encoder.count_tokens(["net cash", ""], "share ").tolist() == [3, 1]


def test_the_same_bytes_in_any_batch(tmp_path: Path) -> None:
    encoder = load_encoder(ModelSpec(make_static_model(tmp_path / "m")))
    alone = encoder.encode([["net income"], ["cash"]], "")
    together = encoder.encode([["cash", "net income"]], "")[0]
    assert np.concatenate(alone).tobytes() == together[::-1].tobytes()


def test_model2vec_folders(tmp_path: Path) -> None:
    folder = Path(make_static_model(tmp_path / "m"))
    (folder / "modules.json").unlink()
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec"}))
    words = load_file(folder / "model.safetensors")["embedding.weight"]
    # two vectors shared by eight tokens, each with a weight
    tensors = {
        "embeddings": words[:2],
        "mapping": np.array([0, 1, 0, 1, 0, 1, 0, 1]),
        "weights": np.arange(8, dtype=np.float64),
    }
    save_file(tensors, folder / "model.safetensors")
    found = load_encoder(ModelSpec(str(folder))).encode([["cash flow"]], "")[0][0]
    np.testing.assert_allclose(found, (2 * words[0] + 3 * words[1]) / 2, rtol=1e-6)


def test_the_carried_model() -> None:
    pytest.importorskip("wordllama")
    encoder = load_encoder(ModelSpec("wordllama"))
    assert encoder.dim == 256
    rows = unit_rows(
        encoder.encode([["the board of directors", "executive board", "snow in winter"]], "")[0], None
    )
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


def test_settings_that_do_not_apply(tmp_path: Path) -> None:
    path = make_static_model(tmp_path / "m")
    with pytest.raises(UsageError, match="static model: --dtype and --backend do not apply"):
        load_encoder(ModelSpec(path, dtype="bfloat16"))
    with pytest.raises(UsageError, match=r"--dim 9: .* gives 8 dimensions"):
        load_encoder(ModelSpec(path, dim=9))
    with pytest.raises(UsageError, match="--dim must be 1 or more"):
        load_encoder(ModelSpec(path, dim=0))


def test_broken_models(tmp_path: Path) -> None:
    folder = Path(make_static_model(tmp_path / "m"))
    save_file({"other": table()}, folder / "model.safetensors")
    with pytest.raises(DataError, match=r"has no tensor embedding\.weight or embeddings"):
        load_encoder(ModelSpec(str(folder)))
    (folder / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(DataError, match=r"model.safetensors: cannot be read"):
        load_encoder(ModelSpec(str(folder)))
    (folder / "tokenizer.json").unlink()
    save_file({"embedding.weight": table()}, folder / "model.safetensors")
    with pytest.raises(DataError, match=r"tokenizer.json: cannot be read: No such file"):
        load_encoder(ModelSpec(str(folder)))
    for content in ("{}", "nothing"):
        (folder / "tokenizer.json").write_text(content)
        with pytest.raises(DataError, match=r"tokenizer.json: is not a tokenizer.json of a fast tokenizer"):
            load_encoder(ModelSpec(str(folder)))
