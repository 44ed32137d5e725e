"""Evaluating one large run from its file, values of every query: ``hybridcli compare`` and pytrec_eval, as a ratio.

python -m tests.bench.evaluate [--queries 6980 --depth 1000]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from tests.bench.fuse import measure, write_runs

MEASURES = ("nDCG@10", "RR@10", "R@1000", "AP")
PYTREC_EVAL = """
import pytrec_eval
def read(path, column, number):
    rows = {}
    with open(path) as lines:
        for line in lines:
            columns = line.split()
            rows.setdefault(columns[0], {})[columns[2]] = number(columns[column])
    return rows
evaluator = pytrec_eval.RelevanceEvaluator(read("qrels", 3, int), {"ndcg_cut_10", "recip_rank", "recall_1000", "map"})
values = evaluator.evaluate(read("a.run", 4, float))
print({name: sum(row[name] for row in values.values()) / len(values) for name in ("ndcg_cut_10", "map")})
"""


def write_qrels(folder: Path, judged: int = 10, seed: int = 0) -> None:
    """Judge some documents of ``a.run``, a tenth of them relevant grades 1 to 3."""
    run = pl.read_csv(folder / "a.run", separator=" ", has_header=False).select(
        pl.nth(0).alias("qid"), pl.nth(2).alias("docno")
    )
    rng = np.random.default_rng(seed)
    drawn = run[np.sort(rng.choice(len(run), len(run) * judged // 1000, replace=False))]
    frame = drawn.select("qid", pl.lit("0").alias("it"), "docno").with_columns(
        pl.Series("rel", rng.integers(0, 4, len(drawn)))
    )
    frame.write_csv(folder / "qrels", include_header=False, separator=" ")


def main() -> None:
    """Time both and print the ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--queries", type=int, default=6980)
    parser.add_argument("--depth", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_runs(folder, options.queries, options.depth)
        write_qrels(folder)
        wanted = [part for measure_name in MEASURES for part in ("-m", measure_name)]
        ours = [
            sys.executable,
            "-m",
            "hybridcli",
            "compare",
            "a.run",
            "--qrels",
            "qrels",
            *wanted,
            "--per-query",
        ]
        seconds, processor, memory = measure(ours, folder)
        print(f"hybridcli compare  {seconds:8.2f} s  {processor:8.2f} s of processor  {memory:.2f} GB")
        other, processor, memory = measure([sys.executable, "-c", PYTREC_EVAL], folder)
        print(f"pytrec_eval        {other:8.2f} s  {processor:8.2f} s of processor  {memory:.2f} GB")
        print(f"pytrec_eval / hybridcli  {other / seconds:.2f} ×")


if __name__ == "__main__":
    main()
