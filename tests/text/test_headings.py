"""Which lines are headings, and what comes back on every page."""

from __future__ import annotations

import pytest

from hybridcli.text.headings import NONE, PLAIN, SECTION, furniture, heading_name, heading_rank


@pytest.mark.parametrize(
    ("line", "bold", "lonely", "rank"),
    [
        ("PART II", False, False, SECTION),
        ("Item 1A. Risk Factors", False, False, SECTION),
        ("Item 1.Business", True, False, SECTION),
        ("ITEM 7 MANAGEMENT’S DISCUSSION", False, False, SECTION),
        ("Note 3 – Earnings Per Share", False, False, SECTION),
        ("Note 3", False, False, SECTION),
        ("NOTE 12. DEBT", True, False, SECTION),
        ("4. Income taxes", True, False, SECTION),
        ("4. Income taxes", False, True, SECTION),
        ("4. Income taxes", False, False, NONE),
        ("A. SUMMARY OF POLICIES", True, False, SECTION),
        ("Note 3 to the financial statements says more", False, False, NONE),
        ("Item 1A describes them in full.", False, False, NONE),
        ("Part of the increase is due to prices", False, False, NONE),
        ("Liquidity and Capital Resources", True, False, PLAIN),
        ("CONSOLIDATED BALANCE SHEETS", False, False, PLAIN),
        ("Commercial Paper", False, True, PLAIN),
        ("Commercial Paper", False, False, NONE),
        ("We sold more.", False, True, NONE),
        ("As of May 31, 2024", True, False, NONE),
        ("Years ended May 31,", True, False, NONE),
        ("(in millions)", True, False, NONE),
        ("Yes ☒ No ☐", True, False, NONE),
        ("Table of Contents", True, False, NONE),
        ("42", True, False, NONE),
        ("—", True, False, NONE),
        ("word " * 30 + "end", True, True, NONE),
    ],
)
def test_rank(line: str, bold: bool, lonely: bool, rank: int) -> None:
    assert heading_rank(line, bold, lonely) == rank


def test_name_of_a_heading_that_is_printed_again() -> None:
    assert heading_name("Note 3 – Debt (Continued)") == "Note 3 – Debt"
    assert heading_name("Note 3 – Debt, continued") == "Note 3 – Debt,"
    assert heading_name("Continued") == "Continued"


def test_furniture_comes_back_around_page_breaks() -> None:
    pages = [
        ["Acme Corp", *(f"{letter} is line {row}" for row in ("one", "two", "three")), f"{page} | 10-K"]
        for page, letter in enumerate("abcde")
    ]
    lines = [line for page in pages for line in page]
    assert furniture(lines, [5, 10, 15, 20]) == ({5, 10, 15, 20}, {4, 9, 14, 19})
    assert furniture(lines, [5, 10, 15]) == (set(), set())
    lines[15], lines[20] = "A new chapter", ""
    assert furniture(lines, [5, 10, 15, 20]) == (set(), {4, 9, 14, 19})
    assert furniture(lines, []) == (set(), set())
