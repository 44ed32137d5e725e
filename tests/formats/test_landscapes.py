"""Stored tables of per-query values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hybridcli.errors import DataError
from hybridcli.formats.landscapes import StoredTable, join_tables, read_table, write_table

TABLE = StoredTable(
    *(["a", "b"], ["RR"], ["q1", "ü"]),
    weights=np.array([[0.5, 0.5], [1.0, 0.0]]),
    values=np.array([[[1.0, 1 / 3], [0.0, 0.1]]]),
    best=np.array([[1, 0], [2, 3]], dtype=np.int32),
)


def test_a_table_reads_back_exactly_and_is_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_table(str(tmp_path / name), TABLE)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    again = read_table(str(tmp_path / "one"))
    assert (again.runs, again.measures, again.queries) == (TABLE.runs, TABLE.measures, TABLE.queries)
    for name in ("weights", "values", "best"):
        assert np.array_equal(getattr(again, name), getattr(TABLE, name))


def test_tables_of_different_queries_are_joined(tmp_path: Path) -> None:
    first, second = str(tmp_path / "a"), str(tmp_path / "b")
    write_table(first, TABLE)
    write_table(second, replace(TABLE, queries=["q3", "q4"]))
    joined = join_tables([first, second])
    assert joined.queries == ["q1", "ü", "q3", "q4"]
    assert joined.values.shape == (1, 2, 4)
    assert joined.best.shape == (2, 4)
    write_table(first + "x", TABLE)
    with pytest.raises(DataError, match="query q1 stands in"):
        join_tables([first, first + "x"])
    write_table(second, replace(TABLE, runs=["a", "c"], queries=["q3", "q4"]))
    with pytest.raises(DataError, match="has other runs, measures or weights than"):
        join_tables([first, second])


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for data in (b"", b"no table", b"PK\x03\x04broken"):
        path.write_bytes(data)
        with pytest.raises(DataError, match="is not a table that oracle --table-out wrote"):
            read_table(str(path))
    np.savez(tmp_path / "y.npz", a=np.ones(2))
    with pytest.raises(DataError, match="is not a table"):
        read_table(str(tmp_path / "y.npz"))
