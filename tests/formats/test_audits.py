"""The judged sheet: written for a person, read back strictly."""

from __future__ import annotations

from pathlib import Path

import pytest

from hybridcli.errors import DataError
from hybridcli.formats.audits import COLUMNS, Judgement, read_sheet, write_sheet
from hybridcli.records import Label, Span

SPAN = Span(
    "d", 2, 3, 17, 4, 5, 21, 0.98765, 0, 64, ("d:2:0", "d:4:0"), (1.0, 0.5), 0.5, 1, "table", "a\tb\nc"
)
LABEL = Label("q", "r1", "A \t B\r\n\r\nC ", "", "table", (SPAN,), (), SPAN.windows, True)


def sheet(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "sheet.tsv"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


def test_a_line_shows_all_that_is_needed(tmp_path: Path) -> None:
    path = str(tmp_path / "sheet.tsv")
    write_sheet(path, [(LABEL, "Risk/literal/table", 28, 7 / 3)], {"q": "what?"})
    header, line = Path(path).read_text(encoding="utf-8").splitlines()
    assert tuple(header.split("\t")) == COLUMNS
    assert dict(zip(COLUMNS, line.split("\t"), strict=True)) == {
        "judgement": "",
        "comment": "",
        "qid": "q",
        "reference": "r1",
        "stratum": "Risk/literal/table",
        "stratum_size": "28",
        "weight": "2.33333",
        "similarity": "0.9877",
        "place": "d:2:3-4:5",
        "windows": "d:2:0 d:4:0",
        "query": "what?",
        "reference_text": "A | B / C",
        "span_text": "a | b / c",
    }
    assert read_sheet(path) == [Judgement(2, "q", "r1", ("d:2:0", "d:4:0"), None)]


@pytest.mark.parametrize(
    ("word", "right"),
    [("right", True), ("Yes", True), ("1", True), ("WRONG", False), ("n", False), (" ", None)],
)
def test_judgements(tmp_path: Path, word: str, right: bool | None) -> None:
    # columns may be moved, dropped and added
    path = sheet(tmp_path, "windows\tmine\tqid\treference\tjudgement", f"w\t!\tq\tr1\t{word}", "\t\t\t\t")
    assert [row.right for row in read_sheet(path)] == [right]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["qid\treference"], ":1: not an audit sheet: no column judgement, windows in the first line"),
        (["judgement\tqid\treference\twindows"], "holds no line to judge"),
        (
            ["judgement\tqid\treference\twindows", "maybe\tq\tr1\tw"],
            ":2: judgement is 'maybe'; right or wrong",
        ),
        (["judgement\tqid\treference\twindows", "right q"], ":2: expected 4 columns, found 1"),
        (
            ["judgement\tqid\treference\twindows", "right\tq\tr1\tw", "wrong\tq\tr1\tw"],
            ":3: query q, reference r1 stands on the sheet already",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(DataError) as error:
        read_sheet(sheet(tmp_path, *lines))
    assert message in str(error.value)
