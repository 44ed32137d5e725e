"""The one order, and cuts that respect it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybridcli.search.ranking import best, best_positive, collect_run


@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.5000001, 1.0]), max_size=40),
    st.integers(min_value=1, max_value=45),
)
def test_best_positive_is_the_head_of_the_full_order(values: list[float], depth: int) -> None:
    scores = np.array(values, dtype=np.float32)
    full = sorted(((s, c) for c, s in enumerate(scores.tolist()) if s > 0), reverse=True)[:depth]
    codes, found = best_positive(scores, depth)
    assert list(zip(found.tolist(), codes.tolist(), strict=True)) == full


def test_ties_at_the_cut_keep_the_highest_docnos() -> None:
    codes, scores = best(np.array([0, 3, 1, 2]), np.array([1, 1, 1, 2], dtype=np.float32), 3)
    assert codes.tolist() == [2, 3, 1]
    assert scores.tolist() == [2, 1, 1]


def test_collect_run_with_empty_lists() -> None:
    rankings = [best_positive(np.array(row, dtype=np.float32), 10) for row in ([0, 0], [0.5, 0.25])]
    run = collect_run("t", ["q1", "q2"], ["a", "b"], rankings)
    assert run.to_dict() == {"q1": {}, "q2": {"a": 0.5, "b": 0.25}}
    assert collect_run("t", [], [], []).to_dict() == {}
