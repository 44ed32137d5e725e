"""Per-query values as trec_eval -q prints them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hybridcli.errors import DataError
from hybridcli.formats.per_query import per_query_line, read_per_query, write_per_query


def test_reads_what_trec_eval_prints(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text(
        "map                   \tq1\t0.0324\nrelstring             \tq1\t'00101'\nmap                   \tall\t0.1\n"
    )
    assert read_per_query(str(path)) == {"map": {"q1": 0.0324}}


def test_values_read_back_exactly(tmp_path: Path) -> None:
    values = np.array([0.5, 1 / 3, 0.0, 1e-7])
    path = str(tmp_path / "v.gz")
    write_per_query(path, ["a", "b", "c", "d"], {"RR": values})
    assert list(read_per_query(path)["RR"].values()) == values.tolist()


@pytest.mark.parametrize(
    ("value", "shown"), [(0.5, "0.5000"), (0.25, "0.2500"), (1 / 3, "0.3333333333333333")]
)
def test_at_least_four_decimals(value: float, shown: str) -> None:
    assert per_query_line("P@5", "q", value) == f"P@5\tq\t{shown}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RR q1\n", ":1: expected measure, qid and value, found 2 columns"),
        ("RR q1 nan\n", ":1: value 'nan' is not a finite number"),
        ("RR q1 x\n", ":1: value 'x' is not a finite number"),
        ("RR q1 1\nRR q1 1\n", ":2: RR of query q1 stands twice"),
        ("", ": no per-query values"),
    ],
)
def test_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "v.txt"
    path.write_text(text)
    with pytest.raises(DataError) as raised:
        read_per_query(str(path))
    assert message in str(raised.value)
