"""The check of a run: every problem with its line, and agreement with the reader."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hybridcli.errors import DataError
from hybridcli.formats.checks.runs import check_run, tie_counts
from hybridcli.formats.checks.source import Source
from hybridcli.formats.runs import read_run, write_run
from hybridcli.records import Run, Sheet


def check(text: str | bytes) -> Sheet:
    data = text if isinstance(text, bytes) else text.encode()
    return check_run(Source("x.run", data))[0]


def found(sheet: Sheet, *, wrong: bool = True) -> list[tuple[int | None, str]]:
    return [(problem.line, problem.kind) for problem in sheet.problems if problem.wrong == wrong]


def test_a_plain_run_has_counts_and_nothing_else() -> None:
    sheet = check("q1 Q0 d1 1 2.5 a\nq1 Q0 d2 2 1.5 a\nq2 Q0 d2 1 1.25 a\n")
    assert sheet.problems == []
    assert (sheet.facts["lines"], sheet.facts["queries"], sheet.facts["documents"]) == (3, 2, 2)
    assert sheet.facts["depth"] == {"min": 1, "median": 1.5, "max": 2}
    assert sheet.facts["tag"] == "a"


def test_every_bad_line_is_listed_not_only_the_first() -> None:
    sheet = check(
        "q1 Q0 d1 1 2.0\n"
        "q1 Q0 my doc 1 2.0 r\n"
        "q1 Q0 d2 2 high r\n"
        "q1 Q0 d3 3 2,5 r\n"
        "q1 Q0 d4 4 nan r\n"
        "q1 Q0 d5 5 -inf r\n"
        "q1 Q0 d6 6 1e999 r\n"
        "q1 Q0 d7 7 0.5 r\n"
    )
    assert found(sheet) == [
        (1, "too-few-columns"),
        (2, "too-many-columns"),
        (3, "score"),
        (4, "score"),
        (5, "not-finite"),
        (6, "not-finite"),
        (7, "bytes"),
    ]
    assert sheet.facts["lines"] == 1


def test_a_line_that_is_not_utf8() -> None:
    sheet = check(b"q1 Q0 caf\xe9 1 2.0 r\nq1 Q0 d 2 1.0 r\n")
    assert found(sheet) == [(1, "encoding")]
    assert "byte 0xe9 at column 10" in sheet.problems[0].text


def test_a_duplicate_names_both_lines_and_scores() -> None:
    sheet = check("q1 Q0 d1 1 3.0 r\nq1 Q0 d2 2 2.0 r\nq1 Q0 d1 3 1.0 r\nq2 Q0 d1 1 1 r\nq1 Q0 d1 4 0.5 r\n")
    assert found(sheet) == [(3, "duplicate"), (5, "duplicate")]
    assert sheet.problems[0].text == "query q1 lists document d1 again (score 1), first on line 1 (score 3)"
    assert found(sheet, wrong=False)[0] == (5, "scattered")


def test_notes_of_the_form_are_counted() -> None:
    sheet = check(b"# head\nq1\tQ0\td1\t1\t2.0\tr\r\n\r\nq1   Q0 d2  2 1.0   r  \r\n  q2 Q0 d3 1 2 r")
    assert found(sheet) == []
    notes = {problem.kind: (problem.line, problem.count) for problem in sheet.problems}
    assert notes == {
        "comment": (1, 1),
        "blank": (3, 1),
        "crlf": (2, 3),
        "tab": (2, 1),
        "spacing": (4, 2),
        "no-newline": (5, 1),
    }


def test_a_byte_order_mark_is_noted() -> None:
    sheet = check_run(Source("x", b"q1 Q0 d1 1 2.0 r\n", bom=True))[0]
    assert found(sheet, wrong=False) == [(1, "bom")]


def test_rank_column() -> None:
    sheet = check(
        "q1 Q0 a 0 3.0 r\nq1 Q0 b 1 2.0 r\n"  # from 0
        "q2 Q0 a 2 3.0 r\nq2 Q0 b 1 2.0 r\n"  # against the scores
        "q3 Q0 a 0 1.0 r\nq3 Q0 b 0 2.0 r\n"  # useless
        "q4 Q0 a x 1.0 r\n"
    )
    assert found(sheet) == []
    notes = {problem.kind: (problem.line, problem.count) for problem in sheet.problems}
    assert notes == {"rank": (4, 2), "rank-from-0": (None, 2), "rank-text": (None, 1)}


def test_ranks_from_one_of_unsorted_lines_are_no_problem() -> None:
    assert check("q1 Q0 b 2 2.0 r\nq1 Q0 a 1 3.0 r\nq1 Q0 c 10 1.0 r\n").problems == []


def test_several_tags_and_scattered_queries() -> None:
    sheet = check("q1 Q0 a 1 3 r\nq2 Q0 a 1 3 s\nq1 Q0 b 2 2 r\n")
    notes = {problem.kind: problem.text for problem in sheet.problems}
    assert notes["tags"] == "2 different tags: r, s"
    assert notes["scattered"] == "the lines of query q1 do not stand together"
    assert sheet.facts["depth"] == {"min": 1, "median": 1.5, "max": 2}


def test_ties_as_pairs_and_those_of_32_bits_only() -> None:
    # a, b, c tie: 3 pairs; d, e differ by less than a 32-bit float can hold: 1 pair
    run = Run.from_dict(
        {"q1": {"a": 2, "b": 2, "c": 2, "d": 1.00000000002, "e": 1.00000000001}, "q2": {"a": 1}}
    )
    assert tie_counts(run) == {"pairs": 3, "queries": 1, "pairs_32": 1, "queries_32": 1}


def test_scores_beyond_32_bits_tie_there() -> None:
    assert tie_counts(Run.from_dict({"q": {"a": 1e300, "b": 1e200}}))["pairs_32"] == 1


def test_nothing_but_comments() -> None:
    assert found(check("# nothing\n")) == [(None, "empty")]


LINES = st.sampled_from(
    [
        "q1 Q0 d1 1 2.5 a",
        "q1 Q0 d2 2 1.5 a",
        "q1\tQ0 d2 2 1e0 a",
        "q2 Q0 d1 1 2.5 b",
        "q2 Q0 é 1 .5 b\r",
        "# c",
        "",
        "  q3 Q0 d 0 1 a ",
        "q3 Q0 d 0 nan a",
        "q3 Q0 d 0 1",
        "q3 Q0 d 0 x a",
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(lines=st.lists(LINES, max_size=12))
def test_the_check_finds_something_exactly_where_the_reader_refuses(tmp_path: Path, lines: list[str]) -> None:
    text = "\n".join(lines)
    path = tmp_path / "x.run"
    path.write_bytes(text.encode())
    sheet, run = check_run(Source(str(path), text.encode()))
    try:
        read_run(str(path))
        refused = None
    except DataError as error:
        refused = error.line
    assert (refused in {line for line, _ in found(sheet)}) or (
        refused is None and set(found(sheet)) <= {(None, "empty")}
    )
    if run is not None:
        assert run.to_dict() == read_run(str(path), lenient=True).to_dict()
        write_run(run, str(tmp_path / "clean.run"), double=True)
        assert read_run(str(tmp_path / "clean.run")).to_dict() == run.to_dict()
        clean = check_run(Source("clean", (tmp_path / "clean.run").read_bytes()))[0]
        assert {problem.kind for problem in clean.problems} <= {"ties", "ties-32"}


@pytest.mark.parametrize("size", [1, 40, 1000])
def test_small_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    text = (
        "".join(f"q{q} Q0 d{d} {d} {9 - d} a\n" for q in range(20) for d in range(1, 6))
        + "q0 Q0 d1 1 1 a\nbad\n"
    )
    whole = check(text)
    monkeypatch.setattr("hybridcli.formats.checks.runs.BLOCK", size)
    parts = check(text)
    assert parts.problems == whole.problems
    assert parts.facts == whole.facts
