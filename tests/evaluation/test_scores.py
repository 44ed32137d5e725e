"""Which queries enter the means, labels, restricted runs and qrels, ties in 32 bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hybridcli.errors import UsageError
from hybridcli.evaluation.hits import find_hits, judgments_of
from hybridcli.evaluation.measures import parse_measure
from hybridcli.evaluation.scores import (
    Scores,
    chosen_queries,
    condensed,
    distinct_labels,
    float_ties,
    keep_documents,
    keep_judgments,
    tied_queries,
)
from hybridcli.records import Run
from tests.evaluation.samples import hits_of, qrels_from, qrels_of, ranked


def scores() -> Scores:
    """q1 answered, q2 not in the run, q3 judged without a relevant document."""
    return Scores(
        ["a"],
        ["RR"],
        ["q1", "q2", "q3"],
        np.array([[[1.0, 0.0, 0.0]]]),
        np.array([[True, False, False]]),
        np.array([1, 1, 0], dtype=np.int32),
    )


@pytest.mark.parametrize(
    ("policy", "n", "mean"), [("judged", 3, 1 / 3), ("answerable", 2, 0.5), ("intersection", 1, 1.0)]
)
def test_policies(policy: str, n: int, mean: float) -> None:
    chosen = scores().take(chosen_queries(scores(), policy))
    assert len(chosen.queries) == n
    assert chosen.means()[0, 0] == pytest.approx(mean)


def test_unknown_policy() -> None:
    with pytest.raises(UsageError, match="choose from judged, answerable, intersection"):
        chosen_queries(scores(), "all")


def test_means_of_nothing() -> None:
    assert scores().take(np.array([], dtype=np.int64)).means().tolist() == [[0.0]]


@pytest.mark.parametrize(
    ("paths", "labels"),
    [
        (["a.run", "b.run"], ["a", "b"]),
        (["x/a.run", "y/a.run"], ["x/a", "y/a"]),
        (["x/a.run", "x/a.txt"], ["x/a#1", "x/a"]),
        (["a.run", "a.txt", "b"], ["a#1", "a", "b"]),
    ],
)
def test_labels_are_unique(paths: list[str], labels: list[str]) -> None:
    stems = [Path(path).stem for path in paths]
    assert distinct_labels(stems, paths) == labels


def test_condensed_lists_close_up(tmp_path: Path) -> None:
    qrels = qrels_from(tmp_path, "q r1 a 1\nq r2 b 1\nq r1 n 0\np r1 a 1\n")
    judgments, hits = hits_of({"q": ranked("x n y a z b"), "p": ranked("x a")}, qrels)
    closed = condensed(hits)
    assert closed.rank.tolist() == [1, 2, 3, 1]
    assert closed.retrieved.tolist() == [3, 1]
    assert closed.reference_rank.tolist() == [2, 3, 1]
    assert parse_measure("RR").values(judgments, closed).tolist() == [0.5, 1.0]


def test_condensed_without_hits(tmp_path: Path) -> None:
    _, hits = hits_of({"q": ranked("x y")}, qrels_of(tmp_path, {"q": {"a": 1}}))
    assert condensed(hits).retrieved.tolist() == [0]


def test_restricted_to_documents(tmp_path: Path) -> None:
    qrels = qrels_from(tmp_path, "q r1 a 1\nq r2 b 1\nq r3 b 1\np r1 a 1\n")
    run = Run.from_dict({"q": ranked("a x b"), "p": ranked("a")})
    part = keep_judgments(qrels, np.array([docno == "b" for docno in qrels.docnos]))
    assert part.queries == ["q", "p"]
    assert np.diff(part.offsets).tolist() == [1, 0]
    assert part.reference_ids == [["r2", "r3"], []]
    assert part.pairs is not None
    assert part.pairs.tolist() == [[0, 0], [0, 1]]
    smaller = keep_documents(run, np.array([docno in "bx" for docno in run.docnos]))
    assert list(smaller.to_dict()["q"]) == ["x", "b"]
    hits = find_hits(smaller, part)
    assert hits.rank.tolist() == [2]
    assert parse_measure("RefHit@5").values(judgments_of(part), hits).tolist() == [1.0, 0.0]


def test_restricted_plain_qrels(tmp_path: Path) -> None:
    qrels = qrels_of(tmp_path, {"q": {"a": 1, "b": 2}, "p": {"c": 1}})
    part = keep_judgments(qrels, np.array([False, True, True]))
    assert part.grades.tolist() == [2, 1]
    assert part.pairs is None


def test_ties_in_32_bits_only() -> None:
    close = {"q": {"a": 1.0, "b": 1.0 + 1e-12, "c": 0.5, "d": 0.5}, "p": {"a": 0.5 + 1e-12, "e": 0.1}}
    assert float_ties(Run.from_dict(close)) == 1
    assert float_ties(Run.from_dict({"q": {"a": 2.0}, "e": {}, "p": {"a": 2.0 + 1e-12}})) == 0
    assert float_ties(Run.from_dict({})) == 0


def test_queries_with_equal_scores() -> None:
    tied = {
        "q": {"a": 1.0, "b": 1.0, "c": 1.0},
        "p": {"a": 1.0, "b": 0.5},
        "e": {},
        "r": {"a": 0.5, "b": 0.5},
    }
    assert tied_queries(Run.from_dict(tied)) == 2
    assert tied_queries(Run.from_dict({})) == 0
