"""From the bytes of a TREC run to columns: one fast reader, and a cleaner for whatever it cannot read.

The fast reader (``run_columns``) takes the common form only. Anything else goes through ``clean``, which reads line
by line, names what is wrong, and gives the common form back.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from hybridcli.errors import DataError
from hybridcli.formats.files import decode, name_of
from hybridcli.formats.plain import read_plain
from hybridcli.formats.run_columns import RunColumns, run_columns
from hybridcli.names import Names
from hybridcli.records import Floats, Ints

if TYPE_CHECKING:
    import polars as pl

NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)\Z", re.IGNORECASE)
CONTROL = re.compile(rb"[\x00-\x1f]")


@dataclass(slots=True)
class Findings:
    """What is odd about one run but no error, for notes.

    ``rank_lies``: a query whose rank column contradicts its scores, looked for in the first block of the file.
    """

    lines_dropped: int = 0
    duplicates_dropped: int = 0
    first_dropped: str = ""
    rank_lies: str | None = None

    def add(self, other: Findings) -> None:
        """Add the counts of another part of the same run."""
        self.lines_dropped += other.lines_dropped
        self.duplicates_dropped += other.duplicates_dropped
        self.first_dropped = self.first_dropped or other.first_dropped
        self.rank_lies = self.rank_lies or other.rank_lies


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Lines of a run in the order of the file, as columns.

    ``queries``: the qid of each group of neighbouring lines; ``offsets``: int64[G + 1]. ``raw``: bytes; docno n is
    ``raw[starts[n]:starts[n] + sizes[n]]``, and at least 7 bytes stand behind its first. ``scores``: float64[N].
    ``lines``: int64[N], line numbers in the file.
    """

    path: str
    tag: str
    queries: list[str]
    offsets: Ints
    raw: bytes
    starts: Ints
    sizes: Ints
    scores: Floats
    lines: Ints
    findings: Findings = field(default_factory=Findings)

    def docnos(self) -> pl.Series:
        """The docno of each line: polars String [N]."""
        return Names.cut(self.raw, self.starts, self.sizes).series


def parse_rows(
    data: bytes, path: str, first_line: int = 1, *, lenient: bool = False, negate: bool = False
) -> Rows:
    """Read whole lines, each ending in a line feed, of which the first is line ``first_line`` of the file.

    Raises DataError that names file and line for a line that is not a run's (``lenient`` drops it instead).
    ``negate``: scores are distances.
    """
    columns, findings = read_plain(data, run_columns), Findings()
    if columns is not None:
        lines = np.arange(first_line, first_line + len(columns.scores))
    else:
        cleaned, lines, findings = clean(data, path, first_line, lenient=lenient)
        columns = run_columns(cleaned, comments=False)
        assert columns is not None, "cleaned lines are plain"
    queries, begins = columns.queries(), np.flatnonzero(columns.begins)
    scores = -columns.scores if negate else columns.scores
    offsets = np.append(begins, len(scores))
    if first_line == 1:
        findings.rank_lies = _rank_lie(columns, scores, offsets, queries)
    return Rows(
        path=path,
        tag=columns.tag() if queries else "run",
        queries=queries,
        offsets=offsets,
        raw=columns.raw,
        starts=columns.starts,
        sizes=columns.sizes,
        scores=scores,
        lines=lines,
        findings=findings,
    )


def no_rows(path: str) -> Rows:
    """A run, or a part of one, without lines."""
    return parse_rows(b"", path)


def _rank_lie(columns: RunColumns, scores: Floats, offsets: Ints, queries: list[str]) -> str | None:
    """Name the first query where the rank does not rise from a line to the next although the score falls."""
    rank, above = columns.ranks[1:], columns.ranks[:-1]
    falls, rises = scores[1:] < scores[:-1], scores[1:] > scores[:-1]
    lies = ((falls & (rank <= above)) | (rises & (rank >= above))) & (rank > 0) & (above > 0)
    lies &= ~columns.begins[1:]  # from one query to the next
    if not lies.any():
        return None
    return queries[int(np.searchsorted(offsets, np.argmax(lies), side="right")) - 1]


def clean(data: bytes, path: str, first_line: int, *, lenient: bool) -> tuple[bytes, Ints, Findings]:
    """Bring lines to the common form: bytes, the line number of each, and what was dropped."""
    kept: list[bytes] = []
    lines: list[int] = []
    findings = Findings()
    for number, line in enumerate(data.split(b"\n")[:-1], start=first_line):
        columns = line.split()
        if not columns or line.startswith(b"#"):
            continue
        try:
            wrong = _what_is_wrong(columns)
            if wrong is not None:
                raise DataError(wrong, path=name_of(path), line=number)
            decode(line, path, number)
        except DataError as error:
            if not lenient:
                raise
            findings.lines_dropped += 1
            findings.first_dropped = findings.first_dropped or str(error)
            continue
        columns[4] = repr(float(columns[4])).encode()
        kept.append(b" ".join(columns))
        lines.append(number)
    return b"".join(line + b"\n" for line in kept), np.array(lines, dtype=np.int64), findings


def _what_is_wrong(columns: list[bytes]) -> str | None:
    """Say what is wrong with a line of a run; None if nothing is."""
    if len(columns) != 6:
        return f"expected 6 columns, found {len(columns)}{_hint(columns)}"
    text = columns[4]
    shown = ascii(text.decode("utf-8", "replace"))
    if NOT_FINITE.match(text):
        return (
            f"the score of {columns[2].decode('utf-8', 'replace')} is {text.decode()}; scores must be finite"
        )
    if not NUMBER.match(text):
        comma = "; write the decimals after a point" if NUMBER.match(text.replace(b",", b".")) else ""
        return f"score {shown} is not a number{comma}"
    if not math.isfinite(float(text)):
        return f"score {shown} is too large for a 64-bit float"
    if columns[0].startswith(b"#"):
        return "the qid begins with #: at the start of a line it would be a comment"
    if any(CONTROL.search(column) for column in columns):
        return "a control character stands inside a column"
    return None


def _hint(columns: list[bytes]) -> str:
    if len(columns) == 4 and columns[3].lstrip(b"-").isdigit():
        return "; this looks like qrels (qid 0 docno rel), not a run"
    if len(columns) > 6:
        return "; does an id or the tag hold a blank?"
    if len(columns) == 5 and NUMBER.match(columns[4]):
        return "; is the tag missing?"
    return ""
