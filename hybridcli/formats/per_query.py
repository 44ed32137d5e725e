"""Per-query values as ``trec_eval -q`` prints them: ``measure<TAB>qid<TAB>value``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of, open_output, read_lines
from hybridcli.records import Floats

# trec_eval's lines with means and counts carry this in place of a qid
SUMMARY = "all"


def read_per_query(path: str) -> dict[str, dict[str, float]]:
    """Read ``{measure: {qid: value}}``; blanks after a measure's name, and summary lines, are dropped.

    Raises DataError for a line with another number of columns, a value that is not a finite number, and a
    (measure, qid) that stands twice.
    """
    values: dict[str, dict[str, float]] = {}
    for number, line in read_lines(path):
        columns = line.split()
        if not columns or line.startswith("#"):
            continue
        if len(columns) != 3:
            raise DataError(
                f"expected measure, qid and value, found {len(columns)} columns",
                path=name_of(path),
                line=number,
            )
        measure, qid, text = columns
        if qid == SUMMARY or text.startswith("'"):  # relstring has text for a value
            continue
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise DataError(f"value {text!r} is not a finite number", path=name_of(path), line=number)
        of_measure = values.setdefault(measure, {})
        if qid in of_measure:
            raise DataError(f"{measure} of query {qid} stands twice", path=name_of(path), line=number)
        of_measure[qid] = value
    if not values:
        raise DataError("no per-query values in this file", path=name_of(path))
    return values


def per_query_line(measure: str, qid: str, value: float) -> str:
    """One line without its end: four decimals, or as many as the value needs to read back exactly."""
    short = f"{value:.4f}"
    return f"{measure}\t{qid}\t{short if float(short) == value else repr(value)}"


def write_per_query(path: str, queries: Sequence[str], values: Mapping[str, Floats]) -> None:
    """Write the values of Q queries, float64[Q] for each measure; each reads back exactly."""
    with open_output(path) as stream:
        for measure, column in values.items():
            for qid, value in zip(queries, column.tolist(), strict=True):
                stream.write((per_query_line(measure, qid, value) + "\n").encode())
