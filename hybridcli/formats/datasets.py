"""``irds:ID``: documents, topics and judgements of any data set that ir_datasets knows.

Data are looked for below ``IR_DATASETS_HOME`` (``~/.ir_datasets`` by default) and downloaded when they are not there.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from typing import Any

from hybridcli.errors import DataError, MissingComponentError

PREFIX = "irds:"


def is_dataset(path: str) -> bool:
    """Whether an input names a data set of ir_datasets."""
    return path.startswith(PREFIX)


def document_rows(path: str) -> Iterator[tuple[str, str]]:
    """Yield (docno, text) of ``irds:ID``; the text is what ir_datasets takes for it: title and body."""
    return ((row.doc_id, row.default_text()) for row in _rows(path, "docs"))


def topic_rows(path: str) -> Iterator[tuple[str, str]]:
    """Yield (qid, text) of ``irds:ID``."""
    return ((row.query_id, row.default_text()) for row in _rows(path, "queries"))


def qrels_rows(path: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield the four columns of a qrels file, (qid, subtopic or "0", docno, rel), of ``irds:ID``."""
    for row in _rows(path, "qrels"):
        yield row.query_id, getattr(row, "subtopic_id", "0"), row.doc_id, int(row.relevance)


def _rows(path: str, what: str) -> Iterator[Any]:
    """Yield the rows of one kind (``docs``, ``queries``, ``qrels``) of a data set."""
    try:
        import ir_datasets
    except ImportError:
        raise MissingComponentError(
            f"{path} needs the package ir_datasets", "pip install ir_datasets"
        ) from None
    try:
        dataset = ir_datasets.load(path.removeprefix(PREFIX))
    except KeyError:
        raise DataError(
            "ir_datasets knows no data set of this id; https://ir-datasets.com lists them all", path=path
        ) from None
    if not dataset.has(what):
        offered = [kind for kind in ("docs", "queries", "qrels") if dataset.has(kind)]
        raise DataError(
            f"this data set has no {what}, only {' and '.join(offered) or 'other things'}", path=path
        )
    try:
        yield from getattr(dataset, f"{what}_iter")()
    except ImportError as error:
        package = str(error.name or error)
        raise MissingComponentError(f"{path} needs the package {package}", f"pip install {package}") from None
    except (OSError, EOFError, RuntimeError, zlib.error) as error:
        home = os.environ.get("IR_DATASETS_HOME", "~/.ir_datasets")
        raise DataError(
            f"could not be fetched or read ({type(error).__name__}: {str(error)[:200]}); connect to the network, "
            f"or set IR_DATASETS_HOME (now {home}) to a writable folder that holds its files",
            path=path,
        ) from None
