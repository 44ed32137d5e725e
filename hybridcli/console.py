"""What a person reads: notes, warnings and progress, all on stderr. stdout carries data only."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def say(lines: Iterable[str]) -> None:
    """Print lines (a small table) on stderr as they are."""
    for line in lines:
        print(line, file=sys.stderr)


def note(message: str) -> None:
    """Print one line of information on stderr."""
    print(f"note: {message}", file=sys.stderr)


def warn(message: str) -> None:
    """Print one line on stderr that a careful reader must not miss."""
    print(f"warning: {message}", file=sys.stderr)


def first_of(names: Sequence[str], most: int = 5) -> str:
    """Name the first of many, for a message."""
    return ", ".join(names[:most]) + (" …" if len(names) > most else "")


def track(items: Iterable[T], description: str, total: int | None = None) -> Iterator[T]:
    """Yield ``items``; show a progress bar on stderr, only when stderr is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield from progress.track(items, description=description, total=total)
