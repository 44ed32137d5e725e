"""Every method × normalisation on one small pool, worked out by hand.

run A   a 8, b 6, c 2      min-max  a 1, b 2/3, c 0
run B   c −1, d −3         min-max  c 1, d 0
run C   c 5                min-max  c 1
pool rows, docno descending: d, c, b, a
"""

import math

import numpy as np
import pytest

from hybridcli.errors import UsageError
from hybridcli.fusion.fuse import Plan, every_plan, fuse, fused_scores, idle_options, sums_negatives
from hybridcli.fusion.methods import METHODS, find_method, method_rows, sum_runs
from hybridcli.fusion.pool import align
from hybridcli.records import Run

RUNS = [
    Run.from_dict({"q": {"a": 8.0, "b": 6.0, "c": 2.0}}),
    Run.from_dict({"q": {"c": -1.0, "d": -3.0}}),
    Run.from_dict({"q": {"c": 5.0}}),
]
Z = math.sqrt(56 / 9)  # deviation of A, whose mean is 16/3
LN = math.log

# the values of the rows d, c, b, a: those of A, B and C where they retrieved it, then the sums with 0 elsewhere
VALUES = {
    "none": ([-3], [2, -1, 5], [6], [8]),
    "min-max": ([0], [0, 1, 1], [2 / 3], [1]),
    "max": ([0], [1 / 4, 1, 1], [3 / 4], [1]),
    "sum": ([0], [0, 1, 1], [0.4], [0.6]),
    "zmuv": ([-1], [-10 / 3 / Z, 1, 0], [2 / 3 / Z], [8 / 3 / Z]),
    "rank": ([1 / 2], [1 / 3, 1, 1], [2 / 3], [1]),
    "borda": ([3 / 4], [2 / 4, 1, 1], [3 / 4], [1]),
}
# Borda gives absent documents a share: A leaves 1 to d; B leaves 2 + 1 to a and b; C leaves 3 + 2 + 1 to d, b, a
SUMS = {name: [sum(row) for row in rows] for name, rows in VALUES.items()} | {
    "borda": [3 / 4 + 1 / 4 + 2 / 4, 2.5, 3 / 4 + 1.5 / 4 + 2 / 4, 1 + 1.5 / 4 + 2 / 4]
}
HITS = [1, 3, 1, 1]
SCORE_METHODS = {
    "weighted": lambda rows, sums: [s / 3 for s in sums],
    "combmin": lambda rows, sums: [min(row) for row in rows],
    "combmax": lambda rows, sums: [max(row) for row in rows],
    "combmed": lambda rows, sums: [sorted(row)[len(row) // 2] for row in rows],
    "combsum": lambda rows, sums: sums,
    "combanz": lambda rows, sums: [sum(row) / len(row) for row in rows],
    "combmnz": lambda rows, sums: [n * s for n, s in zip(HITS, sums, strict=True)],
}
RANK_METHODS = {
    "rrf": [1 / 62, 1 / 63 + 1 / 61 + 1 / 61, 1 / 62, 1 / 61],
    "isr": [1 / 4, 3 * (1 / 9 + 1 + 1), 1 / 4, 1],
    "logisr": [LN(2) / 4, LN(4) * (1 / 9 + 1 + 1), LN(2) / 4, LN(2)],
    # 4 candidates, points 4 … 1: d 1 + 3 + 2, c 2 + 4 + 4, b 3 + 1.5 + 2, a 4 + 1.5 + 2
    "borda": [6, 10, 6.5, 7.5],
    # c beats d 3:0, b and a 2:1; a beats b 1:0; a–d and b–d are 1:1; wins less losses: c 3, a 0, d −1, b −2
    "condorcet": [2, 4, 1, 3],
    "rbc": [LN(0.2 * 0.8), LN(0.2 * (1 + 1 + 0.64)), LN(0.2 * 0.8), LN(0.2)],
    # best ranks 2, 1 (twice), 2, 1
    "interleave": [2, 4, 1, 3],
}


@pytest.mark.parametrize("name", every_plan())
def test_by_hand(name: str) -> None:
    plan = every_plan()[name]
    if plan.entry.reads == "ranks":
        expected = RANK_METHODS[name]
    else:
        assert plan.norm is not None
        expected = SCORE_METHODS[plan.method](VALUES[plan.norm], SUMS[plan.norm])
    scores = fused_scores(align(RUNS), plan)
    np.testing.assert_allclose(scores, np.array(expected, dtype=np.float32), rtol=3e-7, atol=1e-7)


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        # minima: A 2, B −3, C 5 raw; A 0, B 0, C 1 min-max
        (Plan("combsum", "none", missing="min"), [2 - 3 + 5, 2 - 1 + 5, 6 - 3 + 5, 8 - 3 + 5]),
        (Plan("combmnz", missing="min"), [1, 3 * 2, 2 / 3 + 1, 2]),
        (Plan("rrf", rrf_k=0), [1 / 2, 1 / 3 + 2, 1 / 2, 1]),
        (Plan("rbc", rbc_p=0.5), [LN(1 / 4), LN(0.5 * 2.25), LN(1 / 4), LN(1 / 2)]),
    ],
)
def test_parameters(plan: Plan, expected: list[float]) -> None:
    np.testing.assert_allclose(fused_scores(align(RUNS), plan), expected, rtol=1e-6)


def test_an_even_number_of_scores_has_its_middle_as_median() -> None:
    runs = [Run.from_dict({"q": {"a": score}}) for score in (1.0, 10.0, 2.0, 5.0)]
    assert fused_scores(align(runs), Plan("combmed", "none")).tolist() == [3.5]


CYCLE = [
    Run.from_dict({"q": {"a": 10.0, "b": 9.0, "c": 8.0}}),
    Run.from_dict({"q": {"b": 10.0, "c": 9.0, "a": 8.0}}),
    Run.from_dict({"q": {"c": 10.0, "a": 9.0, "b": 8.0}}),
]
PARTIAL = [
    Run.from_dict({"q": {"a": 10.0, "b": 9.0}}),
    Run.from_dict({"q": {"c": 10.0, "b": 9.0, "d": 8.0}}),
    Run.from_dict({"q": {"b": 10.0}}),
]


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_a_cycle_is_resolved_the_same_for_every_order_of_runs(order: tuple[int, ...]) -> None:
    cycle = fuse(align([CYCLE[i] for i in order]), Plan("condorcet")).to_dict()["q"]
    assert list(cycle) == ["c", "b", "a"]
    assert fuse(align([CYCLE[i] for i in order]), Plan("borda")).to_dict()["q"] == {"c": 6, "b": 6, "a": 6}
    partial = fuse(align([PARTIAL[i] for i in order]), Plan("borda")).to_dict()["q"]
    assert list(partial.items()) == [("b", 10), ("c", 7.5), ("a", 7), ("d", 5.5)]
    assert list(fuse(align([PARTIAL[i] for i in order]), Plan("condorcet")).to_dict()["q"]) == [*"bcad"]


def test_condorcet_ranks_a_cycle_before_those_it_beats() -> None:
    # x, y, z in a cycle, all above w in every run: Copeland alone would do; v loses to w only
    runs = [
        Run.from_dict({"q": {d: float(-i) for i, d in enumerate(order)}})
        for order in ("xyzwv", "yzxwv", "zxywv")
    ]
    assert list(fuse(align(runs), Plan("condorcet")).to_dict()["q"]) == ["z", "y", "x", "w", "v"]


def test_condorcet_puts_a_winner_before_the_loser_where_copeland_would_not() -> None:
    # y beats x 1:0 (the other run has neither) and ties with nobody else; x beats many
    runs = [
        Run.from_dict({"q": {"y": 9.0, "x": 8.0, "a": 7.0, "b": 6.0, "c": 5.0}}),
        Run.from_dict({"q": {"a": 9.0, "b": 8.0, "c": 7.0, "y": 1.0}}),
    ]
    order = list(fuse(align(runs), Plan("condorcet")).to_dict()["q"])
    assert order.index("y") < order.index("x")


def test_the_sum_over_runs_does_not_depend_on_their_order() -> None:
    parts = np.array([[1e16], [1.0], [-1e16], [1.0], [3.0]])
    sums = {sum_runs(parts[np.random.default_rng(seed).permutation(5)])[0] for seed in range(20)}
    assert len(sums) == 1


def test_a_score_that_fits_no_32_bit_float_is_refused() -> None:
    with pytest.raises(UsageError, match="32-bit"):
        fused_scores(align([Run.from_dict({"q": {"a": 1e300}})]), Plan("combsum", "none"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "rff"}, "rrf, weighted"),
        ({"norm": "l2"}, "min-max"),
        ({"rrf_k": -1}, "rrf_k"),
        ({"rrf_k": math.nan}, "rrf_k"),
        ({"rbc_p": 1}, "rbc_p"),
        ({"missing": "max"}, "missing"),
    ],
)
def test_plans_that_cannot_be(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Plan(**options)  # type: ignore[arg-type]


def test_what_has_no_effect_is_said() -> None:
    assert "reads ranks only" in idle_options(Plan("rrf", "zmuv"))[0]
    assert "no effect" in idle_options(Plan("combmax", missing="min"))[0]
    assert idle_options(Plan("combsum", "zmuv", missing="min")) == []


def test_sums_of_raw_negative_scores_are_noticed() -> None:
    pool = align(RUNS)
    assert sums_negatives(pool, Plan("combmnz", "none"))
    assert not sums_negatives(pool, Plan("combmnz", "min-max"))
    assert not sums_negatives(pool, Plan("combmnz", "none", missing="min"))
    assert not sums_negatives(pool, Plan("rrf"))


def test_the_rows_for_the_documents() -> None:
    assert [row[0] for row in method_rows()] == list(METHODS)
    assert all(all(row) for row in method_rows())
    assert find_method("rrf").linear
