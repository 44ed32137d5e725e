import re
from pathlib import Path

import numpy as np
import pytest

from hybridcli.errors import DataError
from hybridcli.formats.weights import read_weights, write_weights


def test_weights_read_back_exactly(tmp_path: Path) -> None:
    path = str(tmp_path / "w.tsv")
    write_weights(path, ["bm25", "dense"], {"q1": np.array([0.1, 0.9]), "001": [1 / 3, 2 / 3]})
    assert (tmp_path / "w.tsv").read_text().startswith("#qid\tbm25\tdense\nq1\t0.1\t0.9\n")
    table = read_weights(path)
    assert table.weights == {"q1": (0.1, 0.9), "001": (1 / 3, 2 / 3)}
    assert table.matrix(["001", "q1"], ["bm25", "dense"]).tolist() == [[1 / 3, 0.1], [2 / 3, 0.9]]
    assert table.matrix(["q1"], ["dense", "bm25"]).tolist() == [[0.9], [0.1]]
    assert not table.unknown


def test_unknown_queries_and_other_tags(tmp_path: Path) -> None:
    path = str(tmp_path / "w.tsv")
    write_weights(path, ["a", "b"], {"q1": [0.2, 0.8]})
    table = read_weights(path)
    assert table.matrix(["q1", "q2"], ["x", "x"]).T.tolist() == [[0.2, 0.8], [0.5, 0.5]]
    assert table.unknown == {"q2"}
    assert (table.names(["b", "a"]), table.names(["x", "x"]), table.names(["a"])) == (True, False, False)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "is empty"),
        ("q1\t0.1\t0.9\n", 1, "expected a head line #qid"),
        ("#qid\ta\tb\nq1\t0.1\n", 2, "expected 3 columns separated by tabs, found 2"),
        ("#qid\ta\tb\nq1\t0.1\thalf\n", 2, "weight 'half' is not a number"),
        ("#qid\ta\tb\nq1\t0.1\t-1\n", 2, "at least 0, found -1"),
        ("#qid\ta\tb\nq1\t0.1\tnan\n", 2, "at least 0, found nan"),
        ("#qid\ta\tb\n\nq1\t0\t0\n", 3, "the weights of query q1 are all 0"),
        ("#qid\ta\tb\nq1\t1\t0\nq1\t1\t0\n", 3, "query q1 stands twice"),
    ],
)
def test_errors(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    (tmp_path / "w.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        read_weights(str(tmp_path / "w.tsv"))
    assert caught.value.line == line
