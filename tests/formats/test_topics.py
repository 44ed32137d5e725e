"""Topics of every form, and what is refused."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from hybridcli.errors import DataError
from hybridcli.formats.topics import read_topics, write_topics
from hybridcli.records import Topics

TREC = """<top>

<num> Number: 301
<title> International
Organized Crime

<desc> Description:
Identify <b>organizations</b>.
</top>

<top>
<num>302</num>
<title>Topic: AT&amp;T</title>
</top>
"""
WEB = '<topics task="x">\n<topic number="1" type="faceted">\n<query>obama family tree</query>\n</topic>\n</topics>'


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("001\twhat is\ta fee?\r\n\n1\t x \n01\ty", {"001": "what is\ta fee?", "1": "x", "01": "y"}),
        ("\ufeffq1\tcafé", {"q1": "café"}),
        ("1#\tnot a comment\nq#1\t#x", {"1#": "not a comment", "q#1": "#x"}),
        ('{"qid": "1", "text": "a"}\n{"_id": 2, "query": "b"}\n{"id": "3", "title": "c"}',
         {"1": "a", "2": "b", "3": "c"}),
        (TREC, {"301": "International Organized Crime", "302": "AT&T"}),
        (WEB, {"1": "obama family tree"}),
        ('{"query_id": "4", "text": "d", "title": "no"}', {"4": "d"}),
        ("", {}),
    ],
)  # fmt: skip
def test_forms(tmp_path: Path, content: str, expected: dict[str, str]) -> None:
    path = tmp_path / "topics"
    path.write_text(content, encoding="utf-8")
    topics = read_topics(str(path))
    assert dict(zip(topics.qids, topics.texts, strict=True)) == expected


def test_beir_folder_and_stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "queries.jsonl").write_text('{"_id": "1", "text": "a", "metadata": {}}\n', encoding="utf-8")
    assert read_topics(str(tmp_path)) == Topics(["1"], ["a"])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1\ta\n")))
    assert read_topics("-") == Topics(["1"], ["a"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\ta\n2\tb\n3 c", ":3: expected qid<TAB>text, found '3 c'"),
        ("1\ta\n1\tb", ":2: qid 1 is given twice (first on line 1)"),
        ("a b\tc", ":1: qid 'a b' holds a blank"),
        ("\ttext", ":1: qid is empty"),
        ("1\ta\n#2\tb", ":2: qid #2 begins with '#', which makes a comment of every line"),
        ('{"qid": "#2", "text": "b"}', ":1: qid #2 begins with '#'"),
        ("q\0\ta", ":1: qid 'q\\x00' holds a control character"),
        ('{"text": "a"}', ":1: no qid: one of qid, _id, id, query_id is needed"),
        ('{"qid": "1"}', ":1: no text: one of text, query, title, contents is needed"),
        ("<top>\n<num> 1\n<title> a\n", ":1: <top> stands inside another topic, or is never closed"),
        (
            "<top>\n<num> 1\n<top>\n<num> 2\n</top>",
            ":3: <top> stands inside another topic, or is never closed",
        ),
        ("\n<top>\n<title> a\n</top>", ":2: this topic has no number (<num>)"),
        ("<top>\n<num> 1\n</top>", ":1: this topic has no text (<title> or <query>)"),
        ("<html><p>", ":1: expected <top> or <topic>"),
    ],
)
def test_bad_topics_name_file_and_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "topics.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_topics(str(path))
    assert str(caught.value).startswith(f"{path}{message}")


def test_latin1_and_a_folder_without_queries(tmp_path: Path) -> None:
    path = tmp_path / "topics.tsv"
    path.write_bytes(b"1\tcaf\xe9\n")
    with pytest.raises(DataError, match=rf"^{path}:1: not UTF-8"):
        read_topics(str(path))
    with pytest.raises(DataError, match=r"is a folder without queries\.jsonl"):
        read_topics(str(tmp_path))


def test_writing_folds_blanks(tmp_path: Path) -> None:
    path = tmp_path / "topics.tsv"
    write_topics(Topics(["1", "é"], ["a\tb\n c ", ""]), str(path))
    assert path.read_bytes() == "1\ta b c\né\t\n".encode()
    assert read_topics(str(path)) == Topics(["1", "é"], ["a b c", ""])
