"""Windows: the last one, tiny and repeated texts, true offsets, carried headings."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridcli.errors import UsageError
from hybridcli.records import Unit
from hybridcli.text.cutting import Cut, cut, cut_ranges, cut_unit, word_spans

BLANKS = " \t\n\r\u00a0\u2003\u3000\x1c"
texts = st.text(alphabet="ab1$é—\u200b" + BLANKS, max_size=120)
sizes = st.integers(1, 12).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


def words(count: int) -> str:
    return " ".join(f"w{i}" for i in range(count))


def ranges(text: str, size: int = 10, overlap: int = 4) -> list[tuple[int, int]]:
    return [
        (window.start, window.end) for window in cut(Unit("d", 0, "text", text), size=size, overlap=overlap)
    ]


def test_the_last_window_and_tiny_documents() -> None:
    assert ranges(words(23)) == [(0, 10), (6, 16), (12, 22), (18, 23)]
    assert ranges(words(22)) == [(0, 10), (6, 16), (12, 22)]
    assert ranges(words(10)) == [(0, 10)]
    assert ranges(words(11)) == [(0, 10), (6, 11)]
    assert ranges(words(5)) == [(0, 5)]
    assert ranges("") == ranges("\n  \n") == []


def test_repeated_text_is_counted_not_searched() -> None:
    windows = cut(Unit("d", 2, "text", "please read this .  " * 6), size=10, overlap=4)
    assert [(w.start, w.end) for w in windows] == [(0, 10), (6, 16), (12, 22), (18, 24)]
    assert [w.char_start for w in windows] == [0, 32, 60, 92]
    assert [w.id for w in windows] == ["d:2:0", "d:2:1", "d:2:2", "d:2:3"]


def test_contents_are_the_original_characters() -> None:
    text = "  a  b\r\n\tc\u00a0d "
    first, second = cut(Unit("d", 0, "text", text), size=2, overlap=0)
    assert (first.contents, first.char_start, first.char_end) == ("a  b", 2, 6)
    assert (second.contents, second.char_start, second.char_end) == ("c\u00a0d", 9, 12)


@pytest.mark.parametrize(("size", "overlap"), [(10, 10), (10, 11), (0, 0), (-1, 0), (10, -1), (1, 1)])
def test_impossible_sizes(size: int, overlap: int) -> None:
    with pytest.raises(UsageError):
        cut(Unit("d", 0, "text", "a b"), size=size, overlap=overlap)


@given(texts, sizes)
def test_laws_of_word_windows(text: str, size: tuple[int, int]) -> None:
    unit = Unit("d", 0, "text", text)
    length, overlap = size
    windows = cut(unit, size=length, overlap=overlap)
    expected = text.split()
    assert [window.start for window in windows] == [i * (length - overlap) for i in range(len(windows))]
    for window in windows:
        assert text[window.char_start : window.char_end] == window.contents == window.body
        assert window.contents.split() == expected[window.start : window.end]
        assert window.end - window.start == length or window is windows[-1]
    for earlier, later in pairwise(windows):
        assert earlier.start < later.start <= earlier.end < later.end
    assert bool(windows) == bool(expected)
    if windows:
        assert (windows[0].start, windows[-1].end) == (0, len(expected))


@given(st.lists(st.integers(0, 9), max_size=40), sizes)
def test_laws_of_weighted_ranges(weights: list[int], size: tuple[int, int]) -> None:
    length, overlap = size
    cumulative = [sum(weights[:i]) for i in range(len(weights) + 1)]
    found = cut_ranges(cumulative, length, overlap)
    for start, end in found:
        assert cumulative[end] - cumulative[start] <= length or end == start + 1
    for (start, end), (later_start, later_end) in pairwise(found):
        assert start < later_start <= end < later_end
        assert cumulative[end] - cumulative[later_start] <= overlap
    assert (found[0][0], found[-1][1]) == (0, len(weights)) if weights else found == []


def test_weighted_ranges_by_hand() -> None:
    # words of 3, 1, 1, 9, 2 and 2 tokens into windows of 5 with 2 shared: the heavy word stands alone
    assert cut_ranges([0, 3, 4, 5, 14, 16, 18], 5, 2) == [(0, 3), (3, 4), (4, 6)]
    assert cut_ranges([0, 2, 3, 4, 6, 8], 5, 2) == [(0, 3), (1, 3 + 1), (3, 5)]


TABLE = Unit(
    "A",
    3,
    "table",
    "\tYears ended\n\t2024\t2023\nSales\t1\t2\nCost\t3\t4\nTax\t5\t6",
    "Statement of\nIncome",
    header_rows=2,
)
COLUMNS = "[Columns] Years ended\n[Columns] 2024\t2023\n"


def test_tables_carry_heading_and_columns() -> None:
    windows = cut(TABLE, size=7, overlap=0, carry_headings=True)
    assert [window.contents for window in windows] == [
        "[Heading] Statement of Income\nYears ended\n\t2024\t2023\nSales\t1\t2",
        f"[Heading] Statement of Income\n{COLUMNS}Cost\t3\t4\nTax\t5\t6",
    ]
    for window in windows:
        assert window.body == TABLE.text[window.char_start : window.char_end]
        assert window.heading == TABLE.heading
    assert [w.contents for w in cut(TABLE, size=7, overlap=0)] == [w.body for w in windows]


def test_what_is_not_carried() -> None:
    text = Unit("A", 1, "text", words(20), "Item 1")
    assert cut(text, size=10, overlap=0, carry_headings=True) == cut(text, size=10, overlap=0)
    begins = Unit("A", 1, "table", "Item 1\nSales\t1\nCost\t2", "Item 1")
    assert [w.contents for w in cut(begins, size=4, overlap=0, carry_headings=True)] == [
        "Item 1\nSales\t1",
        "[Heading] Item 1\nCost\t2",
    ]
    bare = Unit("A", 1, "table", "Sales\t1")
    assert [w.contents for w in cut(bare, carry_headings=True)] == ["Sales\t1"]


def test_header_rows_that_are_not_carried() -> None:
    sentence = " ".join(["word"] * 21)
    text = f"Net Sales\n{sentence}\n(in millions)\n{sentence}\t2024\nTotal\t1"
    unit = Unit("A", 1, "table", text, "Net Sales", header_rows=4)
    assert cut(unit, size=48, overlap=0, carry_headings=True)[1].contents == (
        f"[Heading] Net Sales\n[Columns] (in millions)\n[Columns] {sentence}\t2024\n1"
    )


def test_uncut_units() -> None:
    assert [(w.start, w.end) for w in cut_unit(Unit("A", 0, "text", words(500)), Cut(None, 0))] == [(0, 500)]
    assert cut_unit(Unit("A", 0, "text", " "), Cut(None, 0)) == []


@given(texts)
def test_a_word_is_what_split_says(text: str) -> None:
    assert [text[start:end] for start, end in word_spans(text)] == text.split()
