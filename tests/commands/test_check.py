"""`hybridcli check`: findings, pairs, clean files, formats."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hybridcli.formats.runs import read_run
from tests.support import Result, shared

Cli = Callable[..., Result]
DIRTY = (
    "q2 Q0 a 7 1.5 x\n"
    "q1\tQ0\td1\t0\t2.0\tx\r\n"
    "\n"
    "q1 Q0 d2 1 nan x\n"
    "q1 Q0 d3 2 3.0000000001 y\n"
    "q1 Q0 d1 3 4 x\n"
    "q1 Q0 short\n"
)
CLEAN = "q2 Q0 a 1 1.5 x\nq1 Q0 d1 1 4.0 x\nq1 Q0 d3 2 3.0000000001 x\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, text: str | bytes) -> None:
    Path(path).write_bytes(text if isinstance(text, bytes) else text.encode())


def test_a_good_run_exits_with_0(cli: Cli, place: Path) -> None:
    write("a.run", "q1 Q0 d1 1 2.5 a\n")
    result = cli("check", "a.run")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "a.run: run; 1 line; 1 query; 1 document; depth 1 to 1, median 1; tag a\n"
        "  trec_eval 9, trec_eval 10, pytrec_eval, ir_measures, ranx: as here\n"
        "\n"
        "nothing wrong\n"
    )


def test_every_problem_has_file_and_line_and_notes_do_not_fail(cli: Cli, place: Path) -> None:
    write("a.run", DIRTY)
    result = cli("check", "a.run")
    assert result.code == 1
    lines = result.out.splitlines()
    assert "a.run:4: the score of d2 is nan; scores must be finite" in lines
    assert "a.run:7: expected 6 columns, found 3" in lines
    assert any(line.startswith("a.run:6: query q1 lists document d1 again") for line in lines)
    assert "a.run:2: note: tab between columns" in lines
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "3 problems"
    write("noted.run", "# a\n\nq1\tQ0\td1\t0\t2.5\ta")
    assert cli("check", "noted.run").code == 0


def test_fix_writes_a_run_that_every_reader_takes(cli: Cli, place: Path) -> None:
    write("a.run", DIRTY)
    lenient = read_run("a.run", lenient=True).to_dict()
    result = cli("check", "a.run", "--fix", "-o", "clean.run")
    assert result.code == 1  # tells of the input
    assert Path("clean.run").read_text() == CLEAN
    assert "clean.run written: 2 bad lines dropped; 1 duplicate dropped, the best" in result.out
    assert read_run("clean.run").to_dict() == lenient
    again = cli("check", "clean.run", "--fix", "-o", "again.run")
    assert again.code == 0
    assert Path("again.run").read_text() == CLEAN


@pytest.mark.parametrize("args", ["a.run -o a.run", "a.run -o link", "a.run --qrels q -o q"])
def test_fix_leaves_what_it_checks_as_it_is(cli: Cli, place: Path, args: str) -> None:
    write("a.run", DIRTY)
    before = Path("a.run").read_bytes()
    Path("link").symlink_to("a.run")
    Path("q").write_text("q1 0 d1 1\n")
    result = cli("check", *args.split(), "--fix")
    assert (result.code, result.out) == (2, "")
    assert "is an input of this command; give the output another name" in result.err
    assert Path("a.run").read_bytes() == before
    assert Path("q").read_text() == "q1 0 d1 1\n"


def test_fix_to_stdout_keeps_the_findings_apart(cli: Cli, place: Path) -> None:
    result = cli("check", "-", "--fix", "-o", "-", stdin=DIRTY.encode())
    assert result.out == CLEAN
    assert "<stdin>:4: the score of d2 is nan" in result.err


def test_fix_of_qrels_and_topics(cli: Cli, place: Path) -> None:
    write("q", "\ufeffq1\t0\td2\t1\r\nq1 0 d1 0\nq1 0 d1 2\nq1 0 d2 1\nq1 0 d3 x\n")
    result = cli("check", "q", "--fix", "-o", "clean")
    assert result.code == 1
    assert Path("clean").read_text() == "q1 0 d2 1\nq1 0 d1 2\n"
    assert "of 1 pairs of grades the higher one kept" in " ".join(result.out.split())
    write("r", "q1 r1 d1 0\nq1 r2 d1 1\n")
    assert cli("check", "r", "--fix", "-o", "clean").code == 0
    assert Path("clean").read_text() == "q1 r1 d1 0\nq1 r2 d1 1\n"
    write("t", "q1\ta  b\nbroken\nq1\tc\n")
    assert cli("check", "t", "--fix", "-o", "clean").code == 1
    assert Path("clean").read_text() == "q1\ta b\n"


@pytest.mark.parametrize("data", [b"", b"hello\n", b"q1 Q0 d1 1 2.0\n", b"\x00\x01"])
def test_fix_writes_nothing_of_what_it_cannot_read(cli: Cli, place: Path, data: bytes) -> None:
    write("a.run", data)
    result = cli("check", "a.run", "--fix", "-o", "clean.run")
    assert result.code == 1
    assert "clean.run not written: nothing in a.run can be read" in result.out
    assert [path.name for path in place.iterdir()] == ["a.run"]


def test_files_that_are_not_known(cli: Cli, place: Path) -> None:
    write("x", "hello\n")
    write("y", bytes(range(256)))
    write("z", "")
    result = cli("check", "x", "y", "z")
    assert result.code == 1
    text = " ".join(result.out.split())
    assert "x: cannot tell what this is; if you know, say --kind" in text
    assert "y: is binary data, not text" in text
    assert "z: is empty" in text


def test_kind_of_a_swapped_file(cli: Cli, place: Path) -> None:
    write("qrels", "q1 0 d1 1\n")
    result = cli("check", "qrels", "--kind", "run")
    assert result.code == 1
    assert "this looks like qrels (qid 0 docno rel), not a run" in " ".join(result.out.split())


def test_a_run_with_qrels_and_topics(cli: Cli, place: Path) -> None:
    # q1 answered, q2 not in the run, q3 without relevant document; q9 of the run is not judged
    write("qrels", "q1 0 d1 1\nq2 0 d1 1\nq3 0 d1 0\n")
    write("a.run", "q1 Q0 d1 1 2.0 a\nq1 Q0 d2 2 1.0 a\nq9 Q0 d1 1 1.0 a\n")
    write("topics", "q1\ta\nq2\tb\nq3\tc\nq4\td\n")
    result = cli("check", "a.run", "--qrels", "qrels", "--topics", "topics")
    assert result.code == 0
    text = " ".join(result.out.split())
    assert "a.run with qrels: run and qrels; 1 query in both; judged in top 10 50.0%;" in text
    assert "judged queries missing from the run: each counts 0 here" in text
    assert "(2): q2, q3" in text
    assert "queries of the run without judgements, which enter no mean (1): q9" in text
    assert "a.run with topics: note: queries of the run without a topic (1): q9" in text
    assert "a.run with topics: note: topics without a query in the run (3): q2, q3, q4" in text
    assert "topics with qrels: note: topics without judgements (1): q4" in text
    same = cli("check", "a.run", "qrels", "topics")  # found among the files as well
    assert "a.run with qrels: run and qrels" in " ".join(same.out.split())


def test_ids_that_cannot_match_are_wrong(cli: Cli, place: Path) -> None:
    write("qrels", "q1 0 café 1\n01 0 d 1\n")
    write("a.run", "q1 Q0 cafe\u0301 1 2.0 a\n1 Q0 d 1 1 a\n")
    result = cli("check", "a.run", "--qrels", "qrels")
    assert result.code == 1
    text = " ".join(result.out.split())
    assert r"'cafe\u0301' here and 'caf\xe9' there look alike but are different ids" in text
    assert "'1' here and '01' there look alike" in text
    write("b.run", "x Q0 d 1 1 a\n")
    assert "no query is in both files" in cli("check", "b.run", "--qrels", "qrels").out


def test_json_lists_everything(cli: Cli, place: Path) -> None:
    write("a.run", "q1 Q0 d 1 1 a\n" + "q1 Q0 d1 1 2.5\n" * 150)
    write("qrels", "q1 0 d 1\n")
    result = cli("check", "a.run", "--qrels", "qrels", "--format", "json")
    assert result.code == 1
    found = json.loads(result.out)
    assert (found["schema"], found["command"], found["wrong"]) == ("hybridcli/check/1", "check", 150)
    run, qrels = found["files"]
    assert (run["file"], run["kind"], qrels["kind"]) == ("a.run", "run", "qrels")
    assert len(run["problems"]) == 150
    assert run["problems"][0]["line"] == 2
    assert run["problems"][0]["kind"] == "too-few-columns"
    assert run["readers"]["ranx"] == ["stops at line 2 (ValueError)"]
    assert found["pairs"][0]["facts"]["judged_in_top_10"] == 1.0
    table = cli("check", "a.run").out
    assert "a.run: 50 more of the kind too-few-columns; --limit 0 lists all" in table
    assert cli("check", "a.run", "--limit", "0").out.count("expected 6 columns") == 150


def test_gzip_and_byte_order_mark(cli: Cli, place: Path) -> None:
    write("a.run", gzip.compress(b"\xef\xbb\xbfq1 Q0 d1 1 2.5 a\n"))
    result = cli("check", "a.run")
    assert result.code == 0
    text = " ".join(result.out.split())
    assert "a.run:1: note: a byte-order mark stands before the first line" in text
    assert "does not read gzip" in text


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "give at least one file"),
        (["a.run", "--fix"], "say with -o where the clean one goes"),
        (["a.run", "a.run", "--fix", "-o", "x"], "--fix mends one FILE"),
        (["a.run", "-o", "x"], "-o is for the clean file of --fix"),
        (["a.run", "--kind", "table"], "unknown kind 'table'; choose from"),
        (["a.run", "--format", "xml"], "unknown format 'xml'"),
        (["-", "--qrels", "-"], "stdin"),
    ],
)
def test_usage(cli: Cli, place: Path, args: list[str], words: str) -> None:
    write("a.run", "q1 Q0 d1 1 2.5 a\n")
    result = cli("check", *args)
    assert result.code == 2
    assert words in result.err


def test_fix_of_another_kind_is_a_usage_error(cli: Cli, place: Path) -> None:
    write("r", json.dumps({"_id": "q", "text": "t", "references": ["a"]}) + "\n")
    result = cli("check", "r", "--fix", "-o", "x")
    assert result.code == 2
    assert "--fix writes run, qrels, topics; r is references" in result.err


@pytest.mark.slow
def test_the_real_run_with_duplicates(cli: Cli, tmp_path: Path) -> None:
    folder = shared("data", "codec-runs")
    qrels = folder / "document_ndcg.qrels.gz"
    codes = {}
    for path in sorted(folder.glob("*.run.gz")):
        result = cli("check", path, "--qrels", qrels, "--format", "json")
        codes[path.name] = result.code
        found = json.loads(result.out)
        if result.code:
            assert {p["kind"] for p in found["files"][0]["problems"] if p["wrong"]} == {"duplicate"}
            assert cli("check", path, "--fix", "-o", tmp_path / "clean.run").code == 1
            assert cli("check", tmp_path / "clean.run").code == 0
    assert sum(codes.values()) == 1
