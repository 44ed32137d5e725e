"""Ranking by counting gives exactly what fusing and evaluating gives, at every weighting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridcli.adaptive.contest import Contest, count_true, segments
from hybridcli.errors import UsageError
from hybridcli.evaluation.hits import find_hits, judgments_of
from hybridcli.evaluation.measures import parse_measure
from hybridcli.fusion.fuse import Plan, fuse
from hybridcli.fusion.pool import align
from hybridcli.names import Names
from hybridcli.records import Floats, Qrels, Run, offsets_of

MEASURES = [
    parse_measure(name) for name in ("nDCG@3", "RR", "R@2", "P@5", "AP", "Success@1", "RefHit@2", "Rprec")
]
PLANS = [
    Plan("weighted"),
    Plan("rrf"),
    Plan("rrf", rrf_k=0.5),
    Plan("weighted", "zmuv"),
    Plan("weighted", missing="min"),
]


def random_case(seed: int, *, references: bool) -> tuple[list[Run], Qrels]:
    """One to four runs full of ties over few documents, with queries and documents that only some of them have."""
    rng = np.random.default_rng(seed)
    queries = [f"q{number}" for number in range(rng.integers(1, 6))]
    docs = [f"d{number}" for number in range(rng.integers(2, 12))]
    runs = []
    for tag in range(rng.integers(1, 5)):
        rankings: dict[str, dict[str, float]] = {}
        for qid in rng.permutation(queries)[: rng.integers(1, len(queries) + 1)].tolist():
            chosen = rng.permutation(docs)[: rng.integers(1, len(docs) + 1)].tolist()
            scores = rng.integers(-3, 4, len(chosen)) + rng.choice([0.0, 1e-12, 0.5], len(chosen))
            rankings[qid] = dict(zip(chosen, scores.tolist(), strict=True))
        runs.append(Run.from_dict(rankings, f"run{tag}"))
    names = sorted({*docs, "never retrieved"})
    judged = [*queries[1:], "in no run"] if len(queries) > 1 else [*queries, "in no run"]
    rows, grades = [], []
    for _ in judged:
        chosen = np.sort(rng.permutation(len(names))[: rng.integers(1, len(names) + 1)])
        rows.append(chosen)
        grades.append(rng.integers(-1, 3, len(chosen)))
    offsets = offsets_of(np.array([len(row) for row in rows]))
    flat = np.concatenate(grades).astype(np.int32)
    qrels = Qrels(
        judged,
        offsets,
        np.concatenate(rows).astype(np.int32),
        flat,
        Names.of(names),
    )
    if not references:
        return runs, qrels
    relevant = np.flatnonzero(flat > 0)
    pairs = sorted({(int(row), int(rng.integers(3))) for row in np.repeat(relevant, 2)})
    return runs, Qrels(
        *(judged, offsets, qrels.docs, flat, qrels.docnos),
        pairs=np.array(pairs, dtype=np.int32).reshape(-1, 2),
        reference_counts=np.full(len(judged), 3, dtype=np.int32),
        reference_ids=[["a", "b", "c"]] * len(judged),
    )


def random_weights(seed: int, shape: tuple[int, ...]) -> Floats:
    """Weights with many zeros, never all of them."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, shape) / 3 * rng.choice([1.0, 0.7], shape)
    weights[weights.sum(axis=-1) == 0] = 1.0
    return weights


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.sampled_from(PLANS), st.booleans())
def test_any_weighting_equals_fuse_then_evaluate(seed: int, plan: Plan, references: bool) -> None:
    runs, qrels = random_case(seed, references=references)
    pool = align(runs)
    weights = random_weights(seed, (3, len(runs)))
    found = Contest.of(pool, plan, qrels).values(MEASURES, weights)
    judgments = judgments_of(qrels)
    for number, weighting in enumerate(weights):
        hits = find_hits(fuse(pool, plan, weighting), qrels)
        for row, measure in enumerate(MEASURES):
            assert found[row, number].tolist() == measure.values(judgments, hits).tolist(), measure.name


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from(PLANS))
def test_weights_by_query_equal_fuse_and_a_part_equals_the_whole(seed: int, plan: Plan) -> None:
    runs, qrels = random_case(seed, references=True)
    pool = align(runs)
    weights = random_weights(seed, (2, len(qrels.queries), len(runs)))
    contest = Contest.of(pool, plan, qrels)
    found = contest.values(MEASURES, weights)
    for number in range(2):
        known = dict(zip(qrels.queries, weights[number], strict=True))
        by_pool = np.array([known.get(qid, np.ones(len(runs))) for qid in pool.queries]).T
        hits = find_hits(fuse(pool, plan, by_pool), qrels)
        for row, measure in enumerate(MEASURES):
            assert found[row, number].tolist() == measure.values(judgments_of(qrels), hits).tolist()
    rows = np.random.default_rng(seed).permutation(len(qrels.queries))[:3]
    assert (contest.take(rows).values(MEASURES, weights[:, rows]) == found[:, :, rows]).all()
    assert (contest.take(rows).best_ranks() == contest.best_ranks()[:, rows]).all()


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(PLANS[:3]))
def test_all_the_weight_on_one_run_is_that_run(seed: int, plan: Plan) -> None:
    runs, qrels = random_case(seed, references=False)
    found = Contest.of(align(runs), plan, qrels).values(MEASURES, np.eye(len(runs)))
    for number, run in enumerate(runs):
        hits = find_hits(run, qrels)
        for row, measure in enumerate(MEASURES):
            assert found[row, number].tolist() == measure.values(judgments_of(qrels), hits).tolist()


def test_best_ranks_by_hand() -> None:
    left = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"a": 1.0}})
    right = Run.from_dict({"q": {"c": 3.0, "x": 2.0}})
    docnos = Names.of(["a", "b", "c"])
    ones = np.array([0, 1, 1, 1], dtype=np.int32)
    qrels = Qrels(["r", "q"], np.array([0, 1, 4]), np.array([0, 0, 1, 2], dtype=np.int32), ones, docnos)
    contest = Contest.of(align([left, right]), Plan("rrf"), qrels)
    assert contest.best_ranks().tolist() == [[0, 1], [0, 1]]
    assert contest.retrieved(np.array([0.5, 0.5])).tolist() == [1, 4]
    assert contest.retrieved(np.array([0.0, 1.0])).tolist() == [0, 2]


def test_measures_that_say_nothing_of_weights_and_methods_without_weights_are_refused() -> None:
    runs, qrels = random_case(0, references=False)
    with pytest.raises(UsageError, match="condorcet takes no weights"):
        Contest.of(align(runs), Plan("condorcet"), qrels)
    contest = Contest.of(align(runs), Plan("rrf"), qrels)
    with pytest.raises(UsageError, match="Judged@5 says nothing about weights"):
        contest.values([parse_measure("Judged@5")], np.ones((1, len(runs))))


def test_long_lists_with_many_relevant_documents_are_cut_into_pieces() -> None:
    rng = np.random.default_rng(0)
    names = [f"d{number:05d}" for number in range(40_000)]
    scores = rng.integers(0, 500, (2, 40_000)).astype(float)
    runs = [Run.from_dict({"q": dict(zip(names, row.tolist(), strict=True))}) for row in scores]
    rel = np.sort(rng.permutation(40_000)[:50]).astype(np.int32)
    qrels = Qrels(["q"], np.array([0, 50]), rel, np.ones(50, dtype=np.int32), Names.of(names))
    pool, plan, weights = align(runs), Plan("weighted"), np.array([[0.3, 0.7]])
    ranks = np.sort(Contest.of(pool, plan, qrels).hit_ranks(weights)[0])
    assert ranks.tolist() == find_hits(fuse(pool, plan, weights[0]), qrels).rank.tolist()


def test_segments_and_counts() -> None:
    rows, bounds = segments(np.array([0, 2, 2, 5]), np.array([2, -1, 0]))
    assert (rows.tolist(), bounds.tolist()) == ([2, 3, 4, 0, 1], [0, 3, 3, 5])
    matrix = np.random.default_rng(0).random((7, 128)) < 0.3
    assert count_true(matrix).tolist() == matrix.sum(axis=1).tolist()
