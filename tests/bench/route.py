"""Study A's whole router protocol at the study's size: 5,000 queries in 489 groups, 5 folds x 20 repeats, all routers.

    python -m tests.bench.route [--queries 5000 --repeats 20]

Runs are simulated: two lists of 100 documents a query, one relevant document that either may hold. Reading and writing
are included; an interrupted call would go on from its finished folds (``--work``).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.bench.fuse import measure

WORDS = [
    "revenue",
    "margin",
    "risk",
    "lease",
    "Q3",
    "CAGR",
    "EPS",
    "$4",
    "growth",
    "(AAPL)",
    "versus",
    "10-K",
    "debt",
    "5%",
    "board",
    "net",
    "income",
    "of",
    "the",
]


def write_inputs(folder: Path, queries: int, groups: int, seed: int = 0) -> None:
    """Write two runs, qrels, topics, groups, categories and vectors."""
    rng = np.random.default_rng(seed)
    qids = [f"q{number}" for number in range(queries)]
    for tag, chance in (("bm25", 0.6), ("dense", 0.5)):
        with (folder / f"{tag}.run").open("w", encoding="utf-8") as stream:
            for qid in qids:
                scores = np.sort(rng.gamma(4, 3, 100))[::-1]
                docs = rng.permutation(160)[:100]
                if rng.random() < chance:
                    docs = np.concatenate([docs[docs != 0][:99], [0]])
                    docs = np.roll(docs, 1 + int(rng.geometric(0.08))) if rng.random() < 0.8 else docs
                lines = (
                    f"{qid} Q0 {qid}-{doc} {rank} {score:.6f} {tag}\n"
                    for rank, (doc, score) in enumerate(
                        zip(docs.tolist(), scores.tolist(), strict=True), start=1
                    )
                )
                stream.writelines(lines)
    (folder / "qrels").write_text("".join(f"{qid} 0 {qid}-0 1\n" for qid in qids))
    texts = (" ".join(rng.choice(WORDS, rng.integers(3, 14))) for _ in qids)
    (folder / "topics.tsv").write_text(
        "".join(f"{qid}\t{text}\n" for qid, text in zip(qids, texts, strict=True))
    )
    for name, count in (("groups", groups), ("categories", 8)):
        drawn = rng.integers(0, count, queries)
        rows = (f"{qid}\t{name}{at}\n" for qid, at in zip(qids, drawn.tolist(), strict=True))
        (folder / f"{name}.tsv").write_text("".join(rows))
    np.save(folder / "vectors.npy", rng.standard_normal((queries, 384)).astype(np.float32))
    (folder / "ids.txt").write_text("\n".join(qids) + "\n")


def main() -> None:
    """Time one call and print it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--groups", type=int, default=489)
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder, options.queries, options.groups)
        names = "--qrels qrels --topics topics.tsv --groups groups.tsv --categories categories.tsv"
        more = f"--embeddings vectors.npy --ids ids.txt --router all -m Success@10 --repeats {options.repeats} --work w"
        command = f"-m hybridcli route bm25.run dense.run {names} {more} --out-dir out"
        seconds, processor, memory = measure([sys.executable, *command.split()], folder)
        print(
            f"{options.queries:,} queries, 5 folds x {options.repeats}, all routers: {seconds / 60:.1f} min "
            f"(bar 15), {processor / 60:.1f} min of processor, {memory:.2f} GB"
        )


if __name__ == "__main__":
    main()
