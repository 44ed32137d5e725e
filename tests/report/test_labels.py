"""The diagnostics of label mapping, line by line."""

from __future__ import annotations

from hybridcli.records import Label, Span
from hybridcli.report.labels import audit_lines, mapping_lines, precision_lines


def span(windows: int, first: int, end_unit: int = 0) -> Span:
    names = tuple(f"d:0:{n}" for n in range(windows))
    return Span("d", 0, 0, 0, end_unit, 9, 9, 1.0, 0, 16, names, (1.0,) * windows, 1.0, first, "text", "x")


def resolved(
    qid: str, reference: str, *spans: Span, literal: bool, overlap: float, title: bool = False
) -> Label:
    windows = tuple(dict.fromkeys(name for one in spans for name in one.windows))
    return Label(qid, reference, "x", "", "text", spans, (), windows, literal, overlap, title)


LABELS = [
    resolved("q1", "r1", span(2, 2), literal=True, overlap=1.0),
    resolved("q1", "r2", span(3, 1, end_unit=1), literal=False, overlap=0.6, title=True),
    resolved("q2", "r1", span(1, 1), span(1, 1), literal=True, overlap=0.5),
    Label("q2", "r2", "x", "not-found", "table"),
    Label("q3", "r1", "x", "not-found", "table"),
    Label("q4", "-", "", "no-references", "text"),
]


def test_the_table() -> None:
    lines = {line[:52].rstrip(): line[52:].split() for line in mapping_lines(LABELS, 4, "document")}
    assert lines["references resolved"] == ["3", "of", "5", "60.0", "%"]
    assert lines["queries with a resolved reference"] == ["2", "of", "4", "50.0", "%"]
    assert lines["queries with all references resolved"] == ["1", "of", "4", "25.0", "%"]
    assert lines["references literally contained"][:3] == ["2", "of", "3"]
    assert lines["queries with all references literally contained"][:3] == ["0", "of", "2"]
    assert lines["references with text overlap > 0.5"][:3] == ["2", "of", "3"]
    assert lines["references with text overlap > 0.7"][:3] == ["1", "of", "3"]
    assert lines["references over several units"][:3] == ["1", "of", "3"]
    assert lines["title-only if mapped within one unit"][:3] == ["1", "of", "3"]
    assert lines["references found in several places"][:3] == ["1", "of", "3"]
    text = "\n".join(mapping_lines(LABELS, 4, "document"))
    assert "\nwindows per reference: mean 2.00, median 2, largest 3, n = 3\n" in text
    assert "\nwindows beyond the unit a reference begins in: 2 of 6\n" in text
    assert "\nunresolved by reason: not-found 2, no-references 1\n" in text
    assert lines["unresolved of kind table"][:3] == ["2", "of", "2"]
    assert lines["unresolved of kind text"][:3] == ["0", "of", "3"]


def test_nothing_resolved_and_the_other_scope() -> None:
    lines = mapping_lines(LABELS[3:], 3, "unit")
    assert lines[0].split() == ["references", "resolved", "0", "of", "2", "0.0", "%"]
    assert any(line.startswith("title-only: under half of the reference labelled") for line in lines)
    assert all(len(line) <= 80 for line in lines)


def test_audit_and_precision() -> None:
    assert [line.split()[-5:] for line in audit_lines([0, 256, 600, 511], [256, 512])] == [
        ["3", "of", "4", "75.0", "%"],
        ["1", "of", "4", "25.0", "%"],
    ]
    header, first, none = precision_lines(
        [("Risk/literal/text", 70, 4, 3, 0.75, 0.3, 0.95), ("all", 0, 0, 0, 0.0, 0.0, 1.0)]
    )
    assert max(map(len, (header, first, none))) <= 80
    assert header.split() == ["stratum", "refs", "judged", "right", "precision", "[95", "%]"]
    assert first.split() == ["Risk/literal/text", "70", "4", "3", "0.750", "[0.300,", "0.950]"]
    assert none.split() == ["all", "0", "0", "0", "-"]
