"""``map-labels`` from files to files: every output, the audit by hand, and what is refused."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from hybridcli.formats.windows import write_windows
from hybridcli.records import Unit
from hybridcli.text.cutting import cut
from tests.support import Result, shared

Cli = Callable[..., Result]

# curly quotes, a ligature, a no-break blank, a line break inside a sentence, one sentence twice
TEXT = (
    "The   company’s net revenue\nwas $ 5.2 million in 2098 .\u00a0It rose to $5.9 million in 2099. "
    "Management expects the ﬁrst quarter to be\nslow. The company's net revenue was $ 5.2 million in 2098. "
    "End of report."
)
ROWS = [
    {"qid": "q1", "doc": "doc", "evidence": "The company's net revenue was $ 5.2 million in 2098."},
    {"qid": "q2", "doc": "doc", "evidence": "expects the first quarter to be slow."},
    {"qid": "q3", "doc": "doc", "evidence": "Operating income fell to $1.1 million."},
    {"qid": "q4", "doc": "doc", "evidence": "the"},
    {"qid": "q5", "doc": "doc", "evidence": ""},
]


def write_lines(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def map_labels(cli: Cli, options: str = "") -> Result:
    """Map refs.jsonl to w.jsonl, with the windows' qrels in w.qrels."""
    return cli("map-labels", "refs.jsonl", "w.jsonl", "--qrels", "w.qrels", *options.split())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small document in windows of 10 words with 4 of overlap, and its references."""
    monkeypatch.chdir(tmp_path)
    write_windows(cut(Unit("doc", 0, "text", TEXT), size=10, overlap=4), "w.jsonl")
    write_lines(tmp_path / "refs.jsonl", ROWS)
    return tmp_path


def test_quotes_ligatures_blanks_two_occurrences_absent_and_trivial_evidence(cli: Cli, place: Path) -> None:
    result = map_labels(
        cli,
        "--reference-qrels r.qrels --provenance p.jsonl --unresolved u.tsv --excluded x.txt --literal l.txt "
        "--groups g.tsv --categories c.tsv --audit 2,20",
    )
    assert result.code == 0, result.err
    assert result.out == ""
    # both copies of q1 are labelled; a window that overlaps a copy is relevant, and none stands twice
    assert (place / "w.qrels").read_text() == "".join(
        f"{qid} 0 doc:0:{n} 1\n"
        for qid, numbers in (("q1", (0, 1, 3, 4, 5)), ("q2", (2, 3, 4)))
        for n in numbers
    )
    assert (place / "r.qrels").read_text() == (place / "w.qrels").read_text().replace(" 0 doc", " r1 doc")
    rows = [json.loads(line) for line in (place / "p.jsonl").read_text().splitlines()]
    # words of both copies: 0-10 (with the full stop that stands alone) and 26-35
    assert [(at["start"], at["end"], at["similarity"]) for at in rows[0]["places"]] == [
        (0, 11, 1.0),
        (26, 36, 1.0),
    ]
    assert rows[0]["places"][0]["covered"] == [1.0, 0.4]  # of 40 letters and digits
    assert [(at["start"], at["end"]) for at in rows[1]["places"]] == [(19, 26)]
    assert [(row["status"], row["reason"]) for row in rows[2:]] == [
        ("unresolved", "not-found"),
        ("unresolved", "too-short"),
        ("unresolved", "empty"),
    ]
    assert (place / "u.tsv").read_text().splitlines()[1:] == [
        "q3\tr1\tnot-found\twholly",
        "q4\tr1\ttoo-short\twholly",
        "q5\tr1\tempty\twholly",
    ]
    assert (place / "x.txt").read_text().split() == ["q3", "q4", "q5"]
    assert (place / "l.txt").read_text().split() == ["q1", "q2"]
    assert (place / "g.tsv").read_text() == "".join(f"q{n}\tdoc\n" for n in range(1, 6))
    assert (place / "c.tsv").read_text().startswith("q1\t-\n")
    said = " ".join(result.err.split())
    assert "references resolved 2 of 5 40.0 %" in said
    assert "unresolved by reason: not-found 1, too-short 1, empty 1" in said
    # the earliest words: 0 of q1, 19 of q2
    assert "pairs beginning at or beyond word 2 1 of 2 50.0 %" in said
    assert "pairs beginning at or beyond word 20 0 of 2 0.0 %" in said


def test_topics_need_texts(cli: Cli, place: Path) -> None:
    result = map_labels(cli, "--topics t.tsv")
    assert (result.code, result.err) == (
        1,
        "hybridcli: refs.jsonl: query q1 has no text, which --topics needs\n",
    )
    assert not (place / "w.qrels").exists()
    write_lines(place / "refs.jsonl", [row | {"text": f"what  of\t{row['qid']}?"} for row in ROWS])
    assert map_labels(cli, "--topics t.tsv").code == 0
    assert (place / "t.tsv").read_text() == "".join(f"q{n}\twhat of q{n}?\n" for n in range(1, 6))


def test_strict_names_the_unresolved_and_writes_nothing(cli: Cli, place: Path) -> None:
    result = map_labels(cli, "--strict")
    assert result.code == 1
    assert result.err == (
        "hybridcli: refs.jsonl: unresolved references: 3: q3 r1 (not-found), q4 r1 (too-short), q5 r1 (empty)\n"
    )
    assert not (place / "w.qrels").exists()


def test_windows_of_another_corpus(cli: Cli, place: Path) -> None:
    write_lines(
        place / "refs.jsonl", [{"qid": "q", "doc": "AAPL", "references": ["Net sales rose by five percent."]}]
    )
    result = map_labels(cli)
    assert result.code == 1
    assert result.err == (
        "hybridcli: w.jsonl: none of the documents that refs.jsonl names is here (AAPL); "
        "are these windows of another corpus?\n"
    )
    assert not (place / "w.qrels").exists()
    assert map_labels(cli, "--anywhere").code == 0


def test_one_missing_document_is_a_warning(cli: Cli, place: Path) -> None:
    write_lines(
        place / "refs.jsonl",
        [*ROWS, {"qid": "q6", "doc": "MSFT", "evidence": "Net sales rose by five percent"}],
    )
    result = map_labels(cli)
    assert result.code == 0
    assert "warning: documents that queries name and that have no windows: 1: MSFT\n" in result.err


def test_windows_that_stand_apart(cli: Cli, place: Path) -> None:
    lines = (place / "w.jsonl").read_text().splitlines(keepends=True)
    other = [line.replace("doc:0", "b:0").replace('"doc": "doc"', '"doc": "b"') for line in lines[:1]]
    (place / "w.jsonl").write_text("".join([lines[0], *other, *lines[1:]]))
    result = map_labels(cli)
    assert result.code == 1
    assert result.err == (
        "hybridcli: w.jsonl:3: windows of document doc stand apart; give every window once, a document's together "
        "and in reading order\n"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--audit 256;512", "--audit takes words such as 256,512, found '256;512'"),
        ("--audit-sample 3", "--audit-sample N and --sheet FILE go together"),
        ("--sheet s.tsv", "--audit-sample N and --sheet FILE go together"),
        ("--doc-groups - --audited -", "'-' (stdin) is given twice; it can be read once only"),
    ],
)
def test_usage(cli: Cli, place: Path, options: str, message: str) -> None:
    result = map_labels(cli, options)
    assert (result.code, result.err) == (2, f"hybridcli: {message}\n")
    assert not (place / "w.qrels").exists()


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """40 queries in two categories, each with its own sentence in one of four documents."""
    monkeypatch.chdir(tmp_path)
    words = random.Random(7).choices([a + b + c for a in "bdgkmpt" for b in "aeiou" for c in "lnrs"], k=480)
    sentences = [" ".join(words[12 * n : 12 * n + 12]) for n in range(40)]
    units = [Unit(f"D{d}", 0, "text", " ".join(sentences[10 * d : 10 * d + 10])) for d in range(4)]
    write_windows((window for unit in units for window in cut(unit, size=16, overlap=4)), "w.jsonl")
    write_lines(
        tmp_path / "refs.jsonl",
        [
            {"qid": f"q{n}", "text": f"query {n}", "references": [text], "doc": f"D{n // 10}"}
            | {"category": "Risk" if n % 4 == 0 else "Legal"}
            for n, text in enumerate(sentences)
        ],
    )
    return tmp_path


def judge(path: Path, wrong: int) -> list[str]:
    """Fill in a sheet: the first few lines wrong, the others right; gives the qids judged wrong."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    for number, row in enumerate(rows[1:]):
        row[0] = "wrong" if number < wrong else "right"
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return [row[2] for row in rows[1 : wrong + 1]]


def test_sample_judge_and_correct(cli: Cli, corpus: Path) -> None:
    result = map_labels(cli, "--audit-sample 12 --seed 5 --sheet s.tsv")
    assert result.code == 0, result.err
    assert "note: 12 references to judge: write right or wrong into the first column of s.tsv\n" in result.err
    first = (corpus / "s.tsv").read_bytes()
    assert map_labels(cli, "--audit-sample 12 --seed 5 --sheet s.tsv").code == 0
    assert (corpus / "s.tsv").read_bytes() == first
    assert first.count(b"\n") == 13
    assert first.count(b"Risk/literal/text\t10\t") == 3
    assert first.count(b"Legal/literal/text\t30\t") == 9

    before = (corpus / "w.qrels").read_text()
    wrong = judge(corpus / "s.tsv", 2)
    result = map_labels(cli, "--audited s.tsv --unresolved u.tsv --excluded x.txt")
    assert result.code == 0, result.err
    assert "note: references judged: 12; wrong and left out of the qrels: 2\n" in result.err
    assert "all" in result.err
    (line,) = [line for line in result.err.splitlines() if line.startswith("all ")]
    assert line.split()[:4] == ["all", "40", "12", "10"]
    assert (corpus / "w.qrels").read_text() == "".join(
        line for line in before.splitlines(keepends=True) if line.split()[0] not in wrong
    )
    assert (corpus / "x.txt").read_text().split() == wrong
    assert (corpus / "u.tsv").read_text().count("judged-wrong\twholly") == 2


def test_a_sheet_of_another_mapping(cli: Cli, corpus: Path) -> None:
    assert map_labels(cli, "--audit-sample 4 --sheet s.tsv").code == 0
    lines = (corpus / "s.tsv").read_text().splitlines(keepends=True)
    (corpus / "s.tsv").write_text("".join([*lines[:2], lines[2].replace(":0:", ":7:"), *lines[3:]]))
    (corpus / "w.qrels").unlink()
    result = map_labels(cli, "--audited s.tsv")
    assert result.code == 1
    assert result.err.startswith("hybridcli: s.tsv:3: query q")
    assert (
        "has other windows now; the sheet was drawn from other references, windows or options" in result.err
    )
    assert not (corpus / "w.qrels").exists()


def test_too_small_a_sample(cli: Cli, corpus: Path) -> None:
    result = map_labels(cli, "--audit-sample 1 --sheet s.tsv")
    assert (result.code, result.err) == (
        2,
        "hybridcli: the 2 strata need a sample of at least 2, not 1\n",
    )
    assert not (corpus / "s.tsv").exists()
    assert not (corpus / "w.qrels").exists()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_real_filings(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filings, queries = (
        shared("data", "finder-sample", "filings"),
        shared("data", "finder-sample", "queries.jsonl"),
    )
    monkeypatch.chdir(tmp_path)
    assert cli("window", filings, "-o", "w.jsonl").code == 0
    known = {
        row["_id"]: row["doc"] for row in map(json.loads, queries.read_text(encoding="utf-8").splitlines())
    }
    foreign = {qid for qid, doc in known.items() if doc is None}
    assert len(foreign) == 8
    for anywhere in ([], ["--anywhere"]):  # with the filing named, and looking in all 19
        outputs = ["--qrels", "w.qrels", "--provenance", "p.jsonl", "--excluded", "x.txt"]
        result = cli("map-labels", queries, "w.jsonl", *outputs, *anywhere)
        assert result.code == 0, result.err
        rows = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text(encoding="utf-8").splitlines()]
        native = [row for row in rows if row["qid"] not in foreign]
        resolved = [row for row in native if row["status"] == "resolved"]
        assert (len(native), len(resolved) >= 67) == (68, True)
        assert sum(row["similarity"] == 1.0 for row in resolved) >= 62
        for row in resolved:
            assert {window.split(":")[0] for window in row["windows"]} == {known[row["qid"]]}
            assert row["overlap"] > 0.95
        assert set((tmp_path / "x.txt").read_text().split()) >= foreign
        assert all(row["windows"] == [] for row in rows if row["qid"] in foreign)
    # the study's way finds less of it, and less than half of many statements
    result = cli("map-labels", queries, "w.jsonl", "--qrels", "u.qrels", "--scope", "unit")
    title_only = next(line for line in result.err.splitlines() if line.startswith("title-only"))
    assert int(title_only.split()[-5]) >= 9  # measured: 9, since a table unit holds its own title


def test_groups_of_documents_that_are_not_here(cli: Cli, place: Path) -> None:
    for content, shown in (("other\tACME\n", "other"), ("", "no line")):
        (place / "g.tsv").write_text(content)
        result = map_labels(cli, "--doc-groups g.tsv")
        assert result.code == 1
        assert result.err.startswith(
            f"hybridcli: --doc-groups names no document of the windows: it has {shown}, they have doc; "
        )
        assert not (place / "w.qrels").exists()
    assert map_labels(cli, "--doc-groups g.tsv --anywhere").code == 0
    (place / "g.tsv").write_text("other\tACME\ndoc\tACME\n")
    assert map_labels(cli, "--doc-groups g.tsv").code == 0
