"""TREC qrels: ``qid 0 docno rel``, the reference form ``qid reference docno rel``, and BEIR's three columns."""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridcli.console import warn
from hybridcli.errors import DataError
from hybridcli.formats.datasets import is_dataset, qrels_rows
from hybridcli.formats.documents import beir_file
from hybridcli.formats.files import STDIN, decode, name_of, open_output, read_bytes
from hybridcli.formats.plain import boundaries, read_plain
from hybridcli.names import Names
from hybridcli.records import Codes, Ints, Qrels, offsets_of

GRADE = re.compile(rb"[+-]?[0-9]{1,9}")
BEIR_HEAD = [b"query-id", b"corpus-id", b"score"]
BEIR_QRELS = "qrels/test.tsv"


def read_qrels(path: str) -> Qrels:
    """Read qrels: a file, a BEIR-form folder (its ``qrels/test.tsv``) or ``irds:DATASET``.

    Column 2 names references when it is not the same on every line. A file that begins with BEIR's header
    ``query-id corpus-id score`` has three columns. Blank lines and lines that start with ``#`` are skipped; columns
    are separated by blanks or tabs. A line that stands twice counts once and is warned of. Raises DataError for a
    wrong number of columns, a grade that is not a whole number, the same document judged twice with two grades, or a
    file without judgements.
    """
    columns = Columns()
    if is_dataset(path):
        for number, row in enumerate(qrels_rows(path), start=1):
            columns.add(number, [str(field).encode() for field in row], path)
        return qrels_of(columns, path)
    data = read_bytes(_file_of(path))
    columns = _plain_columns(data) or columns
    if not columns.codes:
        for number, fields in judgement_rows(enumerate(io.BytesIO(data), start=1)):
            columns.add(number, fields, path)
    return qrels_of(columns, path)


def qrels_of(columns: Columns, path: str) -> Qrels:
    """Make Qrels of the columns of a file; raises and warns as ``read_qrels`` does."""

    if not columns.codes:
        raise DataError("no judgements in this file", path=name_of(path))
    queries, numbers = [qid.decode("utf-8") for qid in columns.codes], columns.numbers
    query, grade = np.asarray(columns.query, dtype=np.int64), np.asarray(columns.grade, dtype=np.int64)
    docnos, doc = _encode(columns.docno, numbers, path)
    names, reference = _encode(columns.reference, numbers, path)
    order = np.lexsort((reference, doc, query))  # stable: equal rows stay in the order of the file
    query, doc, reference, grade = query[order], doc[order], reference[order], grade[order]

    same_doc = (query[1:] == query[:-1]) & (doc[1:] == doc[:-1])
    same = same_doc & (reference[1:] == reference[:-1])
    clash = np.flatnonzero(same & (grade[1:] != grade[:-1]))
    if len(clash):
        at = int(clash[np.argmin(order[clash + 1])])
        raise DataError(
            f"query {queries[query[at]]} judges {docnos[doc[at]]} twice: grade {grade[at]} on line "
            f"{numbers[order[at]]} and {grade[at + 1]} here; keep one of them",
            path=name_of(path),
            line=numbers[order[at + 1]],
        )
    if same.any():
        repeats = int(same.sum())
        at = int(np.flatnonzero(same)[0])
        warn(
            f"{name_of(path)}: {repeats} judgement{'s' if repeats > 1 else ''} given more than once, counted "
            f"once (first: query {queries[query[at]]}, {docnos[doc[at]]}, line {numbers[order[at + 1]]})"
        )
    first = np.flatnonzero(np.concatenate(([True], ~same_doc)))
    lengths = np.bincount(query[first], minlength=len(queries))
    pairs = counts = named = None
    if len(names) > 1:
        keep = np.flatnonzero(np.concatenate(([True], ~same)) & (grade > 0))
        row = np.searchsorted(first, keep, side="right") - 1
        number, named = _number_references(query[keep], reference[keep], order[keep], names, len(queries))
        pairs = np.stack([row, number], axis=1).astype(np.int32)
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        counts = np.array([len(found) for found in named], dtype=np.int32)
    return Qrels(
        queries=queries,
        offsets=offsets_of(lengths),
        docs=doc[first].astype(np.int32),
        grades=np.maximum.reduceat(grade, first).astype(np.int32),
        docnos=Names.of(docnos),
        pairs=pairs,
        reference_counts=counts,
        reference_ids=named,
    )


def write_qrels(path: str, rows: Iterable[tuple[str, str, str, int]]) -> None:
    """Write (qid, column 2, docno, grade) rows; column 2 is ``0``, or the reference in the reference form."""
    with open_output(path) as stream:
        for qid, reference, docno, grade in rows:
            stream.write(f"{qid} {reference} {docno} {grade}\n".encode())


class Columns:
    """The columns of the file, one entry a line; ``codes`` numbers the qids in the order of the file."""

    def __init__(self) -> None:
        self.codes: dict[bytes, int] = {}
        self.query = array("q")
        self.reference: list[bytes] = []
        self.docno: list[bytes] = []
        self.grade = array("q")
        self.numbers = array("q")

    def add(self, number: int, fields: list[bytes], path: str) -> None:
        """Take one line, or raise a DataError that says what is wrong with it."""
        if len(fields) != 4 or GRADE.fullmatch(fields[3]) is None:
            raise DataError(_what_is_wrong(fields), path=name_of(path), line=number)
        qid, reference, docno, grade = fields
        if qid not in self.codes:
            decode(qid, path, number)
            self.codes[qid] = len(self.codes)
        self.query.append(self.codes[qid])
        self.reference.append(reference)
        self.docno.append(docno)
        self.grade.append(int(grade))
        self.numbers.append(number)


def _plain_columns(data: bytes) -> Columns | None:
    """Read the common form of four columns; None where the file or a grade in it is not of that form."""
    return read_plain(data if data.endswith(b"\n") else data + b"\n", _common_columns)


def _common_columns(data: bytes) -> Columns | None:
    import polars as pl

    table = boundaries(data, 4)
    if table is None or not len(table):
        return None
    frame = pl.read_csv(
        data, separator=" ", has_header=False, quote_char=None, schema=dict.fromkeys("qrdg", pl.String)
    )
    if len(frame) != len(table) or not frame["g"].str.contains(f"^{GRADE.pattern.decode()}$").all():
        return None
    columns = Columns()
    names = frame["q"].unique(maintain_order=True)
    columns.codes = {qid.encode(): code for code, qid in enumerate(names)}
    query = frame["q"].replace_strict(names, range(len(names)), return_dtype=pl.Int64)
    columns.query = array("q", query.to_numpy().tobytes())
    columns.reference, columns.docno = (frame[name].cast(pl.Binary).to_list() for name in "rd")
    columns.grade = array("q", frame["g"].cast(pl.Int64).to_numpy().tobytes())
    columns.numbers = array("q", range(1, len(table) + 1))
    return columns


def _file_of(path: str) -> str:
    """The file itself, where ``path`` is a folder in BEIR's form."""
    if path == STDIN or not Path(path).is_dir():
        return path
    found = beir_file(Path(path), BEIR_QRELS)
    if found is None:
        raise DataError(f"is a folder without {BEIR_QRELS}; a qrels file is needed", path=path)
    return str(found)


def judgement_rows(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield (line number, columns) of lines that are neither blank nor comments; BEIR's three become four."""
    beir = None
    for number, raw in lines:
        fields = raw.split()
        if not fields or raw.startswith(b"#"):
            continue
        if beir is None:
            beir = fields == BEIR_HEAD
            if beir:
                continue
        if beir and len(fields) == 3:
            fields.insert(1, b"0")
        yield number, fields


def _what_is_wrong(fields: list[bytes]) -> str:
    if len(fields) == 4:
        found = fields[3].decode("utf-8", "replace")
        return f"grade {found!r} is not a whole number; a qrels grade is 0, 1, 2, … (negative: not relevant)"
    message = f"expected 4 columns (qid 0 docno rel), found {len(fields)}"
    if len(fields) == 6:
        return message + "; is this a run?"
    if len(fields) == 3:
        return message + "; BEIR's three columns need their header, query-id corpus-id score"
    return message


def _encode(values: list[bytes], numbers: array[int], path: str) -> tuple[list[str], Ints]:
    """Give the distinct values in byte order, and the code of each row."""
    import polars as pl

    column = pl.Series(values, dtype=pl.Binary)
    codes = (column.rank("dense") - 1).cast(pl.Int64).to_numpy()
    distinct = column.unique().sort().to_list()
    try:
        return [value.decode("utf-8") for value in distinct], codes
    except UnicodeDecodeError:
        for value, number in zip(values, numbers, strict=True):
            decode(value, path, number)
        raise


def _number_references(
    query: Ints, reference: Ints, line: Ints, names: list[str], size: int
) -> tuple[Codes, list[list[str]]]:
    """Number each query's references from 0 as the file first names them; give numbers and names."""
    key = query * np.int64(len(names)) + reference
    distinct, inverse = np.unique(key, return_inverse=True)
    earliest: NDArray[Any] = np.full(len(distinct), np.iinfo(np.int64).max)
    np.minimum.at(earliest, inverse, line)
    owner = distinct // len(names)
    order = np.lexsort((earliest, owner))
    number = np.empty(len(distinct), dtype=np.int32)
    starts = np.searchsorted(owner[order], np.arange(size))
    number[order] = np.arange(len(distinct)) - starts[owner[order]]
    named: list[list[str]] = [[] for _ in range(size)]
    for at in order:
        named[owner[at]].append(names[distinct[at] % len(names)])
    return number[inverse], named
