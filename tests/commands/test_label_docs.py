"""Labels as documents, from the files to head and tail cells of ``compare``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import Result

Cli = Callable[..., Result]
LABELS = {"a": "net sales", "b": "income tax", "c": "goodwill", "d": "leases", "e": "hedging"}
TRAIN = "".join(f"t{n}\ttext {n}\n" for n in range(1, 8))
# b is in five texts, a in two, c and d in one, e in none
TRAINQRELS = (
    "".join(f"t{n} 0 b 1\n" for n in range(1, 6)) + "t6 0 a 1\nt7 0 a 1\nt1 0 c 1\nt2 0 d 1\nt3 0 e 0\n"
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [json.dumps({"id": label, "text": name}) + "\n" for label, name in LABELS.items()]
    Path("labels.jsonl").write_text("".join(rows))
    Path("train.tsv").write_text(TRAIN)
    Path("train.qrels").write_text(TRAINQRELS)
    return tmp_path


CALL = ("label-docs", "labels.jsonl", "--topics", "train.tsv", "--qrels", "train.qrels")


def test_documents_and_slices(cli: Cli, place: Path) -> None:
    more = ("--max-examples", 2, "--max-words", 3, "--doc-slices-out", "slices.tsv")
    result = cli(*CALL, "-o", "docs.jsonl", *more)
    assert result.code == 0, result.err
    docs = {row["id"]: row["text"] for row in map(json.loads, Path("docs.jsonl").read_text().splitlines())}
    assert docs["a"] == "net sales\ntext\ntext 7"
    assert docs["b"] == "income tax\ntext\ntext 2"
    assert docs["e"] == "hedging"
    assert Path("slices.tsv").read_text() == "a\ttail\nb\thead\nc\ttail\nd\ttail\ne\ttail\n"
    assert "5 labels, 4 of them in 7 training texts" in result.err
    assert "head: 1 labels with at least 5 training texts and 56% of all assignments; tail: 4, of them 0" in (
        " ".join(result.err.split())
    )


def test_a_label_without_a_name_is_warned_of(cli: Cli, place: Path) -> None:
    Path("train.qrels").write_text("t1 0 a 1\nt1 0 zz 1\n")
    result = cli(*CALL, "-o", "docs.jsonl")
    assert result.code == 0
    assert "1 labels of train.qrels are not in labels.jsonl and get no document, such as zz" in result.err


def test_a_share_that_is_none(cli: Cli, place: Path) -> None:
    result = cli(*CALL, "--head-share", "1")
    assert result.code == 2
    assert "--head-share must be between 0 and 1, found 1.0" in result.err


def test_head_and_tail_cells_by_hand(cli: Cli, place: Path) -> None:
    """One text whose labels are b (head) and c (tail); the run ranks a, b, c, d, e."""
    cli(*CALL, "-o", "docs.jsonl", "--doc-slices-out", "slices.tsv")
    Path("one.run").write_text("".join(f"q Q0 {d} {n} {9 - n} r\n" for n, d in enumerate("abcde", 1)))
    Path("two.run").write_text("".join(f"q Q0 {d} {n} {9 - n} r\n" for n, d in enumerate("cabde", 1)))
    Path("test.qrels").write_text("q 0 b 1\nq 0 c 1\n")
    call = ("compare", "one.run", "two.run", "--qrels", "test.qrels", "--doc-slices", "slices.tsv")
    measures = [part for name in ("P@1", "P@5", "nDCG@1", "nDCG@5") for part in ("-m", name)]
    result = cli(*call, *measures, "--ranking", "--format", "json")
    assert result.code == 0, result.err
    found = json.loads(result.out)["cells"]
    cell = {(r["label"], r["slice"], r["measure"]): r["mean"] for r in found if r["row"] == "cell"}
    # all, run one: a* b+ c+: P@1 0, P@5 2/5, nDCG@5 (1/log2 3 + 1/2) / (1 + 1/log2 3)
    assert [cell["one", "all", m] for m in ("P@1", "P@5", "nDCG@1")] == [0, 0.4, 0]
    assert cell["one", "all", "nDCG@5"] == pytest.approx((0.63092975 + 0.5) / 1.63092975)
    # head is b alone, which both runs have first; one document fills a fifth of P@5
    assert [cell["one", "head", m] for m in ("P@1", "P@5", "nDCG@1", "nDCG@5")] == [1, 0.2, 1, 1]
    # tail is a, c, d, e: run one has c second, run two first
    assert [cell["one", "tail", m] for m in ("P@1", "P@5", "nDCG@1")] == [0, 0.2, 0]
    assert cell["one", "tail", "nDCG@5"] == pytest.approx(0.63092975)
    assert [cell["two", "tail", m] for m in ("P@1", "P@5", "nDCG@1", "nDCG@5")] == [1, 0.2, 1, 1]
    ranking = found[0]
    assert ranking["repeats"]["nDCG@1 all"] == "P@1 all"
