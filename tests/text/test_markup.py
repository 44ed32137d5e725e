"""Encodings as files declare them, and as they lie about them."""

from __future__ import annotations

import pytest

from hybridcli.errors import DataError
from hybridcli.text.markup import decode, parse


class Heard:
    """Keeps what it hears of."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def start(self, tag: str, attributes: object) -> None:
        self.events.append(f"<{tag}>")

    def end(self, tag: str) -> None:
        self.events.append(f"</{tag}>")

    def data(self, text: str) -> None:
        self.events.append(text)

    def close(self) -> None:
        self.events.append("end")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'<meta charset="windows-1252">a\x97b', '<meta charset="windows-1252">a—b'),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">\x93q\x94', "“q”"),
        (b"<?xml version='1.0' encoding='ASCII'?><p>caf\xc3\xa9", "café"),
        (b"<?xml version='1.0' encoding='ASCII'?><p>a\x97b", "a—b"),
        (b'<meta charset="utf-8"><p>caf\xc3\xa9 a\x97b', "café a—b"),
        (b"<p>caf\xc3\xa9", "café"),
        (b"<p>\x93no declaration\x94", "“no declaration”"),
        (b'<meta charset="shift_jis"><p>\x93\xfa\x96{', "日本"),
        (b'<meta charset="klingon"><p>caf\xc3\xa9', "café"),
        (b'<?xml version="1.0" encoding="utf-16"?><p>caf\xc3\xa9', "café"),
        (b'\xef\xbb\xbf<meta charset="windows-1252"><p>caf\xc3\xa9', "café"),
        ("\ufeff<p>café".encode("utf-16-le"), "café"),
        ("\ufeff<p>café".encode("utf-16-be"), "café"),
        (b"<p>cut in a dash \xe2\x80", "cut in a dash "),
    ],
)
def test_bytes_are_read_as_declared_or_as_they_are(data: bytes, text: str) -> None:
    assert decode(data).endswith(text)


def test_a_byte_that_windows_1252_lacks_is_marked() -> None:
    assert decode(b'<meta charset="windows-1252">\x81') == '<meta charset="windows-1252">\ufffd'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no tag"),
        (b"just text, 1 < 2", "no tag"),
        (b"%PDF-1.4 <x> \0\0", "NUL bytes"),
        (b"\x1f\x8b\x08\0", "NUL bytes"),
    ],
)
def test_what_is_not_html_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse(data, Heard())


def test_elements_and_texts_come_in_order_and_bad_markup_is_repaired() -> None:
    heard = Heard()
    parse(b"<?xml version='1.0'?><!-- c --><p>a<b>b</p><br/>&amp;lt;<ix:nonFraction>1", heard)
    assert "".join(heard.events) == (
        "<html><body><p>a<b>b</b></p><br></br>&lt;<ix:nonfraction>1</ix:nonfraction></body></html>end"
    )


def test_nesting_has_no_limit() -> None:
    heard = Heard()
    parse(b"<i>" * 20_000 + b"core", heard)
    assert heard.events.count("<i>") == heard.events.count("</i>") == 20_000
    assert "core" in heard.events
