"""The section of ``compare --ranking``: systems down, measures across, and the winner rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from hybridcli.evaluation.cells import Cells, Part
from hybridcli.evaluation.comparisons import Comparison
from hybridcli.report.comparison import MARKS, Section, decisive_p, interval_cell
from hybridcli.report.tables import Cell, Column, Marked, Table

RANKS_ONLY = "†"


def cells_section(cells: Cells, ranks_only: Collection[str]) -> Section:
    """The ranking first, then the cells of each slice; ``ranks_only``: systems that are marked as rank methods."""
    shown = {label: f"{label} {RANKS_ONLY}" if label in ranks_only else label for label in cells.labels}
    tables = [_ranking_table(cells, shown)]
    for part in cells.parts:
        tables += _part_tables(cells, part, shown)
    return Section("cells", tables, [*_ranking_rows(cells, ranks_only), *_cell_rows(cells)])


def cell_notes(cells: Cells, ranks_only: Collection[str]) -> list[str]:
    """How the winner is found, and what the reader must know of it."""
    ranking = cells.ranking
    winner, near = cells.labels[ranking.order[0]], _near_winner(cells)
    notes = [
        f"winner rule: the lowest mean rank over {len(cells.names)} cells (measure x slice of documents): {winner}; "
        f"{near} other systems are within Nemenyi's critical difference of it ({ranking.critical:.2f} ranks)"
    ]
    if ranking.chi2 is not None and ranking.p is not None:
        freedom = cells.systems - 1
        text = f"Friedman chi2({freedom}) = {ranking.chi2:.2f}, p {_p(ranking.p)}"
        if ranking.f is not None and ranking.p_f is not None:
            below = freedom * (len(cells.names) - 1)
            text += f"; Iman-Davenport F({freedom}, {below}) = {ranking.f:.2f}, p {_p(ranking.p_f)}"
        notes.append(
            text
            + "; both, and the critical difference, take cells as independent, which measures and slices of the "
            "same queries are not: read them as the least doubt there is"
        )
    if cells.repeats:
        listed = ", ".join(f"{name} = {of}" for name, of in cells.repeats.items())
        notes.append(f"cells that repeat another one have no second vote: {listed}")
    if cells.folds is not None:
        notes.append(f"sd: of the means of {cells.folds} folds of the queries, n - 1")
    if ranks_only:
        notes.append(
            f"{RANKS_ONLY} reads ranks only: its cells are the same under every normalisation that keeps the order"
        )
    if cells.alike:
        groups = "; ".join(" = ".join(group) for group in cells.alike)
        notes.append(f"the same value on every query of every cell, ranked as one system: {groups}")
    return notes


def _near_winner(cells: Cells) -> int:
    """Number of other systems within the critical difference of the winner; those that are alike are one."""
    means, winner = cells.ranking.means, cells.ranking.order[0]
    limit = means[winner] + cells.ranking.critical
    near = {label for label, mean in zip(cells.labels, means, strict=True) if mean < limit}
    near.add(cells.labels[winner])
    return len(near) - 1 - sum(max(len(near.intersection(group)) - 1, 0) for group in cells.alike)


def _p(value: float) -> str:
    return "< 0.001" if value < 0.0005 else f"= {value:.3f}"


def _against(cells: Cells, label: str) -> list[Comparison]:
    """The system's comparisons with the first pair's right-hand system, in every cell that has a vote."""
    named = set(cells.names)
    found = [
        (part, c) for part in cells.parts for c in part.comparisons if f"{c.measure} {part.name}" in named
    ]
    base = found[0][1].pair.right if found else None
    return [c for _, c in found if c.pair.left == label and c.pair.right == base]


def _ranking_table(cells: Cells, shown: dict[str, str]) -> Table:
    first = cells.parts[0]
    base = first.comparisons[0].pair.right if first.comparisons else None
    columns = [Column("system"), Column("rank", "value"), Column("from-to")]
    title = (
        f"Mean ranks of {cells.systems} different systems over {len(cells.names)} cells, span of the ranks"
    )
    if base is not None:
        title += (
            f"; compared to {base}: cells better/undecided/worse, and the difference on {cells.measures[0]}, "
            f"{first.name}"
        )
        columns += [
            Column("b/u/w"),
            Column("diff", "signed"),
            Column("interval", "interval"),
            Column("p adj", "p"),
        ]
    rows: list[list[Cell | Marked]] = []
    for at in cells.ranking.order:
        label, ranks = cells.labels[at], cells.ranking.ranks[at]
        span = f"{ranks.min():g}-{ranks.max():g}"
        row: list[Cell | Marked] = [shown[label], float(ranks.mean()), span]
        if base is not None:
            against = _against(cells, label)
            verdicts = Counter(c.verdict for c in against)
            even = verdicts["undecided"] + verdicts["equivalent"]
            top = next((c for c in first.comparisons if c.pair.left == label and c.pair.right == base), None)
            row.append(f"{verdicts['better']}/{even}/{verdicts['worse']}" if against else None)
            row += [None] * 3 if top is None else [top.difference, interval_cell(top), decisive_p(top)]
        rows.append(row)
    return Table(title, columns, rows)


def _part_tables(cells: Cells, part: Part, shown: dict[str, str]) -> list[Table]:
    base = part.comparisons[0].pair.right if part.comparisons else None
    marks = {
        (c.pair.left, c.measure): MARKS.get(c.verdict, "") for c in part.comparisons if c.pair.right == base
    }
    legend = "" if base is None else f"; compared to {base}: + better, - worse, = equivalent"
    columns = [Column("system"), *(Column(measure, "value") for measure in cells.measures)]
    rows: list[list[Cell | Marked]] = [
        [
            shown[label],
            *(
                Marked(float(part.means[at, m]), marks.get((label, measure), ""))
                for m, measure in enumerate(cells.measures)
            ),
        ]
        for at, label in enumerate(cells.labels)
    ]
    tables = [Table(f"Cells, {part.name}: means over n = {part.n:,} queries{legend}", columns, rows)]
    if part.deviations is not None:
        spread: list[list[Cell | Marked]] = [
            [shown[label], *part.deviations[at].tolist()] for at, label in enumerate(cells.labels)
        ]
        tables.append(Table(f"Cells, {part.name}: standard deviation over folds", columns, spread))
    return tables


def _ranking_rows(cells: Cells, ranks_only: Collection[str]) -> list[dict[str, Any]]:
    ranking = cells.ranking
    best = float(ranking.means.min())
    tests = {"chi2": ranking.chi2, "p": ranking.p, "f": ranking.f, "p_f": ranking.p_f}
    rows: list[dict[str, Any]] = [
        {
            "row": "ranking",
            "cells": cells.names,
            "repeats": cells.repeats,
            **tests,
            "critical": ranking.critical,
        }
    ]
    for at in ranking.order:
        rows.append(
            {
                "row": "system",
                "label": cells.labels[at],
                "mean_rank": float(ranking.means[at]),
                "best_rank": float(ranking.ranks[at].min()),
                "worst_rank": float(ranking.ranks[at].max()),
                "told_apart_from_best": bool(ranking.means[at] >= best + ranking.critical),
                "reads_ranks_only": cells.labels[at] in ranks_only,
            }
        )
    return rows


def _cell_rows(cells: Cells) -> list[dict[str, Any]]:
    rows = []
    for part in cells.parts:
        known = {(c.pair.left, c.measure): c for c in reversed(part.comparisons)}
        for at, label in enumerate(cells.labels):
            for m, measure in enumerate(cells.measures):
                against = known.get((label, measure))
                rows.append(
                    {
                        "row": "cell",
                        "slice": part.name,
                        "n": part.n,
                        "label": label,
                        "measure": measure,
                        "mean": float(part.means[at, m]),
                        "deviation": None if part.deviations is None else float(part.deviations[at, m]),
                        "against": None if against is None else against.pair.right,
                        "p_adjusted": None if against is None else decisive_p(against),
                        "verdict": None if against is None else against.verdict,
                    }
                )
    return rows
