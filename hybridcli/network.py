"""Whether the Hugging Face hub can be asked now."""

from __future__ import annotations

import urllib.error
import urllib.request


def hub_is_silent() -> str | None:
    """Say why the hub cannot be asked; None when it answers. Its own library would try again for half a minute."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    try:
        urllib.request.urlopen(urllib.request.Request(constants.ENDPOINT, method="HEAD"), timeout=10).close()
    except urllib.error.HTTPError:
        return None  # it answers; what it says about a model is for the library to tell
    except OSError as error:
        return f"{constants.ENDPOINT} does not answer ({error})"
    return None
