"""Small two-column tables: groups, slices, categories: TSV ``key<TAB>value``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hybridcli.console import first_of
from hybridcli.errors import DataError
from hybridcli.formats.files import name_of, open_output, read_lines


def read_mapping(path: str, key: str = "qid") -> dict[str, str]:
    """Read ``key<TAB>value`` lines; blank lines and lines that start with ``#`` are skipped.

    Raises DataError for a line without a tab, an empty key, or a key with two different values.
    """
    values: dict[str, str] = {}
    for number, line in read_lines(path):
        if not line.strip() or line.startswith("#"):
            continue
        name, tab, value = line.partition("\t")
        name, value = name.strip(), value.strip()
        if not tab or not name or not value or "\t" in value:
            raise DataError(f"expected {key}<TAB>value, found {line[:60]!r}", path=name_of(path), line=number)
        if values.setdefault(name, value) != value:
            raise DataError(
                f"{key} {name} has two values, {values[name]!r} and {value!r}",
                path=name_of(path),
                line=number,
            )
    return values


def read_values(path: str, queries: Iterable[str], what: str) -> list[str]:
    """Read ``qid<TAB>value`` and give the value of each query, in order; a query without one is a DataError."""
    values = read_mapping(path)
    queries = list(queries)
    missing = [qid for qid in queries if qid not in values]
    if missing:
        raise DataError(
            f"{len(missing)} of {len(queries)} judged queries have no {what}: {first_of(missing)}",
            path=name_of(path),
        )
    return [values[qid] for qid in queries]


def read_ids(path: str) -> list[str]:
    """Read the first column of a file, one id a line (anything after blanks is ignored)."""
    return [line.split()[0] for _, line in read_lines(path) if line.strip() and not line.startswith("#")]


def write_mapping(path: str, rows: Mapping[str, str] | Iterable[tuple[str, str]]) -> None:
    """Write ``key<TAB>value`` lines; tabs and line ends inside a value become blanks."""
    pairs = rows.items() if isinstance(rows, Mapping) else rows
    with open_output(path) as stream:
        for key, value in pairs:
            stream.write(f"{key}\t{' '.join(value.split())}\n".encode())
