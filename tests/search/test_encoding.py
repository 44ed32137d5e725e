"""Batches, resuming, the account of lost tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from hybridcli.errors import DataError, InterruptedRun, UsageError
from hybridcli.search import encoding
from hybridcli.search.encoding import Encoded, Loss, Workspace, encode_collection, longest_first, loss_of
from hybridcli.search.models import Encoder, ModelSpec, Vectors, load_encoder
from hybridcli.search.static import StaticEncoder
from tests.search.models import WORDS, make_static_model

Passages = list[tuple[str, str]]


class Stopping(StaticEncoder):
    """A static model that is interrupted after some batches, and counts what it encodes."""

    left = 10**9
    encoded = 0

    def encode(self, batches: Sequence[list[str]], prefix: str) -> list[Vectors]:
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        self.encoded += 1
        return super().encode(batches, prefix)


def collection(count: int) -> Passages:
    random = np.random.default_rng(5)
    return [(f"d{row}", " ".join(random.choice(WORDS[:7], row % 9))) for row in range(count)]


def run(
    folder: Path, encoder: Encoder, passages: Passages, *, shard: tuple[int, int] = (1, 1), task: str = ""
) -> Encoded:
    workspace = Workspace(folder, {"task": task}, 8)
    try:
        return encode_collection(passages, len(passages), encoder, workspace, batch=4, dim=None, shard=shard)
    finally:
        workspace.close()


def rows_of(encoded: Encoded) -> dict[str, bytes]:
    rows = np.fromfile(encoded.file, np.float32).reshape(-1, 8)
    return {docno: row.tobytes() for docno, row in zip(encoded.docnos, rows, strict=True)}


@pytest.fixture
def model(tmp_path: Path) -> str:
    return make_static_model(tmp_path / "model")


def test_longest_first() -> None:
    assert longest_first(["a", "ccc", "bb", "ddd", ""], 2) == [[1, 3], [2, 0], [4]]
    assert longest_first([], 2) == []


@pytest.mark.parametrize("stop", [0, 1, 3, 7])
def test_going_on_after_an_interruption(tmp_path: Path, model: str, stop: int) -> None:
    passages = collection(30)  # 8 batches
    whole = run(tmp_path / "whole", load_encoder(ModelSpec(model)), passages)
    first = Stopping(ModelSpec(model))
    first.left = stop
    with pytest.raises(
        InterruptedRun, match=f"interrupted after {4 * stop} passages; the same command goes on"
    ):
        run(tmp_path / "parts", first, passages)
    second = Stopping(ModelSpec(model))
    parts = run(tmp_path / "parts", second, passages)
    assert second.encoded == 8 - stop
    assert parts.file.read_bytes() == whole.file.read_bytes()
    assert (parts.docnos, parts.loss, parts.collection) == (whole.docnos, whole.loss, whole.collection)


@pytest.mark.parametrize("cut", [1, 40, 129])
def test_a_kill_in_the_middle_of_writing(tmp_path: Path, model: str, cut: int) -> None:
    passages = collection(30)
    whole = run(tmp_path / "w", load_encoder(ModelSpec(model)), passages)
    bytes_before = whole.file.read_bytes()
    whole.file.write_bytes(bytes_before[:-cut])  # vectors of the last batches are torn
    again = Stopping(ModelSpec(model))
    assert run(tmp_path / "w", again, passages).file.read_bytes() == bytes_before
    assert again.encoded == 1 + (cut > 64)
    journal = tmp_path / "w" / encoding.JOURNAL
    journal.write_bytes(journal.read_bytes()[:-5])  # the last line is torn
    again = Stopping(ModelSpec(model))
    assert run(tmp_path / "w", again, passages).file.read_bytes() == bytes_before
    assert again.encoded == 1


def test_other_passages_or_settings_are_not_taken_over(tmp_path: Path, model: str) -> None:
    passages = collection(30)
    run(tmp_path / "w", load_encoder(ModelSpec(model)), passages)
    changed = [*passages[:-1], ("d29", "risk")]
    again = Stopping(ModelSpec(model))
    found = run(tmp_path / "w", again, changed)
    fresh = run(tmp_path / "f", load_encoder(ModelSpec(model)), changed)
    assert rows_of(found) == rows_of(fresh)
    assert 0 < again.encoded < 8
    other = Stopping(ModelSpec(model))
    run(tmp_path / "w", other, changed, task="another")
    assert other.encoded == 8


def test_shards_are_the_whole(tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "BLOCK", 10)
    passages = collection(33)
    whole = run(tmp_path / "w", load_encoder(ModelSpec(model)), passages)
    parts = [
        run(tmp_path / f"s{i}", load_encoder(ModelSpec(model)), passages, shard=(i, 3)) for i in (1, 2, 3)
    ]
    merged = {docno: row for part in parts for docno, row in rows_of(part).items()}
    assert sum(len(part.docnos) for part in parts) == 33
    assert merged == rows_of(whole)
    assert {part.collection for part in parts} == {whole.collection}


def test_one_process_at_a_time(tmp_path: Path) -> None:
    held = Workspace(tmp_path / "w", {}, 8)
    with pytest.raises(UsageError, match="another process is working on this index"):
        Workspace(tmp_path / "w", {}, 8)
    held.close()
    Workspace(tmp_path / "w", {}, 8).close()


def test_lost_tokens_by_hand(model: str) -> None:
    # limit 3; own tokens 2, 4, 3, 0 after a prefix of one token: totals 3, 5, 4, 1
    encoder = load_encoder(ModelSpec(model, max_length=3, passage_prefix="share "))
    texts = ["net cash", "net cash flow risk", "cash flow risk", ""]
    loss = loss_of(encoder, texts, encoder.passage_prefix)
    assert loss == Loss(passages=4, over=2, tokens=9, over_tokens=7, lost=3)
    assert loss.report(3) == (
        "2 of 4 passages (50.0%) exceed the encoder's 3 tokens; it never sees 42.9% of their tokens (33.3% of all)"
    )
    assert "none of 9 tokens is lost" in Loss(4, 0, 9, 0, 0).report(3)
    assert "reads passages whole: 9 tokens" in loss_of(load_encoder(ModelSpec(model)), texts, "").report(None)


def test_no_numbers(tmp_path: Path, model: str) -> None:
    encoder = StaticEncoder(ModelSpec(model))
    encoder._table[0] = np.nan
    with pytest.raises(DataError, match="gives NaN or infinity; try --dtype float32"):
        run(tmp_path / "w", encoder, [("a", "net")])
