"""Folding: what is kept, what agrees, and the way back to the original characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridcli.text.normalizing import fold, word_overlap, words_of


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("The Company’s", "thecompanys"),
        ("$ 1,234", "1234"),
        ("$\t1,234 )", "1234"),
        ("5.2 million", "5.2million"),
        ("2098 . It", "2098it"),
        ("2098. 5", "20985"),
        ("ﬁrst", "first"),
        ("Café CAFE\u0301", "cafecafe"),
        ("a\u00adb\u200bc", "abc"),
        ("off–balance — sheet", "offbalancesheet"),
        ("５．２", "5.2"),
        ("Straße", "strasse"),
        ("½", "12"),
        ("İstanbul", "istanbul"),
        ("日本語", "日本語"),
        ("\ud800x", "x"),
        ("—", ""),
        ("", ""),
    ],
)
def test_what_is_kept(text: str, folded: str) -> None:
    assert fold(text).text == folded


def test_offsets_lead_back() -> None:
    folded = fold("a ﬁ\u00a05.2.")
    assert folded.text == "afi5.2"
    assert folded.offsets.tolist() == [0, 2, 2, 4, 5, 6]


@given(st.text())
def test_folding_keeps_order_and_is_stable(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.offsets)
    assert all(a <= b for a, b in zip(folded.offsets[:-1], folded.offsets[1:], strict=True))
    assert fold(folded.text).text == folded.text
    assert "".join(words_of(text)) == folded.text


@given(st.text(), st.sampled_from([" ", "\u00a0", "\t", "\n", "”", "$"]))
def test_marks_between_two_texts_do_not_matter(text: str, mark: str) -> None:
    assert fold("a" + mark + text).text == fold("a" + " " + text).text


def test_words_and_their_overlap() -> None:
    assert words_of("Net sales: $ 1,234 (56)") == ["net", "sales", "1", "234", "56"]
    # "the" stands twice in the reference and once in the text: 3 of its 4 words
    assert word_overlap("the cat, the dog", "dog cat the") == 0.75
    assert word_overlap("", "dog") == 0.0
