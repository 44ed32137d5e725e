"""Saved routers: one JSON object of plain numbers; nothing in it is executed."""

from __future__ import annotations

import json
from typing import Any

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of, read_bytes, write_text

SCHEMA = "hybridcli/router/1"
FIELDS: dict[str, type | tuple[type, ...]] = {
    "router": str,
    "tags": list,
    "depth": (int, type(None)),
    "features": list,
    "words": dict,
    "state": dict,
}


def write_router(path: str, document: dict[str, Any]) -> None:
    """Write a fitted router with what it needs to be applied; numbers read back exactly."""
    write_text(path, json.dumps({"schema": SCHEMA, **document}, ensure_ascii=False) + "\n")


def read_router(path: str) -> dict[str, Any]:
    """Read what ``write_router`` wrote; a DataError says what else it is."""
    try:
        document = json.loads(read_bytes(path), parse_constant=lambda name: _refuse(name, path))
    except json.JSONDecodeError as error:
        raise DataError(f"is not JSON: {error.msg}", path=name_of(path), line=error.lineno) from None
    except UnicodeDecodeError:
        raise DataError("is not a saved router, which is JSON", path=name_of(path)) from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise DataError(f"is not a router saved by this hybridcli (schema {SCHEMA})", path=name_of(path))
    missing = [field for field in FIELDS if field not in document]
    if missing:
        raise DataError(f"misses {', '.join(missing)}; save the router again", path=name_of(path))
    wrong = [field for field, kind in FIELDS.items() if not isinstance(document[field], kind)]
    lists = [field for field in ("tags", "features") if field not in wrong]
    wrong += [field for field in lists if not _are_words(document[field])]
    wrong += (
        ["words"] if "words" not in wrong and not all(map(_are_words, document["words"].values())) else []
    )
    if wrong:
        raise DataError(f"{wrong[0]} is not of its type; save the router again", path=name_of(path))
    return document


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _refuse(name: str, path: str) -> None:
    """JSON has no NaN and no infinity, though Python reads them."""
    raise DataError(f"holds {name}; save the router again", path=name_of(path))
