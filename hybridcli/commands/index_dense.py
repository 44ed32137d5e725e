"""``hybridcli index-dense``."""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated

import typer

from hybridcli.console import note
from hybridcli.errors import UsageError
from hybridcli.formats.documents import read_passages
from hybridcli.formats.files import STDIN, note_output
from hybridcli.formats.tables import read_ids
from hybridcli.formats.vectors import read_vectors
from hybridcli.options import Devices, MilvusCollection, MilvusUri, ModelName
from hybridcli.search import ann, dense
from hybridcli.search.milvus_server import place_of
from hybridcli.search.models import ModelSpec


def index_dense(
    windows: Annotated[
        str | None, typer.Argument(metavar="WINDOWS", help="Windows or documents; '-' is stdin.")
    ] = None,
    *,
    output: Annotated[str, typer.Option("-o", "--output", metavar="INDEX", help="Folder to write.")],
    model: ModelName = None,
    max_length: Annotated[
        int | None,
        typer.Option("--max-length", min=1, help="Tokens the encoder reads (the model's own limit)."),
    ] = None,
    dim: Annotated[
        int | None, typer.Option("--dim", min=1, help="Keep the first dimensions (Matryoshka models).")
    ] = None,
    dtype: Annotated[
        str, typer.Option("--dtype", help="Number type of the computation: float32, bfloat16, float16.")
    ] = "float32",
    backend: Annotated[str, typer.Option("--backend", help="torch or onnx.")] = "torch",
    device: Devices = None,
    batch_size: Annotated[
        int | None, typer.Option("--batch-size", min=1, help="Passages encoded together (32).")
    ] = None,
    query_prefix: Annotated[
        str | None, typer.Option("--query-prefix", help="Put before every topic (the model family's).")
    ] = None,
    passage_prefix: Annotated[
        str | None, typer.Option("--passage-prefix", help="Put before every passage (the model family's).")
    ] = None,
    ann_kind: Annotated[
        str, typer.Option("--ann", help=f"faiss index: {', '.join(ann.KINDS)}; flat is exact.")
    ] = "flat",
    ann_params: Annotated[
        str | None, typer.Option("--ann-params", metavar="NAME=N,…", help="For example m=32,ef_search=400.")
    ] = None,
    engine: Annotated[str, typer.Option("--engine", help="faiss, or milvus for a server.")] = "faiss",
    uri: MilvusUri = None,
    collection: MilvusCollection = None,
    shard: Annotated[
        str | None,
        typer.Option("--shard", metavar="I/N", help="Encode one of N slices into INDEX/shard-I-of-N."),
    ] = None,
    embeddings: Annotated[
        str | None, typer.Option("--embeddings", metavar="NPY", help="Index these vectors, made elsewhere.")
    ] = None,
    ids: Annotated[
        str | None, typer.Option("--ids", metavar="FILE", help="Their docnos, one a line (those of WINDOWS).")
    ] = None,
) -> None:
    """Encode windows with a sentence-transformers model and index them with faiss.

    Vectors are scaled to length 1 and compared by inner product, exactly unless --ann says otherwise. How many
    passages exceed the encoder's input, and what share of their tokens it never sees, is always reported. A run
    that was interrupted goes on where it stood. INDEX/vectors.npy and docnos.txt serve other tools as they are.

    Example: hybridcli index-dense windows.jsonl -o dense.index --model intfloat/e5-small-v2 --max-length 512
    """
    if engine not in ("faiss", "milvus"):
        raise UsageError(f"--engine {engine} is not one of faiss, milvus")
    if engine == "milvus" and shard is not None:
        raise UsageError("--shard: a Milvus collection is shared among machines by itself")
    how = dense.BuildOptions(
        batch_size,
        () if device is None else tuple(device.split(",")),
        ann_kind,
        tuple(ann.parameters_of(ann_kind, ann_params).items()),
        (1, 1) if shard is None else _shard(shard),
        place_of(uri, collection) if engine == "milvus" else None,
    )
    spec = ModelSpec(model or "minilm", max_length, dim, dtype, backend, query_prefix, passage_prefix)
    if embeddings is not None:
        if how.shard != (1, 1) or (ids is None) == (windows is None):
            raise UsageError("--embeddings needs either WINDOWS or --ids for its docnos, and no --shard")
        docnos = read_ids(ids) if ids is not None else [docno for docno, _ in read_passages(str(windows))]
        vectors = read_vectors(embeddings)
        dense.build_from_vectors(output, docnos, vectors, None if model is None else spec, how)
        note(f"indexed {len(docnos):,} vectors of {vectors.shape[1]} dimensions: {output}")
    else:
        if windows is None or ids is not None:
            raise UsageError("give WINDOWS to encode, or --embeddings with --ids")
        kept = list(read_passages(STDIN)) if windows == STDIN else None
        source = partial(read_passages, windows) if kept is None else partial(iter, kept)
        loss, limit = dense.build(output, source, spec, how)
        note(f"indexed {loss.passages:,} passages: {output}")
        note(loss.report(limit))
    note_output(output)


def _shard(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"--shard {text!r}: expected I/N with I from 1 to N, for example 2/4")
    return int(match[1]), int(match[2])
