"""Studies B and C as make targets, on data sets of a few documents each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT

pytestmark = pytest.mark.slow
WORDS = [
    "water",
    "rate",
    "grocery",
    "airline",
    "insurer",
    "device",
    "chip",
    "fuel",
    "premium",
    "lease",
    "margin",
    "plant",
    "store",
    "route",
    "claim",
    "tool",
]
GRID = """table\ta\tbm25 dense static-a\t--method rrf --rrf-k 60\t--grid 0.1
table\tb\tbm25 dense static-b\t--method rrf --rrf-k 60\t--grid 0.1
cell\ttuned\ta\t--grid 0.1 --repeats 1
cell\tsingle\ta\t--grid 1 --repeats 1
cell\tforced\ta\t--grid 0.1 --repeats 1 --force 'static-a>0'
cell\ttuned-b\tb\t--grid 0.1 --repeats 1
cell\tforced-b\tb\t--grid 0.1 --repeats 1 --force 'static-b>0'
"""


def make(folder: Path, *args: str) -> str:
    """Run a target in a folder of its own, with the packages of this Python."""
    stamps = [part for name in ("base", "dense") for part in ("-o", f"{sys.prefix}/.{name}")]
    settings = [
        f"VENV={sys.prefix}",
        "MODEL=wordllama",
        "B_FOLDS=3",
        "DATA=data",
        f"B_GRID={folder / 'grid.tsv'}",
    ]
    command = ["make", "-f", str(ROOT / "Makefile"), *stamps, *settings, *args]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture
def place(tmp_path: Path) -> Path:
    texts = [" ".join(WORDS[(n * step) % len(WORDS)] for step in (1, 3, 5, 7)) for n in range(1, 13)]
    (tmp_path / "grid.tsv").write_text(GRID)
    beir, plain, labels = (tmp_path / "data" / name for name in ("beir", "plain", "labels"))
    (beir / "qrels").mkdir(parents=True)
    plain.mkdir()
    labels.mkdir()
    docs = [json.dumps({"_id": f"d{n}", "title": "", "text": text}) + "\n" for n, text in enumerate(texts)]
    topics = [json.dumps({"_id": f"b{n}", "text": text[:12]}) + "\n" for n, text in enumerate(texts)]
    (beir / "corpus.jsonl").write_text("".join(docs))
    (beir / "queries.jsonl").write_text("".join(topics))
    judged = "".join(f"b{n}\td{n}\t1\n" for n in range(12))
    (beir / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")
    (plain / "docs.jsonl").write_text("".join(docs))
    (plain / "topics.tsv").write_text("".join(f"p{n}\t{text[-14:]}\n" for n, text in enumerate(texts)))
    (plain / "qrels.txt").write_text("".join(f"p{n} 0 d{n} 1\n" for n in range(12)))
    names = [json.dumps({"id": word, "text": word}) + "\n" for word in WORDS]
    (labels / "labels.jsonl").write_text("".join(names))
    for part, chosen in (("train", range(6)), ("test", range(6, 12))):
        (labels / f"{part}.topics.tsv").write_text("".join(f"t{n}\t{texts[n]}\n" for n in chosen))
        rows = [f"t{n} 0 {word} 1\n" for n in chosen for word in sorted({WORDS[0], *texts[n].split()[:2]})]
        (labels / f"{part}.qrels").write_text("".join(rows))
    return tmp_path


def test_study_b(place: Path) -> None:
    said = make(place, "EXHAUSTIVE=", "study-b")
    assert "0.1: 121 different weightings in all" in said
    assert "RR: difference to tuned" in said
    assert "each group held out once" in said
    table = place / "runs/study-b/tables/beir/a.npz"
    before = table.stat().st_mtime_ns
    # a new line in the grid file runs that cell and no other
    with open(place / "grid.tsv", "a") as stream:
        stream.write("cell\trepeated\ta\t--grid 0.1 --repeats 3\n")
    ran = make(place, "EXHAUSTIVE=", "study-b")
    assert ran.count("/hybridcli route ") == 2  # the two data sets
    assert table.stat().st_mtime_ns == before
    # scoring every document again for a table gives the same table as complete runs
    complete = table.read_bytes()
    for stale in (place / "runs/study-b").glob("*/*.run"):
        stale.unlink()
    table.unlink()
    make(place, "EXHAUSTIVE=1", "runs/study-b/tables/beir/a.npz")
    from hybridcli.formats.landscapes import read_table

    exhaustive = read_table(str(table))
    table.write_bytes(complete)
    assert (read_table(str(table)).values == exhaustive.values).all()


def test_study_c(place: Path) -> None:
    said = make(place, "study-c")
    assert "Agreement in the top 128" in said
    assert "winner rule: the lowest mean rank" in said
    assert "Cells, tail: means over n = 6 queries" in said
    assert "condorcet †" in said
