"""The README says what the program does: tables from the registries, options that exist, one-liners that run."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hybridcli.cli import COMMANDS
from tests.readme import README, filled
from tests.support import ROOT

TEXT = README.read_text(encoding="utf-8")
ONE_LINERS = TEXT.split("<!-- one-liners -->")[1].split("<!-- end one-liners -->")[0]

# commands of the one-liners, with their continuation lines
COMMAND_LINES = [
    line
    for line in re.sub(r"\\\n\s*", "", ONE_LINERS).splitlines()
    if line and not line.startswith(("#", "```"))
]


def test_generated_tables_are_up_to_date() -> None:
    assert filled(TEXT) == TEXT, "run: python -m tests.readme"


def test_every_command_is_documented() -> None:
    for name in COMMANDS:
        assert f"`{name.replace('_', '-')}`" in TEXT


def test_every_option_named_in_the_readme_exists() -> None:
    helps = " ".join(
        (ROOT / "hybridcli" / "commands" / f"{name}.py").read_text(encoding="utf-8") for name in COMMANDS
    ) + (ROOT / "hybridcli" / "options.py").read_text(encoding="utf-8")
    known = set(re.findall(r"--[a-z][a-z-]+", helps)) | {"--help", "--recipe", "--ir-metadata", "--version"}
    known |= {f"--{name.replace('_', '-')}" for name in re.findall(r"^    (\w+):", helps, re.MULTILINE)}
    assert set(re.findall(r"(?<![\w|-])--[a-z][a-z-]+", TEXT)) <= known


def test_every_make_target_named_in_the_readme_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"`make ([a-z][a-z-]*)", TEXT)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def make(*args: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(["make", "-s", *args], cwd=ROOT, env=environment, capture_output=True, text=True)


def test_every_data_set_has_a_target() -> None:
    names = [line.split()[0] for line in make("datasets").stdout.splitlines()]
    assert {"demo", "finder", "scifact", "cranfield", "vaswani", "mteb-nl", "gerdalir"} < set(names)
    for name in ("demo", "scifact", "cranfield", "vaswani"):
        assert "hybridcli compare" in make("-n", "-B", name).stdout, name


@pytest.mark.parametrize("name", ["finder", "mteb-nl", "gerdalir", "xmtc-eurlex4k"])
@pytest.mark.parametrize("given", [True, False])
def test_a_missing_data_set_says_where_to_get_it(tmp_path: Path, name: str, given: bool) -> None:
    done = make(name, *([f"DATA={tmp_path}"] if given else []))
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert said.startswith(f"{'xmtc-NAME' if 'xmtc' in name else name} ")
    assert f"is not in DATA={tmp_path}" in said if given else "needs DATA=dir" in said
    assert re.search(r"DATA/\S+\.(html|jsonl)", said)
    assert "https://" in said or "huggingface.co" in said or "http://" in said
    assert max(map(len, done.stderr.splitlines())) < 120


def test_another_model_builds_the_dense_index_again(tmp_path: Path) -> None:
    fake = tmp_path / "hybridcli"
    fake.write_text(
        '#!/bin/sh\necho "$@" >> calls\n'
        'while [ $# -gt 0 ]; do [ "$1" = -o ] && mkdir -p "$2" && touch "$2/meta.json"; shift; done\n'
    )
    fake.chmod(0o755)
    given = ["-o", "v/.base", "-o", "v/.dense", "VENV=v", "HYBRIDCLI=./hybridcli"]
    given += [f"B_GRID={ROOT / 'fixtures' / 'study-b.tsv'}", "runs/cranfield/dense.index/meta.json"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    for model in ("one", "one", "two"):
        command = ["make", "-s", "-f", str(ROOT / "Makefile"), *given, f"MODEL={model}"]
        done = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert [line.split()[-1] for line in (tmp_path / "calls").read_text().splitlines()] == ["one", "two"]


def test_help_fits_the_terminal() -> None:
    assert max(map(len, make("help").stdout.splitlines())) <= 80


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the one-liners name."""
    place = tmp_path_factory.mktemp("shell")
    documents = ["net sales rose", "widgets sold well", "slow quarter for gadgets", "gadgets and widgets"]
    rows = "".join(f'{{"id": "d{i}", "text": "{text}"}}\n' for i, text in enumerate(documents))
    (place / "windows.jsonl").write_text(rows)
    (place / "topics.tsv").write_text("q1\tnet sales of widgets\nq2\tslow gadgets\n")
    (place / "dense.run").write_text(
        "q1 Q0 d1 1 0.9 d\nq1 Q0 d3 2 0.5 d\nq2 Q0 d2 1 0.8 d\nq2 Q0 d0 2 0.1 d\n"
    )
    (place / "dense.run.gz").write_bytes(gzip.compress((place / "dense.run").read_bytes()))
    (place / "distances.run").write_text("q1 Q0 d1 1 0.1 d\nq1 Q0 d3 2 0.5 d\nq2 Q0 d2 1 0.2 d\n")
    (place / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    for line in ("index-sparse windows.jsonl -o bm25.index", "retrieve bm25.index topics.tsv -o bm25.run"):
        subprocess.run(
            [sys.executable, "-m", "hybridcli", *line.split()], cwd=place, check=True, env=environment()
        )
    return place


def environment() -> dict[str, str]:
    """The environment with ``hybridcli`` on the path and this checkout importable."""
    binaries = Path(sys.executable).parent
    return os.environ | {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_one_liners_run(shell: Path, line: str) -> None:
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], cwd=shell, env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout or " -o " in line


def test_the_sorted_order_of_a_one_liner_is_the_rank_column(shell: Path) -> None:
    line = next(line for line in COMMAND_LINES if "awk '{print $4}'" in line)
    done = subprocess.run(["bash", "-c", line], cwd=shell, env=environment(), capture_output=True, text=True)
    assert done.stdout.split() == ["1", "2", "3"]
