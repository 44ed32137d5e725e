"""Writing a clean file from what is left of one that was checked."""

from __future__ import annotations

from hybridcli.commands.checking.reading import Checked
from hybridcli.errors import UsageError
from hybridcli.formats.checks.qrels import CleanQrels
from hybridcli.formats.files import STDIN
from hybridcli.formats.qrels import write_qrels
from hybridcli.formats.runs import write_run
from hybridcli.formats.topics import write_topics
from hybridcli.records import Run, Topics

FIXABLE = ("run", "qrels", "topics")


def fix_file(checked: Checked, output: str) -> list[str]:
    """Write the clean form of a run, qrels or topics and say what was done; write nothing if nothing is left."""
    sheet, content = checked.sheet, checked.content
    if sheet.kind not in (*FIXABLE, "unknown"):
        raise UsageError(f"--fix writes {', '.join(FIXABLE)}; {sheet.path} is {sheet.kind}")
    shown = "<stdout>" if output == STDIN else output
    if content is None:
        return [f"{shown} not written: nothing in {sheet.path} can be read"]
    if isinstance(content, Run):
        write_run(content, output, double=True)
    elif isinstance(content, CleanQrels):
        write_qrels(output, content.rows)
    elif isinstance(content, Topics):
        write_topics(content, output)
    return [f"{shown} written: " + "; ".join(_done(checked))]


def _done(checked: Checked) -> list[str]:
    kinds = [problem.kind for problem in checked.sheet.problems if problem.wrong]
    again = kinds.count("duplicate")
    conflicts = kinds.count("conflict")
    empty = kinds.count("empty-query")
    bad = len(kinds) - again - conflicts - empty
    done = []
    if bad:
        done.append(f"{bad:,} bad line{'s' if bad > 1 else ''} dropped")
    if again:
        kept = "best score" if checked.sheet.kind == "run" else "first"
        done.append(f"{again:,} duplicate{'s' if again > 1 else ''} dropped, the {kept} kept")
    if conflicts:
        done.append(f"of {conflicts:,} pairs of grades the higher one kept")
    if empty:
        done.append(f"{empty:,} empty queries kept")
    if checked.sheet.kind == "run":
        done.append("one order, ranks from 1, single blanks, one tag; scores as they were")
    else:
        done.append("one line each, single separators")
    return done
