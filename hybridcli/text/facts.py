"""Inline XBRL as labels: the concepts of the facts that a window prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hybridcli.records import Unit, Window

# where a word of a concept's name begins: EBITDA|Margin, Income|Tax, Level|1, Level1|Assets
BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=[0-9])|[\W_]+")


def concepts_of(unit: Unit, windows: Sequence[Window]) -> Iterator[tuple[str, str]]:
    """Yield (window id, concept) for each concept with a fact in the window's characters, once, in reading order."""
    if unit.facts:
        for window in windows:
            printed = (
                concept
                for start, end, concept in sorted(unit.facts)
                if start < end and start < window.char_end and end > window.char_start
            )
            for concept in dict.fromkeys(printed):
                yield window.id, concept


def concept_words(concept: str) -> str:
    """The name in words: ``us-gaap:IncomeTaxExpenseBenefit`` gives ``income tax expense benefit``."""
    return BORDER.sub(" ", concept.rpartition(":")[2]).strip().lower()
