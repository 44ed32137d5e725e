"""Training study D's 35 regressions at the study's size: 2,000 training queries, 50 candidates each, 384 dimensions.

    python -m tests.bench.rerank [--queries 2000 --models 35]

Vectors are drawn: a relevant passage lies nearer to its query than others do. Beside the fit, 100 other queries are
scored.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

from hybridcli.adaptive.pairs import Lists, Pairs
from hybridcli.adaptive.rerankers import Settings, bagged_svr

K = 50


def lists(queries: int, dim: int, seed: int) -> Lists:
    """Candidates of queries, the relevant one at a random place."""
    rng = np.random.default_rng(seed)
    asked = rng.standard_normal((queries, dim))
    found = rng.standard_normal((queries, K, dim)) + 0.5 * asked[:, None, :]
    relevant = rng.integers(0, K, queries)
    found[np.arange(queries), relevant] += 0.5 * asked
    passages = found.reshape(-1, dim)
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (asked, passages)]
    pairs = Pairs(np.repeat(np.arange(queries), K), np.arange(queries * K), *unit)
    grades = np.zeros(queries * K, dtype=np.int32)
    grades[np.arange(queries) * K + relevant] = 1
    return Lists(pairs, np.arange(queries + 1) * K, grades)


def main() -> None:
    """Time the fit and print it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--models", type=int, default=35)
    parser.add_argument("--dim", type=int, default=384)
    options = parser.parse_args()
    training, test = lists(options.queries, options.dim, 0), lists(100, options.dim, 1)
    settings = Settings(models=options.models, jobs=os.cpu_count() or 1)
    start = time.perf_counter()
    score = bagged_svr(training, settings, np.random.default_rng(0))
    fitted = time.perf_counter()
    score(test.pairs)
    print(
        f"{options.models} models, k = {K}, {options.queries:,} queries, {options.dim} dimensions: fit "
        f"{(fitted - start) / 60:.1f} min (bar 10), 100 queries scored in {time.perf_counter() - fitted:.1f} s"
    )


if __name__ == "__main__":
    main()
