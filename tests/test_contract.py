"""What every subcommand promises: help with an example, '-', gzip, missing files, bad lines, nothing half-written.

``CALLS`` names one small working call of every subcommand; the tests take each of its inputs in turn and replace
it by standard input, a compressed copy, a file that is not there, or one with a bad line.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hybridcli.cli import COMMANDS
from tests.support import Result

Cli = Callable[..., Result]

FILES = {
    "docs.jsonl": '{"id": "d1", "text": "Net sales rose to 5.9 million in 2099 because widgets sold well."}\n'
    '{"id": "d2", "text": "Management expects the first quarter to be slow for gadgets."}\n',
    "windows.jsonl": "".join(
        json.dumps(
            {"id": f"{doc}:0:0", "contents": text, "doc": doc, "unit": 0, "kind": "text", "start": 0}
            | {"end": len(text.split()), "char_start": 0, "char_end": len(text), "heading": ""}
        )
        + "\n"
        for doc, text in [
            ("d1", "Net sales rose to 5.9 million in 2099 because widgets sold well."),
            ("d2", "Management expects the first quarter to be slow for gadgets."),
        ]
    ),
    "references.jsonl": '{"_id": "q1", "text": "widget sales", "references": ["sales rose to 5.9 million in 2099"],'
    ' "doc": "d1", "ticker": "A", "category": "Financials"}\n'
    '{"_id": "q2", "text": "outlook", "references": ["expects the first quarter to be slow"],'
    ' "doc": "d2", "ticker": "B", "category": "Risk"}\n',
    "topics.tsv": "q1\twidget sales\nq2\tgadgets outlook\n",
    "a.run": "q1 Q0 d1:0:0 1 2.5 a\nq1 Q0 d2:0:0 2 1.5 a\nq2 Q0 d2:0:0 1 1.25 a\n",
    "b.run": "q1 Q0 d2:0:0 1 0.5 b\nq2 Q0 d1:0:0 1 0.75 b\nq2 Q0 d2:0:0 2 0.25 b\n",
    "qrels.txt": "q1 0 d1:0:0 1\nq2 0 d2:0:0 1\n",
    "groups.tsv": "q1\tA\nq2\tB\n",
    "report.json": '{"schema": "hybridcli/route/1", "runs": ["a", "b"], "grid": "step 0.5", "forced": [], "n": 2, '
    '"measures": ["RR"], "rows": [{"router": "tuned", "measure": "RR", "value": 0.5, "deviation": null}], '
    '"choices": {"tuned": {"counts": [["0.5,0.5", 3], ["1,0", 1]], "ties": 1}}, "folds": 4, "repeats": 1, "seed": 0}\n',
    "router.json": '{"schema": "hybridcli/router/1", "router": "tuned", "tags": ["a", "b"], "depth": null, '
    '"features": [], "words": {}, "state": {"weights": [0.25, 0.75]}}\n',
}
# a line that no reader of the file can accept
BAD = {
    "docs.jsonl": "{broken\n",
    "windows.jsonl": '{"id": "x"}\n',
    "references.jsonl": "{broken\n",
    "topics.tsv": "no tab here\n",
    "a.run": "q9 Q0 d1 1 2.5\n",
    "b.run": "q9 Q0 d1 1 x b\n",
    "qrels.txt": "q9 0 d1\n",
    "groups.tsv": "no tab here\n",
    "router.json": "{broken\n",
    "report.json": "{broken\n",
}
CALLS = {
    "window": "docs.jsonl -o OUT",
    "map_labels": "references.jsonl windows.jsonl --qrels OUT",
    "label_docs": "windows.jsonl --topics topics.tsv --qrels qrels.txt -o OUT",
    "index_sparse": "windows.jsonl -o OUT",
    "index_dense": "windows.jsonl -o OUT --model wordllama",
    "retrieve": "bm25.index topics.tsv -o OUT",
    "fuse": "a.run b.run -o OUT",
    "oracle": "a.run b.run --qrels qrels.txt --groups groups.tsv -o OUT",
    "route": "a.run b.run --topics topics.tsv --qrels qrels.txt --groups groups.tsv --router equal "
    "--folds 2 --repeats 1 -o OUT",
    "weigh": "router.json a.run b.run -o OUT",
    "sweep": "report.json --format tsv -o OUT",
    "compare": "a.run b.run --qrels qrels.txt --groups groups.tsv --format tsv -o OUT",
    "check": "a.run --fix -o OUT",
    "rerank": "a.run --index dense.index --topics topics.tsv --qrels qrels.txt --groups groups.tsv --folds 2 "
    "--models 2 --overlap 0 -o OUT",
}
NEEDS_MODEL = {"index_dense", "rerank"}


def commands() -> list[object]:
    return [pytest.param(n, marks=pytest.mark.slow if n in NEEDS_MODEL else []) for n in COMMANDS]


def inputs() -> list[object]:
    return [
        pytest.param(name, file, marks=pytest.mark.slow if name in NEEDS_MODEL else [])
        for name in COMMANDS
        for file in CALLS[name].split()
        if file in FILES
    ]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli, request: pytest.FixtureRequest) -> Path:
    """A folder with every input, as the working folder."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert cli("index-sparse", "windows.jsonl", "-o", "bm25.index").code == 0
    if request.node.callspec.params["name"] == "rerank":
        assert cli("index-dense", "windows.jsonl", "-o", "dense.index", "--model", "wordllama").code == 0
    return tmp_path


def call(cli: Cli, name: str, replace: dict[str, str] | None = None, stdin: bytes = b"") -> Result:
    args = [(replace or {}).get(arg, arg) for arg in CALLS[name].split()]
    return cli(name.replace("_", "-"), *args, stdin=stdin)


def content(path: Path) -> object:
    """What was written: a file's bytes, or a folder's files (an index's meta file names no paths)."""
    if path.is_dir():
        return {
            file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()
        }
    return path.read_bytes()


def test_every_command_has_a_call() -> None:
    assert set(COMMANDS) <= set(CALLS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_terminal_and_shows_an_example(
    cli: Cli, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = cli(name.replace("_", "-"), "--help")
    assert result.code == 0
    assert f"Example: hybridcli {name.replace('_', '-')} " in " ".join(result.out.split())
    assert max(map(len, result.out.splitlines())) <= 80
    assert result.err == ""


@pytest.mark.parametrize("name", commands())
def test_the_call_works_and_stdout_stays_empty(cli: Cli, place: Path, name: str) -> None:
    result = call(cli, name)
    assert result.code == 0, result.err
    assert (place / "OUT").exists()
    if name not in {"compare", "oracle", "route", "rerank", "check"}:
        assert result.out == ""


@pytest.mark.parametrize("name", commands())
def test_the_same_call_gives_the_same_bytes(cli: Cli, place: Path, name: str) -> None:
    written = []
    for target in ("one", "two"):
        assert call(cli, name, {"OUT": target}).code == 0
        written.append(content(place / target))
    assert written[0] == written[1]


@pytest.mark.parametrize(("name", "file"), inputs())
def test_an_input_may_be_compressed_whatever_its_name(cli: Cli, place: Path, name: str, file: str) -> None:
    assert call(cli, name, {"OUT": "plain"}).code == 0
    (place / file).write_bytes(gzip.compress(FILES[file].encode()))
    result = call(cli, name, {"OUT": "packed"})
    assert result.code == 0, result.err
    assert content(place / "plain") == content(place / "packed")


@pytest.mark.parametrize(("name", "file"), inputs())
def test_an_input_may_be_stdin(cli: Cli, place: Path, name: str, file: str) -> None:
    result = call(cli, name, {file: "-"}, stdin=FILES[file].encode())
    assert result.code == 0, result.err
    assert (place / "OUT").exists()


@pytest.mark.parametrize(("name", "file"), inputs())
def test_a_missing_file_is_named(cli: Cli, place: Path, name: str, file: str) -> None:
    (place / file).unlink()
    result = call(cli, name)
    assert result.code == 1
    assert f"hybridcli: {file}: no such file" in result.err
    assert not (place / "OUT").exists()


@pytest.mark.parametrize(("name", "file"), inputs())
@pytest.mark.parametrize("kind", ["bad line", "binary", "cut gzip"])
def test_wrong_data_is_one_clear_line_and_nothing_is_written(
    cli: Cli, place: Path, name: str, file: str, kind: str
) -> None:
    good = FILES[file].encode()
    data = {
        "bad line": good + BAD[file].encode(),
        "binary": bytes(range(256)) * 8,
        "cut gzip": gzip.compress(good)[:-9],
    }[kind]
    (place / file).write_bytes(data)
    before = sorted(path.name for path in place.iterdir())
    result = call(cli, name)
    assert result.code == 1, result.err
    assert "Traceback" not in result.err
    assert result.out == "" or name == "check"  # check prints its findings
    said = [line for line in result.err.splitlines() if line.startswith("hybridcli: ")]
    assert name == "check" or len(said) == 1, result.err
    assert file in result.err + result.out
    if kind == "bad line":
        assert f"{file}:{len(good.splitlines()) + 1}: " in result.err + result.out
    if name != "check" or kind != "bad line":  # check --fix writes what is left without the bad line
        assert sorted(path.name for path in place.iterdir()) == before


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_a_usage_error(cli: Cli, name: str) -> None:
    result = cli(name.replace("_", "-"), "--no-such-option")
    assert result.code == 2
    assert "No such option: --no-such-option" in result.err


@pytest.mark.parametrize("name", commands())
def test_a_recipe_names_every_input_and_finds_a_stale_one(cli: Cli, place: Path, name: str) -> None:
    args = CALLS[name].split()
    result = cli(name.replace("_", "-"), *args, "--recipe")
    if name == "check":
        pytest.skip("check writes no recipe of its own")
    assert result.code == 0, result.err
    recipe = json.loads((place / "OUT.recipe.json").read_text())
    named = {entry["path"] for entry in recipe["inputs"]}
    assert {arg for arg in args if arg in FILES} <= named
    assert {"OUT"} <= {entry["path"] for entry in recipe["outputs"]}
    assert recipe["command"] == name.replace("_", "-")
    if "check" in COMMANDS:
        assert cli("check", "--recipe", "OUT.recipe.json").code == 0
        stale = next(arg for arg in args if arg in FILES)
        (place / stale).write_text("changed")
        found = cli("check", "--recipe", "OUT.recipe.json")
        assert found.code == 1
        assert f"input {stale} has changed since (stale)" in found.out + found.err
