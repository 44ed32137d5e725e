"""From the bytes of a TREC run to columns: one fast reader, and a cleaner for whatever it cannot read.

The fast reader takes the common form only: six columns, single blanks, no comments. Anything else goes through
``clean``, which reads line by line, names what is wrong, and gives the common form back.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import DataError
from hybridcli.formats.files import decode, name_of
from hybridcli.formats.plain import boundaries, plain_form
from hybridcli.records import Floats, Ints, offsets_of

if TYPE_CHECKING:
    import polars as pl

# polars' own names for the six columns of a file without a head line
DOCNO, SCORE = "column_3", "column_5"
COLUMNS = tuple(f"column_{i}" for i in range(1, 7))
SPARE_BITS = np.arange(64, -1, -8, dtype=np.uint64)  # of a word of 8 bytes that holds 0, 1, … 8
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

    ``queries``: the qid of each group of neighbouring lines; ``offsets``: int64[G + 1]. ``docnos``: polars String
    [N]. ``raw``: the bytes; docno n is ``raw[starts[n]:starts[n] + sizes[n]]``. ``scores``: float64[N].
    ``lines``: int64[N], line numbers in the file.
    """

    path: str
    tag: str
    queries: list[str]
    offsets: Ints
    docnos: pl.Series
    raw: bytes
    starts: Ints
    sizes: Ints
    scores: Floats
    lines: Ints
    findings: Findings = field(default_factory=Findings)


def parse_rows(
    data: bytes, path: str, first_line: int = 1, *, lenient: bool = False, negate: bool = False
) -> Rows:
    """Read whole lines, each ending in a line feed, of which the first is line ``first_line`` of the file.

    Raises DataError that names file and line for a line that is not a run's (``lenient`` drops it instead).
    ``negate``: scores are distances.
    """
    data, table = plain_form(data, len(COLUMNS))
    if table is not None:
        lines = np.arange(first_line, first_line + len(table))
        rows = _parse_plain(data, table, path, lines, Findings(), negate)
        if rows is not None:
            return rows
    cleaned, lines, findings = clean(data, path, first_line, lenient=lenient)
    table = boundaries(cleaned, len(COLUMNS), comments=False)
    assert table is not None, "cleaned lines are plain"
    rows = _parse_plain(cleaned, table, path, lines, findings, negate)
    assert rows is not None, "cleaned scores are numbers"
    return rows


def no_rows(path: str) -> Rows:
    """A run, or a part of one, without lines."""
    return parse_rows(b"", path)


def _parse_plain(
    data: bytes, table: Ints, path: str, lines: Ints, findings: Findings, negate: bool
) -> Rows | None:
    """Read the common form, whose columns end where ``table`` says; None if some score is no finite number."""
    import polars as pl

    starts = table[:, 1] + 1
    sizes = table[:, 2] - starts
    if not len(table):
        none = np.zeros(0)
        docnos = pl.Series("docno", [], dtype=pl.String)
        return Rows(path, "run", [], offsets_of(starts), docnos, data, starts, sizes, none, lines, findings)
    try:
        frame = pl.read_csv(
            data,
            separator=" ",
            has_header=False,
            quote_char=None,
            columns=[DOCNO, SCORE],
            schema={name: pl.Float64 if name == SCORE else pl.String for name in COLUMNS},
        )
    except pl.exceptions.PolarsError:
        return None
    scores = frame[SCORE].to_numpy()
    if len(frame) != len(table) or frame[SCORE].null_count() or not np.isfinite(scores).all():
        return None
    scores = -scores if negate else scores
    first = np.append(0, table[:-1, 5] + 1)
    begins = np.flatnonzero(_changes(data, first, table[:, 0] - first))
    queries = [data[first[row] : table[row, 0]].decode("utf-8") for row in begins]
    offsets = np.append(begins, len(table))
    if lines[0] == 1:
        findings.rank_lies = _rank_lie(data, table, scores, offsets, queries)
    return Rows(
        path=path,
        tag=data[table[0, 4] + 1 : table[0, 5]].decode("utf-8"),
        queries=queries,
        offsets=offsets,
        docnos=frame[DOCNO].alias("docno"),
        raw=data,
        starts=starts,
        sizes=sizes,
        scores=scores,
        lines=lines,
        findings=findings,
    )


def words(raw: bytes, starts: Ints, sizes: Ints) -> NDArray[np.uint64]:
    """Read up to 8 bytes from each start as one big-endian number, so that numbers compare as bytes do: uint64[N].

    What lies beyond ``sizes`` reads as 0; where a size is below 1 the whole number is 0. At least 7 bytes must
    stand behind the first byte wherever a size is above 0.
    """
    if not len(starts):
        return np.zeros(0, dtype=np.uint64)
    everywhere = np.ndarray((len(raw) - 7,), dtype=">u8", buffer=raw, strides=(1,))
    found = everywhere[np.minimum(starts, len(raw) - 8)].astype(np.uint64)
    spare = SPARE_BITS[np.clip(sizes, 0, 8)]
    found >>= spare
    found <<= spare  # numpy shifts by 64 bits give 0
    return found


def _changes(data: bytes, starts: Ints, sizes: Ints) -> NDArray[np.bool_]:
    """Mark the rows whose text is not that of the row before: bool[N]."""
    changes = np.append(True, sizes[1:] != sizes[:-1])
    for position in range(0, int(sizes.max()), 8):
        word = words(data, starts + position, sizes - position)
        changes[1:] |= word[1:] != word[:-1]
    return changes


def _rank_lie(data: bytes, table: Ints, scores: Floats, offsets: Ints, queries: list[str]) -> str | None:
    """Name the first query where the rank does not rise from a line to the next although the score falls."""
    starts = table[:, 2] + 1
    sizes = table[:, 3] - starts
    if sizes.max() > 8:
        return None  # no plain ranks
    # the digits of a rank, right-aligned, read as one number, are in the order of the ranks
    rank = words(data + bytes(8), starts, sizes) >> ((8 - sizes) * 8).astype(np.uint64)
    falls, rises = scores[1:] < scores[:-1], scores[1:] > scores[:-1]
    lies = (falls & (rank[1:] <= rank[:-1])) | (rises & (rank[1:] >= rank[:-1]))
    lies[offsets[1:-1] - 1] = False  # from one query to the next
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
