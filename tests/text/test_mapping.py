"""From references and windows to labels: scopes, documents and groups, reasons."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridcli.records import Judged, Label, Unit, Window
from hybridcli.text.cutting import cut
from hybridcli.text.mapping import MappingRules, kind_of, map_references
from hybridcli.text.outcome import excluded_queries, groups_of, literal_queries, missing_documents, without
from hybridcli.text.running import RunningText

RULES = MappingRules()
WORDS = [f"{a}{b}{c}" for a in "bdfgklmnpr" for b in "aeiou" for c in "lnrst"]


def prose(count: int, seed: int) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=count))


def windows_of(doc: str, *texts: str, size: int = 10, overlap: int = 4) -> list[Window]:
    """The windows of a document's units; a text with a tab is a table."""
    units = [Unit(doc, n, "table" if "\t" in text else "text", text) for n, text in enumerate(texts)]
    return [window for unit in units for window in cut(unit, size=size, overlap=overlap)]


def mapped(
    windows: Sequence[Window], *references: str, rules: MappingRules = RULES, **query: object
) -> list[Label]:
    judged = replace(Judged("q", "", references), **query)  # type: ignore[arg-type]
    return map_references([judged], windows, rules)


TITLE = "Acme Corporation Consolidated Statements of Operations (in millions)"
ROWS = "Revenue\t$ 1,234\t$ 1,120\nCost of revenue\t(456)\t(401)\nGross profit\t$ 778\t$ 719\nIncome taxes\t12\t11"
FILING = windows_of("acme", prose(30, 1) + " " + TITLE, ROWS, prose(40, 2))
STATEMENT = (
    "Acme Corporation\nConsolidated Statements of Operations\n(In Millions)\nRevenue\t$\t1,234 \t$\t1,120\nCost of "
    "revenue\t(456\t)\t(401\t)\nGross profit\t$\t778\t$\t719\nIncome taxes\t12\t11"
)


def test_a_statement_over_two_units_marks_the_windows_of_both() -> None:
    (label,) = mapped(FILING, STATEMENT, doc="acme")
    (span,) = label.spans
    assert (span.unit, span.start, span.end_unit, span.end) == (0, 30, 1, 20)
    assert (span.text[:4], span.text[-2:]) == ("Acme", "11")
    # words 30 to 38 of unit 0 (windows at 24 and 28 … 38) and all of unit 1
    assert label.windows == ("acme:0:4", "acme:0:5", "acme:1:0", "acme:1:1", "acme:1:2")
    assert (label.kind, label.literal, label.overlap, label.title_only) == ("table", True, 1.0, True)
    assert (span.first_windows, span.similarity, span.key_start) == (2, 1.0, 0)
    assert span.first_share == pytest.approx(59 / 125)
    assert len(span.covered) == 5


def test_unit_scope_labels_the_title_only() -> None:
    (label,) = mapped(FILING, STATEMENT, doc="acme", rules=replace(RULES, scope="unit"))
    assert label.windows == ("acme:0:4", "acme:0:5")
    assert label.title_only  # 59 of 125 letters and digits
    assert not label.literal
    assert label.spans[0].text == TITLE.removesuffix(")")


def test_a_named_unit_is_kept_to() -> None:
    twice = windows_of(
        "acme", "Net sales rose by five percent.", prose(9, 3), "Net sales rose by five percent."
    )
    assert len(mapped(twice, "Net sales rose by five percent.", doc="acme")[0].spans) == 2
    (label,) = mapped(twice, "Net sales rose by five percent.", doc="acme", unit=2)
    assert label.windows == ("acme:2:0",)
    assert mapped(twice, "Net sales rose by five percent.", doc="acme", unit=1)[0].reason == "not-found"


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("", "empty"),
        (" — ", "empty"),
        ("the", "too-short"),
        (prose(12, 77), "not-found"),
        (TITLE + " " + prose(60, 78), "dissimilar"),
    ],
)
def test_reasons(reference: str, reason: str) -> None:
    (label,) = mapped(FILING, reference, doc="acme")
    assert (label.reason, label.windows, label.spans) == (reason, (), ())
    assert bool(label.others) == (reason == "dissimilar")  # what was found and refused is told


def test_a_query_without_references_and_a_document_without_windows() -> None:
    assert [(label.reference, label.reason) for label in mapped(FILING)] == [("-", "no-references")]
    assert mapped(FILING, STATEMENT, doc="other")[0].reason == "no-document"


def test_what_stands_in_too_many_places_says_nothing() -> None:
    text = " ".join(["All rights are reserved by us."] * 21)
    assert mapped(windows_of("a", text), "All rights are reserved by us.", doc="a")[0].reason == "ambiguous"
    rules = replace(RULES, max_places=21)
    assert (
        len(mapped(windows_of("a", text), "All rights are reserved by us.", doc="a", rules=rules)[0].spans)
        == 21
    )


SENTENCE = "Our workforce of engineers grew by twelve percent during the fiscal year."
THREE = [
    *windows_of("ACME-2023", prose(20, 4), SENTENCE),
    *windows_of("ACME-2024", prose(20, 5), SENTENCE + " " + prose(5, 6)),
    *windows_of("OTHER", prose(20, 7), SENTENCE),
]


def test_without_document_equal_places_in_several_are_ambiguous() -> None:
    (label,) = mapped(THREE, SENTENCE)
    assert label.reason == "ambiguous"
    assert [span.doc for span in label.others] == ["ACME-2023", "ACME-2024", "OTHER"]


def test_a_group_narrows_the_search_and_takes_all_of_its_documents() -> None:
    (label,) = mapped(THREE, SENTENCE, group="ACME")
    assert [span.doc for span in label.spans] == ["ACME-2023", "ACME-2024"]
    (label,) = mapped(THREE, SENTENCE, group="OTHER")
    assert [span.doc for span in label.spans] == ["OTHER"]
    # a longer name is not the group's
    assert mapped(windows_of("ACMEX", SENTENCE), SENTENCE, group="ACME")[0].spans[0].doc == "ACMEX"


def test_a_group_without_a_document_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    mapped(THREE, SENTENCE, group="ACME")
    assert "groups without" not in capsys.readouterr().err
    mapped(THREE, SENTENCE, group="GONE")
    assert "groups without a document, searched for in all documents: 1 (GONE)" in capsys.readouterr().err


def test_groups_of_documents_may_be_given() -> None:
    judged = [Judged("q", "", (SENTENCE,), group="Acme Inc.")]
    (label,) = map_references(judged, THREE, RULES, {"OTHER": "Acme Inc."})
    assert [span.doc for span in label.spans] == ["OTHER"]


def test_anywhere_ignores_documents_and_groups() -> None:
    judged = [Judged("q", "", (STATEMENT,), doc="gone", group="gone")]
    assert map_references(judged, FILING, RULES)[0].reason == "no-document"
    assert map_references(judged, FILING, RULES, anywhere=True)[0].spans[0].doc == "acme"


def test_without_document_it_must_be_more_alike() -> None:
    words = SENTENCE.split()
    changed = " ".join([*words[:8], "xxxxx", "yyyyyyyyyy", *words[10:]])
    windows = windows_of("a", prose(20, 4), changed)
    assert mapped(windows, SENTENCE, doc="a")[0].reason == ""
    assert mapped(windows, SENTENCE)[0].reason in ("dissimilar", "not-found")
    assert mapped(windows, SENTENCE, rules=replace(RULES, min_similarity_anywhere=0.6))[0].reason == ""


def test_the_better_document_wins() -> None:
    near = SENTENCE.replace("twelve", "eleven")
    windows = [*windows_of("a", near), *windows_of("b", SENTENCE), *windows_of("c", near)]
    (label,) = mapped(windows, SENTENCE)
    assert [span.doc for span in label.spans] == ["b"]


def test_the_text_of_a_unit_is_rebuilt_from_overlapping_and_from_gapped_windows() -> None:
    text = prose(35, 8).replace(" ", "  ")
    for overlap in (0, 4):
        windows = windows_of("a", text, "x\ty", overlap=overlap)
        assert RunningText("a", windows).text == text + "\nx\ty"


def test_marks_at_both_ends_belong_to_the_span() -> None:
    windows = windows_of("a", 'He said: "(A) revenue grew to $ 5.9 million" . Then he left.')
    (label,) = mapped(windows, '(A) revenue grew to $5.9 million".', doc="a")
    assert label.spans[0].text == '(A) revenue grew to $ 5.9 million" .'


def test_kind_is_guessed_for_what_was_not_found() -> None:
    assert kind_of("Revenue\t12") == "table"
    assert kind_of("Revenue\n12\n13\nCosts\n4\n5") == "table"
    assert kind_of("Revenue grew by 12 percent in this year") == "text"
    assert kind_of("") == "text"


def test_queries_as_a_whole() -> None:
    judged = [
        Judged("all", "", (SENTENCE,), doc="OTHER"),
        Judged("part", "", ("not in there at all, is it?", SENTENCE), doc="OTHER", group="G"),
        Judged("none", "", ("not in there at all, is it?",)),
        Judged("lost", "", (SENTENCE,), doc="gone"),
    ]
    labels = map_references(judged, THREE, RULES)
    assert excluded_queries(judged, labels) == ["none", "lost"]
    assert literal_queries(judged, labels) == ["all"]
    assert missing_documents(judged, labels) == ["gone"]
    assert groups_of(judged, labels) == ({"all": "OTHER", "part": "G", "lost": "gone"}, 2)
    left = without(labels, {("all", "r1")})
    assert left[0].reason == "judged-wrong"
    assert (left[0].windows, left[0].spans, left[0].others) == ((), (), labels[0].spans)
    assert left[1:] == labels[1:]


MANGLED = st.sampled_from([("'", "’"), (" ", "\u00a0"), (" ", " \n"), ("-", "–"), ("a", "A"), (" ", "\t")])


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(3, 60), st.integers(0, 60), st.integers(0, 3), MANGLED)
def test_a_planted_reference_is_found_where_it_stands(
    seed: int, length: int, before: int, units: int, mangle: tuple[str, str]
) -> None:
    reference = f"Zyxwvut {prose(length, seed)} qponm."
    texts = [prose(5 + n, seed + n) for n in range(units)]
    texts.append(" ".join([prose(before, seed + 9), reference.replace(*mangle), prose(7, seed + 10)]).strip())
    windows = [*windows_of("other", prose(50, seed + 11), "Zyxwvut"), *windows_of("doc", *texts)]
    for query in ({"doc": "doc"}, {}):
        (label,) = mapped(windows, reference, **query)
        (span,) = label.spans
        assert (span.doc, span.unit, span.start) == ("doc", units, before)
        assert span.text == texts[-1][span.char_start : span.char_end] == reference.replace(*mangle)
        held = {window.id: window for window in windows if window.doc == "doc" and window.unit == units}
        for name, window in held.items():
            assert (name in label.windows) == (window.start < span.end and window.end > span.start)
        assert label.literal
        assert max(span.covered) <= 1.0


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(4, 40), st.floats(0.0, 1.0))
def test_a_reference_never_lands_in_another_document(seed: int, length: int, share: float) -> None:
    reference = prose(length, seed)
    cut_short = reference[: int(len(reference) * share)]
    windows = [*windows_of("b", reference), *windows_of("a", cut_short or "-"), *windows_of("c", reference)]
    (label,) = mapped(windows, reference, doc="a")
    assert all(name.startswith("a:") for name in label.windows)
    assert all(span.doc == "a" for span in (*label.spans, *label.others))
