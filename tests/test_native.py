"""The compiled loops, and what stands in for each where no compiler was: the same result, down to the last byte."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridcli import native
from hybridcli.formats.run_columns import run_columns
from hybridcli.formats.runs import format_run
from hybridcli.fusion.order import order_pool
from hybridcli.names import Names
from hybridcli.records import Run, offsets_of
from hybridcli.sorting import distinct
from tests.support import Result

T = TypeVar("T")

needs_loops = pytest.mark.skipif(native.loops is None, reason="installed without a C++ compiler")


@contextmanager
def without_loops() -> Iterator[None]:
    loops = native.loops
    native.loops = None  # type: ignore[assignment]
    try:
        yield
    finally:
        native.loops = loops


def both(call: Callable[[], T]) -> tuple[T, T]:
    """What a call gives with the loops, and without."""
    assert native.loops is not None
    fast = call()
    with without_loops():
        return fast, call()


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler here")
def test_the_loops_were_compiled() -> None:
    assert native.loops is not None, "pip install -e . again: compiled.pyx did not become a module"


# ---------------------------------------------------------------- lines to columns

LINE = st.tuples(
    st.sampled_from([b"q1", b"q2", b"q10", b"#q", "é".encode()]),
    st.sampled_from([b"Q0", b"0", b"Q"]),
    st.text(st.characters(min_codepoint=33, exclude_categories=("Cs",)), min_size=1, max_size=12).map(
        str.encode
    ),
    st.sampled_from([b"1", b"2", b"10", b"-1", b"x", b"123456789"]),
    st.one_of(
        st.floats().map(lambda value: repr(value).encode()),
        st.floats(width=32).map(lambda value: str(np.float32(value)).encode()),
        st.sampled_from(
            [b"1.", b".5", b"+1", b"1e5", b"1E+05", b"1e400", b"1e-400", b"0x1p3", b"nan", b"-inf"]
        ),
        st.sampled_from(
            [b"9007199254740993", b"-0", b"1,5", b"1.5f", b"", b"123456789012345678901234567890.5"]
        ),
    ),
    st.sampled_from([b"t", b"a tag", b"t\t"]),
)
TEXT = st.lists(LINE, max_size=6).map(lambda lines: b"".join(b" ".join(line) + b"\n" for line in lines))
SCRAPS = st.lists(
    st.sampled_from([b"q", b" ", b"\n", b"1", b"#", b"\t", b"\0", b"q Q0 d 1 1 t\n"]), max_size=30
)


@needs_loops
@settings(max_examples=400, deadline=None)
@given(raw=TEXT | SCRAPS.map(b"".join), comments=st.booleans())
def test_columns_are_the_same(raw: bytes, comments: bool) -> None:
    fast, slow = both(lambda: run_columns(raw, comments=comments))
    if fast is None or slow is None:
        assert fast is slow
        return
    for name in ("starts", "sizes", "scores", "begins", "ranks"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name), strict=True)
    assert fast.queries() == slow.queries()


@needs_loops
def test_a_line_that_is_cut_short_is_refused_within_its_bytes() -> None:
    line = b"q Q0 d 1 1.5 t\n"
    for end in range(1, len(line)):
        fast, slow = both(lambda end=end: run_columns(line + line[:end]))
        assert fast is slow is None


@needs_loops
@settings(deadline=None)
@given(pieces=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=20))
def test_names_are_cut_the_same(pieces: list[tuple[int, int]]) -> None:
    raw = bytes(range(33, 33 + 60))
    starts, sizes = np.array(pieces, dtype=np.int64).reshape(-1, 2).T.copy()
    fast, slow = both(lambda: Names.cut(raw, starts, sizes))
    assert fast.text == slow.text
    assert fast.to_list() == list(fast) == [raw[start : start + size].decode() for start, size in pieces]
    assert fast.series.to_list() == fast.to_list()


# ---------------------------------------------------------------- sorting

KEYS = st.one_of(
    st.integers(0, 2**64 - 1),
    st.integers(0, 300),
    st.text("0123456789", min_size=1, max_size=8).map(
        lambda digits: int.from_bytes(digits.encode().ljust(8, b"\0"), "big")
    ),
)


@settings(max_examples=200, deadline=None)
@given(rows=st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[KEYS] * width), min_size=1)))
def test_distinct_keys_are_numpys(rows: list[tuple[int, ...]]) -> None:
    keys = [np.array(column, dtype=np.uint64) for column in zip(*rows, strict=True)]
    expected = sorted(set(rows))
    for chosen, place in both(lambda: distinct(keys)) if native.loops is not None else [distinct(keys)]:
        assert [rows[row] for row in chosen] == expected
        assert [expected[at] for at in place] == rows


def test_many_rows_are_sorted_by_all_their_bits() -> None:
    """More than one pass of the radix sort, with many rows in each of its pockets."""
    rng = np.random.default_rng(0)
    for bits in (1, 11, 12, 23, 40, 64):
        key = rng.integers(0, 2**bits, 50_000, dtype=np.uint64)
        ordered, place = np.unique(key, return_inverse=True)
        chosen, own = distinct([key])
        np.testing.assert_array_equal(key[chosen], ordered)
        np.testing.assert_array_equal(own, place)


@needs_loops
@settings(deadline=None)
@given(
    lists=st.lists(
        st.lists(st.sampled_from([1.0, 2.0, -1.0, 0.0, math.nan, 1e-30, 3e38]), max_size=8), max_size=5
    ),
    k=st.none() | st.integers(1, 4),
)
def test_lists_are_ranked_the_same(lists: list[list[float]], k: int | None) -> None:
    offsets = offsets_of(np.array([len(scores) for scores in lists], dtype=np.int64))
    scores = np.array([score for one in lists for score in one], dtype=np.float32)
    fast, slow = both(lambda: order_pool(offsets, scores, k))
    for left, right in zip(fast, slow, strict=True):
        np.testing.assert_array_equal(left, right)


# ---------------------------------------------------------------- columns to lines

VALUES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.tuples(st.integers(-(10**6), 10**6), st.integers(-20, 20)).map(lambda pair: pair[0] * 10.0 ** pair[1]),
)


@needs_loops
@settings(max_examples=300, deadline=None)
@given(scores=st.lists(VALUES, min_size=1, max_size=12), double=st.booleans())
def test_lines_are_the_same_bytes(scores: list[float], double: bool) -> None:
    run = Run.from_dict({"q": {f"d{i}": score for i, score in enumerate(scores)}, "é": {"名": 1.0}}, "my-tag")
    with np.errstate(over="ignore"):
        fast, slow = both(lambda: format_run(run, double=double))
    assert fast == slow
    read = np.array([float(line.split()[4]) for line in fast.decode().splitlines()])
    kind = np.float64 if double else np.float32
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(read.astype(kind), run.scores.astype(kind))


@needs_loops
def test_every_power_of_ten_and_every_length_of_digits_is_laid_out_alike() -> None:
    values = [
        float(f"{sign}{digits}e{power}")
        for sign in "+-"
        for digits in (1, 12, 1234567)
        for power in range(-50, 31)
    ]
    for dtype, double in ((np.float32, False), (np.float64, True)):
        run = Run(
            "t",
            ["q"],
            np.array([0, len(values)]),
            np.zeros(len(values), np.int32),
            np.array(values),
            Names.of(["d"]),
        )
        lines = format_run(run, double=double).decode().splitlines()
        column = pl.DataFrame({"score": np.array(values, dtype=dtype)}).write_csv(include_header=False)
        assert [line.split()[4] for line in lines] == column.split()


@needs_loops
@pytest.mark.parametrize("different", [1, 2, 700, 1024, 5000])
@pytest.mark.parametrize("double", [False, True])
def test_numbers_that_come_again_are_written_alike(different: int, double: bool) -> None:
    """The digits of some numbers are kept: fewer than there are, and 0 and -0 are two."""
    rng = np.random.default_rng(different)
    values = np.append(rng.normal(size=different) * 10.0 ** rng.integers(-30, 30, different), [0.0, -0.0])
    scores = rng.choice(values, 20_000)
    offsets = np.array([0, 0, 12_345, 20_000])
    run = Run("t", ["a", "b", "c"], offsets, np.zeros(len(scores), np.int32), scores, Names.of(["d"]))
    fast, slow = both(lambda: format_run(run, double=double))
    assert fast == slow
    empty = Run("t", [], np.array([0]), np.zeros(0, np.int32), np.zeros(0), Names.of([]))
    assert format_run(empty, double=double) == b""


# ---------------------------------------------------------------- the whole


def test_fuse_writes_the_same_file(cli: Callable[..., Result], tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for name in "ab":
        lines = [
            f"q{q} Q0 {'D' * (d % 12)}{d} {r} {score:.6f} {name}\n"
            for q in range(20)
            for r, (d, score) in enumerate(
                zip(rng.choice(200, 50, replace=False), -np.sort(-rng.random(50)), strict=True), start=1
            )
        ]
        (tmp_path / name).write_text("".join(lines))
    for method in ("rrf", "combsum"):
        arguments = ("fuse", tmp_path / "a", tmp_path / "b", "--method", method, "-o")
        assert cli(*arguments, tmp_path / "with").code == 0
        with without_loops():
            assert cli(*arguments, tmp_path / "without").code == 0
        assert (tmp_path / "with").read_bytes() == (tmp_path / "without").read_bytes()
