"""``hybridcli retrieve``."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated

import numpy as np
import typer

from hybridcli.commands.common.runs import require_tag
from hybridcli.console import first_of, warn
from hybridcli.errors import UsageError
from hybridcli.formats.files import note_input
from hybridcli.formats.runs import write_run
from hybridcli.formats.tables import read_ids
from hybridcli.formats.topics import read_topics
from hybridcli.formats.vectors import read_vectors
from hybridcli.options import Devices, MilvusUri, ModelName, Output
from hybridcli.records import Run, Topics
from hybridcli.search.engines import open_engine
from hybridcli.search.settings import SearchOptions


def retrieve(
    index: Annotated[str, typer.Argument(metavar="INDEX", help="Folder written by index-sparse or -dense.")],
    topics: Annotated[
        str, typer.Argument(metavar="TOPICS", help="TSV qid<TAB>text, JSONL, TREC or irds:ID.")
    ],
    output: Output = "-",
    depth: Annotated[
        int, typer.Option("--depth", "-k", min=1, help="Documents retrieved for each query.")
    ] = 100,
    tag: Annotated[
        str | None, typer.Option("--tag", help="Last column of the run (the engine's name).")
    ] = None,
    model: ModelName = None,
    device: Devices = None,
    batch_size: Annotated[
        int | None, typer.Option("--batch-size", min=1, help="Topics encoded together (32).")
    ] = None,
    ann_params: Annotated[
        str | None,
        typer.Option("--ann-params", metavar="NAME=N,…", help="Search parameters, as ef_search=64."),
    ] = None,
    measure_recall: Annotated[
        int, typer.Option("--measure-recall", metavar="N", min=0, help="Compare N topics with exact search.")
    ] = 0,
    k1: Annotated[float | None, typer.Option("--k1", min=0, help="BM25, when Lucene searches.")] = None,
    b: Annotated[float | None, typer.Option("--b", min=0, max=1, help="BM25, when Lucene searches.")] = None,
    rm3: Annotated[
        str | None,
        typer.Option(
            "--rm3", metavar="TERMS,DOCS,WEIGHT", help="Lucene: expand topics by RM3, as 10,10,0.5."
        ),
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", help="Analyzer of a Lucene index built by Anserini itself.")
    ] = None,
    uri: MilvusUri = None,
    embeddings: Annotated[
        str | None, typer.Option("--embeddings", metavar="NPY", help="Topics' vectors, made elsewhere.")
    ] = None,
    ids: Annotated[
        str | None, typer.Option("--ids", metavar="FILE", help="Their qids, one a line (those of TOPICS).")
    ] = None,
) -> None:
    """Search an index with every topic and write a TREC run.

    Order: score as a 32-bit float descending, then docno descending in bytes, also where the list is cut.
    BM25 retrieves no document without any of the query's terms, so a list can be shorter than --depth.

    Example: hybridcli retrieve bm25.index topics.tsv -o bm25.run --depth 1000
    """
    if tag is not None:
        require_tag(tag)
    if ids is not None and embeddings is None:
        raise UsageError("--ids belongs to --embeddings")
    queries = read_topics(topics)
    given = None
    if embeddings is not None:
        given = (queries.qids if ids is None else read_ids(ids), read_vectors(embeddings))
    devices = () if device is None else tuple(device.split(","))
    note_input(index)
    feedback = None if rm3 is None else _rm3(rm3)
    options = SearchOptions(
        devices, batch_size, model, ann_params, measure_recall, given, k1, b, language, feedback, uri
    )
    engine = open_engine(index, options)
    run = engine.search(queries, depth)
    _report_empty(queries, run)
    write_run(run if tag is None else replace(run, tag=tag), output)


def _report_empty(queries: Topics, run: Run) -> None:
    """Say which topics are not in the run: nothing was found for them."""
    found = {qid for qid, count in zip(run.queries, np.diff(run.offsets), strict=True) if count}
    empty = [qid for qid in queries.qids if qid not in found]
    if not queries.qids:
        warn("there are no topics: the run is empty")
    elif empty:
        warn(f"no document was found for {len(empty):,} of {len(queries.qids):,} topics: {first_of(empty)}")


def _rm3(text: str) -> tuple[int, int, float]:
    match = re.fullmatch(r"([0-9]+),([0-9]+),(0(?:\.[0-9]*)?|1(?:\.0*)?)", text)
    if match is None:
        raise UsageError(
            f"--rm3 {text!r}: expected TERMS,DOCS,WEIGHT with a weight from 0 to 1, as 10,10,0.5"
        )
    return int(match[1]), int(match[2]), float(match[3])
