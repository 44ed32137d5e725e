"""The table of ``sweep``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hybridcli.report.tables import Column, Table


def sweep_document(
    settings: Sequence[Mapping[str, Any]],
    weightings: Mapping[str, int],
    reports: Sequence[Mapping[str, Any]],
    version: str,
) -> dict[str, Any]:
    """Everything the table says, as plain data."""
    return {
        "schema": "hybridcli/sweep/1",
        "command": "sweep",
        "version": version,
        "rows": list(settings),
        "weightings": dict(weightings),
        "protocols": sorted({_protocol(report) for report in reports}),
    }


def sweep_tables(document: Mapping[str, Any]) -> tuple[list[Table], list[str]]:
    """One row a setting, one table a measure, and the notes below."""
    tables = []
    rows = document["rows"]
    several = len({row["router"] for row in rows}) > 1
    for measure in dict.fromkeys(row["measure"] for row in rows):
        columns = [
            Column("setting"),
            *([Column("router")] if several else []),
            Column("n", "count"),
            Column(measure, "value"),
            Column("sd", "value"),
            Column("most chosen"),
            Column("fits"),
            Column("others", "count"),
            Column("weight 0"),
        ]
        body = [
            (
                row["label"],
                *([row["router"]] if several else []),
                row["n"],
                row["value"],
                row["deviation"],
                row["common"],
                f"{row['often']}/{row['fits']}",
                max(row["choices"] - 1, 0),
                " ".join(f"{run} {count}" for run, count in row["unused"].items() if count),
            )
            for row in rows
            if row["measure"] == measure
        ]
        tables.append(Table(f"out-of-fold {measure} and what was chosen", columns, body))
    tied, fits = sum(row["ties"] for row in rows), sum(row["fits"] for row in rows)
    return tables, [
        "sd: of the means of the repeats; fits: those that made the most frequent choice; others: different further "
        "choices; weight 0: fits that leave a run out",
        *(f"{grid}: {count:,} different weightings in all" for grid, count in document["weightings"].items()),
        f"ties among equally good weightings: the one nearest to equal weights, then the first in order; {tied:,} of "
        f"{fits:,} fits had one",
        *document["protocols"],
        f"hybridcli {document['version']}",
    ]


def _protocol(report: Mapping[str, Any]) -> str:
    if report.get("leave_one_group_out"):
        return f"each of {report['folds']} groups held out once"
    times = "" if report["repeats"] == 1 else f" x {report['repeats']} repeats"
    return f"{report['folds']} folds{times}, seed {report['seed']}"
