"""Unit fairness, the sample and its precision, against values worked out by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridcli.errors import UsageError
from hybridcli.evaluation.audit import draw_sample, earliest_starts, precisions, strata_of, wilson
from hybridcli.records import Label, Span


def label(qid: str, reference: str, *places: tuple[str, int, int], literal: bool = False) -> Label:
    spans = tuple(
        Span(doc, unit, start, 0, unit, start + 1, 1, 1.0, 0, 16, ("w",), (1.0,), 1.0, 1, "text", "x")
        for doc, unit, start in places
    )
    return Label(qid, reference, "x", "" if spans else "not-found", "text", spans, literal=literal)


def test_the_earliest_start_of_each_query_and_unit() -> None:
    labels = [
        label("q1", "r1", ("a", 0, 600), ("a", 1, 5)),
        label("q1", "r2", ("a", 0, 300)),
        label("q2", "r1", ("a", 0, 700)),
        label("q3", "r1"),
    ]
    assert earliest_starts(labels) == [300, 5, 700]


def test_strata_are_of_the_resolved() -> None:
    labels = [label("q1", "r1", ("a", 0, 0), literal=True), label("q2", "r1"), label("q3", "r1", ("a", 0, 0))]
    assert strata_of(labels, {"q1": "Risk", "q2": "Risk", "q3": None}) == {
        ("q1", "r1"): "Risk/literal/text",
        ("q3", "r1"): "-/not-literal/text",
    }


def test_wilson_as_published() -> None:
    # R: prop.test(8, 10, correct = FALSE) and prop.test(0, 20, correct = FALSE)
    assert wilson(0.8, 10) == pytest.approx((0.4901625, 0.9433178), abs=1e-6)
    assert wilson(0.0, 20) == pytest.approx((0.0, 0.1611252), abs=1e-6)
    assert wilson(0.0, 0) == (0.0, 1.0)


STRATA = {(f"q{i}", "r1"): name for i, name in enumerate("a" * 70 + "b" * 25 + "c" * 5)}


def test_the_sample_is_proportional_with_one_from_each() -> None:
    sample = draw_sample(STRATA, 20, seed=1)
    assert Counter(drawn.stratum for drawn in sample) == {"a": 14, "b": 5, "c": 1}
    assert {drawn.stratum: (drawn.size, drawn.weight) for drawn in sample} == {
        "a": (70, 5.0),
        "b": (25, 5.0),
        "c": (5, 5.0),
    }
    assert sample == draw_sample(STRATA, 20, seed=1)
    assert sample != draw_sample(STRATA, 20, seed=2)
    assert [int(drawn.qid[1:]) for drawn in sample] == sorted(int(drawn.qid[1:]) for drawn in sample)
    with pytest.raises(UsageError, match="3 strata need a sample of at least 3, not 2"):
        draw_sample(STRATA, 2, seed=1)


@given(st.lists(st.sampled_from("abcd"), min_size=4, max_size=60), st.integers(4, 80), st.integers(0, 9))
def test_every_stratum_is_drawn_and_the_weights_add_up(names: list[str], total: int, seed: int) -> None:
    strata = {(str(i), "r1"): name for i, name in enumerate(names)}
    sample = draw_sample(strata, total, seed)
    assert len(sample) == min(total, len(names))
    assert {drawn.stratum for drawn in sample} == set(names)
    assert len({drawn.qid for drawn in sample}) == len(sample)
    assert sum(drawn.weight for drawn in sample) == pytest.approx(len(names))


def test_precision_is_weighted_by_the_strata() -> None:
    # stratum a: 70 references, 4 judged, 3 right; b: 25, 2 judged, 2 right; c (5 references): none judged
    names = list(STRATA)
    verdicts = {
        names[0]: True,
        names[1]: True,
        names[2]: False,
        names[3]: True,
        names[70]: True,
        names[71]: True,
    }
    a, b, everything = precisions(STRATA, verdicts)
    assert a[:5] == ("a", 70, 4, 3, 0.75)
    assert (a.low, a.high) == wilson(0.75, 4)
    assert b[:5] == ("b", 25, 2, 2, 1.0)
    share = (70 * 0.75 + 25 * 1.0) / 95
    assert everything[:4] == ("all", 95, 6, 5)
    assert everything.share == pytest.approx(share)
    effective = 1 / ((70 / 95) ** 2 / 4 + (25 / 95) ** 2 / 2)
    assert (everything.low, everything.high) == pytest.approx(wilson(share, effective))


def test_nothing_judged() -> None:
    assert [row.judged for row in precisions(STRATA, {})] == [0]
