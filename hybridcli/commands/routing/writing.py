"""Writing what ``route`` learned: out-of-fold runs, weights, per-query values, saved routers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybridcli.adaptive.oracle import spread
from hybridcli.adaptive.protocol import Problem, Reached
from hybridcli.adaptive.training import Router
from hybridcli.evaluation.measures import Measure
from hybridcli.formats.files import make_folder
from hybridcli.formats.per_query import write_per_query
from hybridcli.formats.routers import write_router
from hybridcli.formats.runs import write_run
from hybridcli.formats.weights import write_weights
from hybridcli.fusion.fuse import Plan, fuse
from hybridcli.fusion.pool import Pool
from hybridcli.records import Floats


def write_fused(
    path: str, pool: Pool, plan: Plan, queries: Sequence[str], weights: Floats, k: int | None, tag: str
) -> None:
    """Fuse with weights float64[Q, R] of these queries (equal ones for others) and write the run."""
    write_run(fuse(pool, plan, spread(queries, weights, pool.queries), k=k, tag=tag), path)


def write_results(
    folder: str,
    reached: Sequence[Reached],
    measures: Sequence[Measure],
    queries: Sequence[str],
    tags: Sequence[str],
    pool: Pool | None,
    plan: Plan,
    k: int | None,
    *,
    repeats: bool,
) -> None:
    """Write ROUTER.values, ROUTER.weights (means over the repeats) and, where there are run files, ROUTER.run."""
    place = make_folder(folder)
    for result in reached:
        name, weights = result.routed.router, result.routed.weights
        averaged = dict(zip([measure.name for measure in measures], result.averaged, strict=True))
        write_per_query(str(place / f"{name}.values"), queries, averaged)
        mean = weights.mean(axis=0)
        write_weights(str(place / f"{name}.weights"), tags, dict(zip(queries, mean, strict=True)))
        if pool is None:
            continue
        write_fused(str(place / f"{name}.run"), pool, plan, queries, mean, k, name)
        for number, one in enumerate(weights if repeats else (), start=1):
            path = str(place / f"{name}.{number:02d}.run")
            write_fused(path, pool, plan, queries, one, k, f"{name}-{number}")


def save_router(
    path: str,
    problem: Problem,
    router: Router,
    plan: Plan,
    tags: Sequence[str],
    depth: int | None,
    features: Sequence[str],
    words: dict[str, list[str]],
) -> None:
    """Fit on all queries and write the router with what it needs to be applied."""
    fitted = problem.fit(router, np.arange(problem.contest.size), 0, 0)
    how = {"method": plan.method, "norm": plan.norm, "missing": plan.missing, "rrf_k": plan.rrf_k}
    what = {
        "router": router.name,
        "tags": list(tags),
        "depth": depth,
        "features": list(features),
        "words": words,
    }
    write_router(path, {**what, **how, "choice": fitted.choice, "state": fitted.state})
