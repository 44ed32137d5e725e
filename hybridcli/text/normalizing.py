"""One form of a text in which quotes, dashes, blanks, case, accents and table cell marks no longer matter.

Both sides of a comparison pass through ``fold``: letters and digits stay, in compatibility form (NFKD, so that
the ligature ``fi`` and a no-break blank are ordinary), without accents and in lower case; a full stop stays only
between two digits, so that 5.2 is not 52. All else goes: ``$ 1,234``, ``$1,234`` and ``( 1234 )`` agree.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hybridcli.records import Codes, Ints

BLANK, POINT, ZERO, NINE = 32, 46, 48, 57


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """A folded text and, for each of its characters, the position in the original text: int64[len(text)]."""

    text: str
    offsets: Ints


def fold(text: str) -> Folded:
    """Fold a text; ``offsets`` lead from each folded character back to where it came from."""
    codes, offsets = _fold_codes(text)
    keep = codes != BLANK
    return Folded(codes[keep].astype("<u4").tobytes().decode("utf-32-le"), offsets[keep])


def words_of(text: str) -> list[str]:
    """Give the folded words of a text; ``1,234`` is the two words ``1`` and ``234`` wherever it stands."""
    codes, _ = _fold_codes(text)
    return codes.astype("<u4").tobytes().decode("utf-32-le").split()


def word_overlap(reference: str, text: str) -> float:
    """Give the share of the reference's words, each as often as it stands there, that the text has too: 0 … 1."""
    wanted = Counter(words_of(reference))
    return (wanted & Counter(words_of(text))).total() / max(1, wanted.total())


def codes_of(text: str) -> Codes:
    """Give the code points of a text: int32[len(text)]."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<i4")


def _fold_codes(text: str) -> tuple[Codes, Ints]:
    """Fold to letters, digits, points between digits and blanks (what separates words), with original positions."""
    codes = codes_of(text)
    if not len(codes):
        return codes, np.zeros(0, dtype=np.int64)
    present = np.flatnonzero(np.bincount(codes))
    folds = [_fold_code(int(code)) for code in present]
    lengths = np.zeros(present[-1] + 1, dtype=np.int64)
    lengths[present] = [len(folded) for folded in folds]
    table = np.full((present[-1] + 1, max(1, lengths.max())), BLANK, dtype=np.int32)
    for code, folded in zip(present, folds, strict=True):
        table[code, : len(folded)] = folded
    counts = lengths[codes]
    offsets = np.repeat(np.arange(len(codes), dtype=np.int64), counts)
    starts = np.cumsum(counts) - counts
    nth = np.arange(len(offsets), dtype=np.int64) - starts[offsets]
    folded_codes = table[codes[offsets], nth]
    digit = np.zeros(len(folded_codes) + 2, dtype=bool)
    digit[1:-1] = (folded_codes >= ZERO) & (folded_codes <= NINE)
    folded_codes[(folded_codes == POINT) & ~(digit[:-2] & digit[2:])] = BLANK
    return folded_codes, offsets


@lru_cache(maxsize=1 << 16)
def _fold_code(code: int) -> tuple[int, ...]:
    """Fold one character: nothing for accents and invisible marks, else letters, digits, points or blanks."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", chr(code)).casefold())
    return tuple(
        ord(char) if char.isalnum() or char == "." else BLANK
        for char in plain
        if unicodedata.category(char) not in ("Mn", "Me", "Cf")
    )
