"""``hybridcli rerank``."""

from __future__ import annotations

import inspect
import os
from typing import Annotated

import numpy as np
import typer

from hybridcli import __version__, options
from hybridcli.adaptive.pairs import reorder
from hybridcli.adaptive.rerankers import VOTES, Settings, choose_reranker, reranker_rows
from hybridcli.adaptive.reranking import described, score_held_out
from hybridcli.commands.common.listing import listing
from hybridcli.commands.common.runs import require_tag
from hybridcli.commands.reranking.evaluating import Judge, bounded_measures, sensitivity
from hybridcli.commands.reranking.job import data_notes, draw_folds, reached, score_all, training_lists
from hybridcli.commands.reranking.reading import dense_source, grades_of, text_source, topics_of
from hybridcli.commands.reranking.sweeping import sweep_settings
from hybridcli.errors import DataError, UsageError
from hybridcli.evaluation.comparisons import Inference
from hybridcli.evaluation.resampling import units_of
from hybridcli.evaluation.scores import distinct_labels
from hybridcli.formats.files import name_of, require_one_stdin, stem_of, write_text
from hybridcli.formats.qrels import read_qrels
from hybridcli.formats.runs import read_run, write_run
from hybridcli.formats.tables import read_values
from hybridcli.formats.topics import read_topics
from hybridcli.report.reranking import render_document
from hybridcli.report.tables import require_format

MEASURES = ("R@1", "R@10", "R@50", "R@100", "R@1000", "RR@10", "nDCG@20")


def rerank(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Its first -k documents are re-ranked.")],
    topics: Annotated[str, typer.Option("--topics", metavar="FILE", help="TSV qid<TAB>text, JSONL, TREC.")],
    qrels: options.QrelsFile,
    model: Annotated[str, typer.Option("--model", help="A name of the list above.")] = "svr",
    index: Annotated[
        str | None,
        typer.Option("--index", metavar="DENSE", help="Passages' vectors, and the topics' encoder."),
    ] = None,
    embeddings: options.Embeddings = None,
    ids: options.EmbeddingIds = None,
    documents: Annotated[
        str | None, typer.Option("--documents", metavar="FILE", help="Passages' texts, for a cross-encoder.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option("--encoder", help="The cross-encoder: folder, or id of the hub.")
    ] = None,
    max_length: Annotated[
        int | None, typer.Option("--max-length", min=1, help="Tokens that the cross-encoder reads.")
    ] = None,
    groups: options.GroupsFile = None,
    folds: options.Folds = 5,
    repeats: options.Repeats = 1,
    train_topics: Annotated[
        str | None, typer.Option("--train-topics", metavar="FILE", help="Learn from these instead of folds.")
    ] = None,
    train_qrels: Annotated[
        str | None, typer.Option("--train-qrels", metavar="FILE", help="Their judgements.")
    ] = None,
    train_run: Annotated[
        str | None,
        typer.Option(
            "--train-run", metavar="RUN", help="Their candidates (the index's nearest, unless given)."
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Candidates of each query.")] = 50,
    models: Annotated[int, typer.Option("--models", min=1, help="svr: bagged regressions.")] = 35,
    overlap: Annotated[
        float,
        typer.Option("--overlap", help="svr: share of a model's training queries that the next has too."),
    ] = 0.6,
    share: Annotated[
        float | None, typer.Option("--share", help="svr: draw this share of them at random for each instead.")
    ] = None,
    negatives: Annotated[
        int | None, typer.Option("--negatives", min=1, help="Learn from so many others a query (all of -k).")
    ] = None,
    cost: Annotated[float, typer.Option("-C", "--cost", help="C of the regressions.")] = 1.0,
    epsilon: Annotated[float, typer.Option("--epsilon", help="svr: errors below this count nothing.")] = 0.1,
    gamma: Annotated[
        float | None, typer.Option("--gamma", help="svr: of the RBF kernel (1 / (2 D · variance)).")
    ] = None,
    vote: Annotated[
        str, typer.Option("--vote", help="svr: sum, or count (predictions of 0.5 or more).")
    ] = "sum",
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            "--sweep", metavar="'k=10,50 models=5,35'", help="Also with these settings. Repeatable."
        ),
    ] = None,
    against: Annotated[
        list[str] | None, typer.Option("--against", metavar="RUN", help="Show this run too. Repeatable.")
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help=f"Repeatable ({', '.join(MEASURES)}).")
    ] = None,
    replicates: options.Replicates = 10_000,
    jobs: Annotated[int, typer.Option("--jobs", min=0, help="Threads that fit models; 0: one a core.")] = 0,
    device: options.Devices = None,
    seed: options.Seed = 0,
    work: options.WorkFile = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the re-ranked run; '-' is stdout."),
    ] = None,
    tag: Annotated[
        str | None, typer.Option("--tag", help="Last column of the run (the model's name).")
    ] = None,
    form: options.Form = "table",
    lenient: options.Lenient = False,
) -> None:
    """Re-rank the first documents of a run by a learned model, and report what it reaches on queries it has not seen.

    Folds keep groups whole (topics of the same text, without --groups), and models learn on the other folds. Queries
    of the run that are not judged keep their order. Documents below the first -k keep theirs, below.
    """
    require_one_stdin(
        run, topics, qrels, groups, train_topics, train_qrels, train_run, documents, *(against or [])
    )
    require_format(form)
    entry = choose_reranker(model)
    measures = bounded_measures(measure or MEASURES)
    settings = Settings(
        k, models, overlap, share, negatives, cost, epsilon, gamma, vote, jobs or os.cpu_count() or 1
    )
    swept = sweep_settings(sweep or [], settings, entry)
    if (train_topics is None) != (train_qrels is None) or (train_run is not None and train_topics is None):
        raise UsageError("--train-topics and --train-qrels belong together, and --train-run to them")
    if train_topics is not None and (swept or not entry.learns):
        raise UsageError("--train-topics takes a model that learns, and no --sweep")
    if work is not None and (train_topics is not None or not entry.learns):
        raise UsageError("--work keeps finished folds, and there are none here")
    if tag is not None:
        require_tag(tag)
    judged, whole = read_qrels(qrels), read_run(run, lenient=lenient)
    others = [read_run(path, lenient=lenient) for path in against or []]
    given = read_topics(topics)
    texts = topics_of(given, whole, name_of(topics))
    known = set(judged.queries)
    is_judged = np.array([qid in known for qid in whole.queries], dtype=bool)
    if not is_judged.any():
        raise DataError(f"no query of it is judged in {name_of(qrels)}", path=name_of(run))
    of_query = None if groups is None else read_values(groups, judged.queries, "group")
    source = (
        dense_source(index, given, embeddings, ids, device)
        if entry.reads == "vectors"
        else text_source(documents, encoder, device, max_length)
    )
    lists = source.lists(whole, texts, grades_of(whole, judged))
    units = units_of(of_query, len(judged.queries))
    if train_topics is not None and train_qrels is not None:
        training = training_lists(source, train_topics, train_qrels, train_run, texts, settings.k)
        rng = np.random.default_rng([seed])
        scores = {settings: score_held_out(training, lists, entry, settings, rng)[None, :]}
        protocol = f"trained on {len(training.offsets) - 1:,} queries of {train_topics}, none of which is a test topic"
    else:
        parts = draw_folds(whole, texts, is_judged, judged, of_query, entry, folds, repeats, seed)
        scores = score_all(lists, parts, entry, [settings, *swept], seed, work)
        count = int(parts.max()) + 1
        protocol = (
            f"{count} folds of {'groups' if groups else 'queries'}, {len(parts)} repeats, seed {seed}: every query is "
            "scored by models that have seen neither it nor its group"
            if entry.learns
            else "nothing is trained"
        )
    labels = distinct_labels([stem_of(path) for path in [run, *(against or [])]], [run, *(against or [])])
    (label,) = distinct_labels([*labels, tag or model], [*labels, ""])[len(labels) :]
    judge = Judge(judged, measures, units, Inference(replicates, seed))
    document = {
        "schema": "hybridcli/rerank/1",
        "command": "rerank",
        "version": __version__,
        "n": len(judged.queries),
        "run": labels[0],
        "label": label,
        "model": model,
        "settings": described(entry, settings),
        "vote": VOTES[vote],
        "protocol": protocol,
        "units": "queries" if groups is None else f"{units.count} groups",
        "measures": [m.name for m in measures],
        "seed": seed,
        "replicates": replicates,
        "notes": data_notes(is_judged, whole, judged, settings, repeats, output),
        **reached(judge, whole, others, lists, [*labels, label], settings, scores[settings]),
        "sensitivity": sensitivity(judge, whole, lists, [(cell, scores[cell]) for cell in swept]),
    }
    if output is not None:
        write_run(reorder(whole, settings.k, scores[settings].mean(axis=0), tag or model), output)
    if output != "-":
        write_text("-", render_document(document, form))


_models = [(name, f"{about} ({reads})") for name, about, reads, _ in reranker_rows()]
rerank.__doc__ = f"""{inspect.cleandoc(rerank.__doc__ or "")}

{listing("Models (and what they read):", _models)}

Example: hybridcli rerank dense.run --index dense.index --topics topics.tsv --qrels test.qrels --against bm25.run
-o svr.run --sweep k=10,25,50,100 --sweep overlap=0,0.3,0.6,0.9 --work svr.cells
"""
