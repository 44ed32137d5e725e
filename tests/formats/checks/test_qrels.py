"""The check of qrels."""

from __future__ import annotations

from hybridcli.formats.checks.qrels import check_qrels
from hybridcli.formats.checks.source import Source
from hybridcli.records import Sheet


def check(text: bytes) -> Sheet:
    return check_qrels(Source("x.qrels", text))[0]


def found(sheet: Sheet, *, wrong: bool = True) -> list[tuple[int | None, str]]:
    return [(problem.line, problem.kind) for problem in sheet.problems if problem.wrong == wrong]


def test_counts() -> None:
    sheet = check(b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 -1\nq3 0 d3 1\n")
    assert sheet.facts["grades"] == {-1: 1, 0: 1, 1: 1, 2: 1}
    assert sheet.facts["judged"] == {"min": 1, "median": 1.0, "max": 2}
    assert sheet.facts["queries_without_relevant"] == 1
    assert found(sheet, wrong=False) == [(None, "no-relevant")]
    assert "1 of 3 queries have no relevant document (their measures are 0): q2" in sheet.problems[0].text


def test_every_bad_line() -> None:
    sheet = check(b"q1 0 d1 0.5\nq1 0 d2 yes\nq1 d3 1\nq1 Q0 d4 1 2.0 r\nq1 0 caf\xe9 1\nq1 0 d5 1\n")
    assert found(sheet) == [
        (1, "grade"),
        (2, "grade"),
        (3, "too-few-columns"),
        (4, "too-many-columns"),
        (5, "encoding"),
    ]
    assert sheet.facts["lines"] == 1


def test_two_grades_are_wrong_and_a_repeat_is_a_note() -> None:
    sheet, content = check_qrels(Source("x", b"q1 0 d1 0\nq1 0 d1 2\nq1 0 d2 1\nq1 0 d2 1\n"))
    assert found(sheet) == [(2, "conflict")]
    assert sheet.problems[0].text == "query q1 judges document d1 again: grade 2 here, 0 on line 1"
    assert found(sheet, wrong=False) == [(4, "repeat")]
    assert content.rows == [("q1", "0", "d1", 2), ("q1", "0", "d2", 1)]


def test_references() -> None:
    sheet, content = check_qrels(Source("x", b"q1 r1 d1 1\nq1 r2 d1 1\nq1 r2 d2 1\nq2 r1 d1 1\n"))
    assert sheet.problems == []
    assert (sheet.facts["references"], sheet.facts["shared_documents"]) == (3, 1)
    assert content.rows[1] == ("q1", "r2", "d1", 1)


def test_references_that_may_be_none() -> None:
    assert found(check(b"q1 x d1 1\nq2 x d2 1\n"), wrong=False) == [(None, "constant-references")]
    assert found(check(b"q1 r1 d1 1\nq2 r2 d2 1\n"), wrong=False) == [(None, "constant-references")]
    assert found(check(b"q1 r1 d1 1\nq1 0 d2 1\n"), wrong=False) == [(2, "unnamed-references")]


def test_three_columns_of_beir() -> None:
    sheet, content = check_qrels(Source("x", b"query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\n"))
    assert found(sheet) == [(3, "too-few-columns")]
    assert (1, "beir") in found(sheet, wrong=False)
    assert content.rows == [("q1", "0", "d1", 1)]


def test_no_judgement() -> None:
    assert found(check(b"# none\n")) == [(None, "empty")]
