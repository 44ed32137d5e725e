"""Reading runs part by part gives what reading them whole gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hybridcli.commands.comparing.parts import Part, View, read_parts
from hybridcli.evaluation.hits import Matcher, find_hits, judgments_of, merge_hits
from hybridcli.evaluation.scores import float_ties, tied_queries
from hybridcli.formats.run_batches import RunBatches, RunSource
from hybridcli.formats.runs import read_run
from hybridcli.records import Qrels
from tests.evaluation.samples import qrels_from


def run_file(folder: Path, generator: np.random.Generator, *, scattered: bool = False) -> str:
    """Queries in order, with ties, out of order, and with ties in 32 bits only."""
    lines = []
    for query in range(40):
        docs = generator.choice(60, size=20, replace=False)
        scores = np.sort(generator.random(20))[::-1]
        if query % 4 == 1:
            scores = np.round(scores, 1)
        if query % 4 == 2:
            scores = generator.permutation(scores)
        if query % 4 == 3:
            scores[1] = scores[0] - 1e-12
        lines += [
            f"q{query} Q0 d{doc} 1 {score!r} t\n" for doc, score in zip(docs, scores.tolist(), strict=True)
        ]
    path = folder / "a.run"
    path.write_text("".join(generator.permutation(lines) if scattered else lines))
    return str(path)


def judged(folder: Path, generator: np.random.Generator) -> Qrels:
    lines = [
        f"q{query} r{reference} d{doc} {int(generator.integers(0, 2))}\n"
        for query in generator.permutation(45)
        for reference in range(2)
        for doc in generator.choice(70, size=6, replace=False)
    ]
    return qrels_from(folder, "".join(lines))


def parts_of(path: str, qrels: Qrels, block: int) -> list[Part]:
    view = View(judgments_of(qrels), Matcher(qrels))
    tag, parts = read_parts(RunBatches([RunSource(path)], block=block), [view], whole=False)
    assert tag == "t"
    return parts


@pytest.mark.parametrize("scattered", [False, True])
def test_parts_and_the_whole(tmp_path: Path, scattered: bool) -> None:
    generator = np.random.default_rng(4)
    path, qrels = run_file(tmp_path, generator, scattered=scattered), judged(tmp_path, generator)
    run = read_run(path)
    whole = find_hits(run, qrels)
    parts = parts_of(path, qrels, 3000)
    assert (len(parts) == 1) == scattered
    hits = merge_hits([part.hits[0] for part in parts])
    for name in ("query", "rank", "grade", "retrieved", "reference_query", "reference", "reference_rank"):
        assert getattr(hits, name).tolist() == getattr(whole, name).tolist(), name
    assert sum(part.narrow_ties for part in parts) == float_ties(run) >= 10
    assert sum(part.tied_queries for part in parts) == tied_queries(run) >= 5
    assert sorted(np.concatenate([part.places for part in parts])) == sorted(Matcher(qrels).places(run))


def test_most_lists_in_order_go_the_short_way(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text(
        "".join(f"q{q} Q0 d{d} 1 {9 - d} t\n" for q in range(9) for d in range(5))
        + "z Q0 a 1 1 t\nz Q0 b 2 1 t\n"
    )
    qrels = qrels_from(tmp_path, "q3 0 d4 1\nz 0 a 1\n")
    parts = parts_of(str(path), qrels, 1 << 20)
    assert [len(part.places) for part in parts] == [9, 1]
    hits = merge_hits([part.hits[0] for part in parts])
    assert (hits.query.tolist(), hits.rank.tolist()) == ([0, 1], [5, 2])
