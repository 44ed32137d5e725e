"""The report of `window`."""

from __future__ import annotations

from hybridcli.records import Unit
from hybridcli.text.budget import CutUnit
from hybridcli.text.cutting import cut
from hybridcli.text.tally import Tally


def counted(*units: Unit, docnos: str) -> list[str]:
    tally = Tally()
    for docno in docnos:
        tally.add_document(docno)
    for unit in units:
        tally.add(CutUnit(unit, cut(unit, size=2, overlap=0)))
    tally.close()
    return list(tally.lines())


def test_documents_units_windows_and_their_distribution() -> None:
    lines = counted(
        Unit("b", 0, "text", "1 2 3"), Unit("b", 1, "table", "1"), Unit("d", 0, "text", ""), docnos="abcd"
    )
    assert lines == [
        "4 documents, 3 units (1 tables), 3 windows",
        "documents without a word, and so without a window: 3 (a, c, d)",
        "words a window: min 1, 5 % 1, median 1, 95 % 2, max 2",
        "windows a document: min 0, 5 % 0, median 0, 95 % 3, max 3",
    ]


def test_nothing_at_all_and_many_empty_documents() -> None:
    assert counted(docnos="") == ["0 documents, 0 units (0 tables), 0 windows"]
    assert counted(docnos="abcdefg")[1] == (
        "documents without a word, and so without a window: 7 (a, b, c, d, e, …)"
    )
