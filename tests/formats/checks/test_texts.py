"""The checks of topics, windows, references and provenance."""

from __future__ import annotations

import io
import json
from typing import Any

import polars as pl

import hybridcli.formats.checks.texts as texts
from hybridcli.formats.checks.registry import Checker
from hybridcli.formats.checks.source import Source
from hybridcli.records import Sheet


def found(sheet: Sheet, *, wrong: bool = True) -> list[tuple[int | None, str]]:
    return [(problem.line, problem.kind) for problem in sheet.problems if problem.wrong == wrong]


def rows(check: Checker, *objects: Any) -> Sheet:
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in objects)
    return check(Source("x.jsonl", text.encode()))[0]


def test_topics_of_tabs() -> None:
    sheet, topics = texts.check_topics(Source("x", b"q1\ta\nno tab\nq1\tb\nq2\t\n\xe9\tx\n\tz\nq3\tc\r\n"))
    assert found(sheet) == [
        (2, "line"),
        (3, "duplicate"),
        (4, "empty-query"),
        (5, "encoding"),
        (6, "line"),
    ]
    assert found(sheet, wrong=False) == [(7, "crlf")]
    assert (topics.qids, topics.texts) == (["q1", "q2", "q3"], ["a", "", "c"])


def test_topics_of_json_and_of_trec() -> None:
    sheet = rows(
        texts.check_topics, {"_id": "q1", "text": "a"}, "{broken", {"_id": "q 2", "text": "b"}, {"text": "c"}
    )
    assert found(sheet) == [(2, "line"), (3, "line"), (4, "line")]
    trec = b"<top>\n<num>Number: 1\n<title>a\n</top>\n<top>\n<title>b\n</top>\n"
    sheet, topics = texts.check_topics(Source("x", trec))
    assert found(sheet) == [(5, "line")]
    assert topics.qids == ["1"]


def window(name: str, doc: str = "d") -> dict[str, Any]:
    return {
        "id": name,
        "contents": "x",
        "doc": doc,
        "unit": 0,
        "kind": "text",
        "start": 0,
        "end": 1,
        "char_start": 0,
        "char_end": 1,
        "heading": "",
    }


def test_windows() -> None:
    sheet = rows(
        texts.check_windows,
        window("d:0:0"),
        {"id": "x"},
        window("d:0:0"),
        window("e:0:0", "e"),
        window("d:0:1"),
    )
    assert found(sheet) == [(2, "line"), (3, "duplicate"), (5, "scattered")]
    assert (sheet.facts["documents"], sheet.facts["kinds"]) == (2, {"text": 4})


def test_references() -> None:
    query = {"_id": "q1", "text": "t", "references": ["a", "b"], "ticker": "A"}
    sheet = rows(
        texts.check_references,
        query,
        query,
        {**query, "_id": "q2", "references": []},
        {**query, "_id": "q3", "references": [" "]},
        {"_id": "q4"},
    )
    assert found(sheet) == [(2, "duplicate"), (4, "empty-reference"), (5, "line")]
    assert found(sheet, wrong=False) == [(3, "no-reference")]
    assert (sheet.facts["queries"], sheet.facts["references"], sheet.facts["groups"]) == (3, 3, 1)


def test_references_of_parquet() -> None:
    stream = io.BytesIO()
    pl.DataFrame({"_id": ["q1"], "text": ["t"], "references": [["a"]]}).write_parquet(stream)
    sheet, _ = texts.check_references(Source("x", stream.getvalue()))
    assert sheet.problems == []
    assert sheet.facts["references"] == 1


def test_provenance() -> None:
    good = {"qid": "q1", "reference": "r1", "status": "resolved"}
    sheet = rows(texts.check_provenance, good, {**good, "status": "lost"}, good, {**good, "reference": "r2"})
    assert found(sheet) == [(2, "line"), (3, "duplicate")]
    assert sheet.facts["references"] == {"resolved": 3}


def test_nothing() -> None:
    assert found(texts.check_topics(Source("x", b"\n"))[0]) == [(None, "empty")]
