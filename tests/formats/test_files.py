"""Opening and writing files: stdin, gzip by its first bytes, byte-order marks, whole or not at all."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

from hybridcli.errors import ClosedPipe, DataError, UsageError
from hybridcli.formats import files
from hybridcli.formats.files import open_output, read_bytes, read_lines, require_one_stdin, write_text

TEXT = "q1\tweiß\nq2\tx\n".encode()


@pytest.mark.parametrize("name", ["a.txt", "a.run", "a", "plain.gz"])
def test_gzip_is_found_by_content_not_by_name(tmp_path: Path, name: str) -> None:
    for data in (TEXT, gzip.compress(TEXT)):
        (tmp_path / name).write_bytes(data)
        assert read_bytes(str(tmp_path / name)) == TEXT


def test_members_of_a_concatenated_gzip_are_all_read(tmp_path: Path) -> None:
    (tmp_path / "two").write_bytes(gzip.compress(b"a\n") + gzip.compress(b"b\n"))
    assert read_bytes(str(tmp_path / "two")) == b"a\nb\n"


@pytest.mark.parametrize("data", [TEXT, gzip.compress(TEXT, mtime=0)])
def test_stdin_is_a_dash(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert read_bytes("-") == TEXT


def test_byte_order_mark_and_crlf_are_dropped(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfq1 x\r\nq2 y")
    assert list(read_lines(str(tmp_path / "a"))) == [(1, "q1 x"), (2, "q2 y")]


def test_empty_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    assert list(read_lines(str(tmp_path / "a"))) == []


def test_not_utf8_names_file_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"fine\ncaf\xe9 x\n")
    with pytest.raises(DataError, match=r"a:2: not UTF-8 \(byte 0xe9 at column 4\)"):
        list(read_lines(str(path)))


@pytest.mark.parametrize("cut", [5, 12, 25])
def test_truncated_gzip_is_a_data_error(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(TEXT * 50)[:cut])
    with pytest.raises(DataError, match=r"t\.gz: broken gzip data"):
        read_bytes(str(path))


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_bytes(str(tmp_path / "none"))
    with pytest.raises(DataError, match="is a folder"):
        read_bytes(str(tmp_path))


def test_two_stdins_are_refused() -> None:
    with pytest.raises(UsageError, match="given twice"):
        require_one_stdin("-", "a", "-")
    require_one_stdin("-", "a", None)


def test_output_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")

    def fail_in_the_middle() -> None:
        with open_output(str(target)) as stream:
            stream.write(b"half")
            raise DataError("stop")

    with pytest.raises(DataError):
        fail_in_the_middle()
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]
    write_text(str(target), "new")
    assert target.read_text() == "new"


def test_gz_output_is_compressed_and_reproducible(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write_text(str(tmp_path / name), "text\n" * 99)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"text\n" * 99


def test_output_places_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        write_text(str(tmp_path / "no" / "out"), "x")
    with pytest.raises(UsageError, match="is a folder"):
        write_text(str(tmp_path), "x")
    write_text("/dev/null", "x")


def test_closed_pipe_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            raise BrokenPipeError

    stdout = io.TextIOWrapper(io.BufferedWriter(Gone(), 1))
    monkeypatch.setattr(sys, "stdout", stdout)
    with pytest.raises(ClosedPipe):
        write_text("-", "x" * 10)
    monkeypatch.undo()
    stdout.detach().detach()


def test_writing_to_the_disk_begins_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[int, int]] = []
    real = files._begin_write_back

    def begin(file: int, start: int, size: int) -> None:
        begun.append((start, size))
        real(file, start, size)

    monkeypatch.setattr(files, "WRITE_BACK", 100_000)
    monkeypatch.setattr(files, "_begin_write_back", begin)
    data = bytes(range(256)) * 4096
    for path in (str(tmp_path / "x"), "/dev/null"):
        with files.open_output(path) as stream:
            for start in range(0, len(data), 70_000):
                stream.write(data[start : start + 70_000])
    assert (tmp_path / "x").read_bytes() == data
    to_file = begun[: len(begun) // 2]
    assert [start for start, _ in to_file] == [
        sum(size for _, size in to_file[:i]) for i in range(len(to_file))
    ]
    assert len(to_file) > 5
