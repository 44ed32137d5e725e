"""Where the shared data lie, and the result of a command."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHARED = Path(os.environ.get("HYBRIDCLI_SHARED", ROOT.parent / "shared"))


@dataclass(frozen=True)
class Result:
    """Exit code, stdout and stderr of one call of the command line."""

    code: int
    out: str
    err: str


def shared(*parts: str) -> Path:
    """A path below the shared folder; skips the test, saying why, where it is absent."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"shared data not here: {path}")
    return path
