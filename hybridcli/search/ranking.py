"""From scores to ranked lists in the one order: float32 score descending, then docno descending in bytes.

Everywhere here a document's code is its place among the docnos in ascending byte order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybridcli.names import Names
from hybridcli.records import Ints, Run, offsets_of

Scores = NDArray[np.float32]
Ranking = tuple[Ints, Scores]


def best(codes: Ints, scores: Scores, depth: int) -> Ranking:
    """Put the candidates in the one order and keep the first ``depth``."""
    order = np.lexsort((-codes, -scores))[:depth]
    return codes[order], scores[order]


def best_positive(scores: Scores, depth: int) -> Ranking:
    """Rank the documents of ``scores`` (float32[V]) that score above 0; ties at the cut respect the order."""
    codes = np.flatnonzero(scores > 0)
    found = scores[codes]
    if len(found) > depth > 0:
        lowest = np.partition(found, len(found) - depth)[len(found) - depth]
        codes = codes[found >= lowest]
    return best(codes, scores[codes], depth)


def collect_run(tag: str, qids: Sequence[str], docnos: Sequence[str], rankings: Sequence[Ranking]) -> Run:
    """Join the ranked lists of all queries into a run; ``docnos`` ascend in bytes."""
    lengths = np.array([len(codes) for codes, _ in rankings], dtype=np.int64)
    codes = [ranking[0] for ranking in rankings]
    scores = [ranking[1] for ranking in rankings]
    return Run(
        tag=tag,
        queries=list(qids),
        offsets=offsets_of(lengths),
        docs=np.concatenate(codes).astype(np.int32) if codes else np.zeros(0, np.int32),
        scores=np.concatenate(scores).astype(np.float64) if scores else np.zeros(0, np.float64),
        docnos=Names.of(docnos),
    )
