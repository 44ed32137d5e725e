"""The common form of runs and qrels."""

from __future__ import annotations

import pytest

from hybridcli.formats.plain import boundaries, read_plain


def two_columns(data: bytes) -> bytes | None:
    return None if boundaries(data, 2) is None else data


def test_columns_end_where_they_end() -> None:
    table = boundaries(b"a bc\nd e\n", 2)
    assert table is not None
    assert table.tolist() == [[1, 4], [6, 8]]
    empty = boundaries(b"", 2)
    assert empty is not None
    assert empty.shape == (0, 2)


@pytest.mark.parametrize(
    "data",
    [
        b"a b",
        b"a  b\n",
        b" a b\n",
        b"a b\nc\n",
        b"a\nb c\n",
        b"a b c\nd\n",
        b"a b \n",
        b"# b\n",
        b"a\x00b c\n",
        b"\xff b\n",
    ],
)
def test_what_is_not_plain(data: bytes) -> None:
    assert read_plain(data, two_columns) is None


@pytest.mark.parametrize("data", [b"a\tb\nc d\n", b"a b\r\nc d\r\n", b"a\tb\r\nc\td\n"])
def test_tabs_and_crlf_become_plain(data: bytes) -> None:
    assert read_plain(data, two_columns) == b"a b\nc d\n"


@pytest.mark.parametrize("data", [b"a\t\tb\n", b"a b\r\r\n", b"a\rb\n"])
def test_other_gaps_do_not(data: bytes) -> None:
    assert read_plain(data, two_columns) is None
