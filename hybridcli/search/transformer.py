"""Encoders of the sentence-transformers library, on CPU or on one or several GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hybridcli.console import note
from hybridcli.errors import DataError, MissingComponentError, UsageError
from hybridcli.records import Ints
from hybridcli.search.hub import find_model, first_line, no_model
from hybridcli.search.models import (
    CARRIED,
    INSTALL_DENSE,
    ModelSpec,
    Vectors,
    carried_folder,
    prefixes_of,
)

DTYPES = ("float32", "bfloat16", "float16")
BACKENDS = ("torch", "onnx")


class TransformerEncoder:
    """A model of sentence-transformers; see ``models.Encoder``."""

    batch = 32

    def __init__(self, spec: ModelSpec, devices: Sequence[str]) -> None:
        if spec.dtype not in DTYPES:
            raise UsageError(f"--dtype {spec.dtype} is not one of {', '.join(DTYPES)}")
        if spec.backend not in BACKENDS:
            raise UsageError(f"--backend {spec.backend} is not one of {', '.join(BACKENDS)}")
        if spec.backend != "torch" and (spec.dtype != "float32" or len(devices) > 1):
            raise UsageError("--dtype and several devices need --backend torch")
        self._model = self._load(spec, devices)
        self.name = Path(spec.model).name
        self.dim = int(self._model.get_embedding_dimension())
        self._set_length(spec)
        self._set_prefixes(spec)
        self._pool = self._model.start_multi_process_pool(list(devices)) if len(devices) > 1 else None
        self.lanes = 4 * len(devices) if self._pool else 1

    @staticmethod
    def _load(spec: ModelSpec, devices: Sequence[str]) -> Any:
        place = str(carried_folder(spec.model)) if spec.model in CARRIED else spec.model
        local = find_model(place, spec.model)
        note(f"loading the model {spec.model} (takes some seconds) …")
        try:
            from sentence_transformers import SentenceTransformer
            from transformers.utils.logging import disable_progress_bar
        except ImportError as error:
            raise MissingComponentError(
                f"dense retrieval needs sentence-transformers ({error})", INSTALL_DENSE
            ) from None
        disable_progress_bar()
        try:
            model = SentenceTransformer(
                place,
                device=devices[0] if len(devices) == 1 else None,
                trust_remote_code=False,
                local_files_only=local,
                backend=spec.backend,
            )
            if spec.dtype != "float32":
                import torch

                model.to(getattr(torch, spec.dtype))
        except ImportError as error:  # the onnx backend's own requirement
            line = "pip install 'sentence-transformers[onnx]'"
            raise MissingComponentError(f"--backend {spec.backend}: {first_line(error)}", line) from None
        except (OSError, ValueError, RuntimeError) as error:
            if Path(place).is_dir():
                raise DataError(
                    f"cannot be loaded as a sentence-transformers model: {first_line(error)}", path=place
                ) from None
            raise no_model(spec.model, first_line(error)) from None
        return model

    def _set_length(self, spec: ModelSpec) -> None:
        limit = self._model.max_seq_length
        if spec.max_length is not None:
            config = getattr(getattr(self._model[0], "auto_model", None), "config", None)
            most = getattr(config, "max_position_embeddings", None)
            if spec.max_length < 1 or (most is not None and spec.max_length > most):
                raise UsageError(f"--max-length {spec.max_length}: {spec.model} reads 1 to {most} tokens")
            self._model.max_seq_length = limit = spec.max_length
        self.max_length = None if limit is None or limit > 10**9 else int(limit)

    def _set_prefixes(self, spec: ModelSpec) -> None:
        own = {name: text for name, text in self._model.prompts.items() if text}
        query, passage = prefixes_of(spec.model)
        query = own.get("query", query)
        passage = own.get("document", own.get("passage", passage))
        self.query_prefix = query if spec.query_prefix is None else spec.query_prefix
        self.passage_prefix = passage if spec.passage_prefix is None else spec.passage_prefix

    def encode(self, batches: Sequence[list[str]], prefix: str) -> list[Vectors]:
        """Give float32[n, dim] for each batch; with several devices each batch goes to one of them."""
        if self._pool is None:
            return [self._encode(batch, prefix, len(batch)) for batch in batches]
        size = max(map(len, batches))
        texts = [text for batch in batches for text in batch]
        rows = self._encode(texts, prefix, size, pool=self._pool, chunk_size=size)
        return np.split(rows, np.cumsum([len(batch) for batch in batches])[:-1])

    def _encode(self, texts: list[str], prefix: str, batch: int, **more: Any) -> Vectors:
        vectors = self._model.encode(
            texts, prompt=prefix, batch_size=batch, convert_to_numpy=True, show_progress_bar=False, **more
        )
        return np.asarray(vectors, dtype=np.float32)

    def count_tokens(self, texts: list[str], prefix: str) -> Ints:
        """Count tokens of the whole texts, special ones included: int64[N]."""
        tokenizer = self._model.tokenizer
        whole = [prefix + text for text in texts]
        if not hasattr(tokenizer, "convert_ids_to_tokens"):  # a bare tokenizer of a static model
            return np.array([len(e.ids) for e in tokenizer.encode_batch(whole, add_special_tokens=False)])
        tokens = tokenizer(
            whole,
            truncation=False,
            padding=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )["input_ids"]
        return np.array([len(ids) for ids in tokens], dtype=np.int64)
