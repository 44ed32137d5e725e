"""Tables of per-query values at every point of a grid, as one ``.npz`` of plain arrays (no pickle)."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of, open_output, read_bytes
from hybridcli.records import Codes, Floats

SCHEMA = "hybridcli/landscape/1"
ARRAYS = ("weights", "values", "best")


@dataclass(frozen=True, slots=True, eq=False)
class StoredTable:
    """``weights``: float64[P, R] of R ``runs``; ``values``: float64[M, P, Q] of M ``measures`` and Q ``queries``;
    ``best``: int32[R, Q], best rank of a relevant document in each run, 0 where there is none."""

    runs: list[str]
    measures: list[str]
    queries: list[str]
    weights: Floats
    values: Floats
    best: Codes


def write_table(path: str, table: StoredTable) -> None:
    """Write a table; the same bytes for the same table."""
    meta = {"schema": SCHEMA, "runs": table.runs, "measures": table.measures, "queries": table.queries}
    arrays: dict[str, NDArray[np.generic]] = {name: getattr(table, name) for name in ARRAYS}
    arrays["meta"] = np.frombuffer(json.dumps(meta, ensure_ascii=False).encode(), dtype=np.uint8)
    with open_output(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
            packed.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue())


def read_table(path: str) -> StoredTable:
    """Read what ``write_table`` wrote; anything else is a DataError."""
    try:
        with np.load(io.BytesIO(read_bytes(path)), allow_pickle=False) as packed:
            meta = json.loads(packed["meta"].tobytes())
            arrays = {name: packed[name] for name in ARRAYS}
    except (TypeError, ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(
            f"is not a table that oracle --table-out wrote: {error}", path=name_of(path)
        ) from None
    if meta.get("schema") != SCHEMA:
        raise DataError(f"is not a table of this hybridcli (schema {SCHEMA})", path=name_of(path))
    return StoredTable(meta["runs"], meta["measures"], meta["queries"], **arrays)


def join_tables(paths: Sequence[str]) -> StoredTable:
    """Read several tables, of different queries, as one; they must agree in runs, measures and weights."""
    tables = [read_table(path) for path in paths]
    first = tables[0]
    seen: dict[str, str] = {}
    for path, table in zip(paths, tables, strict=True):
        same = (table.runs, table.measures) == (first.runs, first.measures)
        if not same or not np.array_equal(table.weights, first.weights):
            raise DataError(
                f"has other runs, measures or weights than {name_of(paths[0])}", path=name_of(path)
            )
        for qid in table.queries:
            if seen.setdefault(qid, path) != path:
                raise DataError(f"query {qid} stands in {name_of(seen[qid])} too", path=name_of(path))
    return StoredTable(
        first.runs,
        first.measures,
        [qid for table in tables for qid in table.queries],
        first.weights,
        np.concatenate([table.values for table in tables], axis=2),
        np.concatenate([table.best for table in tables], axis=1),
    )
