"""From columns to ranked lists: documents as codes, the one order, duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of
from hybridcli.formats.run_columns import words
from hybridcli.formats.run_rows import Findings, Rows
from hybridcli.names import Names
from hybridcli.records import Codes, Floats, Ints, Run, offsets_of, segment_of
from hybridcli.sorting import distinct

if TYPE_CHECKING:
    pass


def runs_of(parts: Sequence[Rows], *, lenient: bool = False) -> list[Run]:
    """Make one Run of each part; all share one ``docnos``.

    Raises DataError for a document that a query lists twice; ``lenient`` keeps its best score and counts the others
    in the part's ``findings``.
    """
    docnos, codes = encode(parts)
    return [_run_of(rows, docs, docnos, lenient) for rows, docs in zip(parts, codes, strict=True)]


def encode(parts: Sequence[Rows]) -> tuple[Names, list[Codes]]:
    """Give the distinct docnos of all parts, ascending in bytes, and each part's documents as codes into them."""
    raw, starts = _one_text(parts)
    sizes = np.concatenate([rows.sizes for rows in parts])
    keys: list[NDArray[np.uint64]] = []
    position, longest = 0, int(sizes.max(initial=0))
    while position < longest or not keys:
        word = words(raw, starts + position, sizes - position)
        # bytes that all docnos share tell nothing: begin the next word where they first differ
        shared = (64 - int(word.min(initial=0) ^ word.max(initial=0)).bit_length()) // 8
        if position + 8 < longest and shared:
            position += shared
            continue
        keys.append(word)
        position += 8
    rows, codes = distinct(keys)
    ends = np.cumsum([len(rows.sizes) for rows in parts])
    docnos = Names.cut(raw, starts[rows], sizes[rows])
    return docnos, np.split(codes.astype(np.int32), ends[:-1])


def _one_text(parts: Sequence[Rows]) -> tuple[bytes, Ints]:
    """Join the bytes of parts, and give where each docno begins in them."""
    if len(parts) == 1:
        return parts[0].raw, parts[0].starts
    bases = np.cumsum([0, *(len(rows.raw) for rows in parts[:-1])])
    starts = [rows.starts + base for rows, base in zip(parts, bases, strict=True)]
    return b"".join(rows.raw for rows in parts), np.concatenate(starts)


def _run_of(rows: Rows, docs: Codes, docnos: Names, lenient: bool) -> Run:
    rows, docs = _grouped(rows, docs)
    scores, query = rows.scores, segment_of(rows.offsets)
    order = _order(scores, docs, query, rows.offsets)
    if order is not None:
        rows = replace(rows, lines=rows.lines[order])
        scores, docs = scores[order], docs[order]
    offsets = rows.offsets
    again = _repeated(docs, query, len(docnos))
    if again.any():
        if not lenient:
            raise _duplicate(rows, docs, docnos, query, again)
        rows.findings.duplicates_dropped += int(again.sum())
        docs, scores = docs[~again], scores[~again]
        offsets = offsets_of(np.bincount(query[~again], minlength=len(rows.queries)).astype(np.int64))
    return Run(rows.tag, rows.queries, offsets, docs, scores, docnos)


def _order(scores: Floats, docs: Codes, query: Codes, offsets: Ints) -> Ints | None:
    """Give the permutation int64[N] that puts each list in the one order; None if all are."""
    level = np.append(False, scores[1:] >= scores[:-1])[: len(scores)]
    level[offsets[:-1]] = False
    check = np.flatnonzero(level)  # rows whose score does not fall below the row before
    rising = scores[check] > scores[check - 1]
    if rising.any():
        touched = np.flatnonzero(np.isin(query, query[check[rising]]))
    elif (docs[check] > docs[check - 1]).any():
        touched = np.union1d(check, check - 1)  # nothing but ties
    else:
        return None
    order = np.arange(len(docs))
    order[touched] = touched[np.lexsort((-docs[touched], -scores[touched], query[touched]))]
    if rising.any():
        again = _order(scores[order], docs[order], query, offsets)
        return order if again is None else order[again]
    return order


def _grouped(rows: Rows, docs: Codes) -> tuple[Rows, Codes]:
    """Bring the lines of each query together, in order of first appearance, where the file scatters them."""
    place = {qid: i for i, qid in enumerate(dict.fromkeys(rows.queries))}
    if len(place) == len(rows.queries):
        return rows, docs
    query = np.array([place[qid] for qid in rows.queries])[segment_of(rows.offsets)]
    order = np.argsort(query, kind="stable")
    together = replace(
        rows,
        queries=list(place),
        offsets=offsets_of(np.bincount(query, minlength=len(place)).astype(np.int64)),
        scores=rows.scores[order],
        lines=rows.lines[order],
    )
    return together, docs[order]


def _repeated(docs: Codes, query: Codes, n_docnos: int) -> NDArray[np.bool_]:
    """Mark the rows whose document stands in an earlier row of the same query: bool[N]."""
    again = np.zeros(len(docs), dtype=np.bool_)
    # only documents that stand in several rows can stand twice in one query
    several = np.flatnonzero((np.bincount(docs, minlength=n_docnos) > 1)[docs])
    key = query[several].astype(np.int64) * n_docnos + docs[several]
    ordered = np.sort(key)
    if (ordered[1:] == ordered[:-1]).any():
        again[several] = True
        again[several[np.unique(key, return_index=True)[1]]] = False
    return again


def _duplicate(rows: Rows, docs: Codes, docnos: Names, query: Codes, again: NDArray[np.bool_]) -> DataError:
    """The error for the first line of the file that repeats a document."""
    repeats = np.flatnonzero(again)
    key = query.astype(np.int64) * len(docnos) + docs
    order = np.lexsort((rows.lines, key))
    later = np.flatnonzero(key[order][1:] == key[order][:-1]) + 1
    at = later[np.argmin(rows.lines[order[later]])]
    row, first, second = order[at], rows.lines[order[at - 1]], int(rows.lines[order[at]])
    more = f" ({len(repeats)} such lines)" if len(repeats) > 1 else ""
    return DataError(
        f"query {rows.queries[query[row]]} lists document {docnos[int(docs[row])]} twice, first on line {first}"
        f"{more}; --lenient keeps the best",
        path=name_of(rows.path),
        line=second,
    )


def concatenate(parts: Sequence[Rows]) -> Rows:
    """Join consecutive parts of one run."""
    if len(parts) == 1:
        return parts[0]
    raw, starts = _one_text(parts)
    queries = [qid for part in parts for qid in part.queries]
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    whole = Rows(
        path=parts[0].path,
        tag=next((part.tag for part in parts if part.queries), parts[0].tag),
        queries=queries,
        offsets=offsets_of(lengths),
        raw=raw,
        starts=starts,
        sizes=np.concatenate([part.sizes for part in parts]),
        scores=np.concatenate([part.scores for part in parts]),
        lines=np.concatenate([part.lines for part in parts]),
    )
    for part in parts:
        whole.findings.add(part.findings)
    return whole


def take_groups(rows: Rows, groups: Ints) -> Rows:
    """Keep the chosen groups of lines, in the order given; neighbours are cut out without copying rows."""
    lengths = np.diff(rows.offsets)[groups]
    offsets = offsets_of(lengths)
    chosen: slice | Ints
    raw, base = rows.raw, 0
    if len(groups) and (np.diff(groups) == 1).all():
        first, last = int(rows.offsets[groups[0]]), int(rows.offsets[groups[-1] + 1])
        chosen = slice(first, last)
        base = int(rows.starts[first])
        raw = raw[base : int(rows.starts[last - 1]) + int(rows.sizes[last - 1]) + 8]
    else:
        chosen = np.repeat(rows.offsets[:-1][groups] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return replace(
        rows,
        queries=[rows.queries[group] for group in groups.tolist()],
        offsets=offsets,
        raw=raw,
        starts=rows.starts[chosen] - base,
        sizes=rows.sizes[chosen],
        scores=rows.scores[chosen],
        lines=rows.lines[chosen],
        findings=Findings(),
    )


def detach(rows: Rows, group: int) -> Rows:
    """Copy one group of lines, so that nothing else of its part stays in memory."""
    rows = take_groups(rows, np.array([group]))
    return replace(
        rows,
        starts=rows.starts.copy(),
        sizes=rows.sizes.copy(),
        scores=rows.scores.copy(),
        lines=rows.lines.copy(),
    )
