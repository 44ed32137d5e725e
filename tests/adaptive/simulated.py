"""Simulated runs whose right fusion weights are known, and random small ones for laws."""

from __future__ import annotations

import numpy as np

from hybridcli.adaptive.contest import Contest
from hybridcli.adaptive.oracle import Grid
from hybridcli.adaptive.protocol import Problem
from hybridcli.adaptive.training import Inputs, Settings
from hybridcli.evaluation.measures import parse_measure
from hybridcli.fusion.fuse import Plan
from hybridcli.fusion.pool import Pool, align
from hybridcli.names import Names
from hybridcli.records import Codes, Floats, Qrels, Run, offsets_of, order_rows

SMALL = Settings(
    trees=10, leaves=(20, 5), depths=(3, None), penalties=(100.0, 1.0), bin_penalties=(100.0, 1.0)
)


def run_of(scores: Floats, tag: str, docnos: Names, queries: list[str]) -> Run:
    """A run that ranks the same D documents for each query, by scores float64[Q, D]."""
    size, depth = scores.shape
    offsets = offsets_of(np.full(size, depth))
    docs = np.tile(np.arange(depth, dtype=np.int32), size)
    order = order_rows(offsets, docs, scores.ravel())
    return Run(tag, queries, offsets, docs[order], scores.ravel()[order], docnos)


def simulate(
    rng: np.random.Generator, better: Codes, *, strength: float = 2.5, depth: int = 25
) -> tuple[list[Run], Qrels]:
    """Two runs over Q queries with one relevant document each; only run ``better[q]`` has seen it.

    With −1 both see it a little, so that equal weights are right for every query.
    """
    size = len(better)
    queries = [f"q{number:04d}" for number in range(size)]
    docnos = Names.of([f"d{number:03d}" for number in range(depth)])
    relevant = rng.integers(0, depth, size)
    runs = []
    for number, tag in enumerate(("left", "right")):
        scores = rng.normal(size=(size, depth))
        seen = np.where(better == number, strength, np.where(better < 0, strength / 2, 0.0))
        scores[np.arange(size), relevant] += seen
        runs.append(run_of(scores, tag, docnos, queries))
    qrels = Qrels(
        queries, np.arange(size + 1), relevant.astype(np.int32), np.ones(size, dtype=np.int32), docnos
    )
    return runs, qrels


def problem_of(
    runs: list[Run],
    qrels: Qrels,
    *,
    groups: Codes,
    features: Floats | None = None,
    embeddings: Floats | None = None,
    categories: list[str] | None = None,
    measure: str = "RR@10",
    step: float = 0.1,
    validation: float = 0.25,
    settings: Settings = SMALL,
    plan: Plan | None = None,
    macro: bool = False,
    seed: int = 0,
) -> Problem:
    """Everything set up for the routers."""
    from hybridcli.adaptive.inputs import first_scores

    pool: Pool = align(runs)
    return Problem(
        contest=Contest.of(pool, plan or Plan("weighted"), qrels),
        measure=parse_measure(measure),
        points=Grid.of(len(runs), step).weights,
        inputs=Inputs(first_scores(pool, qrels.queries), features, embeddings, categories),
        groups=groups,
        missed=int(pool.lengths.max()) + 1,
        macro=macro,
        validation=validation,
        seed=seed,
        settings=settings,
    )
