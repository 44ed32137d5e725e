"""A Milvus server or Milvus Lite file: connecting, and sending rows so that an interrupted run goes on.

Credentials come from the environment: MILVUS_TOKEN (a token, or USER:PASSWORD), MILVUS_SERVER_PEM for the
certificate of a TLS server.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from hybridcli.console import note, track
from hybridcli.errors import DataError, HybridcliError, MissingComponentError, UsageError
from hybridcli.search.index import META

ROWS = 500  # of one upsert: below the 64 MB of a message also with the longest texts
OLDEST = (2, 5)  # the first version with BM25

Piece = tuple[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Place:
    """A collection of a server. ``uri``: http(s)://HOST:PORT, or a Milvus Lite file ending in .db."""

    uri: str
    collection: str

    def __post_init__(self) -> None:
        if "@" in self.uri:
            raise UsageError(
                "--uri must not hold a password; put it into the environment variable MILVUS_TOKEN"
            )
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,254}", self.collection):
            raise UsageError(f"--collection {self.collection!r}: letters, digits and _ are allowed")

    def require_free(self, path: str) -> None:
        """Refuse a collection that is there already, unless the index at ``path``, or an interrupted run, made it."""
        with connected(self.uri) as client:
            if client.has_collection(self.collection) and not self._is_ours(path):
                raise UsageError(
                    f"{self.uri} has a collection {self.collection} already; it is left alone, choose another name"
                )

    def _is_ours(self, path: str) -> bool:
        if progress_of(path).exists():
            return True
        try:
            options = json.loads((Path(path) / META).read_bytes())["options"]
        except (OSError, ValueError, KeyError):
            return False
        return (options.get("uri"), options.get("collection_name")) == (self.uri, self.collection)


def place_of(uri: str | None, collection: str | None) -> Place:
    """The place that a command line names."""
    if uri is None or collection is None:
        raise UsageError("--engine milvus needs --uri and --collection")
    return Place(uri, collection)


def progress_of(path: str) -> Path:
    """Where the progress of sending to the collection of the index at ``path`` is kept."""
    return Path(path).with_name(f".{Path(path).name}.sent")


@contextmanager
def connected(uri: str) -> Iterator[Any]:
    """Give a client; turn what goes wrong with the server into a line a person can act on."""
    try:
        import pymilvus
    except ImportError:
        raise MissingComponentError(
            "--engine milvus needs pymilvus", "pip install 'hybridcli[milvus]'"
        ) from None
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it would print each error with its traceback
    pem = os.environ.get("MILVUS_SERVER_PEM")
    more = {"server_pem_path": pem, "secure": True} if pem else {}
    try:
        client = pymilvus.MilvusClient(uri, token=os.environ.get("MILVUS_TOKEN", ""), timeout=20, **more)
        try:
            _require_version(uri, str(client.get_server_version()))
            yield client
        finally:
            client.close()
    except pymilvus.MilvusException as error:
        reason = str(error.message).splitlines()[0]
        raise HybridcliError(f"Milvus at {uri}: {reason}") from None


def _require_version(uri: str, version: str) -> None:
    found = re.search(r"(\d+)\.(\d+)", version)
    if found and (int(found[1]), int(found[2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise DataError(f"has version {version}; {oldest} or newer is needed (BM25)", path=f"Milvus at {uri}")


def send(
    client: Any,
    place: Place,
    progress: Path,
    task: dict[str, Any],
    create: Callable[[], object],
    pieces: Iterable[Piece],
) -> int:
    """Upsert pieces of rows, going on after those that an interrupted run has sent; give the number of rows.

    A piece that was sent but not noted is sent again: an upsert of the same rows changes nothing.
    """
    progress.mkdir(exist_ok=True)
    with open(progress / "sent.jsonl", "a+", encoding="utf-8") as journal:
        try:
            fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"{progress}: another process is working on this index") from None
        journal.seek(0)
        lines = journal.read().splitlines()
        head = json.dumps(task)
        if not lines or lines[0] != head or not client.has_collection(place.collection):
            lines = []
            journal.truncate(0)
            client.drop_collection(place.collection)
            create()
            print(head, file=journal, flush=True)
        done = lines[1:]
        if done:
            note(f"going on after {len(done)} pieces of an interrupted run")
        try:
            count = _upsert(client, place.collection, pieces, done, journal)
        except DataError:  # wrong passages: leave nothing of them
            client.drop_collection(place.collection)
            shutil.rmtree(progress)
            raise
        client.flush(place.collection)
        return count


def _upsert(client: Any, collection: str, pieces: Iterable[Piece], done: list[str], journal: IO[str]) -> int:
    count, at = 0, 0
    for digest, rows in track(pieces, f"sending ({ROWS} rows each)"):
        count += len(rows)
        if at < len(done) and done[at] == digest:
            at += 1
            continue
        if at < len(done):
            raise DataError("the passages have changed since the run that was interrupted; start again")
        client.upsert(collection, rows)
        print(digest, file=journal, flush=True)
    return count
