"""What compiled.pyx holds, for type checkers."""

import numpy as np
from numpy.typing import NDArray

from hybridcli.records import Codes, Floats, Ints

def scan(
    raw: bytes,
    comments: bool,
    starts: Ints,
    sizes: Ints,
    scores: Floats,
    begins: NDArray[np.uint8],
    ranks: NDArray[np.uint64],
) -> bool: ...
def join(raw: bytes, starts: Ints, sizes: Ints, lines: NDArray[np.uint8]) -> None: ...
def run_lines(
    heads: bytes,
    head_starts: Ints,
    offsets: Ints,
    docs: Codes,
    docnos: bytes,
    docno_starts: Ints,
    scores: Floats,
    single: bool,
    tail: bytes,
) -> bytes: ...
def radix_sort(keys: NDArray[np.uint64], spare: NDArray[np.uint64], low: int, high: int) -> None: ...
