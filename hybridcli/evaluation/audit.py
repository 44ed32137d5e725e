"""How fair units are to a short input, and how precise labels are by a person's sample."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from hybridcli.records import Label

Z95 = 1.959963984540054  # two-sided 95 %


class Precision(NamedTuple):
    """Share of references judged right in a stratum of ``size`` references, with its 95 % interval."""

    stratum: str
    size: int
    judged: int
    right: int
    share: float
    low: float
    high: float


def earliest_starts(labels: Iterable[Label]) -> list[int]:
    """Give, for each (query, unit) in which a reference begins, the first word at which one does."""
    first: dict[tuple[str, str, int], int] = {}
    for label in labels:
        for span in label.spans:
            pair = label.qid, span.doc, span.unit
            first[pair] = min(span.start, first.get(pair, span.start))
    return list(first.values())


def stratum_of(label: Label, category: str | None) -> str:
    """Name the stratum of a label: category × literal or not × kind."""
    return f"{category or '-'}/{'literal' if label.literal else 'not-literal'}/{label.kind}"


def draw_sample(strata: Sequence[str], total: int, seed: int) -> list[int]:
    """Draw ``total`` rows, from every stratum in proportion to its size but at least one; ascending.

    ``strata``: the stratum of each row. All rows are drawn when there are not more. Raises ValueError when there
    are more strata than rows to draw.
    """
    sizes = dict(sorted(Counter(strata).items()))
    total = min(total, len(strata))
    if total < len(sizes):
        raise ValueError(f"{len(sizes)} strata need a sample of at least {len(sizes)}")
    quotas = _allocate(list(sizes.values()), total)
    generator = np.random.default_rng(seed)
    drawn: list[int] = []
    for stratum, quota in zip(sizes, quotas, strict=True):
        rows = [row for row, name in enumerate(strata) if name == stratum]
        drawn += generator.choice(rows, size=quota, replace=False).tolist()
    return sorted(drawn)


def _allocate(sizes: Sequence[int], total: int) -> list[int]:
    """Share out ``total`` in proportion to ``sizes``: one each, then where the share is furthest behind."""
    quotas = [1] * len(sizes)
    for _ in range(total - len(sizes)):
        behind = [
            size / sum(sizes) * total - quota if quota < size else -math.inf
            for size, quota in zip(sizes, quotas, strict=True)
        ]
        quotas[behind.index(max(behind))] += 1
    return quotas


def wilson(share: float, n: float) -> tuple[float, float]:
    """Give the 95 % score interval of a proportion seen in ``n`` draws (Wilson, JASA 1927)."""
    if n <= 0:
        return 0.0, 1.0
    scale = 1 + Z95**2 / n
    middle = share + Z95**2 / (2 * n)
    half = Z95 * math.sqrt(share * (1 - share) / n + Z95**2 / (4 * n * n))
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def precisions(strata: Sequence[str], judgements: Sequence[tuple[str, bool]]) -> list[Precision]:
    """Give the precision of each stratum that has judgements, then of all together.

    ``strata``: the stratum of every reference of the collection; ``judgements``: (stratum, right) of the judged.
    All together: the strata's shares weighted by their sizes; its interval is Wilson's at the sample size that a
    simple random sample of the same weights would have (Kish: 1 / Σ weight² / judged). Strata without any
    judgement are left out of it, and its ``size`` says so.
    """
    sizes = Counter(strata)
    rows = []
    for stratum in sorted({stratum for stratum, _ in judgements}):
        votes = [right for name, right in judgements if name == stratum]
        share = sum(votes) / len(votes)
        rows.append(
            Precision(stratum, sizes[stratum], len(votes), sum(votes), share, *wilson(share, len(votes)))
        )
    covered = sum(row.size for row in rows)
    if not rows:
        return [Precision("all", 0, 0, 0, 0.0, *wilson(0.0, 0))]
    share = sum(row.share * row.size for row in rows) / covered
    effective = 1 / sum((row.size / covered) ** 2 / row.judged for row in rows)
    judged, right = len(judgements), sum(right for _, right in judgements)
    return [*rows, Precision("all", covered, judged, right, share, *wilson(share, effective))]
