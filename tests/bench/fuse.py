"""Fusing two large runs, file to file: hybridcli, ranx, and the bare reading and writing of polars, as ratios.

    python -m tests.bench.fuse                      # 6,980 queries × 1,000 documents, without ranx
    python -m tests.bench.fuse --ranx               # with ranx, which takes a hundred times as long
    python -m tests.bench.fuse --queries 700 --ranx

Each is a process of its own; the clock includes its start. Files lie in a temporary folder that goes afterwards.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from tests.support import ROOT

COLLECTION = 8_841_823  # documents to draw from, as in MS MARCO
SHARED = 0.4  # part of a query's list that both runs have

FLOOR = """
import polars as pl
columns = {f"column_{i}": pl.Float64 if i == 5 else pl.Int32 if i == 4 else pl.String for i in range(1, 7)}
def read(path):
    return pl.read_csv(path, separator=" ", has_header=False, quote_char=None, schema=columns)
"""
READ = FLOOR + 'read("a.run"); read("b.run")'
READ_ALL = FLOOR + 'read("a.run"); read("b.run"); read("fused.run")'
READ_ALL_WRITE = FLOOR + (
    'read("a.run"); read("b.run")\n'
    'frame = read("fused.run").with_columns(pl.col("column_5").cast(pl.Float32))\n'
    'frame.write_csv("floor.run", separator=" ", include_header=False, quote_style="never")'
)
RANX = """
from ranx import Run, fuse
runs = [Run.from_file(path, kind="trec") for path in ("a.run", "b.run")]
fuse(runs, norm=None, method="rrf", params={"k": 60}).save("ranx.run", kind="trec")
"""


def write_runs(folder: Path, queries: int, depth: int, seed: int = 0) -> None:
    """Write two runs over shared documents, ``a.run`` with scores as BM25's and ``b.run`` as of cosines."""
    rng = np.random.default_rng(seed)
    qids = np.sort(rng.choice(1_100_000, queries, replace=False))
    both = int(depth * SHARED)
    for name, tag in (("a", "BM25"), ("b", "dense")):
        with (folder / f"{name}.run").open("wb") as stream:
            for part in np.array_split(qids, max(queries // 500, 1)):
                docs = np.empty((len(part), depth), dtype=np.int64)
                for i, qid in enumerate(part.tolist()):
                    drawn = np.random.default_rng([seed, qid]).choice(COLLECTION, 2 * depth, replace=False)
                    own = (
                        drawn[:depth]
                        if name == "a"
                        else np.append(drawn[:both], drawn[depth : 2 * depth - both])
                    )
                    docs[i] = np.random.default_rng([seed, qid, ord(name)]).permutation(own)
                scores = rng.gamma(4, 3, docs.shape) + 5 if name == "a" else rng.beta(8, 3, docs.shape)
                frame = pl.DataFrame(
                    {
                        "qid": np.repeat(part, depth),
                        "Q0": pl.repeat("Q0", docs.size, eager=True),
                        "docno": docs.ravel(),
                        "rank": np.tile(np.arange(1, depth + 1), len(part)),
                        "score": pl.Series(-np.sort(-scores, axis=1).ravel()).round(6),
                        "tag": pl.repeat(tag, docs.size, eager=True),
                    }
                )
                frame.write_csv(stream, include_header=False, separator=" ")


def measure(command: list[str], folder: Path) -> tuple[float, float, float]:
    """Run a process; give its seconds on the clock, of processor time, and its peak memory in GB."""
    start = time.perf_counter()
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"failed: {command}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6


def main() -> None:
    """Time everything and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--queries", type=int, default=6980)
    parser.add_argument("--depth", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many; ranx runs once")
    parser.add_argument("--ranx", action="store_true")
    options = parser.parse_args()
    python = [sys.executable, "-c"]
    fuse = [sys.executable, "-m", "hybridcli", "fuse", "a.run", "b.run", "-o", "fused.run"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_runs(folder, options.queries, options.depth)
        best = {}
        measure(fuse, folder)  # the floor writes what fuse wrote
        for _ in range(options.repeat):  # interleaved, so that what else the machine does meets all of them
            for label, command in {
                "fuse": fuse,
                "read": [*python, READ],
                "read, and the output": [*python, READ_ALL],
                "read, and the output, write": [*python, READ_ALL_WRITE],
            }.items():
                best[label] = min(best.get(label, (np.inf,) * 3), measure(command, folder))
        # writing is what is left when the reading of the output is taken away
        writing = [
            a - b
            for a, b in zip(best["read, and the output, write"], best["read, and the output"], strict=True)
        ]
        floor = [best["read"][i] + max(writing[i], 0) for i in range(2)]
        row = "{:<16} {:8.2f} s  {:8.2f} s of processor  {}".format
        print(f"{options.queries} queries × {options.depth} documents, two runs; {os.cpu_count()} processors")
        print(row("hybridcli fuse", *best["fuse"][:2], f"{best['fuse'][2]:.2f} GB"))
        print(row("polars floor", *floor, ""))
        print(f"fuse / floor     {best['fuse'][0] / floor[0]:8.2f} ×  {best['fuse'][1] / floor[1]:8.2f} ×")
        if options.ranx:
            measure([*python, "import ranx"], folder)
            seconds, processor, memory = measure([*python, RANX], folder)
            print(row("ranx", seconds, processor, f"{memory:.2f} GB"))
            print(f"ranx / fuse      {seconds / best['fuse'][0]:8.2f} ×")


if __name__ == "__main__":
    main()
