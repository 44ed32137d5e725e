"""index-sparse, index-dense and retrieve on the command line."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hybridcli.formats.runs import read_run
from tests.search.models import make_static_model
from tests.support import Result

Cli = Callable[..., Result]
WINDOWS = [
    ("a:0:0", "Net income per share rose; cash flow fell."),
    ("b:0:0", "The board of directors met. Risk and cash."),
    ("c:0:0", "Cash cash cash."),
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with windows and topics, as the working folder."""
    lines = [json.dumps({"id": docno, "contents": text}) for docno, text in WINDOWS]
    (tmp_path / "windows.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "topics.tsv").write_text("001\tcash flow\n1\tboard\nnone\tzebra\n", encoding="utf-8")
    make_static_model(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_sparse(cli: Cli, files: Path) -> None:
    built = cli("index-sparse", "windows.jsonl", "-o", "i")
    assert (built.code, built.out) == (0, "")
    assert "indexed 3 passages with bm25s: i" in built.err
    found = cli("retrieve", "i", "topics.tsv", "--tag", "bm25")
    assert found.code == 0
    rows = [line.split() for line in found.out.splitlines()]
    assert [(row[0], row[2], row[3], row[5]) for row in rows] == [
        ("001", "a:0:0", "1", "bm25"),
        ("001", "c:0:0", "2", "bm25"),
        ("001", "b:0:0", "3", "bm25"),
        ("1", "b:0:0", "1", "bm25"),
    ]


def test_dense(cli: Cli, files: Path) -> None:
    built = cli("index-dense", "windows.jsonl", "-o", "i", "--model", "model", "--max-length", "3")
    assert built.code == 0
    assert "3 of 3 passages (100.0%) exceed the encoder's 3 tokens; it never sees" in built.err
    assert cli("retrieve", "i", "topics.tsv", "-o", "r.run.gz", "--depth", "2").code == 0
    run = read_run("r.run.gz")
    assert run.tag == "model"
    assert {qid: len(ranking) for qid, ranking in run.to_dict().items()} == {"001": 2, "1": 2, "none": 2}
    # the same from another folder: a model's path is stored whole
    os.chdir("/")
    assert cli("retrieve", files / "i", files / "topics.tsv", "--depth", "2").out.count("\n") == 6


def test_shards_and_saved_vectors(cli: Cli, files: Path) -> None:
    base = ("index-dense", "windows.jsonl", "--model", "model", "--batch-size", "1", "-o")
    assert cli(*base, "whole").code == 0
    whole = cli("retrieve", "whole", "topics.tsv").out
    for shard in ("2/2", "1/2"):
        assert cli(*base, "parts", "--shard", shard).code == 0
    assert cli("retrieve", "parts", "topics.tsv").out == whole
    saved = ("--embeddings", "whole/vectors.npy", "--ids", "whole/docnos.txt", "-o", "saved")
    assert cli("index-dense", *saved).code == 0
    np.save("q.npy", np.load("whole/vectors.npy")[[2, 1, 0]])
    found = cli("retrieve", "saved", "topics.tsv", "--embeddings", "q.npy", "--depth", "1").out
    assert [line.split()[2] for line in found.splitlines()] == ["c:0:0", "b:0:0", "a:0:0"]
    assert cli("index-dense", "windows.jsonl", "--embeddings", "whole/vectors.npy", "-o", "saved").code == 0


@pytest.mark.parametrize("odd", [np.nan, np.inf, 1e300])
def test_a_vector_of_no_numbers_is_refused(cli: Cli, files: Path, odd: float) -> None:
    rows = np.eye(3)
    np.save("d.npy", rows)
    saved = ("--embeddings", "d.npy", "-o", "saved")
    assert cli("index-dense", "windows.jsonl", *saved).code == 0
    rows[1, 2] = odd
    np.save("q.npy", rows)
    Path("O").write_text("kept")
    found = cli("retrieve", "saved", "topics.tsv", "--embeddings", "q.npy", "-o", "O")
    assert found.code == 1
    assert "the vector of 1 holds NaN, infinity or a number too large for 32 bits" in found.err
    assert Path("O").read_text() == "kept"
    np.save("d.npy", rows)
    built = cli("index-dense", "windows.jsonl", *saved)
    assert built.code == 1
    assert "the vector of b:0:0 holds NaN, infinity or a number too large for 32 bits" in built.err


def test_stdin_and_an_ann_index(cli: Cli, files: Path) -> None:
    windows = (files / "windows.jsonl").read_bytes()
    built = cli("index-dense", "-", "-o", "i", "--model", "model", "--ann", "hnsw", stdin=windows)
    assert built.code == 0
    assert (
        cli("retrieve", "i", "topics.tsv", "--ann-params", "ef_search=8", "--measure-recall", "9").code == 0
    )


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("index-sparse", "gone.jsonl", "-o", "i"), 1, "gone.jsonl: no such file"),
        (("index-sparse", "windows.jsonl", "-o", "i", "--b", "2"), 2, "BM25 needs k1 of 0 or more"),
        (("index-sparse", "windows.jsonl", "-o", "i", "--pattern", "["), 2, "is not a regular expression"),
        (("index-sparse", "windows.jsonl", "-o", "model"), 2, "model: is a folder that holds no index"),
        (("index-sparse", "windows.jsonl"), 2, "-o"),
        (("index-dense", "-o", "i"), 2, "give WINDOWS to encode"),
        (("index-dense", "windows.jsonl", "-o", "i", "--shard", "3/2"), 2, "--shard '3/2': expected I/N"),
        (("index-dense", "windows.jsonl", "-o", "i", "--ann", "tree"), 2, "--ann tree is not one of"),
        (("index-dense", "windows.jsonl", "-o", "i", "--model", "./gone"), 1, "gone: no such model folder"),
        (("index-dense", "-o", "i", "--embeddings", "x.npy"), 2, "either WINDOWS or --ids"),
        (("retrieve", "gone", "topics.tsv"), 1, "gone: no such index; build one with"),
        (("retrieve", "model", "topics.tsv"), 1, "model: is not an index (no meta.json)"),
        (("retrieve", "gone", "windows.txt"), 1, "windows.txt: no such file"),
        (("retrieve", "gone", "topics.tsv", "--tag", "a b"), 2, "--tag 'a b' must be one word"),
        (("retrieve", "gone", "topics.tsv", "--ids", "x"), 2, "--ids belongs to --embeddings"),
        (("retrieve", "gone", "topics.tsv", "--depth", "0"), 2, "--depth"),
    ],
)
def test_wrong_command_lines(cli: Cli, files: Path, args: tuple[str, ...], code: int, message: str) -> None:
    before = sorted(path.name for path in files.iterdir())
    found = cli(*args)
    assert (found.code, found.out) == (code, "")
    assert message in " ".join(found.err.split())
    assert sorted(path.name for path in files.iterdir()) == before


def test_a_broken_line_or_docno_leaves_nothing(cli: Cli, files: Path) -> None:
    lines = (files / "windows.jsonl").read_text().splitlines()
    (files / "twice.jsonl").write_text("\n".join([*lines, lines[0]]))
    (files / "cut.jsonl").write_text("\n".join(lines)[:-9])
    before = sorted(path.name for path in files.iterdir())
    for command in ("index-sparse", "index-dense"):
        more = ("--model", "model") if command == "index-dense" else ()
        for name, message in (("twice", "a:0:0"), ("cut", "cut.jsonl:3: ")):
            found = cli(command, f"{name}.jsonl", "-o", "i", *more)
            assert found.code == 1, found
            assert message in found.err
    assert sorted(path.name for path in files.iterdir()) == before


def test_an_altered_index(cli: Cli, files: Path) -> None:
    assert cli("index-sparse", "windows.jsonl", "-o", "i").code == 0
    meta = json.loads((files / "i" / "meta.json").read_text())
    (files / "i" / "meta.json").write_text(json.dumps({**meta, "engine": "abacus"}))
    found = cli("retrieve", "i", "topics.tsv")
    assert (found.code, found.out) == (1, "")
    assert (
        "i: was built by the engine 'abacus', this hybridcli knows: bm25s, lucene, dense, milvus" in found.err
    )


def test_sparse_retrieval_loads_nothing_dense(files: Path) -> None:
    code = (
        "import sys; from hybridcli.cli import main; main(['index-sparse', 'windows.jsonl', '-o', 'i']);"
        "main(['retrieve', 'i', 'topics.tsv']); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "faiss", "sentence_transformers", "transformers", "pandas"} & set(
        done.stderr.split()
    )


def start(*args: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "hybridcli", *args], stderr=subprocess.PIPE)


@pytest.mark.parametrize(
    ("model", "rows", "batch"), [("model", 3000, 4), pytest.param("minilm", 300, 8, marks=pytest.mark.slow)]
)
def test_killed_and_started_again(cli: Cli, files: Path, model: str, rows: int, batch: int) -> None:
    """kill -9 in the middle; the same command then gives the bytes of an uninterrupted run, no batch made twice."""
    words = ["net", "income", "cash", "flow", "risk"]
    random = np.random.default_rng(0)
    with open(files / "many.jsonl", "w") as stream:
        for row in range(rows):
            text = " ".join(random.choice(words, 5 + row % 40))
            stream.write(json.dumps({"id": f"d{row}", "contents": text}) + "\n")
    args = ("index-dense", "many.jsonl", "--model", model, "--batch-size", str(batch), "-o")
    killed = start(*args, "i")
    journal = files / ".i.part" / "journal.jsonl"
    deadline = time.monotonic() + 60
    batches = -(-rows // batch)
    while time.monotonic() < deadline and not (
        journal.exists() and journal.read_bytes().count(b"\n") > batches // 8
    ):
        time.sleep(0.002)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert not (files / "i").exists()
    done = journal.read_bytes().count(b"\n")
    assert 0 < done < batches
    again = start(*args, "i")
    err = again.communicate()[1].decode()
    assert again.returncode == 0, err
    kept = re.search(r"([0-9,]+) batches of an interrupted run", err)
    assert kept is not None
    assert int(kept[1].replace(",", "")) == done
    assert cli(*args, "whole").code == 0
    for file in (files / "whole").iterdir():
        assert file.read_bytes() == (files / "i" / file.name).read_bytes()
    assert not (files / ".i.part").exists()


@pytest.mark.parametrize("option", ["--max-length", "--dim"])
@pytest.mark.parametrize("value", ["0", "-1"])
def test_a_length_or_dimension_below_one_is_refused(
    cli: Cli, tmp_path: Path, option: str, value: str
) -> None:
    (tmp_path / "w.jsonl").write_text('{"id": "a", "text": "net sales"}\n')
    result = cli(
        "index-dense", tmp_path / "w.jsonl", "-o", tmp_path / "i", "--model", "wordllama", option, value
    )
    assert result.code == 2
    assert option in result.err
    assert not (tmp_path / "i").exists()
