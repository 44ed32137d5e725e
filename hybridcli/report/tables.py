"""Tables as data, and the formats they are written in: terminal, TSV, Markdown, LaTeX, HTML.

A format is one registered function ``(tables, notes) -> str``. Cells hold plain values; None is shown as a dash,
so NaN never reaches a reader.
"""

from __future__ import annotations

import html
import json
import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hybridcli.errors import UsageError

WIDTH = 80
LABEL = 28  # a longer label gets a line of its own, longer words elsewhere are wrapped
SHORT = 14
HEADING = 16
Cell = str | int | float | tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Marked:
    """A value with a mark that the table's notes explain, such as ``+`` for significantly better."""

    value: Cell
    mark: str


@dataclass(frozen=True, slots=True)
class Column:
    """``kind``: text, count, value, signed, range, interval (signed), p or effect; alignment and digits."""

    name: str
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; the first column is what a row is about."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell | Marked]]


Writer = Callable[[Sequence[Table], Sequence[str]], str]
FORMATS: dict[str, tuple[Writer, str]] = {}


def table_format(name: str, about: str) -> Callable[[Writer], Writer]:
    """Register an output format."""

    def register(writer: Writer) -> Writer:
        FORMATS[name] = (writer, about)
        return writer

    return register


def require_format(form: str) -> None:
    """Refuse an unknown --format, before any work."""
    if form != "json" and form not in FORMATS:
        raise UsageError(f"unknown format {form!r}; choose from {', '.join(FORMATS)}, json")


def json_text(document: Any) -> str:
    """A document as the JSON that every report is written in."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def render(name: str, tables: Sequence[Table], notes: Sequence[str] = ()) -> str:
    """Write tables and the notes below them; raises UsageError for an unknown format."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}; choose from {', '.join(FORMATS)}")
    return FORMATS[name][0](tables, notes)


def shown(cell: Cell | Marked, kind: str) -> str:
    """A cell as a person reads it."""
    if isinstance(cell, Marked):
        return shown(cell.value, kind) + cell.mark
    if cell is None:
        return "–"
    if isinstance(cell, tuple):
        form = ".4f" if kind == "range" else "+.4f"
        return f"[{_decimal(cell[0], form)}, {_decimal(cell[1], form)}]"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}"
    if kind == "p":
        return "<0.001" if cell < 0.0005 else f"{cell:.3f}"
    return _decimal(cell, {"signed": "+.4f", "effect": "+.2f"}.get(kind, ".4f"))


def _decimal(value: float, form: str) -> str:
    if not math.isfinite(value):
        raise ValueError("a table cell must be finite or None")
    text = format(value, form)
    return format(0.0, form) if float(text) == 0 else text  # never -0.0000


def _exact(cell: Cell | Marked) -> str:
    """A cell for machines: 12 significant digits, nothing where nothing can be said."""
    if isinstance(cell, Marked):
        return _exact(cell.value)
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.12g}"
    return str(cell)


@table_format("table", "for the terminal, at most 80 columns wide")
def terminal(tables: Sequence[Table], notes: Sequence[str]) -> str:
    """Aligned columns; a wide table is split into blocks, a long label gets a line of its own."""
    blocks = []
    for table in tables:
        body = [[shown(c, k.kind) for c, k in zip(row, table.columns, strict=True)] for row in table.rows]
        lines = textwrap.wrap(table.title, WIDTH)
        for chosen in _fitting(table, body):
            lines += _block(table, body, chosen)
        blocks.append("\n".join(lines))
    foot = [textwrap.fill(note, WIDTH, subsequent_indent="  ", break_long_words=True) for note in notes]
    return "\n\n".join([*blocks, "\n".join(foot)] if foot else blocks) + "\n"


def _fitting(table: Table, body: list[list[str]]) -> list[list[int]]:
    """Columns of each block, the first column in all of them; one block where short labels would fit."""
    widths = _widths(table, body)
    if SHORT + sum(2 + width for width in widths[1:]) <= WIDTH:
        return [list(range(len(widths)))]
    label = min(widths[0], LABEL)
    blocks, used = [[0]], label
    for at in range(1, len(widths)):
        if used + 2 + widths[at] > WIDTH and len(blocks[-1]) > 1:
            blocks.append([0])
            used = label
        blocks[-1].append(at)
        used += 2 + widths[at]
    return blocks


def _widths(table: Table, body: list[list[str]]) -> list[int]:
    """Width of each column; long headings, and long words in other columns than the first, are wrapped."""
    widths = [max(len(row[0]) for row in [[table.columns[0].name], *body])]
    for at, column in enumerate(table.columns[1:], start=1):
        widest = max((len(row[at]) for row in body), default=0)
        widths.append(max(min(len(column.name), HEADING), min(widest, LABEL)))
    return widths


def _block(table: Table, body: list[list[str]], chosen: list[int]) -> list[str]:
    widths = _widths(table, body)
    others = sum(2 + widths[at] for at in chosen[1:])
    label = min(widths[0], max(SHORT, WIDTH - others))

    def lines_of(cells: Sequence[str]) -> list[str]:
        first = textwrap.wrap(cells[0], WIDTH) if len(cells[0]) > label else []
        wrapped = [textwrap.wrap(cells[at], widths[at]) or [""] for at in chosen[1:]]
        lines = []
        for number in range(max([1, *(len(parts) for parts in wrapped)])):
            line = ("" if first or number else cells[0]).ljust(label)
            for at, parts in zip(chosen[1:], wrapped, strict=True):
                text = parts[number] if number < len(parts) else ""
                left = table.columns[at].kind == "text"
                line += "  " + (text.ljust(widths[at]) if left else text.rjust(widths[at]))
            lines.append(line.rstrip())
        return [*first, *lines]

    head = lines_of([column.name for column in table.columns])
    rule = "-" * min(WIDTH, label + others)
    return [*head, rule, *(line for row in body for line in lines_of(row))]


@table_format("tsv", "tab-separated, 12 digits; titles and notes are # lines")
def tsv(tables: Sequence[Table], notes: Sequence[str]) -> str:
    """One block a table; an interval takes two columns."""
    lines = []
    for table in tables:
        names, wide = [], [column.kind in ("range", "interval") for column in table.columns]
        for column, two in zip(table.columns, wide, strict=True):
            names += [f"{column.name} low", f"{column.name} high"] if two else [column.name]
        lines += [f"# {table.title}", "\t".join(names)]
        for row in table.rows:
            cells = []
            for cell, two in zip(row, wide, strict=True):
                if two:
                    cells += [_exact(part) for part in cell] if isinstance(cell, tuple) else ["", ""]
                else:
                    cells.append(_exact(cell))
            lines.append("\t".join(cells))
        lines.append("")
    return "\n".join([*lines, *(f"# {note}" for note in notes)]) + "\n"


@table_format("markdown", "Markdown tables")
def markdown(tables: Sequence[Table], notes: Sequence[str]) -> str:
    """GitHub's form; notes as a list."""
    parts = []
    for table in tables:
        lines = [f"**{_plain(table.title)}**", ""]
        lines.append("| " + " | ".join(_plain(column.name) for column in table.columns) + " |")
        lines.append("|" + "|".join(" --- " if c.kind == "text" else " ---: " for c in table.columns) + "|")
        for row in table.rows:
            cells = [_plain(shown(c, k.kind)) for c, k in zip(row, table.columns, strict=True)]
            lines.append("| " + " | ".join(cells) + " |")
        parts.append("\n".join(lines))
    if notes:
        parts.append("\n".join(f"- {_plain(note)}" for note in notes))
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    for sign in ("\\", "|", "*", "_", "<"):
        text = text.replace(sign, "\\" + sign)
    return text


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "–": "--",
    "−": "$-$",
    "±": r"$\pm$",
    "τ": r"$\tau$",
    "α": r"$\alpha$",
    "≥": r"$\geq$",
}


def _tex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


@table_format("latex", "LaTeX tables for booktabs, marks as superscripts")
def latex(tables: Sequence[Table], notes: Sequence[str]) -> str:
    """One table environment each; the notes stand as comments and below the last table."""
    parts = []
    for table in tables:
        form = "".join("l" if column.kind == "text" else "r" for column in table.columns)
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{_tex(table.title)}}}"]
        lines += [rf"\begin{{tabular}}{{{form}}}", r"\toprule"]
        lines.append(" & ".join(_tex(column.name) for column in table.columns) + r" \\")
        lines.append(r"\midrule")
        for row in table.rows:
            cells = [_tex_cell(c, k.kind) for c, k in zip(row, table.columns, strict=True)]
            lines.append(" & ".join(cells) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
        parts.append("\n".join(lines))
    if notes:
        parts.append("\n".join([r"\begin{itemize}", *(rf"\item {_tex(n)}" for n in notes), r"\end{itemize}"]))
    return "% needs \\usepackage{booktabs}\n" + "\n\n".join(parts) + "\n"


def _tex_cell(cell: Cell | Marked, kind: str) -> str:
    mark = f"$^{{{cell.mark}}}$" if isinstance(cell, Marked) and cell.mark else ""
    value = cell.value if isinstance(cell, Marked) else cell
    text = _tex(shown(value, kind))
    numeric = (
        not isinstance(value, str) and value is not None and kind in ("signed", "range", "interval", "effect")
    )
    return (f"${text}$" if numeric else text) + mark


@table_format("html", "one HTML page without scripts")
def web(tables: Sequence[Table], notes: Sequence[str]) -> str:
    """A page that opens anywhere; numbers are aligned to the right."""
    style = (
        "body{font:15px system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
        "table{border-collapse:collapse;margin:1.5em 0}caption{text-align:left;font-weight:600}"
        "th,td{padding:.2em .7em;border-bottom:1px solid #ccc;text-align:right}"
        ".text{text-align:left}li{margin:.2em 0}"
    )
    parts = []
    for table in tables:
        lines = [f"<table><caption>{html.escape(table.title)}</caption>", "<thead><tr>"]
        lines += [f'<th class="{c.kind}">{html.escape(c.name)}</th>' for c in table.columns]
        lines.append("</tr></thead><tbody>")
        for row in table.rows:
            cells = [
                f'<td class="{k.kind}">{html.escape(shown(c, k.kind))}</td>'
                for c, k in zip(row, table.columns, strict=True)
            ]
            lines.append("<tr>" + "".join(cells) + "</tr>")
        parts.append("\n".join([*lines, "</tbody></table>"]))
    foot = "<ul>" + "".join(f"<li>{html.escape(note)}</li>" for note in notes) + "</ul>" if notes else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>hybridcli</title>'
        f"<style>{style}</style></head><body>\n" + "\n".join(parts) + f"\n{foot}\n</body></html>\n"
    )


def format_rows() -> list[tuple[str, str]]:
    """(name, what it is), for help and README."""
    return [(name, about) for name, (_, about) in FORMATS.items()]
