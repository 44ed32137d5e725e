"""Re-rankers in one registry: each learns from training queries' candidates and scores those of other queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hybridcli.adaptive.bagging import Regression, fit_machines, predictions, random_subsets, ring_subsets
from hybridcli.adaptive.pairs import Lists, Pairs
from hybridcli.errors import UsageError
from hybridcli.records import Floats, Ints

Scorer = Callable[[Pairs], Floats]
VOTES = {
    "sum": "the models' predictions are added up",
    "count": "the models that predict at least 0.5 are counted",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a re-ranker is told.

    ``k``: candidates of each query. ``models``, ``overlap``: bagged regressions and the share of its training
    queries that each has in common with the next; ``share``: draw this share at random for each instead.
    ``negatives``: candidates that are not relevant, drawn for each training query and model; None: all.
    ``vote``: one of ``VOTES``. ``jobs``: threads, without effect on what comes out.
    """

    k: int = 50
    models: int = 35
    overlap: float = 0.6
    share: float | None = None
    negatives: int | None = None
    cost: float = 1.0
    epsilon: float = 0.1
    gamma: float | None = None
    vote: str = "sum"
    jobs: int = 1

    def __post_init__(self) -> None:
        if self.vote not in VOTES:
            raise UsageError(f"unknown --vote {self.vote!r}; choose from {', '.join(VOTES)}")
        if min(self.k, self.models) < 1 or (self.negatives is not None and self.negatives < 1):
            raise UsageError("k, models and negatives must be at least 1")
        above = (self.cost, 1.0 if self.gamma is None else self.gamma)
        if not (min(above) > 0 and self.epsilon >= 0 and np.isfinite([*above, self.epsilon]).all()):
            raise UsageError("cost and gamma must be numbers above 0, epsilon one of at least 0")


@dataclass(frozen=True, slots=True)
class Reranker:
    """A registry entry.

    ``reads``: ``vectors`` or ``texts``. ``learns``: whether it needs training queries.
    ``knobs``: the settings that it takes. ``fit(training, settings, rng)`` gives a function from pairs to float64[N].
    """

    name: str
    summary: str
    source: str
    reads: str
    learns: bool
    knobs: tuple[str, ...]
    fit: Callable[[Lists, Settings, np.random.Generator], Scorer]


RERANKERS: dict[str, Reranker] = {}


def reranker(
    name: str, *, source: str, reads: str = "vectors", learns: bool = True, knobs: tuple[str, ...] = ()
) -> Callable[[Callable[[Lists, Settings, np.random.Generator], Scorer]], Callable[..., Scorer]]:
    """Register a fitting function; the first line of its docstring is its summary."""

    def register(function: Callable[[Lists, Settings, np.random.Generator], Scorer]) -> Callable[..., Scorer]:
        summary = (function.__doc__ or "").strip().splitlines()[0]
        RERANKERS[name] = Reranker(name, summary, source, reads, learns, ("k", *knobs), function)
        return function

    return register


def choose_reranker(name: str) -> Reranker:
    """Look up a re-ranker; raises UsageError for an unknown one."""
    if name not in RERANKERS:
        raise UsageError(f"unknown --model {name!r}; choose from {', '.join(RERANKERS)}")
    return RERANKERS[name]


def reranker_rows() -> list[tuple[str, str, str, str]]:
    """(name, what it does, what it reads, source) of each re-ranker, for help and README."""
    return [(entry.name, entry.summary, entry.reads, entry.source) for entry in RERANKERS.values()]


def examples(training: Lists, queries: Ints, negatives: int | None, rng: np.random.Generator) -> Ints:
    """Choose the training pairs of some queries: all relevant ones, and all or ``negatives`` drawn others."""
    chosen = []
    for query in queries.tolist():
        rows = np.arange(training.offsets[query], training.offsets[query + 1])
        relevant = training.relevant[rows]
        others = rows[~relevant]
        if negatives is not None and len(others) > negatives:
            others = np.sort(rng.permutation(others)[:negatives])
        chosen += [rows[relevant], others]
    return np.concatenate(chosen)


@reranker(
    "svr",
    source="Bönisch & Mehler 2025 (arXiv 2501.05018)",
    knobs=("models", "overlap", "share", "negatives", "cost", "epsilon", "gamma", "vote"),
)
def bagged_svr(training: Lists, settings: Settings, rng: np.random.Generator) -> Scorer:
    """Bagged RBF support vector regressions on query ⊕ passage vectors, target 1 if relevant; votes combined

    Each model learns from the candidates of a part of the training queries (``bagging.ring_subsets``, or
    ``random_subsets`` with ``share``). A score is the sum or count of the models' votes.
    """
    count = len(training.offsets) - 1
    if settings.share is None:
        subsets = ring_subsets(count, settings.models, settings.overlap, rng)
    else:
        subsets = random_subsets(count, settings.models, settings.share, rng)
    parts = []
    for subset in subsets:
        rows = examples(training, subset, settings.negatives, rng)
        parts.append((training.pairs.take(rows), training.relevant[rows].astype(np.float64)))
    how = Regression(settings.cost, settings.epsilon, settings.gamma)
    machines = fit_machines(parts, how, settings.jobs)

    def score(pairs: Pairs) -> Floats:
        found = predictions(machines, pairs, settings.jobs)
        votes: Floats = found.sum(axis=0) if settings.vote == "sum" else (found >= 0.5).sum(axis=0) * 1.0
        return votes

    return score


@reranker("logistic", source="a control: the same vectors, no kernel, no bags", knobs=("negatives", "cost"))
def logistic(training: Lists, settings: Settings, rng: np.random.Generator) -> Scorer:
    """Logistic regression on the same vectors, a cheap control

    It is linear in query ⊕ passage, so within a query its order depends on the passage alone: what it gains is what
    a passage's own vector tells (a prior), without any match between query and passage.
    """
    from sklearn.linear_model import LogisticRegression

    rows = examples(training, np.arange(len(training.offsets) - 1), settings.negatives, rng)
    targets = training.relevant[rows]
    if targets.all():  # nothing to tell apart
        return lambda pairs: np.zeros(len(pairs))
    model = LogisticRegression(C=settings.cost, max_iter=2000)
    model.fit(training.pairs.take(rows).features(), targets)

    def score(pairs: Pairs) -> Floats:
        queries, passages, query, passage = pairs.vectors()
        weights = model.coef_[0]
        width = queries.shape[1]
        values: Floats = (queries @ weights[:width])[query] + (passages @ weights[width:])[passage]
        return values + float(model.intercept_[0])

    return score


@reranker("cross-encoder", source="Nogueira & Cho 2019", reads="texts", learns=False)
def cross_encoder(training: Lists, settings: Settings, rng: np.random.Generator) -> Scorer:
    """A sentence-transformers cross-encoder that reads query and passage together; nothing is trained"""

    def score(pairs: Pairs) -> Floats:
        if pairs.judge is None:
            raise UsageError("a cross-encoder reads texts; give --documents and --encoder")
        return pairs.judge(pairs.query, pairs.passage)

    return score
