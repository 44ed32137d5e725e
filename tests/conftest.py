"""What all tests share: running the command line in this process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest

from hybridcli.cli import main
from tests.support import Result


@pytest.fixture
def cli(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run ``hybridcli ARGS`` in this process; give exit code, stdout and stderr."""

    def call(*args: object, stdin: bytes = b"") -> Result:
        capfdbinary.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([str(arg) for arg in args])
        sys.stdout.flush()
        captured = capfdbinary.readouterr()
        return Result(code, captured.out.decode("utf-8"), captured.err.decode("utf-8"))

    return call
