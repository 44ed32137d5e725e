"""Fusion weights by query: TSV ``qid<TAB>w1<TAB>w2…``, whose first line is ``#qid`` and the runs' tags."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of, open_output, read_lines
from hybridcli.records import Floats


@dataclass(frozen=True, slots=True)
class QueryWeights:
    """Weights of each query, in the order of ``tags`` (the runs' tags, one a column)."""

    tags: list[str]
    weights: dict[str, tuple[float, ...]]


def read_weights(path: str) -> QueryWeights:
    """Read weights by query.

    Raises DataError for a missing head line, a wrong number of columns, a weight that is no number of at least 0,
    weights that are all 0, and a query that stands twice.
    """
    tags: list[str] | None = None
    weights: dict[str, tuple[float, ...]] = {}
    for number, line in read_lines(path):
        columns = line.rstrip().split("\t")
        if tags is None:
            if columns[0] != "#qid" or len(columns) < 2:
                raise DataError(
                    f"expected a head line #qid<TAB>tag<TAB>tag…, found {line[:60]!r}",
                    path=name_of(path),
                    line=number,
                )
            tags = columns[1:]
            continue
        if columns == [""]:
            continue
        qid = columns[0]
        if len(columns) != len(tags) + 1:
            raise DataError(
                f"expected {len(tags) + 1} columns separated by tabs, found {len(columns)}",
                path=name_of(path),
                line=number,
            )
        if qid in weights:
            raise DataError(f"query {qid} stands twice", path=name_of(path), line=number)
        weights[qid] = tuple(_weight(text, path, number) for text in columns[1:])
        if not any(weights[qid]):
            raise DataError(f"the weights of query {qid} are all 0", path=name_of(path), line=number)
    if tags is None:
        raise DataError("is empty; expected a head line #qid<TAB>tag<TAB>tag…", path=name_of(path))
    return QueryWeights(tags, weights)


def write_weights(path: str, tags: Sequence[str], weights: Mapping[str, Sequence[float] | Floats]) -> None:
    """Write weights by query; each prints so that it reads back exactly."""
    with open_output(path) as stream:
        stream.write("\t".join(["#qid", *tags]).encode() + b"\n")
        for qid, row in weights.items():
            stream.write("\t".join([qid, *(repr(float(w)) for w in np.asarray(row))]).encode() + b"\n")


def _weight(text: str, path: str, line: int) -> float:
    try:
        weight = float(text)
    except ValueError:
        raise DataError(f"weight {text!r} is not a number", path=name_of(path), line=line) from None
    if not (weight >= 0 and math.isfinite(weight)):
        raise DataError(
            f"a weight must be a number of at least 0, found {text}", path=name_of(path), line=line
        )
    return weight
