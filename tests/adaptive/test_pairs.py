"""Candidate lists: cut, taken apart, re-ordered."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridcli.adaptive.pairs import Lists, Pairs, first_rows, reorder, segment_rows
from hybridcli.records import Run, offsets_of

RUN = Run.from_dict(
    {"q1": {"a": 9.0, "b": 8.0, "c": 7.0, "d": 7.0}, "q2": {"c": 1.0}, "q3": {"b": 0.5, "a": 0.25}}, "old"
)


def test_the_first_documents_are_re_ranked_and_the_rest_stays_below() -> None:
    # the rows of the first two: q1 a, b; q2 c; q3 b, a
    found = reorder(RUN, 2, np.array([0.1, 0.7, -3.5, 2.0, 2.0]), "new")
    assert found.tag == "new"
    assert {qid: list(ranking) for qid, ranking in found.to_dict().items()} == {
        "q1": ["b", "a", "d", "c"],  # d before c: the order that the run had
        "q2": ["c"],
        "q3": ["b", "a"],  # a tie goes to the higher docno
    }
    assert found.to_dict()["q1"] == {"b": pytest.approx(0.7), "a": pytest.approx(0.1), "d": -1.0, "c": -2.0}


def test_a_query_without_scores_keeps_its_order() -> None:
    found = reorder(RUN, 3, np.array([np.nan] * 3 + [5.0] + [1.0, 2.0]), "new").to_dict()
    assert found["q1"] == {"a": -1.0, "b": -2.0, "d": -3.0, "c": -4.0}
    assert list(found["q3"]) == ["a", "b"]


def test_scores_that_tie_in_32_bits_tie() -> None:
    found = reorder(RUN, 4, np.array([1.0, 1.0 + 1e-12, 0.0, 0.0, 1.0, 1.0, 1.0]), "new").to_dict()
    assert list(found["q1"])[:2] == ["b", "a"]
    assert found["q1"]["a"] == found["q1"]["b"]


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=4),
    st.integers(1, 8),
    st.integers(0, 10_000),
)
def test_re_ranking_permutes_the_first_k_alone(lengths: list[int], k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    run = Run.from_dict(
        {f"q{q}": {f"d{d}": float(rng.normal()) for d in range(size)} for q, size in enumerate(lengths)}
    )
    scores = rng.integers(-3, 3, len(first_rows(run.offsets, k))).astype(float)
    old, new = run.to_dict(), reorder(run, k, scores, "new").to_dict()
    for qid, ranking in old.items():
        before, after = list(ranking), list(new[qid])
        assert sorted(before[:k]) == sorted(after[:k])
        assert before[k:] == after[k:]
        assert list(new[qid].values()) == sorted(new[qid].values(), reverse=True)


def test_lists_are_cut_and_taken() -> None:
    pairs = Pairs(np.array([0, 0, 0, 1, 2, 2]), np.array([0, 1, 2, 1, 0, 2]))
    lists = Lists(pairs, offsets_of(np.array([3, 1, 2])), np.array([0, 0, 1, 0, 2, -1], dtype=np.int32))
    assert lists.found.tolist() == [True, False, True]
    assert lists.first(2).found.tolist() == [False, False, True]
    assert lists.first(2).offsets.tolist() == [0, 2, 3, 5]
    taken = lists.take(np.array([2, 0]))
    assert taken.pairs.query.tolist() == [2, 2, 0, 0, 0]
    assert taken.grades.tolist() == [2, -1, 0, 0, 1]
    assert segment_rows(lists.offsets, np.array([1, 1])).tolist() == [3, 3]
    assert not lists.take(np.array([], dtype=np.int64)).found.size


def test_features_are_query_then_passage() -> None:
    queries = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32)
    passages = np.array([[5.0, 6.0], [7.0, 8.0]], dtype=np.float32)
    pairs = Pairs(np.array([1, 1, 0]), np.array([0, 1, 1]), queries, passages)
    assert pairs.features().tolist() == [[3, 4, 5, 6], [3, 4, 7, 8], [1, 2, 7, 8]]
    with pytest.raises(ValueError, match="no vectors"):
        Pairs(pairs.query, pairs.passage).features()
