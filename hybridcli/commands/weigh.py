"""``hybridcli weigh``."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from hybridcli import options
from hybridcli.adaptive.features import WORD_LISTS
from hybridcli.adaptive.inputs import choose_routers, first_scores
from hybridcli.commands.common.runs import require_known_runs
from hybridcli.commands.routing.reading import given_inputs, read_inputs
from hybridcli.console import warn
from hybridcli.errors import DataError, UsageError
from hybridcli.formats.files import name_of, require_one_stdin
from hybridcli.formats.routers import read_router
from hybridcli.formats.runs import read_run
from hybridcli.formats.weights import write_weights
from hybridcli.fusion.pool import align


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
    missing = [name for name in WORD_LISTS if topics is not None and name not in saved["words"]]
    if missing:
        raise DataError(f"misses the words {', '.join(missing)}; save the router again", path=name_of(router))
    (chosen,) = choose_routers(
        [saved["router"]], given_inputs(topics, features, index, embeddings, categories)
    )
    distances = lower_is_better or []
    require_known_runs("--lower-is-better", distances, runs)
    read = [read_run(path, lenient=lenient, lower_is_better=path in distances) for path in runs]
    tags = [run.tag for run in read]
    if tags != saved["tags"]:
        change = f"{router} was trained on the runs {', '.join(saved['tags'])}, in this order; found {', '.join(tags)}"
        if sorted(tags) == sorted(saved["tags"]):
            raise UsageError(change)
        warn(change)
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
    try:
        with np.errstate(all="ignore"):  # what is no weight is refused below
            weights = np.asarray(chosen.weights(saved["state"], inputs), dtype=np.float64)
        if (
            weights.shape != (len(pool.queries), len(tags))
            or not (np.isfinite(weights) & (weights >= 0)).all()
        ):
            raise ValueError("a state that gives no weights")
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        problem = f"its state is not that of the router {saved['router']}; save the router again"
        raise DataError(problem, path=name_of(router)) from None
    write_weights(output, tags, dict(zip(pool.queries, weights, strict=True)))
