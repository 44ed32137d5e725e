"""Opening inputs and outputs: ``-`` is stdin or stdout, gzip is found by its first bytes, outputs are atomic."""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import gzip
import io
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from hybridcli.console import note
from hybridcli.errors import ClosedPipe, DataError, HybridcliError, UsageError

GZIP_MAGIC = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
STDIN = "-"
WRITE_BACK = 16 << 20  # bytes
SYNC_FILE_RANGE_WRITE = 2  # as in Linux's fs.h


@dataclass
class Ledger:
    """What a command opened: names of inputs and outputs in order; ``heads``: bytes to put before an output.

    ``pipes``: device and inode of each input that is a pipe, whatever it is called (``-``, ``/dev/stdin``).
    ``staged``: finished outputs, written beside their places. They appear together, when the command ends well.
    """

    inputs: dict[str, None] = field(default_factory=dict)
    outputs: dict[str, None] = field(default_factory=dict)
    heads: dict[str, Callable[[], bytes]] = field(default_factory=dict)
    staged: list[tuple[Path, Path]] = field(default_factory=list)
    pipes: set[tuple[int, int]] = field(default_factory=set)

    def refuse_clash(self) -> None:
        """Refuse an output that is an input, or lies in a folder that is one: what is read would be overwritten."""
        inputs = {os.path.realpath(path): path for path in self.inputs if path != STDIN}
        for path in self.outputs:
            place = os.path.realpath(path)
            if place in inputs and is_ordinary(path):
                raise UsageError(f"{path}: is an input of this command; give the output another name")
            folder = next((str(above) for above in Path(place).parents if str(above) in inputs), None)
            if folder is not None:
                problem = f"lies in {inputs[folder]}, an input of this command; put the output elsewhere"
                raise UsageError(f"{path}: {problem}")

    def place_of(self, output: str) -> Path:
        """Where the bytes of an output are: beside its place, until it has appeared."""
        target = Path(os.path.realpath(output))
        return next((beside for beside, place in self.staged if place == target), target)

    def appear(self) -> None:
        """Put all finished outputs in their places."""
        while self.staged:
            _put(*self.staged[0])
            self.staged.pop(0)

    def drop(self) -> None:
        """Remove finished outputs that have not appeared: the command failed."""
        for beside, _ in self.staged:
            beside.unlink(missing_ok=True)
        self.staged.clear()


LEDGER: contextvars.ContextVar[Ledger | None] = contextvars.ContextVar("ledger", default=None)


def note_input(path: str) -> None:
    """Record an input (a file or a folder) that is read by other means than ``open_bytes``."""
    ledger = LEDGER.get()
    if ledger is not None:
        if path == STDIN and path in ledger.inputs:
            raise UsageError("'-' (stdin) is given twice; it can be read once only")
        pipe = _pipe(path)
        if pipe is not None and pipe in ledger.pipes:
            raise UsageError(f"{path}: is a pipe that is given twice; it can be read once only")
        if pipe is not None:
            ledger.pipes.add(pipe)
        ledger.inputs[path] = None
        ledger.refuse_clash()


def note_output(path: str) -> None:
    """Record an output (an index folder, say) that is written by other means than ``open_output``."""
    ledger = LEDGER.get()
    if ledger is not None:
        places = {os.path.realpath(known) for known in ledger.outputs}
        if os.path.realpath(path) in places and is_ordinary(path):
            raise UsageError(f"{path}: is given for two outputs; name another file for one")
        ledger.outputs[path] = None
        ledger.refuse_clash()


def _pipe(path: str) -> tuple[int, int] | None:
    """What tells a pipe from others; None for what is no pipe."""
    try:
        found = os.fstat(sys.stdin.fileno()) if path == STDIN else Path(path).stat()
    except (OSError, AttributeError, ValueError):  # a missing file, a closed stdin: its reader says so
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISFIFO(found.st_mode) else None


def is_ordinary(path: str) -> bool:
    """Whether a name stands for a file or folder, there or not; neither a device nor a pipe."""
    place = Path(path)
    return not place.exists() or place.is_file() or place.is_dir()


def head_of(path: str) -> bytes:
    """The bytes that must stand before the data of this output; empty unless a recipe wants them."""
    ledger = LEDGER.get()
    return ledger.heads[path]() if ledger is not None and path in ledger.heads else b""


def may_be_rewritten(path: str) -> bool:
    """Whether an output is a file whose bytes can be written now and put in another order later."""
    ledger = LEDGER.get()
    headed = ledger is not None and path in ledger.heads  # a head tells of inputs that are read by then
    return path != STDIN and is_ordinary(path) and not path.endswith(".gz") and not headed


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
            raw = _stdin() if path == STDIN else stack.enter_context(_Source(path))
            stream = io.BufferedReader(cast(io.RawIOBase, raw), 1 << 20)
            stack.callback(stream.detach)
            if stream.peek(2)[:2] == GZIP_MAGIC:
                inner = stack.enter_context(gzip.GzipFile(fileobj=stream, mode="rb"))
                stream = io.BufferedReader(cast(io.RawIOBase, inner), 1 << 20)
            if not keep_bom and stream.peek(3)[:3] == BOM:
                stream.read(3)
            yield cast(BinaryIO, stream)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"broken gzip data ({error}); is the file cut short?", path=name_of(path)) from None


class _Source(io.FileIO):
    """A file that is read; whatever goes wrong is a DataError that names it."""

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            super().__init__(path, "rb")
        except OSError as error:
            raise _unreadable(path, error) from None

    def readinto(self, buffer: Any, /) -> int | None:
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise _unreadable(self._path, error) from None


def _unreadable(path: str, error: OSError) -> DataError:
    if isinstance(error, FileNotFoundError):
        return DataError("no such file", path=path)
    if isinstance(error, IsADirectoryError):
        return DataError("is a folder; a file is needed here", path=path)
    return DataError(f"cannot be read: {_reason(error)}", path=path)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _stdin() -> BinaryIO:
    if sys.stdin is None:
        raise DataError("is closed", path=name_of(STDIN))
    if sys.stdin.isatty():
        note("reading from the terminal; end with Ctrl-D")
    return sys.stdin.buffer


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
    try:
        with _destination(path) as stream:
            stream.write(head_of(path))
            yield stream
    except BaseException:
        ledger = LEDGER.get()
        if ledger is not None:  # it was not written, and may be tried again
            ledger.outputs.pop(path, None)
        raise


@contextlib.contextmanager
def _destination(path: str) -> Iterator[BinaryIO]:
    target = Path(os.path.realpath(path))  # what a link points to is written, not the link
    with _written(path):
        is_folder = target.is_dir()
    if path == STDIN:
        with _stdout() as stream:
            yield stream
    elif is_folder:
        raise UsageError(f"{path}: is a folder; an output file is needed here")
    elif not is_ordinary(path):
        with (
            _written(path),
            open(path, "wb", buffering=0) as device,
        ):  # a pipe or /dev/null: nothing to rename
            stream = io.BufferedWriter(_Sink(device.fileno(), path))
            yield cast(BinaryIO, stream)
            stream.flush()
    else:
        with atomic_file(target, path) as plain:
            if path.endswith(".gz"):
                # a fixed time stamp and no name: the same bytes for the same data
                with gzip.GzipFile(filename="", fileobj=plain, mode="wb", compresslevel=6, mtime=0) as packed:
                    yield cast(BinaryIO, packed)
            else:
                yield plain


@contextlib.contextmanager
def _stdout() -> Iterator[BinaryIO]:
    if sys.stdout is None:
        raise HybridcliError("<stdout>: is closed; name an output file")
    try:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise ClosedPipe from None
    except OSError as error:
        if error.filename is not None:
            raise
        raise unwritable("<stdout>", error) from None


def _begin_write_back(file: int, start: int, size: int) -> None:
    """Let the system begin to write to the disk what fsync would wait for at the end."""
    begin = getattr(ctypes.CDLL(None), "sync_file_range", None)  # Linux only
    if begin is not None:
        begin(file, ctypes.c_int64(start), ctypes.c_int64(size), SYNC_FILE_RANGE_WRITE)


class _Sink(io.FileIO):
    """A file that is written; whatever goes wrong names the output it is meant for."""

    def __init__(self, file: Path | int, shown: str) -> None:
        self._shown = shown
        self._begun = self._waiting = 0  # bytes on their way to the disk, bytes that are not
        super().__init__(file, "wb" if isinstance(file, int) else "xb", closefd=not isinstance(file, int))

    def write(self, data: Any, /) -> int:
        with _written(self._shown):
            written = super().write(data)
        self._waiting += written
        if self._waiting >= WRITE_BACK:
            _begin_write_back(self.fileno(), self._begun, self._waiting)
            self._begun, self._waiting = self._begun + self._waiting, 0
        return written


@contextlib.contextmanager
def _written(shown: str) -> Iterator[None]:
    """Turn what the system refuses in a block that writes into an error that names the output."""
    try:
        yield
    except BrokenPipeError:
        raise ClosedPipe from None
    except OSError as error:
        raise unwritable(shown, error) from None


def unwritable(shown: str, error: OSError) -> HybridcliError:
    """The error of an output that the system does not take: a full disk, say."""
    return HybridcliError(f"{shown}: cannot be written: {_reason(error)}")


@contextlib.contextmanager
def atomic_file(target: Path, shown: str | None = None) -> Iterator[BinaryIO]:
    """Write ``target`` under another name beside it; rename only when all went well.

    Within a command, outputs wait for each other: all appear when it ends well, or none. ``shown``: its name in
    messages.
    """
    shown = shown or str(target)
    if not target.parent.is_dir():
        raise UsageError(f"{shown}: the folder {Path(shown).parent} does not exist")
    if target.exists() and not os.access(target, os.W_OK):
        raise UsageError(f"{shown}: cannot be written: permission denied")
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        sink = _Sink(beside, shown)
    except OSError as error:
        raise UsageError(f"{shown}: cannot be written: {_reason(error)}") from None
    try:
        with io.BufferedWriter(sink, 1 << 16) as stream:
            yield cast(BinaryIO, stream)
            stream.flush()
            with _written(shown):
                os.fsync(stream.fileno())
        ledger = LEDGER.get()
        if ledger is None:
            _put(beside, target)
        else:
            ledger.staged.append((beside, target))
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _put(beside: Path, target: Path) -> None:
    with _written(str(target)):
        beside.replace(target)


def make_folder(path: str) -> Path:
    """Make a folder for outputs, with the folders above it, unless it is there."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{path}: is a file; a folder is needed here")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path}: cannot be made: {_reason(error)}") from None
    return folder


def write_text(path: str, text: str) -> None:
    """Write a whole UTF-8 text."""
    with open_output(path) as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))  # a file's name can be any bytes
