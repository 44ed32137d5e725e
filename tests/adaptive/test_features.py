"""Each feature counted by hand."""

from __future__ import annotations

import pytest

from hybridcli.adaptive.features import (
    FEATURES,
    WORD_LISTS,
    WordList,
    surface_features,
    word_file,
    word_lists,
)
from hybridcli.formats.words import read_words

LISTS = {
    "tickers": ["AAPL", "MSFT", "IBM", "V", "ALL", "BRK.B"],
    "acronyms": ["EPS", "R&D", "P/E", "US GAAP", "10-K"],
    "comparison_words": ["compared", "than", "more than", "vs", "year-over-year"],
    "statement_words": ["cash", "cash flow", "net income", "revenue"],
}
TEXT = "Is AAPL's R&D of $1,250 more than 10% of net income, compared to MSFT (NASDAQ: MSFT) in its 10-K?"
# words: Is|AAPL's|R&D|of|$1,250|more|than|10%|of|net|income,|compared|to|MSFT|(NASDAQ:|MSFT)|in|its|10-K?
BY_HAND = {
    "char_length": 97,
    "word_length": 19,
    "digit_count": 8,  # 1250, 10, 10
    "uppercase_token_count": 5,  # AAPL R&D MSFT NASDAQ MSFT; not 10-K
    "ticker_mention_count": 3,  # AAPL MSFT MSFT
    "parenthesised_ticker": 1,
    "acronym_count": 2,  # R&D, 10-K
    "comparison_word_count": 2,  # "more than" once, compared
    "statement_word_count": 1,  # net income
    "dollar_flag": 1,
    "percent_flag": 1,
    "mean_word_length": (97 - 18) / 19,
}


def features_of(text: str) -> dict[str, float]:
    return dict(zip(FEATURES, surface_features([text], word_lists(LISTS))[0].tolist(), strict=True))


def test_the_twelve_features_of_the_study_stand_in_order() -> None:
    assert list(FEATURES) == list(BY_HAND)
    assert all(known.summary for known in FEATURES.values())


@pytest.mark.parametrize("name", list(BY_HAND))
def test_a_text_counted_by_hand(name: str) -> None:
    assert features_of(TEXT)[name] == pytest.approx(BY_HAND[name], abs=0)


def test_an_empty_text_is_all_zero() -> None:
    assert set(features_of("").values()) == {0.0}


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("naïve café", "char_length", 10),
        ("a\tb\u00a0c", "word_length", 3),
        ("٣ and 4", "digit_count", 2),
        ("A USA I", "uppercase_token_count", 1),
        ("all of V", "ticker_mention_count", 0),  # lower case; a single letter
        ("ALL BRK.B", "ticker_mention_count", 2),
        ("Visa (V)", "parenthesised_ticker", 1),
        ("Visa (XX)", "parenthesised_ticker", 0),
        ("Visa (NYSE: V )", "parenthesised_ticker", 1),
        ("Visa V", "parenthesised_ticker", 0),
        ("eps and us gaap, not us", "acronym_count", 2),
        ("year-over-year vs. less", "comparison_word_count", 2),
        ("Cash, cash flow", "statement_word_count", 2),
        ("5 dollars", "dollar_flag", 0),
        ("5 percent", "percent_flag", 0),
        ("ab abcd", "mean_word_length", 3),
    ],
)
def test_corners(text: str, name: str, value: float) -> None:
    assert features_of(text)[name] == value


def test_the_longest_phrase_wins_and_nothing_counts_twice() -> None:
    found = WordList.of(["net", "net income", "income tax"])
    assert found.count(["net", "income", "tax", "net"]) == 2


@pytest.mark.parametrize("name", WORD_LISTS)
def test_the_shipped_lists_read_and_hold_no_duplicates(name: str) -> None:
    words = read_words(word_file(name))
    assert len(words) == len(set(words)) > 40
