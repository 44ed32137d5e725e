"""``irds:`` ids, on a data set of our own in ir_datasets' place, and (slow) on real ones."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hybridcli.errors import DataError
from hybridcli.formats.datasets import document_rows, qrels_rows
from hybridcli.formats.topics import read_topics
from tests.support import shared

READ = """
import json, sys
from hybridcli.formats.datasets import document_rows, qrels_rows
from hybridcli.formats.topics import read_topics
from hybridcli.formats.documents import read_passages
from hybridcli.errors import HybridcliError
path = sys.argv[1]
try:
    topics = read_topics(path)
    rows = [list(read_passages(path)), [topics.qids, topics.texts], list(qrels_rows(path))]
    print(json.dumps(rows))
except HybridcliError as error:
    print(json.dumps([error.exit_code, str(error)]))
"""


def read(path: str, home: Path, **environment: str) -> list:
    """Read a data set in a process of its own: ir_datasets looks at its environment once."""
    place = {**os.environ, "IR_DATASETS_HOME": str(home), **environment}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", READ, path],
        env=place,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_documents_topics_and_qrels_of_a_data_set(tmp_path: Path) -> None:
    folder = tmp_path / "vaswani"
    folder.mkdir()
    (folder / "docs.txt").write_text("1\nharbour fees\nof 1998\n   /\n2\ntide tables\n   /\n")
    (folder / "queries.txt").write_text("7\nWHICH FEES\n/\n")
    (folder / "qrels.txt").write_text("7\n1 2\n   /\n")
    documents, topics, qrels = read("irds:vaswani", tmp_path)
    assert documents == [["1", "harbour fees\nof 1998\n"], ["2", "tide tables\n"]]
    assert topics == [["7"], ["WHICH FEES"]]
    assert qrels == [["7", "0", "1", 1], ["7", "0", "2", 1]]


def test_no_network_says_what_to_do(tmp_path: Path) -> None:
    nowhere = "http://127.0.0.1:9"
    code, message = read(
        "irds:vaswani",
        tmp_path,
        IR_DATASETS_DL_TRIES="1",
        HTTP_PROXY=nowhere,
        HTTPS_PROXY=nowhere,
        no_proxy="",
    )
    assert code == 1
    assert message.startswith("irds:vaswani: could not be fetched or read (")
    assert f"set IR_DATASETS_HOME (now {tmp_path}) to a writable folder that holds its files" in message


def test_unknown_ids_and_missing_parts() -> None:
    with pytest.raises(DataError, match=r"^irds:nope: ir_datasets knows no data set of this id"):
        read_topics("irds:nope")
    with pytest.raises(
        DataError, match=r"^irds:beir/scifact: this data set has no qrels, only docs and queries"
    ):
        list(qrels_rows("irds:beir/scifact"))
    with pytest.raises(DataError, match="knows no data set"):
        list(document_rows("irds:"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "counts"),
    [
        ("vaswani", (11429, 93, 2083)),
        ("cranfield", (1400, 225, 1837)),
        ("beir/scifact/test", (5183, 300, 339)),
    ],
)
def test_real_data_sets(tmp_path: Path, dataset: str, counts: tuple[int, int, int]) -> None:
    home = tmp_path / "home"
    shutil.copytree(shared("data", "ir_datasets_home"), home, copy_function=shutil.copy)
    for path in (home, *home.rglob("*")):
        path.chmod(0o755)
    documents, topics, qrels = read(f"irds:{dataset}", home)
    assert (len(documents), len(topics[0]), len(qrels)) == counts
