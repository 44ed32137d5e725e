"""HTML and inline-XBRL filings to units: tables, and the paragraphs between tables and section headings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import accumulate, islice

from hybridcli.records import Unit
from hybridcli.text.headings import NONE, PLAIN, SECTION, furniture, heading_name, heading_rank
from hybridcli.text.markup import parse
from hybridcli.text.reading import Reader, Reading
from hybridcli.text.tables import Table, is_unit_line

_CAPTION_WORDS = 60
_CAPTION_LINE_WORDS = 12
_SMALL_TEXT_WORDS = 30
_SMALL_TABLES_WORDS = 120
_PROSE_WORDS = 15
_BULLET = re.compile(r"[•●○■□▪▫◦‣⁃·∙►▶➢✓✔☐☑☒†‡*]|\(?\w{1,3}\)")
_FOOTNOTE = re.compile(
    r"\*{1,4}\s?\S|[†‡§¹²³⁴⁵]|\(?\w{1,2}\)\s?\S|\d\s?[A-Z]|see accompanying|the accompanying notes", re.I
)


@dataclass(slots=True)
class _Block:
    """A table (``table`` set) or a line outside tables: pieces ``first`` to before ``last``.

    ``furniture``: header or footer of a page; such a line is no heading, but may be a title (``page_title``).
    """

    first: int
    last: int
    words: int
    text: str = ""
    rank: int = NONE
    furniture: bool = False
    page_title: bool = False
    table: Table | None = None


@dataclass(slots=True)
class _Draft:
    """A unit in the making: blocks in a row, ``captions`` of them in front of its first table."""

    blocks: list[_Block] = field(default_factory=list)
    captions: int = 0
    opens_section: bool = False

    @property
    def words(self) -> int:
        return sum(block.words for block in self.blocks)

    @property
    def table(self) -> Table | None:
        return next((block.table for block in self.blocks if block.table is not None), None)


def parse_filing(data: bytes, doc: str) -> list[Unit]:
    """Cut a filing into units, in reading order; all of them together are what a reader sees, whole and once.

    A unit of kind ``table`` is a table, one line a row, cells separated by a tab, after the lines that entitle
    it ("Balance sheets", "in millions") and before its footnotes; ``header_rows`` counts these lines and the
    column headers. Everything else between two tables or section headings is one unit of kind ``text``, one line
    a paragraph, a sentence that leads to a table too; page numbers stay where they stand. ``facts`` are the
    visible inline-XBRL facts that lie wholly in one unit; longer ones, such as the text block of a note, are left
    out, and of a fact that is continued elsewhere each printed part counts.

    ``data``: the file, unpacked, in any declared encoding. Raises DataError where it is not HTML.
    """
    reader = Reader()
    parse(data, reader)
    drafts = _merge(_draft(_blocks(reader.reading)))
    return _write(drafts, reader.reading, doc)


def _blocks(reading: Reading) -> list[_Block]:
    """Group pieces to lines and tables, and find the headings and the page furniture among the lines."""
    pieces, before = reading.pieces, reading.before
    blocks: list[_Block] = []
    piece = 0
    for table in [*reading.tables, Table(len(pieces), len(pieces))]:
        while piece < table.first:
            first, piece = piece, piece + 1
            while piece < table.first and before[piece] != "\n":
                piece += 1
            text = pieces[first] if piece == first + 1 else "".join(_joined(reading, first, piece))
            blocks.append(_Block(first, piece, text.count(" ") + 1, text))
        if table.last > table.first:
            words = sum(text.count(" ") + 1 for text in pieces[table.first : table.last])
            blocks.append(_Block(table.first, table.last, words, table=table))
        piece = table.last
    page_starts = [number for number, block in enumerate(blocks) if block.first in reading.page_starts]
    headers, footers = furniture([block.text for block in blocks], page_starts)
    for number, block in enumerate(blocks):
        block.furniture = number in headers or number in footers
        if block.table is None and number not in footers:
            above, below = blocks[number - 1 : number], blocks[number + 1 : number + 2]
            lonely = all(_ends(other) for other in above) and any(_is_body(other) for other in below)
            rank = heading_rank(block.text, all(reading.bold[block.first : block.last]), lonely)
            block.rank, block.page_title = (NONE, rank == PLAIN) if block.furniture else (rank, False)
    return blocks


def _ends(block: _Block) -> bool:
    """Whether nothing of this block can go on in the next line."""
    return bool(block.table or block.rank or block.furniture) or block.text[-1] in '.:;!?”"'


def _is_body(block: _Block) -> bool:
    """Whether this block can be what a heading stands above: a table, a paragraph, a sentence."""
    return (
        block.table is not None or block.words > _PROSE_WORDS or (block.words > 4 and block.text[-1] in ".:")
    )


def _joined(reading: Reading, first: int, last: int) -> list[str]:
    """The pieces of a span, with what parts them."""
    parts = [""] * (2 * (last - first) - 1)
    parts[::2] = reading.pieces[first:last]
    parts[1::2] = reading.before[first + 1 : last]
    return parts


def _draft(blocks: list[_Block]) -> list[_Draft]:
    """Cut blocks at tables and section headings; the titles of a table go with it."""
    drafts: list[_Draft] = []
    text = _Draft()
    section = ""
    for block in blocks:
        if block.table is not None:
            captions = _captions(text.blocks)
            rest = _Draft(text.blocks[: len(text.blocks) - captions])
            table = _Draft([*text.blocks[len(rest.blocks) :], block], captions)
            for draft in (rest, table):
                draft.opens_section = text.opens_section and any(
                    line.rank == SECTION for line in draft.blocks
                )
            drafts += [draft for draft in (rest, table) if draft.blocks]
            text = _Draft()
            continue
        if block.rank == SECTION and (name := heading_name(block.text).casefold()) != section:
            section = name
            if any(not (line.rank or line.furniture) for line in text.blocks):
                drafts.append(text)
                text = _Draft()
            text.opens_section = True
        text.blocks.append(block)
    return [*drafts, text] if text.blocks else drafts


def _captions(lines: list[_Block]) -> int:
    """How many of the lines in front of a table are its titles: headings and short lines, no sentence.

    A page header that is a title, as the company's name above a statement, is one only above other such lines.
    """
    count = words = 0
    for line in reversed(lines):
        words += line.words
        title = line.rank or (line.page_title and count) or is_unit_line(line.text)
        sentence = line.words > _CAPTION_LINE_WORDS or line.text[-1] in ".:"
        if words > _CAPTION_WORDS or (not title and (sentence or line.furniture or _BULLET.match(line.text))):
            break
        count += 1
    return count


def _merge(drafts: list[_Draft]) -> list[_Draft]:
    """Put together what would be slivers: tiny sections, footnotes with their table, small tables side by side."""
    merged: list[_Draft] = []
    for draft in drafts:
        if merged and _belongs(draft, merged[-1]):
            merged[-1].blocks += draft.blocks
        else:
            merged.append(draft)
    return merged


def _belongs(draft: _Draft, last: _Draft) -> bool:
    """Whether a draft is to be one unit with the one before it."""
    if draft.opens_section:
        return draft.table is None and last.table is None and last.words < _SMALL_TEXT_WORDS
    if last.table is None:
        return False
    if draft.table is None:
        return _are_footnotes(draft.blocks)
    return last.words + draft.words <= _SMALL_TABLES_WORDS


def _are_footnotes(lines: list[_Block]) -> bool:
    """Whether all lines below a table belong to it, or are page furniture."""
    return (
        all(
            line.furniture or (not line.rank and (line.words < 4 or _FOOTNOTE.match(line.text)))
            for line in lines
        )
        and sum(line.words for line in lines) <= _CAPTION_WORDS
    )


def _write(drafts: list[_Draft], reading: Reading, doc: str) -> list[Unit]:
    """Write out texts, headings and facts."""
    starts: list[int] = []
    unit_of: list[int] = []
    texts: list[str] = []
    for number, draft in enumerate(drafts):
        first, last = draft.blocks[0].first, draft.blocks[-1].last
        parts = _joined(reading, first, last)
        texts.append("".join(parts))
        starts += islice(accumulate(map(len, parts), initial=0), 0, len(parts), 2)
        unit_of += [number] * (last - first)
    facts: list[list[tuple[int, int, str]]] = [[] for _ in drafts]
    for fact in reading.facts:
        unit = unit_of[fact.first] if fact.first < len(unit_of) else -1
        if unit >= 0 and unit == unit_of[fact.last]:
            text, start, end = texts[unit], starts[fact.first] + fact.start, starts[fact.last] + fact.end
            while start < end and text[start].isspace():
                start += 1
            if start < end:
                facts[unit].append((start, end, fact.concept))
    units = []
    heading = ""
    for number, draft in enumerate(drafts):
        table = draft.table
        lead = draft.blocks[: draft.captions] if table is not None else _leading_headings(draft.blocks)
        titles = [line for line in lead if line.rank]
        sections = [line for line in titles if line.rank == SECTION] if table is None else []
        own = (
            heading_name((sections or titles)[-1].text)
            if titles
            else table.title
            if table is not None
            else ""
        )
        units.append(
            Unit(
                doc=doc,
                unit=number,
                kind="text" if table is None else "table",
                text=texts[number],
                heading=own or heading,
                header_rows=0 if table is None else draft.captions + table.header_rows,
                facts=tuple(sorted(facts[number])),
            )
        )
        heading = next((heading_name(line.text) for line in reversed(draft.blocks) if line.rank), heading)
    return units


def _leading_headings(lines: list[_Block]) -> list[_Block]:
    """The headings that a unit of text begins with, page furniture between them aside."""
    leading = []
    for line in lines:
        if not line.rank and not line.furniture:
            break
        leading.append(line)
    return leading
