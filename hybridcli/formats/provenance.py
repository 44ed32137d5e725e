"""What became of each reference: provenance JSONL, the list of the unresolved, and both forms of qrels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from hybridcli.formats.files import open_output
from hybridcli.records import Label, Span


def write_provenance(path: str, labels: Iterable[Label]) -> None:
    """Write one JSON object a reference.

    ``qid, reference, status, reason, kind, literal, overlap, title_only, windows`` and, of the first labelled
    place, ``doc, unit, start, end_unit, end, char_start, char_end, key_start, key_length, similarity``; words and
    characters count from 0 in their unit, ends are one past. ``places``: every labelled place, with the share of
    it that each of its windows covers; ``others``: places found and not labelled.
    """
    with open_output(path) as stream:
        for label in labels:
            first = _place(label.spans[0]) if label.spans else {}
            first.pop("windows", None)
            first.pop("covered", None)
            row = {
                "qid": label.qid,
                "reference": label.reference,
                "status": "unresolved" if label.reason else "resolved",
                "reason": label.reason or None,
                **first,
                "kind": label.kind,
                "literal": label.literal,
                "overlap": round(label.overlap, 6),
                "title_only": label.title_only,
                "windows": label.windows,
                "places": [_place(span) for span in label.spans],
                "others": [_place(span) for span in label.others],
            }
            stream.write((json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8"))


def write_unresolved(path: str, labels: Sequence[Label]) -> None:
    """Write ``qid<TAB>reference<TAB>reason<TAB>query`` a reference without label.

    The last column says whether the query has other, resolved references (``partly``) or none (``wholly``).
    """
    resolved = {label.qid for label in labels if not label.reason}
    with open_output(path) as stream:
        stream.write(b"#qid\treference\treason\tquery\n")
        for label in labels:
            if label.reason:
                query = "partly" if label.qid in resolved else "wholly"
                stream.write(f"{label.qid}\t{label.reference}\t{label.reason}\t{query}\n".encode())


def write_label_qrels(path: str, labels: Iterable[Label], *, by_reference: bool) -> None:
    """Write the relevant windows: ``qid 0 window 1``, each window of a query once, or ``qid reference window 1``."""
    written: dict[tuple[str, str, str], None] = {}
    for label in labels:
        reference = label.reference if by_reference else "0"
        written.update(dict.fromkeys((label.qid, reference, window) for window in label.windows))
    with open_output(path) as stream:
        stream.writelines(f"{qid} {reference} {window} 1\n".encode() for qid, reference, window in written)


def write_ids(path: str, qids: Iterable[str]) -> None:
    """Write one qid a line."""
    with open_output(path) as stream:
        stream.writelines(f"{qid}\n".encode() for qid in qids)


def _place(span: Span) -> dict[str, Any]:
    return {
        "doc": span.doc,
        "unit": span.unit,
        "start": span.start,
        "end_unit": span.end_unit,
        "end": span.end,
        "char_start": span.char_start,
        "char_end": span.char_end,
        "key_start": span.key_start,
        "key_length": span.key_length,
        "similarity": round(span.similarity, 6),
        "windows": span.windows,
        "covered": [round(share, 6) for share in span.covered],
    }
