"""Tables of features by query."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hybridcli.errors import DataError
from hybridcli.formats.features import read_features, write_features


def test_features_read_back_exactly_in_the_wanted_order(tmp_path: Path) -> None:
    path = str(tmp_path / "f.tsv.gz")
    rows = np.array([[1.0, 1 / 3], [-2e-9, 0.0]])
    write_features(path, ["a", "b c"], ["q1", "q 2"], rows)
    names, found = read_features(path, ["q 2", "q1"])
    assert names == ["a", "b c"]
    assert found.tolist() == rows[::-1].tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1\t1\n", ":1: expected a head line #qid<TAB>name…, found 'q1\\t1'"),
        ("#qid\n", ":1: expected a head line"),
        ("#qid\ta\nq1\t1\t2\n", ":2: expected 2 columns separated by tabs, found 3"),
        ("#qid\ta\nq1\tx\n", ":2: 'x' is not a number"),
        ("#qid\ta\nq1\tinf\n", ":2: inf is not a finite number"),
        ("#qid\ta\nq1\t1\nq1\t1\n", ":3: query q1 stands twice"),
        ("#qid\ta\nq2\t1\n", ": has no features for 1 of 1 queries, the first is q1"),
        ("", ": has no features for 1 of 1 queries, the first is q1"),
    ],
)
def test_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "f.tsv"
    path.write_text(text)
    with pytest.raises(DataError) as raised:
        read_features(str(path), ["q1"])
    assert f"{path}{message}" in str(raised.value)
