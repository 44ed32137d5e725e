"""Errors a person can act on, each with its documented exit code.

0 done · 1 the data is wrong · 2 usage · 3 a component is missing · 130 interrupted.
Raise these anywhere; only ``hybridcli.cli.main`` catches them and exits.
"""

from __future__ import annotations


class HybridcliError(Exception):
    """Base of every expected failure; ``exit_code`` is what the process returns."""

    exit_code = 1


class DataError(HybridcliError):
    """An input is wrong: names the file, the line when there is one, what was found and what to do."""

    def __init__(self, message: str, *, path: str | None = None, line: int | None = None) -> None:
        self.path, self.line, self.message = path, line, message
        place = "" if path is None else f"{path}:{line}: " if line is not None else f"{path}: "
        super().__init__(place + message)


class UsageError(HybridcliError):
    """The command line asks for something that cannot be."""

    exit_code = 2


class MissingComponentError(HybridcliError):
    """An extra, Java or a model is missing; ``install`` is the exact line that brings it."""

    exit_code = 3

    def __init__(self, what: str, install: str) -> None:
        super().__init__(f"{what}\n  install it with: {install}")


class ClosedPipe(Exception):
    """The reader of stdout has gone (``| head``): not an error, the process ends quietly with 0."""


class InterruptedRun(HybridcliError):
    """Ctrl-C during long work; the message says how to go on."""

    exit_code = 130
