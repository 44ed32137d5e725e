"""Writes the README's generated parts from the registries and the help texts: ``python -m tests.readme``.

A part stands between ``<!-- NAME -->`` and ``<!-- end NAME -->``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module

from hybridcli.adaptive import features, inputs, rerankers
from hybridcli.cli import COMMANDS
from hybridcli.evaluation import measures, resampling, significance
from hybridcli.fusion import methods, normalization
from tests.support import ROOT

README = ROOT / "README.md"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines)


def commands() -> str:
    rows = []
    for name in COMMANDS:
        function = getattr(import_module(f"hybridcli.commands.{name}"), name)
        first = (function.__doc__ or "").strip().split("\n\n")[0]
        rows.append((f"`{name.replace('_', '-')}`", " ".join(first.split())))
    return table(("subcommand", "what it does"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "methods": lambda: table(
        ("method", "reads", "absent documents", "score", "source"), methods.method_rows()
    ),
    "normalisations": lambda: table(
        ("--norm", "a score s becomes", "source"), normalization.normalization_rows()
    ),
    "measures": lambda: table(("measure", "what it says", "source"), measures.measure_rows()),
    "tests": lambda: table(
        ("--test", "the question it answers", "source"), significance.registry_rows(significance.TESTS)
    ),
    "corrections": lambda: table(
        ("--correction", "what it controls", "source"), significance.registry_rows(significance.CORRECTIONS)
    ),
    "intervals": lambda: table(("--interval", "what it is", "source"), resampling.interval_rows()),
    "routers": lambda: table(("--router", "what it does", "reads", "source"), inputs.router_rows()),
    "rerankers": lambda: table(("--model", "what it does", "reads", "source"), rerankers.reranker_rows()),
    "features": lambda: table(
        ("feature", "what it counts"), ((f.name, f.summary) for f in features.FEATURES.values())
    ),
}


def filled(text: str) -> str:
    """The README with every generated part made anew."""
    for name, make in PARTS.items():
        pattern = re.compile(rf"<!-- {name} -->\n.*?<!-- end {name} -->", re.DOTALL)
        assert len(pattern.findall(text)) == 1, f"README has no part {name}"
        part = f"<!-- {name} -->\n{make()}\n<!-- end {name} -->"
        text = pattern.sub(lambda _, part=part: part, text)
    return text


if __name__ == "__main__":
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
