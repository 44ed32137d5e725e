"""Documents of any form: JSONL, TSV, TREC SGML, HTML, plain text, BEIR-form folders, ``irds:`` data sets.

The form is found by content first (``{``, ``<DOC>``, ``<html``) and by extension where content does not tell.
One document is in memory at a time; only the docnos of all are kept, to refuse a second one of the same name.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from hybridcli.console import note, warn
from hybridcli.errors import DataError
from hybridcli.formats.datasets import document_rows, is_dataset
from hybridcli.formats.files import STDIN, decode, lines_of, name_of, open_bytes, require_one_stdin
from hybridcli.formats.jsonl import checked_id, id_field, rows_of, text_field

DOCNO_FIELDS = ("id", "_id", "docno", "docid")
TEXT_FIELDS = ("text", "contents")
FORM_OF_SUFFIX = {
    ".htm": "html", ".html": "html", ".xhtml": "html", ".xml": "html", ".txt": "text", ".tsv": "tsv",
    ".json": "jsonl", ".jsonl": "jsonl", ".ndjson": "jsonl", ".sgml": "trec", ".sgm": "trec", ".trec": "trec",
}  # fmt: skip
MAGIC = {
    b"%PDF": "PDF", b"PK\x03\x04": "a zip archive or office file", b"\x89PNG": "an image", b"\xff\xd8\xff": "an image",
    b"GIF8": "an image", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"PAR1": "parquet",
}  # fmt: skip
HEAD = 1 << 16

DOC_OPEN = re.compile(r"<DOC>", re.IGNORECASE)
DOC_CLOSE = re.compile(r"</DOC>", re.IGNORECASE)
DOCNO = re.compile(r"<DOCNO>(.*?)</DOCNO>", re.IGNORECASE | re.DOTALL)
NOT_TEXT = re.compile(r"<(DOCID|DOCHDR)>.*?</\1>", re.IGNORECASE | re.DOTALL)
TITLE = re.compile(r"<(TITLE|HEADLINE|HEAD|HL|TTL|TI)>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
TAG = re.compile(r"</?[A-Za-z][^<>]*>")
RUN_LINE = re.compile(rb"\S+[ \t]+Q0(?:[ \t]+\S+){4}\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Document:
    """One document as its file holds it: ``text`` with an optional ``title``, or the bytes of an HTML page.

    ``path`` and ``line`` say where it stands, for messages.
    """

    docno: str
    path: str
    line: int | None = None
    text: str = ""
    title: str = ""
    page: bytes | None = None

    @property
    def passage(self) -> str:
        """Title and text, one under the other, as they are indexed and cut."""
        return f"{self.title}\n{self.text}" if self.title else self.text


def read_documents(paths: Sequence[str], *, lenient: bool = False) -> Iterator[Document]:
    """Yield the documents of files, folders, data sets and stdin, in the order given.

    ``lenient``: take an HTML page that never closes ``<html>``, with a warning.
    Raises DataError for binary or broken input, a docno with blanks, and a docno given twice.
    """
    require_one_stdin(*paths)
    seen: dict[str, str] = {}
    for path in paths:
        for document in _read(path, lenient):
            if document.docno in seen:
                raise DataError(
                    f"docno {document.docno} is given twice (first in {name_of(seen[document.docno])})",
                    path=name_of(document.path),
                    line=document.line,
                )
            seen[document.docno] = document.path
            yield document


def read_passages(path: str) -> Iterator[tuple[str, str]]:
    """Yield (docno, text) of whatever can be indexed: windows, or documents of any form but HTML."""
    for document in read_documents([path]):
        if document.page is not None:
            raise DataError(
                "is an HTML page: cut it first with hybridcli window", path=name_of(document.path)
            )
        yield document.docno, document.passage


def _read(path: str, lenient: bool) -> Iterator[Document]:
    if is_dataset(path):
        for docno, text in document_rows(path):
            yield Document(checked_id(docno, "docno", path, None), path, None, text)
    elif path != STDIN and Path(path).is_dir():
        for file in _files_of(Path(path)):
            yield from _read_file(str(file), lenient)
    else:
        yield from _read_file(path, lenient)


def beir_file(folder: Path, name: str) -> Path | None:
    """The file of a BEIR-form folder (``corpus.jsonl``, ``queries.jsonl``), plain or gzipped."""
    return next((file for file in (folder / name, folder / f"{name}.gz") if file.is_file()), None)


def _files_of(folder: Path) -> list[Path]:
    """The corpus of a BEIR-form folder, or every file below that has the extension of a known form, by name."""
    corpus = beir_file(folder, "corpus.jsonl")
    if corpus is not None:
        return [corpus]
    files = sorted(
        file
        for file in folder.rglob("*")
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )
    known = [file for file in files if _split_name(str(file))[1] in FORM_OF_SUFFIX]
    if not known:
        raise DataError(
            f"holds no documents: no corpus.jsonl and no file ending in {', '.join(FORM_OF_SUFFIX)}",
            path=str(folder),
        )
    if len(known) < len(files):
        other = next(file for file in files if file not in known)
        warn(
            f"{folder}: passed over {len(files) - len(known)} files of no known extension, such as {other.name}"
        )
    return known


def _read_file(path: str, lenient: bool) -> Iterator[Document]:
    with open_bytes(path) as stream:
        form = form_of(cast(io.BufferedReader, stream).peek(HEAD)[:HEAD], path)
        if form == "html":
            yield _page(stream, path, lenient)
        else:
            yield from READERS[form](stream, path)


def form_of(head: bytes, path: str) -> str:
    """Name the form of an input from its first bytes and its name; raises DataError for binary data."""
    suffix = _split_name(path)[1]
    expected = FORM_OF_SUFFIX.get(suffix)
    binary = next((what for magic, what in MAGIC.items() if head.startswith(magic)), None)
    # a page in UTF-16 has NULs too, but begins with a byte-order mark
    if binary is None and b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        binary = "binary data"
    if binary is not None:
        raise DataError(
            f"is {binary}, not a document; JSONL, TSV, TREC SGML, HTML or plain text is needed",
            path=name_of(path),
            line=1,
        )
    if expected in ("html", "jsonl", "tsv") and suffix != ".xml":
        return expected
    first = head.lstrip().split(b"\n", 1)[0]
    if first.startswith(b"<"):
        mark = re.search(rb"<doc>|<!doctype html|<html", head, re.IGNORECASE)
        if mark is not None:
            return "trec" if mark[0].lower() == b"<doc>" else "html"
        return expected or "html"
    for number, line in enumerate(head.splitlines(), start=1):
        if line.strip() and not line.startswith(b"#"):  # a run may begin with comments
            if RUN_LINE.fullmatch(line):
                problem = "is a run (qid Q0 docno rank score tag), not a document; was another file meant?"
                raise DataError(problem, path=name_of(path), line=number)
            break
    if expected is None:
        return "jsonl" if first.startswith(b"{") else "tsv" if b"\t" in first else "text"
    return "jsonl" if expected == "text" and re.match(rb'\{\s*"[^"]*"\s*:', first) else expected


def _split_name(path: str) -> tuple[str, str]:
    """Split a file's name into stem and extension (``.html``), leaving out the folder and ``.gz``."""
    name = Path(path).name
    if name.lower().endswith(".gz"):
        name = name[:-3]
    suffix = Path(name).suffix.lower()
    return (name[: -len(suffix)] if suffix in FORM_OF_SUFFIX else name), suffix


def _docno_of(path: str) -> str:
    """The docno of a file that is one document: its stem; each run of blanks becomes one ``_``, with a note."""
    stem = "stdin" if path == STDIN else _split_name(path)[0]
    docno = "_".join(stem.split())
    if docno != stem:
        note(f"{path}: the docno is {docno}, since a docno cannot hold blanks")
    return checked_id(docno, "docno", path, None)


def _page(stream: BinaryIO, path: str, lenient: bool) -> Document:
    page = stream.read()
    if _is_cut(page):
        problem = "<html> is never closed: is the file cut short?"
        if not lenient:
            last = page.count(b"\n") + 1
            raise DataError(f"{problem} (--lenient takes it as it is)", path=name_of(path), line=last)
        warn(f"{name_of(path)}: {problem}")
    return Document(_docno_of(path), path, page=page)


def _is_cut(page: bytes) -> bool:
    """Whether the last ``<html`` has no ``</html`` after it; a fragment without either is whole."""
    opened = max(page.rfind(b"<html"), page.rfind(b"<HTML"))
    return opened >= 0 and re.search(rb"</html", page[opened:], re.IGNORECASE) is None


def _read_jsonl(stream: BinaryIO, path: str) -> Iterator[Document]:
    for line, row in rows_of(lines_of(stream, path), path):
        docno = id_field(row, DOCNO_FIELDS, "docno", path, line)
        title = text_field(row, ("title",), path, line, default="")
        yield Document(docno, path, line, text_field(row, TEXT_FIELDS, path, line), title)


def _read_tsv(stream: BinaryIO, path: str) -> Iterator[Document]:
    for line, row in lines_of(stream, path):
        docno, tab, text = row.partition("\t")
        if tab:
            yield Document(checked_id(docno.strip(), "docno", path, line), path, line, text)
        elif row.strip():
            raise DataError(f"expected docno<TAB>text, found {row[:60]!r}", path=name_of(path), line=line)


def _read_text(stream: BinaryIO, path: str) -> Iterator[Document]:
    text = "".join(decode(raw, path, line) for line, raw in enumerate(stream, start=1))
    if path != STDIN or text.strip():  # an empty stream is no document; an empty file is one by its name
        yield Document(_docno_of(path), path, text=text)


def _read_trec(stream: BinaryIO, path: str) -> Iterator[Document]:
    """Read ``<DOC>`` … ``</DOC>``, each on lines of its own; what stands between two documents must be tags."""
    block: list[str] = []
    began = 0
    for line, text in lines_of(stream, path):
        opened = DOC_OPEN.search(text)
        if opened and began:
            raise DataError(
                f"a <DOC> opens before that of line {began} is closed", path=name_of(path), line=line
            )
        if opened:
            began, text = line, text[opened.end() :]
        elif not began and text.strip() and not text.lstrip().startswith("<"):
            raise DataError(f"expected <DOC>, found {text[:60]!r}", path=name_of(path), line=line)
        closed = DOC_CLOSE.search(text)
        if closed and text[closed.end() :].strip():
            raise DataError("something follows </DOC> on its line", path=name_of(path), line=line)
        block.append(text[: closed.start()] if closed else text)
        if closed and began:
            yield _trec_document("\n".join(block), path, began)
        if closed or not began:
            block, began = [], 0
    if began:
        raise DataError("<DOC> is never closed: is the file cut short?", path=name_of(path), line=began)


def _trec_document(block: str, path: str, line: int) -> Document:
    named = DOCNO.search(block)
    if named is None:
        raise DataError("no <DOCNO> in this <DOC>", path=name_of(path), line=line)
    docno = checked_id(named[1].strip(), "docno", path, line)
    body = NOT_TEXT.sub(" ", block[: named.start()] + block[named.end() :])
    title = TITLE.search(body)
    if title is not None:
        body = body[: title.start()] + body[title.end() :]
    return Document(docno, path, line, _plain(body), " ".join(_plain(title[2]).split()) if title else "")


def _plain(marked: str) -> str:
    """The text of SGML: tags become blanks, entities become characters."""
    return html.unescape(TAG.sub(" ", marked)).strip()


READERS: dict[str, Callable[[BinaryIO, str], Iterator[Document]]] = {
    "jsonl": _read_jsonl,
    "tsv": _read_tsv,
    "trec": _read_trec,
    "text": _read_text,
}
