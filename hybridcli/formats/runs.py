"""TREC run files: ``qid Q0 docno rank score tag``."""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import BinaryIO, Self, cast

import numpy as np
from numpy.typing import NDArray

from hybridcli import native
from hybridcli.console import note, warn
from hybridcli.errors import DataError
from hybridcli.formats.files import may_be_rewritten, name_of, open_output
from hybridcli.formats.run_batches import RunBatches, RunSource, Scattered, map_ordered
from hybridcli.formats.run_rows import Findings
from hybridcli.names import Names
from hybridcli.records import Run, rank_in_segment, segment_of

IN_MEMORY = 512 << 20  # bytes of output that wait in memory; more wait on disk


def read_run(path: str, *, lenient: bool = False, lower_is_better: bool = False) -> Run:
    """Read a run; the order comes from the scores, the rank column is ignored.

    Blanks or tabs between columns, CRLF, blank lines, ``#`` comment lines and gzip are all right. Raises DataError
    with file and line for a wrong number of columns, a score that is no finite number, and a document that a query
    lists twice. ``lenient``: keep the best of duplicates, drop bad lines, and report how many on stderr.
    ``lower_is_better``: scores are distances and are negated.
    """
    batches = RunBatches([RunSource(path)], lenient=lenient, lower_is_better=[lower_is_better])
    (run,) = batches.whole()
    report_findings([path], batches.findings)
    return run


def report_findings(paths: Sequence[str], findings: Sequence[Findings]) -> None:
    """Say on stderr what was dropped and where the rank column cannot be right."""
    for path, found in zip(paths, findings, strict=True):
        if found.lines_dropped:
            warn(
                f"{name_of(path)}: {found.lines_dropped} bad lines dropped; the first: {found.first_dropped}"
            )
        if found.duplicates_dropped:
            warn(f"{name_of(path)}: {found.duplicates_dropped} duplicate documents dropped, the best kept")
        if found.rank_lies is not None:
            note(
                f"{name_of(path)}: the rank column contradicts the scores (query {found.rank_lies}, for one); "
                "the order comes from the scores"
            )


def format_run(run: Run, *, double: bool = False) -> bytes:
    """Give the lines of a run in order; each score is a 32-bit float printed so that it reads back exactly.

    ``double``: scores stay 64-bit floats.
    """
    comment = next((qid for qid in run.queries if qid.startswith("#")), None)
    if comment is not None:
        raise DataError(f"query {comment} begins with #, so its lines would be comments in a run; rename it")
    scores = run.scores if double else run.scores.astype(np.float32)
    heads, tail = [f"{qid} Q0" for qid in run.queries], f" {run.tag}\n"
    if native.loops is None or not np.isfinite(scores).all():
        return _lines_by_polars(run, heads, scores, tail)
    before, docnos, single = Names.of(heads), run.docnos, not double
    return native.loops.run_lines(
        *(before.text, before.starts, run.offsets, run.docs, docnos.text, docnos.starts),
        *(scores.astype(np.float64), single, tail.encode()),
    )


def _lines_by_polars(run: Run, heads: list[str], scores: NDArray[np.floating], tail: str) -> bytes:
    import polars as pl

    # what stays the same needs no column of its own: polars then writes half as long
    frame = pl.DataFrame(
        {
            "head": pl.Series(heads, dtype=pl.String).gather(segment_of(run.offsets)),
            "docno": run.docnos.series.gather(run.docs),
            "rank": rank_in_segment(run.offsets),
            "score": scores,
        }
    )
    stream = io.BytesIO()
    frame.write_csv(stream, include_header=False, separator=" ", quote_style="never", line_terminator=tail)
    return stream.getvalue()


def write_run(run: Run, path: str, *, double: bool = False) -> None:
    """Write a run in order; each score is a 32-bit float (``double``: 64) printed so that it reads back exactly."""
    with open_output(path) as stream:
        stream.write(format_run(run, double=double))


class RunWriter:
    """Collect a run piece by piece; write it when the block ends without an error, in a given order of queries.

    Pieces go to the output itself where it is a plain file: most runs come in their final order.
    """

    def __init__(self, path: str, in_memory: int = IN_MEMORY) -> None:
        self.path = path
        self.queries: list[str] = []
        self.counts: list[int] = []
        self._in_memory = in_memory
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        self._direct = may_be_rewritten(self.path)
        self._pieces = self._stack.enter_context(open_output(self.path) if self._direct else self._spool())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def _spool(self) -> BinaryIO:
        return cast(BinaryIO, tempfile.SpooledTemporaryFile(max_size=self._in_memory))

    def add(self, run: Run, lines: bytes) -> None:
        """Add whole queries: ``lines`` is ``format_run(run)``."""
        self.queries += run.queries
        self.counts += np.diff(run.offsets).tolist()
        self._pieces.write(lines)

    def write(self, order: Sequence[str]) -> None:
        """Write everything, queries in the order given."""
        as_is = list(order) == self.queries
        if not self._direct:
            with open_output(self.path) as stream:
                self._copy(self._pieces, stream, None if as_is else order)
        elif not as_is:
            with self._spool() as pieces:
                self._pieces.flush()
                with open(self._pieces.name, "rb") as written:
                    shutil.copyfileobj(written, pieces, 1 << 20)
                self._pieces.seek(0)
                self._copy(pieces, self._pieces, order)

    def _copy(self, pieces: BinaryIO, stream: BinaryIO, order: Sequence[str] | None) -> None:
        """Copy the pieces to a stream, in another order of queries if one is given."""
        pieces.seek(0)
        if order is None:
            shutil.copyfileobj(pieces, stream, 1 << 20)
            return
        places = self._places(pieces)
        for qid in order:
            start, size = places[qid]
            pieces.seek(start)
            stream.write(pieces.read(size))

    def _places(self, pieces: BinaryIO) -> dict[str, tuple[int, int]]:
        """Find where the lines of each query begin and how many bytes they take."""
        places = {}
        start = 0
        for qid, count in zip(self.queries, self.counts, strict=True):
            size = sum(len(pieces.readline()) for _ in range(count))
            places[qid] = start, size
            start += size
        return places


def rewrite_runs(
    batches: RunBatches,
    make: Callable[[list[Run]], Sequence[Run]],
    outputs: Sequence[str],
    merge: Callable[[Sequence[Sequence[str]]], Sequence[str]],
    *,
    whole: bool = False,
) -> None:
    """Read runs side by side, make new ones of them query by query, and write those.

    ``make`` turns R runs over some queries to one run for each output; several threads call it. ``merge`` gives the
    order of the queries from the R orders. Runs whose queries stand together are never in memory as a whole, unless
    ``whole`` is set. Nothing is written before everything has been read.
    """

    def piece(runs: list[Run]) -> list[tuple[Run, bytes]]:
        return [(run, format_run(run)) for run in make(runs)]

    try:
        pieces = (
            iter([piece(batches.whole())])
            if whole
            else map_ordered(lambda parts: piece(batches.make(parts)), batches.batches())
        )
        with contextlib.ExitStack() as stack:
            share = IN_MEMORY // max(len(outputs), 1)
            writers = [stack.enter_context(RunWriter(path, share)) for path in outputs]
            for made in pieces:
                for writer, (run, lines) in zip(writers, made, strict=True):
                    writer.add(run, lines)
            order = merge(batches.queries)
            for writer in writers:
                writer.write(order)
    except Scattered:
        rewrite_runs(batches, make, outputs, merge, whole=True)
