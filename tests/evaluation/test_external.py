"""Measures of ir_measures: the same values, our order, clear errors; and STREC confirmed from outside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hybridcli.errors import MissingComponentError, UsageError
from hybridcli.evaluation.external import external_values, parse_external
from hybridcli.records import Run
from tests.evaluation.samples import qrels_from, qrels_of, random_case, ranked, values_of

pytestmark = pytest.mark.slow  # ir_measures loads every provider it finds, numba's among them


def test_on_our_order(tmp_path: Path) -> None:
    qrels = qrels_of(tmp_path, {"q": {"a": 1, "b": 0}, "missing": {"a": 1}})
    run = Run.from_dict({"q": {"a": 1.0, "b": 1.0, "c": 1.0}, "unjudged": {"a": 1.0}})
    measures = [parse_external("Bpref"), parse_external("RR@10"), parse_external("ERR@10")]
    values = external_values(measures, run, qrels)
    assert values[1].tolist() == pytest.approx([1 / 3, 0])  # msmarco's own tie rule would give 1
    assert values[:, 1].tolist() == [0, 0, 0]


def test_names_that_are_wrong() -> None:
    with pytest.raises(UsageError, match="unknown measure 'Foo@3'"):
        parse_external("Foo@3")
    with pytest.raises(MissingComponentError, match="pip install 'cwl-eval'"):
        parse_external("RBP(p=0.8)")


def test_reference_hit_equals_strec_of_ndeval(tmp_path: Path) -> None:
    pyndeval = pytest.importorskip("pyndeval")
    generator = np.random.default_rng(12)
    for _ in range(10):
        lines, rankings = [], {}
        for query in range(5):
            for reference in range(generator.integers(1, 5)):
                for doc in generator.choice(20, generator.integers(1, 5), replace=False):
                    lines.append((f"q{query}", f"{reference + 1}", f"d{doc}", 1))
            docs = generator.permutation(40)[:25]
            rankings[f"q{query}"] = {f"d{doc}": float(25 - at) for at, doc in enumerate(docs)}
        lines = list(dict.fromkeys(lines))
        evaluator = pyndeval.RelevanceEvaluator(
            [pyndeval.SubtopicQrel(*line) for line in lines], measures=["strec@10", "strec@5"]
        )
        theirs = evaluator.evaluate(
            [pyndeval.ScoredDoc(q, d, s) for q, docs in rankings.items() for d, s in docs.items()]
        )
        qrels = qrels_from(tmp_path, "".join(" ".join(map(str, line)) + "\n" for line in lines))
        for cutoff in (5, 10):
            ours = values_of(f"RefHit@{cutoff}", rankings, qrels)
            assert ours == pytest.approx({qid: theirs[qid][f"strec@{cutoff}"] for qid in ours}, abs=1e-6)


def test_equals_ir_measures(tmp_path: Path) -> None:
    import ir_measures

    judged, rankings = random_case(np.random.default_rng(3), lowest=0)
    rankings = {
        qid: {d: s + i / 100 for i, (d, s) in enumerate(docs.items())} for qid, docs in rankings.items()
    }
    qrels = qrels_of(tmp_path, judged)
    for name in ("nDCG@10", "RR", "AP", "P@5", "Success@5", "Rprec", "R@10", "Judged@10"):
        theirs = {
            metric.query_id: metric.value
            for metric in ir_measures.iter_calc([ir_measures.parse_measure(name)], judged, rankings)
        }
        ours = values_of(name, rankings, qrels)
        assert {qid: ours[qid] for qid in theirs if qid in ours} == pytest.approx(
            {qid: value for qid, value in theirs.items() if qid in ours}, abs=1e-9
        )


def test_subtopic_measures_see_references(tmp_path: Path) -> None:
    pytest.importorskip("pyndeval")
    qrels = qrels_from(tmp_path, "q 1 a 1\nq 2 b 1\nq 1 c 0\n")
    (values,) = external_values([parse_external("alpha_nDCG@10")], Run.from_dict({"q": ranked("a b")}), qrels)
    assert values.tolist() == pytest.approx([1.0])
