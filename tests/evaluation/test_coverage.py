"""How a run fits qrels: counts by hand."""

from __future__ import annotations

import pytest

from hybridcli.evaluation.coverage import cover, match_queries, near_matches
from hybridcli.formats.qrels import Columns, qrels_of
from hybridcli.records import Qrels, Run


def qrels(text: str) -> Qrels:
    columns = Columns()
    for number, line in enumerate(text.splitlines(), 1):
        columns.add(number, line.encode().split(), "x")
    return qrels_of(columns, "x")


def test_queries_of_either_side_only() -> None:
    coverage = match_queries(["q1", "q9", "q2"], ["q2", "q3", "q1"])
    assert (coverage.both, coverage.left_only, coverage.right_only) == (2, ["q9"], ["q3"])
    assert coverage.lookalikes == []


def test_judged_documents_of_the_first_ten() -> None:
    # 12 documents in q1: d0 (rank 1, relevant) and d9 (rank 10, not relevant) are judged in the top 10, d11 below
    run = Run.from_dict({"q1": {f"d{i}": 20.0 - i for i in range(12)}, "q8": {"d0": 1.0}})
    coverage = cover(run, qrels("q1 0 d0 1\nq1 0 d9 0\nq1 0 d11 2\nq1 0 d77 1\nq7 0 d0 1\n"))
    assert (coverage.both, coverage.left_only, coverage.right_only) == (1, ["q8"], ["q7"])
    assert (coverage.top, coverage.judged, coverage.relevant, coverage.found) == (10, 2, 1, 2)
    assert coverage.unseen == 1


@pytest.mark.parametrize(
    ("left", "right", "alike"),
    [
        ("café", "cafe\u0301", True),
        ("Q1", "q1", True),
        ("001", "1", True),
        ("1", "1", False),
        ("1", "10", False),
        ("a", "b", False),
    ],
)
def test_ids_that_look_alike(left: str, right: str, alike: bool) -> None:
    assert near_matches([left], [right]) == ([(left, right)] if alike else [])


def test_documents_that_look_alike_but_never_match() -> None:
    run = Run.from_dict({"q1": {"cafe\u0301": 2.0, "文書": 1.0}})
    assert cover(run, qrels("q1 0 café 1\nq1 0 文書 0\n")).lookalikes == [("cafe\u0301", "café")]
    assert cover(run, qrels("q1 0 cafe\u0301 1\n")).lookalikes == []
