"""Reading queries with evidence: rows as FinDER publishes them, aliases, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from hybridcli.errors import DataError
from hybridcli.formats.references import read_references
from hybridcli.records import Judged

ROW = {
    "_id": "b4a342c0",
    "text": "Op. margin of AAPL?",
    "category": "Company overview",
    "references": ["a", "b\nc"],
}


def read(tmp_path: Path, *rows: object) -> list[Judged]:
    path = tmp_path / "references.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_references(str(path))


def test_rows_as_finder_publishes_them(tmp_path: Path) -> None:
    extra = {"reasoning": True, "answer": "42", "type": "None", "ticker": "AAPL", "doc": None}
    assert read(tmp_path, ROW | extra) == [
        Judged("b4a342c0", "Op. margin of AAPL?", ("a", "b\nc"), None, None, "Company overview", "AAPL")
    ]


def test_parquet_gives_the_same(tmp_path: Path) -> None:
    rows = [ROW, ROW | {"_id": "x", "references": [], "category": None}]
    path = tmp_path / "finder.parquet"
    pl.DataFrame(rows).write_parquet(path)
    assert read_references(str(path)) == read(tmp_path, *rows)


def test_aliases_and_what_may_be_absent(tmp_path: Path) -> None:
    row = {"qid": 7, "evidence": "one text", "docno": "d", "unit": 3, "group": " Acme\tInc. "}
    assert read(tmp_path, row) == [Judged("7", "", ("one text",), "d", 3, None, "Acme Inc.")]
    assert read(tmp_path, {"qid": "q", "references": []})[0].references == ()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "x", "references": []}, "no qid: one of qid, _id, id, query_id is needed"),
        ({"qid": "q", "text": "x"}, "no references: a field references or reference or evidence is needed"),
        ({"qid": "q", "references": {"a": 1}}, "references is {'a': 1}; a list of texts is needed"),
        ({"qid": "q", "references": ["a", None]}, "references is ['a', None]; a list of texts is needed"),
        ({"qid": "q", "references": ["a"], "unit": "3"}, "unit is '3'; a number from 0 is needed"),
        ({"qid": "q", "references": ["a"], "unit": -1}, "unit is -1; a number from 0 is needed"),
        ({"qid": "q", "references": ["a"], "doc": "two words"}, "doc 'two words' holds a blank"),
        ({"qid": "ok", "references": ["a"]}, "qid ok stands on line 1 already"),
        (["q"], "expected one JSON object a line, found a list"),
    ],
)
def test_wrong_rows_are_named_by_line(tmp_path: Path, row: object, message: str) -> None:
    with pytest.raises(DataError) as error:
        read(tmp_path, {"qid": "ok", "references": ["a"]}, row)
    assert f"references.jsonl:2: {message}" in str(error.value)


def test_no_queries_and_broken_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no queries"):
        read(tmp_path)
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"PAR1 and then nothing of the kind")
    with pytest.raises(DataError, match=r"broken\.parquet: broken Parquet data"):
        read_references(str(path))
    path.write_bytes(b'{"qid": "q", "references": ["caf\xe9"]}\n')
    with pytest.raises(DataError, match=r":1: not UTF-8"):
        read_references(str(path))
