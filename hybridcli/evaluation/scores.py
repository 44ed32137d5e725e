"""Per-query values of several systems on several measures, and which queries enter the means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import UsageError
from hybridcli.evaluation.hits import Hits
from hybridcli.records import Floats, Ints, Qrels, Run

POLICIES = {
    "judged": "every query of the qrels; one that a run lacks counts 0 (trec_eval -c)",
    "answerable": "the judged queries with at least one relevant document",
    "intersection": "only the judged queries that every run answers",
}


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """``values``: float64[R, M, Q] of R systems (``labels``), M ``measures``, Q ``queries``.

    ``answered``: bool[R, Q], whether the system gave the query anything. ``relevant``: int32[Q].
    """

    labels: list[str]
    measures: list[str]
    queries: list[str]
    values: Floats
    answered: NDArray[np.bool_]
    relevant: NDArray[np.int32]

    def take(self, chosen: Ints) -> Scores:
        """Some of the queries, in the given order."""
        return replace(
            self,
            queries=[self.queries[at] for at in chosen],
            values=self.values[:, :, chosen],
            answered=self.answered[:, chosen],
            relevant=self.relevant[chosen],
        )

    def means(self) -> Floats:
        """Mean of each system and measure: float64[R, M]; 0 without queries."""
        return np.asarray(self.values.sum(axis=2) / max(len(self.queries), 1))


def chosen_queries(scores: Scores, policy: str) -> Ints:
    """Positions of the queries that a policy lets into the means; raises UsageError for an unknown one."""
    if policy not in POLICIES:
        raise UsageError(f"unknown --queries {policy!r}; choose from {', '.join(POLICIES)}")
    keep = {
        "judged": np.ones(len(scores.queries), dtype=bool),
        "answerable": scores.relevant > 0,
        "intersection": scores.answered.all(axis=0),
    }[policy]
    return np.flatnonzero(keep)


def distinct_labels(stems: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Make labels unique: a repeated stem takes on parts of its path, then a number."""
    labels = list(stems)
    for at, stem in enumerate(stems):
        if stems.count(stem) > 1:
            parent = paths[at].replace("\\", "/").split("/")[:-1]
            labels[at] = f"{parent[-1]}/{stem}" if parent else stem
    for at, label in enumerate(labels):
        if labels.count(label) > 1 or label in labels[:at]:
            number = 1
            while f"{label}#{number}" in labels:
                number += 1
            labels[at] = f"{label}#{number}"
    return labels


def condensed(hits: Hits) -> Hits:
    """Hits as if the run held its judged documents alone (Sakai 2007): ranks close up over unjudged ones."""
    size = len(hits.retrieved)
    starts = np.searchsorted(hits.query, np.arange(size))
    rank = (np.arange(len(hits.query)) - starts[hits.query] + 1).astype(np.int32)
    base = np.int64(max(int(hits.rank.max(initial=0)), 1) + 1)
    at = np.searchsorted(hits.query * base + hits.rank, hits.reference_query * base + hits.reference_rank)
    return replace(
        hits,
        rank=rank,
        retrieved=np.bincount(hits.query, minlength=size).astype(np.int32),
        reference_rank=rank[at] if len(rank) else hits.reference_rank,
    )


def keep_documents(run: Run, keep: NDArray[np.bool_]) -> Run:
    """The run without the documents whose code is not kept: bool[V]."""
    rows = keep[run.docs]
    return replace(
        run,
        offsets=_shrunk(run.offsets, rows),
        docs=run.docs[rows],
        scores=run.scores[rows],
    )


def keep_judgments(qrels: Qrels, keep: NDArray[np.bool_]) -> Qrels:
    """The qrels without the documents whose code is not kept; every query stays."""
    rows = keep[qrels.docs]
    changed: dict[str, Any] = {
        "offsets": _shrunk(qrels.offsets, rows),
        "docs": qrels.docs[rows],
        "grades": qrels.grades[rows],
    }
    if qrels.pairs is not None and qrels.reference_ids is not None:
        place = np.cumsum(rows) - 1
        pairs = qrels.pairs[rows[qrels.pairs[:, 0]]]
        owner = np.searchsorted(qrels.offsets, pairs[:, 0], side="right") - 1
        key, number = np.unique(np.stack([owner, pairs[:, 1]], axis=1), axis=0, return_inverse=True)
        starts = np.searchsorted(key[:, 0], np.arange(len(qrels.queries) + 1))
        number = number.reshape(-1) - starts[owner]
        changed["pairs"] = np.stack([place[pairs[:, 0]], number], axis=1).astype(np.int32)
        changed["reference_counts"] = np.diff(starts).astype(np.int32)
        changed["reference_ids"] = [
            [names[old] for old in key[low:high, 1]]
            for names, low, high in zip(qrels.reference_ids, starts[:-1], starts[1:], strict=True)
        ]
    return replace(qrels, **changed)


def _shrunk(offsets: Ints, rows: NDArray[np.bool_]) -> Ints:
    """Offsets of the segments when only the chosen rows stay."""
    return np.concatenate(([0], np.cumsum(rows)))[offsets]


def float_ties(run: Run) -> int:
    """Count neighbours in a ranking whose scores differ as doubles but are equal as 32-bit floats."""
    with np.errstate(over="ignore"):
        narrow = run.scores.astype(np.float32)
    return int((_neighbours(run) & (narrow[1:] == narrow[:-1]) & (run.scores[1:] != run.scores[:-1])).sum())


def tied_queries(run: Run) -> int:
    """Count the queries in which neighbours have equal scores, so that docnos decide their order."""
    rows = np.flatnonzero(_neighbours(run) & (run.scores[1:] == run.scores[:-1]))
    return len(np.unique(np.searchsorted(run.offsets, rows, side="right")))


def _neighbours(run: Run) -> NDArray[np.bool_]:
    """Whether rows r and r + 1 stand in one ranking: bool[N - 1]."""
    same = np.ones(max(len(run.scores) - 1, 0), dtype=bool)
    starts = run.offsets[1:-1]
    same[starts[(starts > 0) & (starts < len(run.scores))] - 1] = False
    return same
