"""Finding out what a file is, by its first lines."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import islice

from hybridcli.formats.checks.source import Source
from hybridcli.formats.references import PARQUET_MAGIC
from hybridcli.formats.run_rows import NOT_FINITE, NUMBER

LOOKED_AT = 100  # lines
GRADE_LIKE = re.compile(rb"[+-]?[0-9]*\.?[0-9]+\Z")
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
RECIPE = re.compile(rb'\s*\{\s*"schema"\s*:\s*"hybridcli/recipe/')
# fields that only one kind of JSONL has, the most telling first
FIELDS = {
    "windows": ({"contents", "unit", "char_start"},),
    "provenance": ({"reference", "status"},),
    "references": ({"references"}, {"reference"}, {"evidence"}),
    "topics": ({"text"}, {"query"}, {"title"}),
}


def find_kind(source: Source) -> str | None:
    """Give the kind of a file (a key of ``CHECKERS``), or None when nothing is recognised."""
    head = source.data[: 1 << 16]
    if head.startswith(PARQUET_MAGIC):
        return "references"
    if CONTROL.search(head):
        return None
    if RECIPE.match(head):
        return "recipe"
    sample = list(
        islice((line for _, line in source.lines() if line.strip() and not line.startswith(b"#")), LOOKED_AT)
    )
    if not sample:
        return None
    first = sample[0].lstrip()
    if first.startswith(b"{"):
        return _jsonl_kind(sample)
    if first.startswith(b"<"):
        return "topics" if first[:4].lower() in (b"<top", b"<?xm", b"<xml") else None
    for vote in (_sure, _likely):
        votes = Counter(kind for kind in map(vote, sample) if kind)
        if votes:
            return votes.most_common(1)[0][0]
    return None


def _sure(line: bytes) -> str | None:
    columns = line.split()
    if len(columns) == 6 and (NUMBER.match(columns[4]) or NOT_FINITE.match(columns[4])):
        return "run"
    if len(columns) == 4 and GRADE_LIKE.match(columns[3]):
        return "qrels"
    return "topics" if line.count(b"\t") == 1 else None


def _likely(line: bytes) -> str | None:
    columns = line.split()
    if len(columns) > 1 and columns[1].lower() == b"q0" and len(columns) > 4:
        return "run"
    if len(columns) == 4 or (len(columns) == 3 and GRADE_LIKE.match(columns[2])):
        return "qrels"
    return "run" if len(columns) == 6 else None


def _jsonl_kind(sample: list[bytes]) -> str | None:
    votes: Counter[str] = Counter()
    for line in sample:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        fields = set(row) if isinstance(row, dict) else set()
        kind = next((kind for kind, sets in FIELDS.items() if any(fields >= needed for needed in sets)), None)
        if kind is not None:
            votes[kind] += 1
    return votes.most_common(1)[0][0] if votes else None
