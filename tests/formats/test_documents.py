"""Documents of every form, and what is refused."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

from hybridcli.errors import DataError, UsageError
from hybridcli.formats.documents import Document, form_of, read_documents, read_passages


def passages(*paths: Path | str) -> dict[str, str]:
    return {document.docno: document.passage for document in read_documents([str(path) for path in paths])}


def put(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_jsonl_with_every_name_of_a_field(tmp_path: Path) -> None:
    file = put(
        tmp_path / "docs.jsonl",
        '{"id": "001", "text": "a"}\n'
        '{"_id": "1", "contents": "b", "title": ""}\r\n'
        "\n"
        '{"docno": "1e5", "title": "T", "text": "c"}\n'
        '{"docid": 7, "text": "", "title": null}',
    )
    assert passages(file) == {"001": "a", "1": "b", "1e5": "T\nc", "7": ""}


@pytest.mark.parametrize("docno", ["NA", "null", "x,y", "a#b", "#a", "a:b", "café", "文書-7", "e\u0301"])
def test_docnos_are_opaque(tmp_path: Path, docno: str) -> None:
    assert passages(put(tmp_path / "docs.tsv", f"{docno}\ttext")) == {docno: "text"}


def test_tsv_keeps_further_tabs(tmp_path: Path) -> None:
    assert passages(put(tmp_path / "docs.tsv", "\n1\ta\tb\n2\t\n")) == {"1": "a\tb", "2": ""}


def test_trec_sgml(tmp_path: Path) -> None:
    file = put(
        tmp_path / "disk",
        "<DOC>\n<DOCNO> FT-1 </DOCNO>\n<DOCID>17</DOCID>\n<HEADLINE>Profits\n rise</HEADLINE>\n"
        "<TEXT>\n<P>A &amp; B</P> gained 3 &lt; 4\n</TEXT>\n</DOC>\n\n"
        "<doc><docno>FT-2</docno>one line</doc>\n",
    )
    first, second = read_documents([str(file)])
    assert (first.docno, first.title, first.text.split()) == (
        "FT-1", "Profits rise", ["A", "&", "B", "gained", "3", "<", "4"],
    )  # fmt: skip
    assert (second.docno, second.passage, second.line) == ("FT-2", "one line", 11)


def test_plain_text_is_kept_character_by_character(tmp_path: Path) -> None:
    text = "two  blanks\r\n\tand a\u00a0line\n"
    assert passages(put(tmp_path / "note.v2.txt", text)) == {"note.v2": text}


def test_html_is_handed_on_as_bytes(tmp_path: Path) -> None:
    page = b"<?xml version='1.0'?>\n<html><body>\xe9</body></html>\n"
    file = put(tmp_path / "AAPL.htm.gz", gzip.compress(page))
    assert list(read_documents([str(file)])) == [Document("AAPL", str(file), page=page)]


def test_a_folder_gives_its_known_files_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path / "docs/b.txt", "b")
    put(tmp_path / "docs/a/x.html", "<p>x")
    put(tmp_path / "docs/.hidden.txt", "no")
    put(tmp_path / "docs/Thumbs.db", b"\0")
    put(tmp_path / "docs/z.jsonl", '{"id": "z1", "text": "z"}\n{"id": "z2", "text": "z"}\n')
    assert list(passages(tmp_path / "docs")) == ["x", "b", "z1", "z2"]
    assert "passed over 1 files of no known extension, such as Thumbs.db" in capsys.readouterr().err


def test_a_beir_folder_gives_its_corpus(tmp_path: Path) -> None:
    put(
        tmp_path / "corpus.jsonl.gz",
        gzip.compress(b'{"_id": "4983", "title": "T", "text": "x", "metadata": {}}\n', mtime=0),
    )
    put(tmp_path / "queries.jsonl", '{"_id": "1", "text": "q"}\n')
    assert passages(tmp_path) == {"4983": "T\nx"}


def test_stdin_gzip_and_a_byte_order_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.compress(b'\xef\xbb\xbf{"id": "1", "text": "a"}\n')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert passages("-") == {"1": "a"}


@pytest.mark.parametrize("data", [b"", b" \n\n", gzip.compress(b"", mtime=0)])
def test_an_empty_stream_holds_no_document(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert passages("-") == {}


def test_stdin_can_be_read_once() -> None:
    with pytest.raises(UsageError, match="stdin"):
        passages("-", "-")


@pytest.mark.parametrize(
    ("head", "name", "form"),
    [
        (b'{"id": 1}', "x", "jsonl"),
        (b'{"id": 1}', "x.txt", "jsonl"),
        (b"{curly} words", "x.txt", "text"),
        (b"\n<DOC>\n<DOCNO>1", "x", "trec"),
        (b"<?xml version='1.0'?><corpus><DOC>", "x.xml", "trec"),
        (b"<?xml version='1.0'?>\n<!-- by -->\n<html xmlns=", "x", "html"),
        (b"<DOCUMENT>\n<TYPE>10-K\n<TEXT>\n<HTML>", "0001.txt", "html"),
        (b"<p>fragment", "-", "html"),
        (b"<not a page", "x.txt", "text"),
        (b"\xff\xfe<\0h\0t\0", "x.html", "html"),
        (b"d1\tsome text", "x", "tsv"),
        (b"some text", "x", "text"),
        (b"a\tb", "x.txt", "text"),
        (b"", "x", "text"),
    ],
)
def test_the_form_is_found_by_content_and_name(head: bytes, name: str, form: str) -> None:
    assert form_of(head, name) == form


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"id": "1", "text": "a"}\n{"text": "b"}', ":2: no docno: one of id, _id, docno, docid is needed"),
        ("a.jsonl", '{"id": "1"}', ":1: no text: one of text, contents is needed"),
        ("a.jsonl", '{"id": "1", "text": ["a"]}', ":1: text is ['a']; a text is needed"),
        ("a.jsonl", '{"id": 1.5, "text": "a"}', ":1: id is 1.5; a text is needed"),
        ("a.jsonl", '{"id": true, "text": "a"}', ":1: id is True; a text is needed"),
        ("a.jsonl", '{"id": "1", "text": "a"', ":1: not JSON (Expecting ',' delimiter: line 1 column 24 (char 23))"),
        ("a.jsonl", "[" * 100_000, ":1: not JSON (maximum recursion depth exceeded"),
        ("a.jsonl", '["a"]', ":1: expected one JSON object a line, found a list"),
        ("a.jsonl", '{"id": "a b", "text": ""}', ":1: docno 'a b' holds a blank, which run and qrels files"),
        ("a.jsonl", '{"id": " ", "text": ""}', ":1: docno is empty"),
        ("a.jsonl", '{"id": "\\ud800", "text": ""}', ":1: docno '\\ud800' holds half a surrogate pair"),
        ("a.tsv", "1\ta\nno tab", ":2: expected docno<TAB>text, found 'no tab'"),
        ("a.tsv", b"1\tcaf\xe9", ":1: not UTF-8 (byte 0xe9 at column 6); convert the file"),
        ("a.txt", b"ok\ncaf\xe9", ":2: not UTF-8 (byte 0xe9 at column 4)"),
        ("a.txt", b"%PDF-1.7", ":1: is PDF, not a document"),
        ("a.run", "q1 Q0 d1 1 2.5 bm25\n", ":1: is a run (qid Q0 docno rank score tag), not a document"),
        ("a.txt", "# ir_metadata.start\n\nq1\tQ0\td1\t1\t2.5\tx\n", ":3: is a run"),
        ("a.html", b"\x7fELF\0\0", ":1: is binary data, not a document"),
        ("a.html", "<html>\n<body>\n<p>half of it", ":3: <html> is never closed: is the file cut short?"),
        ("a.trec", "<DOC>\n<DOCNO>1</DOCNO>\nhalf", ":1: <DOC> is never closed: is the file cut short?"),
        ("a.trec", "<DOC>\n<DOCNO>1</DOCNO>\n<DOC>\n</DOC>", ":3: a <DOC> opens before that of line 1 is closed"),
        ("a.trec", "<DOC>\n<TEXT>x</TEXT>\n</DOC>", ":1: no <DOCNO> in this <DOC>"),
        ("a.trec", "<DOC><DOCNO>1</DOCNO></DOC>\nstray", ":2: expected <DOC>, found 'stray'"),
        ("a.trec", "<DOC><DOCNO>1</DOCNO></DOC> stray", ":1: something follows </DOC> on its line"),
        ("a.tsv", "1\ta\n2\tb\n1\tc", ":3: docno 1 is given twice (first in "),
        ("a.txt.gz", gzip.compress(b"x" * 1000, mtime=0)[:20], ": broken gzip data"),
    ],
)  # fmt: skip
def test_bad_input_names_file_and_line(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    file = put(tmp_path / name, content)
    with pytest.raises(DataError) as caught:
        passages(file)
    assert str(caught.value).startswith(f"{file}{message}")


def test_a_missing_file_and_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        passages(tmp_path / "nothing.txt")
    with pytest.raises(DataError, match=r"holds no documents: no corpus\.jsonl and no file ending in"):
        passages(tmp_path)


def test_a_docno_twice_across_inputs(tmp_path: Path) -> None:
    first, second = put(tmp_path / "a/10k.txt", "x"), put(tmp_path / "b/10k.txt", "y")
    with pytest.raises(DataError, match=f"^{second}: docno 10k is given twice \\(first in {first}\\)$"):
        passages(first, second)


def test_blanks_in_a_file_name_become_underscores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert list(passages(put(tmp_path / "Apple  Inc.txt", "x"))) == ["Apple_Inc"]
    assert "the docno is Apple_Inc, since a docno cannot hold blanks" in capsys.readouterr().err
    put(tmp_path / "Apple_Inc.txt", "y")
    with pytest.raises(DataError, match="docno Apple_Inc is given twice"):
        passages(tmp_path)


def test_lenient_takes_a_page_cut_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = put(tmp_path / "a.html", "<html><p>half")
    assert [document.page for document in read_documents([str(file)], lenient=True)] == [b"<html><p>half"]
    assert "never closed" in capsys.readouterr().err


def test_halves_of_surrogate_pairs_are_joined_or_replaced(tmp_path: Path) -> None:
    file = put(tmp_path / "a.jsonl", '{"id": "1", "text": "\\ud83d\\ude00 \\ud800é"}')
    assert passages(file) == {"1": "😀 \ufffdé"}


def test_passages_of_windows_and_documents(tmp_path: Path) -> None:
    windows = '{"id": "A:0:0", "contents": "[Heading] H\\nbody", "doc": "A", "unit": 0}\n'
    assert list(read_passages(str(put(tmp_path / "w.jsonl", windows)))) == [("A:0:0", "[Heading] H\nbody")]
    assert list(read_passages(str(put(tmp_path / "d.tsv", "1\ta\n")))) == [("1", "a")]
    with pytest.raises(DataError, match="cut it first with hybridcli window"):
        list(read_passages(str(put(tmp_path / "d.html", "<p>a"))))
