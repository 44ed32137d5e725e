"""Agreement of two runs against plain definitions."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from hybridcli.evaluation.agreement import PERSISTENCE, agreements
from hybridcli.records import Run
from tests.evaluation.samples import Rankings, qrels_of, ranked


def order(ranking: dict[str, float], depth: int) -> list[str]:
    return sorted(ranking, key=lambda docno: (ranking[docno], docno), reverse=True)[:depth]


def kendall(left: list[str], right: list[str]) -> float:
    """tau-b on the union; what a list lacks is tied at its end."""
    place = [{docno: at for at, docno in enumerate(side)} for side in (left, right)]
    total = concordant = tied = other = 0
    for a, b in combinations(sorted({*left, *right}), 2):
        signs = [np.sign(side.get(a, 99) - side.get(b, 99)) for side in place]
        concordant += int(signs[0] * signs[1])
        tied += signs[0] == 0
        other += signs[1] == 0
        total += 1
    return concordant / np.sqrt((total - tied) * (total - other))


def rbo(left: list[str], right: list[str]) -> float:
    """Webber, Moffat and Zobel 2010, equation 32, term by term."""
    p, (short, long) = PERSISTENCE, sorted((left, right), key=len)
    s, l_ = len(short), len(long)
    common = [len(set(short[:d]) & set(long[:d])) for d in range(l_ + 1)]
    first = sum(common[d] / d * p**d for d in range(1, l_ + 1))
    second = sum(common[s] * (d - s) / (s * d) * p**d for d in range(s + 1, l_ + 1))
    return (1 - p) / p * (first + second) + ((common[l_] - common[s]) / l_ + common[s] / s) * p**l_


def test_against_definitions(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)

    def rankings() -> Rankings:
        return {
            f"q{at}": {
                f"d{doc}": float(generator.integers(0, 9))
                for doc in generator.choice(25, generator.integers(2, 20), replace=False)
            }
            for at in generator.permutation(9)[:7]
        }

    left, right = rankings(), rankings()
    both = sorted(left.keys() & right.keys())
    qrels = qrels_of(tmp_path, {qid: {"d1": 1, "d2": 1, "d3": 0, "d4": 2} for qid in both})
    for depth in (3, 8, 50):
        (found,) = agreements(["l", "r"], [Run.from_dict(left), Run.from_dict(right)], qrels, depth)
        lists = [(order(left[qid], depth), order(right[qid], depth)) for qid in both]
        shared = [len(set(a) & set(b)) for a, b in lists]
        assert found.n == len(both)
        assert found.overlap == pytest.approx(np.mean([count / depth for count in shared]))
        assert found.jaccard == pytest.approx(
            np.mean([len(set(a) & set(b)) / len({*a, *b}) for a, b in lists])
        )
        assert found.kendall == pytest.approx(np.mean([kendall(a, b) for a, b in lists]))
        assert found.rbo == pytest.approx(np.mean([rbo(a, b) for a, b in lists]))
        relevant = [({"d1", "d2", "d4"} & set(a), {"d1", "d2", "d4"} & set(b)) for a, b in lists]
        either = sum(len(a | b) for a, b in relevant)
        assert found.relevant == either
        assert found.left_only == pytest.approx(sum(len(a - b) for a, b in relevant) / either)
        assert found.right_only == pytest.approx(sum(len(b - a) for a, b in relevant) / either)


def test_the_same_and_the_opposite(tmp_path: Path) -> None:
    qrels = qrels_of(tmp_path, {"q": {"a": 1}})
    run, other = Run.from_dict({"q": ranked("a b c d")}), Run.from_dict({"q": ranked("d c b a")})
    (same,) = agreements(["x", "y"], [run, run], qrels, 4)
    assert (same.overlap, same.jaccard, same.kendall, same.rbo) == pytest.approx((1, 1, 1, 1))
    (opposite,) = agreements(["x", "y"], [run, other], qrels, 4)
    assert (opposite.overlap, opposite.kendall) == pytest.approx((1, -1))


def test_nothing_in_common(tmp_path: Path) -> None:
    qrels = qrels_of(tmp_path, {"q": {"z": 1}})
    runs = [
        Run.from_dict({"q": ranked("a b")}),
        Run.from_dict({"q": ranked("c d")}),
        Run.from_dict({"p": ranked("a")}),
    ]
    found = agreements(["x", "y", "z"], runs, qrels, 10)
    assert [(a.left, a.right, a.n) for a in found] == [("x", "y", 1), ("x", "z", 0), ("y", "z", 0)]
    assert (found[0].overlap, found[0].rbo, found[0].left_only) == (0, 0, None)
    assert found[1].kendall is None
