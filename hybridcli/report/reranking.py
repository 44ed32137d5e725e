"""What ``rerank`` found, as tables: all runs under one protocol, differences, and the sensitivity to settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hybridcli.report.tables import Cell, Column, Table, json_text, render

Document = Mapping[str, Any]


def render_document(document: Document, form: str) -> str:
    """Write the document as JSON or in one of the table formats."""
    if form == "json":
        return json_text(document)
    return render(
        form, [*_means(document), *_differences(document), *_sensitivity(document)], _notes(document)
    )


def _range(row: Mapping[str, Any]) -> tuple[float, float] | None:
    return None if row["low"] is None else (row["low"], row["high"])


def _means(document: Document) -> list[Table]:
    """Means of all runs, then the same with intervals."""
    measures, n = document["measures"], document["n"]
    labels = list(dict.fromkeys(row["label"] for row in document["rows"]))
    row_of = {(row["label"], row["measure"]): row for row in document["rows"]}
    values = [[label, *(row_of[label, m]["mean"] for m in measures)] for label in labels]
    ranges = [[label, *(_range(row_of[label, m]) for m in measures)] for label in labels]
    return [
        Table(
            f"Means over n = {n:,} queries; the candidates are the first {document['settings']['k']} of "
            f"{document['run']}",
            [Column("run"), *(Column(m, "value") for m in measures)],
            values,
        ),
        Table(
            "95% intervals of these means", [Column("run"), *(Column(m, "range") for m in measures)], ranges
        ),
    ]


def _differences(document: Document) -> list[Table]:
    tables = []
    for against in dict.fromkeys(row["against"] for row in document["comparisons"]):
        rows: list[Sequence[Cell]] = [
            (row["measure"], row["difference"], _range(row), row["p"], row["verdict"])
            for row in document["comparisons"]
            if row["against"] == against
        ]
        columns = [
            Column("measure"),
            Column("diff", "signed"),
            Column("95% interval", "interval"),
            Column("p adj", "p"),
            Column("verdict"),
        ]
        tables.append(Table(f"{document['label']} - {against}", columns, rows))
    return tables


def _sensitivity(document: Document) -> list[Table]:
    rows = document["sensitivity"]
    if not rows:
        return []
    tables = []
    changed = [
        measure
        for measure in document["measures"]
        if any(row["difference"] for row in rows if row["measure"] == measure)
    ]
    for measure in changed or document["measures"][:1]:
        body: list[Sequence[Cell]] = [
            (
                _changes(row["settings"], document["settings"]),
                row["found"],
                row["bound"],
                row["mean"],
                row["difference"],
                _range(row),
            )
            for row in rows
            if row["measure"] == measure
        ]
        columns = [
            Column("setting"),
            Column("found in k", "value"),
            Column("oracle", "value"),
            Column("re-ranked", "value"),
            Column("diff", "signed"),
            Column("95% interval", "interval"),
        ]
        tables.append(
            Table(f"Sensitivity, {measure}; diff: to the candidates in their own order", columns, body)
        )
    return tables


def _changes(settings: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """The settings of a row that are not those of the main tables."""
    changed = [name for name in given if settings[name] != given[name]]
    return " ".join(f"{name}={_setting(name, settings[name])}" for name in changed) or "main setting"


def _setting(name: str, value: Any) -> str:
    if value is None:
        return {"share": "none", "negatives": "all", "gamma": "scale"}[name]
    return f"{value:g}" if isinstance(value, float) else str(value)


def _notes(document: Document) -> list[str]:
    settings = document["settings"]
    found = document["found"]
    notes = [
        f"candidate oracle: {found['queries']:,} of {document['n']:,} queries ({found['share']:.4f}) have a relevant "
        f"document among their first {settings['k']}; its row is the best order of these, which no re-ranker exceeds",
        f"{document['label']}: "
        + ", ".join(f"{name} {_setting(name, value)}" for name, value in settings.items()),
    ]
    if "vote" in settings:
        notes.append(f"vote rule: {document['vote']}; ties: docno descending, as trec_eval")
    notes += [
        document["protocol"],
        f"intervals: percentile bootstrap over {document['units']}, {document['replicates']:,} replicates, seed "
        f"{document['seed']}; p adj: the larger of bootstrap and permutation, Holm over the runs compared",
        *document["notes"],
        f"hybridcli {document['version']}",
    ]
    return notes
