"""TREC qrels: ``qid 0 docno rel``, and the reference form ``qid reference docno rel``."""

from __future__ import annotations

import numpy as np

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of, read_lines
from hybridcli.records import Qrels, offsets_of


def read_qrels(path: str) -> Qrels:
    """Read qrels; column 2 names references when it is not the same on every line."""
    import polars as pl

    rows: dict[str, dict[str, int]] = {}
    pairs: dict[str, dict[tuple[str, str], None]] = {}
    column2 = set()
    for number, line in read_lines(path):
        columns = line.split()
        if not columns:
            continue
        if len(columns) != 4:
            raise DataError(f"expected 4 columns, found {len(columns)}", path=name_of(path), line=number)
        qid, reference, docno, text = columns
        grade = int(text)
        column2.add(reference)
        judged = rows.setdefault(qid, {})
        judged[docno] = max(grade, judged.get(docno, grade))
        if grade > 0:
            pairs.setdefault(qid, {})[docno, reference] = None
    docnos = sorted({docno for judged in rows.values() for docno in judged})
    code = {docno: i for i, docno in enumerate(docnos)}
    flat = [(qid, docno, grade) for qid, judged in rows.items() for docno, grade in sorted(judged.items())]
    row_of = {(qid, docno): r for r, (qid, docno, _) in enumerate(flat)}
    names = {qid: list(dict.fromkeys(ref for _, ref in pairs.get(qid, {}))) for qid in rows}
    by_row = sorted(
        (row_of[qid, docno], names[qid].index(ref)) for qid, found in pairs.items() for docno, ref in found
    )
    named = len(column2) > 1
    return Qrels(
        queries=list(rows),
        offsets=offsets_of(np.array([len(judged) for judged in rows.values()], dtype=np.int64)),
        docs=np.array([code[docno] for _, docno, _ in flat], dtype=np.int32),
        grades=np.array([grade for *_, grade in flat], dtype=np.int32),
        docnos=pl.Series("docno", docnos, dtype=pl.String),
        pairs=np.array(by_row, dtype=np.int32).reshape(-1, 2) if named else None,
        reference_counts=np.array([len(names[qid]) for qid in rows], dtype=np.int32) if named else None,
        reference_ids=[names[qid] for qid in rows] if named else None,
    )
