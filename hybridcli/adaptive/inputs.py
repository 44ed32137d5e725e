"""Putting together what routers read of queries, in the order of the judged queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybridcli.adaptive.routers import ROUTERS
from hybridcli.adaptive.training import Router
from hybridcli.errors import UsageError
from hybridcli.fusion.pool import Pool
from hybridcli.records import Floats, segment_of

HOW_TO_GIVE = {
    "features": "--topics or --features",
    "embeddings": "--index (a dense index) or --embeddings",
    "categories": "--categories",
}


def first_scores(pool: Pool, queries: Sequence[str]) -> Floats:
    """Each run's best score for each query: float64[Q, R], NaN where it retrieved nothing."""
    place = {qid: at for at, qid in enumerate(queries)}
    at = np.array([place.get(qid, -1) for qid in pool.queries], dtype=np.int64)
    scores = np.full((len(queries), len(pool.scores)), np.nan)
    segment = segment_of(pool.offsets)
    for run, ranks in enumerate(pool.ranks):
        first = np.flatnonzero(ranks == 1)
        first = first[at[segment[first]] >= 0]
        scores[at[segment[first]], run] = pool.scores[run, first]
    return scores


def choose_routers(names: Sequence[str], given: Sequence[str]) -> list[Router]:
    """Look up routers; ``all`` are those whose inputs are given. A UsageError says what another one lacks."""
    if list(names) == ["all"]:
        return [router for router in ROUTERS.values() if set(router.needs) <= set(given)]
    chosen = []
    for name in dict.fromkeys(names):
        if name not in ROUTERS:
            raise UsageError(f"no router {name!r}; there are: {', '.join(ROUTERS)}, and all")
        for need in ROUTERS[name].needs:
            if need not in given:
                raise UsageError(f"router {name} reads {need}; give {HOW_TO_GIVE[need]}")
        chosen.append(ROUTERS[name])
    return chosen


def router_rows() -> list[tuple[str, str, str, str]]:
    """(name, what it does, what it reads, source) of each router, for help and README."""
    return [
        (router.name, router.summary, ", ".join(router.needs) or "runs only", router.source)
        for router in ROUTERS.values()
    ]
