"""Re-rankers on planted cases: they learn what can be learned, from training queries alone, within the bound."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hybridcli.adaptive.pairs import Lists, Pairs, reorder
from hybridcli.adaptive.rerankers import (
    RERANKERS,
    VOTES,
    Settings,
    choose_reranker,
    examples,
    reranker_rows,
)
from hybridcli.adaptive.reranking import cell_key, cross_score, ideal_scores, score_held_out
from hybridcli.errors import UsageError
from hybridcli.evaluation.hits import find_hits, judgments_of
from hybridcli.evaluation.measures import parse_measure
from hybridcli.formats.cells import CellFile
from hybridcli.formats.qrels import read_qrels
from hybridcli.records import Codes, Floats, Qrels, Run, offsets_of

QUERIES, K = 40, 8
SMALL = Settings(k=K, models=4, overlap=0.5, cost=10.0)


def planted(seed: int = 0) -> Lists:
    """The relevant passage is the one that matches its query, or a red herring's mirror: a match SVRs can see."""
    rng = np.random.default_rng(seed)
    queries = rng.normal(size=(QUERIES, 2))
    passages = np.repeat(queries, K, axis=0) * rng.uniform(-1, 0.5, size=(QUERIES * K, 1))
    answer = np.arange(QUERIES) * K + rng.integers(0, K, QUERIES)
    passages[answer] = queries
    grades = np.zeros(QUERIES * K, dtype=np.int32)
    grades[answer] = 1
    pairs = Pairs(np.repeat(np.arange(QUERIES), K), np.arange(QUERIES * K), queries, passages)
    return Lists(pairs, offsets_of(np.full(QUERIES, K)), grades)


def halves() -> Codes:
    return (np.arange(QUERIES, dtype=np.int32) % 2)[None, :]


def last(
    lists: Lists, folds: Codes, name: str, settings: Settings, seed: int = 0, done: object = None
) -> Floats:
    steps = list(cross_score(lists, folds, RERANKERS[name], settings, seed, {} if done is None else done))  # type: ignore[arg-type]
    assert steps[:-1] == [None] * (len(steps) - 1)
    assert steps[-1] is not None
    return steps[-1]


def first_share(lists: Lists, scores: Floats) -> float:
    best = scores.reshape(QUERIES, K).argmax(axis=1)
    return float(lists.relevant.reshape(QUERIES, K)[np.arange(QUERIES), best].mean())


def test_svr_learns_a_match_that_a_linear_control_cannot() -> None:
    lists = planted()
    svr, linear = (last(lists, halves(), name, SMALL)[0] for name in ("svr", "logistic"))
    assert first_share(lists, svr) > first_share(lists, linear) + 0.2


@pytest.mark.parametrize("name", ["svr", "logistic"])
def test_what_is_held_out_is_never_seen(name: str) -> None:
    """Other labels, or vectors, of held-out queries change nothing in the scores of any of them."""
    lists, folds = planted(), halves()
    first = np.repeat(folds[0] == 0, K)
    grades = lists.grades.copy()
    grades[first] = np.roll(grades[first], 1)
    scores, changed = (
        last(lists, folds, name, SMALL)[0],
        last(replace(lists, grades=grades), folds, name, SMALL)[0],
    )
    np.testing.assert_array_equal(scores[first], changed[first])
    assert not np.array_equal(scores[~first], changed[~first])
    queries = np.asarray(lists.pairs.queries).copy()
    queries[folds[0] == 0] += 1
    moved = last(replace(lists, pairs=replace(lists.pairs, queries=queries)), folds, name, SMALL)[0]
    assert not np.array_equal(scores[first], moved[first])


def test_training_and_held_out_queries_are_disjoint() -> None:
    seen = []
    entry = RERANKERS["svr"]

    def fit(training: Lists, settings: Settings, rng: np.random.Generator) -> object:
        score = entry.fit(training, settings, rng)

        def spy(pairs: Pairs) -> Floats:
            seen.append((set(training.pairs.query.tolist()), set(pairs.query.tolist())))
            return score(pairs)

        return spy

    folds = np.array([np.arange(QUERIES) % 3, np.arange(QUERIES) // 14], dtype=np.int32)
    folds[:, -1] = -1  # not judged: neither held out nor learned from
    list(cross_score(planted(), folds, replace(entry, fit=fit), SMALL, 0, {}))  # type: ignore[arg-type]
    assert len(seen) == 6
    for training, held in seen:
        assert not training & held
        assert QUERIES - 1 not in training | held


@pytest.mark.parametrize("vote", VOTES)
def test_no_cell_exceeds_the_candidate_oracle(tmp_path: Path, vote: str) -> None:
    lists = planted(3)
    run, qrels = run_of(lists, tmp_path)
    measures = [parse_measure(name) for name in ("R@1", "R@3", "RR@10", "nDCG@20", "AP")]
    for k in (1, 3, K):
        for models, overlap in ((1, 0.0), (3, 0.5)):
            settings = replace(SMALL, k=k, models=models, overlap=overlap, vote=vote)
            scores = last(lists, halves(), "svr", settings)[0]
            reached = reorder(run, k, scores, "svr")
            bound = reorder(run, k, ideal_scores(lists, k), "oracle")
            for measure in measures:
                values, highest = (
                    measure.values(judgments_of(qrels), find_hits(ranked, qrels))
                    for ranked in (reached, bound)
                )
                assert (values <= highest + 1e-12).all()


def run_of(lists: Lists, tmp_path: Path) -> tuple[Run, Qrels]:
    names = [f"d{row:03d}" for row in range(QUERIES * K)]
    run = Run.from_dict(
        {f"q{q}": {names[q * K + at]: float(K - at) for at in range(K)} for q in range(QUERIES)}
    )
    lines = [f"q{row // K} 0 {names[row]} {grade}\n" for row, grade in enumerate(lists.grades.tolist())]
    (tmp_path / "qrels").write_text("".join(lines))
    return run, read_qrels(str(tmp_path / "qrels"))


def test_the_same_seed_gives_the_same_bytes_whatever_the_threads() -> None:
    lists = planted()
    one, two = (last(lists, halves(), "svr", replace(SMALL, jobs=jobs)) for jobs in (1, 3))
    assert one.tobytes() == two.tobytes()
    other = last(lists, halves(), "svr", SMALL, seed=1)
    assert one.tobytes() != other.tobytes()


def test_finished_cells_are_kept_and_read_back_exactly(tmp_path: Path) -> None:
    lists, path = planted(), str(tmp_path / "cells")
    whole = last(lists, halves(), "svr", SMALL)
    steps = cross_score(lists, halves(), RERANKERS["svr"], SMALL, 0, CellFile(path, "task"))
    next(steps)  # interrupted after the first of two
    kept = CellFile(path, "task")
    assert list(kept) == [cell_key(RERANKERS["svr"], SMALL, 0, 0)]
    assert last(lists, halves(), "svr", SMALL, done=kept).tobytes() == whole.tobytes()
    assert len(CellFile(path, "task")) == 2


def test_examples_by_hand() -> None:
    pairs = Pairs(np.repeat([0, 1], 4), np.arange(8))
    lists = Lists(pairs, np.array([0, 4, 8]), np.array([0, 1, 0, 0, 2, 0, 0, 0], dtype=np.int32))
    rng = np.random.default_rng(0)
    assert examples(lists, np.array([1]), None, rng).tolist() == [4, 5, 6, 7]
    drawn = examples(lists, np.array([0, 1]), 2, rng).tolist()
    assert len(drawn) == 6
    assert {1, 4} < set(drawn)


def test_votes_by_hand() -> None:
    lists = planted()
    training = lists.take(np.arange(30))
    scorers = {
        vote: RERANKERS["svr"].fit(training, replace(SMALL, vote=vote), np.random.default_rng(0))
        for vote in VOTES
    }
    counts = scorers["count"](lists.pairs)
    assert set(counts.tolist()) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    assert np.corrcoef(counts, scorers["sum"](lists.pairs))[0, 1] > 0.5


def test_queries_without_a_relevant_candidate_teach_nothing() -> None:
    lists = planted()
    empty = replace(lists, grades=np.zeros_like(lists.grades))
    with pytest.raises(UsageError, match="no training query has a relevant document among its first 8"):
        score_held_out(empty, lists, RERANKERS["svr"], SMALL, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"vote": "loud"}, "unknown --vote 'loud'; choose from sum, count"),
        ({"models": 0}, "at least 1"),
        ({"cost": 0.0}, "above 0"),
    ],
)
def test_settings_that_cannot_be(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        replace(Settings(), **wrong)  # type: ignore[arg-type]


def test_the_registry() -> None:
    assert [row[0] for row in reranker_rows()] == ["svr", "logistic", "cross-encoder"]
    assert all(summary and source for _, summary, _, source in reranker_rows())
    with pytest.raises(UsageError, match="unknown --model 'gpt'; choose from svr, logistic, cross-encoder"):
        choose_reranker("gpt")
