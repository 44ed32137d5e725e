"""Saved vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hybridcli.errors import DataError
from hybridcli.formats.vectors import read_vectors


def test_arrays_of_numbers(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.array([[1, 2], [3, 4]], dtype=np.float16))
    assert read_vectors(str(tmp_path / "v.npy")).tolist() == [[1, 2], [3, 4]]


def test_what_is_no_array_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "v.npy"
    with pytest.raises(DataError, match=r"v\.npy: no such file"):
        read_vectors(str(path))
    path.write_bytes(b"hello")
    with pytest.raises(DataError, match=r"is not a \.npy array of numbers"):
        read_vectors(str(path))
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match=r"is not a \.npy array of numbers"):
        read_vectors(str(path))
    np.save(path, np.zeros(3))
    with pytest.raises(
        DataError, match=r"two-dimensional array of numbers is needed, found \(3,\) of float64"
    ):
        read_vectors(str(path))
    np.savez(tmp_path / "v.npz", a=np.zeros((2, 2)))
    with pytest.raises(DataError, match="several arrays"):
        read_vectors(str(tmp_path / "v.npz"))
