"""Queries with their evidence texts: JSONL, or Parquet as FinDER is published."""

from __future__ import annotations

import io
from collections.abc import Iterator

from hybridcli.errors import DataError
from hybridcli.formats.files import decode, name_of, read_bytes
from hybridcli.formats.jsonl import Row, checked_id, id_field, rows_of, text_field, whole
from hybridcli.records import Judged

PARQUET_MAGIC = b"PAR1"
QID = ("qid", "_id", "id", "query_id")
TEXT = ("text", "query", "question")
REFERENCES = ("references", "reference", "evidence")
DOC = ("doc", "docno")
GROUP = ("group", "ticker")


def read_references(path: str) -> list[Judged]:
    """Read queries, one a row: ``qid``/``_id``, ``text``, ``references`` (a list or one text) and, where known,
    ``doc``, ``unit``, ``category``, ``group``/``ticker``; other fields are ignored, null is the same as absent.

    Raises DataError with file and line (Parquet: row) for a missing or ill-typed field and for a qid given twice.
    """
    return references_of(read_bytes(path), path)


def references_of(data: bytes, path: str) -> list[Judged]:
    """Read queries of the bytes of a file; raises as ``read_references`` does."""
    rows = _parquet_rows(data, path) if data[:4] == PARQUET_MAGIC else rows_of(_lines(data, path), path)
    judged: list[Judged] = []
    first: dict[str, int] = {}
    for number, row in rows:
        query = judged_of(row, path, number)
        if first.setdefault(query.qid, number) != number:
            raise DataError(
                f"qid {query.qid} stands on line {first[query.qid]} already; put all references of a query on one",
                path=name_of(path),
                line=number,
            )
        judged.append(query)
    if not judged:
        raise DataError("holds no queries; one JSON object a line is needed", path=name_of(path))
    return judged


def _lines(data: bytes, path: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        yield number, decode(line.rstrip(b"\r"), path, number)


def _parquet_rows(data: bytes, path: str) -> Iterator[tuple[int, Row]]:
    import polars as pl

    try:
        frame = pl.read_parquet(io.BytesIO(data))
    except pl.exceptions.PolarsError as error:
        raise DataError(f"broken Parquet data ({error})", path=name_of(path)) from None
    yield from enumerate(frame.iter_rows(named=True), start=1)


def judged_of(row: Row, path: str, line: int) -> Judged:
    """Check one row; raises DataError for a missing or ill-typed field."""
    unit = row.get("unit")
    if unit is not None and (not isinstance(unit, int) or isinstance(unit, bool) or unit < 0):
        raise DataError(f"unit is {unit!r}; a number from 0 is needed", path=name_of(path), line=line)
    return Judged(
        qid=id_field(row, QID, "qid", path, line),
        text=text_field(row, TEXT, path, line, default=""),
        references=_references(row, path, line),
        doc=_name(row, DOC, path, line),
        unit=unit,
        category=_label(row, ("category",), path, line),
        group=_label(row, GROUP, path, line),
    )


def _references(row: Row, path: str, line: int) -> tuple[str, ...]:
    name = next((name for name in REFERENCES if row.get(name) is not None), None)
    if name is None:
        needed = " or ".join(REFERENCES)
        raise DataError(f"no references: a field {needed} is needed", path=name_of(path), line=line)
    value = row[name]
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise DataError(f"{name} is {value!r:.60}; a list of texts is needed", path=name_of(path), line=line)
    return tuple(whole(text) for text in texts)


def _name(row: Row, names: tuple[str, ...], path: str, line: int) -> str | None:
    if all(row.get(name) is None for name in names):
        return None
    return checked_id(id_field(row, names, names[0], path, line), names[0], path, line)


def _label(row: Row, names: tuple[str, ...], path: str, line: int) -> str | None:
    return " ".join(text_field(row, names, path, line, default="").split()) or None
