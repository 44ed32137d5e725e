"""Out-of-fold re-ranking: every query is scored by a re-ranker that has seen neither it nor its group."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, MutableMapping
from dataclasses import asdict
from typing import Any
from zlib import crc32

import numpy as np

from hybridcli.adaptive.pairs import Lists, first_rows
from hybridcli.adaptive.rerankers import Reranker, Settings
from hybridcli.errors import UsageError
from hybridcli.records import Codes, Floats

# finished cells: {"scores": [float, …]} by re-ranker, settings, repeat and fold
Cells = MutableMapping[str, dict[str, Any]]


def cell_key(entry: Reranker, settings: Settings, repeat: int, fold: int) -> str:
    """Name a cell by all that it depends on besides the inputs."""
    knobs = ",".join(f"{name}={getattr(settings, name)}" for name in entry.knobs)
    return f"{entry.name}({knobs})/{repeat}/{fold}"


def fingerprint(*parts: object) -> str:
    """A hash of what all cells depend on: arrays by their bytes, everything else by its text."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(repr((part.shape, str(part.dtype))).encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        else:
            digest.update(repr(part).encode())
    return digest.hexdigest()


def score_held_out(
    training: Lists, held: Lists, entry: Reranker, settings: Settings, rng: np.random.Generator
) -> Floats:
    """Fit on the first k candidates of training queries, score those of held-out ones: float64[rows of held].

    Training queries without a relevant candidate teach nothing and are left out.
    """
    from threadpoolctl import threadpool_limits

    training = training.first(settings.k)
    training = training.take(np.flatnonzero(training.found))
    if entry.learns and len(training.offsets) == 1:
        raise UsageError(
            f"no training query has a relevant document among its first {settings.k}; use a larger -k or fewer folds"
        )
    with threadpool_limits(1):  # the same bytes whatever the number of threads
        return entry.fit(training, settings, rng)(held.first(settings.k).pairs)


def cross_score(
    lists: Lists, folds: Codes, entry: Reranker, settings: Settings, seed: int, done: Cells
) -> Iterator[Floats | None]:
    """Score every fold's candidates by a re-ranker fitted on the other folds; yield None after each cell.

    ``folds``: int32[repeats, Q] (``adaptive.folds``); -1: neither learned from nor scored (NaN). Gives
    float64[repeats, rows of the first k] at last. What is random depends on seed, repeat, fold and the re-ranker's
    name only. Cells found in ``done`` are taken from there, finished ones put there.
    """
    queries = np.repeat(np.arange(len(lists.offsets) - 1), np.diff(lists.first(settings.k).offsets))
    scores = np.full((len(folds), len(queries)), np.nan)
    for repeat, fold_of in enumerate(folds):
        for fold in range(int(fold_of.max()) + 1):
            key = cell_key(entry, settings, repeat, fold)
            held, rest = fold_of == fold, (fold_of != fold) & (fold_of >= 0)
            if key not in done:
                rng = np.random.default_rng([seed, repeat, fold, crc32(entry.name.encode())])
                training, test = (lists.take(np.flatnonzero(rows)) for rows in (rest, held))
                found = score_held_out(training, test, entry, settings, rng)
                done[key] = {"scores": found.tolist()}
            scores[repeat, fold_of[queries] == fold] = done[key]["scores"]
            yield None
    yield scores


def ideal_scores(lists: Lists, k: int) -> Floats:
    """The grades of the first k candidates: the best order that any re-ranker of them could give."""
    return lists.grades[first_rows(lists.offsets, k)].astype(np.float64)


def described(entry: Reranker, settings: Settings) -> dict[str, Any]:
    """The settings that this re-ranker takes, by name."""
    return {name: value for name, value in asdict(settings).items() if name in entry.knobs}
