"""Cells that belong together, tables that are tables, and their headers."""

from __future__ import annotations

import pytest

from hybridcli.records import Unit
from hybridcli.text.filings import parse_filing
from hybridcli.text.tables import is_amount, joint


def table(*rows: str) -> str:
    """A table; cells are parted by ``|``, one that begins with a number and ``>`` spans so many columns."""
    lines = []
    for row in rows:
        cells = []
        for cell in row.split("|"):
            span, mark, text = cell.rpartition(">")
            cells.append(
                f'<td colspan="{span}">{text}</td>' if mark and span.isdecimal() else f"<td>{cell}</td>"
            )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def units(html: str) -> list[Unit]:
    return parse_filing(html.encode(), "D")


def only(html: str) -> Unit:
    (unit,) = units(html)
    return unit


@pytest.mark.parametrize(
    ("left", "right", "between"),
    [
        ("$", "1,234", ""),
        ("$", "(56)", ""),
        ("€", ".5", ""),
        ("US$", "7", ""),
        ("$(", "7", ""),
        ("$", "—", ""),
        ("$", "million", None),
        ("(56", ")", ""),
        ("(4.5", ")%", ""),
        ("(4.5", ") %", ""),
        ("56", ")", None),
        ("4.5", "%", ""),
        ("(4.5)", "%", ""),
        ("—", "%", " "),
        ("12", "% (a)", ""),
        ("2.6", "pts", " "),
        ("Change", "%", None),
        ("1,234", "987", None),
        ("Total", "(56", None),
    ],
)
def test_joint(left: str, right: str, between: str | None) -> None:
    assert joint(left, right) == between


@pytest.mark.parametrize(
    "text",
    [
        "1",
        "$1,234",
        "(56)",
        "(4.5)%",
        "$(1.5)",
        "—",
        "— %",
        "N/A",
        "$—",
        "1.5x",
        "12.5 pts",
        ".5",
        "7(1)",
        "0.1-2.0",
        "3.9%–5.5%",
    ],
)
def test_amounts(text: str) -> None:
    assert is_amount(text)


@pytest.mark.parametrize(
    "text", ["2024", "Total", "December 31, 2024", "3 years", "1st quarter", "Note 3", "10-K", "2024-2026"]
)
def test_labels_years_and_dates_are_not_amounts(text: str) -> None:
    assert not is_amount(text)


def test_rows_are_lines_and_empty_cells_and_rows_leave_no_trace() -> None:
    unit = only(
        table("3>|3>2099||3>2098", "||||", "Net sales|$|1,234||$|987", "|&#160;|", "Loss||(56|)||(7|)")
    )
    assert unit.kind == "table"
    assert unit.text == "2099\t2098\nNet sales\t$1,234\t$987\nLoss\t(56)\t(7)"
    assert unit.header_rows == 1


def test_repeated_rows_stay() -> None:
    assert only(table("Sales|1", "Sales|1")).text == "Sales\t1\nSales\t1"


def test_lines_of_a_cell_are_parted_by_blanks() -> None:
    assert only(table("|May 31,<br/>2024", "<p>Net</p><p>sales</p>|5")).text == "May 31, 2024\nNet sales\t5"


def test_bullets_footers_and_prose_are_text() -> None:
    assert only(table("•|First point", "•|Second point")).text == "• First point\n• Second point"
    assert only(table("(1)|First note", "(2)|Second note")).text == "(1) First note\n(2) Second note"
    assert only(table("Acme Inc.|2099 Form 10-K|21")).text == "Acme Inc. 2099 Form 10-K 21"
    assert only(table("One paragraph", "Another one")).text == "One paragraph\nAnother one"
    prose = "word " * 120
    unit = only(table(f"{prose}|{prose}", f"{prose}|{prose}"))
    assert (unit.kind, unit.text.count("\n")) == ("text", 3)
    assert only(table("•|Only point")).kind == "text"


def test_a_table_in_a_layout_table_comes_out_once() -> None:
    inner = table("Sales|$|5", "Costs|$|3")
    first, second, third = units(
        f"<table><tr><td><p>{'above ' * 40}</p>{inner}<p>What stands below it all.</p></td></tr></table>"
    )
    assert [unit.kind for unit in (first, second, third)] == ["text", "table", "text"]
    assert second.text == "Sales\t$5\nCosts\t$3"
    assert third.text == "What stands below it all."


def test_bullets_in_a_cell_of_a_table_stay_in_the_cell() -> None:
    bullets = table("•|one", "•|two")
    html = f"<table><tr><td>Grounds{bullets}</td><td>5</td></tr><tr><td>Rest</td><td>6</td></tr></table>"
    assert only(html).text == "Grounds • one • two\t5\nRest\t6"


@pytest.mark.parametrize(
    ("rows", "header_rows"),
    [
        (["|2024|2023", "Sales|5|6"], 1),
        (["|Years ended May 31,", "(in millions)|2024|2023", "Sales|5|6"], 2),
        (["Statement of Income", "|2024|2023", "Revenue:", "Sales|5|6"], 2),
        (["(In millions)", "Sales|5|6", "Costs|4|4"], 1),
        (["Sales|5|6", "Costs|4|4"], 0),
        (["Revenue:", "Sales|5|6", "Costs|4|4"], 0),
        (["<b>Name</b>|<b>Age</b>", "Ada|x", "Bob|y"], 1),
        (["Name|Age", "Ada|x", "Bob|y"], 0),
        (["(In millions)", "Name|Age", "Ada|x", "Bob|y"], 1),
        (["<b>Name</b>|<b>Age</b>", "Ada|x", "Bob|y", "Cy|z", "Sum|3"], 1),
        (["Name|Age", "Ada|x", "Bob|y", "Cy|z", "Sum|3"], 0),
        (["<b>a</b>|<b>b</b>", "<b>c</b>|<b>d</b>"], 0),
    ],
)
def test_header_rows(rows: list[str], header_rows: int) -> None:
    assert only(table(*rows)).header_rows == header_rows


def test_a_title_inside_the_table_is_its_heading() -> None:
    assert only(table("<b>Balance Sheet</b>", "|2024", "Cash|5")).heading == "Balance Sheet"
    assert only(table("Balance Sheet|December 31,", "|2024", "Cash|5")).heading == "Balance Sheet"
    assert only(table("Cash and equivalents|5", "Cash|5")).heading == ""
    assert only(table("<b>(in millions)</b>", "|2024", "Cash|5")).heading == ""


def test_odd_tables_do_no_harm() -> None:
    assert only("<td>a</td><tr><td>b</td></tr>").text == "a\nb"
    assert only("<table><td colspan='x'>a<td>b<tr><td>c<td>2").text == "a\tb\nc\t2"
    assert units("<table></table><table><tr><td></td></tr></table>") == []
