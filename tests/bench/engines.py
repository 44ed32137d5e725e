"""Engines side by side on windows made by repeating and perturbing the demo text: time, memory, size, exactness.

    python -m tests.bench.engines                            # 300,000 windows, 5,000 topics
    python -m tests.bench.engines --windows 20000 --topics 500 --engines bm25s,flat
    python -m tests.bench.engines --model minilm             # a transformer instead of static vectors

Each step is a process of its own; the clock includes its start, memory is the process's largest resident set. Below
the table stands what it means for larger collections, as arithmetic on the measured rows.
"""

from __future__ import annotations

import argparse
import json
import os
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--windows", type=int, default=300_000)
    parser.add_argument("--topics", type=int, default=5000)
    parser.add_argument("--model", default="wordllama")
    parser.add_argument("--engines", default="bm25s,flat,hnsw,ivf,ivfpq", help=f"of {', '.join(ENGINES)}")
    options = parser.parse_args()
    estimates = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run("window", str(ROOT / "fixtures" / "filings"), "-o", str(folder / "demo.jsonl"))
        texts = write_windows(folder / "demo.jsonl", folder / "windows.jsonl", options.windows)
        write_topics(texts, folder / "topics.tsv", options.topics)
        del texts
        write_topics([" ".join(["net income"] * 3)], folder / "one.tsv", 1)
        print(f"{options.windows:,} windows, {options.topics:,} topics, vectors of {options.model}")
        print(
            f"{'engine':8}{'build s':>9}{'GB':>6}{'index GB':>10}{'search s':>10}{'GB':>6}{'ms/topic':>10}  found"
        )
        for engine in options.engines.split(","):
            index = folder / engine
            dense = () if ENGINES[engine][0] == "index-sparse" else ("--model", options.model)
            built = run(
                ENGINES[engine][0],
                str(folder / "windows.jsonl"),
                "-o",
                str(index),
                *ENGINES[engine][1:],
                *dense,
            )
            start = run("retrieve", str(index), str(folder / "one.tsv"), "-o", str(folder / "one.run"))
            run_file = str(folder / f"{engine}.run")
            searched = run("retrieve", str(index), str(folder / "topics.tsv"), "-o", run_file)
            found = "exact"
            if "--ann" in ENGINES[engine]:
                measured = run(
                    "retrieve",
                    str(index),
                    str(folder / "topics.tsv"),
                    "-o",
                    run_file,
                    "--measure-recall",
                    "200",
                )
                found = next(word for word in measured.err.split() if word.endswith("%"))
            each = max(searched.seconds - start.seconds, 0) / options.topics
            print(
                f"{engine:8}{built.seconds:9.1f}{built.gigabytes:6.1f}{size(index):10.2f}{searched.seconds:10.1f}"
                f"{searched.gigabytes:6.1f}{each * 1000:10.2f}  {found}",
                flush=True,
            )
            estimates.append(extrapolate(engine, options.windows, size(index), each))
    print("If cost grows with the number of windows (hnsw: slower than that), on this machine:")
    print("\n".join(estimates))


if __name__ == "__main__":
    main()
