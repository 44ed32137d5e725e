"""What ``route`` found, as a person reads it, as TSV and as JSON: three views of one document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hybridcli.errors import UsageError
from hybridcli.report.oracle import FORMATS, aligned

COLUMNS = ("router", "measure", "value", "deviation", "macro", "headroom", "n")
MOST_CHOICES = 5


def render_routing(document: Mapping[str, Any], form: str) -> str:
    """Write the document in one of ``FORMATS``."""
    if form == "json":
        return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    if form == "tsv":
        lines = ["\t".join(COLUMNS)]
        for row in document["rows"]:
            cells = [document["n"] if column == "n" else row.get(column) for column in COLUMNS]
            lines.append("\t".join("" if cell is None else str(cell) for cell in cells))
        return "\n".join(lines) + "\n"
    if form != "table":
        raise UsageError(f"unknown --format {form!r}; choose from {', '.join(FORMATS)}")
    return "\n".join([*_head(document), *_means(document), "", *_choices(document)]) + "\n"


def _head(document: Mapping[str, Any]) -> list[str]:
    groups = "no groups" if document["groups"] is None else f"{document['groups']} groups"
    folds = (
        "each group held out once"
        if document["leave_one_group_out"]
        else f"{document['folds']} folds × {document['repeats']} repeats"
    )
    norm = f", {document['norm']}" if document["norm"] else f", rrf_k {document['rrf_k']:g}"
    return [
        f"{' + '.join(document['runs'])} ({document['method']}{norm}), out of fold: n = {document['n']} queries, "
        f"{groups}, {folds}, seed {document['seed']}; settings chosen by {document['measures'][0]} on "
        + (
            f"{document['validation']:.0%} of the training groups"
            if document["validation"]
            else "all training groups"
        ),
        "",
    ]


def _means(document: Mapping[str, Any]) -> list[str]:
    macro = any("macro" in row for row in document["rows"])
    lines = [
        ("router", "measure", "mean", "sd of repeats", *(["macro mean"] if macro else []), "of headroom")
    ]
    for row in document["rows"]:
        lines.append(
            (
                row["router"],
                row["measure"],
                f"{row['value']:.4f}",
                _or_blank(row["deviation"], ".4f"),
                *([_or_blank(row.get("macro"), ".4f")] if macro else []),
                _or_blank(row["headroom"], ".1%"),
            )
        )
    for measure, (_, oracle) in zip(document["measures"], document["landmarks"], strict=True):
        lines.append(("per-query oracle", measure, f"{oracle:.4f}", *([""] * (len(lines[0]) - 4)), "100.0%"))
    return aligned(lines)


def _or_blank(value: float | None, form: str) -> str:
    return "" if value is None else f"{value:{form}}"


def _choices(document: Mapping[str, Any]) -> list[str]:
    lines = []
    for router, found in document["choices"].items():
        total = sum(count for _, count in found["counts"])
        shown = [f"{choice} ({count})" for choice, count in found["counts"][:MOST_CHOICES] if choice]
        if not shown:
            continue
        more = len(found["counts"]) - MOST_CHOICES
        tail = f" and {more} more" if more > 0 else ""
        ties = f"; {found['ties']} with a tie" if found["ties"] else ""
        lines.append(f"{router} chose in {total} fits: {', '.join(shown)}{tail}{ties}")
    return lines
