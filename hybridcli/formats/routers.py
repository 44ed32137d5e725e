"""Saved routers: one JSON object of plain numbers; nothing in it is executed."""

from __future__ import annotations

import json
from typing import Any

from hybridcli.errors import DataError
from hybridcli.formats.files import name_of, read_bytes, write_text

SCHEMA = "hybridcli/router/1"
FIELDS = ("router", "tags", "features", "words", "state")


def write_router(path: str, document: dict[str, Any]) -> None:
    """Write a fitted router with what it needs to be applied; numbers read back exactly."""
    write_text(path, json.dumps({"schema": SCHEMA, **document}, ensure_ascii=False) + "\n")


def read_router(path: str) -> dict[str, Any]:
    """Read what ``write_router`` wrote; a DataError says what else it is."""
    try:
        document = json.loads(read_bytes(path))
    except json.JSONDecodeError as error:
        raise DataError(f"is not JSON: {error.msg}", path=name_of(path), line=error.lineno) from None
    except UnicodeDecodeError:
        raise DataError("is not a saved router, which is JSON", path=name_of(path)) from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise DataError(f"is not a router saved by this hybridcli (schema {SCHEMA})", path=name_of(path))
    missing = [field for field in FIELDS if field not in document]
    if missing:
        raise DataError(f"misses {', '.join(missing)}; save the router again", path=name_of(path))
    return document
