"""Which lines of a filing are headings: of a section (Part, Item, Note), or of something within one."""

from __future__ import annotations

import re
from collections import Counter
from itertools import takewhile

NONE, PLAIN, SECTION = range(3)

_SECTION = re.compile(
    r"(?:PART|Part)\s+[IVX]{1,4}\b|(?:ITEM|Item)s?\s*\d{1,2}[A-C]?\b|(?:NOTE|Note)\s+(?:\d{1,2}|[A-Z])\b"
)
_NUMBERED_SECTION = re.compile(r"\d{1,2}\.\s?[A-Z][A-Za-z]{2}|[A-Z]\.\s?[A-Z]{3}")
_AFTER_NUMBER = re.compile(r"\s*(?:[.:,–—-]|$)")
_CONTINUED = re.compile(r"[\s–—-]*\(?\bcontinued\b\)?\.?$", re.I)
_NOT_A_TITLE = re.compile(
    r"[^A-Za-z\d“\"]|.*[☐☑☒]|none$|\d[\d,.]*\s*%?$|.*[,;:]$|.*\b(?:19|20)\d\d$"
    r"|table of contents$|page\b|years? ended\b|as of\b|at \w+ \d",
    re.I,
)
_LETTERS = re.compile(r"[A-Za-z]{3}|[A-Z]{2}")
_LONG_LINE = 200
_MOST_WORDS = 25
_MOST_PLAIN_WORDS = 10


def heading_rank(line: str, bold: bool, lonely: bool) -> int:
    """Say whether a line is the heading of a section, another heading, or none.

    ``bold``: the whole line is in bold type. ``lonely``: it stands between finished sentences above and a
    paragraph, a table or another heading below, which is what tells a plain heading from a fragment.
    """
    words = line.count(" ") + 1
    if words > _MOST_WORDS or not _LETTERS.search(line):
        return NONE
    section = _SECTION.match(line)
    upper = line.isupper()
    if section is not None and (
        bold or upper or (_AFTER_NUMBER.match(line, section.end()) and line[-1] not in ".,;")
    ):
        return SECTION
    if (
        (bold or (lonely and words <= _MOST_PLAIN_WORDS))
        and line[-1] not in ",;:."
        and _NUMBERED_SECTION.match(line)
    ):
        return SECTION
    if _NOT_A_TITLE.match(line) is not None:
        return NONE
    if bold or (upper and words > 1):
        return PLAIN
    title = lonely and words <= _MOST_PLAIN_WORDS and line[-1] not in ".?!" and line[:1].isupper()
    return PLAIN if title else NONE


def heading_name(line: str) -> str:
    """A heading as it stands where its section begins: without ``(continued)``."""
    return _CONTINUED.sub("", line) or line


def furniture(lines: list[str], page_starts: list[int]) -> tuple[set[int], set[int]]:
    """Find page headers and page footers: give the numbers of their lines.

    ``page_starts``: for each page break the number of the first line behind it; a table is an empty line. Up to
    three lines below and above a break count as long as each, digits aside, stands there on four pages or more.
    """
    headers = [range(start, min(start + 3, len(lines))) for start in page_starts]
    footers = [range(start - 1, max(start - 4, -1), -1) for start in page_starts]
    return _repeated(lines, headers), _repeated(lines, footers)


def _repeated(lines: list[str], places: list[range]) -> set[int]:
    """The lines that many places begin with."""
    shapes = [[re.sub(r"\d+", "#", lines[number][:_LONG_LINE]) for number in place] for place in places]
    counts = Counter(shape for place in shapes for shape in set(place) if 0 < len(shape) < _LONG_LINE)
    return {
        number
        for place, beginning in zip(places, shapes, strict=True)
        for number, _ in takewhile(lambda line: counts[line[1]] >= 4, zip(place, beginning, strict=True))
    }
