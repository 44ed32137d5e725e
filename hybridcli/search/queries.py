"""Encoding topics for an index of vectors: with the model that it names, or from vectors made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from hybridcli.console import warn
from hybridcli.errors import DataError, UsageError
from hybridcli.records import Topics
from hybridcli.search.encoding import encode_texts, loss_of
from hybridcli.search.index import Index
from hybridcli.search.models import Encoder, ModelSpec, Vectors, load_encoder, rows_of, unit_rows
from hybridcli.search.settings import SearchOptions

PROBE_FILE = "probe.npy"
PROBE = "Net income per share was $1.23 in fiscal 2023."
# cosines below this are another model, not another machine or number type
SAME_MODEL = 0.98


def probe_of(encoder: Encoder, spec: ModelSpec) -> Vectors:
    """The vector of a test sentence; it tells other weights under the same name."""
    return unit_rows(encoder.encode([[PROBE]], encoder.passage_prefix)[0], spec.dim)


class TopicEncoder:
    """Turns topics into vectors that fit the index ``part``."""

    def __init__(self, part: Index, options: SearchOptions) -> None:
        stored = part.options["model"]
        self._spec = None if stored is None else ModelSpec(**stored)
        if options.model is not None:
            self._spec = replace(self._spec or ModelSpec(), model=options.model)
        self._options, self._dim = options, int(part.options["dim"])
        probe = part.path / PROBE_FILE
        self._probe = np.load(probe, allow_pickle=False) if probe.exists() else None
        self.tag = "dense" if self._spec is None else "-".join(Path(self._spec.model).name.split())

    def encode(self, topics: Topics) -> Vectors:
        """Give the topics' vectors: float32[Q, dim], rows of length 1."""
        if self._options.query_vectors is not None:
            return self._given(topics, *self._options.query_vectors)
        if self._spec is None:
            raise UsageError(
                "this index was made from saved vectors without a model: give --model, or --embeddings for the topics"
            )
        encoder = load_encoder(self._spec, self._options.devices)
        if encoder.dim < self._dim:
            raise DataError(
                f"the index has {self._dim} dimensions, the model {self._spec.model} {encoder.dim}"
            )
        spec = replace(self._spec, dim=self._dim)
        if self._probe is not None and float(np.vdot(probe_of(encoder, spec), self._probe)) < SAME_MODEL:
            raise DataError(
                f"the model {self._spec.model} is not the one that built the index (it encodes a test sentence "
                "differently); build the index again"
            )
        texts = topics.texts
        loss = loss_of(encoder, texts, encoder.query_prefix)
        if loss.over:
            warn(f"{loss.over} of {len(texts)} topics exceed the encoder's {encoder.max_length} tokens")
        return encode_texts(
            encoder, texts, encoder.query_prefix, self._options.batch or encoder.batch, self._dim
        )

    def _given(self, topics: Topics, qids: Sequence[str], vectors: Vectors) -> Vectors:
        if vectors.ndim != 2 or len(vectors) != len(qids) or vectors.shape[1] < self._dim:
            raise DataError(
                f"found query vectors of shape {vectors.shape} for {len(qids)} qids; a row of {self._dim} numbers "
                "for each is needed"
            )
        place = {qid: row for row, qid in enumerate(qids)}
        missing = [qid for qid in topics.qids if qid not in place]
        if missing:
            raise DataError(
                f"no vector for {len(missing)} of {len(topics.qids)} topics, the first is {missing[0]}"
            )
        rows = rows_of(vectors, [place[qid] for qid in topics.qids], topics.qids, np.float32)
        return unit_rows(rows, self._dim)
