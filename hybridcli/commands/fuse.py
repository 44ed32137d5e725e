"""``hybridcli fuse``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from hybridcli import options
from hybridcli.console import note, warn
from hybridcli.errors import UsageError
from hybridcli.formats.files import name_of, require_one_stdin
from hybridcli.formats.run_batches import RunBatches, RunSource
from hybridcli.formats.runs import report_findings, rewrite_runs
from hybridcli.formats.weights import read_weights
from hybridcli.fusion.fuse import Plan, every_plan, idle_options, sums_negatives
from hybridcli.fusion.fuse import fuse as fuse_pool
from hybridcli.fusion.methods import find_method, method_rows
from hybridcli.fusion.normalization import normalization_rows
from hybridcli.fusion.pool import align, merge_orders, only_here
from hybridcli.fusion.weights import parse_weights
from hybridcli.records import Run


def fuse(
    runs: options.RunFiles,
    output: options.Output = "-",
    method: Annotated[str, typer.Option(help="How to fuse: a method below, or ranx:NAME.")] = "rrf",
    norm: Annotated[
        str | None,
        typer.Option(help="Normalisation of scores, see below; methods that read scores take min-max."),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="W,W…|FILE", help="One weight a run, or a TSV of weights by query; rrf, weighted."
        ),
    ] = None,
    rrf_k: Annotated[float, typer.Option(help="RRF's constant.")] = 60.0,
    rbc_p: Annotated[float, typer.Option(help="RBC's persistence.")] = 0.8,
    depth: Annotated[int | None, typer.Option(help="Documents taken from each input list.")] = None,
    k: Annotated[int | None, typer.Option("-k", help="Documents written for each query.")] = None,
    missing: Annotated[
        str, typer.Option(help="Score of an absent document: zero, or min (the run's minimum for the query).")
    ] = "zero",
    tag: Annotated[str, typer.Option(help="Tag of the fused run.")] = "hybridcli",
    everything: Annotated[
        bool, typer.Option("--all", help="Every method × normalisation, as files in the folder -o.")
    ] = False,
    lower_is_better: options.LowerIsBetter = None,
    lenient: options.Lenient = False,
) -> None:
    """Fuse runs into one: any number of runs, any method × normalisation, over the union of their queries."""
    require_one_stdin(*runs)
    parameters: dict[str, Any] = {"rrf_k": rrf_k, "rbc_p": rbc_p, "missing": missing}
    if everything:
        plans = every_plan(**parameters)
        outputs = [str(_folder(output) / f"{name}.run") for name in plans]
    else:
        plans, outputs = {method: Plan(method, norm, **parameters)}, [output]
        for line in idle_options(plans[method]):
            note(line)
    distances = set(lower_is_better or [])
    if distances - set(runs):
        raise UsageError(f"--lower-is-better {min(distances - set(runs))}: not among the runs")
    fixed = None if weights is None else parse_weights(weights, len(runs))
    by_query = read_weights(weights) if weights is not None and fixed is None else None
    if weights is not None and not (everything or find_method(method).linear):
        raise UsageError(f"method {method} takes no weights; rrf and weighted do")
    batches = RunBatches(
        [RunSource(path) for path in runs],
        lenient=lenient,
        lower_is_better=[path in distances for path in runs],
    )
    negatives: set[str] = set()

    def fuse_batch(batch: Sequence[Run]) -> list[Run]:
        pool = align(batch, depth)
        negatives.update(name for name, plan in plans.items() if sums_negatives(pool, plan))
        chosen = by_query.matrix(pool.queries, batches.tags) if by_query else fixed
        return [
            fuse_pool(pool, plan, chosen if plan.entry.linear else None, k=k, tag=tag)
            for plan in plans.values()
        ]

    rewrite_runs(batches, fuse_batch, outputs, merge_orders)
    report_findings(runs, batches.findings)
    for name in sorted(negatives):
        warn(
            f"{name} sums raw scores that are negative: an absent document (0) beats a retrieved one; "
            "choose a --norm or --missing min"
        )
    alone = [
        f"{count} in {name_of(path)}"
        for count, path in zip(only_here(batches.queries), runs, strict=True)
        if count
    ]
    if alone and len(runs) > 1:
        note(f"queries that one run only has: {', '.join(alone)}")
    if by_query and by_query.unknown:
        warn(f"{weights}: {len(by_query.unknown)} queries have no weights there; equal weights are taken")
    if by_query and not by_query.names(batches.tags):
        warn(f"{weights}: columns {by_query.tags} are not the runs' tags {batches.tags}; taken in order")


def _folder(output: str) -> Path:
    """Make the folder that --all writes to."""
    if output == "-":
        raise UsageError("--all writes many files: give a folder with -o")
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--all writes many files: {output} is no folder")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


_METHODS = "\n".join(f"  {name:<11} {reads:<6} {formula}" for name, reads, _, formula, _ in method_rows())
_NORMS = "\n".join(f"  {name:<11} {formula}" for name, formula, _ in normalization_rows())
fuse.__doc__ = f"""{fuse.__doc__}

\b
Methods (what they read, how they score):
{_METHODS}

\b
Normalisations:
{_NORMS}

Example: hybridcli fuse bm25.run dense.run --method weighted --weights 0.3,0.7 -o fused.run
"""
