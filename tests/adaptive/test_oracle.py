"""Grids, landscapes and the oracle's laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridcli.adaptive.contest import Contest
from hybridcli.adaptive.oracle import (
    Grid,
    Landscape,
    candidate_reach,
    describe,
    forced_runs,
    spread,
    summarise,
    survey,
)
from hybridcli.errors import UsageError
from hybridcli.evaluation.measures import parse_measure
from hybridcli.evaluation.resampling import Sample, units_of
from hybridcli.fusion.fuse import Plan
from hybridcli.fusion.pool import align
from hybridcli.names import Names
from tests.adaptive.test_contest import random_case

MEASURES = [parse_measure(name) for name in ("nDCG@5", "RR", "AP", "RefHit@2")]


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_oracle_is_at_least_the_best_point_and_that_at_least_every_vertex(
    seed: int, box: bool, references: bool
) -> None:
    runs, qrels = random_case(seed, references=references)
    contests = [Contest.of(align(runs), Plan("rrf", rrf_k=k), qrels) for k in (1.0, 60.0)]
    for found in survey(contests, MEASURES, Grid.of(len(runs), "0.25" if len(runs) < 4 else "0.5", box=box)):
        best, _ = found.best
        assert found.oracle.mean() >= found.means[best] - 1e-12
        assert (found.means[best] >= found.singles.mean(axis=1) - 1e-12).all()
        number, tied = found.best_by_query
        assert np.allclose(found.curve[number, np.arange(len(number))], found.oracle)
        assert (tied >= 1).all()
        assert found.unreachable == sum((found.curve <= 0).all(axis=0))


def test_a_grid_prefers_equal_weights_then_lexicographic_order() -> None:
    grid = Grid.of(2, "0.25")
    assert grid.weights[:, 0].tolist() == [0.5, 0.25, 0.75, 0.0, 1.0]
    assert grid.weights.sum(axis=1).tolist() == [1.0] * 5
    assert Grid.of(2, "0.5", box=True).weights.tolist()[:2] == [[0.5, 0.5], [1.0, 1.0]]


def test_forced_runs_always_have_a_weight() -> None:
    grid = Grid.of(3, "0.1", forced=forced_runs(["static > 0"], ["bm25", "qwen", "static"]))
    assert len(grid.points) == 66 - 11
    assert (grid.weights[:, 2] > 0).all()
    for wrong in ("static", "static>1", "other>0", ">0"):
        with pytest.raises(UsageError, match="write RUN>0, where RUN is one of bm25, static"):
            forced_runs([wrong], ["bm25", "static"])
    with pytest.raises(UsageError, match="no point gives every forced run a weight"):
        Grid.of(2, "1", forced=[0, 1])


def landscape(curve: list[list[float]]) -> Landscape:
    values = np.array(curve)
    weights = Grid.of(2, "0.5").weights
    return Landscape("RR", weights, np.zeros(3, dtype=np.int64), values, values[0], values[[2, 1]])


def test_ties_go_to_the_point_nearest_to_equal_weights_and_are_counted() -> None:
    # the points are (0.5, 0.5), (0, 1), (1, 0)
    found = landscape([[0.5, 0.0, 0.2], [0.1, 0.0, 0.6], [0.5, 0.0, 0.2 + 1e-15]])
    assert found.best == (0, 3)
    number, tied = found.best_by_query
    assert number.tolist() == [0, 0, 1]
    assert tied.tolist() == [2, 3, 1]
    assert found.oracle.tolist() == [0.5, 0.0, 0.6]
    assert found.unreachable == 1


def test_description_by_hand() -> None:
    found = landscape([[0.5, 0.0, 0.2], [0.1, 0.0, 0.9], [0.5, 0.0, 0.2]])
    gain = (found.oracle - found.equal)[:, None]
    rows = {row["row"]: row for row in describe(found, ["a", "b"], [60.0], Sample(gain, units_of(None, 3)))}
    assert rows["a alone"]["value"] == pytest.approx(0.7 / 3)
    assert rows["b alone"]["value"] == pytest.approx(1.0 / 3)
    assert rows["best fixed point"]["weights"] == [0.0, 1.0]
    assert rows["per-query oracle"]["value"] == pytest.approx(1.4 / 3)
    headroom = rows["headroom over equal"]
    assert headroom["value"] == pytest.approx(0.7 / 3)
    assert headroom["relative"] == pytest.approx(1.0)
    assert headroom["low"] == 0.0
    assert headroom["high"] == pytest.approx(0.7)
    assert rows["no weights answer"] == {
        "row": "no weights answer",
        "measure": "RR",
        "value": pytest.approx(1 / 3),
        "weights": None,
        "queries": 1,
    }


def test_one_group_has_no_interval() -> None:
    runs, qrels = random_case(3, references=False)
    contest = Contest.of(align(runs), Plan("rrf"), qrels)
    found = survey([contest], MEASURES[:1], Grid.of(len(runs), "0.5"))
    units = units_of(["one"] * contest.size, contest.size)
    labels = [run.tag for run in runs]
    document = summarise(found, contest, labels, [60.0], units, replicates=10, seed=0, firsts=[1])
    row = next(row for row in document["rows"] if row["row"] == "headroom over equal")
    assert (row["low"], row["high"]) == (None, None)
    assert document["groups"] == 1


def test_candidates_by_hand() -> None:

    from hybridcli.records import Qrels, Run

    left = Run.from_dict({"q": {"x": 3.0, "y": 2.0, "a": 1.0}, "r": {"x": 1.0}})
    right = Run.from_dict({"q": {"y": 3.0}, "r": {"x": 2.0, "a": 1.0}})
    qrels = Qrels(
        *(["q", "r", "s"], np.arange(4), np.zeros(3, dtype=np.int32), np.ones(3, dtype=np.int32)),
        Names.of(["a"]),
    )
    rows = candidate_reach(Contest.of(align([left, right]), Plan("rrf"), qrels), ["left", "right"], [2])
    found = {(row["where"], row["first"]): row["queries"] for row in rows}
    assert found == {
        ("union", None): 2,
        ("left", None): 1,
        ("right", None): 1,
        ("union", 2): 1,
        ("left", 2): 0,
        ("right", 2): 1,
    }


def test_weights_are_spread_over_other_queries() -> None:
    weights = np.array([[0.1, 0.9], [1.0, 0.0]])
    assert spread(["a", "b"], weights, ["b", "new", "a"]).T.tolist() == [[1.0, 0.0], [0.5, 0.5], [0.1, 0.9]]
