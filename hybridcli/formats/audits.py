"""The sheet on which a person judges a sample of labels: TSV with a header line, one reference a line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of, open_output, read_lines
from hybridcli.records import Label

COLUMNS = (
    "judgement",
    "comment",
    "qid",
    "reference",
    "stratum",
    "stratum_size",
    "weight",
    "similarity",
    "place",
    "windows",
    "query",
    "reference_text",
    "span_text",
)
RIGHT = frozenset({"right", "r", "yes", "y", "1"})
WRONG = frozenset({"wrong", "w", "no", "n", "0"})


@dataclass(frozen=True, slots=True)
class Judgement:
    """One line of a sheet; ``right`` is None where the person wrote nothing."""

    line: int
    qid: str
    reference: str
    windows: tuple[str, ...]
    right: bool | None


def write_sheet(path: str, rows: Sequence[tuple[Label, str, int, float]], texts: Mapping[str, str]) -> None:
    """Write (label, stratum, references in the stratum, how many of them this line stands for).

    ``texts``: of the queries.

    Inside a text a tab becomes `` | `` and a line end `` / ``, so that a spreadsheet or an editor shows one line.
    """
    with open_output(path) as stream:
        stream.write(("\t".join(COLUMNS) + "\n").encode())
        for label, stratum, size, weight in rows:
            span = label.spans[0]
            place = f"{span.doc}:{span.unit}:{span.start}-{span.end_unit}:{span.end}"
            cells = (
                "",
                "",
                label.qid,
                label.reference,
                stratum,
                str(size),
                f"{weight:.6g}",
                f"{span.similarity:.4f}",
                place,
                " ".join(label.windows),
                *(_one_line(text) for text in (texts[label.qid], label.text, span.text)),
            )
            stream.write(("\t".join(cells) + "\n").encode("utf-8"))


def read_sheet(path: str) -> list[Judgement]:
    """Read a judged sheet; ``right``, ``yes``, ``1`` or ``wrong``, ``no``, ``0`` or nothing in its first column.

    Columns are found by the header line, so they may have been moved or dropped, all but ``judgement``, ``qid``,
    ``reference`` and ``windows``. Raises DataError for a missing column, another word, or a line given twice.
    """
    judgements: dict[tuple[str, str], Judgement] = {}
    column: dict[str, int] = {}
    for number, line in read_lines(path):
        cells = [cell.strip() for cell in line.split("\t")]
        if not column:
            column = {name: position for position, name in enumerate(cells)}
            missing = [name for name in ("judgement", "qid", "reference", "windows") if name not in column]
            if missing:
                found = f"not an audit sheet: no column {', '.join(missing)} in the first line"
                raise DataError(found, path=name_of(path), line=number)
            continue
        if not any(cells):
            continue
        if len(cells) < len(column):
            found = f"expected {len(column)} columns, found {len(cells)}"
            raise DataError(found, path=name_of(path), line=number)
        row = Judgement(
            line=number,
            qid=cells[column["qid"]],
            reference=cells[column["reference"]],
            windows=tuple(cells[column["windows"]].split()),
            right=_verdict(cells[column["judgement"]], path, number),
        )
        if judgements.setdefault((row.qid, row.reference), row) is not row:
            found = f"query {row.qid}, reference {row.reference} stands on the sheet already"
            raise DataError(found, path=name_of(path), line=number)
    if not judgements:
        raise DataError("holds no line to judge", path=name_of(path))
    return list(judgements.values())


def _verdict(word: str, path: str, line: int) -> bool | None:
    if not word:
        return None
    if word.lower() in RIGHT | WRONG:
        return word.lower() in RIGHT
    raise DataError(f"judgement is {word!r}; right or wrong is needed", path=name_of(path), line=line)


def _one_line(text: str) -> str:
    text = re.sub(r"\s*[\n\r\v\f\x85\u2028\u2029]\s*", " / ", text.strip())
    return re.sub(r"[ \t\xa0]*\t[ \t\xa0]*", " | ", text)
