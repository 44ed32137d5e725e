"""Vectors saved by other tools: a two-dimensional array of numbers in a ``.npy`` file, a row for each id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import DataError
from hybridcli.formats.files import note_input


def read_vectors(path: str) -> NDArray[Any]:
    """Map a ``.npy`` array of floats, [rows, dimensions], without reading it whole."""
    note_input(path)
    try:
        vectors = np.load(Path(path), mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise DataError("no such file", path=path) from None
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"is not a .npy array of numbers: {error}", path=path) from None
    if not isinstance(vectors, np.ndarray) or vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        found = getattr(vectors, "shape", "several arrays"), str(getattr(vectors, "dtype", ".npz"))
        raise DataError(
            f"a two-dimensional array of numbers is needed, found {found[0]} of {found[1]}", path=path
        )
    return vectors
