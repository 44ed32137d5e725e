"""What ``oracle`` found, as a person reads it, as TSV and as JSON: three views of one document."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hybridcli.errors import UsageError

FORMATS = ("table", "tsv", "json")
COLUMNS = ("row", "measure", "value", "low", "high", "weights", "rrf_k", "tied", "queries", "n")


def render(document: Mapping[str, Any], form: str) -> str:
    """Write the document of an ``oracle`` or ``route`` command in one of ``FORMATS``."""
    if form == "json":
        return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    if form == "tsv":
        return _tsv(document)
    if form == "table":
        return _table(document)
    raise UsageError(f"unknown --format {form!r}; choose from {', '.join(FORMATS)}")


def written(weights: Sequence[float] | None) -> str:
    """Weights as a person reads them: ``0.35,0.65``; nothing for None."""
    return "" if weights is None else ",".join(f"{weight:.4g}" for weight in weights)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay cells out in columns, two blanks apart; the first column to the left, the others to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))] if rows else []
    lines = []
    for row in rows:
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)),
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _tsv(document: Mapping[str, Any]) -> str:
    def cell(row: Mapping[str, Any], column: str) -> str:
        value = document["n"] if column == "n" else row.get(column)
        if column == "weights":
            return written(value)
        return "" if value is None else repr(value) if isinstance(value, float) else str(value)

    rows = [*document["rows"]]
    for found in document["candidates"]:
        name = f"relevant in {found['where']}" + (f"@{found['first']}" if found["first"] else "")
        rows.append({"row": name, "value": found["share"], "queries": found["queries"]})
    lines = ["\t".join(COLUMNS), *("\t".join(cell(row, column) for column in COLUMNS) for row in rows)]
    return "\n".join(lines) + "\n"


def _detail(row: Mapping[str, Any]) -> str:
    if row["row"] == "headroom over equal":
        interval = "" if row["low"] is None else f"95% [{row['low']:+.4f}, {row['high']:+.4f}]"
        relative = "" if row["relative"] is None else f"{row['relative']:+.1%}"
        return ", ".join(part for part in (relative, interval) if part)
    if row["row"] == "best fixed point":
        rrf_k = f"rrf_k {row['rrf_k']:g}, " if "rrf_k" in row else ""
        return rrf_k + ("unique" if row["tied"] == 1 else f"{row['tied']} points tie")
    if row["row"] == "per-query oracle":
        return f"{row['tied']:.1f} points tie (mean)"
    return f"{row['queries']} queries" if "queries" in row else ""


def _table(document: Mapping[str, Any]) -> str:
    lines = [
        f"{' + '.join(document['runs'])}: {document['points']} weightings ({document['method']}"
        + (f", {document['norm']}" if document["norm"] else "")
        + f", {document['grid']}), n = {document['n']} queries"
    ]
    for measure in document["measures"]:
        body = [("", "weights", measure, "")]
        for row in document["rows"]:
            if row["measure"] == measure:
                share = row["row"] == "no weights answer"
                sign = "+" if row["row"] == "headroom over equal" else ""
                value = f"{row['value']:.1%}" if share else f"{row['value']:{sign}.4f}"
                body.append((row["row"], written(row["weights"]), value, _detail(row)))
        lines.append("")
        lines += _left_last(body)
    lines += ["", "share of queries with a relevant document among the candidates"]
    names = ["union", *document["runs"]]
    found = {(row["where"], row["first"]): row["share"] for row in document["candidates"]}
    firsts = list(dict.fromkeys(row["first"] for row in document["candidates"]))
    shares = [("", *names)]
    for first in firsts:
        label = "all candidates" if first is None else f"first {first} of each"
        shares.append((label, *(f"{found[name, first]:.1%}" for name in names)))
    lines += aligned(shares)
    units = "queries" if document["groups"] is None else f"{document['groups']} groups"
    lines += [
        "",
        f"interval: percentile bootstrap over {units}, {document['replicates']} replicates, seed "
        f"{document['seed']}; ties in a ranking: docno descending; hybridcli {document['version']}",
    ]
    return "\n".join(lines) + "\n"


def _left_last(rows: Sequence[tuple[str, str, str, str]]) -> list[str]:
    """Like ``aligned``, but the last column is a remark and stands to the left."""
    main = aligned([row[:3] for row in rows])
    width = max(map(len, main))
    return [f"{line.ljust(width)}  {row[3]}".rstrip() for line, row in zip(main, rows, strict=True)]
