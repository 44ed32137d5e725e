"""Routers: from what is known of a query to one weight for each run, learned on training queries only.

The registry feeds help, README and tests. To add a router, write a fitting function under ``@router`` and a
function that turns its state into weights, and work out its values by hand in ``tests/adaptive/test_routers.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hybridcli.adaptive.models import (
    Linear,
    Mask,
    Scaler,
    fold_scaler,
    forest_of,
    grow_forest,
    linear_of,
    ridge_path,
    softmax_path,
    state_of,
)
from hybridcli.adaptive.training import ROUTERS, Fitted, Inputs, Training, first_best, normalised, router
from hybridcli.errors import UsageError
from hybridcli.records import Floats

__all__ = ["ROUTERS", "written"]

STUDY_A = "arXiv 2608.00183"


def _fixed_weights(state: Mapping[str, Any], inputs: Inputs) -> Floats:
    return np.tile(np.array(state["weights"]), (len(inputs.top_scores), 1))


def _equal(training: Training) -> list[float]:
    return [1.0 / training.n_runs] * training.n_runs


def written(weights: Floats) -> str:
    """Weights as a person reads them: ``0.35,0.65``."""
    return ",".join(f"{weight:.4g}" for weight in weights)


@router("equal", weights=_fixed_weights, source=STUDY_A)
def equal(training: Training, rng: np.random.Generator) -> Fitted:
    """every run has the same weight for every query; learns nothing"""
    return Fitted({"weights": _equal(training)}, choice="equal")


@router("tuned", weights=_fixed_weights, source=f"{STUDY_A}; arXiv 2608.02112", validation="optional")
def tuned(training: Training, rng: np.random.Generator) -> Fitted:
    """the grid point with the best mean on the validation queries (on all training queries with --validation 0)"""
    rows = training.validation if training.validation.any() else np.ones_like(training.validation)
    best, tied = first_best(training.mean(training.curve, rows))
    return Fitted({"weights": training.points[best].tolist()}, written(training.points[best]), tied)


def _heuristic_weights(state: Mapping[str, Any], inputs: Inputs) -> Floats:
    low, high = np.array(state["low"]), np.array(state["high"])
    scores = inputs.top_scores
    span = high - low
    scaled = np.where(scores >= high, 1.0, 0.0)
    np.divide(scores - low, span, out=scaled, where=(span > 0) & ~np.isnan(scores))
    return normalised(scaled)


@router("heuristic", weights=_heuristic_weights, source=STUDY_A)
def heuristic(training: Training, rng: np.random.Generator) -> Fitted:
    """weights in proportion to the runs' first scores, min-max scaled by the training queries' first scores

    A scaled score is clipped to [0, 1]; a run that retrieved nothing has 0; all 0: equal weights.
    """
    scores = training.inputs.top_scores
    empty = np.isnan(scores).all(axis=0)
    known = np.where(empty, 0.0, scores)
    return Fitted({"low": np.nanmin(known, axis=0).tolist(), "high": np.nanmax(known, axis=0).tolist()})


def _category_weights(state: Mapping[str, Any], inputs: Inputs) -> Floats:
    chosen = [state["runs"].get(name, state["otherwise"]) for name in inputs.categories or ()]
    weights: Floats = np.eye(state["n_runs"])[chosen]
    return weights


@router("category", weights=_category_weights, source=STUDY_A, needs=("categories",))
def category(training: Training, rng: np.random.Generator) -> Fitted:
    """a hard switch: for each category the single run that is best on its training queries

    Equal runs: the one that is best on all training queries, then the first. A category that training has not
    seen gets the run that is best on all.
    """
    everything = np.ones(len(training.importance), dtype=bool)
    overall = training.mean(training.singles, everything)
    order = np.argsort(-overall, kind="stable")
    names = np.array(training.inputs.categories)
    runs = {}
    for name in np.unique(names).tolist():
        best, _ = first_best(training.mean(training.singles[order], names == name))
        runs[name] = int(order[best])
    choice = " ".join(f"{name}={run + 1}" for name, run in runs.items())
    return Fitted({"runs": runs, "otherwise": int(order[0]), "n_runs": training.n_runs}, choice)


def _require(values: Floats | None, what: str) -> Floats:
    if values is None:
        raise UsageError(f"this router reads {what}, and none are given")
    return values


def _learnable(training: Training) -> tuple[Mask, Mask]:
    """Queries to choose settings' models on, and to fit the final model on: those that any run can answer."""
    usable = training.reachable
    return usable & ~training.validation, usable


def _complete(predicted: Floats, n_runs: int) -> Floats:
    """Turn predicted targets into weights; for two runs only the first is predicted."""
    if n_runs == 2:
        predicted = np.clip(predicted, 0.0, 1.0)
        predicted = np.concatenate([predicted, 1.0 - predicted], axis=-1)
    return normalised(predicted)


def _aims(training: Training) -> Floats:
    """The targets to fit: one column for two runs, as their weights sum to 1."""
    return training.targets[:, :1] if training.n_runs == 2 else training.targets


def _linear_weights(state: Mapping[str, Any], inputs: Inputs) -> Floats:
    if "weights" in state:
        return _fixed_weights(state, inputs)
    x = _require(inputs.embeddings, "query embeddings")
    return _complete(linear_of(state["linear"]).predict(x), state["n_runs"])


@router("ridge", weights=_linear_weights, source=STUDY_A, needs=("embeddings",), validation="required")
def ridge(training: Training, rng: np.random.Generator) -> Fitted:
    """ridge regression from the query's embedding to each run's share of the reciprocal best ranks"""
    x = _require(training.inputs.embeddings, "query embeddings")
    fit, usable = _learnable(training)
    if not fit.any():
        return Fitted({"weights": _equal(training)}, "nothing to learn from")
    penalties, aims = training.settings.penalties, _aims(training)
    models = ridge_path(x[fit], aims[fit], penalties)
    seen = x[training.validation]
    best, tied = training.choose(
        np.stack([_complete(model.predict(seen), training.n_runs) for model in models])
    )
    final = ridge_path(x[usable], aims[usable], penalties[best : best + 1])[0]
    return Fitted(
        {"linear": state_of(final), "n_runs": training.n_runs}, f"penalty={penalties[best]:g}", tied
    )


def _forest_weights(state: Mapping[str, Any], inputs: Inputs) -> Floats:
    if "weights" in state:
        return _fixed_weights(state, inputs)
    x = _require(inputs.features, "query features")
    return _complete(forest_of(state["forest"]).predict(x), state["n_runs"])


@router("forest", weights=_forest_weights, source=STUDY_A, needs=("features",), validation="required")
def forest(training: Training, rng: np.random.Generator) -> Fitted:
    """random forest from the query's features to each run's share of the reciprocal best ranks"""
    x = _require(training.inputs.features, "query features")
    fit, usable = _learnable(training)
    if not fit.any():
        return Fitted({"weights": _equal(training)}, "nothing to learn from")
    settings, aims, seed = training.settings, _aims(training), int(rng.integers(2**31))
    seen = x[training.validation]
    options, predicted = [], []
    for leaf in settings.leaves:
        grown = grow_forest(x[fit], aims[fit], trees=settings.trees, leaf=leaf, seed=seed, jobs=settings.jobs)
        for depth in settings.depths:
            options.append((leaf, depth))
            predicted.append(_complete(grown.predict(seen, depth), training.n_runs))
    best, tied = training.choose(np.stack(predicted))
    leaf, depth = options[best]
    final = grow_forest(
        x[usable],
        aims[usable],
        trees=settings.trees,
        leaf=leaf,
        seed=seed,
        jobs=settings.jobs,
        depth=depth,
    )
    state = {"forest": state_of(final), "n_runs": training.n_runs}
    return Fitted(state, f"depth={depth or 'none'} leaf={leaf}", tied)


def _bins_weights(state: Mapping[str, Any], inputs: Inputs) -> Floats:
    points = np.array(state["points"])
    if "weights" in state:
        return _fixed_weights(state, inputs)
    x = _require(inputs.features, "query features")
    scores = linear_of(state["linear"]).predict(x)
    return points[[first_best(row)[0] for row in scores]]


@router(
    "bins",
    weights=_bins_weights,
    source="the classifier over discretised weights that study A's authors name as closest",
    needs=("features",),
    validation="required",
)
def bins(training: Training, rng: np.random.Generator) -> Fitted:
    """classifier over the grid's points, trained on each query's whole performance curve

    A multinomial logistic regression on the scaled features; a query's target distribution is its curve divided
    by its sum, so the most probable point is the one with the best expected share of the query's performance.
    """
    x = _require(training.inputs.features, "query features")
    total = training.curve.sum(axis=0)
    fit, usable = (rows & (total > 0) for rows in _learnable(training))
    state: dict[str, Any] = {"points": training.points.tolist()}
    if not fit.any():
        return Fitted(state | {"weights": _equal(training)}, "nothing to learn from")
    targets = np.zeros_like(training.curve.T)
    targets[usable] = (training.curve[:, usable] / total[usable]).T
    scaler, penalties = Scaler.of(x[fit]), training.settings.bin_penalties
    models = softmax_path(scaler.scale(x[fit]), targets[fit], penalties)
    seen = scaler.scale(x[training.validation])
    best, tied = training.choose(
        np.stack([training.points[model.predict(seen).argmax(axis=1)] for model in models])
    )
    scaler = Scaler.of(x[usable])
    final = softmax_path(scaler.scale(x[usable]), targets[usable], penalties[: best + 1])[-1]
    state["linear"] = state_of(fold_scaler(final, scaler))
    return Fitted(state, f"penalty={penalties[best]:g}", tied)


def _reach_weights(state: Mapping[str, Any], inputs: Inputs) -> Floats:
    if "weights" in state:
        return _fixed_weights(state, inputs)
    x = _require(inputs.features, "query features")
    routed = linear_of(state["linear"]).predict(x)
    weights = _complete(routed, state["n_runs"])
    if state["threshold"] is not None:  # None: every query is routed
        unsure = _odds(linear_of(state["reach"]), x) < state["threshold"]
        weights[unsure] = 1.0 / state["n_runs"]
    return weights


def _odds(model: Linear, x: Floats) -> Floats:
    """Log odds of being reachable: float64[n]."""
    scores = model.predict(x)
    return scores[:, 1] - scores[:, 0]


@router(
    "reach", weights=_reach_weights, source="a reader of study A", needs=("features",), validation="required"
)
def reach(training: Training, rng: np.random.Generator) -> Fitted:
    """first predicts whether any weights answer the query, then weights for those that seem reachable

    A logistic regression on the scaled features predicts whether the query's curve is above 0 anywhere. The
    share of queries with the best odds (chosen on validation queries, with the ridge penalty) gets the weights
    of a ridge regression on the same features; the others get equal weights.
    """
    x = _require(training.inputs.features, "query features")
    fit, usable = _learnable(training)
    inside, settings, n_runs = ~training.validation, training.settings, training.n_runs
    if not fit.any():
        return Fitted({"weights": _equal(training)}, "nothing to learn from")
    answered = (training.curve > 0).any(axis=0)
    labels, aims = np.stack([~answered, answered], axis=1).astype(np.float64), _aims(training)
    scaler = Scaler.of(x[inside])
    scaled, seen = scaler.scale(x), scaler.scale(x[training.validation])
    gate = softmax_path(scaled[inside], labels[inside], [1.0])[0]
    odds, seen_odds = _odds(gate, scaled[inside]), _odds(gate, seen)
    options, predicted = [], []
    for penalty, model in zip(
        settings.penalties, ridge_path(scaled[fit], aims[fit], settings.penalties), strict=True
    ):
        routed = _complete(model.predict(seen), n_runs)
        for share in settings.shares:
            sure = seen_odds >= np.quantile(odds, 1.0 - share) if share < 1 else seen_odds > -np.inf
            options.append((penalty, share))
            predicted.append(np.where(sure[:, None], routed, 1.0 / n_runs))
    best, tied = training.choose(np.stack(predicted))
    penalty, share = options[best]
    scaler = Scaler.of(x)
    scaled = scaler.scale(x)
    gate = softmax_path(scaled, labels, [1.0])[0]
    final = ridge_path(scaled[usable], aims[usable], [penalty])[0]
    threshold = float(np.quantile(_odds(gate, scaled), 1.0 - share)) if share < 1 else None
    state = {
        "linear": state_of(fold_scaler(final, scaler)),
        "reach": state_of(fold_scaler(gate, scaler)),
        "threshold": threshold,
        "n_runs": n_runs,
    }
    return Fitted(state, f"penalty={penalty:g} share={share:g}", tied)
