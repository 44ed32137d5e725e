"""Two-column tables: every line a key and a value, every key one value."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridcli.errors import DataError
from hybridcli.formats.tables import read_ids, read_mapping, read_values, write_mapping


def test_mapping_and_back(tmp_path: Path) -> None:
    path = str(tmp_path / "groups.tsv")
    write_mapping(path, {"q1": "A B", "q2": "one\ttwo\nthree"})
    assert read_mapping(path) == {"q1": "A B", "q2": "one two three"}
    (tmp_path / "groups.tsv").write_bytes(b"\xef\xbb\xbf#qid\tgroup\r\nq1\tA\r\n\r\nq1\tA\r\n")
    assert read_mapping(path) == {"q1": "A"}
    assert read_ids(path) == ["q1", "q1"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1", "expected qid<TAB>value, found 'q1'"),
        ("q1 A", "expected qid<TAB>value, found 'q1 A'"),
        ("\tA", "expected qid<TAB>value"),
        ("q1\t", "expected qid<TAB>value"),
        ("q1\t \r", "expected qid<TAB>value"),
        ("q0\tB", "qid q0 has two values, 'A' and 'B'"),
    ],
)
def test_a_line_that_is_no_pair(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "groups.tsv"
    path.write_text(f"q0\tA\n{line}\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_mapping(str(path))
    assert str(caught.value).startswith(f"{path}:2: {message}")


def test_queries_without_a_value_are_named(tmp_path: Path) -> None:
    path = tmp_path / "groups.tsv"
    path.write_text("q1\tA\n", encoding="utf-8")
    assert read_values(str(path), ["q1"], "group") == ["A"]
    with pytest.raises(DataError, match="2 of 3 judged queries have no group: q2, q3"):
        read_values(str(path), ["q1", "q2", "q3"], "group")


def test_blanks_around_a_value_are_no_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "g").write_text("q1\tA\nq2\tA \nq3 \t A\n")
    assert read_mapping(str(tmp_path / "g")) == {"q1": "A", "q2": "A", "q3": "A"}
    (tmp_path / "g").write_text("q1\tA\nq2\tA\tmore\n")
    with pytest.raises(DataError, match="g:2: expected qid<TAB>value"):
        read_mapping(str(tmp_path / "g"))
