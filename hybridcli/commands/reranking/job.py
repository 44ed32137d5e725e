"""The work of ``rerank``: training lists, folds, scores of every setting, and what they reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hybridcli.adaptive.folds import group_codes, repeated_folds
from hybridcli.adaptive.pairs import Lists, Mask
from hybridcli.adaptive.rerankers import Reranker, Settings
from hybridcli.adaptive.reranking import cross_score, fingerprint
from hybridcli.commands.common.resuming import resumable
from hybridcli.commands.reranking.evaluating import (
    ORACLE,
    Judge,
    comparison_row,
    estimate_row,
    oracle_run,
    repeat_values,
)
from hybridcli.commands.reranking.reading import Source, grades_of, require_apart, take_queries, topics_of
from hybridcli.console import note, track
from hybridcli.errors import UsageError
from hybridcli.evaluation.measures import parse_measure
from hybridcli.formats.files import name_of
from hybridcli.formats.qrels import read_qrels
from hybridcli.formats.runs import read_run
from hybridcli.formats.topics import read_topics
from hybridcli.records import Codes, Floats, Qrels, Run, Topics


def training_lists(source: Source, topics: str, qrels: str, run: str | None, test: Topics, k: int) -> Lists:
    """Candidates of the training topics, which must be others than the test topics."""
    learned, judged = read_topics(topics), read_qrels(qrels)
    require_apart(learned, test)
    known = set(judged.queries)
    kept = [at for at, qid in enumerate(learned.qids) if qid in known]
    learned = Topics([learned.qids[at] for at in kept], [learned.texts[at] for at in kept])
    if run is not None:
        given = read_run(run)
        place = {qid: at for at, qid in enumerate(given.queries)}
        listed = [place[qid] for qid in learned.qids if qid in place]
        candidates = take_queries(given, np.array(listed, dtype=np.int64))
        learned = topics_of(learned, candidates, name_of(topics))
    else:
        if source.engine is None:
            raise UsageError("--train-run is needed where there is no --index")
        candidates = source.engine.search(learned, k)
    return source.lists(candidates, learned, grades_of(candidates, judged))


def draw_folds(
    run: Run,
    topics: Topics,
    is_judged: Mask,
    qrels: Qrels,
    groups: Sequence[str] | None,
    entry: Reranker,
    folds: int,
    repeats: int,
    seed: int,
) -> Codes:
    """The fold of each of the run's queries, -1 where it is not judged: int32[repeats, Q]."""
    rows = np.flatnonzero(is_judged)
    parts = np.full((repeats if entry.learns else 1, len(run.queries)), -1, dtype=np.int32)
    if not entry.learns:
        parts[:] = 0
        return parts
    group = dict(zip(qrels.queries, groups or [], strict=groups is not None))
    names = [topics.texts[row] if groups is None else group[run.queries[row]] for row in rows.tolist()]
    parts[:, rows] = repeated_folds(group_codes(names), folds, repeats, seed)
    return parts


def score_all(
    lists: Lists, parts: Codes, entry: Reranker, every: Sequence[Settings], seed: int, work: str | None
) -> dict[Settings, Floats]:
    """Score with all settings in all folds, showing progress; an interrupt says how to go on."""
    pairs = lists.pairs
    task = fingerprint(
        lists.offsets, lists.grades, pairs.query, pairs.passage, pairs.queries, pairs.passages, parts, seed
    )
    every = list(dict.fromkeys(every))
    found = {}
    total = len(every) * len(parts) * (int(parts.max()) + 1) + len(every)
    with resumable(work, task) as cells:
        steps = (
            (settings, step)
            for settings in every
            for step in cross_score(lists, parts, entry, settings, seed, cells)
        )
        for settings, step in track(steps, entry.name, total):
            if step is not None:
                found[settings] = step
    return found


def reached(
    judge: Judge,
    run: Run,
    others: Sequence[Run],
    lists: Lists,
    labels: Sequence[str],
    settings: Settings,
    scores: Floats,
) -> dict[str, Any]:
    """What the document says of all runs: the given ones, the best order of the candidates, the re-ranked one."""
    bound = oracle_run(run, lists, settings.k)
    within = replace(judge, measures=[parse_measure(f"Success@{settings.k}")]).values([bound])[0, 0]
    repeated = repeat_values(judge, run, settings.k, scores)
    values = np.concatenate([judge.values([run, *others, bound]), repeated.mean(axis=0)[None]])
    found = judge.scores([*labels[:-1], ORACLE, labels[-1]], values)
    deviations = repeated.mean(axis=2).std(axis=0, ddof=1) if len(repeated) > 1 else None
    return {
        "found": {"queries": int(within.sum()), "share": float(within.mean())},
        "deviations": None if deviations is None else deviations.tolist(),
        "rows": [estimate_row(estimate) for estimate in judge.means(found)],
        "comparisons": [comparison_row(c) for c in judge.compare(found, labels[-1], labels[:-1])],
    }


def data_notes(
    is_judged: Mask,
    run: Run,
    qrels: Qrels,
    settings: Settings,
    repeats: int,
    output: str | None,
) -> list[str]:
    """What a reader must know of the inputs."""
    notes = []
    missing = len(qrels.queries) - int(is_judged.sum())
    if missing:
        notes.append(f"{missing:,} judged queries are not in the run and count 0")
    if not is_judged.all():
        notes.append(f"{int((~is_judged).sum()):,} queries of the run are not judged and keep their order")
        note(notes[-1])
    longest = int(np.diff(run.offsets).max(initial=0))
    if longest < settings.k:
        notes.append(f"the run's lists have at most {longest} documents, fewer than {settings.k} candidates")
    if repeats > 1 and output is not None:
        notes.append(
            "the written run has the mean score of the repeats; the table has the mean of their values"
        )
    return notes
