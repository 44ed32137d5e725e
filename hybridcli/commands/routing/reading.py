"""Reading what ``oracle``, ``route`` and ``weigh`` need: rankings to weigh, and inputs of routers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hybridcli.adaptive.contest import Contest
from hybridcli.adaptive.exhaustive import Table, same_documents, spread_scores, tabulate
from hybridcli.adaptive.features import FEATURES, WORD_LISTS, surface_features, word_file, word_lists
from hybridcli.adaptive.inputs import first_scores
from hybridcli.adaptive.training import Inputs
from hybridcli.commands.common.runs import require_known_runs, warn_of_foreign_run
from hybridcli.errors import DataError, UsageError
from hybridcli.evaluation.measures import Measure
from hybridcli.formats.features import read_features
from hybridcli.formats.files import name_of, note_input
from hybridcli.formats.landscapes import StoredTable
from hybridcli.formats.runs import read_run
from hybridcli.formats.tables import read_ids, read_values
from hybridcli.formats.topics import read_topics
from hybridcli.formats.vectors import read_vectors
from hybridcli.formats.words import read_words
from hybridcli.fusion.fuse import Plan
from hybridcli.fusion.pool import Pool, align
from hybridcli.names import Names
from hybridcli.records import Floats, Qrels, Topics

Words = dict[str, list[str]]


@dataclass(frozen=True, slots=True, eq=False)
class Rankings:
    """What is weighed: a contest for each plan, the runs' tags, and the pool unless the rankings are complete."""

    contests: list[Contest | Table]
    tags: list[str]
    pool: Pool | None = None

    @property
    def longest(self) -> int:
        """The length of the longest list, or the worst rank of a relevant document in complete rankings."""
        lengths = self.contests[0].best_ranks() if self.pool is None else self.pool.lengths
        return int(lengths.max(initial=0))

    def top_scores(self, queries: Sequence[str]) -> Floats:
        """Each run's first score for each query: float64[Q, R]; NaN where it is not known."""
        if self.pool is None:
            return np.full((len(queries), self.contests[0].n_runs), np.nan)
        return first_scores(self.pool, queries)


def read_rankings(
    runs: Sequence[str],
    plans: Sequence[Plan],
    qrels: Qrels,
    *,
    depth: int | None,
    lower_is_better: Sequence[str],
    lenient: bool,
) -> Rankings:
    """Read run files and lay them side by side."""
    require_known_runs("--lower-is-better", lower_is_better, runs)
    read = [read_run(path, lenient=lenient, lower_is_better=path in lower_is_better) for path in runs]
    pool = align(read, depth)
    contests = [Contest.of(pool, plan, qrels) for plan in plans]
    judged, relevant = set(qrels.queries), int(contests[0].judgments.relevant.sum())
    for path, run, ranks in zip(runs, read, contests[0].ranks, strict=True):
        found = int(np.count_nonzero(ranks[contests[0].hit_rows]))
        warn_of_foreign_run(name_of(path), len(judged.intersection(run.queries)), found, relevant)
    return Rankings(list(contests), [run.tag for run in read], pool)


def stored_rankings(stored: StoredTable, queries: Sequence[str], measures: Sequence[Measure]) -> Rankings:
    """Take the values of the judged queries out of stored tables."""
    missing = [measure.name for measure in measures if measure.name not in stored.measures]
    if missing:
        raise UsageError(f"the tables hold {', '.join(stored.measures)}, not {', '.join(missing)}")
    table = Table(stored.weights, stored.measures, stored.values, stored.best)
    rows = _of_queries(stored.queries, queries, "the tables have no values of")
    return Rankings([table.take(np.array(rows, dtype=np.int64))], stored.runs)


def complete_rankings(
    indexes: Sequence[str],
    topics: str | None,
    qrels: Qrels,
    plans: Sequence[Plan],
    measures: Sequence[Measure],
    weights: Floats,
) -> Rankings:
    """Score every document of the indexes for every judged query: a table for each plan."""

    from hybridcli.search.engines import CompleteEngine, open_engine

    if topics is None:
        raise UsageError("--exhaustive needs --topics, to score documents for them")
    known = read_topics(topics)
    at = _of_queries(known.qids, qrels.queries, f"{name_of(topics)}: has no topic for")
    asked = Topics(qrels.queries, [known.texts[place] for place in at])
    engines = []
    for index in indexes:
        note_input(index)
        engine = open_engine(index)
        if not isinstance(engine, CompleteEngine):
            raise UsageError(f"{index}: its engine cannot score every document; bm25s and dense indexes can")
        engines.append(engine)
    docnos, places = same_documents([engine.docnos for engine in engines])
    scores = [
        spread_scores(engine.score_all(asked), at, len(docnos))
        for engine, at in zip(engines, places, strict=True)
    ]
    union = Names.of(docnos)
    tables = tabulate(scores, union, qrels, plans, measures, weights)
    return Rankings(list(tables), [engine.tag for engine in engines])


def given_inputs(
    topics: str | None,
    features: str | None,
    index: str | None,
    embeddings: str | None,
    categories: str | None,
) -> list[str]:
    """Name the kinds of inputs that the command line gives."""
    there = {
        "features": topics is not None or features is not None,
        "embeddings": index is not None or embeddings is not None,
        "categories": categories is not None,
    }
    return [name for name, given in there.items() if given]


def own_words(given: Sequence[str]) -> Words:
    """Read the word lists: the package's, or those given as LIST=FILE."""
    files = {name: word_file(name) for name in WORD_LISTS}
    for option in given:
        name, sign, path = option.partition("=")
        if not sign or name not in files:
            raise UsageError(f"--words {option!r}: write LIST=FILE, LIST one of {', '.join(WORD_LISTS)}")
        files[name] = path
    return {name: read_words(path) for name, path in files.items()}


def read_inputs(
    queries: Sequence[str],
    top_scores: Floats,
    *,
    topics: str | None,
    features: str | None,
    words: Words,
    index: str | None,
    embeddings: str | None,
    ids: str | None,
    categories: str | None,
) -> tuple[Inputs, list[str]]:
    """Read what routers need of these queries; also give the names of the features."""
    known = None if topics is None else read_topics(topics)
    shown = name_of(topics or "")
    names: list[str] = []
    columns: list[Floats] = []
    if known is not None:
        names += FEATURES
        texts = _of_queries(known.qids, queries, f"{shown}: has no topic for")
        columns.append(surface_features([known.texts[at] for at in texts], word_lists(words)))
    if features is not None:
        more, rows = read_features(features, queries)
        names += more
        columns.append(rows)
    vectors = None
    if ids is not None and embeddings is None:
        raise UsageError("--ids belongs to --embeddings: whose vectors they are")
    if embeddings is not None:
        from hybridcli.search.models import rows_of

        if ids is None and known is None:
            raise UsageError("--embeddings needs --ids or --topics, to know whose vectors they are")
        qids = read_ids(ids) if ids is not None else known.qids if known is not None else []
        rows = read_vectors(embeddings)
        if len(rows) != len(qids):
            raise DataError(f"holds {len(rows)} vectors for {len(qids)} qids", path=embeddings)
        at = _of_queries(qids, queries, f"{embeddings}: has no vector for")
        vectors = rows_of(rows, at, queries, np.float64)
    elif index is not None:
        if known is None:
            raise UsageError("--index needs --topics, to encode them")
        at = _of_queries(known.qids, queries, f"{shown}: has no topic for")
        vectors = _encode(index, Topics(list(queries), [known.texts[place] for place in at]))
    return Inputs(
        top_scores,
        np.hstack(columns) if columns else None,
        vectors,
        None if categories is None else read_values(categories, queries, "category"),
    ), names


def _of_queries(qids: Sequence[str], queries: Sequence[str], complaint: str) -> list[int]:
    """Where each query stands among ``qids``."""
    place = {qid: at for at, qid in enumerate(qids)}
    missing = [qid for qid in queries if qid not in place]
    if missing:
        raise DataError(f"{complaint} {len(missing)} of {len(queries)} queries, the first is {missing[0]}")
    return [place[qid] for qid in queries]


def _encode(index: str, topics: Topics) -> Floats:
    """Encode topics with the model of a dense index."""
    from hybridcli.search.engines import EncodingEngine, open_engine

    note_input(index)
    engine = open_engine(index)
    if not isinstance(engine, EncodingEngine):
        raise UsageError(f"--index {index}: encodes no topics; give a dense index")
    return np.asarray(engine.encode(topics), dtype=np.float64)
