"""Runs that an option names, and runs that have nothing to do with the judgements."""

from __future__ import annotations

from collections.abc import Sequence

from hybridcli.console import warn
from hybridcli.errors import UsageError


def require_known_runs(option: str, named: Sequence[str], runs: Sequence[str]) -> None:
    """Refuse an option that names a run which is not among the runs of the command line."""
    strangers = [name for name in named if name not in runs]
    if strangers:
        raise UsageError(f"{option} {strangers[0]}: not among the runs")


def require_tag(tag: str) -> None:
    """Refuse a tag that would break the lines of a run."""
    if tag.split() != [tag] or not tag.isprintable():
        raise UsageError(f"--tag {tag!r} must be one word, without control characters")


def warn_of_foreign_run(label: str, common_queries: int, found: int, relevant: int) -> None:
    """Warn of a run that shares no qid with the qrels, or holds none of their documents: wrong files, most likely.

    ``common_queries``: judged queries of the run; ``found``: judged documents in it; ``relevant``: in the qrels.
    """
    if common_queries == 0:
        warn(f"{label}: no query in common with the qrels, so every value is 0; do they belong together?")
    elif found == 0 and relevant > 0:
        warn(
            f"{label}: none of the judged documents is in it, so every value is 0; are the docnos of one form?"
        )
