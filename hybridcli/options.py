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
