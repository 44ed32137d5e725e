"""Reading a model's ``tokenizer.json`` with the ``tokenizers`` library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hybridcli.errors import DataError


def read_tokenizer(file: Path) -> Any:
    """Read a ``tokenizer.json``; raises DataError when it is none, ImportError without the library."""
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_buffer(file.read_bytes())
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=str(file)) from None
    except Exception:  # the library raises nothing narrower
        raise DataError("is not a tokenizer.json of a fast tokenizer", path=str(file)) from None
