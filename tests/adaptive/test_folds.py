"""Folds keep groups whole, differ between repeats, and leave something to fit on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridcli.adaptive.folds import (
    canonical,
    group_codes,
    leave_one_out,
    repeated_folds,
    validation_split,
)
from hybridcli.errors import UsageError

GROUPS = st.lists(st.integers(0, 12), min_size=8, max_size=40).filter(lambda codes: len(set(codes)) >= 6)


def codes_of(raw: list[int]) -> np.ndarray:
    return group_codes([f"g{code:02d}" for code in raw])


def test_groups_are_numbered_in_order_of_their_names() -> None:
    assert group_codes(["b", "a", "b", "10", "9"]).tolist() == [3, 2, 3, 0, 1]


@given(GROUPS, st.integers(0, 3))
def test_every_query_is_held_out_once_a_repeat_with_its_whole_group(raw: list[int], seed: int) -> None:
    groups = codes_of(raw)
    folds = repeated_folds(groups, 3, 4, seed)
    assert folds.shape == (4, len(groups))
    for fold_of in folds:
        assert set(fold_of.tolist()) == {0, 1, 2}
        for group in set(groups.tolist()):
            assert len(set(fold_of[groups == group].tolist())) == 1


@given(GROUPS)
def test_repeats_are_different_partitions(raw: list[int]) -> None:
    folds = repeated_folds(codes_of(raw), 2, 6, 0)
    assert len({canonical(fold_of) for fold_of in folds}) == 6


def test_partitions_that_differ_in_names_only_are_the_same() -> None:
    assert canonical(np.array([0, 0, 1, 2])) == canonical(np.array([2, 2, 0, 1]))
    assert canonical(np.array([0, 0, 1, 2])) != canonical(np.array([0, 1, 1, 2]))


def test_all_partitions_of_three_groups_in_two_folds_are_found_and_a_fourth_is_refused() -> None:
    groups = np.array([0, 1, 2, 2])
    found = {canonical(fold_of) for fold_of in repeated_folds(groups, 2, 2, 0)}
    assert len(found) == 2
    with pytest.raises(UsageError, match="only 3 different groupings of 3 groups into 2 folds"):
        repeated_folds(np.array([0, 1, 2]), 2, 4, 0)


def test_the_same_seed_gives_the_same_folds_and_another_seed_others() -> None:
    groups = np.arange(30)
    assert (repeated_folds(groups, 5, 3, 7) == repeated_folds(groups, 5, 3, 7)).all()
    assert (repeated_folds(groups, 5, 3, 7) != repeated_folds(groups, 5, 3, 8)).any()


def test_folds_of_single_queries_are_balanced() -> None:
    assert np.bincount(repeated_folds(np.arange(50), 5, 1, 0)[0]).tolist() == [10] * 5


def test_too_few_groups_are_refused() -> None:
    with pytest.raises(UsageError, match="there are only 2 groups"):
        repeated_folds(np.array([0, 1, 1]), 3, 1, 0)
    with pytest.raises(UsageError, match="at least 2 folds"):
        repeated_folds(np.array([0, 1, 1]), 1, 1, 0)
    with pytest.raises(UsageError, match="at least 2 groups"):
        leave_one_out(np.array([0, 0]))


def test_leaving_one_group_out_makes_each_group_a_fold() -> None:
    assert leave_one_out(np.array([2, 0, 1, 0])).tolist() == [[2, 0, 1, 0]]


@given(GROUPS, st.sampled_from([0.01, 0.2, 0.5, 0.9]))
def test_validation_takes_whole_training_groups_and_leaves_some(raw: list[int], share: float) -> None:
    groups = codes_of(raw)
    training = groups != 0
    chosen = validation_split(groups, training, share, np.random.default_rng(0))
    inside, rest = set(groups[chosen].tolist()), set(groups[training & ~chosen].tolist())
    assert inside
    assert rest
    assert not inside & rest
    assert 0 not in inside


def test_a_single_training_group_cannot_be_split() -> None:
    with pytest.raises(UsageError, match="a single group"):
        validation_split(np.array([0, 0, 1]), np.array([True, True, False]), 0.2, np.random.default_rng(0))
