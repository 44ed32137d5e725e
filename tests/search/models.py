"""A static model small enough for tests: a folder as Sentence Transformers saves a StaticEmbedding."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

WORDS = ("net", "income", "cash", "flow", "risk", "board", "share", "[UNK]")


def make_static_model(folder: Path, dim: int = 8, seed: int = 0) -> str:
    """Write a model over ``WORDS``; the vector of a word is a row of seeded normal numbers."""
    folder.mkdir()
    tokenizer = Tokenizer(models.WordLevel({word: row for row, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file({"embedding.weight": table(dim, seed)}, folder / "model.safetensors")
    kind = "sentence_transformers.models.StaticEmbedding"
    (folder / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": kind}]))
    return str(folder)


def table(dim: int = 8, seed: int = 0) -> np.ndarray:
    """The word vectors: float32[len(WORDS), dim]."""
    return np.random.default_rng(seed).normal(size=(len(WORDS), dim)).astype(np.float32)
