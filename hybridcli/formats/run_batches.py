"""Reading several runs side by side in batches of whole queries, so that runs larger than memory can be fused."""

from __future__ import annotations

import collections
import contextlib
import ctypes
import functools
import io
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import BinaryIO, TypeVar

import numpy as np

from hybridcli.formats.files import STDIN, is_ordinary, open_bytes, read_bytes
from hybridcli.formats.plain import LINE_END
from hybridcli.formats.run_lists import concatenate, detach, runs_of, take_groups
from hybridcli.formats.run_rows import Findings, Rows, no_rows, parse_rows
from hybridcli.records import Run

BLOCK = 2 << 20  # bytes of a run that are read at once; a few blocks a run are in memory
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # as in glibc's malloc.h
S = TypeVar("S")
T = TypeVar("T")


class Scattered(Exception):
    """The lines of a query do not stand together in a run: it cannot be read in batches."""


class RunSource:
    """A run that can be read more than once: a regular file by its name, a pipe from memory."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._data = read_bytes(path) if path == STDIN or not is_ordinary(path) else None

    @contextlib.contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open from the beginning."""
        with open_bytes(self.path) if self._data is None else io.BytesIO(self._data) as stream:
            yield stream

    def blocks(self, size: int) -> Iterator[tuple[bytes, int]]:
        """Yield blocks of whole queries, each with the number of its first line."""
        with self.open() as stream:
            yield from blocks_of(stream, size)


def blocks_of(stream: BinaryIO, size: int = BLOCK) -> Iterator[tuple[bytes, int]]:
    """Yield blocks of whole queries of a run that is open, each with the number of its first line."""
    line, rest, wanted = 1, b"", size
    while chunk := stream.read(wanted):
        data = rest + chunk
        cut = last_query(data)
        wanted = size if cut else 2 * len(data)  # one query fills the block: look further ahead
        if cut:
            yield data[:cut], line
            line += int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8, count=cut) == LINE_END))
        rest = data[cut:]
    if rest:
        yield rest if rest.endswith(b"\n") else rest + b"\n", line


def last_query(data: bytes) -> int:
    """Find where lines of the last query begin among the complete lines of ``data``, and no other qid stands before.

    0 if that is the first line. By halving, so that lists of any length are cut in a few looks.
    """
    end = start = data.rfind(b"\n") + 1
    last = None
    while start > 0 and last is None:
        start = data.rfind(b"\n", 0, start - 1) + 1
        last = _qid_from(data, start, end)
    low, high = 0, start
    if last is None or _qid_from(data, 0, end) == last:
        return 0
    while (
        high - low > 1
    ):  # the first line at or after `low` has another qid, the first at or after `high` has the last
        middle = (low + high) // 2
        if _qid_from(data, middle, end) == last:
            high = middle
        else:
            low = middle
    return data.index(b"\n", low) + 1


def _qid_from(data: bytes, position: int, end: int) -> bytes | None:
    """The qid of the first line of a run that begins at or after ``position``; None if there is none before ``end``."""
    start = data.find(b"\n", position - 1, end) + 1 if position else 0
    while start < end:
        stop = data.index(b"\n", start) + 1
        columns = data[start:stop].split(None, 1)
        if columns and not columns[0].startswith(b"#"):
            return columns[0]
        start = stop
    return None


class RunBatches:
    """Iterate over lists of R Runs (one a source, with one ``docnos``), each for the next queries of the runs.

    A query comes as soon as every run has shown it or has ended. Afterwards ``queries`` holds each run's qids in
    the order of its file, ``tags`` the runs' tags and ``findings`` what was odd. Raises Scattered when some run's
    lines of a query do not stand together; then ``whole`` reads everything at once.
    """

    def __init__(
        self,
        sources: Sequence[RunSource],
        *,
        lenient: bool = False,
        lower_is_better: Sequence[bool] = (),
        block: int | None = None,
    ) -> None:
        self.sources, self.lenient, self.block = sources, lenient, block or BLOCK
        self.negate = list(lower_is_better) or [False] * len(sources)
        self.queries: list[list[str]] = [[] for _ in sources]
        self.tags = ["run"] * len(sources)
        self.findings = [Findings() for _ in sources]
        self._lock = threading.Lock()

    def whole(self) -> list[Run]:
        """Read all runs into memory."""
        self.findings = [Findings() for _ in self.sources]
        parts = [
            concatenate(list(self._rows(i)) or [no_rows(source.path)])
            for i, source in enumerate(self.sources)
        ]
        runs = self.make(parts)
        self.queries = [run.queries for run in runs]
        return runs

    def make(self, parts: Sequence[Rows]) -> list[Run]:
        """Turn one part of each run to Runs; safe to call from several threads."""
        runs = runs_of(parts, lenient=self.lenient)
        with self._lock:
            for findings, rows in zip(self.findings, parts, strict=True):
                findings.add(rows.findings)
        return runs

    def batches(self) -> Iterator[list[Rows]]:
        """Yield the parts of which each list makes a batch, for ``make``."""
        streams = [self._rows(i) for i in range(len(self.sources))]
        waiting: list[dict[str, tuple[Rows, int]]] = [{} for _ in streams]
        seen: list[set[str]] = [set() for _ in streams]
        open_runs = set(range(len(streams)))
        behind = set(open_runs)
        latest: list[Rows | None] = [None] * len(streams)
        while open_runs:
            # the run that lags behind is read on, so that few queries wait; a batch comes when all have moved
            slowest = min(open_runs, key=lambda i: len(seen[i]))
            rows = next(streams[slowest], None)
            behind.discard(slowest)
            if rows is None:
                open_runs.remove(slowest)
            else:
                if not seen[slowest].isdisjoint(rows.queries) or len(set(rows.queries)) < len(rows.queries):
                    raise Scattered
                seen[slowest].update(rows.queries)
                self.queries[slowest] += rows.queries
                latest[slowest] = rows
                waiting[slowest].update({qid: (rows, group) for group, qid in enumerate(rows.queries)})
            if behind & open_runs:
                continue
            behind = set(open_runs)
            ready = [
                qid
                for qid in dict.fromkeys(qid for run in waiting for qid in run)
                if all(qid in run or i not in open_runs for i, run in enumerate(waiting))
            ]
            if ready:
                yield [
                    _collect([run.pop(qid) for qid in ready if qid in run], self.sources[i].path)
                    for i, run in enumerate(waiting)
                ]
            for i, run in enumerate(waiting):
                for qid, (part, group) in run.items():
                    # a query that only this run has: let go of the block it came in
                    if part is not latest[i] and len(part.queries) > 1:
                        run[qid] = detach(part, group), 0

    def _rows(self, i: int) -> Iterator[Rows]:
        """Parse the blocks of run i, a few ahead."""
        path = self.sources[i].path
        blocks = self.sources[i].blocks(self.block)
        first = True

        def parse(block: tuple[bytes, int]) -> Rows:
            return parse_rows(block[0], path, block[1], lenient=self.lenient, negate=self.negate[i])

        ahead = 2 if len(self.sources) > 1 else 0  # few, or the other runs' blocks wait behind them
        for rows in map_ordered(parse, blocks, ahead):
            if rows.queries and first:
                self.tags[i], first = rows.tag, False
            self.findings[i].add(rows.findings)
            yield replace(rows, findings=Findings())


def _collect(found: Sequence[tuple[Rows, int]], path: str) -> Rows:
    """Bring together groups of lines from one or more parts of a run."""
    by_part: dict[int, tuple[Rows, list[int]]] = {}
    for rows, group in found:
        by_part.setdefault(id(rows), (rows, []))[1].append(group)
    parts = [
        rows if groups == list(range(len(rows.queries))) else take_groups(rows, np.array(groups))
        for rows, groups in by_part.values()
    ]
    return concatenate(parts) if parts else no_rows(path)


def map_ordered(function: Callable[[S], T], items: Iterable[S], ahead: int = 0) -> Iterator[T]:
    """Yield ``function(item)`` in the order of the items, computed by the threads of ``_workers``, ``ahead`` of them.

    ``function`` may not use map_ordered itself.
    """
    ahead = ahead or (os.cpu_count() or 1) + 1
    pending: collections.deque[Future[T]] = collections.deque()
    try:
        for item in items:
            pending.append(_workers().submit(function, item))
            if len(pending) >= ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        for future in pending:
            future.cancel()


@functools.cache
def _workers() -> ThreadPoolExecutor:
    """One pool for all that is done to blocks: with one a stage, threads get in each other's way (a tenth slower)."""
    sys.setswitchinterval(1e-4)  # they wait for each other's short steps: another tenth
    with contextlib.suppress(OSError, AttributeError):  # glibc only
        # arrays of one block are kept for the next, not given back page by page: another tenth
        allocator = ctypes.CDLL(None)
        allocator.mallopt(M_TRIM_THRESHOLD, 64 << 20)
        allocator.mallopt(M_MMAP_THRESHOLD, 32 << 20)
    return ThreadPoolExecutor((os.cpu_count() or 1) + 1)
