"""Topics: TSV ``qid<TAB>text``, JSONL, TREC topics, a BEIR-form folder or ``irds:DATASET``."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from hybridcli.errors import DataError
from hybridcli.formats.datasets import is_dataset, topic_rows
from hybridcli.formats.documents import beir_file
from hybridcli.formats.files import STDIN, name_of, open_output, read_lines
from hybridcli.formats.jsonl import checked_id, id_field, rows_of, text_field
from hybridcli.records import Topics

QID_FIELDS = ("qid", "_id", "id", "query_id")
TEXT_FIELDS = ("text", "query", "title", "contents")
Row = tuple[int | None, str, str]
Lines = list[tuple[int, str]]

# <top><num>Number: 301<title>…<desc>…</top>, closing tags or not; <topic number="301"><query>…</query></topic>
TOPIC = re.compile(r"<top>(.*?)</top>|<topic\b([^>]*)>(.*?)</topic>", re.IGNORECASE | re.DOTALL)
TOPIC_OPEN = re.compile(r"<top(?:ic\b[^>]*)?>", re.IGNORECASE)
NUMBER = re.compile(r"<num>\s*(?:Number\s*:)?\s*([^\s<]+)", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""\b(?:number|id|qid)\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
TEXT = re.compile(r"<(title|query)>\s*(?:(?:Topic|Title)\s*:)?(.*?)(?=<|\Z)", re.IGNORECASE | re.DOTALL)


def read_topics(path: str) -> Topics:
    """Read topics; the form is found by content. TREC topics give their title (or query) as the text.

    Raises DataError for a line without a tab, a topic without number or text, and a qid given twice.
    """
    topics = Topics([], [])
    seen: dict[str, int | None] = {}
    for line, qid, text in _rows(path):
        if qid in seen:
            first = "" if seen[qid] is None else f" (first on line {seen[qid]})"
            raise DataError(f"qid {qid} is given twice{first}", path=name_of(path), line=line)
        seen[qid] = line
        topics.qids.append(qid)
        topics.texts.append(text)
    return topics


def write_topics(topics: Topics, path: str) -> None:
    """Write TSV; every run of blanks inside a text (tabs and line ends too) becomes one blank."""
    with open_output(path) as stream:
        for qid, text in zip(topics.qids, topics.texts, strict=True):
            stream.write(f"{qid}\t{' '.join(text.split())}\n".encode())


def _rows(path: str) -> Iterator[Row]:
    if is_dataset(path):
        for qid, text in topic_rows(path):
            yield None, checked_id(qid, "qid", path, None), text.strip()
        return
    if path != STDIN and Path(path).is_dir():
        queries = beir_file(Path(path), "queries.jsonl")
        if queries is None:
            raise DataError("is a folder without queries.jsonl; a topics file is needed", path=path)
        path = str(queries)
    lines = list(read_lines(path))
    yield from form_of(lines)(lines, path)


def form_of(lines: Lines) -> Callable[[Lines, str], Iterator[Row]]:
    """Find the form of topics by the first line that is not blank; give its reader."""
    first = next((text.lstrip() for _, text in lines if text.strip()), "")
    if first.startswith("{"):
        return jsonl_topics
    return trec_topics if first.startswith("<") else tsv_topics


def tsv_topics(lines: Lines, path: str) -> Iterator[Row]:
    """Yield (line, qid, text) of ``qid<TAB>text`` lines."""
    for line, row in lines:
        if not row.strip():
            continue
        qid, tab, text = row.partition("\t")
        if not tab:
            raise DataError(f"expected qid<TAB>text, found {row[:60]!r}", path=name_of(path), line=line)
        yield line, checked_id(qid.strip(), "qid", path, line), text.strip()


def jsonl_topics(lines: Lines, path: str) -> Iterator[Row]:
    """Yield (line, qid, text) of JSON objects, one a line."""
    for line, row in rows_of(lines, path):
        qid = id_field(row, QID_FIELDS, "qid", path, line)
        yield line, qid, text_field(row, TEXT_FIELDS, path, line).strip()


def trec_topics(lines: Lines, path: str) -> Iterator[Row]:
    """Yield (line, qid, title or query) of TREC topics."""
    whole = "\n".join(text for _, text in lines)
    topics = list(TOPIC.finditer(whole))
    closed = {topic.start() for topic in topics}
    for opened in TOPIC_OPEN.finditer(whole):
        if opened.start() not in closed:
            line = whole.count("\n", 0, opened.start()) + 1
            problem = f"{opened[0]} stands inside another topic, or is never closed: is the file cut short?"
            raise DataError(problem, path=name_of(path), line=line)
    if not topics:
        problem = "expected <top> or <topic>, qid<TAB>text or JSONL, found other tags"
        raise DataError(problem, path=name_of(path), line=1)
    for topic in topics:
        line = whole.count("\n", 0, topic.start()) + 1
        body = topic[1] if topic[1] is not None else topic[3]
        number = NUMBER.search(body) or ATTRIBUTE.search(topic[2] or "")
        text = TEXT.search(body)
        if number is None or text is None:
            missing = "number (<num>)" if number is None else "text (<title> or <query>)"
            raise DataError(f"this topic has no {missing}", path=name_of(path), line=line)
        qid = checked_id(number[1].strip(), "qid", path, line)
        yield line, qid, " ".join(html.unescape(text[2]).split())
