"""Every normalisation on one small pool, worked out by hand.

run A   a 8, b 6, c 2      (n = 3)
run B   c −1, d −3         (n = 2, negative)
run C   d 5                (n = 1)
pool rows, docno descending: d, c, b, a
"""

import math

import numpy as np
import pytest

from hybridcli.errors import UsageError
from hybridcli.fusion.normalization import NORMALIZATIONS, find_normalization, normalization_rows
from hybridcli.fusion.pool import Pool, align
from hybridcli.records import Run

NAN = math.nan
RUNS = [
    Run.from_dict({"q": {"a": 8.0, "b": 6.0, "c": 2.0}}),
    Run.from_dict({"q": {"c": -1.0, "d": -3.0}}),
    Run.from_dict({"q": {"d": 5.0}}),
]
# A has mean 16/3 and variance (64 + 4 + 100) / 27 = 56/9
DEVIATION = math.sqrt(56 / 9)
EXPECTED = {
    "none": [[NAN, 2, 6, 8], [-3, -1, NAN, NAN], [5, NAN, NAN, NAN]],
    "min-max": [[NAN, 0, 4 / 6, 1], [0, 1, NAN, NAN], [1, NAN, NAN, NAN]],
    "max": [[NAN, 2 / 8, 6 / 8, 1], [0, 1, NAN, NAN], [1, NAN, NAN, NAN]],
    "sum": [[NAN, 0, 0.4, 0.6], [0, 1, NAN, NAN], [1, NAN, NAN, NAN]],
    "zmuv": [
        [NAN, -10 / 3 / DEVIATION, 2 / 3 / DEVIATION, 8 / 3 / DEVIATION],
        [-1, 1, NAN, NAN],
        [0, NAN, NAN, NAN],
    ],
    "rank": [[NAN, 1 / 3, 2 / 3, 1], [0.5, 1, NAN, NAN], [1, NAN, NAN, NAN]],
    # 4 candidates: points 4, 3, 2, 1; A leaves 1 to d; B leaves 2 + 1 to a and b; C leaves 3 + 2 + 1 to three
    "borda": [[0.25, 0.5, 0.75, 1], [0.75, 1, 1.5 / 4, 1.5 / 4], [1, 0.5, 0.5, 0.5]],
}


@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_by_hand(name: str) -> None:
    np.testing.assert_allclose(find_normalization(name).values(align(RUNS)), EXPECTED[name], rtol=1e-15)


def _one(scores: dict[str, float], name: str) -> list[float]:
    pool: Pool = align([Run.from_dict({"q": scores})])
    return find_normalization(name).values(pool)[0].tolist()


@pytest.mark.parametrize(
    ("name", "value"), [("min-max", 1.0), ("max", 1.0), ("sum", 1 / 3), ("zmuv", 0.0), ("none", 0.1)]
)
def test_a_constant_list_divides_by_nothing(name: str, value: float) -> None:
    assert _one({"a": 0.1, "b": 0.1, "c": 0.1}, name) == [value] * 3


@pytest.mark.parametrize("name", ["min-max", "max", "zmuv"])
def test_a_list_of_zeros(name: str) -> None:
    assert _one({"a": 0.0, "b": 0.0}, name) == [0.0 if name == "zmuv" else 1.0] * 2


@pytest.mark.parametrize("name", ["min-max", "max", "sum", "zmuv"])
@pytest.mark.parametrize("scale", [1.0, 1e308, 5e-324])
def test_the_largest_and_smallest_numbers(name: str, scale: float) -> None:
    values = _one({"a": scale, "b": -scale}, name)  # rows: b, a
    assert values[1] > values[0]
    assert np.isfinite(values).all()


def test_each_query_and_run_by_itself() -> None:
    pool = align([Run.from_dict({"1": {"a": 2.0, "b": 1.0}, "2": {"a": 200.0, "b": 100.0}})])
    assert find_normalization("min-max").values(pool)[0].tolist() == [0, 1, 0, 1]


def test_no_rows() -> None:
    pool = align([Run.from_dict({"q": {}}), Run.from_dict({})])
    for name in NORMALIZATIONS:
        assert find_normalization(name).values(pool).shape == (2, 0)


def test_unknown_names_are_told_the_names_there_are() -> None:
    with pytest.raises(UsageError, match="min-max, max, sum, zmuv"):
        find_normalization("minmax")
    assert [row[0] for row in normalization_rows()] == list(NORMALIZATIONS)
