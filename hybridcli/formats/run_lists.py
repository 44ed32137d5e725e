"""From columns to ranked lists: documents as codes, the one order, duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of
from hybridcli.formats.run_rows import Findings, Rows, words
from hybridcli.records import Codes, Floats, Ints, Run, offsets_of, segment_of

if TYPE_CHECKING:
    import polars as pl


def runs_of(parts: Sequence[Rows], *, lenient: bool = False) -> list[Run]:
    """Make one Run of each part; all share one ``docnos``.

    Raises DataError for a document that a query lists twice; ``lenient`` keeps its best score and counts the others
    in the part's ``findings``.
    """
    docnos, codes = encode(parts)
    return [_run_of(rows, docs, docnos, lenient) for rows, docs in zip(parts, codes, strict=True)]


def encode(parts: Sequence[Rows]) -> tuple[pl.Series, list[Codes]]:
    """Give the distinct docnos of all parts, ascending in bytes, and each part's documents as codes into them."""
    import polars as pl

    sizes = np.concatenate([rows.sizes for rows in parts])
    keys: list[NDArray[np.uint64]] = []
    position, longest = 0, int(sizes.max(initial=0))
    while position < longest:
        word = np.concatenate(
            [words(rows.raw, rows.starts + position, rows.sizes - position) for rows in parts]
        )
        # bytes that all docnos share tell nothing: begin the next word where they first differ
        shared = (64 - int(word.min() ^ word.max()).bit_length()) // 8
        if shared == 8 or (shared and position + 8 < longest):
            position += shared
            continue
        keys.append(word)
        position += 8
    # in one chunk: polars gathers from several chunks twenty times slower
    everything = pl.concat([rows.docnos for rows in parts], rechunk=True)
    codes = np.zeros(len(sizes), dtype=np.int32)
    if not keys:
        distinct = everything.head(1)
    else:
        order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])
        fresh = np.zeros(len(order), dtype=np.bool_)
        for word in keys:
            ordered = word[order]
            fresh[1:] |= ordered[1:] != ordered[:-1]
        codes[order] = np.cumsum(fresh, dtype=np.int32)
        fresh[:1] = True
        distinct = everything.gather(order[fresh])
    ends = np.cumsum([len(rows.sizes) for rows in parts])
    return distinct, np.split(codes, ends[:-1])


def _run_of(rows: Rows, docs: Codes, docnos: pl.Series, lenient: bool) -> Run:
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


def _duplicate(
    rows: Rows, docs: Codes, docnos: pl.Series, query: Codes, again: NDArray[np.bool_]
) -> DataError:
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
    import polars as pl

    if len(parts) == 1:
        return parts[0]
    bases = np.cumsum([0, *(len(part.raw) for part in parts[:-1])])
    queries = [qid for part in parts for qid in part.queries]
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    whole = Rows(
        path=parts[0].path,
        tag=next((part.tag for part in parts if part.queries), parts[0].tag),
        queries=queries,
        offsets=offsets_of(lengths),
        docnos=pl.concat([part.docnos for part in parts]),
        raw=b"".join(part.raw for part in parts),
        starts=np.concatenate([part.starts + base for part, base in zip(parts, bases, strict=True)]),
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
        docnos = rows.docnos.slice(first, last - first)
    else:
        chosen = np.repeat(rows.offsets[:-1][groups] - offsets[:-1], lengths) + np.arange(offsets[-1])
        docnos = rows.docnos.gather(chosen)
    return replace(
        rows,
        queries=[rows.queries[group] for group in groups.tolist()],
        offsets=offsets,
        docnos=docnos,
        raw=raw,
        starts=rows.starts[chosen] - base,
        sizes=rows.sizes[chosen],
        scores=rows.scores[chosen],
        lines=rows.lines[chosen],
        findings=Findings(),
    )


def detach(rows: Rows, group: int) -> Rows:
    """Copy one group of lines, so that nothing else of its part stays in memory."""
    import polars as pl

    rows = take_groups(rows, np.array([group]))
    docnos = rows.docnos.to_list()
    return replace(
        rows,
        docnos=pl.Series("docno", docnos, dtype=pl.String),
        raw="".join(docnos).encode("utf-8") + bytes(8),
        starts=offsets_of(rows.sizes)[:-1],
    )
