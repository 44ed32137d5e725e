"""Numbers that describe queries: TSV ``qid<TAB>number…``, whose first line is ``#qid`` and the names."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of, read_lines, write_text
from hybridcli.records import Floats


def read_features(path: str, queries: Sequence[str]) -> tuple[list[str], Floats]:
    """Read the features of some queries: (F names, float64[len(queries), F]).

    Raises DataError for a missing head line, a wrong number of columns, a number that is none or not finite, a
    query that stands twice, and a query that is missing.
    """
    names: list[str] | None = None
    rows: dict[str, list[float]] = {}
    for number, line in read_lines(path):
        columns = line.split("\t")
        if names is None:
            if columns[0] != "#qid" or len(columns) < 2:
                raise DataError(
                    f"expected a head line #qid<TAB>name…, found {line[:60]!r}",
                    path=name_of(path),
                    line=number,
                )
            names = columns[1:]
            continue
        if not line.strip():
            continue
        if len(columns) != len(names) + 1:
            raise DataError(
                f"expected {len(names) + 1} columns separated by tabs, found {len(columns)}",
                path=name_of(path),
                line=number,
            )
        if columns[0] in rows:
            raise DataError(f"query {columns[0]} stands twice", path=name_of(path), line=number)
        rows[columns[0]] = [_number(text, path, number) for text in columns[1:]]
    missing = [qid for qid in queries if qid not in rows]
    if names is None or missing:
        raise DataError(
            f"has no features for {len(missing)} of {len(queries)} queries, the first is {missing[0]}"
            if missing
            else "is empty; expected a head line #qid<TAB>name…",
            path=name_of(path),
        )
    return names, np.array([rows[qid] for qid in queries], dtype=np.float64).reshape(len(queries), -1)


def write_features(path: str, names: Sequence[str], queries: Sequence[str], rows: Floats) -> None:
    """Write the features of Q queries, float64[Q, F]; each number reads back exactly."""
    lines = ["\t".join(["#qid", *names])]
    lines += ["\t".join([qid, *map(repr, row)]) for qid, row in zip(queries, rows.tolist(), strict=True)]
    write_text(path, "\n".join(lines) + "\n")


def _number(text: str, path: str, line: int) -> float:
    try:
        number = float(text)
    except ValueError:
        raise DataError(f"{text!r} is not a number", path=name_of(path), line=line) from None
    if not math.isfinite(number):
        raise DataError(f"{text} is not a finite number", path=name_of(path), line=line)
    return number
