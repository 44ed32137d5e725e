"""`hybridcli window`: what it writes, reports and refuses."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from hybridcli.formats.windows import read_windows
from hybridcli.text.tokens import load_tokens
from tests.support import Result, shared

Cli = Callable[..., Result]


def fact(concept: str, value: int) -> str:
    return f'<ix:nonFraction name="us-gaap:{concept}" contextRef="c" unitRef="u">{value}</ix:nonFraction>'


FILING = f"""<?xml version='1.0' encoding='UTF-8'?>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/2013/inlineXBRL">
<body>
<p>Harbour fees rose to {fact("PortFees", 412)} in the year.</p>
<table>
<tr><td></td><td>2024</td><td>2023</td></tr>
<tr><td>Net sales</td><td>391</td><td>{fact("NetSales", 383)}</td></tr>
<tr><td>Income tax</td><td>{fact("IncomeTaxExpenseBenefit", 29)}</td><td>16</td></tr>
</table>
</body>
</html>
"""
HALF = FILING[: FILING.index("<td>Net sales")].encode()


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    """A tokenizer.json: one token a letter, and two special ones a text."""
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}, unk_token="[UNK]"))
    split = pre_tokenizers.Split("", "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), split])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(tmp_path / "letters.json"))
    return tmp_path / "letters.json"


def words(count: int) -> str:
    return " ".join(f"w{i}" for i in range(count))


def test_windows_go_to_stdout_and_the_report_to_stderr(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "doc22.txt").write_text(words(22))
    (folder / "doc23.txt").write_text(words(23))
    (folder / "doc0.txt").write_text("\n  \n")
    done = cli("window", folder, "--words", 10, "--overlap", 4)
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert [(row["id"], row["start"], row["end"]) for row in rows] == [
        ("doc22:0:0", 0, 10), ("doc22:0:1", 6, 16), ("doc22:0:2", 12, 22),
        ("doc23:0:0", 0, 10), ("doc23:0:1", 6, 16), ("doc23:0:2", 12, 22), ("doc23:0:3", 18, 23),
    ]  # fmt: skip
    assert done.err.splitlines() == [
        "note: 3 documents, 3 units (0 tables), 7 windows",
        "note: documents without a word, and so without a window: 1 (doc0)",
        "note: words a window: min 5, 5 % 5, median 10, 95 % 10, max 10",
        "note: windows a document: min 0, 5 % 0, median 3, 95 % 4, max 4",
    ]


def test_the_defaults_are_160_and_a_fifth(cli: Cli) -> None:
    done = cli("window", "-", stdin=gzip.compress(b"d1\t" + words(300).encode()))
    assert [(row["start"], row["end"]) for row in map(json.loads, done.out.splitlines())] == [
        (0, 160),
        (128, 288),
        (256, 300),
    ]
    done = cli("window", "-", "--words", 10, stdin=b"d1\t" + words(12).encode())
    assert [(row["start"], row["end"]) for row in map(json.loads, done.out.splitlines())] == [
        (0, 10),
        (8, 12),
    ]


def test_a_filing_with_headings_and_facts(cli: Cli, tmp_path: Path) -> None:
    filing, out, facts, labels = (tmp_path / name for name in ("ACME.html", "w.jsonl", "f.qrels", "l.jsonl"))
    filing.write_text(FILING)
    done = cli(
        "window", filing, "-o", out, "--words", 6, "--overlap", 0, "--carry-headings",
        "--facts", facts, "--fact-labels", labels,
    )  # fmt: skip
    assert done.code == 0
    assert done.out == ""
    windows = list(read_windows(str(out)))
    tables = [window for window in windows if window.kind == "table"]
    assert tables[1].contents.endswith("\n" + tables[1].body)
    assert "[Columns] 2024\t2023\n" in tables[1].contents
    found = [line.split(" ") for line in facts.read_text().splitlines()]
    printed = {"us-gaap:PortFees": "412", "us-gaap:NetSales": "383", "us-gaap:IncomeTaxExpenseBenefit": "29"}
    assert {concept for _, _, concept, _ in found} == set(printed)
    text_of = {window.id: window.body for window in windows}
    assert all(printed[concept] in text_of[name].split() for name, _, concept, _ in found)
    assert [json.loads(line) for line in labels.read_text().splitlines()] == [
        {"id": "us-gaap:IncomeTaxExpenseBenefit", "text": "income tax expense benefit"},
        {"id": "us-gaap:NetSales", "text": "net sales"},
        {"id": "us-gaap:PortFees", "text": "port fees"},
    ]


def test_windows_over_the_budget_are_listed(cli: Cli, tmp_path: Path, letters: Path) -> None:
    args = ("window", "-", "-o", tmp_path / "w.jsonl", "--words", 4, "--overlap", 0)
    done = cli(*args, "--tokenizer", letters, "--max-tokens", 12, stdin=b"d\taa bb cc dd eeeee eeeee ff")
    assert done.err.splitlines()[-3:] == [
        "note: tokens a window: min 10, 5 % 10, median 10, 95 % 14, max 14; 12 fit",
        "warning: 1 windows (50.000%) are over 12 tokens",
        "  d:0:1\t14",
    ]
    listed = tmp_path / "over.tsv"
    done = cli(
        *args, "--tokenizer", letters, "--max-tokens", 12, "--over-budget", listed, stdin=b"d\teeeee eeeee f"
    )
    assert listed.read_text() == "d:0:0\t13\n"
    assert "d:0:0" not in done.err


def test_a_long_list_is_cut_on_the_screen(cli: Cli, letters: Path) -> None:
    done = cli(
        "window",
        "-",
        "--words",
        1,
        "--tokenizer",
        letters,
        "--max-tokens",
        10,
        stdin=b"d\t" + b"ninechars " * 23,
    )
    assert done.err.splitlines()[-1] == "  … and 3 more: --over-budget FILE lists them all"


def test_split_over_budget_leaves_none(cli: Cli, tmp_path: Path, letters: Path) -> None:
    numbers = " ".join(f"{1000 + i},{i:03d},{i:03d}" for i in range(200))
    out = tmp_path / "w.jsonl"
    done = cli(
        "window", "-", "-o", out, "--words", 200, "--tokenizer", letters, "--max-tokens", 256, "--split-over-budget",
        stdin=f"d\t{numbers}".encode(),
    )  # fmt: skip
    windows = list(read_windows(str(out)))
    assert max(load_tokens(str(letters)).count([window.contents for window in windows])) <= 256
    assert all(numbers[window.char_start : window.char_end] == window.contents for window in windows)
    assert done.err.splitlines()[-2:] == [
        "note: 1 windows were over 256 tokens and were cut again",
        "note: no window is over 256 tokens",
    ]


def test_windows_of_tokens_and_uncut_units(cli: Cli, letters: Path) -> None:
    done = cli(
        "window", "-", "--tokens", 6, "--overlap", 2, "--tokenizer", letters, stdin=b"d\taa bb cc dd ee\n"
    )
    assert [json.loads(line)["contents"] for line in done.out.splitlines()] == ["aa bb cc", "cc dd ee"]
    done = cli("window", "-", "--uncut", stdin=f"d\t{words(1000)}".encode())
    assert [json.loads(line)["end"] for line in done.out.splitlines()] == [1000]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--words", "0"], "a window of 0 words or tokens cannot be"),
        (["--words", "-5"], "a window of -5 words or tokens cannot be"),
        (["--words", "10", "--overlap", "10"], "overlap 10 must be below the window size 10"),
        (["--overlap", "-1"], "an overlap of -1 cannot be"),
        (["--words", "10", "--uncut"], "--words, --tokens and --uncut exclude each other"),
        (["--uncut", "--overlap", "3"], "--overlap means nothing with --uncut"),
        (["--tokens", "10"], "--tokens needs --tokenizer MODEL"),
        (
            ["--max-tokens", "10"],
            "--max-tokens, --split-over-budget and --over-budget need --tokenizer MODEL",
        ),
        (["--split-over-budget"], "need --tokenizer MODEL"),
        (["-o", "-", "--facts", "-"], "'-' (stdout) is given for two outputs"),
    ],
)
def test_impossible_options(cli: Cli, tmp_path: Path, options: list[str], message: str) -> None:
    out = tmp_path / "w.jsonl"
    done = cli("window", "-", "-o", out, *options, stdin=b"d\ta b")
    assert done.code == 2
    assert message in done.err
    assert not out.exists()


def test_windows_are_not_written_among_the_documents(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b")
    done = cli("window", tmp_path, "-o", tmp_path / "windows.jsonl")
    assert done.code == 2
    assert "would lie among the documents" in done.err
    assert cli("window", tmp_path / "a.txt", "-o", tmp_path / "windows.jsonl").code == 0


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.html", None, ": no such file\n"),
        ("a.html", b"\x7fELF\0\1\2", ":1: is binary data, not a document; JSONL, TSV, TREC SGML, HTML or plain text"),
        ("a.pdf", b"%PDF-1.7\n", ":1: is PDF, not a document"),
        ("a.html", HALF, ":7: <html> is never closed: is the file cut short? (--lenient"),
        ("a.html", b"no tag at all", ": not HTML: it holds no tag"),
        ("a.jsonl", b'{"id": "1", "text": "a"}\n{"id": "2"}\n', ":2: no text: one of text, contents is needed\n"),
        ("a.jsonl", b'\n{"text": "b"}\n', ":2: no docno: one of id, _id, docno, docid is needed\n"),
        ("a.tsv", b"1\ta\n1\tb\n", ":2: docno 1 is given twice (first in "),
        ("a.html.gz", gzip.compress(FILING.encode(), mtime=0)[:100], ": broken gzip data"),
    ],
)  # fmt: skip
def test_bad_input(cli: Cli, tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    file, outputs = tmp_path / name, [tmp_path / "w.jsonl", tmp_path / "f.qrels", tmp_path / "l.jsonl"]
    if content is not None:
        file.write_bytes(content)
    done = cli("window", file, "-o", outputs[0], "--facts", outputs[1], "--fact-labels", outputs[2])
    assert done.code == 1
    assert done.err.startswith(f"hybridcli: {file}{message}")
    assert done.err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == ([file] if content is not None else [])


@pytest.mark.slow
def test_real_filings(cli: Cli, tmp_path: Path) -> None:
    filings, out = shared("data", "finder-sample", "filings"), tmp_path / "w.jsonl.gz"
    done = cli(
        "window", filings, "-o", out, "--carry-headings", "--tokenizer", "minilm", "--split-over-budget",
        "--facts", tmp_path / "facts",
    )  # fmt: skip
    assert done.code == 0, done.err
    windows = list(read_windows(str(out)))
    assert len({window.doc for window in windows}) == 19
    assert max(load_tokens("minilm").count([window.contents for window in windows])) <= 256
    assert len((tmp_path / "facts").read_text().splitlines()) > 10_000
    assert "no window is over 256 tokens" in done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("collection", "documents"),
    [("legalquad-german/docs.jsonl.gz", "4,142"), ("dutch-known-item/docs.jsonl.gz", "480"),
     ("xmtc-finnish/labels.jsonl.gz", "4,160")],
)  # fmt: skip
def test_real_collections(cli: Cli, tmp_path: Path, collection: str, documents: str) -> None:
    done = cli("window", shared("data", *collection.split("/")), "-o", tmp_path / "w.jsonl")
    assert done.code == 0
    assert done.err.startswith(f"note: {documents} documents, {documents} units (0 tables), ")
