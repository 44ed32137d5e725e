"""Small inputs for the tests of evaluation."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hybridcli.evaluation.hits import Hits, Judgments, find_hits, judgments_of
from hybridcli.evaluation.measures import parse_measure
from hybridcli.formats.qrels import read_qrels
from hybridcli.records import Qrels, Run

Judged = dict[str, dict[str, int]]
Rankings = dict[str, dict[str, float]]


def qrels_of(folder: Path, judged: Judged) -> Qrels:
    path = folder / "qrels.txt"
    path.write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in judged.items() for d, g in docs.items()))
    return read_qrels(str(path))


def qrels_from(folder: Path, text: str) -> Qrels:
    path = folder / "qrels.txt"
    path.write_text(text)
    return read_qrels(str(path))


def hits_of(rankings: Rankings, qrels: Qrels) -> tuple[Judgments, Hits]:
    return judgments_of(qrels), find_hits(Run.from_dict(rankings), qrels)


def values_of(name: str, rankings: Rankings, qrels: Qrels) -> dict[str, float]:
    """The measure of each query."""
    values = parse_measure(name).values(*hits_of(rankings, qrels))
    return dict(zip(qrels.queries, values.tolist(), strict=True))


def ranked(docnos: str) -> dict[str, float]:
    """A ranking in the order of the words."""
    names = docnos.split()
    return {docno: float(len(names) - at) for at, docno in enumerate(names)}


def random_case(generator: np.random.Generator, lowest: int) -> tuple[Judged, Rankings]:
    """Graded qrels and a run full of ties, with missing and unjudged queries."""
    judged: Judged = {}
    rankings: Rankings = {}
    for query in range(generator.integers(1, 8)):
        docs = generator.choice(60, size=generator.integers(1, 30), replace=False)
        judged[f"q{query}"] = {f"d{doc}": int(generator.integers(lowest, 4)) for doc in docs}
        if generator.random() < 0.8:
            docs = generator.choice(80, size=generator.integers(1, 40), replace=False)
            rankings[f"q{query}"] = {f"d{doc}": float(generator.integers(0, 6)) for doc in docs}
    if generator.random() < 0.3:
        rankings["unjudged"] = {"d1": 1.0}
    return judged, rankings
