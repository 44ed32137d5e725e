"""``hybridcli check``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

import hybridcli
from hybridcli.commands.checking.fixing import fix_file
from hybridcli.commands.checking.pairing import check_pairs
from hybridcli.commands.checking.reading import check_file, check_recipe
from hybridcli.console import say
from hybridcli.errors import UsageError
from hybridcli.formats.checks.registry import kind_rows
from hybridcli.formats.files import STDIN, require_one_stdin, write_text
from hybridcli.recipe import recording
from hybridcli.report.findings import Findings, as_json, as_text

FORMATS = ("table", "json")


def check(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE...", help="Any of the kinds above; '-' is stdin.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", help="What the files are, where their content does not tell.")
    ] = None,
    qrels: Annotated[
        str | None, typer.Option("--qrels", metavar="FILE", help="Qrels to check, and the runs against them.")
    ] = None,
    topics: Annotated[
        str | None, typer.Option("--topics", metavar="FILE", help="Topics to check, and the runs with them.")
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Write a clean file: one run, qrels or topics, to -o.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="CLEAN", help="Where --fix writes; '-' is stdout."),
    ] = None,
    recipe: Annotated[
        list[str] | None,
        typer.Option(
            "--recipe",
            metavar="RECIPE",
            help="An OUTPUT.recipe.json: are its files as they were? Repeatable.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="Lines listed of each kind of problem; 0: all.")
    ] = 100,
    form: Annotated[
        str, typer.Option("--format", help="table or json (which lists all problems).")
    ] = "table",
) -> None:
    """Say everything that is wrong or odd in files, how they fit, and what other programs make of them.

    Exits with 1 when something must be mended; notes alone exit with 0. A run is compared with the qrels and the
    topics that are given beside it. With --fix, bad lines and duplicates (but for the best score) are left out,
    lines come in one order with ranks from 1, and the exit code still tells whether the input was wrong.

    Example: hybridcli check bm25.run dense.run --qrels qrels.txt --topics topics.tsv
    """
    given = files or []
    kinds = [name for name, _ in kind_rows()]
    require_one_stdin(*given, qrels, topics, *(recipe or []))
    if form not in FORMATS:
        raise UsageError(f"unknown format {form!r}; choose from {', '.join(FORMATS)}")
    if kind is not None and kind not in kinds:
        raise UsageError(f"unknown kind {kind!r}; choose from {', '.join(kinds)}")
    if not (given or qrels or topics or recipe):
        raise UsageError("give at least one file")
    if fix and (len(given) != 1 or output is None):
        raise UsageError("--fix mends one FILE; say with -o where the clean one goes")
    if output is not None and not fix:
        raise UsageError("-o is for the clean file of --fix; the findings go to stdout")
    beside = (("qrels", qrels), ("topics", topics))
    with recording():  # no clean file takes the place of one that is checked
        named = [check_file(path, name) for name, path in beside if path is not None]
        checked = [check_file(path, kind) for path in given]
        findings = Findings(
            hybridcli.__version__,
            sheets=[one.sheet for one in [*checked, *named]] + [check_recipe(path) for path in recipe or []],
            readers={one.sheet.path: one.readers for one in [*checked, *named] if one.readers},
            pairs=list(check_pairs(checked, named)),
        )
        if fix and output is not None:
            findings.fixed = fix_file(checked[0], output)
    text = (
        json.dumps(as_json(findings), indent=1, ensure_ascii=False) + "\n"
        if form == "json"
        else as_text(findings, limit)
    )
    if output == STDIN:
        say([text.rstrip("\n")])
    else:
        write_text(STDIN, text)
    if findings.wrong:
        raise typer.Exit(1)


_KINDS = "\n".join(f"      {name:<11} {about}" for name, about in [*kind_rows(), ("recipe", "of --recipe")])
check.__doc__ = f"""{check.__doc__}
    \b
    Kinds of files:
{_KINDS}
"""
