"""The query-surface features of study A (arXiv 2608.00183): twelve numbers read off a query's text.

A *word* is what stands between blanks. A *token* is a run of letters and digits, which may be joined inside by
one of ``& . / -`` (``R&D``, ``P/E``, ``10-K`` are one token each). The word lists are data files in ``words/``,
one word or phrase a line, that a user can replace.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np

from hybridcli.records import Floats

TOKEN = re.compile(r"[^\W_]+(?:[&./-][^\W_]+)*")
# (AAPL), (NYSE: IBM), (NASDAQ:MSFT)
PARENTHESISED = re.compile(r"\(\s*(?:[A-Za-z ]+:\s*)?([A-Z][A-Z.]{0,5})\s*\)")
WORD_LISTS = ("tickers", "acronyms", "comparison_words", "statement_words")


@dataclass(frozen=True, slots=True)
class WordList:
    """Words and phrases, found by their first token. ``phrases``: token sequences by first token, longest first."""

    phrases: Mapping[str, Sequence[tuple[str, ...]]]

    @classmethod
    def of(cls, entries: Sequence[str], *, fold: bool = True) -> WordList:
        """Build from one entry a word or phrase; ``fold`` makes it blind to case."""
        found: dict[str, set[tuple[str, ...]]] = {}
        for entry in entries:
            tokens = tuple(TOKEN.findall(entry.lower() if fold else entry))
            if tokens:
                found.setdefault(tokens[0], set()).add(tokens)
        return cls({first: sorted(phrases, key=lambda p: (-len(p), p)) for first, phrases in found.items()})

    def __contains__(self, word: str) -> bool:
        return (word,) in self.phrases.get(word, ())

    def count(self, tokens: Sequence[str]) -> int:
        """Count entries from left to right, the longest at each place, without overlap."""
        found = position = 0
        while position < len(tokens):
            for phrase in self.phrases.get(tokens[position], ()):
                if tuple(tokens[position : position + len(phrase)]) == phrase:
                    found += 1
                    position += len(phrase)
                    break
            else:
                position += 1
        return found


@dataclass(frozen=True, slots=True)
class Query:
    """A query's text, cut once for all features; ``folded`` are the tokens in lower case."""

    text: str
    words: list[str]
    tokens: list[str]
    folded: list[str]
    lists: Mapping[str, WordList]


@dataclass(frozen=True, slots=True)
class Feature:
    """One number of a query: its name, what it is in words, and the function that reads it."""

    name: str
    summary: str
    value: Callable[[Query], float]


FEATURES: dict[str, Feature] = {}


def feature(name: str) -> Callable[[Callable[[Query], float]], Callable[[Query], float]]:
    """Register a feature; the function's docstring is its description."""

    def register(function: Callable[[Query], float]) -> Callable[[Query], float]:
        FEATURES[name] = Feature(name, (function.__doc__ or "").strip(), function)
        return function

    return register


def word_file(name: str) -> str:
    """Path of the word list ``name`` that comes with the package."""
    return str(resources.files("hybridcli.adaptive") / "words" / f"{name}.txt")


def word_lists(entries: Mapping[str, Sequence[str]]) -> dict[str, WordList]:
    """Make the lists that the features read; tickers only are case-sensitive (``all`` is no ticker, ``ALL`` is)."""
    return {name: WordList.of(entries[name], fold=name != "tickers") for name in WORD_LISTS}


def surface_features(texts: Sequence[str], lists: Mapping[str, WordList]) -> Floats:
    """Read all registered features off Q texts: float64[Q, F], columns in the order of ``FEATURES``."""
    rows = np.zeros((len(texts), len(FEATURES)))
    for row, text in enumerate(texts):
        tokens = TOKEN.findall(text)
        query = Query(text, text.split(), tokens, [token.lower() for token in tokens], lists)
        rows[row] = [known.value(query) for known in FEATURES.values()]
    return rows


@feature("char_length")
def char_length(query: Query) -> float:
    """characters of the text, blanks included"""
    return len(query.text)


@feature("word_length")
def word_length(query: Query) -> float:
    """words between blanks"""
    return len(query.words)


@feature("digit_count")
def digit_count(query: Query) -> float:
    """decimal digits"""
    return sum(character.isdecimal() for character in query.text)


@feature("uppercase_token_count")
def uppercase_token_count(query: Query) -> float:
    """tokens with at least two letters, all of them capital (`R&D`, `EPS`; not `A`, `10-K`)"""
    return sum(token.isupper() and sum(map(str.isalpha, token)) > 1 for token in query.tokens)


@feature("ticker_mention_count")
def ticker_mention_count(query: Query) -> float:
    """tokens that are a listed ticker of at least two characters, in capitals"""
    return sum(len(token) > 1 and token in query.lists["tickers"] for token in query.tokens)


@feature("parenthesised_ticker")
def parenthesised_ticker(query: Query) -> float:
    """1 if a listed ticker stands in parentheses, alone or after an exchange (`(V)`, `(NYSE: IBM)`)"""
    return any(name in query.lists["tickers"] for name in PARENTHESISED.findall(query.text))


@feature("acronym_count")
def acronym_count(query: Query) -> float:
    """listed financial acronyms, in any case"""
    return query.lists["acronyms"].count(query.folded)


@feature("comparison_word_count")
def comparison_word_count(query: Query) -> float:
    """listed words and phrases of comparison and change"""
    return query.lists["comparison_words"].count(query.folded)


@feature("statement_word_count")
def statement_word_count(query: Query) -> float:
    """listed words and phrases of financial statements"""
    return query.lists["statement_words"].count(query.folded)


@feature("dollar_flag")
def dollar_flag(query: Query) -> float:
    """1 if the text has a dollar sign"""
    return "$" in query.text


@feature("percent_flag")
def percent_flag(query: Query) -> float:
    """1 if the text has a percent sign"""
    return "%" in query.text


@feature("mean_word_length")
def mean_word_length(query: Query) -> float:
    """mean characters of a word, 0 without words"""
    return sum(map(len, query.words)) / len(query.words) if query.words else 0
