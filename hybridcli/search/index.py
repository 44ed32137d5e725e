"""Index folders: ``meta.json`` beside arrays and text files, checked by SHA-256 when opened, no pickle anywhere.

A folder appears whole or not at all: it is built beside its place and renamed when all went well.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hybridcli.errors import DataError, HybridcliError, UsageError

FORMAT = "hybridcli-index"
VERSION = 1
META = "meta.json"
DOCNOS = "docnos.txt"
SHARD = re.compile(r"shard-([0-9]+)-of-([0-9]+)")
SHARD_OR_PART = re.compile(r"(?:shard-[0-9]+-of-[0-9]+|\.shard-.*\.(?:part|old))")


@dataclass(frozen=True, slots=True)
class Index:
    """An opened, verified index folder. ``options``: what the engine was built with, and needs to search."""

    path: Path
    engine: str
    documents: int
    options: dict[str, Any]

    def docnos(self) -> list[str]:
        """The docnos in ascending byte order; a document's code is its place in this list."""
        return (self.path / DOCNOS).read_text(encoding="utf-8").split("\n")[:-1]


class Options(dict[str, Any]):
    """The options of an index as read; one that is not there is a DataError that names the file."""

    def __init__(self, options: dict[str, Any], path: str) -> None:
        super().__init__(options)
        self._path = path

    def __missing__(self, name: str) -> Any:
        raise DataError(f"misses the option {name}; build the index again", path=self._path)


def require_free(target: Path) -> None:
    """Refuse a place that holds anything but an index of ours (which will be replaced) or an empty folder."""
    if not target.parent.is_dir():
        raise UsageError(f"{target}: the folder {target.parent} does not exist")
    if str(target) == "-":
        raise UsageError("an index is a folder: it cannot go to stdout, name a folder")
    if target.exists() and not target.is_dir():
        raise UsageError(f"{target}: is a file; an index is a folder, choose another name")
    if not target.is_dir() or not any(target.iterdir()):
        return
    meta = _read_meta(target)
    if meta.get("format") != FORMAT:
        raise UsageError(f"{target}: is a folder that holds no index; it is left alone, choose another name")
    own = {META, *meta.get("files", ())}
    files = (file.relative_to(target).as_posix() for file in target.rglob("*") if file.is_file())
    foreign = sorted(set(files) - own)
    if foreign:
        problem = f"holds {foreign[0]}, which is not of the index and would be lost; move it, or choose another name"
        raise UsageError(f"{target}: {problem}")


def _read_meta(folder: Path) -> dict[str, Any]:
    try:
        meta = json.loads((folder / META).read_bytes())
    except (OSError, ValueError):
        return {}
    return meta if isinstance(meta, dict) else {}


@contextlib.contextmanager
def new_index(path: str) -> Iterator[Path]:
    """Give an empty folder beside ``path`` to build in; remove it when the block fails.

    The block ends with ``finish_index``, which puts the folder in its place.
    """
    target = Path(path)
    require_free(target)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        beside.mkdir()
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror}") from None
    try:
        yield beside
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def finish_index(built: Path, path: str, *, engine: str, documents: int, options: dict[str, Any]) -> None:
    """Write ``meta.json`` over everything in ``built`` and rename the folder to ``path``."""
    files = {
        file.relative_to(built).as_posix(): {"bytes": file.stat().st_size, "sha256": digest(file)}
        for file in sorted(built.rglob("*"))
        if file.is_file()
    }
    meta = {
        "format": FORMAT,
        "version": VERSION,
        "engine": engine,
        "documents": documents,
        "options": options,
        "files": files,
    }
    with open(built / META, "w", encoding="utf-8") as stream:
        json.dump(meta, stream, ensure_ascii=False, indent=1)
        stream.write("\n")
        stream.flush()
        os.fsync(stream.fileno())
    target = Path(path)
    require_free(target)
    try:
        if target.is_dir() and any(target.iterdir()):  # an index of ours: swap, then drop the old one
            if not documents:  # more likely a command before this one in a pipe that failed
                raise DataError(
                    "no passage was read: the index that is there stays; remove it first", path=path
                )
            old = target.with_name(f".{target.name}.{secrets.token_hex(4)}.old")
            target.rename(old)
            try:
                built.rename(target)
            except OSError:
                if not target.exists():
                    old.rename(target)
                raise
            finally:  # should another command have put its index here meanwhile, that one stays
                shutil.rmtree(old, ignore_errors=True)
        else:
            built.rename(target)
    except OSError as error:
        problem = (
            f"{target}: cannot be put in its place ({error.strerror}); does another command write it too?"
        )
        raise HybridcliError(problem) from None


def digest(file: Path) -> str:
    """SHA-256 of a file."""
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def open_parts(path: str) -> list[Index]:
    """Open an index, or all the shards of one (``shard-1-of-4`` …), which must be complete and belong together.

    A Lucene index that Anserini built elsewhere has no ``meta.json``: it is opened without options.
    """
    if not (Path(path) / META).exists() and any(Path(path).glob("segments_*")):
        return [Index(Path(path), "lucene", 0, {})]
    names = shard_names(Path(path))
    if (Path(path) / META).exists() or not names:
        return [open_index(path)]
    count = max(n for _, n in names)
    wanted = [shard_path(path, (i, count)) for i in range(1, count + 1)]
    missing = [folder for folder in wanted if not Path(folder).is_dir()]
    if missing or len(names) != count:
        what = f"misses {Path(missing[0]).name}" if missing else "holds shards of several builds"
        raise DataError(f"{what}; all {count} shards are needed", path=path)
    parts = [open_index(folder) for folder in wanted]
    for part in parts[1:]:
        same = {**part.options, "shard": None} == {**parts[0].options, "shard": None}
        if not same or part.engine != parts[0].engine:
            raise DataError(
                f"was built with other settings or from other passages than {wanted[0]}", path=str(part.path)
            )
    return parts


def shard_path(path: str, shard: tuple[int, int]) -> str:
    """The folder of shard (i, n) below the index folder; the index folder itself when n is 1."""
    return path if shard[1] == 1 else str(Path(path) / f"shard-{shard[0]}-of-{shard[1]}")


def shard_names(folder: Path) -> list[tuple[int, int]]:
    """The (i, n) of the shards below a folder."""
    if not folder.is_dir():
        return []
    names = (SHARD.fullmatch(entry.name) for entry in folder.iterdir())
    return sorted((int(name[1]), int(name[2])) for name in names if name)


def make_shard_folder(path: str, shard: tuple[int, int]) -> None:
    """Create the folder that holds all shards, unless it is there; array jobs do this at the same time."""
    if shard[1] == 1:
        return
    target = Path(path)
    if target.is_dir() and any(not SHARD_OR_PART.fullmatch(entry.name) for entry in target.iterdir()):
        raise UsageError(f"{target}: holds other things than shards; choose another name")
    try:
        target.mkdir(exist_ok=True)
    except FileNotFoundError:
        raise UsageError(f"{target}: the folder {target.parent} does not exist") from None
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror}") from None


def open_index(path: str) -> Index:
    """Read and verify an index folder.

    Raises DataError when it is missing, no index, of another version, or when a file is absent or altered.
    """
    folder = Path(path)
    if not folder.exists():
        raise DataError("no such index; build one with hybridcli index-sparse or index-dense", path=path)
    if not (folder / META).is_file():
        raise DataError(
            f"is not an index (no {META}); build one with hybridcli index-sparse or index-dense", path=path
        )
    meta_path = str(folder / META)
    try:
        meta = json.loads((folder / META).read_bytes())
    except (ValueError, OSError) as error:
        raise DataError(f"cannot be read ({error}); build the index again", path=meta_path) from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise DataError("was not written by hybridcli; is this an index folder?", path=meta_path)
    if meta.get("version") != VERSION:
        raise DataError(
            f"the index has format version {meta.get('version')}, this hybridcli reads version {VERSION}; "
            "build it again",
            path=meta_path,
        )
    try:
        index = Index(
            folder, str(meta["engine"]), int(meta["documents"]), Options(meta["options"], meta_path)
        )
        files = {
            str(name): (int(entry["bytes"]), str(entry["sha256"])) for name, entry in meta["files"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        raise DataError("misses a field; build the index again", path=meta_path) from None
    for name, (size, checksum) in files.items():
        _verify(folder / name, size, checksum)
    return index


def _verify(file: Path, size: int, checksum: str) -> None:
    if not file.is_file():
        raise DataError("this file of the index is missing; build the index again", path=str(file))
    found = file.stat().st_size
    if found != size:
        raise DataError(f"has {found} bytes, {size} were written; build the index again", path=str(file))
    if digest(file) != checksum:
        raise DataError("has changed since it was written (checksum); build the index again", path=str(file))


def write_docnos(folder: Path, docnos: Sequence[str]) -> None:
    """Write the docnos, which must ascend, one a line."""
    with open(folder / DOCNOS, "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{docno}\n" for docno in docnos)


def sorted_order(docnos: Sequence[str]) -> list[int]:
    """Give the places of ``docnos`` in ascending byte order; refuse what a run file cannot hold.

    Raises DataError for a docno that is empty, has a blank in it, or stands twice.
    """
    order = sorted(range(len(docnos)), key=docnos.__getitem__)
    previous = None
    for place in order:
        docno = docnos[place]
        if len(docno.split()) != 1 or docno.strip() != docno:
            raise DataError(f"docno {docno!r} is empty or has a blank in it, so it cannot stand in a run")
        if docno == previous:
            raise DataError(f"docno {docno} stands twice; give every passage its own")
        previous = docno
    return order
