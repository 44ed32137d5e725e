"""What could change the conclusion: queries left out, labels not made, documents not judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hybridcli.evaluation.comparisons import Comparison, Inference, Pair, compare_pairs
from hybridcli.evaluation.resampling import Units
from hybridcli.evaluation.scores import Scores
from hybridcli.records import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """The comparisons again, under another assumption."""

    name: str
    scores: Scores
    units: Units

    def judged(self, pairs: Sequence[Pair], how: Inference) -> list[Comparison]:
        """Every comparison recomputed, in the same families."""
        return compare_pairs(self.scores, pairs, self.units, how)


def with_excluded(scores: Scores, excluded: Sequence[str], fill: Floats) -> Scores:
    """Add the excluded queries, each with the value ``fill`` (float64[R, M]) of its system and measure.

    Zero everywhere is the lower bound of every mean; a mean over trusted queries is what one would expect if
    the excluded ones were like them.
    """
    added = np.repeat(fill[:, :, None], len(excluded), axis=2)
    count = (len(scores.labels), len(excluded))
    return replace(
        scores,
        queries=[*scores.queries, *excluded],
        values=np.concatenate([scores.values, added], axis=2),
        answered=np.concatenate([scores.answered, np.zeros(count, dtype=bool)], axis=1),
        relevant=np.concatenate([scores.relevant, np.zeros(len(excluded), dtype=np.int32)]),
    )


@dataclass(frozen=True, slots=True)
class Share:
    """How often a value occurs among resolved and among unresolved queries."""

    value: str
    resolved: int
    unresolved: int


@dataclass(frozen=True, slots=True)
class Contrast:
    """A feature's mean among resolved and unresolved queries, and their difference in standard deviations."""

    feature: str
    resolved: float
    unresolved: float
    effect: float | None


def shares(values: Mapping[str, str], resolved: Sequence[str], unresolved: Sequence[str]) -> list[Share]:
    """Count each category on both sides; queries without one are counted as ``(none)``."""
    left = Counter(values.get(qid, "(none)") for qid in resolved)
    right = Counter(values.get(qid, "(none)") for qid in unresolved)
    return [Share(value, left[value], right[value]) for value in sorted(left | right)]


def contrasts(names: Sequence[str], resolved: Floats, unresolved: Floats) -> list[Contrast]:
    """Compare features [Q, F] of resolved and unresolved queries; the effect is over the pooled deviation."""
    result = []
    for at, name in enumerate(names):
        left, right = resolved[:, at], unresolved[:, at]
        effect = None
        if len(left) > 1 and len(right) > 1:
            pooled = (left.var(ddof=1) * (len(left) - 1) + right.var(ddof=1) * (len(right) - 1)) / (
                len(left) + len(right) - 2
            )
            effect = float((right.mean() - left.mean()) / np.sqrt(pooled)) if pooled > 0 else None
        means = [float(side.mean()) if len(side) else 0.0 for side in (left, right)]
        result.append(Contrast(name, means[0], means[1], effect))
    return result
