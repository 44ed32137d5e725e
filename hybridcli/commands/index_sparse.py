"""``hybridcli index-sparse``."""

from __future__ import annotations

from typing import Annotated

import typer

from hybridcli.console import note
from hybridcli.formats.documents import read_passages
from hybridcli.formats.files import note_output
from hybridcli.search import sparse
from hybridcli.search.analysis import ALPHANUMERIC, Analyzer, stopwords_of
from hybridcli.search.index import finish_index, new_index


def index_sparse(
    windows: Annotated[str, typer.Argument(metavar="WINDOWS", help="Windows or documents; '-' is stdin.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="INDEX", help="Folder to write.")],
    k1: Annotated[float, typer.Option("--k1", help="How slowly repeated terms saturate; 0 or more.")] = 1.5,
    b: Annotated[float, typer.Option("--b", help="How much long passages are discounted; 0 to 1.")] = 0.75,
    pattern: Annotated[
        str, typer.Option("--pattern", metavar="REGEX", help="A term is a match of this (alphanumeric runs).")
    ] = ALPHANUMERIC,
    keep_case: Annotated[bool, typer.Option("--keep-case", help="Do not lower-case.")] = False,
    stopwords: Annotated[
        str | None, typer.Option("--stopwords", metavar="LANGUAGE", help="Drop a language's stop words.")
    ] = None,
    stemmer: Annotated[
        str | None, typer.Option("--stemmer", metavar="LANGUAGE", help="Stem with Snowball (PyStemmer).")
    ] = None,
) -> None:
    """Build a BM25 index (bm25s, Lucene variant) of windows or documents.

    Scores are ln(1 + (N - df + 0.5) / (df + 0.5)) · tf / (tf + k1 (1 - b + b · length / mean length)), without
    a factor (k1 + 1). All settings are stored in the index; queries are cut into terms in the same way.

    Example: hybridcli index-sparse windows.jsonl -o bm25.index --k1 0.9 --b 0.4
    """
    words = () if stopwords is None else stopwords_of(stopwords)
    analyzer = Analyzer(pattern, not keep_case, words, stemmer)
    with new_index(output) as folder:
        documents, options = sparse.build(folder, read_passages(windows), analyzer, k1=k1, b=b)
        finish_index(folder, output, engine=sparse.ENGINE, documents=documents, options=options)
    note_output(output)
    note(f"indexed {documents:,} passages, {options['terms']:,} terms: {output}")
