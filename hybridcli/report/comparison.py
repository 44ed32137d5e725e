"""What ``compare`` prints: sections of tables for people, with the same facts as rows for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hybridcli.evaluation.comparisons import Comparison, Estimate, Inference
from hybridcli.evaluation.resampling import EXACT_UNITS, Units
from hybridcli.report.tables import Cell, Column, Marked, Table

SCHEMA = "hybridcli/compare/1"
TIE_RULE = "score descending, then docno descending in bytes (trec_eval)"
MARKS = {"better": "+", "worse": "-", "equivalent": "="}


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report: ``rows`` stand in the JSON object under ``key``, ``tables`` in all other formats."""

    key: str
    tables: Sequence[Table]
    rows: Sequence[dict[str, Any]]


@dataclass(slots=True)
class Facts:
    """What every output carries beside its figures; ``notes`` are about the data."""

    version: str
    n: int
    policy: str
    units: Units
    groups: str | None
    how: Inference
    runs: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def means_section(estimates: Sequence[Estimate], comparisons: Sequence[Comparison], n: int) -> Section:
    """Means of all runs; a mark says how a run compares to the first pair's right-hand run.

    Several measures of one run have a line each, which leaves room for every interval.
    """
    labels, measures = _distinct(e.label for e in estimates), _distinct(e.measure for e in estimates)
    if len(labels) == 1 and len(measures) > 1:
        columns = [Column("measure"), Column(labels[0], "value"), Column("interval", "range")]
        lines = [[e.measure, Marked(e.mean, ""), interval_cell(e)] for e in estimates]
        alone = Table(f"Means over n = {n:,} queries", columns, lines)
        return Section("rows", [alone], [asdict(estimate) for estimate in estimates])
    value = {(e.label, e.measure): e for e in estimates}
    base = comparisons[0].pair.right if comparisons else None
    marks = {(c.pair.left, c.measure): MARKS.get(c.verdict, "") for c in comparisons if c.pair.right == base}
    rows: list[list[Cell | Marked]] = [
        [label, *(Marked(value[label, m].mean, marks.get((label, m), "")) for m in measures)]
        for label in labels
    ]
    legend = "" if base is None else f"; compared to {base}: + better, - worse, = equivalent"
    if base is not None and not {base, *(label for label, _ in marks)}.issuperset(labels):
        legend += "; no mark: undecided or not compared"
    columns = [Column("run"), *(Column(measure, "value") for measure in measures)]
    if len(measures) == 1:
        columns.append(Column("interval", "range"))
        for row, label in zip(rows, labels, strict=True):
            row.append(interval_cell(value[label, measures[0]]))
    table = Table(f"Means over n = {n:,} queries{legend}", columns, rows)
    return Section("rows", [table], [asdict(estimate) for estimate in estimates])


def comparisons_section(comparisons: Sequence[Comparison], how: Inference) -> Section:
    """Two tables a measure and kind: difference with interval, p and verdict; cross-checks and power."""
    tables = []
    for measure in _distinct(c.measure for c in comparisons):
        for planned in (True, False):
            chosen = [c for c in comparisons if c.measure == measure and c.pair.planned == planned]
            if chosen:
                tables += _comparison_tables(chosen, how)
    return Section("comparisons", tables, [_comparison_row(c, how) for c in comparisons])


def _comparison_tables(chosen: Sequence[Comparison], how: Inference) -> list[Table]:
    first = chosen[0]
    names, title = pair_names(chosen)
    kind = f"{'planned' if first.pair.planned else 'exploratory'}, {_sided(first.alternative)}"
    columns = [
        Column("run"),
        Column("diff", "signed"),
        Column(f"{how.level:.0%} interval", "interval"),
        Column("p adj", "p"),
    ]
    if how.margin is not None:
        columns += [Column("p equiv", "p"), Column("non-inf", "p")]
    rows: list[list[Cell]] = []
    for name, c in zip(names, chosen, strict=True):
        margins: list[Cell] = [] if how.margin is None else [c.p_equivalent, c.p_not_inferior]
        rows.append([name, c.difference, interval_cell(c), decisive_p(c), *margins, c.verdict])
    verdicts = Table(
        f"{first.measure}: {title} ({kind}; n = {first.n:,})", [*columns, Column("verdict")], rows
    )
    columns = [Column("run"), Column("W/T/L", "count"), Column("effect", "effect"), Column("MDE", "value")]
    for test in how.tests:
        columns += [Column(f"p {_short(test)}", "p"), Column("adj", "p")]
    rows = []
    for name, c in zip(names, chosen, strict=True):
        tests = [p for test in how.tests for p in (c.p[test], c.adjusted[test])]
        rows.append([name, f"{c.wins}/{c.ties}/{c.losses}", c.effect, c.detectable, *tests])
    return [
        verdicts,
        Table(f"{first.measure}: wins, effect size, detectable effect, each test", columns, rows),
    ]


def decisive_p(comparison: Comparison) -> float | None:
    """The largest adjusted p of all tests, which the verdict goes by; None if a test can say nothing."""
    found = [p for p in comparison.adjusted.values() if p is not None]
    return max(found) if len(found) == len(comparison.adjusted) else None


def pair_names(chosen: Sequence[Comparison]) -> tuple[list[str], str]:
    """What the rows are called, and the title that says what is subtracted."""
    right = _distinct(c.pair.right for c in chosen)
    if chosen[0].pair.planned:
        return [f"{c.pair.left} > {c.pair.right}" for c in chosen], "differences declared in advance"
    if len(right) == 1:
        return [c.pair.left for c in chosen], f"difference to {right[0]}"
    return [f"{c.pair.left} - {c.pair.right}" for c in chosen], "differences"


def _comparison_row(comparison: Comparison, how: Inference) -> dict[str, Any]:
    row = asdict(comparison)
    pair = row.pop("pair")
    return {
        "label": pair["left"],
        "against": pair["right"],
        "kind": "planned" if pair["planned"] else "exploratory",
        **row,
        "correction": how.correction,
        "margin": how.margin,
    }


def as_json(facts: Facts, sections: Sequence[Section]) -> dict[str, Any]:
    """One object: schema, command, n, the facts every output carries, then each section's rows."""
    how = facts.how
    return {
        "schema": SCHEMA,
        "command": "compare",
        "version": facts.version,
        "n": facts.n,
        "queries": facts.policy,
        "tie_rule": TIE_RULE,
        "groups": None if facts.groups is None else {"file": facts.groups, "count": facts.units.count},
        "inference": {
            "seed": how.seed,
            "replicates": how.replicates,
            "interval": how.interval,
            "level": how.level,
            "tests": list(how.tests),
            "correction": how.correction,
            "family": how.family,
            "margin": how.margin,
            "exact_permutation": facts.units.count <= EXACT_UNITS,
        },
        "runs": facts.runs,
        **{section.key: _rounded(list(section.rows)) for section in sections},
        "notes": facts.notes,
    }


def _rounded(value: Any) -> Any:
    """Keep 12 significant digits, so that the order in which a machine adds up never shows."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, list | tuple) else value


def footnotes(facts: Facts, comparisons: Sequence[Comparison]) -> list[str]:
    """The lines below the tables: what was averaged, drawn, tested and corrected, and by which version."""
    how, units = facts.how, facts.units
    what = f"{units.count:,} groups ({facts.groups})" if units.grouped else f"{units.count:,} single queries"
    notes = [
        f"n = {facts.n:,}: {facts.policy}",
        f"order: {TIE_RULE}",
        f"intervals: {how.level:.0%} {how.interval} bootstrap, {how.replicates:,} replicates of {what}, "
        f"seed {how.seed}; ratio estimator (sum over queries drawn / queries drawn)",
    ]
    if comparisons:
        notes += _test_notes(facts, comparisons)
    return [*notes, *facts.notes, f"hybridcli {facts.version}"]


def _test_notes(facts: Facts, comparisons: Sequence[Comparison]) -> list[str]:
    how, units = facts.how, facts.units
    notes = []
    for planned in (True, False):
        family = [c for c in comparisons if c.pair.planned == planned]
        if family:
            kind = "planned" if planned else "exploratory"
            noun = "test" if family[0].family_size == 1 else "tests"
            scope = "on each measure" if how.family == "measure" else "over all measures"
            notes.append(
                f"{kind} family: {family[0].family_size} {_sided(family[0].alternative)} {noun} {scope}, "
                f"correction {how.correction}; better, worse: p adj < {how.alpha:.3g}, "
                f"the largest of {' and '.join(how.tests)}"
            )
    if "permutation" in how.tests:
        what = "groups" if units.grouped else "queries"
        exact = units.count <= EXACT_UNITS
        count = f"all {1 << units.count:,}" if exact else f"{how.replicates:,} random"
        notes.append(f"permutation: {count} sign patterns of {units.count:,} {what}")
    notes.append(
        f"MDE: smallest true difference found with 80% power at {how.alpha:.3g} in one comparison, "
        "same bootstrap; effect: difference / standard deviation of the queries' differences"
    )
    if how.margin is not None:
        notes.append(
            f"equivalent, non-inferior: one-sided tests against a margin of {how.margin:g}, "
            "adjusted in the same families, the largest p of all tests"
        )
    return notes


def _sided(alternative: str) -> str:
    return "two-sided" if alternative == "two-sided" else f"one-sided ({alternative})"


def _short(test: str) -> str:
    return {"permutation": "perm", "bootstrap": "boot"}.get(test, test)


def interval_cell(row: Estimate | Comparison) -> tuple[float, float] | None:
    """Both bounds, or None where nothing can be said."""
    return None if row.low is None or row.high is None else (row.low, row.high)


def _distinct(values: Any) -> list[Any]:
    return list(dict.fromkeys(values))
