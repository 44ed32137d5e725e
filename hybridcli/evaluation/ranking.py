"""One winner out of many cells: mean ranks over cells, Friedman's test, Nemenyi's critical difference.

A cell is a measure on a set of queries or documents; in each, the systems are ranked. The tests take cells as
independent, which measures of the same queries are not: what they find apart may still be chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybridcli.records import Floats, Ints

DIGITS = 12  # values that agree in so many decimals are tied


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """``ranks``: float64[S, C], 1 is the highest value of a cell, tied systems share their mean rank.

    ``chi2``, ``p``: Friedman's test with correction for ties; ``f``, ``p_f``: Iman and Davenport's less
    conservative form. None where nothing can be said. ``critical``: mean ranks that differ by less are not told
    apart (Nemenyi); 0 for a single system or without cells.
    """

    ranks: Floats
    chi2: float | None
    p: float | None
    f: float | None
    p_f: float | None
    critical: float

    @property
    def means(self) -> Floats:
        """Mean rank of each system: float64[S]."""
        means: Floats = self.ranks.mean(axis=1)
        return means

    @property
    def order(self) -> Ints:
        """Systems by mean rank, the best first; equals in the order given."""
        return np.argsort(np.round(self.means, DIGITS), kind="stable")


def ranks_in_cells(values: Floats) -> Floats:
    """Rank S systems in each of C cells, the highest value first, ties by mean rank: float64[S, C]."""
    rounded = np.round(values, DIGITS)
    above = (rounded[None, :, :] > rounded[:, None, :]).sum(axis=1)
    equal = (rounded[None, :, :] == rounded[:, None, :]).sum(axis=1)
    ranks: Floats = above + (equal + 1) / 2.0
    return ranks


def rank_systems(values: Floats, level: float = 0.95) -> Ranking:
    """Rank S systems over C cells, float64[S, C] (Friedman 1937; Iman & Davenport 1980; Nemenyi 1963)."""
    from scipy.special import chdtrc, fdtrc

    systems, cells = values.shape
    ranks = ranks_in_cells(values)
    centre = (systems + 1) / 2.0
    spread = float(((ranks - centre) ** 2).sum())
    if systems < 2 or not cells or not spread:
        return Ranking(ranks, None, None, None, None, critical_difference(systems, cells, level))
    chi2 = (systems - 1) * float(((ranks.sum(axis=1) - cells * centre) ** 2).sum()) / spread
    rest = cells * (systems - 1) - chi2
    f = (cells - 1) * chi2 / rest if rest > 1e-9 else None
    p_f = None if f is None or cells < 2 else float(fdtrc(systems - 1, (systems - 1) * (cells - 1), f))
    critical = critical_difference(systems, cells, level)
    return Ranking(ranks, chi2, float(chdtrc(systems - 1, chi2)), f, p_f, critical)


def critical_difference(systems: int, cells: int, level: float = 0.95) -> float:
    """Nemenyi's critical difference of mean ranks: q · sqrt(S (S + 1) / 6C), q from the studentised range / √2.

    Source: Demšar 2006, section 3.2.2.
    """
    from scipy.stats import studentized_range

    if systems < 2 or not cells:
        return 0.0
    q = float(studentized_range.ppf(level, systems, np.inf)) / np.sqrt(2.0)
    return float(q * np.sqrt(systems * (systems + 1) / (6.0 * cells)))


def distinct_cells(values: Floats) -> tuple[Ints, dict[int, int]]:
    """Cells, float64[S, C], that say something of their own, and which earlier cell each of the others repeats.

    On judgements of 0 and 1, P@1 and nDCG@1 are one measure: counting both would give it a double vote.
    """
    kept: dict[bytes, int] = {}
    repeats: dict[int, int] = {}
    for cell, column in enumerate(np.round(values, DIGITS).T):
        first = kept.setdefault((column + 0.0).tobytes(), cell)
        if first != cell:
            repeats[cell] = first
    return np.array(sorted(kept.values()), dtype=np.int64), repeats
