"""Lists of names in help texts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

WIDTH = 76


def listing(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A title and, below it, names with what they are, each wrapped beside its name; kept as it is by \\b."""
    pairs = list(rows)
    indent = " " * (max(len(name) for name, _ in pairs) + 4)
    wrap = textwrap.TextWrapper(WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    lines = []
    for name, about in pairs:
        wrap.initial_indent = f"  {name}".ljust(len(indent))
        lines.append(wrap.fill(about))
    return "\n".join(["\b", title, *lines])
