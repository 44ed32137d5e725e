"""Several reports of ``route`` side by side: what each setting reached, and how stable its choices were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hybridcli.adaptive.oracle import Grid, forced_runs

Report = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """One router of one report on its first measure.

    ``fits``: models fitted (folds x repeats); ``choices``: different ones; ``common``: the most frequent one, made by
    ``often`` of the fits. ``unused``: for each run, the fits whose weights leave it out; empty where choices are no
    weights. ``ties``: fits at which several weightings were equally good.
    """

    label: str
    router: str
    measure: str
    n: int
    value: float
    deviation: float | None
    fits: int
    choices: int
    common: str
    often: int
    unused: dict[str, int]
    ties: int


def settings_of(label: str, report: Report) -> list[Setting]:
    """Take the settings out of a report, one a router; KeyError, TypeError or ValueError: it is no such report."""
    measure = report["measures"][0]
    found = []
    for row in report["rows"]:
        if row["measure"] != measure:
            continue
        choices = report["choices"][row["router"]]
        counts: list[tuple[str, int]] = [(str(name), int(count)) for name, count in choices["counts"]]
        common, often = counts[0] if counts else ("", 0)
        found.append(
            Setting(
                label,
                row["router"],
                measure,
                report["n"],
                row["value"],
                row["deviation"],
                sum(count for _, count in counts),
                len(counts),
                common,
                often,
                _unused(report["runs"], counts),
                choices["ties"],
            )
        )
    return found


def weightings(reports: Sequence[Report]) -> dict[str, int]:
    """How many different weightings the reports try on each grid, whichever runs they weight.

    A weighting is what it gives to the runs that have a weight: two panels of runs share those of their common runs.
    """
    tried: dict[str, set[frozenset[tuple[str, str]]]] = {}
    for report in reports:
        runs, grid = report["runs"], str(report["grid"])
        step, _, box = grid.removeprefix("step ").partition(",")
        points = Grid.of(len(runs), step, box=bool(box), forced=forced_runs(report["forced"], runs)).weights
        tried.setdefault(grid, set()).update(
            frozenset((run, f"{weight:.9f}") for run, weight in zip(runs, point, strict=True) if weight > 0)
            for point in points.tolist()
        )
    return {grid: len(found) for grid, found in tried.items()}


def _unused(runs: Sequence[str], counts: Sequence[tuple[str, int]]) -> dict[str, int]:
    try:
        chosen = [([float(part) for part in name.split(",")], count) for name, count in counts]
    except ValueError:
        return {}
    if any(len(weights) != len(runs) for weights, _ in chosen):
        return {}
    return {run: sum(count for weights, count in chosen if weights[at] == 0) for at, run in enumerate(runs)}
