"""The tree's own rules: imports point down, heavy libraries stay out of the start, commands stay thin."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from hybridcli.cli import COMMANDS
from tests.support import ROOT

PACKAGE = ROOT / "hybridcli"
MODULES = sorted(PACKAGE.rglob("*.py"))

# what each part may import from hybridcli, besides itself; '' stands for hybridcli/__init__.py
GROUND = {"", "errors", "console", "native", "names", "records", "sorting"}
ALLOWED = {
    "errors": set(),
    "console": set(),
    "native": {"compiled"},
    "names": {"native"},
    "records": {"names"},
    "sorting": {"native", "records"},
    "network": set(),
    "tokenizer": {"errors"},
    "options": {"errors"},
    "recipe": GROUND | {"formats"},
    "formats": GROUND,
    "text": GROUND | {"network", "tokenizer"},
    "search": GROUND | {"network", "tokenizer"},
    "fusion": GROUND,
    "evaluation": GROUND,
    "adaptive": GROUND | {"fusion", "evaluation"},
    "report": GROUND | {"evaluation"},
    "commands": GROUND
    | {"options", "recipe", "formats", "text", "search", "fusion", "evaluation", "adaptive", "report"},
    "cli": GROUND | {"commands", "recipe"},
    "__main__": {"cli"},
    "__init__": set(),
}
# never loaded by a command that does not need it
HEAVY = (
    "torch",
    "numba",
    "pandas",
    "scipy.stats",
    "sklearn",
    "sentence_transformers",
    "faiss",
    "ranx",
    "matplotlib",
)


def part_of(module: Path) -> str:
    relative = module.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported_parts(module: Path) -> set[str]:
    """The parts of hybridcli that a module imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            names = [node.module or ""]
            if node.module == "hybridcli":
                names = [f"hybridcli.{alias.name}" for alias in node.names]
        for name in names:
            head, _, rest = name.partition(".")
            if head == "hybridcli":
                found.add(rest.split(".")[0] if not rest.startswith("__version__") else "")
    return found


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(module: Path) -> None:
    part = part_of(module)
    assert part in ALLOWED, f"{part} is a new part: say what it may import"
    wrong = imported_parts(module) - ALLOWED[part] - {part}
    assert not wrong, f"{module.relative_to(ROOT)} imports {sorted(wrong)}"


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_has_a_docstring(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))


def test_every_command_module_is_registered() -> None:
    modules = {path.stem for path in (PACKAGE / "commands").glob("*.py")} - {"__init__"}
    assert modules == set(COMMANDS)


def test_the_start_loads_nothing_heavy() -> None:
    code = (
        "import importlib, sys, hybridcli.cli as c; "
        "[importlib.import_module(f'hybridcli.commands.{name}') for name in c.COMMANDS]; print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {*HEAVY, "polars", "rich", "lxml", "bm25s"} & set(loaded)


def test_only_the_command_line_exits() -> None:
    for module in MODULES:
        if module.name not in {"cli.py", "__main__.py"}:
            text = module.read_text(encoding="utf-8")
            assert not {"sys.exit", "SystemExit"} & set(text.replace("(", " ").split()), module
