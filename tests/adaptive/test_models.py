"""The learners against scikit-learn and against sums by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hybridcli.adaptive.models import (
    Linear,
    Scaler,
    fold_scaler,
    forest_of,
    grow_forest,
    linear_of,
    ridge_path,
    softmax_path,
    state_of,
)


def test_ridge_by_hand() -> None:
    # centred x = −1, 1 and y = −1, 1: β = 2 / (2 + penalty)
    (model,) = ridge_path(np.array([[0.0], [2.0]]), np.array([[1.0], [3.0]]), [2.0])
    assert model.coefficients.tolist() == [[0.5]]
    assert model.intercept.tolist() == [1.5]


def test_ridge_equals_scikit_learn_for_every_penalty() -> None:
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 40)) + 3, rng.normal(size=(30, 2))
    for penalty, model in zip((1000.0, 50.0, 1.0), ridge_path(x, y, (1000.0, 50.0, 1.0)), strict=True):
        theirs = Ridge(alpha=penalty).fit(x, y)
        assert model.predict(x) == pytest.approx(theirs.predict(x), abs=1e-9)


def test_softmax_equals_scikit_learn_on_hard_targets() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(1)
    x = rng.normal(size=(120, 3))
    labels = (x[:, 0] + rng.normal(size=120) > 0).astype(int) + (x[:, 1] > 1)
    model = softmax_path(x, np.eye(3)[labels], [10.0, 2.0])[1]
    scores = model.predict(x)
    ours = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    theirs = LogisticRegression(C=0.5, tol=1e-10, max_iter=2000).fit(x, labels).predict_proba(x)
    assert ours == pytest.approx(theirs, abs=2e-3)


def test_softmax_without_signal_predicts_the_mean_of_soft_targets() -> None:
    targets = np.array([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]])
    (model,) = softmax_path(np.zeros((2, 1)), targets, [1.0])
    scores = model.predict(np.zeros((1, 1)))[0]
    assert np.exp(scores) / np.exp(scores).sum() == pytest.approx([0.3, 0.35, 0.35], abs=1e-6)


def test_a_scaler_can_be_folded_into_a_model() -> None:
    x = np.array([[1.0, 5.0], [3.0, 5.0], [8.0, 5.0]])
    scaler = Scaler.of(x)
    assert scaler.scale(x)[:, 1].tolist() == [0.0, 0.0, 0.0]
    assert scaler.scale(x)[:, 0].std() == pytest.approx(1)
    model = Linear(np.array([[2.0], [7.0]]), np.array([1.0]))
    new = np.array([[4.0, 9.0]])
    assert fold_scaler(model, scaler).predict(new) == pytest.approx(model.predict(scaler.scale(new)))


@pytest.mark.parametrize("depth", [1, 3, None])
@pytest.mark.parametrize("targets", [1, 3])
def test_a_cut_forest_is_the_forest_grown_to_that_depth(depth: int | None, targets: int) -> None:
    from sklearn.ensemble import RandomForestRegressor

    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(150, 4)), rng.random((150, targets))
    full = grow_forest(x, y, trees=7, leaf=5, seed=3)
    theirs = RandomForestRegressor(7, max_depth=depth, min_samples_leaf=5, random_state=3)
    theirs.fit(x.astype(np.float32), y if targets > 1 else y[:, 0])
    expected = theirs.predict(x.astype(np.float32)).reshape(150, targets)
    assert full.predict(x, depth) == pytest.approx(expected, abs=1e-12)
    grown = grow_forest(x, y, trees=7, leaf=5, seed=3, depth=depth)
    assert grown.predict(x) == pytest.approx(expected, abs=1e-12)


def test_a_forest_does_not_depend_on_the_number_of_threads() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(80, 3)), rng.random((80, 1))
    one, two = (grow_forest(x, y, trees=9, leaf=3, seed=5, jobs=jobs).predict(x) for jobs in (1, 2))
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("roots", []),
        ("roots", [3]),
        ("roots", [-1]),
        ("left", [0, -1, -1]),  # a walk without an end
        ("right", [3, -1, -1]),
        ("right", [2, -1]),
        ("threshold", [0.5]),
        ("value", [[0.0], [0.25]]),
    ],
)
def test_what_is_no_forest(part: str, value: object) -> None:
    forest = {
        "roots": [0],
        "feature": [0, -1, -1],
        "threshold": [0.5, 0.0, 0.0],
        "left": [1, -1, -1],
        "right": [2, -1, -1],
        "value": [[0.0], [0.25], [0.75]],
    }
    assert forest_of(forest).predict(np.array([[0.0], [1.0]])).tolist() == [[0.25], [0.75]]
    with pytest.raises(ValueError, match="forest"):
        forest_of({**forest, part: value})


def test_models_survive_json_to_the_bit() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(40, 2)), rng.random((40, 1))
    forest = grow_forest(x, y, trees=3, leaf=5, seed=0)
    again = forest_of(json.loads(json.dumps(state_of(forest))))
    assert again.predict(x).tobytes() == forest.predict(x).tobytes()
    linear = ridge_path(x, y, [1.0])[0]
    assert (
        linear_of(json.loads(json.dumps(state_of(linear)))).predict(x).tobytes()
        == linear.predict(x).tobytes()
    )
