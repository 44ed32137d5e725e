"""Finding judged documents in runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridcli.evaluation.hits import find_hits, judgments_of, match_rows
from hybridcli.names import Names
from hybridcli.records import Qrels, Run, offsets_of
from tests.evaluation.samples import hits_of, qrels_from, qrels_of, ranked


def test_judgments(tmp_path: Path) -> None:
    judgments = judgments_of(qrels_of(tmp_path, {"q1": {"a": 0, "b": 2, "c": 1, "d": -1}, "q2": {"x": 0}}))
    assert judgments.grades.tolist() == [2, 1, 0, -1, 0]
    assert judgments.relevant.tolist() == [2, 0]
    assert judgments.judged.tolist() == [4, 1]
    assert judgments.references.tolist() == [1, 1]


def test_hits_are_aligned_to_the_qrels(tmp_path: Path) -> None:
    qrels = qrels_of(tmp_path, {"q2": {"a": 1, "b": 0}, "q1": {"c": 2}, "q3": {"a": 1}})
    _, hits = hits_of({"q1": ranked("x c a"), "q9": ranked("a"), "q2": ranked("b x y a")}, qrels)
    assert hits.query.tolist() == [0, 0, 1]
    assert hits.rank.tolist() == [1, 4, 2]
    assert hits.grade.tolist() == [0, 1, 2]
    assert hits.retrieved.tolist() == [4, 3, 0]
    assert (hits.reference_query.tolist(), hits.reference_rank.tolist()) == ([0, 1], [4, 2])


def test_references_are_found_at_their_best_rank(tmp_path: Path) -> None:
    qrels = qrels_from(tmp_path, "q r1 a 1\nq r1 b 1\nq r2 b 1\nq r3 z 1\nq r2 n 0\n")
    judgments, hits = hits_of({"q": ranked("n x b a")}, qrels)
    assert judgments.references.tolist() == [3]
    assert hits.reference.tolist() == [0, 1]
    assert hits.reference_rank.tolist() == [3, 3]


def test_nothing_in_common(tmp_path: Path) -> None:
    qrels = qrels_of(tmp_path, {"q1": {"a": 1}})
    for rankings in ({}, {"q1": ranked("x y")}, {"q2": ranked("a")}, {"q1": {}}):
        _, hits = hits_of(rankings, qrels)
        assert len(hits.rank) == len(hits.reference_rank) == 0


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_matching_equals_a_lookup(data: st.DataObject) -> None:
    docnos = st.sampled_from([f"d{at}" for at in range(12)])
    queries = st.sampled_from(["q1", "q2", "q3", "q4"])
    rankings = data.draw(st.dictionaries(queries, st.dictionaries(docnos, st.floats(0, 1), max_size=8)))
    judged = data.draw(
        st.dictionaries(queries, st.dictionaries(docnos, st.integers(-1, 3), min_size=1), min_size=1)
    )
    run, qrels = Run.from_dict(rankings), make_qrels(judged)
    rows, found = match_rows(run, qrels)
    names, judged_names = run.docnos.to_list(), qrels.docnos.to_list()
    pairs = {
        (
            run.queries[np.searchsorted(run.offsets, row, side="right") - 1],
            names[run.docs[row]],
            judged_names[qrels.docs[at]],
            qrels.queries[np.searchsorted(qrels.offsets, at, side="right") - 1],
        )
        for row, at in zip(rows.tolist(), found.tolist(), strict=True)
    }
    assert pairs == {
        (qid, docno, docno, qid)
        for qid, ranking in rankings.items()
        for docno in ranking
        if docno in judged.get(qid, {})
    }
    assert rows.tolist() == sorted(rows.tolist())


def make_qrels(judged: dict[str, dict[str, int]]) -> Qrels:

    docnos = sorted({docno for docs in judged.values() for docno in docs})
    rows = [(docnos.index(docno), grade) for docs in judged.values() for docno, grade in sorted(docs.items())]
    return Qrels(
        queries=list(judged),
        offsets=offsets_of(np.array([len(docs) for docs in judged.values()], dtype=np.int64)),
        docs=np.array([doc for doc, _ in rows], dtype=np.int32),
        grades=np.array([grade for _, grade in rows], dtype=np.int32),
        docnos=Names.of(docnos),
    )


def test_many_queries_cross_the_chunks(tmp_path: Path) -> None:
    judged = {f"q{at}": {f"d{at}": 1} for at in range(2500)}
    qrels = qrels_of(tmp_path, judged)
    run = Run.from_dict({f"q{at}": {f"d{at}": 1.0, f"d{at + 1}": 2.0} for at in reversed(range(2500))})
    hits = find_hits(run, qrels)
    assert hits.query.tolist() == list(range(2500))
    assert set(hits.rank.tolist()) == {2}
