"""The check of qrels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from hybridcli.errors import DataError
from hybridcli.formats.checks.registry import Checked, checker, some
from hybridcli.formats.checks.source import Source, line_notes
from hybridcli.formats.files import decode
from hybridcli.formats.qrels import BEIR_HEAD, Columns, judgement_rows, qrels_of
from hybridcli.records import Qrels, Sheet

Key = tuple[bytes, bytes, bytes]  # qid, column 2, docno


@dataclass(frozen=True, slots=True)
class CleanQrels:
    """Qrels, and the (qid, column 2, docno, grade) rows of the file that they are made of, in its order."""

    qrels: Qrels
    rows: list[tuple[str, str, str, int]]


@checker("qrels", "qid 0 docno rel, or qid reference docno rel")
def check_qrels(source: Source) -> Checked:
    """List everything odd in qrels; the content is CleanQrels: no bad lines, of two grades the higher one."""
    sheet = Sheet(source.path, "qrels")
    sheet.facts["gzip"] = source.gzip
    rows = _good_rows(source, sheet)
    sheet.problems += line_notes(source)
    if not rows:
        sheet.add("empty", "holds no judgement")
        return sheet, None
    columns = Columns()
    for key, (line, grade) in rows.items():
        columns.add(line, [*key, str(grade).encode()], source.path)
    qrels = qrels_of(columns, source.path)
    by_query = Counter(qid for qid, _, _ in rows)
    answerable = {qid for (qid, _, _), (_, grade) in rows.items() if grade > 0}
    pairs = len({(qid, docno) for qid, _, docno in rows})
    lengths = sorted(by_query.values())
    sheet.facts.update(
        {
            "lines": len(rows),
            "queries": len(by_query),
            "documents": len(qrels.docnos),
            "judged": {"min": lengths[0], "median": _median(lengths), "max": lengths[-1]},
            "grades": dict(sorted(Counter(grade for _, grade in rows.values()).items())),
            "queries_without_relevant": len(by_query) - len(answerable),
            "references": 0 if qrels.reference_ids is None else sum(map(len, qrels.reference_ids)),
            "shared_documents": len(rows) - pairs,
        }
    )
    if len(answerable) < len(by_query):
        missing = [qid.decode() for qid in by_query if qid not in answerable]
        sheet.note(
            "no-relevant",
            f"{len(missing):,} of {len(by_query):,} queries have no relevant document (their measures are 0): "
            + some(missing),
            count=len(missing),
        )
    _check_references(sheet, rows)
    clean = [(key[0].decode(), key[1].decode(), key[2].decode(), grade) for key, (_, grade) in rows.items()]
    return sheet, CleanQrels(qrels, clean)


def _good_rows(source: Source, sheet: Sheet) -> dict[Key, tuple[int, int]]:
    """Line and grade of each judgement, in the order of the file."""
    rows: dict[Key, tuple[int, int]] = {}
    again: list[tuple[int, str]] = []
    columns = Columns()
    if source.data.split(None, 3)[:3] == BEIR_HEAD:
        sheet.note("beir", "three columns below a header (BEIR's form)", 1)
    for number, fields in judgement_rows(_decodable(source, sheet)):
        try:
            columns.add(number, fields, source.path)
        except DataError as error:
            sheet.add(_kind_of(fields), error.message, number)
            continue
        key, grade = (fields[0], fields[1], fields[2]), int(fields[3])
        before, other = rows.get(key, (number, grade))
        if grade != other:
            sheet.add(
                "conflict",
                f"query {fields[0].decode()} judges document {fields[2].decode()} again: grade {grade} here, {other} "
                f"on line {before}",
                number,
            )
        elif before != number:
            again.append((number, f"query {fields[0].decode()}, document {fields[2].decode()}"))
        rows[key] = (before, max(grade, other))
    if again:
        text = f"the same judgement again, counted once: {again[0][1]}"
        more = f" ({len(again):,} such lines)" if len(again) > 1 else ""
        sheet.note("repeat", text + more, again[0][0], count=len(again))
    return rows


def _decodable(source: Source, sheet: Sheet) -> Iterator[tuple[int, bytes]]:
    for number, line in source.lines():
        try:
            decode(line, source.path, number)
        except DataError as error:
            sheet.add("encoding", error.message, number)
            continue
        yield number, line


def _kind_of(fields: list[bytes]) -> str:
    if len(fields) == 4:
        return "grade"
    return "too-few-columns" if len(fields) < 4 else "too-many-columns"


def _check_references(sheet: Sheet, rows: dict[Key, tuple[int, int]]) -> None:
    """Say where column 2 looks like names of references and may be none, or the other way round."""
    of_query: dict[bytes, set[bytes]] = {}
    for qid, name, _ in rows:
        of_query.setdefault(qid, set()).add(name)
    names = set().union(*of_query.values())
    if len(names) == 1:
        (only,) = names
        if only not in (b"0", b"Q0"):
            text = f"column 2 is {only.decode()} on every line: it names no references"
            sheet.note("constant-references", text)
        return
    unnamed = [line for (_, name, _), (line, _) in rows.items() if name in (b"0", b"Q0")]
    if unnamed:
        text = f"column 2 names references, but is 0 here: read as a reference of that name ({len(unnamed):,} lines)"
        sheet.note("unnamed-references", text, unnamed[0], count=len(unnamed))
    elif all(len(found) == 1 for found in of_query.values()):
        sheet.note(
            "constant-references", "column 2 is the same within every query: is it a reference at all?"
        )


def _median(ordered: list[int]) -> float:
    middle = len(ordered) // 2
    return float(ordered[middle]) if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
