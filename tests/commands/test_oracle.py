"""`hybridcli oracle`: case 20, equality with fuse and compare, what it writes and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridcli.formats.per_query import read_per_query
from hybridcli.formats.runs import read_run
from tests.support import Result, shared

Cli = Callable[..., Result]

# three runs over documents 0 … 7, a word a query; the relevant document of each query
RUNS = {
    "a": "075461 753160 412760 235470 362705 573401",
    "b": "364705 107546 647301 705263 537406 037641",
    "c": "710564 532074 263571 130456 107456 276403",
}
RELEVANT = "766560"


def write_runs(folder: Path) -> list[str]:
    paths = []
    for tag, rankings in RUNS.items():
        lines = [
            f"q{q} Q0 d{doc} {rank} {7 - rank} {tag}\n"
            for q, ranking in enumerate(rankings.split(), start=1)
            for rank, doc in enumerate(ranking, start=1)
        ]
        paths.append(str(folder / f"{tag}.run"))
        Path(paths[-1]).write_text("".join(lines))
    (folder / "qrels").write_text("".join(f"q{q} 0 d{doc} 1\n" for q, doc in enumerate(RELEVANT, start=1)))
    return paths


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_runs(tmp_path)
    return tmp_path


def as_json(cli: Cli, *args: object) -> dict[str, Any]:
    result = cli("oracle", *args, "--qrels", "qrels", "--format", "json")
    assert result.code == 0, result.err
    document: dict[str, Any] = json.loads(result.out)
    return document


def row(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(found for found in document["rows"] if found["row"] == name)


def test_all_66_points_of_the_simplex_are_tried(cli: Cli, place: Path) -> None:
    """Case 20: the best point is one that a sum of floats loses."""
    args = ("a.run", "b.run", "c.run", "-m", "RR", "--method", "rrf", "--grid", "0.1", "--curve", "curve.tsv")
    document = as_json(cli, *args)
    assert document["points"] == 66
    best = row(document, "best fixed point")
    assert best["value"] == pytest.approx(89 / 120, abs=1e-12)
    assert (best["weights"], best["tied"]) == ([0.3, 0.6, 0.1], 1)
    assert row(document, "equal weights")["value"] == pytest.approx(0.5416666666667, abs=1e-12)
    lines = (place / "curve.tsv").read_text().splitlines()
    assert lines[0] == "#a\tb\tc\trrf_k\tRR"
    points = np.array([[float(cell) for cell in line.split("\t")] for line in lines[1:]])
    assert len(points) == 66
    assert all(sum(map(Fraction, line.split("\t")[:3])) == 1 for line in lines[1:])  # exactly, as written
    assert points[:, :3].tolist() == sorted(points[:, :3].tolist())
    lost = [(0.3, 0.6, 0.1), (0.6, 0.3, 0.1), (0.7, 0.2, 0.1), (0.1, 0.6, 0.3)]
    rest = [value for *weights, _, value in points.tolist() if tuple(weights) not in lost]
    assert max(rest) <= 89 / 120


def test_a_step_that_does_not_divide_one_is_refused(cli: Cli, place: Path) -> None:
    result = cli("oracle", "a.run", "b.run", "--qrels", "qrels", "--grid", "0.3")
    assert result.code == 2
    assert "a grid step must divide 1 without rest" in result.err


@pytest.mark.parametrize("method", ["weighted", "rrf"])
def test_each_point_equals_fuse_and_compare(cli: Cli, place: Path, method: str) -> None:
    args = (
        "a.run",
        "b.run",
        "--method",
        method,
        "-m",
        "nDCG@3",
        "-m",
        "RR",
        "--grid",
        "0.25",
        "--curve",
        "curve",
    )
    as_json(cli, *args)
    for line in (place / "curve").read_text().splitlines()[1:]:
        cells = line.split("\t")
        weights, means = ",".join(cells[:2]), cells[-2:]
        assert (
            cli("fuse", "a.run", "b.run", "--method", method, "--weights", weights, "-o", "x.run").code == 0
        )
        out = cli("compare", "x.run", "--qrels", "qrels", "-m", "nDCG@3", "-m", "RR", "--per-query").out
        (place / "values").write_text(out)
        values = read_per_query("values")
        assert [np.mean(list(values[name].values())) for name in ("nDCG@3", "RR")] == pytest.approx(
            [float(mean) for mean in means], abs=1e-15
        )


def test_the_ends_of_the_curve_are_the_runs(cli: Cli, place: Path) -> None:
    document = as_json(cli, "a.run", "b.run", "-m", "RR", "--grid", "0.5")
    for run in ("a", "b"):
        (place / "values").write_text(
            cli("compare", f"{run}.run", "--qrels", "qrels", "-m", "RR", "--per-query").out
        )
        values = read_per_query("values")["RR"].values()
        assert row(document, f"{run} alone")["value"] == np.mean(list(values))


def test_the_oracle_run_has_the_oracle_mean(cli: Cli, place: Path) -> None:
    args = (
        "a.run",
        "b.run",
        "c.run",
        "-m",
        "RR",
        "--grid",
        "0.25",
        "--weights-out",
        "w.tsv",
        "-o",
        "oracle.run",
    )
    document = as_json(cli, *args)
    out = cli("compare", "oracle.run", "--qrels", "qrels", "-m", "RR", "--format", "json").out
    assert json.loads(out)["rows"][0]["mean"] == pytest.approx(row(document, "per-query oracle")["value"])
    again = cli(
        "fuse", "a.run", "b.run", "c.run", "--method", "weighted", "--weights", "w.tsv", "--tag", "oracle"
    )
    assert again.code == 0, again.err
    assert again.out == (place / "oracle.run").read_text()
    assert read_run("oracle.run").tag == "oracle"


def test_several_rrf_k_are_one_grid(cli: Cli, place: Path) -> None:
    args = ("a.run", "b.run", "-m", "RR", "--method", "rrf", "--grid", "0.5")
    many = as_json(cli, *args, "--rrf-k", "1", "--rrf-k", "60", "--curve", "many")
    assert many["points"] == 6
    one = as_json(cli, *args, "--rrf-k", "1", "--curve", "one")
    single = (place / "one").read_text().splitlines()
    both = [line.split("\t") for line in (place / "many").read_text().splitlines()[1:]]
    assert ["\t".join(cells) for cells in both if cells[2] == "1.0"] == single[1:]
    assert row(many, "best fixed point")["value"] >= row(one, "best fixed point")["value"]
    assert "rrf_k" in row(many, "best fixed point")
    refused = cli("oracle", *args, "--qrels", "qrels", "--rrf-k", "1", "--rrf-k", "2", "-o", "x")
    assert refused.code == 2
    assert "several --rrf-k need --method rrf, and no -o, --weights-out or --table-out" in refused.err


def test_box_force_and_groups(cli: Cli, place: Path) -> None:
    (place / "groups").write_text("".join(f"q{q}\tg{q % 3}\n" for q in range(1, 7)))
    args = ("a.run", "b.run", "-m", "RR", "--grid", "0.5", "--groups", "groups")
    document = as_json(cli, *args, "--box", "--force", "b>0")
    assert document["points"] == 6  # 3 × 3 points but (0, 0) and those without b
    assert document["groups"] == 3
    (place / "groups").write_text("q1\tg\n")
    result = cli("oracle", *args, "--qrels", "qrels")
    assert result.code == 1
    assert "groups: 5 of 6 judged queries have no group: q2, q3, q4, q5, q6" in result.err


def test_the_table_fits_and_says_what_it_is(cli: Cli, place: Path) -> None:
    result = cli("oracle", "a.run", "b.run", "--qrels", "qrels", "-m", "RR")
    assert result.err == ""
    for said in (
        "RR, n = 6 queries",
        "per-query oracle",
        "headroom over equal",
        "21 points",
        "seed 0",
        "union",
    ):
        assert said in result.out
    assert max(map(len, result.out.splitlines())) <= 80


def test_a_run_on_stdout_leaves_the_table_out(cli: Cli, place: Path) -> None:
    result = cli("oracle", "a.run", "b.run", "--qrels", "qrels", "-o", "-")
    assert result.out.startswith("q1 Q0 ")
    assert "oracle\n" in result.out
    assert "headroom" not in result.out


def test_unknown_formats_measures_and_figures_are_refused(cli: Cli, place: Path) -> None:
    for option, message in [
        (["--format", "xml"], "unknown format 'xml'"),
        (["-m", "Best@3"], "unknown measure 'Best@3'"),
        (["-m", "Judged@3"], "Judged@3 says nothing about weights"),
        (["--plot", "curve.jpg"], "--plot curve.jpg: the name must end in .svg, .pdf, .png"),
        (["--plot", "curve.svg", "--box"], "--plot draws weights that sum to 1"),
        (["--method", "combsum"], "method combsum takes no weights"),
        (["--force", "z>0"], "write RUN>0, where RUN is one of a, b"),
    ]:
        result = cli("oracle", "a.run", "b.run", "--qrels", "qrels", *option)
        assert result.code == 2, option
        assert message in result.err
        assert result.out == ""


@pytest.mark.slow
def test_real_runs(cli: Cli, tmp_path: Path) -> None:
    """CODEC's BM25+RM3 and ANCE: the curve's ends equal the runs, and mixing helps."""
    folder = shared("data", "codec-runs")
    runs = [folder / "document_bm25+rm3-tuned.run.gz", folder / "document_ance-maxp.run.gz"]
    qrels = folder / "document_ndcg.qrels.gz"
    result = cli("oracle", *runs, "--qrels", qrels, "-m", "nDCG@10", "--lenient", "--format", "json")
    found = {row["row"]: row["value"] for row in json.loads(result.out)["rows"]}
    out = cli("compare", *runs, "--qrels", qrels, "-m", "nDCG@10", "--lenient", "--format", "json").out
    means = {row["label"]: row["mean"] for row in json.loads(out)["rows"]}
    for label, mean in means.items():
        assert found[f"{label} alone"] == pytest.approx(mean, abs=1e-12)
    assert found["per-query oracle"] > found["best fixed point"] > max(means.values())


def test_a_norm_without_effect_is_noted(cli: Cli, place: Path) -> None:
    result = cli("oracle", "a.run", "b.run", "--qrels", "qrels", "--method", "rrf", "--norm", "zmuv")
    assert result.code == 0
    assert "rrf reads ranks only: the normalisation zmuv has no effect" in result.err
