"""Checks of a mapping: windows of another corpus, unresolved references, a sheet that a person judged."""

from __future__ import annotations

from collections.abc import Sequence

from hybridcli.console import note, say, warn
from hybridcli.errors import DataError, UsageError
from hybridcli.evaluation.audit import Strata, precisions
from hybridcli.formats.audits import read_sheet
from hybridcli.formats.files import name_of
from hybridcli.records import Judged, Label
from hybridcli.report.labels import precision_lines
from hybridcli.text.mapping import NO_DOCUMENT
from hybridcli.text.outcome import groups_of, missing_documents, without


def parse_thresholds(text: str | None) -> list[int]:
    """Read the words of --audit, such as 256,512."""
    try:
        thresholds = [int(number) for number in text.split(",")] if text is not None else []
    except ValueError:
        thresholds = [0]
    if any(number < 1 for number in thresholds):
        raise UsageError(f"--audit takes words such as 256,512, found {text!r}")
    return thresholds


def check_labels(
    labels: Sequence[Label], judged: Sequence[Judged], references: str, windows: str, strict: bool
) -> None:
    """Refuse what cannot be meant: a windows file of another corpus; with ``strict`` any failure."""
    failed = [label for label in labels if label.reason]
    missing = missing_documents(judged, labels)
    if missing and all(label.reason == NO_DOCUMENT for label in labels):
        shown = ", ".join(missing[:3])
        problem = f"none of the documents that {name_of(references)} names is here ({shown})"
        raise DataError(f"{problem}; are these windows of another corpus?", path=name_of(windows))
    if strict and failed:
        shown = ", ".join(f"{label.qid} {label.reference} ({label.reason})" for label in failed[:5])
        raise DataError(f"unresolved references: {len(failed)}: {shown}", path=name_of(references))
    if len(failed) == len(labels):
        warn("no reference was found in the windows: the qrels are empty")
    if missing:
        warn(
            f"documents that queries name and that have no windows: {len(missing)}: {', '.join(missing[:5])}"
        )


def apply_sheet(labels: Sequence[Label], strata: Strata, audited: str) -> list[Label]:
    """Print the precision that a judged sheet gives and take away the references it calls wrong."""
    windows_of = {(label.qid, label.reference): label.windows for label in labels if not label.reason}
    verdicts = {}
    for row in read_sheet(audited):
        if windows_of.get((row.qid, row.reference)) != row.windows:
            raise DataError(
                f"query {row.qid}, reference {row.reference} has other windows now; the sheet was drawn from "
                "other references, windows or options",
                path=name_of(audited),
                line=row.line,
            )
        if row.right is not None:
            verdicts[row.qid, row.reference] = row.right
    say(precision_lines(precisions(strata, verdicts)))
    wrong = {name for name, right in verdicts.items() if not right}
    note(f"references judged: {len(verdicts)}; wrong and left out of the qrels: {len(wrong)}")
    return without(labels, wrong)


def named_groups(judged: Sequence[Judged], labels: Sequence[Label]) -> dict[str, str]:
    """Each query's group, saying how many do not name theirs."""
    groups, guessed = groups_of(judged, labels)
    if guessed:
        note(f"queries that say no group, for which their document stands: {guessed}")
    if len(groups) < len(judged):
        note(f"queries with neither group nor document, left out of the groups: {len(judged) - len(groups)}")
    return groups
