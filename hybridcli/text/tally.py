"""The distribution of windows, as `window` reports it."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator

import numpy as np

from hybridcli.text.budget import Budget, CutUnit

SHOWN = 5
LISTED = 20


class Tally:
    """Counts documents, units and windows while they stream by; keeps a few bytes for each.

    ``over``: (window id, tokens) of the windows over the budget.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget
        self.over: list[tuple[str, int]] = []
        self.units = {"text": 0, "table": 0}
        self.words = array("q")
        self.tokens = array("q")
        self.split = 0
        self.empty: list[str] = []
        self.empties = 0
        self._windows = array("q")
        self._open: deque[str] = deque()

    def add_document(self, docno: str) -> None:
        """Count a document; its units follow, before those of the next one."""
        self._open.append(docno)
        self._windows.append(0)

    def add(self, cut: CutUnit) -> None:
        """Count a unit and its windows."""
        while self._open[0] != cut.unit.doc:
            self._close()
        self._windows[len(self._windows) - len(self._open)] += len(cut.windows)
        self.units[cut.unit.kind] += 1
        self.words.extend(window.end - window.start for window in cut.windows)
        if self.budget is not None:
            self.tokens.extend(cut.tokens or ())
            self.over += self.budget.over(cut)
        self.split += cut.split

    def close(self) -> None:
        """Say that nothing follows."""
        while self._open:
            self._close()

    def _close(self) -> None:
        count = self._windows[len(self._windows) - len(self._open)]
        docno = self._open.popleft()
        if count == 0:
            self.empties += 1
            self.empty += [docno] * (len(self.empty) < SHOWN)

    def lines(self) -> Iterator[str]:
        """The report, a line at a time."""
        yield (
            f"{len(self._windows):,} documents, {sum(self.units.values()):,} units ({self.units['table']:,} tables), "
            f"{len(self.words):,} windows"
        )
        if self.empties:
            more = "" if self.empties <= SHOWN else ", …"
            yield f"documents without a word, and so without a window: {self.empties:,} ({', '.join(self.empty)}{more})"
        if self.words:
            yield f"words a window: {distribution(self.words)}"
            yield f"windows a document: {distribution(self._windows)}"
        if self.budget is not None and self.tokens:
            yield f"tokens a window: {distribution(self.tokens)}; {self.budget.max_tokens} fit"
            if self.budget.split:
                yield f"{self.split:,} windows were over {self.budget.max_tokens} tokens and were cut again"
            if not self.over:
                yield f"no window is over {self.budget.max_tokens} tokens"

    def warning(self, *, listed: bool) -> str | None:
        """Say how many windows are over the budget, with the first of them if ``listed``; None if none is."""
        if self.budget is None or not self.over:
            return None
        share = len(self.over) / len(self.tokens)
        lines = [f"{len(self.over):,} windows ({share:.3%}) are over {self.budget.max_tokens} tokens"]
        if listed:
            lines += [f"  {name}\t{count}" for name, count in self.over[:LISTED]]
            if len(self.over) > LISTED:
                lines.append(f"  … and {len(self.over) - LISTED:,} more: --over-budget FILE lists them all")
        return "\n".join(lines)


def distribution(counts: array[int]) -> str:
    """Least, 5th percentile, median, 95th percentile and most, each a value that occurs."""
    low, five, middle, most5, high = np.percentile(counts, [0, 5, 50, 95, 100], method="inverted_cdf")
    return f"min {low:,}, 5 % {five:,}, median {middle:,}, 95 % {most5:,}, max {high:,}"
