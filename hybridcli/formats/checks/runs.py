"""The check of a run."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hybridcli.errors import DataError
from hybridcli.formats.checks.registry import Checked, checker, some
from hybridcli.formats.checks.source import Source, line_notes
from hybridcli.formats.run_batches import BLOCK, blocks_of, map_ordered
from hybridcli.formats.run_columns import NAMES
from hybridcli.formats.run_lists import concatenate, encode, runs_of
from hybridcli.formats.run_rows import NOT_FINITE, NUMBER, Rows, clean, parse_rows
from hybridcli.records import Problem, Run, Sheet, segment_of


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A block of a run: its good lines, what is wrong with the others, and what the tag and rank columns say.

    ``lies``: (qid, line) of each query where a rank does not rise although the score falls. ``odd_ranks``: number
    of ranks that are no whole numbers. ``from_zero``: queries with a rank 0.
    """

    rows: Rows
    problems: list[Problem]
    tags: list[str]
    lies: list[tuple[str, int]]
    odd_ranks: int
    from_zero: list[str]


@checker("run", "qid Q0 docno rank score tag")
def check_run(source: Source) -> Checked:
    """List everything odd in a run; the content is a Run without bad lines, the best of duplicates kept."""
    sheet = Sheet(source.path, "run")
    blocks = blocks_of(io.BytesIO(source.data), BLOCK)
    parts = list(map_ordered(lambda block: _part(*block, source.path), blocks))
    for part in parts:
        sheet.problems += part.problems
    sheet.facts["gzip"] = source.gzip
    if not any(len(part.rows.lines) for part in parts):
        sheet.problems += line_notes(source)
        sheet.add("empty", "holds no line of a run")
        return sheet, None
    rows = concatenate([part.rows for part in parts if len(part.rows.lines)])
    _check_scattered(sheet, rows)
    (run,) = runs_of([rows], lenient=True)
    if rows.findings.duplicates_dropped:
        sheet.problems += _duplicates(rows)
    sheet.problems.sort(key=lambda problem: (not problem.wrong, problem.line or 0))
    sheet.problems += line_notes(source)
    _check_ranks(sheet, parts)
    tags = list(dict.fromkeys(tag for part in parts for tag in part.tags))
    if len(tags) > 1:
        sheet.note("tags", f"{len(tags):,} different tags: {some(tags)}", count=len(tags))
    lengths = np.diff(run.offsets)
    ties = tie_counts(run)
    sheet.facts.update(
        {
            "lines": len(rows.lines),
            "queries": len(run.queries),
            "documents": len(run.docnos),
            "depth": {
                "min": int(lengths.min()),
                "median": float(np.median(lengths)),
                "max": int(lengths.max()),
            },
            "tag": tags[0],
            "scores": {"min": float(run.scores.min()), "max": float(run.scores.max())},
            "ties": ties,
            "blank_ids": bool(run.docnos.series.str.contains(r"\s").any())
            or any(len(word.split()) > 1 for word in [*run.queries, *tags]),
            "hash_ids": bool(run.docnos.series.str.contains("#", literal=True).any())
            or any("#" in qid for qid in run.queries),
        }
    )
    if ties["pairs"]:
        sheet.note(
            "ties",
            f"{ties['pairs']:,} pairs of documents tie in {ties['queries']:,} queries; here and in trec_eval the "
            "higher docno comes first",
            count=ties["pairs"],
        )
    if ties["pairs_32"]:
        sheet.note(
            "ties-32",
            f"{ties['pairs_32']:,} more pairs in {ties['queries_32']:,} queries tie in 32-bit readers only",
            count=ties["pairs_32"],
        )
    return sheet, run


def _part(block: bytes, line: int, path: str) -> Part:
    import polars as pl

    problems: list[Problem] = []
    try:
        rows = parse_rows(block, path, line)
    except DataError:
        problems = list(_bad_lines(block, line, path))
        rows = parse_rows(block, path, line, lenient=True)
    if not len(rows.lines):
        return Part(rows, problems, [], [], 0, [])
    frame = pl.read_csv(
        rows.raw,
        separator=" ",
        has_header=False,
        quote_char=None,
        columns=["column_4", "column_6"],
        schema=dict.fromkeys(NAMES, pl.String),
    )
    tags = frame["column_6"].unique(maintain_order=True).to_list()
    numbers = frame["column_4"].cast(pl.Int64, strict=False)
    ranks = numbers.fill_null(-1).to_numpy()
    scores = rows.scores
    falls, rises = scores[1:] < scores[:-1], scores[1:] > scores[:-1]
    lies = (falls & (ranks[1:] <= ranks[:-1])) | (rises & (ranks[1:] >= ranks[:-1]))
    lies &= (ranks[1:] >= 0) & (ranks[:-1] >= 0)
    lies[rows.offsets[1:-1] - 1] = False
    lying = np.flatnonzero(lies) + 1
    groups, at = np.unique(_group(rows, lying), return_index=True)
    return Part(
        rows,
        problems,
        tags,
        [(rows.queries[group], int(rows.lines[lying[i]])) for group, i in zip(groups, at, strict=True)],
        numbers.null_count(),
        [rows.queries[group] for group in np.unique(_group(rows, np.flatnonzero(ranks == 0)))],
    )


def _group(rows: Rows, at: Any) -> Any:
    return np.searchsorted(rows.offsets, at, side="right") - 1


def _bad_lines(block: bytes, first: int, path: str) -> Iterator[Problem]:
    for number, line in enumerate(block.split(b"\n")[:-1], start=first):
        try:
            clean(line + b"\n", path, number, lenient=False)
        except DataError as error:
            yield Problem(_kind_of(line, error.message), error.message, number)


def _kind_of(line: bytes, message: str) -> str:
    columns = line.split()
    if len(columns) != 6:
        return "too-few-columns" if len(columns) < 6 else "too-many-columns"
    if NOT_FINITE.match(columns[4]):
        return "not-finite"
    if not NUMBER.match(columns[4]):
        return "score"
    return "encoding" if message.startswith("not UTF-8") else "bytes"


def _check_scattered(sheet: Sheet, rows: Rows) -> None:
    seen: set[str] = set()
    again: dict[str, int] = {}
    for group, qid in enumerate(rows.queries):
        if qid in seen:
            again.setdefault(qid, int(rows.lines[rows.offsets[group]]))
        seen.add(qid)
    if again:
        qid, line = next(iter(again.items()))
        more = f", and {len(again) - 1:,} other queries" if len(again) > 1 else ""
        sheet.note(
            "scattered", f"the lines of query {qid} do not stand together{more}", line, count=len(again)
        )


def _check_ranks(sheet: Sheet, parts: list[Part]) -> None:
    lies: dict[str, int] = {}
    for part in parts:
        for qid, line in part.lies:
            lies.setdefault(qid, line)
    if lies:
        qid, line = next(iter(lies.items()))
        where = f"in {len(lies):,} queries, here in {qid}" if len(lies) > 1 else f"in query {qid}"
        sheet.note(
            "rank", f"the rank column contradicts the scores {where}; scores decide", line, count=len(lies)
        )
    from_zero = dict.fromkeys(qid for part in parts for qid in part.from_zero)
    if from_zero:
        many = f"{len(from_zero):,} queries" if len(from_zero) > 1 else f"query {next(iter(from_zero))}"
        sheet.note("rank-from-0", f"ranks begin at 0 in {many}", count=len(from_zero))
    odd = sum(part.odd_ranks for part in parts)
    if odd:
        sheet.note("rank-text", f"{odd:,} ranks are no whole numbers; the rank column is not read", count=odd)


def _duplicates(rows: Rows) -> list[Problem]:
    """One problem for each line that repeats a document of its query, in whatever order and groups they stand."""
    docnos, (docs,) = encode([rows])
    place = {qid: i for i, qid in enumerate(dict.fromkeys(rows.queries))}
    query = np.array([place[qid] for qid in rows.queries])[segment_of(rows.offsets)]
    key = query.astype(np.int64) * len(docnos) + docs
    order = np.argsort(key, kind="stable")  # equal keys stay in the order of the file
    ordered = key[order]
    begins = np.append(True, ordered[1:] != ordered[:-1])
    first = order[np.flatnonzero(begins)][np.cumsum(begins) - 1]
    problems = []
    for at in np.flatnonzero(~begins):
        row, before = order[at], first[at]
        qid, docno = rows.queries[int(_group(rows, row))], docnos[int(docs[row])]
        text = f"query {qid} lists document {docno} again (score {rows.scores[row]:.15g}), first on line "
        text += f"{rows.lines[before]} (score {rows.scores[before]:.15g})"
        problems.append(Problem("duplicate", text, int(rows.lines[row])))
    return problems


def tie_counts(run: Run) -> dict[str, int]:
    """Count pairs of documents of a query with the same score, and those that are the same in 32 bits only."""
    with np.errstate(over="ignore"):
        narrow = run.scores.astype(np.float32)
    query = segment_of(run.offsets)
    inside = query[1:] == query[:-1]
    wide_pairs, wide_queries = _pairs(inside & (run.scores[1:] == run.scores[:-1]), query)
    pairs, queries = _pairs(inside & (narrow[1:] == narrow[:-1]), query)
    differ = len(
        np.unique(query[1:][inside & (narrow[1:] == narrow[:-1]) & (run.scores[1:] != run.scores[:-1])])
    )
    return {
        "pairs": wide_pairs,
        "queries": wide_queries,
        "pairs_32": pairs - wide_pairs,
        "queries_32": differ if queries else 0,
    }


def _pairs(same: Any, query: Any) -> tuple[int, int]:
    """Pairs within runs of equal neighbours (``same[i]``: row i + 1 equals row i), and queries that have any."""
    starts = np.flatnonzero(np.append(True, ~same))
    sizes = np.diff(np.append(starts, len(same) + 1))
    return int((sizes * (sizes - 1) // 2).sum()), len(np.unique(query[1:][same]))
