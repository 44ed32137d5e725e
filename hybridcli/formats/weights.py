"""Fusion weights by query: TSV ``qid<TAB>w1<TAB>w2…``, whose first line is ``#qid`` and the runs' tags."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of, open_output, read_lines
from hybridcli.records import Floats


@dataclass(slots=True)
class QueryWeights:
    """Weights of each query, in the order of ``tags`` (the runs' tags, one a column).

    ``unknown``: queries that ``matrix`` was asked for and that have no weights.
    """

    tags: list[str]
    weights: dict[str, tuple[float, ...]]
    unknown: set[str] = field(default_factory=set)

    def names(self, tags: Sequence[str]) -> bool:
        """Whether the columns name just these runs, so that each finds its own column in any order."""
        return sorted(self.tags) == sorted(tags) and len(set(tags)) == len(tags)

    def matrix(self, queries: Sequence[str], tags: Sequence[str]) -> Floats:
        """Give the weights of queries for runs with these tags, float64[R, Q]; equal weights for unknown queries.

        Columns are found by tag where the tags are just those of the file, otherwise taken in order.
        """
        columns = [self.tags.index(tag) for tag in tags] if self.names(tags) else range(len(tags))
        equal = (1.0 / len(tags),) * len(tags)
        self.unknown.update(qid for qid in queries if qid not in self.weights)
        rows = np.array([self.weights.get(qid, equal) for qid in queries], dtype=np.float64)
        return rows.reshape(-1, len(tags)).T[list(columns)]


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
