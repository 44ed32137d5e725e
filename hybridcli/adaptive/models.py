"""The learners behind the routers, as plain arrays: fitted state can be written as JSON and read anywhere.

Every function is deterministic for the same input and seed, whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridcli.records import Codes, Floats

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """``x @ coefficients + intercept``: float64[F, T] and float64[T]."""

    coefficients: Floats
    intercept: Floats

    def predict(self, x: Floats) -> Floats:
        """float64[n, F] → float64[n, T]."""
        return x @ self.coefficients + self.intercept


def ridge_path(x: Floats, y: Floats, penalties: Sequence[float]) -> list[Linear]:
    """Fit ridge regressions with a free intercept, one for each penalty, from one eigendecomposition.

    ``x``: float64[n, F]; ``y``: float64[n, T]. Minimises ‖y − xβ − b‖² + penalty · ‖β‖² (Hoerl & Kennard 1970).
    """
    middle, level = x.mean(axis=0), y.mean(axis=0)
    centred = x - middle
    values, vectors = np.linalg.eigh(centred.T @ centred)
    projected = vectors.T @ (centred.T @ (y - level))
    fits = []
    for penalty in penalties:
        coefficients = vectors @ (projected / (np.maximum(values, 0) + penalty)[:, None])
        fits.append(Linear(coefficients, level - middle @ coefficients))
    return fits


@dataclass(frozen=True, slots=True, eq=False)
class Scaler:
    """Brings columns to mean 0 and deviation 1; a constant column becomes 0."""

    mean: Floats
    deviation: Floats

    @classmethod
    def of(cls, x: Floats) -> Scaler:
        """Fit on float64[n, F]."""
        deviation = x.std(axis=0)
        return cls(x.mean(axis=0), np.where(deviation > 0, deviation, np.inf))

    def scale(self, x: Floats) -> Floats:
        """float64[n, F] → the same, scaled."""
        return (x - self.mean) / self.deviation


def fold_scaler(model: Linear, scaler: Scaler) -> Linear:
    """Give the model on unscaled columns that equals ``model`` on scaled ones."""
    coefficients = model.coefficients / scaler.deviation[:, None]
    return Linear(coefficients, model.intercept - scaler.mean @ coefficients)


def softmax_path(x: Floats, targets: Floats, penalties: Sequence[float]) -> list[Linear]:
    """Fit multinomial logistic regressions to soft targets, one for each penalty; scores before the softmax.

    ``x``: float64[n, F]; ``targets``: float64[n, K], each row a distribution. Minimises the summed cross-entropy
    + penalty/2 · ‖β‖²; the intercepts are free. Each fit starts from the one before (give penalties descending).
    """
    from scipy.optimize import minimize

    (n, width), classes = x.shape, targets.shape[1]
    design = np.column_stack([x, np.ones(n)])
    share = np.maximum(targets.mean(axis=0), 1e-9)
    theta = np.zeros((width + 1, classes))
    theta[-1] = np.log(share)
    fits = []
    for penalty in penalties:

        def loss(flat: Floats, penalty: float = penalty) -> tuple[float, Floats]:
            beta = flat.reshape(width + 1, classes)
            scores = design @ beta
            scores -= scores.max(axis=1, keepdims=True)
            mass = np.exp(scores)
            total = mass.sum(axis=1, keepdims=True)
            gradient = design.T @ (mass / total - targets)
            gradient[:-1] += penalty * beta[:-1]
            value = np.log(total).sum() - (targets * scores).sum() + penalty / 2 * (beta[:-1] ** 2).sum()
            return float(value) / n, gradient.ravel() / n

        solution = minimize(loss, theta.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 200})
        theta = solution.x.reshape(width + 1, classes)
        fits.append(Linear(theta[:-1].copy(), theta[-1].copy()))
    return fits


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Regression trees laid end to end.

    ``roots``: int32[trees], where each tree begins. For node i: ``feature[i]`` (−1 in a leaf), ``threshold[i]``,
    children ``left[i]``/``right[i]`` (a value ≤ the threshold goes left), ``value[i]``: float64[nodes, T].
    """

    roots: Codes
    feature: Codes
    threshold: Floats
    left: Codes
    right: Codes
    value: Floats

    def predict(self, x: Floats, depth: int | None = None) -> Floats:
        """Mean over the trees, each cut at ``depth``: float64[n, F] → float64[n, T].

        A tree cut at a depth is the tree that would have been grown with that ``max_depth``: where to split is
        decided from the samples in a node alone, and a node's value is their mean.
        """
        narrow = x.astype(np.float32)  # what the trees were grown on
        rows = np.arange(len(x))[:, None]
        node = np.broadcast_to(self.roots, (len(x), len(self.roots))).copy()
        level = 0
        while depth is None or level < depth:
            split = self.feature[node]
            inside = split >= 0
            if not inside.any():
                break
            goes_left = narrow[rows, np.maximum(split, 0)] <= self.threshold[node]
            node = np.where(inside, np.where(goes_left, self.left[node], self.right[node]), node)
            level += 1
        mean: Floats = self.value[node].sum(axis=1) / len(self.roots)
        return mean


def grow_forest(
    x: Floats, y: Floats, *, trees: int, leaf: int, seed: int, jobs: int = 1, depth: int | None = None
) -> Forest:
    """Grow a random forest (Breiman 2001; scikit-learn's trees, all features at each split).

    ``x``: float64[n, F]; ``y``: float64[n, T]; ``leaf``: fewest samples of a leaf; ``depth`` None: no limit.
    """
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(
        n_estimators=trees,
        max_depth=depth,
        min_samples_leaf=leaf,
        max_features=1.0,
        random_state=seed,
        n_jobs=jobs,
    )
    model.fit(x.astype(np.float32), y if y.shape[1] > 1 else y[:, 0])
    grown = [tree.tree_ for tree in model.estimators_]
    counts = np.array([tree.node_count for tree in grown])
    roots = np.cumsum(counts) - counts
    base = np.repeat(roots, counts)
    left, right = (
        np.concatenate([getattr(tree, side) for tree in grown]) + base
        for side in ("children_left", "children_right")
    )
    feature = np.concatenate([tree.feature for tree in grown])
    return Forest(
        roots=roots.astype(np.int32),
        feature=np.where(feature >= 0, feature, -1).astype(np.int32),
        threshold=np.concatenate([tree.threshold for tree in grown]),
        left=np.where(feature >= 0, left, -1).astype(np.int32),
        right=np.where(feature >= 0, right, -1).astype(np.int32),
        value=np.concatenate([tree.value[:, :, 0] for tree in grown]),
    )


def state_of(model: Any) -> dict[str, Any]:
    """Write a model's arrays as lists that JSON holds exactly."""
    return {name: getattr(model, name).tolist() for name in model.__slots__}


def linear_of(state: dict[str, Any]) -> Linear:
    """Read back what ``state_of`` wrote for a ``Linear``."""
    return Linear(np.array(state["coefficients"]), np.array(state["intercept"]))


def forest_of(state: dict[str, Any]) -> Forest:
    """Read back what ``state_of`` wrote for a ``Forest``; raises ValueError for what is no forest."""
    whole = {name: np.array(state[name], dtype=np.int32) for name in ("roots", "feature", "left", "right")}
    forest = Forest(threshold=np.array(state["threshold"]), value=np.array(state["value"]), **whole)
    nodes = len(forest.feature)
    sides = (forest.left, forest.right)
    if any(len(part) != nodes for part in (*sides, forest.threshold, forest.value)) or not len(forest.roots):
        raise ValueError("parts of a forest do not fit each other")
    inside = np.flatnonzero(forest.feature >= 0)
    # children stand after their parent, so no walk is endless
    if any((side[inside] <= inside).any() or (side[inside] >= nodes).any() for side in sides):
        raise ValueError("a forest's node has a child that is none")
    if not ((forest.roots >= 0) & (forest.roots < nodes)).all():
        raise ValueError("a forest's tree begins nowhere")
    return forest
