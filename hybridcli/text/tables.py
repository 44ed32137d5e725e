"""Tables as a reader sees them: one line a row, a tab between cells, a value in one cell however it was marked up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile

_DASH = "—–-"
_OPENING = "$€£¥₩₹("
_CURRENCY = re.compile(r"\(?(?:[A-Z]{1,3})?[$€£¥₩₹]\(?|\(")
_AMOUNT_START = re.compile(r"[\d(.—–-]")
_CLOSING = re.compile(r"[)%](?:\s?[)%]){0,2}(?:\s?\(\w{1,2}\)|\*+)?")
_MEASURE = re.compile(r"(?:pts?|pp|ppts?|bps)\.?\)?")
_AMOUNT_END = re.compile(r"[\d)]$")
_MARKER = re.compile(
    r"[•●○■□▪▫◦‣⁃·∙–—\-†‡§◆◊►▶➢✓✔☐☑☒o]|\*{1,4}"
    r"|\(?(?:\d{1,3}|[A-Za-z]{1,2}|[ivxIVX]{1,5})[.)]|\([^)]{1,5}\)|\[[^\]]{1,5}\]"
)
_AMOUNT = re.compile(
    r"[(<>~+−–-]*\s?(?:[A-Z]{0,3}[$€£¥₩₹])?\s?[(−–-]*\d[\d,]*(?:\.\d+)?|[(]?(?:[A-Z]{0,3}[$€£¥₩₹])?\s?\.\d+"
)
_DASHES = re.compile(r"(?:[A-Z]{0,3}[$€£¥₩₹])?\s?[—–-]+\s?%?|N/?[AM]|\*")
_AFTER_AMOUNT = re.compile(r"\s?(?:[%)xX]|pts?|bps|pp|\(\w{1,2}\)|\*|,)*\.?")
_RANGE = re.compile(r"([\d.,$%—]*[\d%])\s?[–-]\s?([\d.,$%]+)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_PERIOD = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d"
    r"|\b(?:years?|months?|weeks?|quarters?|fiscal|periods?) (?:ended|ending)\b|\bas of\b",
    re.I,
)
_UNIT_LINE = re.compile(
    r"\(?(?:dollars |amounts |shares |tabular )?in (?:thousands|millions|billions)\b|\(.*\)$", re.I
)
_MOST_HEADER_ROWS = 6
_LONG_CELL = 500
"""Characters from which a cell is prose: two of them fill a window of 160 words."""


@dataclass(slots=True)
class Cell:
    """Pieces ``first`` to before ``last``, from column ``column`` to before ``end_column`` (colspans counted)."""

    first: int
    last: int
    column: int
    end_column: int


@dataclass(slots=True)
class Table:
    """Pieces ``first`` to before ``last`` and the cells among them, row by row; empty cells and rows leave no trace.

    ``header_rows``: how many leading rows are column headers. ``title``: the table's own title, if its first row
    is one.
    """

    first: int
    last: int = 0
    rows: list[list[Cell]] = field(default_factory=list)
    header_rows: int = 0
    title: str = ""
    column: int = 0

    def begin_row(self) -> None:
        """Begin a row."""
        self.rows.append([])
        self.column = 0

    def begin_cell(self, piece: int, attributes: Mapping[str, str]) -> tuple[int, int]:
        """Begin a cell at the next piece, as wide as its ``colspan`` says; give what ``end_cell`` needs."""
        column = self.column
        colspan = attributes.get("colspan", "")
        self.column += int(colspan) if colspan.isdecimal() else 1
        return piece, column

    def end_cell(self, begun: tuple[int, int], piece: int) -> None:
        """Add a cell that has pieces."""
        first, column = begun
        if not self.rows:
            self.begin_row()
        self.rows[-1].append(Cell(first, piece, column, self.column))


def joint(left: str, right: str) -> str | None:
    """What stands between two neighbouring cells that a reader takes for one: nothing or a blank; None if they are two.

    ``$`` ``1,234`` and ``(56`` ``)`` are joined, ``—`` ``%`` with a blank between.
    """
    if left[-1] in _OPENING and _CURRENCY.fullmatch(left):
        return "" if _AMOUNT_START.match(right) else None
    if right[0] in ")%" and _CLOSING.fullmatch(right):
        if right[0] == ")":
            return "" if left.count("(") > left.count(")") else None
        return "" if _AMOUNT_END.search(left) else " " if left[-1] in _DASH else None
    if right[0] in "pb" and _MEASURE.fullmatch(right) and (left[-1] in _DASH or _AMOUNT_END.search(left)):
        return " "
    return None


def is_amount(text: str) -> bool:
    """Whether a cell is a value, such as ``$1,234``, ``(4.5)%`` or ``—``, and not a label, a year or a date."""
    number = _AMOUNT.match(text)
    bounds = _RANGE.fullmatch(text)
    if bounds is not None:
        return is_amount(bounds[1]) and is_amount(bounds[2])
    if number is None:
        return _DASHES.fullmatch(text) is not None
    return not _YEAR.fullmatch(text) and _AFTER_AMOUNT.fullmatch(text, number.end()) is not None


def is_unit_line(text: str) -> bool:
    """Whether a line says what a table's numbers count: ``(in millions, except per share data)``."""
    return _UNIT_LINE.match(text) is not None


def lay_out(table: Table, holds_table: bool, pieces: list[str], before: list[str], bold: list[bool]) -> bool:
    """Decide whether ``table`` shows data (True) or only places text, and set what stands before its pieces.

    Data: a line a row, a tab between cells, a blank between the lines of a cell. Text: a bullet and what follows
    share a line, as do short cells; everything else is a line of its own. A table that holds another table with
    data (``holds_table``) only places it.
    """
    if holds_table or not any(table.rows):
        return False
    rows, texts, joints = _join_cells([row for row in table.rows if row], pieces)
    data = _shows_data(texts)
    for row, cells in zip(rows, texts, strict=True):
        left = ""
        for number, (cell, text) in enumerate(zip(row, cells, strict=True)):
            if number:
                if data:
                    before[cell.first] = "\t"
                elif _MARKER.fullmatch(left) or len(left) + len(text) < _LONG_CELL // 2:
                    before[cell.first] = " "
            if data:
                before[cell.first + 1 : cell.last] = [" "] * (cell.last - cell.first - 1)
            left = text
    for piece, glue in joints.items():
        before[piece] = glue
    if data:
        table.header_rows = _count_header_rows(rows, texts, bold)
        corner = rows[0][0]
        if corner.column == 0:
            table.title = _title(texts[0], all(bold[corner.first : corner.last]))
    return data


def _join_cells(
    rows: list[list[Cell]], pieces: list[str]
) -> tuple[list[list[Cell]], list[list[str]], dict[int, str]]:
    """Make one cell of neighbours that a reader takes for one; give cells, their texts, and what joins which piece."""
    joined_rows, joined_texts = [], []
    joints: dict[int, str] = {}
    for row in rows:
        cells: list[Cell] = []
        texts: list[str] = []
        for cell in row:
            first, last = cell.first, cell.last
            text = pieces[first] if last == first + 1 else " ".join(pieces[first:last])
            glue = joint(texts[-1], text) if texts else None
            if glue is None:
                cells.append(cell)
                texts.append(text)
            else:
                joints[first] = glue
                cells[-1] = Cell(cells[-1].first, last, cells[-1].column, cell.end_column)
                texts[-1] += glue + text
        joined_rows.append(cells)
        joined_texts.append(texts)
    return joined_rows, joined_texts, joints


def _shows_data(rows: list[list[str]]) -> bool:
    """Whether rows of cells are a table to a reader: several columns that are not just bullets, a footer or prose."""
    several = [row for row in rows if len(row) > 1]
    if not several or len(rows) < 2:
        return False
    if len(several) == 1 and not any(is_amount(cell) for cell in several[0][1:]):
        return False
    if sum(len(row) == 2 and _MARKER.fullmatch(row[0]) is not None for row in several) > 0.8 * len(several):
        return False
    sizes = [len(cell) for row in rows for cell in row]
    return 2 * sum(size for size in sizes if size > _LONG_CELL) < sum(sizes)


def _title(cells: list[str], bold: bool) -> str:
    """The first cell of a table's first row if it names the table: in bold type, or with only periods beside it."""
    name, *others = cells
    if " " not in name or name[-1] in ".,:;" or _PERIOD.search(name) or is_unit_line(name):
        return ""
    periods = all(_PERIOD.search(cell) and not is_amount(cell) for cell in others)
    return name if periods and (others or bold) else ""


def _count_header_rows(rows: list[list[Cell]], texts: list[list[str]], bold: list[bool]) -> int:
    """How many leading rows head the columns: years, dates, "(in millions)", above the first row with a value.

    In a table of words, rows set in bold type, or such that hold nothing but periods and units.
    """
    values = [
        next((cell.column for cell, text in zip(row[1:], cells[1:], strict=True) if is_amount(text)), None)
        for row, cells in zip(rows, texts, strict=True)
    ]
    columns = [column for column in values if column is not None]
    wordy = 2 * len(columns) < len(rows) and not (columns and len(rows) < 4)
    if wordy:
        heavy = sum(1 for _ in takewhile(lambda row: all(bold[cell.first] for cell in row), rows))
        if 0 < heavy < len(rows) and heavy <= _MOST_HEADER_ROWS // 2:
            return heavy
    header_rows = 0
    for number, row in enumerate(rows[:_MOST_HEADER_ROWS]):
        if values[number] is not None:
            break
        heads = [is_unit_line(text) or (_PERIOD.search(text) and len(text) < 100) for text in texts[number]]
        over_values = any(cell.column > 0 and cell.end_column > min(columns, default=0) for cell in row)
        if all(heads) or (not wordy and (heads[0] or over_values)):
            header_rows = number + 1
    return header_rows if header_rows < len(rows) else 0
