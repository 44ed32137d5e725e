"""``hybridcli sweep``."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from hybridcli import __version__, options
from hybridcli.adaptive.sweeps import Report, Setting, settings_of, weightings
from hybridcli.errors import DataError
from hybridcli.formats.files import STDIN, name_of, require_one_stdin, stem_of, write_text
from hybridcli.formats.reports import read_report
from hybridcli.report.sweeps import sweep_document, sweep_tables
from hybridcli.report.tables import json_text, render, require_format


def sweep(
    reports: Annotated[
        list[str],
        typer.Argument(metavar="REPORT...", help="report.json files of route --out-dir, one a setting."),
    ],
    output: options.Output = "-",
    form: options.Form = "table",
) -> None:
    """Put reports of route side by side: what each setting reached, what it chose, and how stably.

    A setting is called by its report's folder. The number of different weightings that were tried is that of all
    reports together: panels of runs share the weightings of their common runs.

    Example: hybridcli sweep cells/k-10/report.json cells/k-60/report.json -o sweep.txt
    """
    require_one_stdin(*reports)
    require_format(form)
    read = [read_report(path) for path in reports]
    named = zip(reports, _labels(reports), read, strict=True)
    settings = [
        asdict(setting) for path, label, report in named for setting in _settings(path, label, report)
    ]
    document = sweep_document(settings, weightings(read), read, __version__)
    if form == "json":
        write_text(output, json_text(document))
    else:
        write_text(output, render(form, *sweep_tables(document)))


def _settings(path: str, label: str, report: Report) -> list[Setting]:
    try:
        return settings_of(label, report)
    except (KeyError, TypeError, ValueError):
        raise DataError(
            "its rows or choices are not as route wrote them; run route again", path=name_of(path)
        ) from None


def _labels(paths: Sequence[str]) -> list[str]:
    """Folders below the one that all reports share; a single report's own folder, or its file's stem."""
    if STDIN in paths:
        return [stem_of(path) for path in paths]
    folders = [Path(path).resolve().parent for path in paths]
    if len(set(folders)) < len(folders):
        return [stem_of(path) for path in paths]
    if len(folders) == 1:
        return [folders[0].name]
    shared = os.path.commonpath(folders)
    return [folder.relative_to(shared).as_posix() for folder in folders]
