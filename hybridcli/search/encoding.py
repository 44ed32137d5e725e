"""Encoding a collection into vectors: batches by length, the work shared among shards, resumed after a kill.

The plan is fixed by the collection and the batch size alone: blocks of ``BLOCK`` passages in the order of the
input, in each block the longest first, cut into batches that are numbered through. So a batch holds the same
texts whether the collection is encoded at once, in shards or in pieces, and gives the same bytes.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from hybridcli.console import note, track
from hybridcli.errors import DataError, InterruptedRun, UsageError
from hybridcli.search.index import sorted_order
from hybridcli.search.models import Encoder, Vectors, unit_rows

BLOCK = 16_384
VECTORS = "vectors.f32"
JOURNAL = "journal.jsonl"
TASK = "task.json"

Passage = tuple[str, str]


@dataclass(slots=True)
class Loss:
    """What the encoder's input limit cuts off. ``tokens``: the passages' own, without special ones and prefix."""

    passages: int = 0
    over: int = 0
    tokens: int = 0
    over_tokens: int = 0
    lost: int = 0

    def add(self, other: Loss) -> None:
        """Add another count."""
        self.passages += other.passages
        self.over += other.over
        self.tokens += other.tokens
        self.over_tokens += other.over_tokens
        self.lost += other.lost

    def report(self, limit: int | None) -> str:
        """One line for a reader."""
        if limit is None:
            return f"the encoder reads passages whole: {self.tokens:,} tokens, none lost"
        if not self.over:
            return f"no passage exceeds the encoder's {limit} tokens: none of {self.tokens:,} tokens is lost"
        return (
            f"{self.over:,} of {self.passages:,} passages ({self.over / self.passages:.1%}) exceed the encoder's "
            f"{limit} tokens; it never sees {self.lost / self.over_tokens:.1%} of their tokens "
            f"({self.lost / self.tokens:.1%} of all)"
        )


@dataclass(slots=True)
class Encoded:
    """What a shard's workspace holds: row i of ``file`` (float32, ``dim`` wide) belongs to ``docnos[i]``.

    ``collection``: SHA-256 over all passages of the input, also those of other shards.
    """

    file: Path
    dim: int
    docnos: list[str] = field(default_factory=list)
    loss: Loss = field(default_factory=Loss)
    collection: str = ""


def loss_of(encoder: Encoder, texts: list[str], prefix: str) -> Loss:
    """Count what the encoder's input limit cuts off from ``texts``."""
    added = int(encoder.count_tokens([""], prefix)[0])
    counts = encoder.count_tokens(texts, prefix)
    own = np.maximum(counts - added, 0)
    if encoder.max_length is None:
        return Loss(len(texts), 0, int(own.sum()), 0, 0)
    over = counts > encoder.max_length
    lost = np.minimum(counts - encoder.max_length, own)[over]
    return Loss(len(texts), int(over.sum()), int(own.sum()), int(own[over].sum()), int(lost.sum()))


def longest_first(texts: list[str], batch: int) -> list[list[int]]:
    """Cut the places of ``texts`` into batches, longest texts (in characters) first."""
    order = sorted(range(len(texts)), key=lambda place: (-len(texts[place]), place))
    return [order[start : start + batch] for start in range(0, len(order), batch)]


def encode_texts(encoder: Encoder, texts: list[str], prefix: str, batch: int, dim: int | None) -> Vectors:
    """Encode texts that fit into memory (topics): float32[N, dim], rows of length 1, in the order given."""
    rows = np.zeros((len(texts), dim or encoder.dim), dtype=np.float32)
    plan = longest_first(texts, batch)
    for start in track(range(0, len(plan), encoder.lanes), "encoding", -(-len(plan) // encoder.lanes)):
        group = plan[start : start + encoder.lanes]
        for places, vectors in zip(group, _encode_group(encoder, texts, group, prefix), strict=True):
            rows[places] = unit_rows(vectors, dim)
    return rows


def _encode_group(encoder: Encoder, texts: list[str], group: list[list[int]], prefix: str) -> list[Vectors]:
    return encoder.encode([[texts[place] for place in places] for places in group], prefix)


class Workspace:
    """The finished batches of an encoding that may be interrupted: vectors and a journal, one line a batch.

    A line holds a digest of the batch's passages and a checksum of its vectors, so that what is taken over is known
    to be whole and to belong to this collection. Opening cuts off whatever is not. One process at a time.
    """

    def __init__(self, folder: Path, task: dict[str, Any], dim: int) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.dim = folder, dim
        self._journal = open(folder / JOURNAL, "a+b", buffering=0)
        try:
            fcntl.flock(self._journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._journal.close()
            raise UsageError(f"{folder}: another process is working on this index") from None
        self._vectors: BinaryIO = open(folder / VECTORS, "a+b", buffering=0)
        if not self._same_task(task):
            self._cut(0, 0)
        (folder / TASK).write_text(json.dumps(task), encoding="utf-8")
        # what earlier runs left and is not yet taken over; None once something was added
        self._left: list[tuple[int, dict[str, Any]]] | None = list(self._whole_batches())
        self._taken = 0
        self._journal_end = self._vectors_end = 0

    def _same_task(self, task: dict[str, Any]) -> bool:
        try:
            return bool(json.loads((self.folder / TASK).read_bytes()) == task)
        except (OSError, ValueError):
            return False

    def _cut(self, journal: int, vectors: int) -> None:
        self._journal.truncate(journal)
        self._vectors.truncate(vectors)

    def _whole_batches(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (end of the line in the journal, entry) of the batches whose vectors are whole."""
        self._journal.seek(0)
        self._vectors.seek(0)
        end = 0
        for line in self._journal.read().splitlines(keepends=True):
            end += len(line)
            try:
                entry = json.loads(line)
            except ValueError:
                return
            if zlib.crc32(self._vectors.read(entry["rows"] * self.dim * 4)) != entry["crc"]:
                return
            yield end, entry

    @property
    def batches(self) -> int:
        """How many finished batches an earlier run has left."""
        return len(self._left or ())

    def take(self, digest: str) -> Loss | None:
        """Take over the next finished batch if it holds these passages; else take no more."""
        if self._left is None:
            return None
        if self._taken < len(self._left):
            end, entry = self._left[self._taken]
            if entry["passages"] == digest:
                self._taken += 1
                self._journal_end = end
                self._vectors_end += entry["rows"] * self.dim * 4
                return Loss(**entry["loss"])
        self.stop_taking()
        return None

    def stop_taking(self) -> None:
        """Cut off whatever has not been taken over."""
        if self._left is not None:
            self._left = None
            self._cut(self._journal_end, self._vectors_end)

    def add(self, digest: str, vectors: Vectors, loss: Loss) -> None:
        """Append a finished batch: first its vectors, then its line."""
        raw = vectors.tobytes()
        self._vectors.write(raw)
        counts = {name: getattr(loss, name) for name in Loss.__slots__}
        entry = {"rows": len(vectors), "passages": digest, "crc": zlib.crc32(raw), "loss": counts}
        self._journal.write(json.dumps(entry).encode() + b"\n")

    def close(self) -> None:
        """Let go of the lock."""
        self._vectors.close()
        self._journal.close()


def survey(passages: Iterable[Passage]) -> int:
    """Read the collection once before the long work: count it, and refuse docnos that a run cannot hold."""
    return len(sorted_order([docno for docno, _ in passages]))


def encode_collection(
    passages: Iterable[Passage],
    count: int,
    encoder: Encoder,
    workspace: Workspace,
    *,
    batch: int,
    dim: int | None,
    shard: tuple[int, int] = (1, 1),
) -> Encoded:
    """Encode shard ``(i, n)`` of ``count`` passages (batches i - 1, i - 1 + n, …), going on where a run ended.

    Raises InterruptedRun on Ctrl-C (finished batches are kept), DataError when the model gives no finite numbers.
    """
    encoded = Encoded(workspace.folder / VECTORS, workspace.dim)
    collection = hashlib.sha256()
    if workspace.batches:
        note(f"going on after {workspace.batches:,} batches of an interrupted run")
    groups = _groups(passages, collection, batch, encoder.lanes, shard)
    total = -(-count // (batch * shard[1] * encoder.lanes))
    try:
        for batches in track(groups, "encoding", total):
            encoded.docnos += [docno for rows in batches for docno, _ in rows]
            for loss in _take_or_encode(batches, encoder, workspace, dim):
                encoded.loss.add(loss)
    except KeyboardInterrupt:
        raise InterruptedRun(
            f"interrupted after {encoded.loss.passages:,} passages; the same command goes on from there"
        ) from None
    workspace.stop_taking()
    encoded.collection = collection.hexdigest()
    return encoded


def _groups(
    passages: Iterable[Passage], collection: hashlib._Hash, batch: int, lanes: int, shard: tuple[int, int]
) -> Iterator[list[list[Passage]]]:
    """Yield the shard's batches, ``lanes`` at a time, and feed every passage to the hash ``collection``."""
    source, number = iter(passages), 0
    while block := list(islice(source, BLOCK)):
        _feed(collection, block)
        plan = longest_first([text for _, text in block], batch)
        mine = [places for at, places in enumerate(plan, number) if at % shard[1] == shard[0] - 1]
        number += len(plan)
        for start in range(0, len(mine), lanes):
            yield [[block[place] for place in places] for places in mine[start : start + lanes]]


def _take_or_encode(
    batches: list[list[Passage]], encoder: Encoder, workspace: Workspace, dim: int | None
) -> Iterator[Loss]:
    """Yield the loss of each batch, taken over from the workspace or encoded now."""
    waiting: list[tuple[str, list[str]]] = []
    for passages in batches:
        state = hashlib.sha256()
        _feed(state, passages)
        loss = workspace.take(state.hexdigest())
        if loss is None:
            waiting.append((state.hexdigest(), [text for _, text in passages]))
        else:
            yield loss
    if not waiting:
        return
    found = encoder.encode([texts for _, texts in waiting], encoder.passage_prefix)
    for (digest, texts), vectors in zip(waiting, found, strict=True):
        if not np.isfinite(vectors).all():
            raise DataError(f"the model {encoder.name} gives NaN or infinity; try --dtype float32")
        loss = loss_of(encoder, texts, encoder.passage_prefix)
        workspace.add(digest, unit_rows(vectors, dim), loss)
        yield loss


def _feed(state: hashlib._Hash, passages: list[Passage]) -> None:
    for docno, text in passages:
        state.update(f"{docno}\n{len(text)}\n{text}\n".encode())


def write_vectors(encoded: Encoded, order: list[int], target: Path) -> None:
    """Write the rows of the workspace in ``order`` as ``target`` (.npy, float32[N, dim]), a piece at a time."""
    rows = len(order)
    if encoded.file.stat().st_size != rows * encoded.dim * 4:
        raise DataError(
            "does not hold as many vectors as passages; delete it and build again", path=str(encoded.file)
        )
    target_rows = np.lib.format.open_memmap(target, "w+", np.float32, (rows, encoded.dim))
    if rows:
        source = np.memmap(encoded.file, np.float32, "r", shape=(rows, encoded.dim))
        for start in range(0, rows, BLOCK):
            target_rows[start : start + BLOCK] = source[order[start : start + BLOCK]]
    target_rows.flush()
