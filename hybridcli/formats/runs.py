"""TREC run files: ``qid Q0 docno rank score tag``."""

from __future__ import annotations

import math

import numpy as np

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of, open_output, read_lines
from hybridcli.records import Run, rank_in_segment


def read_run(path: str, *, lenient: bool = False, lower_is_better: bool = False) -> Run:
    """Read a run; the order comes from the scores, the rank column is ignored."""
    rankings: dict[str, dict[str, float]] = {}
    first_line: dict[tuple[str, str], int] = {}
    tag = "run"
    for number, line in read_lines(path):
        columns = line.split()
        if not columns or line.startswith("#"):
            continue
        if len(columns) != 6:
            raise DataError(f"expected 6 columns, found {len(columns)}", path=name_of(path), line=number)
        qid, _, docno, _, text, tag = columns
        try:
            score = float(text)
        except ValueError:
            raise DataError(f"score {text!r} is not a number", path=name_of(path), line=number) from None
        if not math.isfinite(score):
            raise DataError(f"score of {docno} is {text}", path=name_of(path), line=number)
        if (qid, docno) in first_line:
            raise DataError(
                f"query {qid} lists {docno} twice (first on line {first_line[qid, docno]})",
                path=name_of(path),
                line=number,
            )
        first_line[qid, docno] = number
        rankings.setdefault(qid, {})[docno] = -score if lower_is_better else score
    return Run.from_dict(rankings, tag)


def write_run(run: Run, path: str) -> None:
    """Write a run in order; each score is a 32-bit float printed so that it reads back exactly."""
    docnos = run.docnos.to_list()
    ranks = rank_in_segment(run.offsets)
    with open_output(path) as stream:
        for query, start, end in zip(run.queries, run.offsets[:-1], run.offsets[1:], strict=True):
            for row in range(start, end):
                score = np.float32(run.scores[row])
                line = f"{query} Q0 {docnos[run.docs[row]]} {ranks[row]} {score!s} {run.tag}\n"
                stream.write(line.encode("utf-8"))
