"""What goes wrong outside the data: full disks, closed streams, names given twice, work that is cut off."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import Result

Cli = Callable[..., Result]
PROGRAM = Path(sys.executable).parent / "hybridcli"
DOCS = '{"id": "d1", "text": "net sales rose to 5.9 million"}\n'
WINDOW = (
    '{"id": "d1:0:0", "contents": "net sales rose to 5.9 million", "doc": "d1", "unit": 0, "kind": "text", '
    '"start": 0, "end": 6, "char_start": 0, "char_end": 29, "heading": ""}\n'
)
REFERENCES = '{"qid": "q1", "text": "sales", "references": ["sales rose to 5.9 million"], "doc": "d1"}\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {"d.jsonl": DOCS, "w.jsonl": WINDOW, "r.jsonl": REFERENCES, "t.tsv": "q1\tsales\n"}
    files |= {"a.run": "q1 Q0 d1 1 2 a\n", "b.run": "q1 Q0 d2 1 1 b\n", "q.txt": "q1 0 d1 1\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def content(place: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in place.iterdir() if file.is_file()}


def shell(place: Path, line: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", line.replace("hybridcli", f"'{PROGRAM}'")], cwd=place, capture_output=True, timeout=60
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        # an output that is also an input
        ("window d.jsonl -o d.jsonl", "d.jsonl: is an input of this command; give the output another name"),
        ("window d.jsonl -o ./d.jsonl", "./d.jsonl: is an input of this command"),
        ("window d.jsonl -o w2 --facts link", "link: is an input of this command"),
        ("map-labels r.jsonl w.jsonl --qrels r.jsonl", "r.jsonl: is an input of this command"),
        ("map-labels r.jsonl w.jsonl --qrels Q --groups w.jsonl", "w.jsonl: is an input of this command"),
        ("fuse a.run b.run -o b.run", "b.run: is an input of this command"),
        ("oracle a.run b.run --qrels q.txt -o a.run", "a.run: is an input of this command"),
        ("compare a.run b.run --qrels q.txt -o q.txt", "q.txt: is an input of this command"),
        # two outputs in one place
        ("window d.jsonl -o O --facts O", "O: is given for two outputs; name another file for one"),
        ("window d.jsonl -o O --fact-labels ./O", "./O: is given for two outputs"),
        ("map-labels r.jsonl w.jsonl --qrels O --reference-qrels O", "O: is given for two outputs"),
        ("oracle a.run b.run --qrels q.txt -o O --curve O", "O: is given for two outputs"),
        # an output that cannot be, after others that could: none of them appears
        ("window d.jsonl -o O --fact-labels no/x", "no/x: the folder no does not exist"),
        ("map-labels r.jsonl w.jsonl --qrels O --provenance no/x", "no/x: the folder no does not exist"),
        ("map-labels r.jsonl w.jsonl --qrels O --groups folder", "folder: is a folder"),
        ("oracle a.run b.run --qrels q.txt --weights-out O -o no/x", "no/x: the folder no does not exist"),
        # names that are no names
        ("window d.jsonl -o ''", "output is given as an empty word; is a variable of the shell not set?"),
        ("window '' -o O", "docs is given as an empty word"),
        ("fuse a.run '' -o O", "runs is given as an empty word"),
        ("index-sparse w.jsonl -o -", "an index is a folder: it cannot go to stdout"),
        ("index-sparse w.jsonl -o w.jsonl/x", "the folder w.jsonl does not exist"),
        ("map-labels r.jsonl w.jsonl --qrels O --seed -1", "--seed"),
        (
            "map-labels r.jsonl w.jsonl --qrels O --audit -5",
            "--audit takes words such as 256,512, found '-5'",
        ),
    ],
)
def test_refused_with_nothing_written(cli: Cli, place: Path, args: str, message: str) -> None:
    (place / "folder").mkdir()
    (place / "link").symlink_to("d.jsonl")
    before = content(place)
    result = cli(*(word.strip("'") for word in args.split()))
    assert result.code == 2, result.err
    assert message in result.err
    assert content(place) == before


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("retrieve i t.tsv -o i/meta.json", "i/meta.json: lies in i, an input of this command"),
        ("retrieve i/ t.tsv -o ./i/new.run", "./i/new.run: lies in i/, an input of this command"),
        ("retrieve i t.tsv -o link/new.run", "link/new.run: lies in i, an input of this command"),
        ("retrieve link t.tsv -o i/new.run", "i/new.run: lies in link, an input of this command"),
        ("retrieve i t.tsv -o i", "i: is an input of this command"),
    ],
)
def test_an_index_that_is_read_is_left_alone(cli: Cli, place: Path, args: str, message: str) -> None:
    assert cli("index-sparse", "w.jsonl", "-o", "i").code == 0
    (place / "link").symlink_to("i")
    before = {file: file.read_bytes() for file in place.rglob("*") if file.is_file()}
    result = cli(*args.split())
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert {file: file.read_bytes() for file in place.rglob("*") if file.is_file()} == before
    assert cli("retrieve", "i", "t.tsv", "-o", "i.run").code == 0  # a name that only begins alike


@pytest.mark.parametrize("stream", ["", "\n \n"])
def test_an_empty_stream_replaces_no_index(cli: Cli, place: Path, stream: str) -> None:
    assert cli("index-sparse", "w.jsonl", "-o", "i").code == 0
    before = {file: file.read_bytes() for file in place.rglob("*") if file.is_file()}
    assert cli("index-sparse", "-", "-o", "i", stdin=stream.encode()).code == 1
    assert {file: file.read_bytes() for file in place.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("window d.jsonl/x -o O", "d.jsonl/x: cannot be read: not a directory"),
        ("window loop -o O", "loop: cannot be read: too many levels of symbolic links"),
        (f"window {'n' * 300} -o O", f"{'n' * 300}: file name too long"),
        (f"compare a.run --qrels {'n' * 300} -o O", f"{'n' * 300}: file name too long"),
        (f"window d.jsonl -o {'n' * 300}", f"{'n' * 300}: cannot be written: file name too long"),
        (f"retrieve {'n' * 300} t.tsv -o O", f"{'n' * 300}/meta.json: file name too long"),
        ("window /proc/self/mem -o O", "/proc/self/mem: cannot be read: input/output error"),
        ("window d.jsonl -o /dev/full", "/dev/full: cannot be written: no space left on device"),
        ("fuse a.run b.run -o /dev/full", "/dev/full: cannot be written: no space left on device"),
        ("map-labels r.jsonl w.jsonl --qrels O --topics /dev/full", "/dev/full: cannot be written: no space"),
    ],
)
def test_what_the_system_refuses_names_the_file(cli: Cli, place: Path, args: str, message: str) -> None:
    if "/dev/full" in args and not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    if "/proc" in args and not Path("/proc/self/mem").exists():
        pytest.skip("no /proc here")
    (place / "loop").symlink_to("loop")
    before = sorted(place.iterdir())
    result = cli(*args.split())
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(f"hybridcli: {message}")
    assert result.err.count("\n") == 1
    assert sorted(place.iterdir()) == before


def test_a_link_stays_a_link_and_what_it_points_to_is_written(cli: Cli, place: Path) -> None:
    (place / "far").mkdir()
    (place / "O").symlink_to("far/O")
    assert cli("fuse", "a.run", "b.run", "-o", "O").code == 0
    assert (place / "O").is_symlink()
    assert (place / "far" / "O").read_text().startswith("q1 Q0 d2 1 ")


def test_an_early_end_is_not_an_interrupt(cli: Cli, place: Path) -> None:
    """typer takes EOFError for Ctrl-C."""
    assert cli("index-sparse", "w.jsonl", "-o", "i").code == 0
    array = next((place / "i" / "bm25s").glob("*.npy"))
    meta = json.loads((place / "i" / "meta.json").read_text())
    meta["files"][f"bm25s/{array.name}"] = {"bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()}
    (place / "i" / "meta.json").write_text(json.dumps(meta))
    array.write_bytes(b"")
    result = cli("retrieve", "i", "t.tsv")
    assert result.code == 1, result.err
    assert "an input ends too early" in result.err


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("hybridcli fuse a.run b.run >/dev/full", 1, "hybridcli: <stdout>: cannot be written: no space"),
        ("hybridcli --help >/dev/full", 1, "hybridcli: "),
        ("hybridcli fuse a.run b.run >&-", 1, "hybridcli: <stdout>: is closed; name an output file\n"),
        ("hybridcli fuse a.run - <&-", 1, "hybridcli: <stdin>: is closed\n"),
        ("hybridcli fuse a.run none 2>&-", 1, ""),
        ("hybridcli fuse <(cat a.run) <(gzip -c b.run) -o O", 0, ""),
        ("hybridcli --help | true; exit ${PIPESTATUS[0]}", 0, ""),
        ("hybridcli fuse --help | true; exit ${PIPESTATUS[0]}", 0, ""),
        ("hybridcli fuse a.run b.run | true; exit ${PIPESTATUS[0]}", 0, ""),
        ("cat b.run | hybridcli fuse - /dev/stdin", 2, "hybridcli: /dev/stdin: is a pipe that is given twice"),
        ("cat b.run | hybridcli fuse /dev/stdin - ", 2, "hybridcli: -: is a pipe that is given twice"),
        ("cat b.run | hybridcli fuse /dev/stdin /dev/stdin", 2, "hybridcli: /dev/stdin: is a pipe that is"),
        ("mkfifo p; cat a.run >p & hybridcli fuse p p", 2, "hybridcli: p: is a pipe that is given twice"),
        ("cat a.run | hybridcli check /dev/stdin /dev/stdin", 2, "hybridcli: /dev/stdin: is a pipe that is"),
        ("cat b.run | hybridcli fuse a.run /dev/stdin", 0, ""),
        ("hybridcli fuse /dev/stdin b.run <a.run", 0, ""),
        ("hybridcli check <(cat a.run) <(cat b.run)", 0, ""),
        ("hybridcli fuse a.run b.run -o >(head -c 1 >/dev/null)", 0, ""),
    ],
)  # fmt: skip
def test_streams_that_are_full_closed_or_pipes(place: Path, line: str, code: int, message: str) -> None:
    result = shell(place, line)
    assert result.returncode == code, result.stderr
    assert result.stderr.decode().startswith(message)
    assert b"Traceback" not in result.stderr
    assert b"Exception ignored" not in result.stderr


def test_a_name_of_any_bytes_is_shown(place: Path) -> None:
    Path(os.fsdecode(b"n\xff.run")).write_text("q1 Q0 d1 1 2 a\n")
    for form in ("table", "json"):
        result = shell(place, f"hybridcli check n*.run --format {form}")
        assert result.returncode == 0, result.stderr
        assert b"n\\udcff.run" in result.stdout.replace(b"\\\\", b"\\")


def test_what_is_nested_too_deeply_is_an_error_in_a_line(cli: Cli, place: Path) -> None:
    (place / "deep.json").write_text("[" * 100_000)
    result = cli("check", "--recipe", "deep.json")
    assert (result.code, result.err) == (1, "hybridcli: an input is nested too deeply to be read\n")


def test_notes_do_not_mix_with_data_when_stderr_is_closed(place: Path) -> None:
    result = shell(place, "hybridcli window d.jsonl 2>&-")
    assert (result.returncode, len(result.stdout.splitlines())) == (0, 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_stopped_work_leaves_nothing(place: Path, number: int) -> None:
    before = content(place)
    process = subprocess.Popen(
        [PROGRAM, "window", "-", "-o", "O"],
        cwd=place,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdin is not None
    until = time.monotonic() + 30
    while not list(place.glob(".O.*.part")) and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert b"Traceback" not in err
    assert sorted(path.name for path in place.iterdir()) == sorted(before)


@pytest.mark.parametrize("command", ["compare {} --replicates 100", "oracle {} --replicates 1"])
@pytest.mark.parametrize(
    ("run", "warning"),
    [
        ("other Q0 d1 1 1 x\n", "no query in common with the qrels"),
        ("", "no query in common with the qrels"),
        ("q1 Q0 D1 1 1 x\n", "none of the judged documents is in it"),
        ("q1 Q0 d0 1 1 x\nq1 Q0 d1 2 0 x\n", ""),
    ],
)
def test_a_run_of_another_collection_is_warned_of(
    cli: Cli, place: Path, command: str, run: str, warning: str
) -> None:
    (place / "x.run").write_text(run)
    result = cli(*command.format("a.run x.run --qrels q.txt").split())
    assert result.code == 0, result.err
    warned = [
        line for line in result.err.splitlines() if "x" in line.split(": ")[1] and "every value is 0" in line
    ]
    assert len(warned) == bool(warning)
    assert warning in "".join(warned)


@pytest.mark.parametrize("command", ["fuse", "compare", "oracle", "route"])
def test_distances_of_a_run_that_is_not_there(cli: Cli, place: Path, command: str) -> None:
    """A mistyped name must not leave the distances as they are."""
    judged = ["--qrels", "q.txt"] if command != "fuse" else []
    more = ["--groups", "t.tsv", "--topics", "t.tsv", "--router", "equal"] if command == "route" else []
    result = cli(command, "a.run", "b.run", *judged, *more, "--lower-is-better", "c.run")
    assert (result.code, result.out) == (2, "")
    assert result.err == "hybridcli: --lower-is-better c.run: not among the runs\n"


@pytest.mark.parametrize(
    "args",
    [
        "oracle a.run b.run --qrels q.txt -o - --curve -",
        "map-labels r.jsonl w.jsonl --qrels - --provenance -",
    ],
)
def test_two_outputs_on_stdout_are_refused(cli: Cli, place: Path, args: str) -> None:
    result = cli(*args.split())
    assert (result.code, result.out) == (2, "")
    assert "'-' (stdout) is given for two outputs" in result.err


def test_searches_and_labels_that_find_nothing_say_so(cli: Cli, place: Path) -> None:
    (place / "none.tsv").write_text("q1\tzzz\nq2\t\n")
    (place / "empty.tsv").write_text("")
    (place / "none.jsonl").write_text("")
    assert cli("index-sparse", "w.jsonl", "-o", "i").code == 0
    assert "no document was found for 2 of 2 topics: q1, q2" in cli("retrieve", "i", "none.tsv").err
    assert "there are no topics: the run is empty" in cli("retrieve", "i", "empty.tsv").err
    assert "no term in 0 passages" in cli("index-sparse", "none.jsonl", "-o", "i2").err
    result = cli("map-labels", "r.jsonl", "w.jsonl", "--qrels", "Q", "--min-letters", "900")
    assert "no reference was found in the windows: the qrels are empty" in result.err


@pytest.mark.parametrize(
    ("runs", "state", "code", "message"),
    [
        (
            ["b.run", "a.run"],
            {"weights": [0.25, 0.75]},
            2,
            "trained on the runs a, b, in this order; found b, a",
        ),
        (
            ["a.run", "c.run"],
            {"weights": [0.25, 0.75]},
            0,
            "trained on the runs a, b, in this order; found a, c",
        ),
        (["a.run", "b.run"], {"weights": "x"}, 1, "router.json: its state is not that of the router tuned"),
        (["a.run", "b.run"], {}, 1, "router.json: its state is not that of the router tuned"),
    ],
)
def test_routers_of_other_runs_or_damaged(
    cli: Cli, place: Path, runs: list[str], state: dict[str, object], code: int, message: str
) -> None:
    """Runs in another order would get each other's weights."""
    (place / "c.run").write_text("q1 Q0 d1 1 2 c\n")
    fixed = {"schema": "hybridcli/router/1", "router": "tuned", "tags": ["a", "b"], "depth": None}
    (place / "router.json").write_text(json.dumps({**fixed, "features": [], "words": {}, "state": state}))
    result = cli("weigh", "router.json", *runs, "-o", "O")
    assert result.code == code, result.err
    assert message in result.err
    assert (place / "O").exists() == (code == 0)
