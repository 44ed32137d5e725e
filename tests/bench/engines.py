"""Engines side by side on windows made by repeating and perturbing the demo text: time, memory, size, exactness.

    python -m tests.bench.engines                            # 300,000 windows, 5,000 topics
    python -m tests.bench.engines --windows 20000 --topics 500 --engines bm25s,flat
    python -m tests.bench.engines --model minilm             # a transformer instead of static vectors
    python -m tests.bench.engines --dataset beir/scifact/test --model minilm

Each step is a process of its own; the clock includes its start, memory is the process's largest resident set. Below
the table stands what it means for larger collections, as arithmetic on the measured rows.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.support import ROOT

CHANGED = 0.15  # share of words that a copy of a window draws anew
ENGINES = {
    "bm25s": ("index-sparse",),
    "lucene": ("index-sparse", "--engine", "lucene"),
    "flat": ("index-dense",),
    "hnsw": ("index-dense", "--ann", "hnsw", "--ann-params", "threads=2"),
    "ivf": ("index-dense", "--ann", "ivf"),
    "ivfpq": ("index-dense", "--ann", "ivfpq"),
}


@dataclass(frozen=True)
class Cost:
    """What a process took; ``err``: what it wrote to stderr."""

    seconds: float
    gigabytes: float
    err: str


def run(*args: str) -> Cost:
    """Run ``hybridcli ARGS`` in a process of its own."""
    with tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        actions = [(os.POSIX_SPAWN_DUP2, err.fileno(), 2)]
        command = [sys.executable, "-m", "hybridcli", *args]
        process = os.posix_spawn(sys.executable, command, os.environ, file_actions=actions)
        _, status, usage = os.wait4(process, 0)
        seconds = time.perf_counter() - start
        err.seek(0)
        text = err.read().decode()
    if status:
        sys.exit(f"hybridcli {' '.join(args)} failed:\n{text}")
    return Cost(seconds, usage.ru_maxrss / 1e6, text)


def write_windows(source: Path, target: Path, count: int) -> list[str]:
    """Write ``count`` windows: the demo's, then copies with words drawn anew; give some bodies for topics."""
    windows = [json.loads(line) for line in source.open(encoding="utf-8")]
    words = np.array(sorted({word for window in windows for word in window["contents"].split()}))
    rng = np.random.default_rng(0)
    texts = []
    with target.open("w", encoding="utf-8") as stream:
        for number in range(count):
            window = windows[number % len(windows)]
            body = np.array(window["contents"].split(), dtype=object)
            if number >= len(windows):
                drawn = rng.random(len(body)) < CHANGED
                body[drawn] = rng.choice(words, int(drawn.sum()))
            text = " ".join(body)
            texts.append(text)
            stream.write(
                json.dumps({"id": f"{window['id']}:{number}", "contents": text}, ensure_ascii=False) + "\n"
            )
    return texts


def write_topics(texts: list[str], target: Path, count: int) -> None:
    """Write topics of 3 to 10 words that stand together in some window."""
    rng = np.random.default_rng(1)
    with target.open("w", encoding="utf-8") as stream:
        for number in range(count):
            body = texts[int(rng.integers(len(texts)))].split()
            start = int(rng.integers(max(len(body) - 3, 1)))
            stream.write(f"q{number}\t{' '.join(body[start : start + int(rng.integers(3, 11))])}\n")


def size(folder: Path) -> float:
    """Gigabytes of the files of an index."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e9


def extrapolate(name: str, windows: int, index: float, per_topic: float) -> str:
    """What the row means for 10 million and 1 billion windows, when cost grows with their number."""
    parts = []
    for goal, label in ((10**7, "10 million"), (10**9, "1 billion")):
        factor = goal / windows
        parts.append(
            f"{label}: {index:.2f} GB × {factor:,.0f} = {index * factor:,.0f} GB, "
            f"{per_topic * 1000:.1f} ms × {factor:,.0f} = {per_topic * factor:,.1f} s a topic"
        )
    return f"{name}: " + "; ".join(parts)


def search(index: Path, topics: str, target: Path, *more: str) -> Cost:
    """Retrieve in a process of its own."""
    return run("retrieve", str(index), topics, "-o", str(target), *more)


def quality(run_file: Path, dataset: str) -> str:
    """nDCG@10 on the data set's judgements."""
    command = [
        sys.executable,
        "-m",
        "hybridcli",
        "compare",
        str(run_file),
        "--qrels",
        dataset,
        "-m",
        "nDCG@10",
    ]
    done = subprocess.run([*command, "--format", "tsv"], capture_output=True, text=True, check=True)
    return f"{float(done.stdout.splitlines()[2].split()[1]):.4f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--windows", type=int, default=300_000)
    parser.add_argument("--topics", type=int, default=5000)
    parser.add_argument("--dataset", help="documents, topics and qrels of ir_datasets, not made windows")
    parser.add_argument("--model", default="wordllama")
    names = [name for name in ENGINES if name != "lucene" or shutil.which("java")]
    parser.add_argument("--engines", default=",".join(names), help=f"of {', '.join(ENGINES)}")
    options = parser.parse_args()
    estimates = []
    encoded: Path | None = None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.dataset:
            documents = topics = f"irds:{options.dataset}"
            print(f"{documents}, vectors of {options.model}")
        else:
            documents, topics = str(folder / "windows.jsonl"), str(folder / "topics.tsv")
            run("window", str(ROOT / "fixtures" / "filings"), "-o", str(folder / "demo.jsonl"))
            texts = write_windows(folder / "demo.jsonl", Path(documents), options.windows)
            write_topics(texts, Path(topics), options.topics)
            del texts
            print(f"{options.windows:,} windows, {options.topics:,} topics, vectors of {options.model}")
        write_topics([" ".join(["net income"] * 3)], folder / "one.tsv", 1)
        last = "nDCG@10" if options.dataset else "found"
        print(
            f"{'engine':8}{'build s':>9}{'GB':>6}{'index GB':>10}{'search s':>10}{'GB':>6}{'ms/topic':>10}  {last}"
        )
        for engine in options.engines.split(","):
            index, target = folder / engine, folder / f"{engine}.run"
            given = [documents]
            if ENGINES[engine][0] == "index-dense":
                # vectors are made once; the dense engines after the first build on them
                files = ("--embeddings", f"{encoded}/vectors.npy", "--ids", f"{encoded}/docnos.txt")
                given = [*([documents] if encoded is None else files), "--model", options.model]
                encoded = encoded or index
            built = run(ENGINES[engine][0], *given, "-o", str(index), *ENGINES[engine][1:])
            start = search(index, str(folder / "one.tsv"), folder / "one.run")
            searched = search(index, topics, target)
            found = "exact"
            if options.dataset:
                found = quality(target, documents)
            elif "--ann" in ENGINES[engine]:
                measured = search(index, topics, target, "--measure-recall", "200")
                found = next(word for word in measured.err.split() if word.endswith("%"))
            queries = len({line.split(" ", 1)[0] for line in target.open(encoding="utf-8")})
            each = max(searched.seconds - start.seconds, 0) / max(queries, 1)
            print(
                f"{engine:8}{built.seconds:9.1f}{built.gigabytes:6.1f}{size(index):10.2f}{searched.seconds:10.1f}"
                f"{searched.gigabytes:6.1f}{each * 1000:10.2f}  {found}",
                flush=True,
            )
            estimates.append(extrapolate(engine, options.windows, size(index), each))
    if not options.dataset:
        print("If cost grows with the number of windows (hnsw: slower than that), on this machine:")
        print("\n".join(estimates))


if __name__ == "__main__":
    main()
