"""Sections of ``compare`` that answer "does it depend on …": slices, sensitivity, agreement between runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hybridcli.evaluation.agreement import Agreement
from hybridcli.evaluation.averages import Sliced
from hybridcli.evaluation.comparisons import Comparison
from hybridcli.evaluation.sensitivity import Contrast, Share
from hybridcli.report.comparison import Section, decisive_p, interval_cell
from hybridcli.report.tables import Cell, Column, Table


def slices_section(all_sliced: Sequence[Sliced]) -> Section:
    """Means of each slice, macro and micro; then each slice's differences with intervals."""
    tables, rows = [], []
    for sliced in all_sliced:
        for column, measure in enumerate(sliced.measures):
            tables.append(_means_table(sliced, column))
            if sliced.slices and sliced.slices[0].comparisons:
                tables.append(_differences_table(sliced, measure))
        for part in sliced.slices:
            rows += _slice_rows(sliced, part.name, part.n, part.means, part.comparisons)
        rows += _slice_rows(sliced, "macro", None, sliced.macro, ())
        rows += _slice_rows(sliced, "micro", sum(part.n for part in sliced.slices), sliced.micro, ())
    return Section("slices", tables, rows)


def _means_table(sliced: Sliced, column: int) -> Table:
    body: list[list[Cell]] = [[part.name, part.n, *part.means[:, column].tolist()] for part in sliced.slices]
    body.append(["macro", None, *sliced.macro[:, column].tolist()])
    body.append(["micro", sum(part.n for part in sliced.slices), *sliced.micro[:, column].tolist()])
    columns = [
        Column(sliced.name),
        Column("n", "count"),
        *(Column(label, "value") for label in sliced.labels),
    ]
    return Table(
        f"{sliced.measures[column]} by {sliced.name} (macro: mean of slices; micro: mean of queries)",
        columns,
        body,
    )


def _differences_table(sliced: Sliced, measure: str) -> Table:
    body: list[list[Cell]] = []
    for part in sliced.slices:
        chosen = [c for c in part.comparisons if c.measure == measure]
        for name, c in zip(_pairs(chosen), chosen, strict=True):
            body.append([part.name, name, c.n, c.difference, interval_cell(c)])
    columns = [
        Column(sliced.name),
        Column("difference"),
        Column("n", "count"),
        Column("diff", "signed"),
        Column("interval", "interval"),
    ]
    return Table(f"{measure} by {sliced.name}: differences, intervals without correction", columns, body)


def _pairs(chosen: Sequence[Comparison]) -> list[str]:
    return [f"{c.pair.left} - {c.pair.right}" for c in chosen]


def _slice_rows(
    sliced: Sliced, name: str, n: int | None, means: Any, comparisons: Sequence[Comparison]
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {
            "slicing": sliced.name,
            "slice": name,
            "n": n,
            "label": label,
            "measure": measure,
            "mean": float(means[at, column]),
        }
        for at, label in enumerate(sliced.labels)
        for column, measure in enumerate(sliced.measures)
    ]
    for c in comparisons:
        rows.append(
            {
                "slicing": sliced.name,
                "slice": name,
                "n": c.n,
                "label": c.pair.left,
                "against": c.pair.right,
                "measure": c.measure,
                "difference": c.difference,
                "low": c.low,
                "high": c.high,
            }
        )
    return rows


def sensitivity_section(scenarios: Sequence[tuple[str, Sequence[Comparison]]]) -> Section:
    """Every comparison under each assumption, side by side."""
    tables, rows = [], []
    columns = [
        Column("assumption"),
        Column("n", "count"),
        Column("diff", "signed"),
        Column("interval", "interval"),
        Column("p adj", "p"),
        Column("verdict"),
    ]
    first = scenarios[0][1] if scenarios else ()
    for at, (start, pair) in enumerate(zip(first, _pairs(first), strict=True)):
        body: list[list[Cell]] = []
        for name, found in scenarios:
            c = found[at]
            body.append([name, c.n, c.difference, interval_cell(c), decisive_p(c), c.verdict])
            rows.append(
                {
                    "assumption": name,
                    "label": c.pair.left,
                    "against": c.pair.right,
                    "measure": c.measure,
                    "n": c.n,
                    "difference": c.difference,
                    "low": c.low,
                    "high": c.high,
                    "p": c.p,
                    "adjusted": c.adjusted,
                    "verdict": c.verdict,
                }
            )
        tables.append(Table(f"Sensitivity, {start.measure}: {pair}", columns, body))
    return Section("sensitivity", tables, rows)


def excluded_section(found: Sequence[tuple[str, Sequence[Share]]], features: Sequence[Contrast]) -> Section:
    """Who the excluded queries are: categories and surface features against the resolved ones."""
    tables, rows = [], []
    for name, shares in found:
        totals = [sum(s.resolved for s in shares), sum(s.unresolved for s in shares)]
        body: list[list[Cell]] = []
        for s in shares:
            parts = [s.resolved / max(totals[0], 1), s.unresolved / max(totals[1], 1)]
            body.append([s.value, s.resolved, parts[0], s.unresolved, parts[1]])
            rows.append({"kind": name, **asdict(s)})
        columns = [
            Column(name),
            Column("resolved", "count"),
            Column("share", "value"),
            Column("excluded", "count"),
            Column("share", "value"),
        ]
        tables.append(Table(f"Excluded queries by {name}", columns, body))
    if features:
        columns = [
            Column("feature"),
            Column("resolved", "value"),
            Column("excluded", "value"),
            Column("effect", "effect"),
        ]
        tables.append(
            Table(
                "Surface features, mean of resolved and excluded queries (effect: difference / pooled sd)",
                columns,
                [[f.feature, f.resolved, f.unresolved, f.effect] for f in features],
            )
        )
        rows += [{"kind": "feature", **asdict(f)} for f in features]
    return Section("excluded", tables, rows)


def agreement_section(found: Sequence[Agreement], depth: int) -> Section:
    """One row a pair of runs."""
    columns = [
        Column("runs"),
        Column("n", "count"),
        Column("overlap", "value"),
        Column("Jaccard", "value"),
        Column("τ", "signed"),
        Column("RBO", "value"),
        Column("rel", "count"),
        Column("only 1", "value"),
        Column("only 2", "value"),
    ]
    body: list[list[Cell]] = [
        [
            f"{a.left}, {a.right}",
            a.n,
            a.overlap,
            a.jaccard,
            a.kendall,
            a.rbo,
            a.relevant,
            a.left_only,
            a.right_only,
        ]
        for a in found
    ]
    title = (
        f"Agreement in the top {depth}, means over the queries both answer: overlap, Jaccard, Kendall's τ on the "
        "union, RBO (p = 0.9); rel: relevant documents that either finds, and the shares only one finds"
    )
    return Section("agreement", [Table(title, columns, body)], [asdict(a) for a in found])
