"""Fusion methods of the ranx library, as ``ranx:NAME``: its probabilistic and supervised ones.

ranx fuses with its own normalisations and tie rules; only the scores are taken from it, the order is ours.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hybridcli.errors import MissingComponentError, UsageError
from hybridcli.fusion.pool import Pool
from hybridcli.records import Floats

Lists = dict[str, dict[str, float]]
UNTRAINED = (
    "sum",
    "min",
    "max",
    "med",
    "anz",
    "mnz",
    "isr",
    "log_isr",
    "logn_isr",
    "bordafuse",
    "condorcet",
    "rrf",
)
TRAINED = (
    *("bayesfuse", "mapfuse", "posfuse", "segfuse", "probfuse", "slidefuse"),
    *("gmnz", "mixed", "rbc", "w_bordafuse", "w_condorcet", "wmnz", "wsum"),
)
NORMS = {
    "none": None,
    "min-max": "min-max",
    "max": "max",
    "sum": "sum",
    "zmuv": "zmuv",
    "rank": "rank",
    "borda": "borda",
}


@dataclass(frozen=True)
class RanxMethod:
    """A method of ranx with its normalisation (None: min-max).

    ``judged``: ``{qid: {docno: grade}}`` that a supervised method is trained on, by nDCG where it tunes something.
    """

    name: str
    norm: str | None = None
    judged: Mapping[str, Mapping[str, int]] | None = None

    def __post_init__(self) -> None:
        """Refuse a method that ranx does not have, or a supervised one without judgements to train on."""
        if self.name not in UNTRAINED + TRAINED:
            raise UsageError(f"no ranx method {self.name!r}; there are: {', '.join(UNTRAINED + TRAINED)}")
        if self.norm is not None and self.norm not in NORMS:
            raise UsageError(f"no normalisation {self.norm!r}; there are: {', '.join(NORMS)}")
        if self.name in TRAINED and self.judged is None:
            raise UsageError(f"ranx:{self.name} is trained: give judgements with --train-qrels")
        if self.name in UNTRAINED and self.judged is not None:
            raise UsageError(f"ranx:{self.name} is not trained; --train-qrels is for {', '.join(TRAINED)}")

    def scores(self, pool: Pool) -> Floats:
        """Give each row of the pool the score ranx gives it: float64[N].

        Raises MissingComponentError without ranx, UsageError when the runs have different queries (ranx needs the
        same) or are fewer than two.
        """
        try:
            import ranx
        except ImportError:
            raise MissingComponentError("ranx:NAME needs ranx", "pip install 'hybridcli[ranx]'") from None
        incomplete = np.flatnonzero((pool.lengths == 0).any(axis=0))
        if len(incomplete):
            raise UsageError(
                f"ranx fuses runs with the same queries only; {len(incomplete)} queries are not in every run, "
                f"{pool.queries[incomplete[0]]} for one"
            )
        if len(pool.lengths) < 2:
            raise UsageError("ranx fuses two runs or more")
        if not len(pool.docs):
            return np.zeros(0)
        lists = lists_of(pool)
        settings: dict[str, Any] = {"norm": NORMS[self.norm or "min-max"], "method": self.name}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numba's, about ranx's own code
            if self.judged is not None:
                settings["params"] = self._trained(lists, settings)
            fused = ranx.fuse([ranx.Run(one) for one in lists], **settings).to_dict()
        return rows_of(pool, fused)

    def _trained(self, lists: list[Lists], settings: dict[str, Any]) -> dict[str, Any]:
        """Let ranx learn the method's parameters on the judged queries."""
        import ranx

        judged = self.judged or {}
        known = [qid for qid in lists[0] if qid in judged]
        if not known:
            raise UsageError("the judgements to train on have no query of the runs")
        learnt: dict[str, Any] = ranx.optimize_fusion(
            ranx.Qrels({qid: dict(judged[qid]) for qid in known}),
            [ranx.Run({qid: one[qid] for qid in known}) for one in lists],
            metric="ndcg",
            **settings,
        )
        return learnt


def lists_of(pool: Pool) -> list[Lists]:
    """The runs as ``{qid: {docno: score}}``."""
    docnos = pool.docnos.series.gather(pool.docs).to_list()
    lists = []
    for ranks, scores in zip(pool.ranks, pool.scores, strict=True):
        one = {}
        for qid, start, end in zip(pool.queries, pool.offsets[:-1], pool.offsets[1:], strict=True):
            rows = start + np.flatnonzero(ranks[start:end])
            one[qid] = {docnos[row]: float(scores[row]) for row in rows[np.argsort(ranks[rows])]}
        lists.append(one)
    return lists


def rows_of(pool: Pool, fused: Lists) -> Floats:
    """The scores of one run that ranx made of ``lists_of(pool)``, in the order of the pool: float64[N]."""
    docnos = pool.docnos.series.gather(pool.docs).to_list()
    found = np.empty(len(docnos))
    for qid, start, end in zip(pool.queries, pool.offsets[:-1], pool.offsets[1:], strict=True):
        found[start:end] = [fused[qid][docno] for docno in docnos[start:end]]
    return found
