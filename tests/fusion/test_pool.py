import numpy as np
import pytest

from hybridcli.errors import UsageError
from hybridcli.fusion.pool import align, merge_orders
from hybridcli.records import Run

A = Run.from_dict({"q1": {"a": 3.0, "b": 2.0, "d": 1.0}, "q2": {"x": 1.0}}, "A")
B = Run.from_dict({"q1": {"b": 9.0, "c": 8.0}, "q10": {"é": 1.0, "a": 1.0}}, "B")


def test_align_by_hand() -> None:
    pool = align([A, B])
    assert pool.queries == ["q1", "q10", "q2"]
    assert pool.offsets.tolist() == [0, 4, 6, 7]
    assert pool.docnos.to_list() == ["a", "b", "c", "d", "x", "é"]
    assert [pool.docnos[int(code)] for code in pool.docs] == ["d", "c", "b", "a", "é", "a", "x"]
    assert pool.ranks.tolist() == [[3, 0, 2, 1, 0, 0, 1], [0, 2, 1, 0, 1, 2, 0]]
    np.testing.assert_array_equal(pool.scores[0], [1.0, np.nan, 2.0, 3.0, np.nan, np.nan, 1.0])
    np.testing.assert_array_equal(pool.scores[1], [np.nan, 8.0, 9.0, np.nan, 1.0, 1.0, np.nan])
    assert pool.lengths.tolist() == [[3, 0, 1], [2, 2, 0]]


def test_depth_cuts_every_list_first() -> None:
    pool = align([A, B], depth=1)
    assert [pool.docnos[int(code)] for code in pool.docs] == ["b", "a", "é", "x"]
    assert pool.lengths.tolist() == [[1, 0, 1], [1, 1, 0]]
    with pytest.raises(UsageError, match="depth"):
        align([A], depth=0)


def test_empty_runs_and_no_runs() -> None:
    empty = Run.from_dict({})
    assert align([empty, empty]).queries == []
    assert align([empty, A]).queries == ["q1", "q2"]
    with pytest.raises(UsageError, match="no run"):
        align([])


@pytest.mark.parametrize(
    ("orders", "merged"),
    [
        ([["2", "10", "1"], ["2", "10", "1"]], ["2", "10", "1"]),
        ([["2", "10"], ["10", "1"]], ["2", "10", "1"]),
        ([["b", "z"], ["a", "z"]], ["a", "b", "z"]),  # a free choice: bytes
        ([["a", "b"], ["b", "a"], ["0"]], ["0", "a", "b"]),  # a contradiction: bytes
        ([["b", "c"], []], ["b", "c"]),
        ([], []),
    ],
)
def test_order_of_queries(orders: list[list[str]], merged: list[str]) -> None:
    assert merge_orders(orders) == merged
    assert merge_orders(orders[::-1]) == merged
