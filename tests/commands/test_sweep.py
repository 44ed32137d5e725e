"""Planted cases of study B: noise gets no weight, unique signal does; and the table of ``sweep``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.support import Result

Cli = Callable[..., Result]
QUERIES = 40
DOCS = [f"d{number:02d}" for number in range(30)]
ROUTE = [
    "--method",
    "rrf",
    "--router",
    "tuned",
    "-m",
    "RR",
    "--validation",
    "0",
    "--folds",
    "10",
    "--repeats",
    "1",
    "--grid",
    "0.1",
]


def ranking(rng: np.random.Generator, first: Sequence[str], last: Sequence[str] = ()) -> list[str]:
    rest = [doc for doc in DOCS if doc not in first and doc not in last]
    return [*first, *rng.permutation(rest).tolist(), *last]


def write(path: str, rankings: Sequence[Sequence[str]]) -> None:
    rows = [
        f"q{q} Q0 {doc} {rank} {len(order) - rank} {path}\n"
        for q, order in enumerate(rankings)
        for rank, doc in enumerate(order, 1)
    ]
    Path(path).write_text("".join(rows))


def read(path: str) -> list[list[str]]:
    rows = [line.split() for line in Path(path).read_text().splitlines()]
    return [[row[2] for row in rows if row[0] == f"q{q}"] for q in range(QUERIES)]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two complementary runs: fused with equal weights they put every relevant document first, by a hair."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    relevant = [DOCS[q % 30] for q in range(QUERIES)]
    other = [DOCS[(q + 1) % 30] for q in range(QUERIES)]
    third = [DOCS[(q + 2) % 30] for q in range(QUERIES)]
    # one has the relevant document first, the other second, behind a document that the first has third
    good = [ranking(rng, [r, t, o]) for r, o, t in zip(relevant, other, third, strict=True)]
    poor = [ranking(rng, [o, r]) for r, o in zip(relevant, other, strict=True)]
    write("bm25.run", [good[q] if q % 2 else poor[q] for q in range(QUERIES)])
    write("dense.run", [poor[q] if q % 2 else good[q] for q in range(QUERIES)])
    write("noise.run", [ranking(rng, []) for _ in range(QUERIES)])
    Path("qrels.txt").write_text("".join(f"q{q} 0 {doc} 1\n" for q, doc in enumerate(relevant)))
    return tmp_path


def tuned(cli: Cli, *more: object) -> dict[str, object]:
    result = cli("route", "--qrels", "qrels.txt", *ROUTE, *more, "--format", "json")
    assert result.code == 0, result.err
    found: dict[str, object] = json.loads(result.out)
    return found


def static_weights(report: dict[str, object]) -> list[tuple[float, int]]:
    counts = report["choices"]["tuned"]["counts"]  # type: ignore[index]
    return [(float(choice.split(",")[2]), count) for choice, count in counts]


def test_pure_noise_gets_weight_0_in_every_fold(cli: Cli, place: Path) -> None:
    report = tuned(cli, "bm25.run", "dense.run", "noise.run")
    assert {weight for weight, _ in static_weights(report)} == {0.0}
    assert sum(count for _, count in static_weights(report)) == 10
    forced = tuned(cli, "bm25.run", "dense.run", "noise.run", "--force", "noise>0")
    assert min(weight for weight, _ in static_weights(forced)) > 0
    assert forced["rows"][0]["value"] < report["rows"][0]["value"] == 1.0  # type: ignore[index]


def test_unique_signal_gets_weight_in_every_fold(cli: Cli, place: Path) -> None:
    """In a third of the queries the others have the relevant document last, the static run first; else it is dense."""
    rng = np.random.default_rng(6)
    lists = {name: read(f"{name}.run") for name in ("bm25", "dense")}
    lists["signal"] = list(lists["dense"])
    for q in range(0, QUERIES, 3):
        doc = DOCS[q % 30]
        for name in lists:
            lists[name][q] = ranking(rng, [doc]) if name == "signal" else ranking(rng, [], [doc])
    for name, orders in lists.items():
        write(f"{name}.run", orders)
    report = tuned(cli, "bm25.run", "dense.run", "signal.run")
    assert min(weight for weight, _ in static_weights(report)) > 0


def test_stored_tables_and_the_table_of_settings(cli: Cli, place: Path) -> None:
    """Grids that a table holds give what the runs give; ``sweep`` shows the settings under their folders' names."""
    runs = ("bm25.run", "dense.run", "noise.run")
    made = cli(
        "oracle",
        *runs,
        "--qrels",
        "qrels.txt",
        "-m",
        "RR",
        "--method",
        "rrf",
        "--grid",
        "0.05",
        "--table-out",
        "t.npz",
    )
    assert made.code == 0, made.err
    for name, more in {"simplex": [], "single": ["--grid", "1"], "forced": ["--force", "noise>0"]}.items():
        direct = tuned(cli, *runs, *more)
        again = tuned(cli, "t.npz", "--tables", *more, "--out-dir", f"cells/{name}")
        assert again["choices"] == direct["choices"]
        assert again["rows"] == direct["rows"]
    result = cli(
        "sweep",
        *(f"cells/{name}/report.json" for name in ("simplex", "single", "forced")),
        "--format",
        "json",
    )
    assert result.code == 0, result.err
    found = json.loads(result.out)
    rows = {row["label"]: row for row in found["rows"]}
    assert list(rows) == ["simplex", "single", "forced"]
    assert rows["simplex"]["unused"] == {"bm25": 0, "dense": 0, "noise": 10}
    assert rows["single"]["unused"]["noise"] == 10
    assert rows["forced"]["unused"]["noise"] == 0
    assert found["weightings"] == {"step 0.1": 66, "step 1": 3}
    table = cli("sweep", "cells/simplex/report.json").out
    assert "router" not in table
    assert "noise 10" in table
    assert "step 0.1: 66 different weightings in all" in table
    assert "10 folds, seed 0" in table


def test_a_report_of_something_else(cli: Cli, place: Path) -> None:
    Path("report.json").write_text('{"schema": "hybridcli/oracle/1"}')
    result = cli("sweep", "report.json")
    assert result.code == 1
    assert "hybridcli: report.json: is not a report of route (schema hybridcli/route/1)" in result.err
    Path("report.json").write_text('{"schema": "hybridcli/route/1", "runs": []}')
    assert "report.json: misses grid, forced" in cli("sweep", "report.json").err
    fields = {"runs": ["a", "b"], "grid": "step 0.1", "forced": [], "n": 1, "measures": ["RR"], "rows": []}
    whole = {"schema": "hybridcli/route/1", **fields, "choices": {}, "folds": 2, "repeats": 1, "seed": 0}
    row = {"router": "tuned", "measure": "RR", "value": 0.5, "deviation": None}
    Path("report.json").write_text(json.dumps(whole))
    assert cli("sweep", "report.json").code == 0
    for change, message in (
        ({"runs": 5}, "runs is not as route wrote it"),
        ({"choices": []}, "choices is not as route wrote it"),
        ({"measures": []}, "measures is not as route wrote it"),
        ({"rows": [5]}, "its rows or choices are not as route wrote them"),
        ({"rows": [row]}, "its rows or choices are not as route wrote them"),
        ({"rows": [row], "choices": {"tuned": 5}}, "its rows or choices are not as route wrote them"),
        ({"rows": [row], "choices": {"tuned": {"counts": [5], "ties": 0}}}, "its rows or choices are not"),
        ({"runs": []}, "runs is not as route wrote it"),
    ):
        Path("report.json").write_text(json.dumps({**whole, **change}))
        result = cli("sweep", "report.json")
        assert (result.code, result.out) == (1, "")
        assert f"hybridcli: report.json: {message}" in result.err
