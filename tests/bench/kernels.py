"""The other bars of speed, each beside its figure: start-up, weight grids, bootstrap, filings to windows.

python -m tests.bench.kernels
"""

from __future__ import annotations

import gzip
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hybridcli.adaptive.contest import Contest
from hybridcli.adaptive.oracle import Grid, survey
from hybridcli.evaluation.measures import parse_measure
from hybridcli.evaluation.resampling import Sample, interval_of, units_of
from hybridcli.evaluation.significance import p_values
from hybridcli.fusion.fuse import Plan
from hybridcli.fusion.pool import align
from hybridcli.names import Names
from hybridcli.records import Qrels, Run, offsets_of, order_rows
from tests.bench.fuse import measure
from tests.support import SHARED

QUERIES = 5000
DEPTH = 100
DOCUMENTS = 200_000


def make_runs(count: int, seed: int = 0) -> tuple[list[Run], Qrels]:
    """Random runs that draw each query's list from 200 documents, and one to three relevant ones of these."""
    rng = np.random.default_rng(seed)
    docnos = Names.of([f"d{i:07d}" for i in range(DOCUMENTS)])
    queries = [f"q{i}" for i in range(QUERIES)]
    near = np.array([rng.choice(DOCUMENTS, 2 * DEPTH, replace=False) for _ in range(QUERIES)])
    offsets = offsets_of(np.full(QUERIES, DEPTH))
    runs = []
    for r in range(count):
        docs = np.concatenate([row[rng.permutation(2 * DEPTH)[:DEPTH]] for row in near]).astype(np.int32)
        scores = np.round(rng.gamma(2, 3, QUERIES * DEPTH), 4)
        order = order_rows(offsets, docs, scores)
        runs.append(Run(f"r{r}", queries, offsets, docs[order], scores[order], docnos))
    sizes = rng.integers(1, 4, QUERIES)
    relevant = [np.sort(rng.choice(row, size, replace=False)) for row, size in zip(near, sizes, strict=True)]
    grades = np.ones(sizes.sum(), dtype=np.int32)
    return runs, Qrels(queries, offsets_of(sizes), np.concatenate(relevant).astype(np.int32), grades, docnos)


def grid(runs: list[Run], qrels: Qrels, step: str) -> None:
    """All points of a grid, from aligned runs to per-query values."""
    survey(
        [Contest.of(align(runs), Plan("weighted"), qrels)],
        [parse_measure("RefHit@10")],
        Grid.of(len(runs), step),
    )


def inference() -> None:
    """Intervals and both default tests of 8 systems: 5,082 queries in 489 groups, 10,000 replicates."""
    rng = np.random.default_rng(0)
    groups = [str(group) for group in rng.integers(0, 489, 5082)]
    sample = Sample(rng.integers(0, 5, (5082, 8)) / 4.0, units_of(groups, 5082), 10_000, 0)
    interval_of("percentile", sample)
    for test in ("bootstrap", "permutation"):
        p_values(test, sample)


def report(label: str, bar: float, work: Callable[[], object]) -> None:
    """Time one call and print it beside its bar."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    print(
        f"{label:<48} {time.perf_counter() - clock:6.2f} s  {time.process_time() - processor:6.2f} s of processor"
        f"  (bar {bar} s)"
    )


def main() -> None:
    """Print one line a bar."""
    python = [sys.executable, "-m", "hybridcli"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for tag in "ab":
            (folder / f"{tag}.run").write_text(f"q1 Q0 d1 1 2 {tag}\nq1 Q0 d2 2 1 {tag}\n")
        for label, bar, command in (
            ("hybridcli --version, best of 5", 0.25, ["--version"]),
            ("fuse of two small runs, best of 5", 0.5, ["fuse", "a.run", "b.run", "-o", "out.run"]),
        ):
            print(
                f"{label:<48} {min(measure([*python, *command], folder)[0] for _ in range(5)):6.2f} s  (bar {bar} s)"
            )
        filings = SHARED / "data" / "finder-sample" / "filings"
        if filings.exists():
            size = sum(len(gzip.decompress(path.read_bytes())) for path in filings.iterdir()) / 1e6
            _, processor, memory = measure([*python, "window", str(filings), "-o", "w.jsonl"], folder)
            print(
                f"{size:.1f} MB of HTML to windows: {size / processor:.1f} MB/s a core (bar 10), {memory:.2f} GB"
            )
    two, three = make_runs(2), make_runs(3)
    report("21-point grid, 5,000 queries x 2 x 100", 2, lambda: grid(*two, "0.05"))
    report("66-point simplex, 5,000 queries x 3 x 100", 8, lambda: grid(*three, "0.1"))
    report("8 systems x 489 groups x 10,000 replicates", 1, inference)


if __name__ == "__main__":
    main()
