"""Token budgets, with a counter that can be recomputed by hand: one token a letter, two special ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridcli.errors import UsageError
from hybridcli.records import Unit, Window
from hybridcli.text.budget import BATCH, Budget, CutUnit, cut_all
from hybridcli.text.cutting import Cut


class Letters:
    """Every character that is not a blank is a token; each text gets two special ones."""

    special = 2

    def count(self, texts: Sequence[str]) -> list[int]:
        return [2 + len("".join(text.split())) for text in texts]

    def cumulative(self, text: str, words: list[tuple[int, int]]) -> list[int]:
        return [sum(end - start for start, end in words[:i]) for i in range(len(words) + 1)]


LETTERS = Letters()


def one(unit: Unit, how: Cut, max_tokens: int, split: bool = True) -> CutUnit:
    (cut,) = cut_all([unit], how, Budget(LETTERS, max_tokens, split))
    return cut


def ranges(windows: Sequence[Window]) -> list[tuple[int, int]]:
    return [(window.start, window.end) for window in windows]


def test_counting_reports_what_is_over() -> None:
    budget = Budget(LETTERS, 12)
    units = [Unit("a", 0, "text", "aaaa bbbb cccc"), Unit("b", 0, "text", ""), Unit("c", 0, "text", "aa")]
    cuts = list(cut_all(units, Cut(3, 0), budget))
    assert [cut.tokens for cut in cuts] == [[14], [], [4]]
    assert [budget.over(cut) for cut in cuts] == [[("a:0:0", 14)], [], []]
    assert [cut.split for cut in cuts] == [0, 0, 0]


def test_without_a_budget_nothing_is_counted() -> None:
    (cut,) = cut_all([Unit("a", 0, "text", "a b")], Cut())
    assert (cut.tokens, cut.split, len(cut.windows)) == (None, 0, 1)


def test_windows_of_many_units_in_their_order() -> None:
    units = [Unit(f"d{i}", 0, "text", "x " * (i % 3)) for i in range(BATCH * 2 + 7)]
    cuts = list(cut_all(units, Cut(1, 0), Budget(LETTERS, 10)))
    assert [cut.unit for cut in cuts] == units
    assert [len(cut.windows) for cut in cuts] == [i % 3 for i in range(len(units))]


def test_a_window_over_budget_is_halved_with_its_share_of_overlap() -> None:
    # 16 words of 2 letters are 34 tokens; halves of 8 words, one shared more to each side: 9 words, 20 tokens
    cut = one(Unit("d", 5, "text", " ".join(["ab"] * 16)), Cut(16, 4), 20)
    assert ranges(cut.windows) == [(0, 9), (7, 16)]
    assert (cut.tokens, cut.split) == ([20, 20], 1)
    assert [window.id for window in cut.windows] == ["d:5:0", "d:5:1"]


def test_pieces_inside_a_neighbour_are_dropped() -> None:
    # the second window, (2, 6), is halved; its piece (2, 4) lies inside (0, 4)
    cut = one(Unit("d", 0, "text", "a b c d eeeeeeee ffff"), Cut(4, 2), 12)
    assert ranges(cut.windows) == [(0, 4), (4, 5), (5, 6)]
    assert cut.tokens == [6, 10, 6]


def test_a_single_word_is_split_by_characters() -> None:
    cut = one(Unit("d", 0, "text", "x " + "y" * 20 + " z"), Cut(10, 0), 12)
    assert [window.contents for window in cut.windows] == ["x", "y" * 10, "y" * 10, "z"]
    assert ranges(cut.windows) == [(0, 1), (1, 2), (1, 2), (2, 3)]
    assert [(w.char_start, w.char_end) for w in cut.windows] == [(0, 1), (2, 12), (12, 22), (23, 24)]


def test_headings_that_eat_the_budget_are_left_out_of_the_pieces() -> None:
    rows = "Year\n" + "\n".join(["aa\t11"] * 4)
    short = one(Unit("d", 0, "table", rows, "H", header_rows=1), Cut(5, 0, True), 40)
    assert short.split == 0
    # "[Heading]H" is 10 letters, "[Columns]Year" 13: with both only 25 tokens; more than half of 30, not of 50
    long = one(Unit("d", 0, "table", rows, "H", header_rows=1), Cut(9, 0, True), 30)
    assert all(count <= 30 for count in long.tokens or ())
    assert "[Columns]" not in "".join(window.contents for window in long.windows)
    assert all(window.contents.startswith("[Heading] H\n") for window in long.windows)
    none = one(Unit("d", 0, "table", rows, "Heading" * 9, header_rows=1), Cut(9, 0, True), 30)
    assert [window.contents for window in none.windows] == [rows]


def test_a_budget_too_small() -> None:
    with pytest.raises(UsageError, match="a budget of 9 tokens is too small; give 10 or more"):
        Budget(LETTERS, 9)


@given(
    st.text(alphabet="abcdefgh \n", max_size=200),
    st.integers(1, 20).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1))),
    st.integers(10, 40),
    st.sampled_from(["words", "letters", "uncut"]),
    st.booleans(),
)
def test_laws_of_split_windows(
    text: str, size: tuple[int, int], budget: int, length: str, table: bool
) -> None:
    unit = Unit("d", 0, "table" if table else "text", text, "A heading", header_rows=2 if table else 0)
    how = Cut(*(size if length != "uncut" else (None, 0)), True, LETTERS if length == "letters" else None)
    cut = one(unit, how, budget)
    assert cut.tokens == LETTERS.count([window.contents for window in cut.windows])
    assert all(count <= budget for count in cut.tokens)
    covered = set()
    for window in cut.windows:
        assert window.body == text[window.char_start : window.char_end]
        assert window.body == window.body.strip() != ""
        whole = text.split()[window.start : window.end]
        assert window.body.split() == whole or (len(whole) == 1 and window.body in whole[0])
        covered |= set(range(window.char_start, window.char_end))
    assert {i for i, letter in enumerate(text) if not letter.isspace()} <= covered
    for earlier, later in pairwise(cut.windows):
        assert earlier.char_start < later.char_start
        assert earlier.char_end < later.char_end
    assert [window.id for window in cut.windows] == [f"d:0:{i}" for i in range(len(cut.windows))]
