"""``hybridcli fuse``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hybridcli import options
from hybridcli.commands.common.listing import listing
from hybridcli.commands.fusing.job import FusionJob
from hybridcli.console import note
from hybridcli.errors import UsageError
from hybridcli.formats.files import make_folder, require_one_stdin
from hybridcli.formats.qrels import read_qrels
from hybridcli.formats.runs import rewrite_runs
from hybridcli.fusion.fuse import Plan, every_plan
from hybridcli.fusion.methods import method_rows
from hybridcli.fusion.normalization import normalization_rows
from hybridcli.fusion.pool import merge_orders
from hybridcli.fusion.ranx_methods import RanxMethod


def fuse(
    runs: options.RunFiles,
    output: options.Output = "-",
    method: Annotated[str, typer.Option(help="How to fuse: a method listed above, or ranx:NAME.")] = "rrf",
    norm: Annotated[
        str | None,
        typer.Option(help="Normalisation of scores, see above; methods that read scores take min-max."),
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
    train_qrels: Annotated[
        str | None, typer.Option(metavar="QRELS", help="What a supervised method of ranx is trained on.")
    ] = None,
    tag: Annotated[str, typer.Option(help="Tag of the fused run.")] = "hybridcli",
    everything: Annotated[
        bool, typer.Option("--all", help="Every method × normalisation, as files in the folder -o.")
    ] = False,
    lower_is_better: options.LowerIsBetter = None,
    lenient: options.Lenient = False,
) -> None:
    """Fuse runs into one: any number of runs, any method × normalisation, over the union of their queries."""
    require_one_stdin(*runs, weights, train_qrels)
    parameters: dict[str, Any] = {"rrf_k": rrf_k, "rbc_p": rbc_p, "missing": missing}
    plans, outputs, ranx = {}, [output], None
    if everything:
        if method != "rrf" or norm is not None:
            raise UsageError("--all takes every method and normalisation: leave out --method and --norm")
        plans = every_plan(**parameters)
        outputs = [str(_folder(output) / f"{name}.run") for name in plans]
    elif method.startswith("ranx:"):
        judged = None if train_qrels is None else read_qrels(train_qrels).to_dict()
        ranx = RanxMethod(method.removeprefix("ranx:"), norm, judged)
        for name, value in parameters.items():
            if value != getattr(Plan(), name):
                note(f"{method} is computed by ranx: {name}={value} has no effect")
    else:
        plans = {method: Plan(method, norm, **parameters)}
    if train_qrels is not None and ranx is None:
        raise UsageError("--train-qrels is for the supervised methods of ranx (--method ranx:NAME)")
    job = FusionJob(
        runs,
        plans,
        weights=weights,
        depth=depth,
        k=k,
        tag=tag,
        lower_is_better=lower_is_better or [],
        lenient=lenient,
        ranx=ranx,
    )
    rewrite_runs(job.batches, job.fuse, outputs, merge_orders, whole=ranx is not None)
    job.report()


def _folder(output: str) -> Path:
    """Make the folder that --all writes to."""
    if output == "-":
        raise UsageError("--all writes many files: give a folder with -o")
    return make_folder(output)


_methods = [(name, f"{reads}: {formula}") for name, reads, _, formula, _ in method_rows()]
_norms = [(name, formula) for name, formula, _ in normalization_rows()]
fuse.__doc__ = f"""{fuse.__doc__}

{listing("Methods (what they read: how they score):", _methods)}

{listing("Normalisations:", _norms)}

Example: hybridcli fuse bm25.run dense.run --method weighted --weights 0.3,0.7 -o fused.run
"""
