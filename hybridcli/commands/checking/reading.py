"""Reading a file to check, whatever it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hybridcli.formats.checks.runs
import hybridcli.formats.checks.texts  # noqa: F401  (these register their checks)
from hybridcli.errors import DataError, UsageError
from hybridcli.formats.checks.kinds import find_kind
from hybridcli.formats.checks.qrels import CleanQrels
from hybridcli.formats.checks.readers import other_readers
from hybridcli.formats.checks.registry import CHECKERS
from hybridcli.formats.checks.source import read_source
from hybridcli.formats.datasets import is_dataset
from hybridcli.formats.documents import beir_file
from hybridcli.formats.files import STDIN, name_of
from hybridcli.formats.qrels import BEIR_QRELS, read_qrels
from hybridcli.formats.topics import read_topics
from hybridcli.recipe import stale
from hybridcli.records import Sheet


@dataclass(frozen=True, slots=True)
class Checked:
    """A file's sheet, its content without what is wrong (None: nothing is left), and what other programs do."""

    sheet: Sheet
    content: Any
    readers: dict[str, list[str]]


def check_file(path: str, kind: str | None = None) -> Checked:
    """Check one file; its kind is found by content unless it is given. A data set is only read."""
    if is_dataset(path) and kind in ("qrels", "topics"):
        if kind == "topics":
            topics = read_topics(path)
            return Checked(Sheet(path, kind, facts={"queries": len(topics.qids)}), topics, {})
        qrels = read_qrels(path)
        return Checked(Sheet(path, kind, facts={"queries": len(qrels.queries)}), CleanQrels(qrels, []), {})
    source = read_source(_file_of(path, kind))
    kind = kind or find_kind(source)
    if kind == "recipe":
        return Checked(check_recipe(path), None, {})
    if kind is None:
        sheet = Sheet(name_of(path), "unknown")
        empty = not source.data.strip()
        sheet.add("empty" if empty else "kind", "is empty" if empty else _unknown(source.data))
        return Checked(sheet, None, {})
    sheet, content = CHECKERS[kind][0](source)
    sheet.path = name_of(path)
    return Checked(sheet, content, other_readers(sheet))


def _file_of(path: str, kind: str | None) -> str:
    """The file itself, or that of a BEIR-form folder."""
    name = {"qrels": BEIR_QRELS, "topics": "queries.jsonl"}.get(kind or "")
    if name is None or path == STDIN or not Path(path).is_dir():
        return path
    return str(beir_file(Path(path), name) or path)


def _unknown(data: bytes) -> str:
    if b"\x00" in data[: 1 << 16]:
        return "is binary data, not text"
    return f"cannot tell what this is; if you know, say --kind {'|'.join(CHECKERS)}"


def check_recipe(path: str) -> Sheet:
    """Check the files that a recipe names."""
    if path == STDIN:
        raise UsageError("a recipe is read from its file, not from stdin")
    sheet = Sheet(path, "recipe")
    try:
        for text in stale(path):
            sheet.add("stale", text)
    except DataError as error:
        if error.path != path:
            raise
        sheet.add("recipe", error.message)
    return sheet
