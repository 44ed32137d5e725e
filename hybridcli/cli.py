"""The command line: registrations, and ``main``, the only place that catches errors and exits."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

import hybridcli
from hybridcli.errors import ClosedPipe, HybridcliError
from hybridcli.recipe import recordable

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
    "sweep",
    "rerank",
    "compare",
    "check",
)
RUN_WRITERS = frozenset({"retrieve", "fuse", "oracle", "route", "rerank"})


class Commands(Mapping[str, Any]):
    """The subcommands by name; the module of one is loaded when it is asked for, so that none waits for the others."""

    def __getitem__(self, name: str) -> Any:
        if name not in iter(self):
            raise KeyError(name)
        module = name.replace("-", "_")
        function = getattr(importlib.import_module(f"hybridcli.commands.{module}"), module)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name)(recordable(function, writes_run=module in RUN_WRITERS))
        return typer.main.get_command(single)

    def __iter__(self) -> Iterator[str]:
        return (name.replace("_", "-") for name in COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


def summary(name: str) -> str:
    """The first line of a command's docstring, read from its source without loading what it imports."""
    module = name.replace("-", "_")
    spec = importlib.util.find_spec(f"hybridcli.commands.{module}")
    source = cast(Any, spec).loader.get_source(f"hybridcli.commands.{module}")
    functions = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    docstring = next(ast.get_docstring(node) for node in functions if node.name == module)
    return (docstring or "").split("\n")[0]


class Group(TyperGroup):
    """All subcommands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = cast(Any, Commands())

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of the pipeline."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands in help, each with its first line."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(name)) for name in self.commands])


app = typer.Typer(
    name="hybridcli",
    cls=Group,
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


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code (see ``hybridcli.errors``)."""
    try:
        code = app(args=argv, prog_name="hybridcli", standalone_mode=False)
        if code == 130:  # typer turns Ctrl-C into this code
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except SystemExit as error:  # typer's answer to a reader of our help that has gone, or a signal's
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        return 0
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
    except OSError as error:  # what no reader or writer names: a folder that is closed, a full /tmp
        place = "" if error.filename is None else f"{error.filename}: "
        print(f"hybridcli: {place}{(error.strerror or str(error)).lower()}", file=sys.stderr)
        return 1
    except OverflowError as error:  # an option beyond 64 bits
        print(f"hybridcli: a number given is too large ({error})", file=sys.stderr)
        return 2
    except RecursionError:
        print("hybridcli: an input is nested too deeply to be read", file=sys.stderr)
        return 1
    except MemoryError:
        print("hybridcli: out of memory; give it less at once, or more memory", file=sys.stderr)
        return 1


def _terminated(number: int, frame: object) -> None:
    """End as a shell reports a signal, after everything half-written has been removed."""
    sys.exit(128 + number)


def run() -> None:
    """Entry point of the ``hybridcli`` script."""
    if sys.stderr is None:  # closed by the caller: without this, what is said would be printed among the data
        sys.stderr = open(os.devnull, "w")
    signal.signal(signal.SIGTERM, _terminated)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup has it ignored
        signal.signal(signal.SIGHUP, _terminated)
    code = main()
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError) and code == 0:
            print(f"hybridcli: <stdout>: cannot be written: {error.strerror}", file=sys.stderr)
            code = 1
    sys.exit(code)
