"""What other programs do with odd files; the Python ones are run to see whether they do."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from hybridcli.formats.checks.qrels import check_qrels
from hybridcli.formats.checks.readers import NAMES, READERS, other_readers
from hybridcli.formats.checks.runs import check_run
from hybridcli.formats.checks.source import Source

PLAIN = "q1 Q0 d1 1 2.0 r\nq1 Q0 d2 2 1.0 r\n"
RUNS = {
    "plain": PLAIN,
    "comment": "# a\n" + PLAIN,
    "blank": PLAIN + "\n" + PLAIN.replace("q1", "q2"),
    "crlf": PLAIN.replace("\n", "\r\n").replace(" ", "\t"),
    "bom": "\ufeff" + PLAIN,
    "five columns": "q1 Q0 d1 1 2.0\n",
    "seven columns": "q1 Q0 my doc 1 2.0 r\n",
    "text score": "q1 Q0 d1 1 high r\n",
    "duplicate": PLAIN + "q1 Q0 d1 3 0.5 r\n",
    "no-break space": "q1 Q0 d\u00a0x 1 2.0 r\n",
    "blank in a qid": "q\u30001 Q0 d 1 2.0 r\n",
    "blank in a tag": "q1 Q0 d 1 2.0 r\u2028s\n",
    "nan": "q1 Q0 d1 1 nan r\n" + PLAIN.replace("q1", "q2"),
}
QRELS = {
    "plain": "q1 0 d1 1\nq1 0 d2 0\n",
    "comment": "# a\nq1 0 d1 1\n",
    "blank": "q1 0 d1 1\n\nq2 0 d1 1\n",
    "bom": "\ufeffq1 0 d1 1\n",
    "three columns": "q1 d1 1\n",
    "float": "q1 0 d1 0.5\nq1 0 d2 1\n",
    "repeat": "q1 0 d1 1\nq1 0 d1 1\n",
    "conflict": "q1 0 d1 1\nq1 0 d1 0\n",
    "beir": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
    "references": "q1 r1 d1 1\nq1 r2 d1 1\n",
}


def said(kind: str, text: str) -> dict[str, list[str]]:
    source = Source("x", text.removeprefix("\ufeff").encode(), bom=text.startswith("\ufeff"))
    return other_readers((check_run if kind == "run" else check_qrels)(source)[0])


def test_every_program_is_asked_about_both_kinds() -> None:
    assert {kind: tuple(programs) for kind, programs in READERS.items()} == {"run": NAMES, "qrels": NAMES}


@pytest.mark.parametrize(
    ("kind", "text"), [("run", RUNS["plain"]), ("run", RUNS["crlf"]), ("qrels", QRELS["plain"])]
)
def test_nobody_reads_an_ordinary_file_otherwise(kind: str, text: str) -> None:
    assert said(kind, text) == {name: [] for name in NAMES}


# by trec_eval's source: get_trec_results.c, get_qrels.c and form_res_rels.c
TREC_EVAL = [
    ("run", RUNS["blank"], "trec_eval 10", ""),
    ("run", RUNS["comment"], "trec_eval 10", ""),
    ("run", RUNS["comment"], "trec_eval 9", "a comment of six words or more is read as a document"),
    ("run", RUNS["five columns"], "trec_eval 10", "stops at line 1 (Malformed line"),
    ("run", RUNS["seven columns"], "trec_eval 9", "takes the first six columns"),
    ("run", RUNS["text score"], "trec_eval 10", "reads a score that is no number as"),
    ("run", RUNS["duplicate"], "trec_eval 9", "stops where a judged query lists a document twice"),
    ("run", "q1 Q0 a#1 1 2.0 r\n", "trec_eval 10", "ids that hold #"),
    (
        "run",
        "q1 Q0 a 1 1.00000000002 r\nq1 Q0 b 2 1.00000000001 r\n",
        "trec_eval 9",
        "1 pairs in 1 queries tie",
    ),
    ("run", "q1 Q0 a 1 1.00000000002 r\nq1 Q0 b 2 1.00000000001 r\n", "trec_eval 10", ""),
    ("qrels", QRELS["blank"], "trec_eval 10", "stops at line 2 (Malformed line"),
    ("qrels", QRELS["beir"], "trec_eval 10", "stops at line 1 (Malformed line"),
    ("qrels", QRELS["comment"], "trec_eval 10", ""),
    ("qrels", QRELS["float"], "trec_eval 9", "0.5 and text become 0"),
    ("qrels", QRELS["repeat"], "trec_eval 9", "judges a document twice"),
    ("qrels", QRELS["references"], "trec_eval 10", "judged for several references"),
]


@pytest.mark.parametrize(("kind", "text", "program", "words"), TREC_EVAL)
def test_trec_eval(kind: str, text: str, program: str, words: str) -> None:
    texts = said(kind, text)[program]
    assert any(words in one for one in texts) if words else texts == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RUNS)
def test_python_readers_of_runs(tmp_path: Path, name: str) -> None:
    import ir_measures
    import pytrec_eval
    import ranx

    path = tmp_path / "x.trec"
    path.write_bytes(RUNS[name].encode())
    with path.open(encoding="utf-8") as stream:
        made = {
            "pytrec_eval": _read(lambda: {q: dict(d) for q, d in pytrec_eval.parse_run(stream).items()}),
            "ir_measures": _read(lambda: _nested(ir_measures.read_trec_run(str(path)), "score")),
            "ranx": _read(lambda: ranx.Run.from_file(str(path), kind="trec").to_dict()),
        }
    _, run = check_run(Source("x", path.read_bytes().removeprefix(b"\xef\xbb\xbf")))
    ours = None if run is None else run.to_dict()
    for program, texts in said("run", RUNS[name]).items():
        if program in made:
            _compare(texts, made[program], ours)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", QRELS)
def test_python_readers_of_qrels(tmp_path: Path, name: str) -> None:
    import ir_measures
    import pytrec_eval
    import ranx

    path = tmp_path / "x.trec"
    path.write_bytes(QRELS[name].encode())
    with path.open(encoding="utf-8") as stream:
        made = {
            "pytrec_eval": _read(lambda: {q: dict(d) for q, d in pytrec_eval.parse_qrel(stream).items()}),
            "ir_measures": _read(lambda: _nested(ir_measures.read_trec_qrels(str(path)), "relevance")),
            "ranx": _read(lambda: ranx.Qrels.from_file(str(path), kind="trec").to_dict()),
        }
    _, clean = check_qrels(Source("x", path.read_bytes().removeprefix(b"\xef\xbb\xbf")))
    ours: dict[str, dict[str, int]] = {}
    for qid, _, docno, grade in clean.rows if clean else []:
        ours.setdefault(qid, {})[docno] = grade
    for program, texts in said("qrels", QRELS[name]).items():
        if program in made:
            _compare([text for text in texts if not text.startswith("forgets")], made[program], ours)


def _read(read: Any) -> Any:
    try:
        return read()
    except (ValueError, AssertionError) as error:
        return type(error).__name__


def _nested(rows: Any, value: str) -> dict[str, dict[str, float]]:
    nested: dict[str, dict[str, float]] = {}
    for row in rows:
        nested.setdefault(row.query_id, {})[row.doc_id] = getattr(row, value)
    return nested


def _compare(texts: list[str], theirs: Any, ours: Any) -> None:
    """What was said must be what happened: nothing, another result, or the error that was named."""
    stops = [text for text in texts if text.startswith("stops")]
    if stops:
        assert isinstance(theirs, str)
        assert f"({theirs})" in stops[0] or "AssertionError" in stops[0]
    elif texts:
        assert not isinstance(theirs, str)
        assert theirs != ours
    else:
        assert theirs == ours


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ties_of_python_readers() -> None:
    """Ties: ir_measures has two rules, ranx the order of the file, pytrec_eval 32-bit scores."""
    import ir_measures
    import pytrec_eval
    import ranx

    qrels = {"q1": {"a": 1}}
    ties = "".join(f"q1 Q0 {d} {r} 1.0 r\n" for r, d in enumerate("abc", 1))
    judged = [ir_measures.Qrel("q1", "a", 1)]
    names = [ir_measures.RR, ir_measures.RR @ 10]
    values = ir_measures.calc_aggregate(names, judged, list(ir_measures.read_trec_run(ties)))
    assert [round(values[name], 4) for name in names] == [0.3333, 1.0]
    assert ranx.evaluate(ranx.Qrels(qrels), ranx.Run({"q1": dict.fromkeys("abc", 1.0)}), "mrr") == 1.0
    close = "q1 Q0 a 1 1.00000000002 r\nq1 Q0 b 2 1.00000000001 r\n"
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"})
    assert evaluator.evaluate(pytrec_eval.parse_run(io.StringIO(close))) == {"q1": {"recip_rank": 0.5}}
    values = ir_measures.calc_aggregate(names[:1], judged, list(ir_measures.read_trec_run(close)))
    assert values[ir_measures.RR] == 0.5
