"""Recipes: what they hold, what they find to be stale, and the ir_metadata block."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import hybridcli
from hybridcli.errors import DataError
from hybridcli.formats.runs import read_run
from hybridcli.recipe import sha256, stale
from tests.support import Result

Cli = Callable[..., Result]
A = "q1 Q0 d1 1 2.5 a\nq1 Q0 d2 2 1.5 a\n"
B = "q1 Q0 d2 1 0.5 b\n"
WINDOW = (
    '{"id": "d:0:0", "contents": "net sales rose", "doc": "d", "unit": 0, "kind": "text", "start": 0, "end": 3, '
    '"char_start": 0, "char_end": 14, "heading": ""}\n'
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.run").write_text(A)
    (tmp_path / "b.run").write_text(B)
    return tmp_path


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def recipe_of(path: str) -> Any:
    return json.loads(Path(f"{path}.recipe.json").read_text())


def test_a_recipe_says_what_made_a_file(cli: Cli, place: Path) -> None:
    assert cli("fuse", "a.run", "b.run", "-o", "f.run", "--recipe", "--rrf-k", "10").code == 0
    recipe = recipe_of("f.run")
    assert recipe["schema"] == "hybridcli/recipe/1"
    assert recipe["command"] == "fuse"
    assert (recipe["version"], recipe["python"]) == (hybridcli.__version__, platform.python_version())
    assert recipe["options"]["rrf_k"] == 10.0
    assert recipe["options"]["runs"] == ["a.run", "b.run"]
    assert not {"recipe", "ir_metadata"} & set(recipe["options"])
    assert recipe["inputs"] == [
        {"path": "a.run", "sha256": digest(A)},
        {"path": "b.run", "sha256": digest(B)},
    ]
    assert recipe["outputs"] == [{"path": "f.run", "sha256": digest(Path("f.run").read_text())}]
    assert stale("f.run.recipe.json") == []


def test_the_recipe_does_not_change_what_is_written(cli: Cli, place: Path) -> None:
    cli("fuse", "a.run", "b.run", "-o", "with.run", "--recipe")
    cli("fuse", "a.run", "b.run", "-o", "without.run")
    assert Path("with.run").read_bytes() == Path("without.run").read_bytes()
    assert not Path("without.run.recipe.json").exists()


def test_changed_and_lost_files_are_found(cli: Cli, place: Path) -> None:
    cli("fuse", "a.run", "b.run", "-o", "f.run", "--recipe")
    result = cli("check", "--recipe", "f.run.recipe.json")
    assert (result.code, result.out) == (0, "f.run.recipe.json: recipe\n\nnothing wrong\n")
    Path("a.run").write_text(A + "q2 Q0 d 1 1 a\n")
    Path("b.run").unlink()
    with Path("f.run").open("a") as stream:
        stream.write("q3 Q0 d 1 1 a\n")
    found = [
        "input a.run has changed since (stale)",
        "input b.run is gone (looked for from the current folder)",
        "output f.run has changed since (stale)",
    ]
    assert stale("f.run.recipe.json") == found
    for args in (["--recipe", "f.run.recipe.json"], ["f.run.recipe.json"]):  # known by its content, too
        result = cli("check", *args)
        assert result.code == 1
        assert result.out.splitlines()[1:4] == [f"f.run.recipe.json: {text}" for text in found]


def test_a_touched_file_with_the_same_bytes_is_not_stale(cli: Cli, place: Path) -> None:
    cli("fuse", "a.run", "b.run", "-o", "f.run", "--recipe")
    Path("a.run").unlink()
    Path("a.run").write_text(A)
    assert stale("f.run.recipe.json") == []


def test_stdin_is_named_without_a_hash(cli: Cli, place: Path) -> None:
    assert cli("fuse", "a.run", "-", "-o", "f.run", "--recipe", stdin=B.encode()).code == 0
    # a pipe is read first, for it can be read once only
    assert sorted(recipe_of("f.run")["inputs"], key=lambda entry: entry["path"]) == [
        {"path": "-", "sha256": None},
        {"path": "a.run", "sha256": digest(A)},
    ]
    assert stale("f.run.recipe.json") == []


def test_a_recipe_needs_an_output_file(cli: Cli, place: Path) -> None:
    for args in ([], ["-o", "-"]):
        result = cli("fuse", "a.run", "b.run", *args, "--recipe")
        assert (result.code, result.out) == (2, "")
        assert "--recipe needs an output file: give -o FILE" in result.err


def test_no_recipe_of_a_command_that_failed(cli: Cli, place: Path) -> None:
    Path("b.run").write_text("q1 Q0 d2 1 x b\n")
    assert cli("fuse", "a.run", "b.run", "-o", "f.run", "--recipe").code == 1
    assert sorted(path.name for path in place.iterdir()) == ["a.run", "b.run"]


def test_a_recipe_appears_with_the_outputs_or_none_does(cli: Cli, place: Path) -> None:
    Path("c.recipe.json").write_text(B)
    before = {path.name: path.read_text() for path in place.iterdir()}
    result = cli("fuse", "a.run", "c.recipe.json", "-o", "c", "--recipe")
    assert result.code == 2
    assert "c.recipe.json: is an input of this command" in result.err
    assert {path.name: path.read_text() for path in place.iterdir()} == before
    Path("f.run.recipe.json").mkdir()
    result = cli("fuse", "a.run", "b.run", "-o", "f.run", "--recipe")
    assert result.code == 2
    assert "f.run.recipe.json: is a folder" in result.err
    assert not Path("f.run").exists()


def test_a_pipe_has_no_hash(place: Path) -> None:
    program = Path(sys.executable).parent / "hybridcli"
    line = f"'{program}' fuse <(cat a.run) b.run -o f.run --recipe --ir-metadata"
    subprocess.run(["bash", "-c", line], check=True, timeout=60)
    hashes = [entry["sha256"] for entry in recipe_of("f.run")["inputs"]]
    assert sorted(hashes, key=str) == sorted([None, digest(B)], key=str)
    data = block_of(Path("f.run").read_text())["data"]
    assert sorted((entry["sha256"] for entry in data["inputs"]), key=str) == sorted(hashes, key=str)
    result = subprocess.run(
        ["bash", "-c", f"'{program}' fuse a.run b.run -o >(cat >/dev/null) --recipe"],
        capture_output=True,
        timeout=60,
    )
    assert result.returncode == 2
    assert b"--recipe needs an output file" in result.stderr


def test_index_folders_are_inputs_and_outputs(cli: Cli, place: Path) -> None:
    Path("windows.jsonl").write_text(WINDOW)
    Path("topics.tsv").write_text("q1\tsales\n")
    assert cli("index-sparse", "windows.jsonl", "-o", "bm25.index", "--recipe").code == 0
    recipe = recipe_of("bm25.index")
    assert [entry["path"] for entry in recipe["inputs"]] == ["windows.jsonl"]
    assert recipe["outputs"] == [{"path": "bm25.index", "sha256": sha256(Path("bm25.index"))}]
    assert cli("retrieve", "bm25.index", "topics.tsv", "-o", "bm25.run", "--recipe").code == 0
    assert {entry["path"] for entry in recipe_of("bm25.run")["inputs"]} == {"bm25.index", "topics.tsv"}
    assert stale("bm25.run.recipe.json") == stale("bm25.index.recipe.json") == []
    next(path for path in Path("bm25.index").rglob("*") if path.is_file()).write_bytes(b"other")
    assert stale("bm25.run.recipe.json") == ["input bm25.index has changed since (stale)"]
    assert stale("bm25.index.recipe.json") == ["output bm25.index has changed since (stale)"]


def test_a_folder_written_with_a_slash_has_its_recipe_beside_it(cli: Cli, place: Path) -> None:
    Path("windows.jsonl").write_text(WINDOW)
    assert cli("index-sparse", "windows.jsonl", "-o", "bm25.index/", "--recipe").code == 0
    assert Path("bm25.index.recipe.json").is_file()
    assert not Path("bm25.index/.recipe.json").exists()


def test_the_hash_of_a_folder_depends_on_names_and_bytes(tmp_path: Path) -> None:
    hashes = set()
    for name, text in (("a", "x"), ("b", "x"), ("a", "y")):
        folder = tmp_path / f"{name}{text}"
        folder.mkdir()
        (folder / name).write_text(text)
        hashes.add(sha256(folder))
    assert len(hashes) == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema": "other", "inputs": [], "outputs": []}',
        "q1 Q0 d 1 1 a",
        '{"schema": "hybridcli/recipe/1", "inputs": [{"path": "a"}], "outputs": []}',
        '{"schema": "hybridcli/recipe/1", "inputs": [{"path": 5, "sha256": null}], "outputs": []}',
        '{"schema": "hybridcli/recipe/1", "inputs": ["a.run"], "outputs": []}',
        '{"schema": "hybridcli/recipe/1", "inputs": 5, "outputs": []}',
        '{"schema": "hybridcli/recipe/1", "inputs": [{"path": "\\ud800", "sha256": "x"}], "outputs": []}',
    ],
)
def test_what_is_no_recipe(cli: Cli, place: Path, text: str) -> None:
    Path("x.json").write_text(text)
    with pytest.raises(DataError, match=r"^x\.json: is "):
        stale("x.json")
    result = cli("check", "--recipe", "x.json")
    assert result.code == 1
    assert "x.json: is " in result.out


def test_a_file_that_is_a_pipe_now(cli: Cli, place: Path) -> None:
    cli("fuse", "a.run", "b.run", "-o", "f.run", "--recipe")
    Path("a.run").unlink()
    os.mkfifo("a.run")
    assert stale("f.run.recipe.json") == ["input a.run is a device or a pipe now"]


def test_a_missing_recipe(cli: Cli, place: Path) -> None:
    result = cli("check", "--recipe", "none.json")
    assert result.code == 1
    assert "none.json: no such file" in result.out + result.err


def block_of(text: str) -> Any:
    """The ir_metadata block of a run's head, read as YAML."""
    lines = [line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ")]
    assert (lines[0], lines[-1]) == ("ir_metadata.start", "ir_metadata.end")
    return yaml.safe_load("\n".join(lines[1:-1]))


@pytest.mark.parametrize("name", ["f.run", "f.run.gz"])
def test_ir_metadata_is_yaml_that_every_reader_here_skips(cli: Cli, place: Path, name: str) -> None:
    args = ["fuse", "a.run", "b.run", "--tag", "a: b # c 'd'"]
    assert cli(*args, "-o", name, "--ir-metadata", "--recipe").code == 2  # a tag with blanks breaks the run
    args[-1] = "x:'y'#z"
    assert cli(*args, "-o", name, "--ir-metadata", "--recipe").code == 0
    assert cli(*args, "-o", "plain.run").code == 0
    data = Path(name).read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    block = block_of(text)
    assert block["implementation"]["executable"]["cmd"] == "hybridcli fuse"
    assert block["implementation"]["software"]["hybridcli"] == hybridcli.__version__
    assert block["method"]["options"]["tag"] == "x:'y'#z"
    assert block["data"]["inputs"] == [
        {"path": "a.run", "sha256": digest(A)},
        {"path": "b.run", "sha256": digest(B)},
    ]
    assert read_run(name).to_dict() == read_run("plain.run").to_dict()
    assert text.endswith(Path("plain.run").read_text())
    assert cli("check", name).code == 0
    assert stale(f"{name}.recipe.json") == []


def test_ir_metadata_without_a_run_to_head_is_refused(cli: Cli, place: Path) -> None:
    result = cli("fuse", "a.run", "b.run", "--all", "-o", "all", "--ir-metadata")
    assert result.code == 2
    assert "--ir-metadata goes into the head of the run that -o names" in result.err
    assert not list((place / "all").glob("*.run"))


def test_ir_metadata_on_stdout(cli: Cli, place: Path) -> None:
    result = cli("fuse", "a.run", "b.run", "--ir-metadata")
    assert result.code == 0
    assert block_of(result.out)["method"]["automatic"] is True
    assert cli("fuse", "a.run", "-", stdin=result.out.encode()).code == 0
