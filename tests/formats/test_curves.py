"""Curves are written in ascending order of weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hybridcli.formats.curves import write_curve


def test_points_ascend_and_numbers_are_exact(tmp_path: Path) -> None:
    path = tmp_path / "curve.tsv"
    weights = np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]])
    write_curve(str(path), ["a", "b"], weights, None, {"RR": np.array([1 / 3, 0.2, 0.1])})
    assert path.read_text() == "#a\tb\tRR\n0.0\t1.0\t0.1\n0.5\t0.5\t0.3333333333333333\n1.0\t0.0\t0.2\n"
    write_curve(str(path), ["a", "b"], weights[:1], [60.0], {"RR": np.array([0.25])})
    assert path.read_text() == "#a\tb\trrf_k\tRR\n0.5\t0.5\t60.0\t0.25\n"
