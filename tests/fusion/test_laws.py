"""Laws that every method × normalisation keeps, on runs that hypothesis draws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridcli.fusion.fuse import Plan, fuse
from hybridcli.fusion.methods import METHODS
from hybridcli.fusion.normalization import NORMALIZATIONS
from hybridcli.fusion.order import from_sortable, keep_order, order_pool, round_scores, sortable
from hybridcli.fusion.pool import align
from hybridcli.records import Run

DOCNOS = ["a", "b", "c", "d", "e", "é", "10", "9"]
SCORES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 1.0 + 2**-40, 16777216.0, 16777217.0]),
    st.floats(-1e6, 1e6, allow_nan=False),
)
LISTS = st.dictionaries(st.sampled_from(DOCNOS), SCORES, min_size=1, max_size=8)
RUN = st.dictionaries(st.sampled_from(["q1", "q2", "q10"]), LISTS, min_size=1, max_size=3)
RUNS = st.lists(RUN, min_size=1, max_size=4)
NORMS = st.sampled_from(list(NORMALIZATIONS))
Rankings = dict[str, dict[str, float]]


def _runs(drawn: list[Rankings]) -> list[Run]:
    return [Run.from_dict(one, f"r{i}") for i, one in enumerate(drawn)]


def _items(run: Run) -> list[tuple[str, list[tuple[str, float]]]]:
    return [(qid, list(ranking.items())) for qid, ranking in run.to_dict().items()]


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=10, deadline=None)
@given(drawn=RUNS, norm=NORMS)
def test_every_method(method: str, drawn: list[Rankings], norm: str) -> None:
    runs, plan = _runs(drawn), Plan(method, norm)
    fused = fuse(align(runs), plan)
    # the order of the runs does not matter, to the last bit
    for order in (runs[::-1], runs[1:] + runs[:1]):
        assert _items(fuse(align(order), plan)) == _items(fused)
    for qid, ranking in fused.to_dict().items():
        # the union, each once; every score a finite 32-bit float
        assert set(ranking) == set().union(*(one.get(qid, {}) for one in drawn))
        scores = np.array(list(ranking.values()))
        assert np.isfinite(scores).all()
        assert (scores.astype(np.float32) == scores).all()
        # readers of floats and of doubles see the order that is written
        for number in (float, np.float32):
            read = {docno: number(str(np.float32(score))) for docno, score in ranking.items()}
            assert sorted(read, key=lambda d: (read[d], d.encode()), reverse=True) == list(ranking)
    # a cut to k is a head
    short = fuse(align(runs), plan, k=2).to_dict()
    assert [(q, list(r.items())) for q, r in short.items()] == [(q, r[:2]) for q, r in _items(fused)]


@settings(max_examples=30, deadline=None)
@given(
    drawn=RUNS, method=st.sampled_from([name for name, entry in METHODS.items() if entry.reads == "ranks"])
)
def test_rank_methods_ignore_monotone_rescoring(drawn: list[Rankings], method: str) -> None:
    rescored: list[Rankings] = []
    for one in drawn:
        rescored.append({})
        for qid, ranking in one.items():
            place = {score: i for i, score in enumerate(sorted(set(ranking.values())))}
            rescored[-1][qid] = {docno: 2.0 ** place[score] - 50 for docno, score in ranking.items()}
    plan = Plan(method)
    assert _items(fuse(align(_runs(drawn)), plan)) == _items(fuse(align(_runs(rescored)), plan))


@settings(max_examples=30, deadline=None)
@given(
    drawn=RUNS,
    method=st.sampled_from([name for name, entry in METHODS.items() if entry.reads == "scores"]),
    norm=NORMS.filter(lambda norm: norm != "none"),
    exponents=st.lists(st.integers(-40, 40), min_size=4, max_size=4),
)
def test_scaling_a_run_changes_nothing(
    drawn: list[Rankings], method: str, norm: str, exponents: list[int]
) -> None:
    scaled = [
        {qid: {docno: score * 2.0**e for docno, score in ranking.items()} for qid, ranking in one.items()}
        for one, e in zip(drawn, exponents, strict=False)
    ]
    plan = Plan(method, norm)
    assert _items(fuse(align(_runs(drawn)), plan)) == _items(fuse(align(_runs(scaled)), plan))


@settings(max_examples=30, deadline=None)
@given(drawn=RUNS, which=st.integers(0, 3), norm=NORMS)
def test_all_weight_on_one_run_is_that_run(drawn: list[Rankings], which: int, norm: str) -> None:
    runs = _runs(drawn)
    chosen = runs[which % len(runs)]
    weights = np.zeros(len(runs))
    weights[which % len(runs)] = 1.0
    pool = align(runs)
    by_query = np.repeat(weights[:, None], len(pool.queries), axis=1)
    for plan in (Plan("weighted", norm), Plan("rrf")):
        for given_weights in (weights, by_query, weights * 0.3):
            fused = fuse(pool, plan, given_weights).to_dict()
            for qid, ranking in chosen.to_dict().items():
                assert list(fused[qid]) == list(ranking)
            assert all(not fused[qid] for qid in set(fused) - set(chosen.queries))


@settings(max_examples=30, deadline=None)
@given(drawn=st.lists(RUN, min_size=3, max_size=3))
def test_weight_zero_leaves_a_run_out(drawn: list[Rankings]) -> None:
    runs = _runs(drawn)
    for plan in (Plan("weighted"), Plan("rrf")):
        three = fuse(align(runs), plan, np.array([0.5, 0.0, 0.25])).to_dict()
        two = fuse(align([runs[0], runs[2]]), plan, np.array([0.5, 0.25])).to_dict()
        assert {q: list(r.items()) for q, r in three.items() if r} == {
            q: list(r.items()) for q, r in two.items()
        }


FLOATS = st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=30)


@given(values=FLOATS)
def test_sortable_keeps_order_and_neighbours(values: list[float]) -> None:
    scores = np.array(values, dtype=np.float32)
    keys = sortable(scores)
    assert (from_sortable(keys) == scores).all()
    assert (np.argsort(keys, kind="stable") == np.argsort(scores, kind="stable")).all()
    below = np.nextafter(scores[scores > 0], np.float32(-np.inf))
    assert (sortable(below) == keys[scores > 0] - 1).all()


@given(values=st.lists(FLOATS, min_size=1, max_size=4))
def test_lists_are_kept_apart_by_the_fewest_steps(values: list[list[float]]) -> None:
    lists = [np.sort(np.array(one, dtype=np.float32))[::-1] for one in values]
    starts = np.concatenate([np.arange(len(one)) == 0 for one in lists])
    falls = ~starts
    kept = np.split(
        keep_order(np.concatenate(lists), falls, starts), np.cumsum([len(one) for one in lists])[:-1]
    )
    for before, after in zip(lists, kept, strict=True):
        assert after[0] == before[0]
        assert (after[1:] < after[:-1]).all()
        expected = [sortable(before[:1])[0]]
        for key in sortable(before[1:]):
            expected.append(min(key, expected[-1] - 1))
        assert sortable(after).tolist() == expected


@given(
    lists=st.lists(
        st.lists(st.sampled_from([np.nan, 0.0, 1.0, -1.5, 3e38, -3e38, 1e-45]), max_size=6),
        min_size=1,
        max_size=5,
    ),
    k=st.one_of(st.none(), st.integers(1, 4)),
)
def test_order_of_a_pool(lists: list[list[float]], k: int | None) -> None:
    offsets = np.cumsum([0, *(len(one) for one in lists)])
    scores = round_scores(np.array([score for one in lists for score in one]))
    rows, lengths = order_pool(offsets, scores, k)
    expected = [
        sorted((row for row in range(start, end) if not np.isnan(scores[row])), key=lambda row: -scores[row])[
            :k
        ]
        for start, end in itertools.pairwise(offsets.tolist())
    ]
    assert rows.tolist() == [row for one in expected for row in one]
    assert lengths.tolist() == [len(one) for one in expected]
