"""What a router may see: inputs of any query, and for training queries only, what came out of each choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hybridcli.adaptive.models import Mask
from hybridcli.records import Codes, Floats, Ints

# means closer than this, relative to the largest, are the same mean
TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """What is known of n queries before any relevance judgement.

    ``top_scores``: float64[n, R], each run's first score, NaN where it retrieved nothing. ``features``:
    float64[n, F] or None. ``embeddings``: float64[n, D] or None. ``categories``: n names or None.
    """

    top_scores: Floats
    features: Floats | None = None
    embeddings: Floats | None = None
    categories: Sequence[str] | None = None

    def take(self, rows: Ints) -> Inputs:
        """The same of some queries."""
        return Inputs(
            self.top_scores[rows],
            None if self.features is None else self.features[rows],
            None if self.embeddings is None else self.embeddings[rows],
            None if self.categories is None else [self.categories[row] for row in rows.tolist()],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """The choices each learned router makes on its validation queries, and how it is grown."""

    trees: int = 200
    depths: tuple[int | None, ...] = (3, 6, None)
    leaves: tuple[int, ...] = (20, 10, 5)
    penalties: tuple[float, ...] = (1000.0, 300.0, 100.0, 50.0, 10.0, 1.0)
    bin_penalties: tuple[float, ...] = (1000.0, 100.0, 10.0, 1.0)
    shares: tuple[float, ...] = (0.25, 0.5, 0.75, 1.0)
    jobs: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """n training queries with their outcomes, split into a part to fit on and a part to choose on.

    ``points``: float64[G, R], the grid's weights in order of preference among equals (nearest to equal weights
    first). ``curve``: float64[G, n], the measure of each query at each point. ``singles``: float64[R, n], the
    measure of each run alone. ``best_ranks``: int32[R, n], best rank of a relevant document in each run, 0 where
    it found none. ``missed``: the rank that counts for none found (depth + 1). ``importance``: float64[n], the
    weight of each query in a mean. ``evaluate(weights float64[M, m, R], rows int64[m]) -> float64[M, m]``: the
    measure of some of these queries under other weights. ``validation``: bool[n]; none set: there is no such part.
    """

    inputs: Inputs
    points: Floats
    curve: Floats
    singles: Floats
    best_ranks: Codes
    missed: int
    importance: Floats
    validation: Mask
    evaluate: Callable[[Floats, Ints], Floats]
    settings: Settings = field(default_factory=Settings)

    @property
    def n_runs(self) -> int:
        """Number of runs, R."""
        return int(self.points.shape[1])

    @property
    def reachable(self) -> Mask:
        """Queries for which any run found a relevant document: bool[n]. The others teach nothing about weights."""
        found: Mask = np.any(self.best_ranks > 0, axis=0)
        return found

    @property
    def targets(self) -> Floats:
        """Study A's target for weights: the runs' shares of the reciprocal best ranks: float64[n, R].

        For two runs this is r_other / (r_one + r_other).
        """
        ranks = np.where(self.best_ranks > 0, self.best_ranks, self.missed)
        reciprocal = 1.0 / ranks.T
        shares: Floats = reciprocal / reciprocal.sum(axis=1, keepdims=True)
        return shares

    def mean(self, values: Floats, rows: Mask) -> Floats:
        """Mean of float64[…, n] over some queries, each counted by its importance: float64[…]."""
        weight = self.importance[rows]
        means: Floats = values[..., rows] @ weight / weight.sum()
        return means

    def choose(self, weights: Floats) -> tuple[int, int]:
        """Choose among M settings by the validation mean of the weights they predict.

        ``weights``: float64[M, v, R] for the validation queries. The first of equals wins; gives (setting,
        number of settings that tie with it).
        """
        rows = np.flatnonzero(self.validation)
        values = self.evaluate(weights, rows)
        importance = self.importance[rows]
        return first_best(values @ importance / importance.sum())


def first_best(means: Floats) -> tuple[int, int]:
    """The first of the highest means, and how many are equal to it but for rounding."""
    top = means.max()
    equal = means >= top - TOLERANCE * max(abs(top), 1.0)
    return int(np.argmax(equal)), int(equal.sum())


def normalised(weights: Floats) -> Floats:
    """Clip predicted weights to [0, 1] and make each row sum to 1; a row of zeros becomes equal weights."""
    clipped = np.clip(weights, 0.0, 1.0)
    total = clipped.sum(axis=-1, keepdims=True)
    equal = np.full_like(clipped, 1.0 / clipped.shape[-1])
    np.divide(clipped, total, out=equal, where=total > 0)
    return equal


@dataclass(frozen=True, slots=True)
class Fitted:
    """A fitted router: plain data that JSON holds exactly, the setting it chose and how many tied with that."""

    state: dict[str, Any]
    choice: str = ""
    tied: int = 1


@dataclass(frozen=True, slots=True)
class Router:
    """A registry entry.

    ``needs``: what inputs it reads (``features``, ``embeddings``, ``categories``). ``validation``: whether a part of
    the training groups is set aside for its choices: ``none``, ``optional`` or ``required``.
    ``fit(training, rng) -> Fitted``.
    ``weights(state, inputs) -> float64[n, R]``.
    """

    name: str
    summary: str
    source: str
    needs: tuple[str, ...]
    validation: str
    fit: Callable[[Training, np.random.Generator], Fitted]
    weights: Callable[[Mapping[str, Any], Inputs], Floats]


ROUTERS: dict[str, Router] = {}


def router(
    name: str,
    *,
    weights: Callable[[Mapping[str, Any], Inputs], Floats],
    source: str,
    needs: tuple[str, ...] = (),
    validation: str = "none",
) -> Callable[[Callable[[Training, np.random.Generator], Fitted]], Callable[..., Fitted]]:
    """Register a fitting function; the first line of its docstring is its summary."""

    def register(function: Callable[[Training, np.random.Generator], Fitted]) -> Callable[..., Fitted]:
        summary = (function.__doc__ or "").strip().splitlines()[0]
        ROUTERS[name] = Router(name, summary, source, needs, validation, function, weights)
        return function

    return register
