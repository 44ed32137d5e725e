"""What a file is, by its content."""

from __future__ import annotations

import json

import pytest

from hybridcli.formats.checks.kinds import find_kind
from hybridcli.formats.checks.source import Source

WINDOW = {"id": "d:0:0", "contents": "x", "doc": "d", "unit": 0, "char_start": 0}
FILES = {
    "q1 Q0 d1 1 2.5 a\n": "run",
    "q1\tQ0\td1\t1\t2.5\ta\n": "run",
    "# made by hand\n\nq1 Q0 d1 1 nan a\n": "run",
    "q1 Q0 d1 1 2.0\n": "run",  # the tag is missing
    "q1 Q0 my doc 1 2.0 r\n": "run",
    "q1 Q0 d1 1 2,5 r\n": "run",
    "q1 0 d1 1\n": "qrels",
    "q1\t0\td1\t0.5\n": "qrels",
    "q1 0 d1 yes\n": "qrels",
    "q1 d1 1\n": "qrels",  # BEIR's three columns
    "query-id\tcorpus-id\tscore\nq1\td1\t1\n": "qrels",
    "q1\twidget sales in the first quarter\n": "topics",
    "q1\tone two three four five\n": "topics",  # six words, but no score
    "<top>\n<num>Number: 1\n<title>x\n</top>\n": "topics",
    json.dumps({"_id": "q1", "text": "x"}) + "\n": "topics",
    json.dumps({"_id": "q1", "text": "x", "references": ["y"]}) + "\n": "references",
    json.dumps(WINDOW) + "\n": "windows",
    json.dumps({"qid": "q1", "reference": "r1", "status": "resolved"}) + "\n": "provenance",
    '{"schema": "hybridcli/recipe/1",\n "command": "fuse"}\n': "recipe",
}


@pytest.mark.parametrize(("text", "kind"), FILES.items())
def test_a_file_is_known_by_its_first_lines(text: str, kind: str) -> None:
    assert find_kind(Source("x", text.encode())) == kind


def test_one_bad_line_does_not_change_what_a_file_is() -> None:
    text = "q1 Q0 d1 1 2.5\n" + "q1 Q0 d2 2 1.5 a\n" * 3
    assert find_kind(Source("x", text.encode())) == "run"


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"hello\n", bytes(range(256)), b"<html></html>\n", b"{broken\n"]
)
def test_other_files_are_not_guessed(data: bytes) -> None:
    assert find_kind(Source("x", data)) is None
