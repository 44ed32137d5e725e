"""Sweeps: which settings the sensitivity table shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from hybridcli.adaptive.rerankers import Reranker, Settings
from hybridcli.errors import UsageError

WHOLE = ("k", "models", "negatives")
REAL = ("overlap", "share", "cost", "epsilon", "gamma")


def sweep_settings(sweeps: Sequence[str], base: Settings, entry: Reranker) -> list[Settings]:
    """Read ``k=10,50 models=5,35`` (crossed); several sweeps are laid end to end, each setting once."""
    found: dict[Settings, None] = {}
    for sweep in sweeps:
        axes = [_axis(part, sweep, entry) for part in sweep.split()]
        for values in product(*(values for _, values in axes)):
            named = dict(zip([name for name, _ in axes], values, strict=True))
            found[replace(base, **named)] = None  # type: ignore[arg-type]
    return list(found)


def _axis(text: str, sweep: str, entry: Reranker) -> tuple[str, list[float] | list[int] | list[str]]:
    name, sign, listed = text.partition("=")
    knobs = [knob for knob in entry.knobs if knob in (*WHOLE, *REAL, "vote")]
    if not sign or name not in knobs:
        raise UsageError(f"--sweep {sweep!r}: write NAME=VALUE,VALUE…, NAME one of {', '.join(knobs)}")
    values = listed.split(",")
    try:
        if name in WHOLE:
            return name, [int(value) for value in values]
        return name, [float(value) for value in values] if name in REAL else values
    except ValueError:
        raise UsageError(f"--sweep {sweep!r}: {listed!r} are not numbers for {name}") from None
