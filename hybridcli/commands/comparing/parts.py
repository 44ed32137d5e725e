"""Reading a run part by part, keeping of each only what evaluation needs: judged documents, lengths, counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hybridcli.evaluation.hits import Hits, Judgments, Matcher
from hybridcli.evaluation.scores import float_ties, keep_documents, tied_queries
from hybridcli.formats.run_batches import RunBatches, Scattered, map_ordered
from hybridcli.formats.run_lists import take_groups
from hybridcli.formats.run_rows import Rows
from hybridcli.records import Floats, Ints, Run, segment_of


@dataclass(slots=True)
class View:
    """One way to look at the runs: all documents, those of a slice, or the judged ones alone.

    ``rows``: float64[M, Q] for each system read so far.
    """

    judgments: Judgments
    matcher: Matcher
    keep: Callable[[Run], NDArray[np.bool_]] | None = None
    condense: bool = False
    rows: list[Floats] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Part:
    """What is needed of a part of a run: hits for each view, and counts."""

    hits: list[Hits]
    places: Ints
    lengths: Ints
    narrow_ties: int
    tied_queries: int
    run: Run | None


def read_parts(batches: RunBatches, views: Sequence[View], *, whole: bool) -> tuple[str, list[Part]]:
    """Read one run: its tag, and its parts in the order of the file; one part with the run itself if ``whole``."""

    def part_of(run: Run) -> Part:
        kept = [run if view.keep is None else keep_documents(run, view.keep(run)) for view in views]
        hits = [view.matcher.find_hits(part) for view, part in zip(views, kept, strict=True)]
        ties = (float_ties(run), tied_queries(run))
        return Part(hits, views[0].matcher.places(run), np.diff(run.offsets), *ties, run if whole else None)

    def parts_of(rows: Rows) -> list[Part]:
        if any(view.keep is not None for view in views):
            return [part_of(batches.make([rows])[0])]
        listed, rest = _split(rows, views[0].matcher)
        runs = [listed] if listed is not None else []
        runs += batches.make([rest]) if rest is not None else []
        return [part_of(run) for run in runs]

    parts: list[Part] = []
    if not whole:
        try:
            for found in map_ordered(lambda batch: parts_of(batch[0]), batches.batches()):
                parts += found
        except Scattered:
            parts = []
    if not parts:
        parts = [part_of(batches.whole()[0])]
    return batches.tags[0], parts


def _split(rows: Rows, matcher: Matcher) -> tuple[Run | None, Rows | None]:
    """Take the lists that are in order as they stand, with the documents in the codes of the qrels.

    The rest, with equal or rising scores or perhaps a document twice, goes the long way: docnos decide its order.
    """
    if not len(rows.scores):
        return None, rows
    group = segment_of(rows.offsets)
    # a document that stands twice in a query gives the same number twice; two others do by a chance of 2^-30
    docnos = rows.docnos()
    marks = docnos.hash().to_numpy() ^ (group.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    ordered = np.sort(marks)
    if (ordered[1:] == ordered[:-1]).any():
        return None, rows
    falling = (rows.scores[1:] < rows.scores[:-1]) | (group[1:] != group[:-1])
    odd = np.unique(group[1:][~falling])
    if 2 * len(odd) > len(rows.queries):
        return None, rows
    plain = np.setdiff1d(np.arange(len(rows.queries)), odd)
    listed = rows
    if len(odd):
        listed = take_groups(rows, plain)
        docnos = listed.docnos()
    codes = matcher.codes_of(docnos).astype(np.int32)
    run = Run(rows.tag, listed.queries, listed.offsets, codes, listed.scores, matcher.qrels.docnos)
    return run, take_groups(rows, odd) if len(odd) else None
