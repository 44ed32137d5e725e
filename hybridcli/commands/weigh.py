"""``hybridcli weigh``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import typer

from hybridcli import options
from hybridcli.adaptive.features import FEATURES, WORD_LISTS, surface_features, word_file, word_lists
from hybridcli.adaptive.inputs import choose_routers, first_scores
from hybridcli.adaptive.training import Inputs
from hybridcli.errors import DataError, UsageError
from hybridcli.formats.features import read_features
from hybridcli.formats.files import name_of, note_input, require_one_stdin
from hybridcli.formats.routers import read_router
from hybridcli.formats.runs import read_run
from hybridcli.formats.tables import read_ids, read_values
from hybridcli.formats.topics import read_topics
from hybridcli.formats.vectors import read_vectors
from hybridcli.formats.weights import write_weights
from hybridcli.formats.words import read_words
from hybridcli.fusion.pool import align
from hybridcli.records import Floats, Topics

Words = dict[str, list[str]]


def weigh(
    router: Annotated[str, typer.Argument(metavar="ROUTER", help="What hybridcli route --save wrote.")],
    runs: options.RunFiles,
    output: options.Output = "-",
    topics: options.TopicsFile = None,
    categories: options.CategoriesFile = None,
    features: options.FeaturesFile = None,
    index: options.DenseIndex = None,
    embeddings: options.Embeddings = None,
    ids: options.EmbeddingIds = None,
    lower_is_better: options.LowerIsBetter = None,
    lenient: options.Lenient = False,
) -> None:
    """Apply a saved router to new queries and write their weights, for fuse --weights.

    The runs stand in the order that the router was trained with, and are cut to the same depth.

    Example: hybridcli weigh forest.json bm25.run dense.run --topics new.tsv -o weights.tsv
    """
    require_one_stdin(router, *runs, topics, categories, features)
    saved = read_router(router)
    if len(saved["tags"]) != len(runs):
        trained = ", ".join(saved["tags"])
        raise UsageError(f"{router} was trained on {len(saved['tags'])} runs ({trained}), found {len(runs)}")
    (chosen,) = choose_routers(
        [saved["router"]], given_inputs(topics, features, index, embeddings, categories)
    )
    distances = lower_is_better or []
    read = [read_run(path, lenient=lenient, lower_is_better=path in distances) for path in runs]
    pool = align(read, saved["depth"])
    inputs, names = read_inputs(
        pool.queries,
        first_scores(pool, pool.queries),
        topics=topics,
        features=features,
        words=saved["words"],
        index=index,
        embeddings=embeddings,
        ids=ids,
        categories=categories,
    )
    if "features" in chosen.needs and names != saved["features"]:
        raise DataError(
            f"was trained on the features {', '.join(saved['features'])}, found {', '.join(names)}",
            path=name_of(router),
        )
    weights = chosen.weights(saved["state"], inputs)
    write_weights(output, [run.tag for run in read], dict(zip(pool.queries, weights, strict=True)))


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
    names: list[str] = []
    columns: list[Floats] = []
    if known is not None:
        names += FEATURES
        texts = _of_queries(known.qids, queries, f"{topics}: has no topic for")
        columns.append(surface_features([known.texts[at] for at in texts], word_lists(words)))
    if features is not None:
        more, rows = read_features(features, queries)
        names += more
        columns.append(rows)
    vectors = None
    if embeddings is not None:
        if ids is None and known is None:
            raise UsageError("--embeddings needs --ids or --topics, to know whose vectors they are")
        qids = read_ids(ids) if ids is not None else known.qids if known is not None else []
        rows = read_vectors(embeddings)
        if len(rows) != len(qids):
            raise DataError(f"holds {len(rows)} vectors for {len(qids)} qids", path=embeddings)
        at = _of_queries(qids, queries, f"{embeddings}: has no vector for")
        vectors = np.asarray(rows[at], dtype=np.float64)
    elif index is not None:
        if known is None:
            raise UsageError("--index needs --topics, to encode them")
        at = _of_queries(known.qids, queries, f"{topics}: has no topic for")
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
