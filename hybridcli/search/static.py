"""Static models: a text's vector is the mean of its tokens' vectors. numpy and a tokenizer are enough, no torch.

Read are the vectors carried by the package ``wordllama``, folders of Sentence Transformers' StaticEmbedding, and
Model2Vec folders (https://github.com/MinishLab/model2vec). A hub id of such a model is loaded by ``transformer``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hybridcli.errors import DataError, MissingComponentError, UsageError
from hybridcli.records import Ints, offsets_of
from hybridcli.search.models import (
    CARRIED,
    INSTALL_DENSE,
    ModelSpec,
    Vectors,
    carried_folder,
    prefixes_of,
)
from hybridcli.tokenizer import read_tokenizer

# tensor names of StaticEmbedding and of Model2Vec
TABLES = ("embedding.weight", "embeddings")


def is_static(model: str) -> bool:
    """Whether ``model`` is a static model that can be read here."""
    return model == "wordllama" or (model not in CARRIED and _folder_of(Path(model)) is not None)


def _folder_of(folder: Path) -> Path | None:
    """The folder with the table and the tokenizer, or None when this is no static model."""
    if not folder.is_dir():
        return None
    modules = _json(folder / "modules.json")
    if isinstance(modules, list) and modules:
        kind = str(modules[0].get("type", ""))
        return folder / str(modules[0].get("path", "")) if kind.endswith("StaticEmbedding") else None
    config = _json(folder / "config.json")
    return folder if isinstance(config, dict) and config.get("model_type") == "model2vec" else None


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None


class StaticEncoder:
    """Means of token vectors; ``max_length`` counts tokens, and there is no limit unless the spec sets one."""

    batch = 512
    lanes = 1

    def __init__(self, spec: ModelSpec) -> None:
        if spec.dtype != "float32" or spec.backend != "torch":
            raise UsageError(f"{spec.model} is a static model: --dtype and --backend do not apply")
        table, file = self._files(spec.model)
        try:
            from safetensors import SafetensorError
            from safetensors.numpy import load_file

            self._tokenizer = read_tokenizer(file)
        except ImportError:
            raise MissingComponentError(
                "static models need safetensors and tokenizers", INSTALL_DENSE
            ) from None
        try:
            tensors = load_file(table)
        except (OSError, SafetensorError) as error:
            raise DataError(f"cannot be read: {error}", path=str(table)) from None
        name = next((name for name in TABLES if name in tensors), None)
        if name is None:
            raise DataError(f"has no tensor {' or '.join(TABLES)}; is this a static model?", path=str(table))
        self._table = tensors[name].astype(np.float32)
        self._rows = tensors.get("mapping")  # Model2Vec: token → row, when several tokens share a vector
        self._weights = tensors.get("weights")  # Model2Vec: token → factor
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.name = Path(spec.model).name
        self.dim = int(self._table.shape[1])
        self.max_length = spec.max_length
        query, passage = prefixes_of(spec.model)
        self.query_prefix = query if spec.query_prefix is None else spec.query_prefix
        self.passage_prefix = passage if spec.passage_prefix is None else spec.passage_prefix

    @staticmethod
    def _files(model: str) -> tuple[Path, Path]:
        if model == "wordllama":
            folder = carried_folder(model)
            return (
                folder / "weights" / "l2_supercat_256.safetensors",
                folder / "tokenizers" / "l2_supercat_tokenizer_config.json",
            )
        found = _folder_of(Path(model))
        assert found is not None, "is_static has looked"
        return found / "model.safetensors", found / "tokenizer.json"

    def _tokens(self, texts: list[str], prefix: str) -> list[list[int]]:
        encodings = self._tokenizer.encode_batch([prefix + text for text in texts], add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def encode(self, batches: Sequence[list[str]], prefix: str) -> list[Vectors]:
        """Give float32[n, dim] for each batch; a text without tokens is a row of zeros."""
        return [self._encode(batch, prefix) for batch in batches]

    def _encode(self, texts: list[str], prefix: str) -> Vectors:
        tokens = [np.array(ids[: self.max_length], dtype=np.int64) for ids in self._tokens(texts, prefix)]
        lengths = np.array([len(ids) for ids in tokens], dtype=np.int64)
        means = np.zeros((len(texts), self.dim), dtype=np.float32)
        filled = lengths > 0
        if not filled.any():
            return means
        ids = np.concatenate(tokens)
        vectors = self._table[ids if self._rows is None else self._rows[ids]]
        if self._weights is not None:
            vectors = vectors * self._weights[ids, None].astype(np.float32)
        starts = offsets_of(lengths[filled])[:-1]
        means[filled] = np.add.reduceat(vectors, starts, axis=0) / lengths[filled, None]
        return means

    def count_tokens(self, texts: list[str], prefix: str) -> Ints:
        """Count tokens: int64[N]."""
        return np.array([len(ids) for ids in self._tokens(texts, prefix)], dtype=np.int64)
