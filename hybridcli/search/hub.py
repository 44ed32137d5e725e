"""Models of the Hugging Face hub: what is on this machine, whether the net can be asked, errors a person can act on."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from hybridcli.errors import DataError, MissingComponentError
from hybridcli.network import hub_is_silent
from hybridcli.search.models import INSTALL_DENSE

QUIET = {
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "true",
    "TRANSFORMERS_VERBOSITY": "error",
}


def quiet() -> None:
    """Silence telemetry, progress bars and chatter of the Hugging Face libraries, unless the user has set them."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    for name in ("sentence_transformers", "transformers", "huggingface_hub"):
        logging.getLogger(name).setLevel(logging.ERROR)


def first_line(error: Exception) -> str:
    """The first line of an error's message."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def no_model(model: str, reason: str) -> MissingComponentError:
    """The error for a model that is neither here nor to be had."""
    return MissingComponentError(
        f"model {model!r} is not on this machine and cannot be fetched: {reason}\n"
        "  --model minilm needs no network",
        f"hf download {model}",
    )


def is_cached(model: str) -> bool:
    """Whether the hub's cache on this machine has the model; then nothing is asked on the net."""
    try:
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError
    except ImportError:
        raise MissingComponentError("dense retrieval needs sentence-transformers", INSTALL_DENSE) from None
    names = [model] if "/" in model else [f"sentence-transformers/{model}", model]
    try:
        found = [
            try_to_load_from_cache(name, file) for name in names for file in ("modules.json", "config.json")
        ]
    except HFValidationError:
        raise DataError("no such model folder, and no id of the Hugging Face hub", path=model) from None
    return any(isinstance(file, str) for file in found)


def require_network(model: str) -> None:
    """Fail at once where the hub cannot be asked."""
    reason = hub_is_silent()
    if reason is not None:
        raise no_model(model, reason)


def find_model(place: str, model: str) -> bool:
    """Whether a model is on this machine, so that nothing is asked on the net; ``place``: its folder, or its id.

    Raises DataError for a folder that is not there, MissingComponentError where the net is needed and not there.
    """
    if place.startswith((".", "/", "~")) and not Path(place).is_dir():
        raise DataError("no such model folder", path=place)
    quiet()
    local = Path(place).is_dir() or is_cached(place)
    if not local:
        require_network(model)
    return local
