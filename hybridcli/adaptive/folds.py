"""Folds and validation splits that keep a group whole: what is held out is never in training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import UsageError
from hybridcli.records import Codes

# a grouping that was drawn before is drawn again, at most this often
REDRAWS = 1000


def group_codes(of_query: Sequence[str]) -> Codes:
    """Number the groups of Q queries in ascending order of their names: int32[Q].

    Without groups give the qids: each query is then its own group, and every split below a plain query split.
    """
    number = {name: i for i, name in enumerate(sorted(set(of_query)))}
    return np.array([number[name] for name in of_query], dtype=np.int32)


def deal(sizes: NDArray[np.int64], folds: int, rng: np.random.Generator) -> Codes:
    """Deal G groups to folds in shuffled order, each to the fold with the fewest queries so far: int32[G].

    ``sizes``: queries of each group, at least 1, so no fold stays empty when there are enough groups.
    """
    fold_of = np.zeros(len(sizes), dtype=np.int32)
    filled = [0] * folds
    for group in rng.permutation(len(sizes)).tolist():
        fold = filled.index(min(filled))
        fold_of[group] = fold
        filled[fold] += int(sizes[group])
    return fold_of


def canonical(labels: Codes) -> bytes:
    """The same bytes for the same partition, however its parts are numbered."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int32).tobytes()


def repeated_folds(groups: Codes, folds: int, repeats: int, seed: int) -> Codes:
    """Draw ``repeats`` different partitions of the groups into folds: int32[repeats, Q], folds from 0.

    ``groups``: int32[Q], the group of each query. Every repetition differs from every other as a partition
    of the groups. Raises UsageError when there are fewer groups than folds, or too few different partitions.
    """
    sizes = np.bincount(groups)
    if folds < 2:
        raise UsageError(f"--folds {folds}: at least 2 folds are needed")
    if len(sizes) < folds:
        raise UsageError(f"--folds {folds}: there are only {len(sizes)} groups; use fewer folds")
    rng = np.random.default_rng(seed)
    seen: set[bytes] = set()
    drawn: list[Codes] = []
    for _ in range(repeats):
        for _ in range(REDRAWS):
            fold_of_group = deal(sizes, folds, rng)
            if canonical(fold_of_group) not in seen:
                break
        else:
            raise UsageError(
                f"--repeats {repeats}: only {len(drawn)} different groupings of {len(sizes)} groups into "
                f"{folds} folds were found; use fewer repeats"
            )
        seen.add(canonical(fold_of_group))
        drawn.append(fold_of_group[groups])
    return np.array(drawn, dtype=np.int32)


def leave_one_out(groups: Codes) -> Codes:
    """One repetition with a fold for each group: int32[1, Q]."""
    if len(np.unique(groups)) < 2:
        raise UsageError("--leave-one-group-out needs at least 2 groups")
    return groups[None, :].astype(np.int32)


def validation_split(
    groups: Codes, training: NDArray[np.bool_], share: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Choose the training queries that models are chosen on: bool[Q], whole groups, a subset of ``training``.

    About ``share`` of the training groups, at least one, and at least one group stays to fit on.
    Raises UsageError when the training part has a single group.
    """
    candidates = np.unique(groups[training])
    if len(candidates) < 2:
        raise UsageError(
            "a training part has a single group, so none can be set aside for validation; use fewer folds, "
            "or --validation 0 with a router that only tunes weights"
        )
    count = min(max(1, round(share * len(candidates))), len(candidates) - 1)
    chosen = rng.permutation(candidates)[:count]
    return training & np.isin(groups, chosen)
