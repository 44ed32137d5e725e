"""Filings to units: the two small cases whole, cutting, headings, captions, facts; real filings in the slow lane."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import subprocess
import unicodedata
from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from hybridcli.errors import DataError
from hybridcli.records import Unit
from hybridcli.text.filings import parse_filing
from tests.support import shared

FILING = """<?xml version="1.0" encoding="UTF-8"?>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/2013/inlineXBRL">
<head><title>acme-20991231</title><style>p{margin:0}</style><script>var x="SCRIPTTEXT";</script></head>
<body>
<div style="display:none"><ix:header><ix:hidden><ix:nonNumeric name="dei:EntityCentralIndexKey">0009999999
</ix:nonNumeric></ix:hidden><ix:resources><xbrli:context id="c0">HIDDENCTX</xbrli:context></ix:resources>
</ix:header></div>
<p>Item&#160;1A.<span style="font-weight:bold">&#160;Risk </span><span>Fac</span><span>tors</span></p>
<p>For the year ended <ix:nonNumeric name="dei:DocumentPeriodEndDate">December&#160;31, <ix:nonNumeric
name="dei:DocumentFiscalYearFocus">2099</ix:nonNumeric></ix:nonNumeric>, Acme sold <ix:nonFraction name="x:Units"
scale="3">1,234</ix:nonFraction> thousand widgets.</p>
<p><ix:nonNumeric name="x:Policy" continuedAt="k1">Alpha policy starts here</ix:nonNumeric><ix:exclude> Page 7 of 99
</ix:exclude></p>
<p style="display: none;">INVISIBLE PARAGRAPH</p>
<p><ix:continuation id="k1">and ends here.</ix:continuation></p>
<p>R&amp;D rose 5&#8239;% &#8212; see&#160;Note&#8197;2.</p>
</body></html>"""

TABLE = b"""<html><head><meta charset="windows-1252"></head><body>
<p><b>Consolidated results</b></p>
<p>(in millions, except per share)</p>
<table>
<tr><td colspan="3"></td><td colspan="3">2099</td><td></td><td colspan="3">2098</td></tr>
<tr><td colspan="3">Net sales</td><td>$</td><td>1,234</td><td></td><td></td><td>$</td><td>987</td><td></td></tr>
<tr><td colspan="3">Operating loss</td><td></td><td>(56</td><td>)</td><td></td><td></td><td>(7.5</td><td>)</td></tr>
<tr><td colspan="3">Margin</td><td></td><td>(4.5</td><td>)%</td><td></td><td></td><td>&#8212;</td><td>%</td></tr>
<tr><td colspan="3">Net sales</td><td>$</td><td>1,234</td><td></td><td></td><td>$</td><td>987</td><td></td></tr>
</table>
<p>Gross margin was 38.2 per cent\x97up from 36.0.</p>
</body></html>"""

ROWS = "<table><tr><td></td><td>2099</td></tr><tr><td>Sales</td><td>$</td><td>5</td></tr></table>"
PROSE = "The company has sold widgets to many customers in several countries for a number of years now. "


def units(body: str) -> list[Unit]:
    return parse_filing(f"<html><body>{body}</body></html>".encode(), "D")


def test_inline_xbrl_as_a_reader_sees_it() -> None:
    (unit,) = parse_filing(FILING.encode(), "ACME")
    assert (unit.doc, unit.unit, unit.kind, unit.heading) == ("ACME", 0, "text", "Item 1A. Risk Factors")
    assert unit.text.split("\n") == [
        "Item 1A. Risk Factors",
        "For the year ended December 31, 2099, Acme sold 1,234 thousand widgets.",
        "Alpha policy starts here Page 7 of 99",
        "and ends here.",
        "R&D rose 5 % — see Note 2.",
    ]
    assert [(unit.text[start:end], concept) for start, end, concept in unit.facts] == [
        ("December 31, 2099", "dei:DocumentPeriodEndDate"),
        ("2099", "dei:DocumentFiscalYearFocus"),
        ("1,234", "x:Units"),
        ("Alpha policy starts here", "x:Policy"),
        ("and ends here.", "x:Policy"),
    ]


def test_a_table_with_its_title_and_split_numbers() -> None:
    table, text = parse_filing(TABLE, "ACME")
    assert table.text.split("\n") == [
        "Consolidated results",
        "(in millions, except per share)",
        "2099\t2098",
        "Net sales\t$1,234\t$987",
        "Operating loss\t(56)\t(7.5)",
        "Margin\t(4.5)%\t— %",
        "Net sales\t$1,234\t$987",
    ]
    assert (table.kind, table.heading, table.header_rows) == ("table", "Consolidated results", 3)
    assert (text.kind, text.text) == ("text", "Gross margin was 38.2 per cent—up from 36.0.")
    assert (text.unit, text.heading) == (1, "Consolidated results")


def test_a_file_cut_anywhere_gives_what_is_there() -> None:
    whole = FILING.encode()
    words = set(" ".join(unit.text for unit in parse_filing(whole, "D")).split())
    for end in range(len(whole)):
        try:
            got = parse_filing(whole[:end], "D")
        except DataError:
            assert b"<html" not in whole[:end]
            continue
        lines = "\n".join(unit.text for unit in got).split()
        assert set(lines[:-1]) <= words, end


def test_paragraphs_between_tables_and_section_headings_are_one_unit() -> None:
    body = f"<p>Item 1. Business</p><p>{PROSE * 3}</p><p>{PROSE}</p>{ROWS}<p>{PROSE}</p><p>{PROSE}</p>"
    body += f"<h2>Item 2. Properties</h2><p>{PROSE * 2}</p>"
    first, table, middle, last = units(body)
    assert first.text.startswith("Item 1. Business\nThe company")
    assert first.text.count("\n") == 2
    assert table.text == "2099\nSales\t$5"
    assert middle.text.count("\n") == 1
    assert last.text.startswith("Item 2. Properties\n")
    assert [unit.heading for unit in (first, table, middle, last)] == ["Item 1. Business"] * 3 + [
        "Item 2. Properties"
    ]
    assert [unit.unit for unit in (first, table, middle, last)] == [0, 1, 2, 3]


def test_a_heading_within_a_section_does_not_cut_but_names_what_follows() -> None:
    text, table = units(
        f"<p>Item 1. Business</p><p>{PROSE * 3}</p><p><b>Sales by Year</b></p><p>{PROSE * 3}</p>{ROWS}"
    )
    assert "\nSales by Year\n" in text.text
    assert (text.heading, table.heading) == ("Item 1. Business", "Sales by Year")


def test_a_tiny_section_joins_the_next_and_a_running_header_does_not_cut() -> None:
    body = f"<p>Item 3. Pledges</p><p>None.</p><p>Item 4. Mines</p><p>{PROSE * 4}</p>"
    (unit,) = units(f"{body}<p>ITEM 4. MINES (continued)</p><p>{PROSE}</p>")
    assert unit.text.startswith("Item 3. Pledges\nNone.\nItem 4. Mines\n")


def test_page_furniture_stays_but_neither_cuts_nor_heads() -> None:
    page = f"<p>{PROSE * 2}</p><p>%d</p><hr style='page-break-after:always'/><p><b>Acme 10-K</b></p>"
    first, table = units("<p>Part I</p>" + "".join(page % number for number in range(6)) + ROWS)
    assert first.text.count("Acme 10-K") == 6
    assert table.text == "2099\nSales\t$5"
    assert table.heading == "Part I"


def test_a_page_number_between_a_table_and_the_next_section_stays_with_the_table() -> None:
    page = f"<p>Item %d. %s</p>{ROWS}<p>%d</p><hr style='page-break-after:always'/>"
    names = ["Sales", "Costs", "Taxes", "Debts", "Loans"]
    parsed = units("".join(page % (number, name, number) for number, name in enumerate(names, start=1)))
    assert [unit.text for unit in parsed] == [
        f"Item {number}. {name}\n2099\nSales\t$5\n{number}" for number, name in enumerate(names, start=1)
    ]
    assert [unit.heading for unit in parsed] == [
        f"Item {number}. {name}" for number, name in enumerate(names, start=1)
    ]


def test_a_page_header_that_is_a_title_goes_with_the_statement_below_it() -> None:
    page = f"<p>{PROSE}</p><p>%d</p><hr style='page-break-after:always'/><p><b>Acme Corporation</b></p>"
    pages = "".join(page % number for number in range(5))
    text, table = units(f"{pages}<p><b>Balance Sheets</b></p><p>(in millions)</p>{ROWS}")
    assert text.text.endswith("\n4")
    assert table.text.startswith("Acme Corporation\nBalance Sheets\n(in millions)\n2099\n")
    assert (table.heading, table.header_rows) == ("Balance Sheets", 4)


def test_the_titles_of_a_table_and_its_footnotes_go_with_it() -> None:
    body = f"<p>{PROSE * 4}</p><p>Sales were as follows:</p><p>(in millions)</p>{ROWS}<p>(1) Without tax.</p>"
    assert [unit.kind for unit in units(f"{body}<p>{PROSE}</p>")] == ["text", "table", "text"]
    text, table = units(body)
    assert table.text == "(in millions)\n2099\nSales\t$5\n(1) Without tax."
    assert table.header_rows == 2
    assert text.text == (PROSE * 4).strip() + "\nSales were as follows:"


def test_small_tables_side_by_side_are_one_unit_and_large_ones_are_not() -> None:
    (unit,) = units(ROWS + ROWS)
    assert unit.text == "2099\nSales\t$5\n2099\nSales\t$5"
    large = "<table>" + "<tr><td>Sales of widgets</td><td>5</td></tr>" * 40 + "</table>"
    assert len(units(large + large)) == 2


def test_facts_stand_where_they_are_printed() -> None:
    five, seven = (f"<ix:nonFraction name='a:{n}'>{n}</ix:nonFraction>" for n in (5, 7))
    row = f"<tr><td>Sales<td>$<td>{five}<td>({seven}<td>)"
    wrap = "<ix:nonNumeric name='a:Wrap'><b> all </b></ix:nonNumeric>of it."
    body = f"<ix:nonNumeric name='a:Block'><p>{PROSE}</p><table>{row}{row}</table></ix:nonNumeric>"
    body += f"<p><ix:nonNumeric name='a:Empty'> </ix:nonNumeric>{wrap}</p>"
    text, table = units(body)
    assert text.facts == ()
    facts = [(table.text[start:end], concept) for start, end, concept in table.facts]
    assert facts == [("5", "a:5"), ("7", "a:7"), ("5", "a:5"), ("7", "a:7"), ("all", "a:Wrap")]
    assert table.text.split("\n")[0] == "Sales\t$5\t(7)"


def test_no_text_no_units() -> None:
    assert parse_filing(b"<html><body><p> &#160; </p></body></html>", "D") == []


# --- real filings -------------------------------------------------------------------------------------------------


def filings() -> dict[str, bytes]:
    folder = shared("data", "finder-sample", "filings")
    return {
        path.name.split(".")[0]: gzip.decompress(path.read_bytes())
        for path in sorted(folder.glob("*.html.gz"))
    }


def letters(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())


@pytest.mark.slow
def test_windows_of_real_filings_are_full_and_references_stand_in_them() -> None:
    texts: dict[str, str] = {}
    sizes: list[int] = []
    for doc, data in filings().items():
        parsed = parse_filing(data, doc)
        texts[doc] = letters("".join(unit.text for unit in parsed))
        for unit in parsed:
            left = len(unit.text.split())
            while left > 160:
                sizes.append(160)
                left -= 128
            sizes.append(left)
            for start, end, concept in unit.facts:
                assert unit.text[start:end].strip() == unit.text[start:end] != "", concept
    assert median(sizes) >= 140
    assert 250 <= len(sizes) / len(texts) <= 800
    lines = shared("data", "finder-sample", "queries.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["doc"]]
    found = [letters(reference) in texts[row["doc"]] for row in rows for reference in row["references"]]
    starts = [letters(reference)[:60] in texts[row["doc"]] for row in rows for reference in row["references"]]
    assert (len(found), sum(found), sum(starts)) == (68, 62, 68)


SCRIPT = """<script>var seen = document.body.innerText;
document.documentElement.innerHTML = "<body></body>";
document.body.textContent = "{" + btoa(unescape(encodeURIComponent(seen))) + "}";</script></body>"""


def inner_text(browser: str, data: bytes, folder: Path) -> str:
    """What Chromium gives as ``document.body.innerText``."""
    page = folder / "page.html"
    head, _, tail = data.decode("utf-8").rpartition("</body>")
    page.write_text(head + SCRIPT + tail, "utf-8")
    options = (
        "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"
    )
    command = [
        browser,
        *options.split(),
        "--disable-component-update",
        f"--user-data-dir={folder / 'profile'}",
    ]
    dump = [*command, "--virtual-time-budget=20000", "--dump-dom", page.as_uri()]
    out = subprocess.run(dump, capture_output=True, check=True, timeout=120).stdout.decode("utf-8")
    found = re.search(r"\{([A-Za-z0-9+/=]*)\}", out)
    assert found is not None
    return base64.b64decode(found[1]).decode("utf-8")


def comparable(text: str) -> Counter[str]:
    """Words, where the marks that we join to a number from the cells beside it stand alone on both sides."""
    return Counter(re.sub(r"([$€£¥()%])", r" \1 ", text).split())


@pytest.mark.slow
@pytest.mark.parametrize("doc", ["AAPL", "INTC", "WMT"])
def test_a_browser_sees_the_same_words(doc: str, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("chromium is not installed (apt-get install chromium): nothing to compare with")
    data = filings()[doc]
    ours = "\n".join(unit.text for unit in parse_filing(data, doc))
    theirs = re.sub("[\u00ad\u200b\u2060\ufeff]", "", inner_text(browser, data, tmp_path))
    assert "".join(ours.split()) == "".join(theirs.split())
    mine, browsers = comparable(ours), comparable(theirs)
    shared_words = (mine & browsers).total()
    assert shared_words >= 0.999 * mine.total()
    assert shared_words >= 0.999 * browsers.total()
