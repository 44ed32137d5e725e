"""Bytes of an HTML or inline-XBRL file to elements and texts, whatever encoding the file declares."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import Protocol

from hybridcli.errors import DataError

_HEAD = 4096
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARATIONS = (
    re.compile(rb"<\?xml[^>]*?\bencoding\s*=\s*[\"']?\s*([\w.:-]+)", re.I),
    re.compile(rb"<meta[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.I),
)
_TAG = re.compile(r"<[A-Za-z]")
_WESTERN = {"cp1252", "iso8859-1"}
"""Codecs that browsers read as windows-1252."""


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    """Codec error handler: stray bytes in UTF-8 are windows-1252; a character cut off by the file's end is dropped."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    if error.end == len(error.object) and error.reason == "unexpected end of data":
        return "", error.end
    return bytes(error.object[error.start : error.end]).decode("windows-1252", "replace"), error.end


codecs.register_error("hybridcli.windows-1252", _as_windows_1252)


def decode(data: bytes) -> str:
    """Decode by byte-order mark, XML declaration or ``<meta charset>``, in this order; else UTF-8.

    As in browsers Latin-1 means windows-1252. A file that says ASCII or UTF-8 (or nothing) and yet holds bytes
    that are not UTF-8 has just these bytes read as windows-1252. Unknown names count as no declaration.
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "hybridcli.windows-1252" if name == "utf-8" else "replace")
    for declaration in _DECLARATIONS:
        declared = declaration.search(data, 0, _HEAD)
        if declared is not None:
            try:
                name = codecs.lookup(declared[1].decode("ascii")).name
            except LookupError:
                continue
            if name in _WESTERN:
                return data.decode("windows-1252", "replace")
            if name not in {"ascii", "utf-8"} and not name.startswith("utf-16"):
                return data.decode(name, "replace")
            break
    return data.decode("utf-8", "hybridcli.windows-1252")


class Target(Protocol):
    """What hears of the elements and texts of a document, in their order."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins; tag and attribute names are in lower case, ``ix:nonfraction``."""

    def end(self, tag: str) -> None:
        """The element that began last ends."""

    def data(self, text: str) -> None:
        """Text, entities decoded; long text may come in parts."""

    def close(self) -> None:
        """The document ends."""


def parse(data: bytes, target: Target) -> None:
    """Tell ``target`` of every element and text of an HTML or inline-XBRL file.

    No tree is built: memory does not grow with the file, nor the stack with its depth. Bad markup is repaired as
    HTML, elements left open are closed at the end; comments, processing instructions and DTDs are passed over.
    Raises DataError where the bytes are not HTML at all.
    """
    from lxml import etree

    text = decode(data)
    if "\0" in text:
        raise DataError(
            "not HTML: it holds NUL bytes; give a text file (gzip is unpacked, PDF and Word are not)"
        )
    if not _TAG.search(text):
        raise DataError("not HTML: it holds no tag; plain text goes in as JSONL or TSV")
    if text.count("<ix:header") == text.count("</ix:header>") == 1:  # never shown, and a tenth of a filing
        begin, end = text.index("<ix:header"), text.index("</ix:header>")
        text = text[:begin] + text[max(begin, end + len("</ix:header>")) :]
    parser = etree.HTMLParser(target=target, encoding="utf-8", huge_tree=True, no_network=True)
    etree.fromstring(text.encode("utf-8", "replace"), parser)
