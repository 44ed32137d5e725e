"""The program as a process: exit codes, pipes, interrupts, locales, equal bytes, start-up times."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hybridcli

PROGRAM = Path(sys.executable).parent / "hybridcli"
# compiled modules may be kept
AS_INSTALLED = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
A = "".join(f"q1 Q0 d{i} {i} {20 - i} a\n" for i in range(1, 20))
B = "".join(f"q1 Q0 d{i} {20 - i} {i} b\n" for i in range(1, 20)) + "q2 Q0 weiß 1 1 b\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "a.run").write_text(A)
    (tmp_path / "b.run").write_text(B, encoding="utf-8")
    (tmp_path / "q.txt").write_text("q1 0 d1 1\nq2 0 weiß 1\n", encoding="utf-8")
    return tmp_path


def run(
    place: Path, *args: str, env: dict[str, str] | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    environment = {**AS_INSTALLED, **(env or {})}
    return subprocess.run(
        [PROGRAM, *args], cwd=place, capture_output=True, env=environment, input=stdin, timeout=60
    )


def test_version(place: Path) -> None:
    result = run(place, "--version")
    assert (result.returncode, result.stdout) == (0, f"hybridcli {hybridcli.__version__}\n".encode())
    module = subprocess.run([sys.executable, "-m", "hybridcli", "--version"], capture_output=True, cwd=place)
    assert module.stdout == result.stdout


def test_without_a_command_help_is_shown(place: Path) -> None:
    result = run(place)
    assert result.returncode == 2
    assert b"Usage: hybridcli" in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("code", "args", "words"),
    [
        (0, ["fuse", "a.run", "b.run"], b""),
        (1, ["fuse", "a.run", "q.txt"], b"hybridcli: q.txt:1: expected 6 columns, found 4"),
        (1, ["fuse", "a.run", "none.run"], b"hybridcli: none.run: no such file"),
        (1, ["check", "q.txt", "--kind", "run"], b""),
        (2, ["fuse"], b"Missing argument"),
        (2, ["fuse", "a.run", "--method", "nope"], b"nope"),
        (2, ["fuse", "-", "-"], b"'-' (stdin) is given twice"),
        (2, ["no-such-command"], b"No such command"),
    ],
)
def test_exit_codes(place: Path, code: int, args: list[str], words: bytes) -> None:
    result = run(place, *args)
    assert result.returncode == code, result.stderr
    assert words in result.stderr
    assert b"Traceback" not in result.stderr
    assert result.stdout == b"" or args[0] == "check" or code == 0


def test_a_missing_component_says_how_to_install_it(place: Path) -> None:
    """The dense extra, hidden as it is where it was never installed."""
    (place / "hidden").mkdir()
    for module in ("sentence_transformers", "torch", "wordllama", "faiss"):
        (place / "hidden" / f"{module}.py").write_text(f"raise ModuleNotFoundError(name={module!r})\n")
    (place / "docs.jsonl").write_text('{"id": "d1", "text": "net sales"}\n')
    hidden = {"PYTHONPATH": str(place / "hidden")}
    result = run(place, "index-dense", "docs.jsonl", "-o", "x.index", "--model", "minilm", env=hidden)
    assert result.returncode == 3, result.stderr
    assert b"install it with: pip install" in result.stderr
    assert b"Traceback" not in result.stderr
    assert not (place / "x.index").exists()


def test_ctrl_c_ends_with_130_and_leaves_nothing(place: Path) -> None:
    process = subprocess.Popen(
        [PROGRAM, "fuse", "a.run", "-", "-o", "f.run"],
        cwd=place,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # a shell's background job ignores Ctrl-C, and so would we: take the signal as a foreground job does
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdin is not None
    process.stdin.write(b"q1 Q0 d1 1 1 a\n")
    process.stdin.flush()
    time.sleep(1)  # the program waits for more of the run
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
    assert err == b"hybridcli: interrupted\n"
    assert sorted(path.name for path in place.iterdir()) == ["a.run", "b.run", "q.txt"]


@pytest.mark.parametrize("lines", [1, 100])
def test_a_closed_pipe_ends_quietly(place: Path, lines: int) -> None:
    big = "".join(f"q{q} Q0 document-{d} {d} {1000 - d} a\n" for q in range(40) for d in range(1, 1000))
    (place / "big.run").write_text(big)
    shell = f"'{PROGRAM}' fuse big.run a.run | head -{lines}; echo ${{PIPESTATUS[0]}} >&2"
    result = subprocess.run(["bash", "-c", shell], cwd=place, capture_output=True, timeout=60)
    assert result.stderr.splitlines()[-1] == b"0"
    assert b"Traceback" not in result.stderr
    assert b"Broken pipe" not in result.stderr
    assert len(result.stdout.splitlines()) == lines


def test_an_ascii_locale_changes_nothing(place: Path) -> None:
    ordinary = run(place, "fuse", "a.run", "b.run")
    environment = {key: value for key, value in AS_INSTALLED.items() if key != "PYTHONUTF8"}
    ascii_only = {"LC_ALL": "C", "LANG": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    for locale in ({"LC_ALL": "C"}, ascii_only):
        result = subprocess.run(
            [PROGRAM, "fuse", "a.run", "b.run"], cwd=place, capture_output=True, env={**environment, **locale}
        )
        assert (result.returncode, result.stdout) == (0, ordinary.stdout)
    assert "weiß".encode() in ordinary.stdout


def test_messages_in_an_ascii_locale(place: Path) -> None:
    (place / "bad.run").write_text("q1 Q0 weiß 1 nan a\n", encoding="utf-8")
    environment = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    for args in (["fuse", "bad.run"], ["check", "bad.run"]):
        result = run(place, *args, env=environment)
        assert result.returncode == 1, result.stderr
        assert b"Traceback" not in result.stderr
        assert b"bad.run:1: the score of wei" in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("seeds", "args"),
    [
        (range(6), ["fuse", "a.run", "b.run", "--method", "condorcet"]),
        (
            range(3),
            ["compare", "a.run", "b.run", "--qrels", "q.txt", "--replicates", "200", "--format", "json"],
        ),
        (range(3), ["check", "a.run", "b.run", "q.txt", "--format", "json"]),
    ],
    ids=["fuse", "compare", "check"],
)
def test_the_hash_seed_changes_no_byte(place: Path, seeds: range, args: list[str]) -> None:
    seen = {run(place, *args, env={"PYTHONHASHSEED": str(seed)}).stdout for seed in seeds}
    assert len(seen) == 1
    assert next(iter(seen))


def test_json_of_check_holds_no_colour(place: Path) -> None:
    assert (
        json.loads(run(place, "check", "a.run", "--format", "json", env={"FORCE_COLOR": "1"}).stdout)["wrong"]
        == 0
    )


# a command that does nothing but read a table: what typer, numpy and polars take by themselves
FLOOR = """
import typer
app = typer.Typer(add_completion=False)
@app.command()
def read(path: str = "a.run"):
    import numpy, polars
    polars.read_csv(path, separator=" ", has_header=False)
app([])
"""


def best(place: Path, *command: str | Path, times: int = 4) -> float:
    """The least CPU time of several calls, in seconds: other work on the machine only adds to it."""
    taken = []
    for _ in range(times):
        before = os.times()
        subprocess.run(command, cwd=place, check=True, capture_output=True, env=AS_INSTALLED)
        after = os.times()
        taken.append(
            after.children_user + after.children_system - before.children_user - before.children_system
        )
    return min(taken)


@pytest.mark.parametrize(
    ("args", "bar", "floor", "factor"),
    [
        (["--help"], 0.25, "import typer", 2.0),
        (["fuse", "a.run", "b.run"], 0.5, FLOOR, 1.5),
    ],
    ids=["help", "fuse"],
)
def test_the_program_starts_at_once(
    place: Path, args: list[str], bar: float, floor: str, factor: float
) -> None:
    """Within the bar, or on a busy machine within a small factor of what its libraries alone take there."""
    taken = best(place, PROGRAM, *args)
    assert taken <= bar or taken <= factor * best(place, sys.executable, "-c", floor)
