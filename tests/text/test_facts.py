"""Concepts of the facts that a window prints."""

from __future__ import annotations

import pytest

from hybridcli.records import Unit
from hybridcli.text.cutting import cut
from hybridcli.text.facts import concept_words, concepts_of

#                               0      6 8    13   18  22
FACTS = Unit("A", 1, "table", "Sales 391 Cost  210 Tax 24", facts=((24, 26, "us-gaap:Tax"), (6, 9, "us-gaap:Sales"),
             (16, 19, "us-gaap:Cost"), (16, 19, "x:Cost"), (6, 7, "us-gaap:Sales"), (9, 9, "x:Empty")))  # fmt: skip


def test_each_concept_once_a_window() -> None:
    windows = cut(FACTS, size=3, overlap=0)
    assert [window.contents for window in windows] == ["Sales 391 Cost", "210 Tax 24"]
    assert list(concepts_of(FACTS, windows)) == [
        ("A:1:0", "us-gaap:Sales"),
        ("A:1:1", "us-gaap:Cost"),
        ("A:1:1", "x:Cost"),
        ("A:1:1", "us-gaap:Tax"),
    ]


def test_a_fact_over_the_border_belongs_to_both() -> None:
    unit = Unit("A", 1, "text", "aa bb cc", facts=((1, 5, "x:Note"),))
    assert list(concepts_of(unit, cut(unit, size=1, overlap=0))) == [("A:1:0", "x:Note"), ("A:1:1", "x:Note")]


@pytest.mark.parametrize(
    ("concept", "words"),
    [
        ("us-gaap:IncomeTaxExpenseBenefit", "income tax expense benefit"),
        ("aapl:EBITDAMargin", "ebitda margin"),
        ("FairValueInputsLevel3", "fair value inputs level 3"),
        ("dei:AmendmentFlag", "amendment flag"),
        ("x:Sales_USTotal", "sales us total"),
        ("us-gaap:ESOPDebtGuarantees", "esop debt guarantees"),
        ("x:ÜberschussProJahr", "überschuss pro jahr"),
    ],
)
def test_a_name_in_words(concept: str, words: str) -> None:
    assert concept_words(concept) == words
