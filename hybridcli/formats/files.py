"""Opening inputs and outputs: ``-`` is stdin or stdout, gzip is found by its first bytes, outputs are atomic."""

from __future__ import annotations

import contextlib
import contextvars
import gzip
import io
import os
import secrets
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO, cast

from hybridcli.errors import ClosedPipe, DataError, UsageError

GZIP_MAGIC = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
STDIN = "-"


@dataclass
class Ledger:
    """What a command opened: names of inputs and outputs in order; ``heads``: bytes to put before an output."""

    inputs: dict[str, None] = field(default_factory=dict)
    outputs: dict[str, None] = field(default_factory=dict)
    heads: dict[str, Callable[[], bytes]] = field(default_factory=dict)


LEDGER: contextvars.ContextVar[Ledger | None] = contextvars.ContextVar("ledger", default=None)


def note_input(path: str) -> None:
    """Record an input (a file or a folder) that is read by other means than ``open_bytes``."""
    ledger = LEDGER.get()
    if ledger is not None:
        ledger.inputs[path] = None


def note_output(path: str) -> None:
    """Record an output (an index folder, say) that is written by other means than ``open_output``."""
    ledger = LEDGER.get()
    if ledger is not None:
        ledger.outputs[path] = None


def head_of(path: str) -> bytes:
    """The bytes that must stand before the data of this output; empty unless a recipe wants them."""
    ledger = LEDGER.get()
    return ledger.heads[path]() if ledger is not None and path in ledger.heads else b""


def name_of(path: str) -> str:
    """The name used in messages."""
    return "<stdin>" if path == STDIN else path


def stem_of(path: str) -> str:
    """A file's name without folder, ``.gz`` and last suffix: how a run is called in tables."""
    if path == STDIN:
        return "stdin"
    name = Path(path).name.removesuffix(".gz")
    return Path(name).stem or name


def require_one_stdin(*paths: str | None) -> None:
    """Refuse a command line that reads stdin twice."""
    if sum(path == STDIN for path in paths) > 1:
        raise UsageError("'-' (stdin) is given twice; it can be read once only")


def require_one_stdout(*paths: str | None) -> None:
    """Refuse a command line that writes two things to stdout."""
    if sum(path == STDIN for path in paths) > 1:
        raise UsageError("'-' (stdout) is given for two outputs; they would be mixed: name a file for one")


@contextlib.contextmanager
def open_bytes(path: str, *, keep_bom: bool = False) -> Iterator[BinaryIO]:
    """Open an input for reading bytes: decompressed when it is gzip, without a UTF-8 byte-order mark.

    ``keep_bom`` leaves such a mark in place. Raises DataError when the file is missing, unreadable, a folder, or
    broken gzip data.
    """
    note_input(path)
    try:
        with contextlib.ExitStack() as stack:
            raw: BinaryIO = (
                sys.stdin.buffer if path == STDIN else cast(BinaryIO, stack.enter_context(open(path, "rb")))
            )
            stream = io.BufferedReader(cast(io.RawIOBase, raw), 1 << 20)
            stack.callback(stream.detach)
            if stream.peek(2)[:2] == GZIP_MAGIC:
                inner = stack.enter_context(gzip.GzipFile(fileobj=stream, mode="rb"))
                stream = io.BufferedReader(cast(io.RawIOBase, inner), 1 << 20)
            if not keep_bom and stream.peek(3)[:3] == BOM:
                stream.read(3)
            yield cast(BinaryIO, stream)
    except FileNotFoundError:
        raise DataError("no such file", path=name_of(path)) from None
    except IsADirectoryError:
        raise DataError("is a folder; a file is needed here", path=name_of(path)) from None
    except PermissionError:
        raise DataError("cannot be read: permission denied", path=name_of(path)) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"broken gzip data ({error}); is the file cut short?", path=name_of(path)) from None


def read_bytes(path: str) -> bytes:
    """Read a whole input."""
    with open_bytes(path) as stream:
        return stream.read()


def decode(raw: bytes, path: str, line: int) -> str:
    """Decode one line of UTF-8 or raise a DataError that names file and line."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        found = raw[error.start : error.start + 1].hex()
        raise DataError(
            f"not UTF-8 (byte 0x{found} at column {error.start + 1}); convert the file, for example with "
            "iconv -f latin1 -t utf-8",
            path=name_of(path),
            line=line,
        ) from None


def read_lines(path: str) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, text without its line end) of a UTF-8 text; CRLF is accepted."""
    with open_bytes(path) as stream:
        yield from lines_of(stream, path)


def lines_of(stream: BinaryIO, path: str) -> Iterator[tuple[int, str]]:
    """Yield the same of an input that is already open."""
    for number, raw in enumerate(stream, start=1):
        yield number, decode(raw.rstrip(b"\r\n"), path, number)


@contextlib.contextmanager
def open_output(path: str) -> Iterator[BinaryIO]:
    """Open an output for writing bytes: ``-`` is stdout, a name ending in ``.gz`` is compressed.

    A file appears whole or not at all: it is written beside its place, synced and renamed when the block ends
    without an error.
    """
    if path != STDIN:
        note_output(path)
    with _destination(path) as stream:
        stream.write(head_of(path))
        yield stream


@contextlib.contextmanager
def _destination(path: str) -> Iterator[BinaryIO]:
    target = Path(path)
    if path == STDIN:
        try:
            sys.stdout.flush()
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise ClosedPipe from None
    elif target.is_dir():
        raise UsageError(f"{path}: is a folder; an output file is needed here")
    elif target.exists() and not target.is_file():
        with open(target, "wb") as device:  # a pipe or a device such as /dev/null: nothing to rename
            yield device
    else:
        with atomic_file(target) as plain:
            if target.name.endswith(".gz"):
                # a fixed time stamp and no name: the same bytes for the same data
                with gzip.GzipFile(filename="", fileobj=plain, mode="wb", compresslevel=6, mtime=0) as packed:
                    yield cast(BinaryIO, packed)
            else:
                yield plain


@contextlib.contextmanager
def atomic_file(target: Path) -> Iterator[BinaryIO]:
    """Write ``target`` under another name beside it; rename only when all went well."""
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        stream: IO[bytes] = open(beside, "xb")
    except FileNotFoundError:
        raise UsageError(f"{target}: the folder {target.parent} does not exist") from None
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror}") from None
    try:
        with stream:
            yield cast(BinaryIO, stream)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def make_folder(path: str) -> Path:
    """Make a folder for outputs, with the folders above it, unless it is there."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{path}: is a file; a folder is needed here")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path}: cannot be made: {error.strerror}") from None
    return folder


def write_text(path: str, text: str) -> None:
    """Write a whole UTF-8 text."""
    with open_output(path) as stream:
        stream.write(text.encode("utf-8"))
