"""``hybridcli index-sparse``."""

from __future__ import annotations

from typing import Annotated

import typer

from hybridcli.console import note
from hybridcli.formats.documents import read_passages
from hybridcli.formats.files import note_output
from hybridcli.options import MilvusCollection, MilvusUri
from hybridcli.search.engines import SPARSE_ENGINES, build_sparse
from hybridcli.search.settings import SparseSettings


def index_sparse(
    windows: Annotated[str, typer.Argument(metavar="WINDOWS", help="Windows or documents; '-' is stdin.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="INDEX", help="Folder to write.")],
    engine: Annotated[str, typer.Option("--engine", help=f"One of {', '.join(SPARSE_ENGINES)}.")] = "bm25s",
    k1: Annotated[
        float | None, typer.Option("--k1", help="How slowly repeated terms saturate (1.5; Lucene 0.9).")
    ] = None,
    b: Annotated[
        float | None, typer.Option("--b", help="How much long passages are discounted (0.75; Lucene 0.4).")
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option("--pattern", metavar="REGEX", help="A term is a match of this (alphanumeric runs)."),
    ] = None,
    keep_case: Annotated[bool, typer.Option("--keep-case", help="Do not lower-case.")] = False,
    stopwords: Annotated[
        str | None, typer.Option("--stopwords", metavar="LANGUAGE", help="Drop a language's stop words.")
    ] = None,
    stemmer: Annotated[
        str | None, typer.Option("--stemmer", help="Snowball language; Lucene's en: porter, krovetz, none.")
    ] = None,
    language: Annotated[
        str | None,
        typer.Option("--language", help="Lucene's or Milvus' analyzer; Lucene: 'terms' cuts as bm25s."),
    ] = None,
    keep_stopwords: Annotated[bool, typer.Option("--keep-stopwords", help="Lucene's en.")] = False,
    threads: Annotated[int | None, typer.Option("--threads", min=1, help="Lucene (all cores).")] = None,
    uri: MilvusUri = None,
    collection: MilvusCollection = None,
) -> None:
    """Build a BM25 index of windows or documents, with bm25s (Lucene's variant), Lucene or Milvus.

    Scores are ln(1 + (N - df + 0.5) / (df + 0.5)) · tf / (tf + k1 (1 - b + b · length / mean length)), without
    a factor (k1 + 1). All settings are stored in the index; queries are cut into terms in the same way.

    Example: hybridcli index-sparse windows.jsonl -o bm25.index --k1 0.9 --b 0.4
    """
    settings = SparseSettings(
        k1, b, pattern, keep_case, stopwords, stemmer, language, keep_stopwords, threads, uri, collection
    )
    documents = build_sparse(engine, output, read_passages(windows), settings)
    note_output(output)
    note(f"indexed {documents:,} passages with {engine}: {output}")
