"""Options that several subcommands share, so that they are named and explained once."""

from __future__ import annotations

from typing import Annotated

import typer

Output = Annotated[
    str,
    typer.Option("-o", "--output", metavar="FILE", help="Where to write; '-' is stdout, '.gz' compresses."),
]
RunFiles = Annotated[
    list[str], typer.Argument(metavar="RUN...", help="TREC run files; '-' is stdin, gzip is found by itself.")
]
Seed = Annotated[
    int, typer.Option("--seed", help="Seed of everything random; the same seed, the same bytes.")
]
Lenient = Annotated[
    bool,
    typer.Option(
        "--lenient", help="Keep the best of duplicate documents, drop bad lines, and report how many."
    ),
]
LowerIsBetter = Annotated[
    list[str] | None,
    typer.Option(
        "--lower-is-better", metavar="RUN", help="This run's scores are distances: negate them. Repeatable."
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option("--model", help="sentence-transformers id or folder; minilm and wordllama need no network."),
]
Devices = Annotated[
    str | None,
    typer.Option("--device", metavar="NAME,…", help="cpu, cuda:0 …; several share the work (a GPU if any)."),
]
QrelsFile = Annotated[
    str, typer.Option("--qrels", metavar="FILE", help="Judgements: qid 0 docno rel, or qid reference docno rel.")
]
GroupsFile = Annotated[
    str | None,
    typer.Option("--groups", metavar="FILE", help="TSV qid<TAB>group (company): what stays together."),
]
LinearMethod = Annotated[
    str, typer.Option("--method", help="weighted (sum of normalised scores) or rrf (weighted ranks).")
]
Norm = Annotated[
    str | None, typer.Option("--norm", help="Normalisation of scores; min-max unless given. See fuse.")
]
Missing = Annotated[
    str,
    typer.Option("--missing", help="What an absent document scores: zero, or min (the run's minimum)."),
]
Depth = Annotated[
    int | None, typer.Option("--depth", min=1, help="Documents taken from each input list (all).")
]
GridStep = Annotated[
    str, typer.Option("--grid", metavar="STEP", help="Step of the weights, such as 0.05 or 1/20.")
]
Box = Annotated[
    bool, typer.Option("--box", help="Try every combination of weights in [0, 1], not only sums of 1.")
]
Forced = Annotated[
    list[str] | None,
    typer.Option("--force", metavar="'RUN>0'", help="Try only weights that give RUN some. Repeatable."),
]
