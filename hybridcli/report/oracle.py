"""What ``oracle`` and ``route`` found, as tables; the documents they print as JSON hold the same figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hybridcli.report.tables import Column, Table, json_text, render

Document = Mapping[str, Any]
MOST_CHOICES = 5


def render_document(document: Document, form: str) -> str:
    """Write the document of ``oracle`` or ``route`` as JSON or in one of the table formats."""
    if form == "json":
        return json_text(document)
    tables = oracle_tables if document["command"] == "oracle" else routing_tables
    return render(form, *tables(document))


def written(weights: Sequence[float] | None) -> str:
    """Weights as a person reads them: ``0.35,0.65``; nothing for None."""
    return "" if weights is None else ",".join(f"{weight:.4g}" for weight in weights)


def oracle_tables(document: Document) -> tuple[list[Table], list[str]]:
    """A table a measure, one of the candidates, and the notes below."""
    tables = []
    for measure in document["measures"]:
        columns = [
            Column("weighting"),
            Column("weights"),
            Column(measure, "value"),
            Column("95% interval", "interval"),
            Column("remark"),
        ]
        rows = [
            (
                row["row"],
                written(row["weights"]),
                row["value"],
                None if row.get("low") is None else (row["low"], row["high"]),
                _remark(row),
            )
            for row in document["rows"]
            if row["measure"] == measure
        ]
        tables.append(Table(f"{measure}, n = {document['n']} queries", columns, rows))
    names = ["union", *document["runs"]]
    found = {(row["where"], row["first"]): row["share"] for row in document["candidates"]}
    firsts = list(dict.fromkeys(row["first"] for row in document["candidates"]))
    shares = [
        ("all" if first is None else f"first {first} of each", *(found[name, first] for name in names))
        for first in firsts
    ]
    columns = [Column("candidates"), *(Column(name, "value") for name in names)]
    tables.append(Table("share of queries with a relevant document among the candidates", columns, shares))
    units = "queries" if document["groups"] is None else f"{document['groups']} groups"
    return tables, [
        f"{_fusion(document)}: {document['points']} points; n points tie: they are equally good (a query's mean), "
        "the one nearest to equal weights is taken",
        f"interval: percentile bootstrap over {units}, {document['replicates']} replicates, seed {document['seed']}",
        f"ties in a ranking: docno descending, as trec_eval; hybridcli {document['version']}",
    ]


def _remark(row: Mapping[str, Any]) -> str:
    if row["row"] == "headroom over equal":
        return "" if row["relative"] is None else f"{row['relative']:+.1%} of equal"
    if row["row"] == "best fixed point":
        rrf_k = f"rrf_k {row['rrf_k']:g}, " if "rrf_k" in row else ""
        return rrf_k + ("unique" if row["tied"] == 1 else f"{row['tied']} points tie")
    if row["row"] == "per-query oracle":
        return f"{row['tied']:.1f} points tie"
    return f"{row['queries']} of them" if "queries" in row else ""


def _fusion(document: Document) -> str:
    constants = document["rrf_k"]
    if constants is not None:
        constants = constants if isinstance(constants, list) else [constants]
        how = "rrf_k " + ",".join(f"{constant:g}" for constant in constants)
    else:
        how = document["norm"]
    return f"{document['method']} ({how}) of {' + '.join(document['runs'])}, {document['grid']}"


def routing_tables(document: Document) -> tuple[list[Table], list[str]]:
    """One table of means, one of what was chosen in the folds, and the notes below."""
    grouped = document["groups"] is not None
    columns = [Column("router"), Column("measure"), Column("mean", "value"), Column("sd of repeats", "value")]
    columns += [Column("macro mean", "value")] if grouped else []
    columns += [Column("of headroom", "effect")]
    rows = []
    for row in document["rows"]:
        macro = [row["macro"]] if grouped else []
        rows.append((row["router"], row["measure"], row["value"], row["deviation"], *macro, row["headroom"]))
    for measure, (_, oracle) in zip(document["measures"], document["landmarks"], strict=True):
        rows.append(("per-query oracle", measure, oracle, None, *([None] if grouped else []), 1.0))
    means = Table(f"out of fold, n = {document['n']} queries", columns, rows)
    chosen = []
    for router, found in document["choices"].items():
        for choice, count in found["counts"][:MOST_CHOICES]:
            chosen.append((router, choice or "–", count))
        more = found["counts"][MOST_CHOICES:]
        if more:
            chosen.append((router, f"{len(more)} others", sum(count for _, count in more)))
        if found["ties"]:
            chosen.append((router, "a tie, resolved", found["ties"]))
    choices = Table("choices", [Column("router"), Column("choice"), Column("fits", "count")], chosen)
    return [means, choices], _routing_notes(document)


def _routing_notes(document: Document) -> list[str]:
    units = "queries" if document["groups"] is None else f"{document['groups']} groups"
    folds = (
        "each group held out once"
        if document["leave_one_group_out"]
        else f"{document['folds']} folds x {document['repeats']} repeats"
    )
    part = f"{document['validation']:.0%} of the training {units.split()[-1]}"
    forced = f", {' and '.join(document['forced'])}" if document["forced"] else ""
    return [
        _fusion(document) + forced,
        f"folds of {units}: {folds}, seed {document['seed']}; a query's value is its mean over the repeats",
        f"settings chosen by {document['measures'][0]} on {part if document['validation'] else 'all of training'}",
        "of headroom: the share reached of the way from equal weights to the per-query oracle on the grid",
        f"hybridcli {document['version']}",
    ]
