"""The demo collection: what the maker writes, whole XHTML, every construct of real filings, valid rows."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from lxml import etree

from hybridcli.text.filings import parse_filing
from tests.support import ROOT, Result

FIXTURES = ROOT / "fixtures"
FILINGS = sorted((FIXTURES / "filings").glob("*.html"))
CATEGORIES = {
    "Accounting",
    "Company overview",
    "Financials",
    "Footnotes",
    "Governance",
    "Legal",
    "Risk",
    "Shareholder return",
}
IX = "{http://www.xbrl.org/2013/inlineXBRL}"

CONSTRUCTS = {
    "an XML declaration": r"^<\?xml version='1\.0' encoding='",
    "windows-1252": r"^<\?xml version='1\.0' encoding='windows-1252'",
    "hidden facts in the header": r"<ix:header><ix:hidden><ix:nonNumeric",
    "contexts and units": r"<xbrli:context id=.*<xbrli:unit id=",
    "a nested fact": r"<ix:nonFraction[^>]*>[^<]*</ix:nonFraction>[^<]*</ix:nonNumeric>",
    "a chain of continuations": r'<ix:continuation id="(f-\d+)-1" continuedAt="\1-2">',
    "a page's foot excluded from a text block": r"<ix:exclude><(div|table)",
    "a hidden duplicate": r'<span style="display:none">',
    "a hidden block": r'<div style="display:none">(?!<ix:header)',
    "a cell over several columns": r'<td colspan="3"',
    "currency in a cell of its own": r"<td[^>]*>(<[^>]*>)*\$(<[^>]*>)*</td><td",
    "a parenthesis in a cell of its own": r"<td[^>]*>(<[^>]*>)*\)(<[^>]*>)*</td>",
    "a per cent with its parenthesis": r"<td[^>]*>(<[^>]*>)*\)%(<[^>]*>)*</td>",
    "a negative fact": r'<ix:nonFraction sign="-"',
    "a dash for nothing": r"<td[^>]*>(<[^>]*>)*(—|&#8212;)(<[^>]*>)*</td>",
    "a spacer cell": r"<td>&#160;</td>",
    "an empty cell": r"<td></td>",
    "a heading in a table": r"<td[^>]*><b>Item(\u00a0|&#160;)1A\.</b></td><td><b>Risk Factors</b></td>",
    "a heading row inside a table": r'<td colspan="\d+"[^>]*>(<[^>]*>)*ASSETS',
    "a title and a unit before a table": r">\(In millions, except per share amounts\)<",
    "a no-break space": r"\d\u00a0million",
    "a no-break space as a reference": r"\d&#160;million",
    "a thin space": r"Note\u2009\d",
    "a no-break hyphen": r"\d\u2011year",
    "a word split over spans": r'<span style="color:#222222">[A-Z]\w{0,2}</span><span>\w',
    "a page number in a positioned box": r'position:absolute"><div style="text-align:center"><span[^>]*>\d+',
    "a page's foot as a table": r"Form 10-K</td><td[^>]*>\d+</td></tr></table><hr/>",
    "a table of contents with links": r'<a href="#s\d+">Item 1A</a>',
    "a list of bullets as text": r'<span>(•|&#8226;)</span><span style="padding-left',
    "a list of bullets as tables": r"<td style=\"width:18pt\">•</td><td><p>",
    "a list of bullets as a list": r"<ul><li>",
    "curly quotes": r"“\w.*”",
    "a line break in a paragraph": r" of <font>the</font><br/>",
}


@cache
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fixtures_make", FIXTURES / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def text_of(path: Path) -> str:
    data = path.read_bytes()
    declared = re.match(rb"<\?xml version='1\.0' encoding='([\w-]+)'", data)
    assert declared is not None
    return data.decode(declared.group(1).decode())


@cache
def queries() -> list[dict[str, object]]:
    return [
        json.loads(line) for line in (FIXTURES / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def test_the_files_are_what_the_maker_writes(tmp_path: Path) -> None:
    maker().make(tmp_path)
    made = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    names = [*FILINGS, FIXTURES / "queries.jsonl", FIXTURES / "sectors.tsv"]
    kept = {path.relative_to(FIXTURES): path.read_bytes() for path in names}
    assert made.keys() == kept.keys()
    assert [name for name in made if made[name] != kept[name]] == []
    assert sum(map(len, kept.values())) < 4_000_000


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_some_filing_has(construct: str) -> None:
    pattern = re.compile(CONSTRUCTS[construct], re.DOTALL)
    assert any(pattern.search(text_of(path)) for path in FILINGS)


@pytest.mark.parametrize("path", FILINGS, ids=lambda path: path.stem)
def test_a_filing_is_whole_xhtml_whose_facts_have_contexts_and_units(path: Path) -> None:
    root = etree.fromstring(path.read_bytes())
    assert "invented" in text_of(path)[:200]
    named = {element.get("id") for element in root.iter() if element.get("id")}
    assert len(named) == sum(1 for element in root.iter() if element.get("id"))
    facts = [*root.iter(f"{IX}nonFraction"), *root.iter(f"{IX}nonNumeric")]
    assert len(facts) > 100
    for fact in facts:
        assert fact.get("contextRef") in named
        assert fact.get("unitRef", "usd") in named
    for link in [*root.iter(f"{IX}continuation"), *root.iter(f"{IX}nonNumeric")]:
        assert link.get("continuedAt") is None or link.get("continuedAt") in named
    assert "{" not in "".join(root.itertext())
    assert "@" not in "".join(root.itertext())


def test_the_filings_hold_a_long_tail_of_concepts() -> None:
    found = Counter[str]()
    for path in FILINGS:
        found.update(
            {concept for unit in parse_filing(path.read_bytes(), path.stem) for _, _, concept in unit.facts}
        )
    assert len(found) >= 250
    assert sum(count == len(FILINGS) for count in found.values()) >= 20
    assert sum(count <= 2 for count in found.values()) > 0.7 * len(found)


def test_the_questions_are_rows_as_finder_has_them() -> None:
    rows = queries()
    tickers = {path.stem for path in FILINGS}
    assert len(tickers) >= 16
    assert len(rows) >= 96
    keys = ["_id", "text", "category", "type", "references", "ticker", "doc"]
    assert all(list(row) == keys for row in rows)
    assert len({row["_id"] for row in rows}) == len(rows)
    assert all(re.fullmatch("[0-9a-f]{8}", str(row["_id"])) for row in rows)
    assert all(row["doc"] is None or (row["doc"] in tickers and row["doc"] == row["ticker"]) for row in rows)
    assert {row["doc"] for row in rows} >= tickers
    assert Counter(str(row["category"]) for row in rows).keys() == CATEGORIES
    assert min(Counter(str(row["category"]) for row in rows).values()) >= 12
    assert max(len(str(row["text"]).split()) for row in rows) <= 20


def test_every_sector_has_questions() -> None:
    rows = [line.split("\t") for line in (FIXTURES / "sectors.tsv").read_text(encoding="utf-8").splitlines()]
    assert {qid for qid, _ in rows} == {row["_id"] for row in queries() if row["doc"]}
    counts = Counter(sector for _, sector in rows)
    assert len(counts) == 6
    assert min(counts.values()) >= 16


def test_all_evidence_is_found_but_what_was_planted(cli: Callable[..., Result], tmp_path: Path) -> None:
    windows, provenance = tmp_path / "w.jsonl", tmp_path / "p.jsonl"
    assert cli("window", FIXTURES / "filings", "-o", windows).code == 0
    assert 700 <= len(windows.read_bytes().splitlines()) <= 1000
    options = ["--qrels", tmp_path / "q", "--provenance", provenance]
    assert cli("map-labels", FIXTURES / "queries.jsonl", windows, *options).code == 0
    rows = [json.loads(line) for line in provenance.read_text(encoding="utf-8").splitlines()]
    texts = {row["_id"]: row["references"] for row in queries()}
    lost = [row for row in rows if row["status"] != "resolved"]
    lines = (FIXTURES / "content" / "questions.txt").read_text(encoding="utf-8").splitlines()
    planted = [
        line.strip()[1:].replace("\\n", "\n").replace("\\t", "\t") for line in lines if line.startswith('  "')
    ]
    assert sorted(texts[row["qid"]][int(row["reference"][1:]) - 1] for row in lost) == sorted(planted)
    assert 0.06 <= len(lost) / len(rows) <= 0.08
    assert {row["reason"] for row in lost} >= {"not-found", "empty", "too-short"}
    docs = {row["_id"]: row["doc"] for row in queries()}
    assert all(row["doc"] == docs[row["qid"]] for row in rows if row["status"] == "resolved")
