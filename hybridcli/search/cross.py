"""Cross-encoders of the sentence-transformers library: models that read a query and a passage together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hybridcli.console import note
from hybridcli.errors import DataError, MissingComponentError
from hybridcli.search.hub import find_model, first_line, no_model
from hybridcli.search.models import INSTALL_DENSE


class CrossScorer:
    """A loaded cross-encoder; ``model``: a folder, or an id of the Hugging Face hub."""

    def __init__(self, model: str, device: str | None = None, max_length: int | None = None) -> None:
        local = find_model(model, model)
        note(f"loading the cross-encoder {model} (takes some seconds) …")
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise MissingComponentError(
                f"a cross-encoder needs sentence-transformers ({error})", INSTALL_DENSE
            ) from None
        try:
            self._model = CrossEncoder(
                model,
                max_length=max_length,
                device=device,
                local_files_only=local,
                trust_remote_code=False,
            )
        except (OSError, ValueError, RuntimeError) as error:
            if Path(model).is_dir():
                raise DataError(
                    f"cannot be loaded as a cross-encoder: {first_line(error)}", path=model
                ) from None
            raise no_model(model, first_line(error)) from None
        if self._model.num_labels != 1:
            raise DataError(
                f"gives {self._model.num_labels} scores a pair; a re-ranker gives one", path=model
            )

    def score(self, pairs: Sequence[tuple[str, str]], batch: int = 32) -> NDArray[np.float64]:
        """Score (query, passage) pairs before any activation, higher is more relevant: float64[N]."""
        from torch.nn import Identity

        if not pairs:
            return np.zeros(0)
        scores = self._model.predict(
            list(pairs), batch_size=batch, show_progress_bar=False, activation_fn=Identity()
        )
        return np.asarray(scores, dtype=np.float64)
