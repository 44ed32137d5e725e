"""What label mapping means for whole queries: which count, in which group, and what an audit takes away."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from hybridcli.records import Judged, Label
from hybridcli.text.mapping import JUDGED_WRONG, NO_DOCUMENT


def excluded_queries(judged: Sequence[Judged], labels: Sequence[Label]) -> list[str]:
    """Give the queries without any resolved reference, in order."""
    found = {label.qid for label in labels if not label.reason}
    return [query.qid for query in judged if query.qid not in found]


def literal_queries(judged: Sequence[Judged], labels: Sequence[Label]) -> list[str]:
    """Give the queries of which every reference is resolved and literally contained, in order."""
    loose = {label.qid for label in labels if not label.literal}
    return [query.qid for query in judged if query.qid not in loose]


def missing_documents(judged: Sequence[Judged], labels: Sequence[Label]) -> list[str]:
    """Give the documents that queries name and that have no windows, each once."""
    doc_of = {query.qid: query.doc for query in judged}
    docs = (doc_of[label.qid] for label in labels if label.reason == NO_DOCUMENT)
    return list(dict.fromkeys(doc for doc in docs if doc is not None))


def groups_of(judged: Sequence[Judged], labels: Sequence[Label]) -> tuple[dict[str, str], int]:
    """Give each query its group, and for how many a document stands for it.

    The group is the file's; else the document the query names; else the one its evidence was found in. A query
    without any of these has none.
    """
    found = {label.qid: label.spans[0].doc for label in reversed(labels) if label.spans}
    groups, guessed = {}, 0
    for query in judged:
        group = query.group or query.doc or found.get(query.qid)
        if group is not None:
            groups[query.qid] = group
            guessed += query.group is None
    return groups, guessed


def without(labels: Sequence[Label], wrong: Collection[tuple[str, str]]) -> list[Label]:
    """Give the labels with these (qid, reference) unresolved because a person judged them wrong."""
    return [
        replace(label, reason=JUDGED_WRONG, spans=(), others=label.spans, windows=(), literal=False)
        if (label.qid, label.reference) in wrong
        else label
        for label in labels
    ]
