"""Tables in every format."""

from __future__ import annotations

import pytest

from hybridcli.errors import UsageError
from hybridcli.report.tables import FORMATS, Column, Marked, Table, format_rows, render, shown

TABLE = Table(
    "Difference to a_b & c",
    [
        Column("run"),
        Column("n", "count"),
        Column("diff", "signed"),
        Column("95% interval", "interval"),
        Column("p", "p"),
    ],
    [["x|y", 5082, Marked(0.00905, "+"), (0.003, 0.0152), 0.00004], ["z", None, -0.00001, None, None]],
)


@pytest.mark.parametrize(
    ("cell", "kind", "text"),
    [
        (None, "value", "–"),
        (0.5, "value", "0.5000"),
        (-0.00001, "signed", "+0.0000"),
        (0.25, "signed", "+0.2500"),
        (5082, "count", "5,082"),
        (0.0004, "p", "<0.001"),
        (0.0312, "p", "0.031"),
        (1.0, "p", "1.000"),
        ((-0.1, 0.2), "interval", "[-0.1000, +0.2000]"),
        ((0.1, 0.2), "range", "[0.1000, 0.2000]"),
        (-0.789, "effect", "-0.79"),
        (Marked(0.5, "="), "value", "0.5000="),
        ("text", "text", "text"),
    ],
)
def test_cells(cell: object, kind: str, text: str) -> None:
    assert shown(cell, kind) == text  # type: ignore[arg-type]


def test_nan_is_never_shown() -> None:
    with pytest.raises(ValueError, match="finite"):
        shown(float("nan"), "value")


def test_terminal() -> None:
    assert render("table", [TABLE], ["n = 2"]).splitlines() == [
        "Difference to a_b & c",
        "run      n      diff        95% interval       p",
        "------------------------------------------------",
        "x|y  5,082  +0.0091+  [+0.0030, +0.0152]  <0.001",
        "z        –   +0.0000                   –       –",
        "",
        "n = 2",
    ]


def test_tsv_is_exact() -> None:
    lines = render("tsv", [TABLE], ["n = 2"]).splitlines()
    assert lines[1] == "run\tn\tdiff\t95% interval low\t95% interval high\tp"
    assert lines[2] == "x|y\t5082\t0.00905\t0.003\t0.0152\t4e-05"
    assert lines[3] == "z\t\t-1e-05\t\t\t"
    assert lines[-1] == "# n = 2"


def test_markdown_escapes() -> None:
    text = render("markdown", [TABLE])
    assert "| x\\|y | 5,082 | +0.0091+ | [+0.0030, +0.0152] | \\<0.001 |" in text
    assert "**Difference to a\\_b & c**" in text


def test_latex_escapes_and_marks() -> None:
    text = render("latex", [TABLE], ["100% of a_b"])
    assert r"\caption{Difference to a\_b \& c}" in text
    assert r"x|y & 5,082 & $+0.0091$$^{+}$ & $[+0.0030, +0.0152]$ & $<$0.001 \\" in text
    assert all(rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\item 100\% of a\_b"))


def test_html_escapes() -> None:
    text = render("html", [TABLE], ["<b>"])
    assert '<td class="p">&lt;0.001</td>' in text
    assert "<li>&lt;b&gt;</li>" in text


def test_wide_tables_are_split_and_long_labels_kept() -> None:
    label = "a-very-long-label-" * 3
    columns = [Column("run"), *(Column(f"measure{at:02d}", "value") for at in range(12))]
    text = render("table", [Table("Means", columns, [[label, *[0.5] * 12]])])
    assert max(len(line) for line in text.splitlines()) <= 80
    assert text.count(label) >= 2
    assert all(f"measure{at:02d}" in text for at in range(12))


def test_unknown_format() -> None:
    with pytest.raises(UsageError, match="unknown format 'x'; choose from table, tsv, markdown, latex, html"):
        render("x", [TABLE])
    assert [name for name, _ in format_rows()] == list(FORMATS)
