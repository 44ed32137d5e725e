"""Settings of re-rankers that cannot be."""

from __future__ import annotations

import pytest

from hybridcli.adaptive.rerankers import Settings
from hybridcli.errors import UsageError


@pytest.mark.parametrize(
    "settings",
    [{name: value} for name in ("cost", "gamma", "epsilon") for value in (float("nan"), float("inf"), -1.0)],
)
def test_settings_that_are_no_numbers(settings: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="must be numbers above 0"):
        Settings(**settings)  # type: ignore[arg-type]
