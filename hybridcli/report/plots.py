"""Figures, drawn with matplotlib (the ``plots`` extra), the same bytes for the same data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, BinaryIO

import numpy as np

from hybridcli.errors import MissingComponentError, UsageError
from hybridcli.records import Floats

KINDS = ("svg", "pdf", "png")


def figure_kind(path: str) -> str:
    """The kind of figure a file name asks for; UsageError for another one."""
    kind = PurePath(path).suffix.lstrip(".").lower()
    if kind not in KINDS:
        raise UsageError(f"--plot {path}: the name must end in {', '.join('.' + kind for kind in KINDS)}")
    return kind


def load_pyplot() -> Any:
    """Import matplotlib without a display; exit code 3 says how to install it."""
    try:
        import matplotlib
    except ImportError:
        raise MissingComponentError("--plot needs matplotlib", "pip install 'hybridcli[plots]'") from None
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "hybridcli", "svg.fonttype": "none", "font.size": 9})
    import matplotlib.pyplot as plt

    return plt


def draw_curve(
    stream: BinaryIO,
    kind: str,
    weights: Floats,
    means: Floats,
    rrf_ks: Sequence[float] | None,
    runs: Sequence[str],
    measure: str,
    levels: Sequence[tuple[str, float]] = (),
) -> None:
    """Draw a measure over the weights of two runs (a line an rrf_k) or of three (a triangle of points).

    ``weights``: float64[P, R]; ``means``: float64[P]; ``rrf_ks``: of each point, or None.
    ``levels``: (name, value) of horizontal lines, such as the per-query oracle.
    """
    if len(runs) not in (2, 3):
        raise UsageError(f"--plot draws two or three runs, found {len(runs)}")
    plt = load_pyplot()
    figure, axes = plt.subplots(figsize=(5.0, 3.4), layout="constrained")
    constants = np.array(rrf_ks if rrf_ks is not None else [0.0] * len(means))
    distinct = list(dict.fromkeys(constants.tolist()))
    if len(runs) == 2:
        for rrf_k in distinct:
            x, y = weights[constants == rrf_k, 0], means[constants == rrf_k]
            order = np.argsort(x)
            axes.plot(x[order], y[order], marker="o", markersize=3, label=f"rrf_k {rrf_k:g}")
        for name, value in levels:
            axes.axhline(value, linestyle="--", linewidth=0.8, color="0.5")
            axes.annotate(
                name, (1.0, value), textcoords="offset points", xytext=(0, 2), ha="right", fontsize=7
            )
        axes.set(xlabel=f"weight of {runs[0]}\n(the rest: {runs[1]})", ylabel=measure)
        if len(distinct) > 1:
            axes.legend()
    else:
        first = constants == distinct[0]
        _triangle(figure, axes, weights[first], means[first], runs, measure)
    figure.savefig(stream, format=kind, metadata={"Date": None} if kind == "svg" else None)
    plt.close(figure)


def _triangle(
    figure: Any, axes: Any, weights: Floats, means: Floats, runs: Sequence[str], measure: str
) -> None:
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
    x, y = (weights @ corners).T
    points = axes.scatter(x, y, c=means, cmap="viridis", s=60)
    figure.colorbar(points, label=measure)
    for name, (left, low), shift in zip(runs, corners, (-12, -12, 8), strict=True):
        axes.annotate(name, (left, low), textcoords="offset points", xytext=(0, shift), ha="center")
    axes.set_aspect("equal")
    axes.margins(0.12)
    axes.axis("off")
