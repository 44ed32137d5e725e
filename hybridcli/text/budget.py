"""Windows against an encoder's input: counting tokens, and cutting again what is too long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from hybridcli.errors import UsageError
from hybridcli.records import Unit, Window
from hybridcli.text.cutting import Carried, Cut, TokenCounter, cut_unit, make_window, word_spans

BATCH = 1024
# the smallest input that holds any one character: five tokens (bytes and a word mark) and some air
LEAST = 8
Counted = list[tuple[Window, int]]


@dataclass(frozen=True, slots=True)
class CutUnit:
    """A unit and its windows; ``tokens``: of each window, None without a budget; ``split``: windows cut again."""

    unit: Unit
    windows: list[Window]
    tokens: list[int] | None = None
    split: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """At most ``max_tokens`` tokens (special ones included) a window; ``split``: cut again what is over."""

    counter: TokenCounter
    max_tokens: int
    split: bool = False

    def __post_init__(self) -> None:
        least = self.counter.special + LEAST
        if self.max_tokens < least:
            raise UsageError(f"a budget of {self.max_tokens} tokens is too small; give {least} or more")

    def over(self, cut: CutUnit) -> list[tuple[str, int]]:
        """Id and tokens of each window of the unit that is over the budget."""
        pairs = zip(cut.windows, cut.tokens or (), strict=True)
        return [(window.id, count) for window, count in pairs if count > self.max_tokens]


def cut_all(units: Iterable[Unit], how: Cut, budget: Budget | None = None) -> Iterator[CutUnit]:
    """Cut units in their order. With a budget, windows of many units are counted in one batch."""
    batch: list[CutUnit] = []
    for unit in units:
        piece = CutUnit(unit, cut_unit(unit, how))
        if budget is None:
            yield piece
            continue
        batch.append(piece)
        if sum(len(piece.windows) for piece in batch) >= BATCH:
            yield from _counted(batch, how, budget)
            batch = []
    if budget is not None:
        yield from _counted(batch, how, budget)


def _counted(batch: list[CutUnit], how: Cut, budget: Budget) -> Iterator[CutUnit]:
    windows = chain.from_iterable(piece.windows for piece in batch)
    tokens = iter(budget.counter.count([window.contents for window in windows]))
    for piece in batch:
        counted = [(window, next(tokens)) for window in piece.windows]
        over = sum(count > budget.max_tokens for _, count in counted)
        if over and budget.split:
            counted = fit(piece.unit, counted, how, budget)
        yield CutUnit(
            piece.unit,
            [window for window, _ in counted],
            [count for _, count in counted],
            over if budget.split else 0,
        )


def fit(unit: Unit, counted: Counted, how: Cut, budget: Budget) -> Counted:
    """Cut the windows of a unit again until none is over the budget; ids are numbered anew.

    A window is halved (with the overlap's share of it), again and again; a single word too long is halved by
    characters. Pieces that lie wholly inside a neighbour are dropped. A carried heading that takes more than half
    of the budget is left out of the pieces: first the columns, then all of it.
    """
    carried = _carried_within(unit, budget) if how.carry_headings else Carried()
    whole: Counted = []
    for window, count in counted:
        for piece in _pieces(unit, window, count, carried, how, budget):
            while whole and _inside(whole[-1][0], piece[0]):
                whole.pop()
            if not (whole and _inside(piece[0], whole[-1][0])):
                whole.append(piece)
    return [
        (replace(window, id=f"{unit.doc}:{unit.unit}:{number}"), count)
        for number, (window, count) in enumerate(whole)
    ]


def _carried_within(unit: Unit, budget: Budget) -> Carried:
    full = Carried.of(unit)
    choices = [full, replace(full, columns=""), Carried()]
    counts = budget.counter.count([choice.heading + choice.columns for choice in choices])
    room = budget.max_tokens // 2
    return next(choice for choice, count in zip(choices, [*counts[:2], 0], strict=True) if count <= room)


def _pieces(
    unit: Unit, window: Window, count: int, carried: Carried, how: Cut, budget: Budget
) -> Iterator[tuple[Window, int]]:
    lighter = carried.prefix(window.start) + window.body
    if count <= budget.max_tokens:
        yield window, count
        return
    if len(lighter) < len(window.contents):
        halves = [replace(window, contents=lighter)]
    elif window.char_end - window.char_start > 1:
        halves = _halves(unit, window, carried, how)
    else:  # one character that weighs more than LEAST tokens
        yield window, count
        return
    counts = budget.counter.count([half.contents for half in halves])
    for half, tokens in zip(halves, counts, strict=True):
        yield from _pieces(unit, half, tokens, carried, how, budget)


def _halves(unit: Unit, window: Window, carried: Carried, how: Cut) -> list[Window]:
    begin = window.char_start
    words = word_spans(window.body)
    if len(words) == 1:
        middle = (begin + window.char_end) // 2
        ranges = [
            ((window.start, window.end), (begin, middle)),
            ((window.start, window.end), (middle, window.char_end)),
        ]
    else:
        share = len(words) * how.overlap // (4 * how.size) if how.size is not None else 0
        first, second = len(words) // 2 + share, len(words) // 2 - share
        ranges = [
            ((window.start, window.start + first), (begin, begin + words[first - 1][1])),
            ((window.start + second, window.end), (begin + words[second][0], window.char_end)),
        ]
    return [make_window(unit, 0, word, chars, carried.prefix(word[0])) for word, chars in ranges]


def _inside(inner: Window, outer: Window) -> bool:
    return outer.char_start <= inner.char_start and inner.char_end <= outer.char_end
