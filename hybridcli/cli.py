"""The command line: registrations, and ``main``, the only place that catches errors and exits."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Annotated, Any, cast

import typer

import hybridcli
from hybridcli.errors import ClosedPipe, HybridcliError
from hybridcli.recipe import recordable

app = typer.Typer(
    name="hybridcli",
    help="Build, fuse, route and compare hybrid (sparse + dense) retrieval runs on standard TREC files.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        print(f"hybridcli {hybridcli.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Build, fuse, route and compare hybrid (sparse + dense) retrieval runs on standard TREC files."""


# in the order of the pipeline: one module a subcommand, holding a function of the same name
COMMANDS: tuple[str, ...] = (
    "window",
    "map_labels",
    "label_docs",
    "index_sparse",
    "index_dense",
    "retrieve",
    "fuse",
    "oracle",
    "route",
    "weigh",
    "compare",
    "check",
)
RUN_WRITERS = frozenset({"retrieve", "fuse", "oracle", "route", "rerank"})

for _name in COMMANDS:
    _module = importlib.import_module(f"hybridcli.commands.{_name}")
    _command = recordable(getattr(_module, _name), writes_run=_name in RUN_WRITERS)
    app.command(_name.replace("_", "-"))(_command)


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code (see ``hybridcli.errors``)."""
    try:
        code = app(args=argv, prog_name="hybridcli", standalone_mode=False)
        if code == 130:  # typer turns Ctrl-C into this code
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except ClosedPipe:
        # the reader of our output has gone (`| head`): end quietly, also when Python flushes stdout at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except HybridcliError as error:
        print(f"hybridcli: {error}", file=sys.stderr)
        return error.exit_code
    except typer.TyperException as error:
        cast(Any, error).show(file=sys.stderr)  # every usage error of typer knows how to print itself
        return 2
    except (KeyboardInterrupt, typer.Abort):
        print("hybridcli: interrupted", file=sys.stderr)
        return 130


def run() -> None:
    """Entry point of the ``hybridcli`` script."""
    sys.exit(main())
