"""How fair units are to a short input, and how precise labels are by a person's sample."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hybridcli.errors import UsageError
from hybridcli.records import Label

Name = tuple[str, str]  # qid, reference
Strata = Mapping[Name, str]
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


class Drawn(NamedTuple):
    """A reference of the sample, its stratum and that one's size; it stands for ``weight`` references."""

    qid: str
    reference: str
    stratum: str
    size: int
    weight: float


def earliest_starts(labels: Iterable[Label]) -> list[int]:
    """Give, for each (query, unit) in which a reference begins, the first word at which one does."""
    first: dict[tuple[str, str, int], int] = {}
    for label in labels:
        for span in label.spans:
            pair = label.qid, span.doc, span.unit
            first[pair] = min(span.start, first.get(pair, span.start))
    return list(first.values())


def strata_of(labels: Iterable[Label], categories: Mapping[str, str | None]) -> Strata:
    """Give the stratum of each resolved reference: category × literal or not × kind."""
    return {
        (label.qid, label.reference): "/".join(
            (categories.get(label.qid) or "-", "literal" if label.literal else "not-literal", label.kind)
        )
        for label in labels
        if not label.reason
    }


def draw_sample(strata: Strata, total: int, seed: int) -> list[Drawn]:
    """Draw ``total`` references, from every stratum in proportion to its size but at least one; in their order.

    All are drawn when there are not more. Raises UsageError when there are more strata than references to draw.
    """
    names = list(strata)
    sizes = dict(sorted(Counter(strata.values()).items()))
    total = min(total, len(names))
    if total < len(sizes):
        raise UsageError(f"the {len(sizes)} strata need a sample of at least {len(sizes)}, not {total}")
    generator = np.random.default_rng(seed)
    drawn: dict[int, Drawn] = {}
    for (stratum, size), quota in zip(sizes.items(), _allocate(list(sizes.values()), total), strict=True):
        rows = [row for row, name in enumerate(names) if strata[name] == stratum]
        for row in generator.choice(rows, size=quota, replace=False).tolist():
            qid, reference = names[row]
            drawn[row] = Drawn(qid, reference, stratum, size, size / quota)
    return [drawn[row] for row in sorted(drawn)]


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


def precisions(strata: Strata, verdicts: Mapping[Name, bool]) -> list[Precision]:
    """Give the precision of each stratum that has verdicts (True: right), then of all together.

    All together: the strata's shares weighted by their sizes; its interval is Wilson's at the sample size that a
    simple random sample of the same weights would have (Kish: 1 / Σ weight² / judged). Strata without any
    verdict are left out of it, and its ``size`` says so.
    """
    sizes = Counter(strata.values())
    votes: dict[str, list[bool]] = defaultdict(list)
    for name, right in verdicts.items():
        votes[strata[name]].append(right)
    rows = []
    for stratum, rights in sorted(votes.items()):
        share = sum(rights) / len(rights)
        interval = wilson(share, len(rights))
        rows.append(Precision(stratum, sizes[stratum], len(rights), sum(rights), share, *interval))
    if not rows:
        return [Precision("all", 0, 0, 0, 0.0, *wilson(0.0, 0))]
    covered = sum(row.size for row in rows)
    share = sum(row.share * row.size for row in rows) / covered
    effective = 1 / sum((row.size / covered) ** 2 / row.judged for row in rows)
    all_right = sum(verdicts.values())
    return [*rows, Precision("all", covered, len(verdicts), all_right, share, *wilson(share, effective))]
