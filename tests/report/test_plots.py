"""The figure of the curve: it is drawn, it is the same bytes twice, and a missing library is named."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from hybridcli.errors import MissingComponentError, UsageError
from hybridcli.fusion.weights import exact_weights, simplex_points
from hybridcli.report.plots import draw_curve, figure_kind

pytest.importorskip("matplotlib")


def drawn(kind: str, n_runs: int, rrf_ks: list[float] | None = None) -> bytes:
    weights = exact_weights(simplex_points(n_runs, 4), 4)
    if rrf_ks:
        weights, rrf_ks = np.repeat(weights, 2, axis=0), rrf_ks * len(weights)
    stream = io.BytesIO()
    names = ["bm25", "dense", "static"][:n_runs]
    draw_curve(
        stream, kind, weights, weights[:, 0] ** 2, rrf_ks, names, "RefHit@10", [("per-query oracle", 0.9)]
    )
    return stream.getvalue()


def test_two_runs_give_a_curve_with_names_and_levels() -> None:
    figure = drawn("svg", 2)
    assert figure == drawn("svg", 2)
    for said in (b"weight of bm25", b"RefHit@10", b"per-query oracle"):
        assert said in figure
    assert b"rrf_k" not in figure
    assert b"rrf_k 10" in drawn("svg", 2, [10.0, 60.0])


def test_three_runs_give_a_triangle_and_other_kinds_are_drawn() -> None:
    assert b"static" in drawn("svg", 3)
    assert drawn("png", 2).startswith(b"\x89PNG")
    assert drawn("pdf", 2).startswith(b"%PDF")


def test_four_runs_cannot_be_drawn() -> None:
    with pytest.raises(UsageError, match="--plot draws two or three runs, found 4"):
        draw_curve(io.BytesIO(), "svg", np.ones((1, 4)) / 4, np.ones(1), None, list("abcd"), "RR")


def test_kinds() -> None:
    assert figure_kind("a.b/Curve.SVG") == "svg"
    with pytest.raises(UsageError, match=r"the name must end in \.svg, \.pdf, \.png"):
        figure_kind("curve")


def test_a_missing_library_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingComponentError, match=r"pip install 'hybridcli\[plots\]'"):
        drawn("svg", 2)
