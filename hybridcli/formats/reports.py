"""Reports that ``route`` writes as JSON, read again."""

from __future__ import annotations

import json
from typing import Any

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of, read_bytes

SCHEMA = "hybridcli/route/1"
FIELDS: dict[str, type] = {
    "runs": list,
    "grid": str,
    "forced": list,
    "n": int,
    "measures": list,
    "rows": list,
    "choices": dict,
    "folds": int,
    "repeats": int,
    "seed": int,
}


def read_report(path: str) -> dict[str, Any]:
    """Read a ``report.json`` of ``route --out-dir``; a DataError says what else it is."""
    try:
        document = json.loads(read_bytes(path))
    except json.JSONDecodeError as error:
        raise DataError(f"is not JSON: {error.msg}", path=name_of(path), line=error.lineno) from None
    except UnicodeDecodeError:
        raise DataError("is not a report of route, which is JSON", path=name_of(path)) from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise DataError(f"is not a report of route (schema {SCHEMA})", path=name_of(path))
    missing = [field for field in FIELDS if field not in document]
    if missing:
        raise DataError(f"misses {', '.join(missing)}; run route again", path=name_of(path))
    wrong = [field for field, kind in FIELDS.items() if not isinstance(document[field], kind)]
    wrong += [field for field in ("runs", "measures") if field not in wrong and not document[field]]
    if wrong:
        raise DataError(f"{wrong[0]} is not as route wrote it; run route again", path=name_of(path))
    return document
