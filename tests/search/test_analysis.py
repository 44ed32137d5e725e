"""Terms."""

from __future__ import annotations

import sys

import pytest

from hybridcli.errors import MissingComponentError, UsageError
from hybridcli.search.analysis import STOPWORD_LANGUAGES, Analyzer, stopwords_of


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Net income, per-share: $1,234.5", ["net", "income", "per", "share", "1", "234", "5"]),
        ("CAGR_2023 (10-K)", ["cagr", "2023", "10", "k"]),
        ("Größe  ÉTÉ", ["größe", "été"]),
        ("e\u0301te\u0301", ["été"]),  # an accent written as a mark of its own
        ("\ufb01nance １２", ["finance", "12"]),  # a ligature, full-width digits
        ("現金 流量", ["現金", "流量"]),
        ("", []),
        ("… — ()", []),
    ],
)
def test_alphanumeric_terms(text: str, terms: list[str]) -> None:
    assert Analyzer().compiled()(text) == terms


def test_settings() -> None:
    assert Analyzer(lowercase=False).compiled()("Net NET") == ["Net", "NET"]
    assert Analyzer(stopwords=("the",)).compiled()("The the cat") == ["cat"]
    assert Analyzer(pattern=r"\w(?:-?\w)*").compiled()("10-K per-share") == ["10-k", "per-share"]
    assert Analyzer(pattern=r"\d*").compiled()("a1") == ["1"]


def test_stemmer() -> None:
    pytest.importorskip("Stemmer")
    assert Analyzer(stemmer="english").compiled()("Companies retrieving") == ["compani", "retriev"]
    with pytest.raises(UsageError, match="no stemmer for 'klingon'; there are: arabic"):
        Analyzer(stemmer="klingon").compiled()


def test_stemmer_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    with pytest.raises(MissingComponentError, match=r"needs PyStemmer\n.*pip install 'hybridcli\[stem\]'"):
        Analyzer(stemmer="english").compiled()


def test_bad_patterns() -> None:
    with pytest.raises(UsageError, match="is not a regular expression"):
        Analyzer(pattern="[").compiled()
    with pytest.raises(UsageError, match="write groups as"):
        Analyzer(pattern="(a)b").compiled()


@pytest.mark.parametrize("language", STOPWORD_LANGUAGES)
def test_stop_words(language: str) -> None:
    words = stopwords_of(language)
    assert words
    assert all(word == word.lower() for word in words)


def test_unknown_stop_words() -> None:
    with pytest.raises(UsageError, match="no stop words for 'klingon'; there are: danish"):
        stopwords_of("klingon")
