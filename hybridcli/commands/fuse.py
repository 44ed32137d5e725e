"""``hybridcli fuse``."""

from __future__ import annotations

from typing import Annotated

import typer

from hybridcli import options
from hybridcli.formats.files import require_one_stdin
from hybridcli.formats.runs import read_run, write_run
from hybridcli.fusion.fuse import Plan
from hybridcli.fusion.fuse import fuse as fuse_pool
from hybridcli.fusion.pool import align


def fuse(
    runs: options.RunFiles,
    output: options.Output = "-",
    method: Annotated[str, typer.Option(help="How to fuse; see the list below.")] = "rrf",
    norm: Annotated[
        str | None,
        typer.Option(
            help="Normalisation of scores, per query and run; min-max unless given. See the list below."
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="W,W…|FILE",
            help="One weight a run, or a TSV of weights by query (methods rrf and weighted).",
        ),
    ] = None,
    rrf_k: Annotated[float, typer.Option(help="RRF's constant.")] = 60.0,
    rbc_p: Annotated[float, typer.Option(help="RBC's persistence.")] = 0.8,
    depth: Annotated[int | None, typer.Option(help="Documents taken from each input list.")] = None,
    k: Annotated[int | None, typer.Option("-k", help="Documents written for each query.")] = None,
    missing: Annotated[
        str,
        typer.Option(
            help="What an absent document scores after normalisation: zero, or min (the run's minimum)."
        ),
    ] = "zero",
    tag: Annotated[str, typer.Option(help="Tag of the fused run.")] = "hybridcli",
    lower_is_better: options.LowerIsBetter = None,
    lenient: options.Lenient = False,
) -> None:
    """Fuse runs into one.

    Example: hybridcli fuse bm25.run dense.run --method weighted --weights 0.3,0.7 -o fused.run
    """
    require_one_stdin(*runs)
    plan = Plan(method, norm, rrf_k, rbc_p, missing)
    distances = lower_is_better or []
    read = [read_run(path, lenient=lenient, lower_is_better=path in distances) for path in runs]
    write_run(fuse_pool(align(read, depth), plan, k=k, tag=tag), output)
