"""Bagged support vector regressions on query and passage vectors, each on a part of the training queries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from hybridcli.adaptive.pairs import Pairs
from hybridcli.errors import UsageError
from hybridcli.records import Floats, Ints

# up to so many examples a kernel matrix is made at once (8 bytes a pair of them); beyond that libsvm makes rows of it
AT_ONCE = 12_000
CACHE_MIB = 1000
SCORED_AT_ONCE = 2048


@dataclass(frozen=True, slots=True)
class Regression:
    """Settings of one support vector regression; ``gamma`` None: 1 / (2 D · variance), scikit-learn's ``scale``."""

    cost: float = 1.0
    epsilon: float = 0.1
    gamma: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """A fitted regression: sum of coefficients · exp(−gamma · ‖x − support‖²), plus the intercept."""

    support: Pairs
    coefficients: Floats
    intercept: float
    gamma: float

    def predict(self, pairs: Pairs) -> Floats:
        """Predict the relevance of pairs: float64[N], near 1 and 0 for what looks relevant and what does not."""
        values = np.full(len(pairs), self.intercept)
        if len(self.support):
            for start in range(0, len(pairs), SCORED_AT_ONCE):
                rows = np.arange(start, min(start + SCORED_AT_ONCE, len(pairs)))
                values[rows] += kernel(pairs.take(rows), self.support, self.gamma) @ self.coefficients
        return values


def ring_subsets(count: int, models: int, overlap: float, rng: np.random.Generator) -> list[Ints]:
    """Lay ``count`` queries on a ring in random order and cut an arc for each model.

    Arcs begin at equal distances and are so long that each shares the part ``overlap`` with the next; every query
    is in as many of them as another, but for rounding. One model has all queries.
    """
    if not 0 <= overlap < 1:
        raise UsageError(f"--overlap {overlap:g}: a share from 0 to below 1 is needed")
    if models > 1 and models * (1 - overlap) <= 1:
        raise UsageError(
            f"--models {models} with --overlap {overlap:g}: every model would have all queries; use more models "
            "or less overlap"
        )
    length = count if models == 1 else math.ceil(count / (models * (1 - overlap)) - 1e-9)
    order = rng.permutation(count)
    starts = np.arange(models) * count // models
    return [np.sort(order[(start + np.arange(length)) % count]) for start in starts]


def random_subsets(count: int, models: int, share: float, rng: np.random.Generator) -> list[Ints]:
    """Draw a share of ``count`` queries for each model, without replacement; two have ``share`` of theirs in common.

    That is their mean; at least one query is drawn.
    """
    if not 0 < share <= 1:
        raise UsageError(f"--share {share:g}: a share above 0 and up to 1 is needed")
    size = max(1, round(share * count))
    return [np.sort(rng.permutation(count)[:size]) for _ in range(models)]


def kernel(left: Pairs, right: Pairs, gamma: float) -> Floats:
    """RBF kernel of query ⊕ passage vectors: float64[N, M]; products are made for distinct vectors only."""
    queries, passages, query, passage = left.vectors()
    others, texts, other, text = right.vectors()
    distance = _distance(passages, texts).take(text, axis=1).take(passage, axis=0)
    distance += _distance(queries, others).take(other, axis=1).take(query, axis=0)
    distance *= -gamma
    np.exp(distance, out=distance)
    return distance


def _distance(left: Floats, right: Floats) -> Floats:
    """Squared distances between rows."""
    products = left @ right.T
    products *= -2
    products += np.einsum("nd,nd->n", left, left)[:, None]
    products += np.einsum("nd,nd->n", right, right)
    return products


def scale_of(pairs: Pairs) -> float:
    """scikit-learn's ``gamma="scale"`` for these examples: 1 / (2 D · variance of all features)."""
    queries, passages, query, passage = pairs.vectors()
    total = queries.sum(axis=1)[query].sum() + passages.sum(axis=1)[passage].sum()
    squares = (queries**2).sum(axis=1)[query].sum() + (passages**2).sum(axis=1)[passage].sum()
    width = queries.shape[1] + passages.shape[1]
    variance = squares / (len(pairs) * width) - (total / (len(pairs) * width)) ** 2
    return 1.0 / (width * variance) if variance > 1e-12 else 1.0


def fit_machine(pairs: Pairs, targets: Floats, how: Regression) -> Machine:
    """Fit one regression with libsvm (Chang & Lin 2011): exact, whatever the number of examples."""
    from sklearn.svm import SVR

    gamma = scale_of(pairs) if how.gamma is None else how.gamma
    if len(pairs) <= AT_ONCE:
        model = SVR(kernel="precomputed", C=how.cost, epsilon=how.epsilon, cache_size=CACHE_MIB)
        model.fit(kernel(pairs, pairs, gamma), targets)
    else:
        model = SVR(kernel="rbf", gamma=gamma, C=how.cost, epsilon=how.epsilon, cache_size=CACHE_MIB)
        model.fit(pairs.features(), targets)
    return Machine(
        pairs.take(model.support_.astype(np.int64)), model.dual_coef_[0], float(model.intercept_[0]), gamma
    )


def fit_machines(parts: Sequence[tuple[Pairs, Floats]], how: Regression, jobs: int) -> list[Machine]:
    """Fit a regression on each part; libsvm leaves Python's lock, so threads share the work."""
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda part: fit_machine(part[0], part[1], how), parts))


def predictions(machines: Sequence[Machine], pairs: Pairs, jobs: int) -> Floats:
    """What every machine says of every pair: float64[machines, N]."""
    with ThreadPoolExecutor(jobs) as pool:
        return np.stack(list(pool.map(lambda machine: machine.predict(pairs), machines)))
