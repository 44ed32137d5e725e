"""Fusing aligned runs into one: a plan, the fused scores, and the fused run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hybridcli.errors import UsageError
from hybridcli.fusion.methods import METHODS, Inputs, Method, find_method, sum_runs
from hybridcli.fusion.normalization import NORMALIZATIONS, find_normalization
from hybridcli.fusion.order import Floats32, keep_order, order_pool, require_finite, round_scores
from hybridcli.fusion.pool import Pool
from hybridcli.fusion.weights import check_weights
from hybridcli.records import Floats, Run, offsets_of, segment_of

DEFAULT_NORM = {"ranks": "none", "scores": "min-max"}


@dataclass(frozen=True, slots=True)
class Plan:
    """How to fuse. ``norm`` None: the method's default (min-max for methods that read scores)."""

    method: str = "rrf"
    norm: str | None = None
    rrf_k: float = 60.0
    rbc_p: float = 0.8
    missing: str = "zero"

    def __post_init__(self) -> None:
        """Refuse what cannot be, before any input is read."""
        find_method(self.method)
        if self.norm is not None:
            find_normalization(self.norm)
        if not (self.rrf_k > -1 and np.isfinite(self.rrf_k)):
            raise UsageError(f"rrf_k must be above -1, found {self.rrf_k}")
        if not 0 < self.rbc_p < 1:
            raise UsageError(f"rbc_p must be between 0 and 1, found {self.rbc_p}")
        if self.missing not in ("zero", "min"):
            raise UsageError(f"missing must be 'zero' or 'min', found {self.missing!r}")

    @property
    def entry(self) -> Method:
        """The method's registry entry."""
        return find_method(self.method)

    @property
    def norm_used(self) -> str | None:
        """The normalisation that is applied; None for a method that reads ranks."""
        return None if self.entry.reads == "ranks" else self.norm or DEFAULT_NORM["scores"]

    def inputs(self, pool: Pool) -> Inputs:
        """Normalise, if the method reads scores."""
        norm = self.norm_used
        values = pool.scores if norm is None else find_normalization(norm).values(pool)
        return Inputs(pool, values, self.rrf_k, self.rbc_p, self.missing)


def every_plan(**parameters: Any) -> dict[str, Plan]:
    """Every method × normalisation that can differ, by a name for its file: ``rrf``, ``combsum.zmuv`` …"""
    plans = {}
    for name, entry in METHODS.items():
        if entry.reads == "ranks":
            plans[name] = Plan(name, None, **parameters)
        else:
            plans |= {f"{name}.{norm}": Plan(name, norm, **parameters) for norm in NORMALIZATIONS}
    return plans


def idle_options(plan: Plan) -> list[str]:
    """Say which parts of a plan can have no effect on its method."""
    idle = []
    if plan.norm is not None and plan.entry.reads == "ranks":
        idle.append(f"{plan.method} reads ranks only: the normalisation {plan.norm} has no effect")
    default = Plan()
    if plan.rrf_k != default.rrf_k and plan.method != "rrf":
        idle.append(f"{plan.method} has no constant: rrf_k={plan.rrf_k:g} has no effect")
    if plan.rbc_p != default.rbc_p and plan.method != "rbc":
        idle.append(f"{plan.method} has no persistence: rbc_p={plan.rbc_p:g} has no effect")
    if plan.missing != "zero" and plan.entry.absent != "0":
        idle.append(f"{plan.method} gives absent documents no score: missing={plan.missing} has no effect")
    return idle


def sums_negatives(pool: Pool, plan: Plan) -> bool:
    """Whether a sum over runs meets raw negative scores, where absent documents (0) beat retrieved ones."""
    summed = plan.entry.reads == "scores" and plan.entry.absent == "0"
    return summed and plan.norm == "none" and plan.missing == "zero" and bool((pool.scores < 0).any())


def fused_scores(pool: Pool, plan: Plan, weights: Floats | None = None) -> Floats32:
    """Give each row of the pool its fused score, float32[N]; NaN for rows that are no candidates.

    ``weights``: float64[R], or float64[R, Q] for weights a query; linear methods only. None: a linear method
    adds up its runs with weight 1 (rrf) or 1/R (weighted).
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
        parts = plan.entry.scores(plan.inputs(pool))
    if not plan.entry.linear:
        if weights is not None:
            raise UsageError(f"method {plan.method} takes no weights; rrf and weighted do")
        require_finite(parts, candidates=True)
        return round_scores(parts)
    if weights is None:
        weights = np.full(len(parts), 1.0 if plan.method == "rrf" else 1.0 / len(parts))
    return combine(pool, parts, weights)


def combine(pool: Pool, parts: Floats, weights: Floats) -> Floats32:
    """Add the runs' parts, float64[R, N], with weights float64[R] or float64[R, Q]: float32[N].

    A run of weight 0 takes no part: documents that only such runs retrieved are no candidates (NaN). Where a single
    run has a weight, the result is that run's ranking, document by document: its ties stay ties, and scores that
    differ stay apart even if they are the same 32-bit float.
    """
    check_weights(weights, len(parts))
    if weights.ndim == 1 and (weights > 0).all() and len(parts) > 1:
        return round_scores(_weighted_sum(weights[:, None], parts))
    by_query = np.broadcast_to(weights.reshape(len(parts), -1), (len(parts), len(pool.queries)))
    query = segment_of(pool.offsets)
    scores = _weighted_sum(by_query[:, query], parts)
    active = by_query > 0
    scores[~(pool.retrieved & active[:, query]).any(axis=0)] = np.nan
    rounded = round_scores(scores)
    lone = active.sum(axis=0) == 1
    for i in range(len(parts)):
        _keep_run(pool, i, rounded, (lone & active[i])[query])
    require_finite(rounded)  # keeping a run's order may have gone below the lowest 32-bit float
    return rounded


def _weighted_sum(weights: Floats, parts: Floats) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        scores = sum_runs(weights * parts)
    require_finite(scores, candidates=True)
    return scores


def _keep_run(pool: Pool, i: int, scores: Floats32, chosen: np.ndarray) -> None:
    """Make ``scores`` keep run i's own order in the chosen rows, in place."""
    rows = np.flatnonzero(chosen & (pool.ranks[i] > 0))
    if not len(rows):
        return
    query = segment_of(pool.offsets)[rows]
    rows = rows[np.lexsort((pool.ranks[i, rows], query))]
    own = pool.scores[i, rows]
    starts = np.append(True, query[1:] != query[:-1])
    falls = np.append(False, own[1:] < own[:-1])
    scores[rows] = keep_order(scores[rows], falls, starts)


def fused_run(pool: Pool, scores: Floats32, *, k: int | None = None, tag: str = "hybridcli") -> Run:
    """Rank the pool by fused scores and keep the first ``k`` documents of each query."""
    if k is not None and k < 1:
        raise UsageError(f"k must be at least 1, found {k}")
    rows, lengths = order_pool(pool.offsets, scores, k)
    return Run(
        tag=tag,
        queries=pool.queries,
        offsets=offsets_of(lengths),
        docs=pool.docs[rows],
        scores=scores[rows].astype(np.float64),
        docnos=pool.docnos,
    )


def fuse(
    pool: Pool, plan: Plan, weights: Floats | None = None, *, k: int | None = None, tag: str = "hybridcli"
) -> Run:
    """Fuse aligned runs: scores, order, cut to ``k``."""
    return fused_run(pool, fused_scores(pool, plan, weights), k=k, tag=tag)
