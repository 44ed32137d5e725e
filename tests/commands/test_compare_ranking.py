"""``compare --ranking``: rank methods, the winner rule, the best baseline."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hybridcli.fusion.methods import METHODS
from hybridcli.fusion.normalization import NORMALIZATIONS
from tests.support import Result

Cli = Callable[..., Result]
RANK_METHODS = [name for name, method in METHODS.items() if method.reads == "ranks"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    for name in ("a", "b"):
        rows = []
        for q in range(12):
            scores = np.sort(rng.normal(size=8))[::-1]
            for doc, score in zip(rng.permutation(20)[:8], scores, strict=True):
                rows.append(f"q{q} Q0 d{doc} 1 {score:.6f} {name}\n")
        Path(f"{name}.run").write_text("".join(rows))
    judged = [f"q{q} 0 d{doc} 1\n" for q in range(12) for doc in rng.permutation(20)[:4]]
    Path("qrels.txt").write_text("".join(judged))
    return tmp_path


COMPARE = [
    "--qrels",
    "qrels.txt",
    "-m",
    "nDCG@5",
    "-m",
    "P@5",
    "--ranking",
    "--replicates",
    "100",
    "--format",
    "json",
]


@pytest.mark.parametrize("method", RANK_METHODS)
def test_a_rank_method_is_the_same_under_every_normalisation_and_marked(
    cli: Cli, place: Path, method: str
) -> None:
    names = [f"{method}.{norm}.run" for norm in NORMALIZATIONS]
    for norm, name in zip(NORMALIZATIONS, names, strict=True):
        assert cli("fuse", "a.run", "b.run", "--method", method, "--norm", norm, "-o", name).code == 0
    result = cli("compare", "a.run", *names, *COMPARE)
    assert result.code == 0, result.err
    document = json.loads(result.out)
    systems = {row["label"]: row for row in document["cells"] if row["row"] == "system"}
    assert not systems["a"]["reads_ranks_only"]
    labels = [name.removesuffix(".run") for name in names]
    assert all(systems[label]["reads_ranks_only"] for label in labels)
    cells = {(r["label"], r["measure"]): r["mean"] for r in document["cells"] if r["row"] == "cell"}
    for measure in ("nDCG@5", "P@5"):
        assert len({cells[label, measure] for label in labels}) == 1
    notes = " ".join(document["notes"])
    assert f"ranked as one system: {' = '.join(labels)}" in notes
    assert "† reads ranks only: its cells are the same under every normalisation" in notes
    assert f"{labels[0]} †" in cli("compare", "a.run", *names, *COMPARE[:-2]).out


def test_a_rank_method_that_differs_is_pointed_out(cli: Cli, place: Path) -> None:
    """As in the study's tables: values of Borda under one normalisation that cannot be Borda's."""
    assert cli("fuse", "a.run", "b.run", "--method", "borda", "-o", "borda.zmuv.run").code == 0
    Path("borda.min-max.run").write_text(Path("a.run").read_text())
    result = cli("compare", "b.run", "borda.zmuv.run", "borda.min-max.run", *COMPARE)
    assert "borda reads ranks only, yet borda.zmuv, borda.min-max differ" in " ".join(result.err.split())


def test_best_baseline_and_usage(cli: Cli, place: Path) -> None:
    call = ("compare", "a.run", "b.run", *COMPARE)
    document = json.loads(cli(*call, "--baseline", "best:b,a").out)
    means = {r["label"]: r["mean"] for r in document["rows"] if r["measure"] == "nDCG@5"}
    assert {row["against"] for row in document["comparisons"]} == {max(means, key=lambda label: means[label])}
    assert "no run is called 'c'; the runs are a, b" in cli(*call, "--baseline", "best:a,c").err
    assert cli("compare", "a.run", "--qrels", "qrels.txt", "--folds", 3).code == 2


def test_winner_and_deviation_by_hand(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.run").write_text("q1 Q0 d1 1 2 x\nq1 Q0 d2 2 1 x\nq2 Q0 d1 1 2 x\nq2 Q0 d2 2 1 x\n")
    Path("y.run").write_text("q1 Q0 d2 1 2 y\nq1 Q0 d1 2 1 y\nq2 Q0 d2 1 2 y\n")
    Path("qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    call = [
        "compare",
        "x.run",
        "y.run",
        "--qrels",
        "qrels.txt",
        "-m",
        "RR",
        "-m",
        "R@2",
        "-m",
        "P@1",
        "--ranking",
        "--folds",
        "2",
    ]
    document = json.loads(cli(*call, "--format", "json").out)
    rows = document["cells"]
    # RR: x 1, 1/2; y 1/2, 1. R@2: all 1. P@1: x 1, 0; y 0, 1. Every mean is equal
    assert [row["mean_rank"] for row in rows if row["row"] == "system"] == [1.5, 1.5]
    assert rows[0]["chi2"] is None
    deviations = {(r["label"], r["measure"]): r["deviation"] for r in rows if r["row"] == "cell"}
    assert deviations["x", "RR"] == pytest.approx(np.sqrt(0.125))  # folds are the two queries: 1 and 1/2
    assert deviations["x", "R@2"] == 0
    text = cli(*call).out
    assert "winner rule: the lowest mean rank over 3 cells" in " ".join(text.split())
