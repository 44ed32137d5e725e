"""Locating a folded reference in a folded text."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridcli.text.matching import GRAM, Grams, Occurrence, Screen, locate, rolling_hashes, similarity_of
from hybridcli.text.normalizing import codes_of


def letters(count: int, seed: int) -> str:
    """A text without repetitions to speak of."""
    return "".join(random.Random(seed).choices("abcdefghijklmnopqrstuvwxyz", k=count))


BEFORE, REFERENCE, AFTER = letters(700, 1), letters(400, 2), letters(700, 3)


def test_similarity_is_one_minus_edits_over_the_longer() -> None:
    assert similarity_of("kitten", "sitting") == pytest.approx(1 - 3 / 7)
    assert similarity_of("same", "same") == 1.0


def test_the_whole_reference() -> None:
    places = locate(REFERENCE, Grams(BEFORE + REFERENCE + AFTER), floor=0.6)
    assert places == [Occurrence(700, 1100, 1.0, 0, 400)]


def test_every_copy_is_given_in_order() -> None:
    places = locate(REFERENCE, Grams(REFERENCE + BEFORE + REFERENCE), floor=0.6)
    assert [(place.start, place.end) for place in places] == [(0, 400), (1100, 1500)]


def test_the_key_shrinks_to_what_agrees() -> None:
    # the first 70 letters agree, then every tenth is another one: keys of 64 letters are the longest that stand
    changed = "".join("#" if i >= 70 and i % 10 == 0 else char for i, char in enumerate(REFERENCE))
    (place,) = locate(REFERENCE, Grams(BEFORE + changed + AFTER), floor=0.6)
    assert (place.start, place.key_start, place.key_length) == (700, 0, 64)
    assert place.similarity == pytest.approx(1 - 33 / 400)


def test_a_footer_in_between_does_not_move_the_end() -> None:
    footer = "47tableofcontents"
    (place,) = locate(
        REFERENCE, Grams(BEFORE + REFERENCE[:150] + footer + REFERENCE[150:] + AFTER), floor=0.6
    )
    assert (place.start, place.end) == (700, 1100 + len(footer))
    assert place.similarity == pytest.approx(1 - 17 / 417)


def test_a_missing_row_does_not_move_the_end() -> None:
    (place,) = locate(REFERENCE, Grams(BEFORE + REFERENCE[:150] + REFERENCE[190:] + AFTER), floor=0.6)
    assert (place.start, place.end) == (700, 1060)


def test_a_beginning_that_stands_elsewhere_is_found_from_within() -> None:
    other = letters(40, 9)
    (place,) = locate(REFERENCE, Grams(BEFORE + other + REFERENCE[40:] + AFTER), floor=0.6)
    assert place.key_start == 40
    # the 40 letters in front are counted on, or left out: both are 40 edits away
    assert place.end == 1100
    assert place.start in (700, 740)
    assert place.similarity >= 0.9


def test_similarity_decides_among_places_of_one_key() -> None:
    title = REFERENCE[:40]
    text = title + BEFORE + title + AFTER[:300] + REFERENCE[:390] + "xyz" + AFTER[300:]
    places = locate(REFERENCE, Grams(text), floor=0.6)
    assert [place.start for place in places] == [text.index(REFERENCE[:390])]


def test_below_the_floor_the_best_is_told_alone() -> None:
    text = BEFORE + REFERENCE[:60] + AFTER
    (place,) = locate(REFERENCE, Grams(text), floor=0.6)
    assert place.start == 700
    assert place.similarity < 0.6


def test_a_floor_of_one_wants_all_of_it() -> None:
    assert locate(REFERENCE, Grams(BEFORE + REFERENCE[:-1] + "#" + AFTER), floor=1.0) == []
    assert len(locate(REFERENCE, Grams(BEFORE + REFERENCE + AFTER), floor=1.0)) == 1


def test_nothing_of_it_stands_there() -> None:
    assert locate(REFERENCE, Grams(BEFORE + AFTER), floor=0.6) == []
    assert locate(REFERENCE, Grams(""), floor=0.6) == []


def test_shorter_than_a_key_only_as_it_is() -> None:
    assert [place.start for place in locate("abc", Grams("abcabxabc"), floor=0.6)] == [0, 6]


def test_within_walls_the_key_and_the_span_stay_in_one_unit() -> None:
    title, rows = REFERENCE[:48], REFERENCE[48:]
    text = BEFORE + title + rows + AFTER
    walls = np.array([0, 748, 1500, len(text)])
    (place,) = locate(REFERENCE, Grams(text), floor=0.0, walls=walls)
    assert (place.start, place.end, place.key_length) == (700, 748, 48)
    assert place.similarity == pytest.approx(48 / 400)
    # without walls it is whole
    assert locate(REFERENCE, Grams(text), floor=0.0)[0].end == 1100


@given(
    st.text("abcde", min_size=GRAM, max_size=200),
    st.text("abcde", max_size=300),
    st.text("abcde", max_size=300),
)
def test_a_planted_reference_is_found(reference: str, before: str, after: str) -> None:
    text = before + reference + after
    places = locate(reference, Grams(text), floor=0.6)
    assert all(text[place.start : place.end] == reference for place in places)
    assert len(before) in {place.start for place in places} or any(
        place.start < len(before) + len(reference) and len(before) < place.end for place in places
    )


@settings(deadline=None)
@given(
    st.lists(st.text("ab c", min_size=1, max_size=60), min_size=1, max_size=8),
    st.integers(0, 7),
    st.text("abc "),
)
def test_the_screen_lets_pass_what_stands_there(references: list[str], number: int, around: str) -> None:
    screen = Screen(references)
    planted = number % len(references)
    assert planted in screen.passing(around + references[planted] + around)


def test_the_screen_dismisses_what_does_not_stand_there() -> None:
    screen = Screen([REFERENCE, BEFORE, "short"])
    assert screen.passing(AFTER) == [2]
    assert screen.passing(AFTER + REFERENCE[:200]) == [0, 2]
    assert Screen([]).passing(AFTER) == []


def test_equal_runs_have_equal_hashes() -> None:
    hashes = rolling_hashes(codes_of("abcdefghijklmnop" * 2))
    assert len(hashes) == 17
    assert hashes[0] == hashes[16]
    assert len(set(hashes.tolist())) == 16
    assert len(rolling_hashes(codes_of("short"))) == 0
