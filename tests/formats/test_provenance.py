"""What label mapping writes, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

from hybridcli.formats.provenance import write_ids, write_label_qrels, write_provenance, write_unresolved
from hybridcli.records import Label, Span


def span(doc: str = "d", windows: tuple[str, ...] = ("d:0:0", "d:0:1")) -> Span:
    return Span(doc, 0, 3, 17, 1, 5, 21, 0.97654321, 0, 64, windows, (1.0, 1 / 3), 0.5, 1, "table", "é text")


SPAN = span()
LABELS = [
    Label("q1", "r1", "x", "", "table", (SPAN,), (), SPAN.windows, True, 2 / 3, True),
    Label("q1", "r2", "y", "", "text", (SPAN,), (), ("d:0:1", "d:0:2"), False, 0.5),
    Label("q1", "r3", "z", "too-short", "text"),
    Label("q2", "r1", "z", "dissimilar", "text", (), (SPAN,)),
    Label("q3", "-", "", "no-references", "text"),
]


def test_both_forms_of_qrels(tmp_path: Path) -> None:
    write_label_qrels(str(tmp_path / "w"), LABELS, by_reference=False)
    write_label_qrels(str(tmp_path / "r"), LABELS, by_reference=True)
    # a window of two references stands once among the windows
    assert (tmp_path / "w").read_text() == "q1 0 d:0:0 1\nq1 0 d:0:1 1\nq1 0 d:0:2 1\n"
    assert (tmp_path / "r").read_text() == ("q1 r1 d:0:0 1\nq1 r1 d:0:1 1\nq1 r2 d:0:1 1\nq1 r2 d:0:2 1\n")


def test_the_unresolved_say_whether_the_query_is_lost(tmp_path: Path) -> None:
    write_unresolved(str(tmp_path / "u"), LABELS)
    assert (tmp_path / "u").read_text() == (
        "#qid\treference\treason\tquery\nq1\tr3\ttoo-short\tpartly\nq2\tr1\tdissimilar\twholly\n"
        "q3\t-\tno-references\twholly\n"
    )
    write_ids(str(tmp_path / "x"), ["q2", "q3"])
    assert (tmp_path / "x").read_text() == "q2\nq3\n"


def test_provenance_is_one_object_a_reference(tmp_path: Path) -> None:
    write_provenance(str(tmp_path / "p.jsonl"), LABELS)
    rows = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert [(row["qid"], row["reference"], row["status"], row["reason"]) for row in rows] == [
        ("q1", "r1", "resolved", None),
        ("q1", "r2", "resolved", None),
        ("q1", "r3", "unresolved", "too-short"),
        ("q2", "r1", "unresolved", "dissimilar"),
        ("q3", "-", "unresolved", "no-references"),
    ]
    place = {"doc": "d", "unit": 0, "start": 3, "end_unit": 1, "end": 5, "char_start": 17, "char_end": 21}
    place |= {"key_start": 0, "key_length": 64, "similarity": 0.976543}
    assert rows[0] == {
        "qid": "q1",
        "reference": "r1",
        "status": "resolved",
        "reason": None,
        **place,
        "kind": "table",
        "literal": True,
        "overlap": 0.666667,
        "title_only": True,
        "windows": ["d:0:0", "d:0:1"],
        "places": [place | {"windows": ["d:0:0", "d:0:1"], "covered": [1.0, 0.333333]}],
        "others": [],
    }
    assert "doc" not in rows[3]
    assert rows[3]["others"][0]["similarity"] == 0.976543
