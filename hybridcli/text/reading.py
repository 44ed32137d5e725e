"""What a reader sees of an HTML file: lines of text and tables in reading order, each piece once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hybridcli.text.tables import Table, lay_out

INLINE, BLOCK, BREAK, ROW, CELL, TABLE, SKIP, FIGURE, FACT, CONTINUATION, STRONG, HEADING, PREFORMATTED = (
    range(13)
)

_KINDS = {
    BLOCK: "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form header hgroup hr html legend li main menu nav ol optgroup option p "
    "section summary tbody tfoot thead ul",
    BREAK: "br",
    ROW: "tr",
    CELL: "td th",
    TABLE: "table",
    SKIP: "head noscript script style template title",
    STRONG: "b strong",
    HEADING: "h1 h2 h3 h4 h5 h6",
    PREFORMATTED: "listing pre xmp",
}
_KIND_OF = {tag: kind for kind, tags in _KINDS.items() for tag in tags.split()}
_IX_KIND_OF = {
    "header": SKIP,
    "hidden": SKIP,
    "references": SKIP,
    "resources": SKIP,
    "nonfraction": FIGURE,
    "nonnumeric": FACT,
    "continuation": CONTINUATION,
}
_TABULAR = frozenset({ROW, CELL, TABLE})
_BLOCKS = _TABULAR | {BLOCK, HEADING, PREFORMATTED}
_PAGE_BREAKS = ("page-break-before", "page-break-after", "break-before", "break-after")
_RULE = re.compile(
    r"(?<![\w-])(display|visibility|position|float|font-weight|font|(?:page-)?break-(?:before|after))\s*:\s*([^;!]*[^;!\s])"
)
_ODD = re.compile("[\x80-\x9f\xad\u200b\u2060\ufeff]")
_UNSEEN: dict[int, str] = dict.fromkeys((0xAD, 0x200B, 0x2060, 0xFEFF), "") | {
    code: bytes([code]).decode("windows-1252", "ignore") for code in range(0x80, 0xA0)
}
"""Characters without width; and &#150; and its like, which browsers read as windows-1252."""


class Look(NamedTuple):
    """What a tag and its ``style`` say: the kind; not shown; a block of its own; bold (None: as around it)."""

    kind: int
    hidden: bool
    block: bool
    bold: bool | None
    breaks_page: bool


class Fact(NamedTuple):
    """An inline-XBRL fact or a continuation of one: from character ``start`` of piece ``first`` on, to before
    character ``end`` of piece ``last``."""

    concept: str
    first: int
    start: int
    last: int
    end: int


@dataclass(slots=True)
class Reading:
    """Pieces of text in reading order; joined with what stands before each they give the visible text.

    ``pieces``: texts without line breaks or doubled blanks, none empty. ``before``: what parts each from the
    piece before it in its unit: line feed, tab, blank or nothing. ``bold``: set wholly in bold type.
    ``tables``: data tables, in order, not overlapping. ``page_starts``: numbers of pieces that begin a new page.
    """

    pieces: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    bold: list[bool] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    page_starts: set[int] = field(default_factory=set)


class _Looks(dict[tuple[str, str | None], Look]):
    """Look of each tag (``td``, ``ix:nonfraction``) with each ``style``, worked out once."""

    def __missing__(self, key: tuple[str, str | None]) -> Look:
        tag, style = key
        space, _, name = tag.rpartition(":")
        kind = (_IX_KIND_OF if space == "ix" else _KIND_OF).get(name, INLINE)
        rules = dict(_RULE.findall(style.lower())) if style else {}
        display, weight = rules.get("display", ""), rules.get("font-weight", rules.get("font", ""))
        block = kind in _BLOCKS
        if kind not in _TABULAR:
            if rules.get("position") in {"absolute", "fixed"} or rules.get("float") in {"left", "right"}:
                block = True
            elif display:
                block = not display.startswith(("inline", "contents"))
        bold = True if kind in (STRONG, HEADING) else None
        if weight:
            bold = "bold" in weight or weight[:3] in {"600", "700", "800", "900"}
        hidden = kind == SKIP or display == "none" or rules.get("visibility") in {"hidden", "collapse"}
        breaks_page = any(rules.get(name) in {"always", "page", "left", "right"} for name in _PAGE_BREAKS)
        self[key] = look = Look(kind, hidden, block, bold, breaks_page)
        return look


class Reader:
    """Hears of elements and texts as they come (see ``markup.parse``) and fills ``reading``."""

    def __init__(self) -> None:
        self.reading = Reading()
        self.looks = _Looks()
        self.open: list[tuple[int, bool, bool, Any]] = []
        self.unseen = 0
        self.bold = False
        self.parts: list[str] = []
        self.length = 0
        self.pending_blank = False
        self.light = 0
        self.preformatted = 0
        self.tables: list[Table] = []
        self.concepts: dict[str, str] = {}

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin an element; one that is not shown hides all it holds."""
        if self.unseen:
            self.unseen += 1
            return
        if attributes:  # without any, the mapping is an empty one that is slow to ask
            style, hidden = attributes.get("style"), "hidden" in attributes
        else:
            style, hidden = None, False
        kind, unshown, block, bold, breaks_page = self.looks[tag, style]
        if unshown or hidden:
            self.unseen = 1
            return
        if block:
            if self.length:
                self.flush()
            if breaks_page:
                self.reading.page_starts.add(len(self.reading.pieces))
        if kind <= BLOCK:
            mark = None
        elif kind == CELL:
            mark = self.tables[-1].begin_cell(len(self.reading.pieces), attributes) if self.tables else None
        else:
            mark = self.enter(kind, attributes)
        self.open.append((kind, block, self.bold, mark))
        if bold is not None:
            self.bold = bold

    def end(self, tag: str) -> None:
        """End the element that began last."""
        if self.unseen:
            self.unseen -= 1
            return
        kind, block, self.bold, mark = self.open.pop()
        if block and self.length:
            self.flush()
        if mark is not None and (kind != CELL or mark[0] < len(self.reading.pieces)):
            self.leave(kind, mark)

    def data(self, text: str) -> None:
        """Append text with every run of blanks folded to one; in preformatted text line feeds are seen."""
        if self.unseen:
            return
        if self.preformatted and "\n" in text:
            *lines, text = text.split("\n")
            for line in lines:
                self.data(line)
                self.flush()
        if not text.isascii() and _ODD.search(text):
            text = text.translate(_UNSEEN)
        words = text.split()
        if not words:
            self.pending_blank = self.pending_blank or bool(text)
            return
        if self.length and (self.pending_blank or text[0].isspace()):
            self.parts.append(" ")
            self.length += 1
        folded = words[0] if len(words) == 1 else " ".join(words)
        self.parts.append(folded)
        self.length += len(folded)
        self.pending_blank = text[-1].isspace()
        if not self.bold:
            self.light += len(folded)

    def close(self) -> None:
        """End the last piece."""
        self.flush()

    def flush(self) -> None:
        """End the current piece, if there is one."""
        if self.length:
            parts, reading = self.parts, self.reading
            reading.pieces.append(parts[0] if len(parts) == 1 else "".join(parts))
            reading.before.append("\n")
            reading.bold.append(self.light * 10 <= self.length)
            parts.clear()
            self.length = self.light = 0
        self.pending_blank = False

    def enter(self, kind: int, attributes: Mapping[str, str]) -> Any:
        """Begin a table, row or fact; give what ``leave`` needs, or None."""
        here = len(self.reading.pieces)
        if kind == FIGURE:
            return attributes.get("name", ""), here, self.length
        if kind == ROW:
            if self.tables:
                self.tables[-1].begin_row()
        elif kind == BREAK:
            self.flush()
        elif kind in (FACT, CONTINUATION):
            concept = (
                attributes.get("name", "")
                if kind == FACT
                else self.concepts.get(attributes.get("id", ""), "")
            )
            if "continuedat" in attributes:
                self.concepts[attributes["continuedat"]] = concept
            return concept, here, self.length
        elif kind == PREFORMATTED:
            self.preformatted += 1
            return True
        elif kind == TABLE:
            self.tables.append(Table(here))
            return True
        return None

    def leave(self, kind: int, mark: Any) -> None:
        """End a table, cell or fact."""
        reading = self.reading
        here = len(reading.pieces)
        if kind == CELL:
            self.tables[-1].end_cell(mark, here)
        elif kind == PREFORMATTED:
            self.preformatted -= 1
        elif kind == TABLE:
            table = self.tables.pop()
            table.last = here
            nested = [inner for inner in reading.tables[-1:] if inner.first >= table.first]
            if lay_out(table, bool(nested), reading.pieces, reading.before, reading.bold):
                reading.tables.append(table)
        elif mark[0]:
            concept, first, start = mark
            last, end = (
                (here, self.length) if self.length else (here - 1, len(reading.pieces[-1]) if here else 0)
            )
            if (first, start) < (last, end):
                reading.facts.append(Fact(concept, first, start, last, end))
