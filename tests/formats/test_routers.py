"""Saved routers: what is read is checked before it is used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hybridcli.errors import DataError
from hybridcli.formats.routers import read_router, write_router

ROUTER = {
    "router": "tuned",
    "tags": ["a", "b"],
    "depth": None,
    "features": [],
    "words": {},
    "state": {"weights": [0.25, 0.75]},
}


def test_a_router_and_back(tmp_path: Path) -> None:
    path = str(tmp_path / "router.json")
    write_router(path, ROUTER)
    assert read_router(path) == {**ROUTER, "schema": "hybridcli/router/1"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tags": 5}, "tags is not of its type; save the router again"),
        ({"tags": ["a", 5]}, "tags is not of its type"),
        ({"depth": "x"}, "depth is not of its type"),
        ({"words": []}, "words is not of its type"),
        ({"words": {"tickers": "AB"}}, "words is not of its type"),
        ({"words": {"tickers": [5]}}, "words is not of its type"),
        ({"state": {"weights": [float("nan"), 1]}}, "holds NaN; save the router again"),
        ({"state": {"weights": [float("inf"), 1]}}, "holds Infinity"),
        ({"schema": "other"}, "is not a router saved by this hybridcli"),
    ],
)
def test_what_is_no_router(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "router.json"
    path.write_text(json.dumps({"schema": "hybridcli/router/1", **ROUTER, **change}))
    with pytest.raises(DataError) as caught:
        read_router(str(path))
    assert str(caught.value).startswith(f"{path}: {message}")
