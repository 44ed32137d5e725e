"""Complete rankings give exactly what full-depth runs give, with most documents dropped."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridcli.adaptive import exhaustive
from hybridcli.adaptive.contest import Contest
from hybridcli.adaptive.exhaustive import complete_pool, prune, same_documents, spread_scores, tabulate
from hybridcli.adaptive.oracle import Grid
from hybridcli.errors import DataError, UsageError
from hybridcli.evaluation.measures import parse_measure
from hybridcli.fusion.fuse import Plan
from hybridcli.fusion.pool import align
from hybridcli.names import Names
from hybridcli.records import Qrels, Run, offsets_of

MEASURES = [parse_measure(name) for name in ("RR", "nDCG@3", "AP", "RefHit@2")]
PLANS = [
    Plan("rrf"),
    Plan("rrf", rrf_k=0),
    Plan("weighted"),
    Plan("weighted", "zmuv"),
    Plan("weighted", missing="min"),
]


def case(seed: int, width: int = 30) -> tuple[np.ndarray, Qrels, Names, list[Run]]:
    """Scores float32[R, Q, D] with ties, near ties and holes, and the same as runs."""
    rng = np.random.default_rng(seed)
    n_runs, size = int(rng.integers(1, 4)), 4
    docnos = [f"d{number:03d}" for number in range(width)]
    scores = rng.integers(0, 6, (n_runs, size, width)).astype(np.float32)
    scores += rng.choice([0.0, 1e-6, 0.25], scores.shape).astype(np.float32)
    scores[rng.random(scores.shape) < 0.3] = np.nan
    scores[:, :, 0] = np.where(np.isnan(scores[:, :, 0]), 1, scores[:, :, 0])
    queries = [f"q{number}" for number in range(size)]
    runs = [
        Run.from_dict(
            {
                qid: {docnos[at]: float(row[at]) for at in np.flatnonzero(~np.isnan(row))}
                for qid, row in zip(queries, of_run, strict=True)
            },
            f"run{number}",
        )
        for number, of_run in enumerate(scores)
    ]
    rows = [np.sort(rng.permutation(width + 1)[: rng.integers(1, 4)]) for _ in queries]
    grades = rng.integers(0, 3, sum(map(len, rows))).astype(np.int32)
    series = Names.of(sorted([*docnos, "not indexed"]))
    offsets = offsets_of(np.array([len(row) for row in rows]))
    return (
        scores,
        Qrels(queries, offsets, np.concatenate(rows).astype(np.int32), grades, series),
        Names.of(docnos),
        runs,
    )


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 10**6))
def test_complete_rankings_equal_full_runs(seed: int) -> None:
    scores, qrels, docnos, runs = case(seed)
    weights = Grid.of(len(runs), "0.25").weights
    tables = tabulate(list(scores), docnos, qrels, PLANS, MEASURES, weights)
    pool = align(runs)
    for table, plan in zip(tables, PLANS, strict=True):
        contest = Contest.of(pool, plan, qrels)
        assert (table.values(MEASURES, weights) == contest.values(MEASURES, weights)).all()
        assert (table.best_ranks() == contest.best_ranks()).all()
        by_query = np.random.default_rng(seed).choice(weights, (2, 4))
        assert (table.values(MEASURES, by_query) == contest.values(MEASURES, by_query)).all()
        some = np.array([2, 0])
        assert (
            table.take(some).values(MEASURES, weights) == contest.take(some).values(MEASURES, weights)
        ).all()


def test_the_batch_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, qrels, docnos, runs = case(7)
    weights = Grid.of(len(runs), "0.5").weights
    (whole,) = tabulate(list(scores), docnos, qrels, PLANS[:1], MEASURES, weights)
    monkeypatch.setattr(exhaustive, "CELLS", 1)
    (single,) = tabulate(list(scores), docnos, qrels, PLANS[:1], MEASURES, weights)
    assert (whole.table == single.table).all()


def test_documents_that_can_pass_nothing_are_dropped() -> None:
    """The relevant document is first of 1,000 in one run and 40th in the other: 39 + itself remain."""
    docnos = Names.of([f"d{number:04d}" for number in range(1000)])
    left = -np.arange(1000, dtype=np.float32)
    right = -np.roll(np.arange(1000, dtype=np.float32), -39)  # document 0 is at rank 40
    qrels = Qrels(["q"], np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int32), docnos)
    pool = complete_pool(["q"], np.stack([left, right])[None], docnos)
    contest = Contest.of(pool, Plan("rrf"), qrels)
    assert contest.best_ranks().T.tolist() == [[1, 40]]
    pruned = prune(contest, Plan("rrf"))
    assert pruned.offsets.tolist() == [0, 40]
    points = Grid.of(2, "0.1").weights
    assert (pruned.hit_ranks(points) == contest.hit_ranks(points)).all()


def test_weights_off_the_grid_and_lost_queries_are_refused() -> None:
    scores, qrels, docnos, runs = case(3)
    weights = Grid.of(len(runs), "0.5").weights
    (table,) = tabulate(list(scores), docnos, qrels, PLANS[:1], MEASURES, weights)
    off = np.full((1, len(runs)), 0.123)
    with pytest.raises(UsageError, match="routers that predict other weights need run files"):
        table.values(MEASURES, off)

    def short() -> Iterator[np.ndarray]:
        yield scores[0, 0]

    with pytest.raises((DataError, ValueError), match=r"scores of 1 queries for 4|shorter|longer"):
        tabulate([short()] * len(runs), docnos, qrels, PLANS[:1], MEASURES, weights)


def test_indexes_of_different_documents_are_joined() -> None:
    union, places = same_documents([["a", "c"], ["b", "c"]])
    assert union == ["a", "b", "c"]
    (wide,) = spread_scores([np.array([1.0, 2.0], dtype=np.float32)], places[1], 3)
    assert np.array_equal(wide, [np.nan, 1.0, 2.0], equal_nan=True)
