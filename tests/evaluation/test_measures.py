"""Measures: values by hand for each, and equality with trec_eval."""

from __future__ import annotations

import gzip
from math import log2
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

from hybridcli.errors import UsageError
from hybridcli.evaluation.hits import find_hits, judgments_of
from hybridcli.evaluation.measures import MEASURES, is_own, measure_rows, parse_measure
from hybridcli.formats.qrels import read_qrels
from hybridcli.formats.runs import read_run
from tests.evaluation.samples import hits_of, qrels_from, qrels_of, random_case, ranked, values_of
from tests.support import shared

# a c x b y: relevant a (3), b (1), z (2, never found); c judged 0; n judged -1
JUDGED = {"q": {"a": 3, "b": 1, "c": 0, "n": -1, "z": 2}, "none": {"a": 0}, "missing": {"a": 1}}
RANKING = "c a x b n y"
BY_HAND = {
    "RefHit@1": 0,
    "RefHit@2": 1,
    "R@4": 2 / 3,
    "R(rel=2)@4": 1 / 2,
    "P@5": 2 / 5,
    "P@10": 2 / 10,
    "Success@1": 0,
    "Success@2": 1,
    "RR": 1 / 2,
    "RR(rel=4)": 0,
    "RR@1": 0,
    "AP": (1 / 2 + 2 / 4) / 3,
    "AP@3": (1 / 2) / 3,
    "nDCG@2": (3 / log2(3)) / (3 + 2 / log2(3)),
    "nDCG": (3 / log2(3) + 1 / log2(5)) / (3 + 2 / log2(3) + 1 / log2(4)),
    "Rprec": 1 / 3,
    "Rprec(rel=2)": 1 / 2,
    "Judged@4": 3 / 4,
    "Judged@10": 4 / 6,
    "Judged": 4 / 6,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str, tmp_path: Path) -> None:
    rankings = {"q": ranked(RANKING), "none": ranked("b a c d"), "unjudged": ranked("a")}
    values = values_of(name, rankings, qrels_of(tmp_path, JUDGED))
    assert values["q"] == pytest.approx(BY_HAND[name], abs=1e-15)
    assert values["missing"] == 0
    if not name.startswith("Judged"):
        assert values["none"] == 0  # nothing relevant: 0, and never NaN


def test_every_measure_is_computed_by_hand() -> None:
    assert {parse_measure(name).spec.name for name in BY_HAND} == set(MEASURES)
    assert [row[0].split("@")[0].split("[")[0] for row in measure_rows()] == list(MEASURES)
    assert all(about and source for _, about, source in measure_rows())


def test_references_by_hand(tmp_path: Path) -> None:
    qrels = qrels_from(tmp_path, "q r1 a 1\nq r1 b 1\nq r2 c 1\nq r3 d 1\np r1 a 1\n")
    rankings = {"q": ranked("x b a c y"), "p": ranked("x")}
    assert values_of("RefHit@3", rankings, qrels) == {"q": 1 / 3, "p": 0}
    assert values_of("STREC@4", rankings, qrels) == {"q": 2 / 3, "p": 0}
    assert values_of("R@3", rankings, qrels) == {"q": 2 / 4, "p": 0}


def test_ties_are_broken_as_trec_eval_does(tmp_path: Path) -> None:
    qrels = qrels_of(tmp_path, {"1": {"a": 1}})
    tied = {"1": {"a": 1.0, "b": 1.0, "c": 1.0}}
    expected = {"RR": 1 / 3, "RR@10": 1 / 3, "P@1": 0, "Success@1": 0, "nDCG@3": 0.5, "R@3": 1}
    assert {name: values_of(name, tied, qrels)["1"] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ndcg@10", "nDCG@10"),
        ("STREC@10", "RefHit@10"),
        ("MRR", "RR"),
        ("map", "AP"),
        ("Recall@5", "R@5"),
        ("Hit@1", "Success@1"),
        ("P(rel=2)@5", "P(rel=2)@5"),
        ("P(rel=1)@5", "P@5"),
        ("ndcg_cut_10", "nDCG@10"),
        ("map_cut_100", "AP@100"),
        ("recall_100", "R@100"),
        ("recip_rank", "RR"),
        ("P_5", "P@5"),
    ],
)
def test_names(text: str, name: str) -> None:
    assert parse_measure(text).name == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P", "needs a cutoff, for example P@10"),
        ("Rprec@5", "takes no cutoff"),
        ("P@0", "start at 1"),
        ("P(rel=0)@1", "start at 1"),
        ("nDCG(rel=2)@5", "takes no rel"),
        ("RefHit(rel=2)@5", "takes no rel"),
        ("Foo@5", "unknown measure"),
    ],
)
def test_names_that_are_wrong(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        parse_measure(text)


@pytest.mark.parametrize("text", ["Bpref", "nDCG(dcg='exp-log2')@10", "ERR@20"])
def test_what_is_left_to_ir_measures(text: str) -> None:
    assert not is_own(text)


TREC_EVAL = {
    "P@5": "P_5",
    "P@10": "P_10",
    "P@1000": "P_1000",
    "R@5": "recall_5",
    "R@100": "recall_100",
    "Success@1": "success_1",
    "Success@5": "success_5",
    "RR": "recip_rank",
    "AP": "map",
    "AP@10": "map_cut_10",
    "nDCG": "ndcg",
    "nDCG@5": "ndcg_cut_5",
    "nDCG@10": "ndcg_cut_10",
    "Rprec": "Rprec",
}
FAMILIES = {"P", "recall", "success", "recip_rank", "map", "map_cut", "ndcg", "ndcg_cut", "Rprec"}


def test_equals_trec_eval_on_random_runs(tmp_path: Path) -> None:
    generator = np.random.default_rng(20240)
    compared = 0
    for _ in range(200):
        judged, rankings = random_case(generator, lowest=-1)
        # pytrec_eval hangs on negative grades after some calls (it writes out of bounds); trec_eval treats them
        # as judged and not relevant, which is what 0 means to it
        evaluator = pytrec_eval.RelevanceEvaluator(
            {qid: {docno: max(grade, 0) for docno, grade in docs.items()} for qid, docs in judged.items()},
            FAMILIES,
        )
        expected = evaluator.evaluate(rankings)
        judgments, hits = hits_of(rankings, qrels_of(tmp_path, judged))
        for name, theirs in TREC_EVAL.items():
            values = parse_measure(name).values(judgments, hits)
            for qid, value in zip(judged, values.tolist(), strict=True):
                assert value == pytest.approx(expected.get(qid, {}).get(theirs, 0.0), abs=1e-9), (name, qid)
                compared += value > 0
    assert compared > 4000


def test_rel_equals_trec_eval_with_level(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    for _ in range(20):
        judged, rankings = random_case(generator, lowest=0)
        expected = pytrec_eval.RelevanceEvaluator(judged, {"map", "P"}, relevance_level=2).evaluate(rankings)
        judgments, hits = hits_of(rankings, qrels_of(tmp_path, judged))
        for name, theirs in {"AP(rel=2)": "map", "P(rel=2)@5": "P_5"}.items():
            values = parse_measure(name).values(judgments, hits)
            for qid, value in zip(judged, values.tolist(), strict=True):
                assert value == pytest.approx(expected.get(qid, {}).get(theirs, 0.0), abs=1e-9)


GOLDEN = {
    "map": "AP",
    "Rprec": "Rprec",
    "recip_rank": "RR",
    "ndcg": "nDCG",
    **{f"P_{k}": f"P@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)},
    **{f"recall_{k}": f"R@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)},
    **{f"success_{k}": f"Success@{k}" for k in (1, 5, 10)},
    **{f"map_cut_{k}": f"AP@{k}" for k in (5, 10, 100)},
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in (5, 10, 100)},
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("out", "qrels", "run", "rel"),
    [
        ("out.test.aq", "qrels.test", "results.test", 1),
        ("out.test.aqc", "qrels.test", "results.trunc", 1),
        ("out.test.aql", "qrels.rel_level", "results.test", 2),
    ],
)
def test_golden_files_of_trec_eval(out: str, qrels: str, run: str, rel: int, tmp_path: Path) -> None:
    folder = shared("data", "trec-eval-golden")
    # one of the runs has words after the tag, which is an error to us
    lines = gzip.decompress((folder / f"{run}.gz").read_bytes()).decode().splitlines()
    (tmp_path / "run").write_text("".join(" ".join(line.split()[:6]) + "\n" for line in lines))
    judged = read_qrels(str(folder / f"{qrels}.gz"))
    judgments, hits = judgments_of(judged), find_hits(read_run(str(tmp_path / "run")), judged)
    compared = 0
    for line in gzip.decompress((folder / f"{out}.gz").read_bytes()).decode().splitlines():
        name, qid, text = line.split(None, 2)
        if name in GOLDEN and qid in (*judged.queries, "all"):
            spelled = GOLDEN[name]
            if rel > 1 and not spelled.startswith("nDCG"):
                head, _, cutoff = spelled.partition("@")
                spelled = f"{head}(rel={rel})" + (f"@{cutoff}" if cutoff else "")
            values = parse_measure(spelled).values(judgments, hits)
            ours = values.mean() if qid == "all" else values[judged.queries.index(qid)]
            assert f"{ours:.4f}" == text.strip(), (name, qid)
            compared += 1
    assert compared >= 25
