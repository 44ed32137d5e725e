"""Turning text into the terms of a sparse index; the same settings serve documents and queries."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hybridcli.errors import MissingComponentError, UsageError

Terms = Callable[[str], list[str]]

ALPHANUMERIC = r"[^\W_]+"
STOPWORD_LANGUAGES = (
    "danish",
    "dutch",
    "english",
    "french",
    "german",
    "italian",
    "norwegian",
    "portuguese",
    "russian",
    "spanish",
    "swedish",
    "turkish",
)


@dataclass(frozen=True, slots=True)
class Analyzer:
    """Terms are the matches of ``pattern`` in the text, after Unicode NFKC and, if set, lower-casing.

    ``stopwords`` are dropped, then ``stemmer`` (a Snowball language, or None) is applied to what is left.
    """

    pattern: str = ALPHANUMERIC
    lowercase: bool = True
    stopwords: tuple[str, ...] = ()
    stemmer: str | None = None

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Analyzer:
        """Make the analyzer again from the fields that an index stores as JSON."""
        return cls(**{**stored, "stopwords": tuple(stored["stopwords"])})

    def compiled(self) -> Terms:
        """Give the function from a text to its terms, in order.

        Raises UsageError for a bad pattern or an unknown stemmer, MissingComponentError without PyStemmer.
        """
        try:
            pattern = re.compile(self.pattern)
        except re.error as error:
            raise UsageError(f"--pattern {self.pattern!r} is not a regular expression: {error}") from None
        if pattern.groups:
            raise UsageError(
                f"--pattern {self.pattern!r}: write groups as (?:…); the whole match is the term"
            )
        find, lowercase, drop = pattern.findall, self.lowercase, frozenset(self.stopwords)
        stem = None if self.stemmer is None else _snowball(self.stemmer)

        def terms(text: str) -> list[str]:
            text = unicodedata.normalize("NFKC", text)
            found = [term for term in find(text.lower() if lowercase else text) if term and term not in drop]
            return found if stem is None else stem(found)

        return terms


def stopwords_of(language: str) -> tuple[str, ...]:
    """The stop words that bm25s carries for a language, lower-case."""
    from bm25s import stopwords

    if language not in STOPWORD_LANGUAGES:
        raise UsageError(f"no stop words for {language!r}; there are: {', '.join(STOPWORD_LANGUAGES)}")
    name = "EN" if language == "english" else language.upper()
    return tuple(getattr(stopwords, f"STOPWORDS_{name}"))


def _snowball(language: str) -> Callable[[list[str]], list[str]]:
    try:
        import Stemmer
    except ImportError:
        raise MissingComponentError("--stemmer needs PyStemmer", "pip install 'hybridcli[stem]'") from None
    try:
        stem: Callable[[list[str]], list[str]] = Stemmer.Stemmer(language).stemWords
    except KeyError:
        raise UsageError(
            f"no stemmer for {language!r}; there are: {', '.join(Stemmer.algorithms())}"
        ) from None
    return stem
