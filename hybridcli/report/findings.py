"""What ``check`` prints: for a person one line a problem, as compilers do; for programs one JSON object."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hybridcli.records import Problem, Sheet

SCHEMA = "hybridcli/check/1"
WIDTH = 80
# facts that the readers need and a person does not
SILENT = {"gzip", "hash_ids", "ties", "shared_documents", "scores"}


@dataclass(slots=True)
class Pair:
    """How two files fit: what is odd (about no line), and counts by name."""

    sheet: Sheet
    other: str


@dataclass(slots=True)
class Findings:
    """Everything ``check`` found. ``readers``: by file, what each other program does otherwise."""

    version: str
    sheets: list[Sheet] = field(default_factory=list)
    readers: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    pairs: list[Pair] = field(default_factory=list)
    fixed: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> int:
        """Number of problems that must be mended."""
        return sum(sheet.wrong for sheet in [*self.sheets, *(pair.sheet for pair in self.pairs)])


def as_json(findings: Findings) -> dict[str, Any]:
    """One object: schema, command, then files, pairs and what was fixed."""
    return {
        "schema": SCHEMA,
        "command": "check",
        "version": findings.version,
        "wrong": findings.wrong,
        "files": [
            {"file": sheet.path, **_as_row(sheet), "readers": findings.readers.get(sheet.path, {})}
            for sheet in findings.sheets
        ],
        "pairs": [
            {"file": pair.sheet.path, "with": pair.other, **_as_row(pair.sheet)} for pair in findings.pairs
        ],
        "fixed": findings.fixed,
    }


def _as_row(sheet: Sheet) -> dict[str, Any]:
    problems = [
        {"line": p.line, "kind": p.kind, "wrong": p.wrong, "count": p.count, "text": p.text}
        for p in sheet.problems
    ]
    return {"kind": sheet.kind, "wrong": sheet.wrong, "facts": sheet.facts, "problems": problems}


def as_text(findings: Findings, limit: int) -> str:
    """Text of at most 80 columns; of each kind of problem the first ``limit`` are listed (0: all)."""
    blocks = []
    for sheet in findings.sheets:
        lines = _wrap(f"{sheet.path}: {_headline(sheet)}")
        lines += _problems(sheet, sheet.path, limit)
        if sheet.path in findings.readers:
            lines += _readers(findings.readers[sheet.path])
        blocks.append(lines)
    for pair in findings.pairs:
        name = f"{pair.sheet.path} with {pair.other}"
        blocks.append([*_wrap(f"{name}: {_headline(pair.sheet)}"), *_problems(pair.sheet, name, limit)])
    if findings.fixed:
        blocks.append([line for text in findings.fixed for line in _wrap(text)])
    wrong = findings.wrong
    blocks.append(["nothing wrong" if not wrong else f"{wrong:,} problem{'s' if wrong > 1 else ''}"])
    return "\n\n".join("\n".join(lines) for lines in blocks) + "\n"


def _headline(sheet: Sheet) -> str:
    facts = [_fact(name, value) for name, value in sheet.facts.items() if name not in SILENT]
    return "; ".join([sheet.kind, *(text for text in facts if text)])


def _fact(name: str, value: Any) -> str:
    called = name.replace("_", " ")
    if isinstance(value, Mapping) and set(value) == {"min", "median", "max"}:
        return f"{called} {value['min']:,} to {value['max']:,}, median {value['median']:,g}"
    if isinstance(value, Mapping):
        return f"{called} " + ", ".join(f"{key}: {number:,}" for key, number in value.items())
    if isinstance(value, float):
        return f"{called} {value:.1%}"
    if isinstance(value, int):
        return f"{value:,} {_one(called) if value == 1 else called}" if value else ""
    return f"{called} {value}"


def _one(called: str) -> str:
    for many, one in (
        ("queries", "query"),
        ("lines", "line"),
        ("documents", "document"),
        ("references", "reference"),
    ):
        called = called.replace(many, one)
    return called


def _problems(sheet: Sheet, path: str, limit: int) -> Iterator[str]:
    shown: dict[str, int] = {}
    for problem in sheet.problems:
        shown[problem.kind] = shown.get(problem.kind, 0) + 1
        if not limit or shown[problem.kind] <= limit:
            yield from _wrap(_line(problem, path))
    for kind, count in shown.items():
        if limit and count > limit:
            yield from _wrap(f"{path}: {count - limit:,} more of the kind {kind}; --limit 0 lists all")


def _line(problem: Problem, path: str) -> str:
    place = path if problem.line is None else f"{path}:{problem.line}"
    return f"{place}: {'' if problem.wrong else 'note: '}{problem.text}"


def _readers(readers: Mapping[str, Sequence[str]]) -> Iterator[str]:
    said: dict[str, list[str]] = {}
    for name, texts in readers.items():
        said.setdefault("; ".join(texts), []).append(name)
    for text, names in said.items():
        yield from _wrap(f"  {', '.join(names)}: {text or 'as here'}")


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
