"""The kinds of files that can be checked: one registered function each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hybridcli.formats.checks.source import Source
from hybridcli.records import Sheet

# what a checker gives: the sheet, and the content without what is wrong (None: nothing is left)
Checked = tuple[Sheet, Any]
Checker = Callable[[Source], Checked]
CHECKERS: dict[str, tuple[Checker, str]] = {}


def checker(kind: str, about: str) -> Callable[[Checker], Checker]:
    """Register the check of a kind of files; ``about`` is for help."""

    def register(function: Checker) -> Checker:
        CHECKERS[kind] = (function, about)
        return function

    return register


def kind_rows() -> list[tuple[str, str]]:
    """(kind, what it is), for help and README."""
    return [(kind, about) for kind, (_, about) in sorted(CHECKERS.items())]


def some(values: list[str], limit: int = 5) -> str:
    """Name the first of many values."""
    return ", ".join(values[:limit]) + (f" and {len(values) - limit:,} more" if len(values) > limit else "")
