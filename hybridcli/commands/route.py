"""``hybridcli route``."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from pathlib import Path

from hybridcli import __version__, options
from hybridcli.adaptive.features import FEATURES
from hybridcli.adaptive.folds import group_codes, leave_one_out, repeated_folds
from hybridcli.adaptive.inputs import choose_routers, router_rows
from hybridcli.adaptive.oracle import Grid, forced_runs
from hybridcli.adaptive.protocol import Problem, Routed, cross_fit, describe, reach_of
from hybridcli.adaptive.training import Router, Settings
from hybridcli.commands.common.listing import listing
from hybridcli.commands.common.resuming import resumable
from hybridcli.commands.routing.reading import (
    complete_rankings,
    given_inputs,
    own_words,
    read_inputs,
    read_rankings,
    stored_rankings,
)
from hybridcli.commands.routing.writing import save_router, write_fused, write_results
from hybridcli.console import note, track
from hybridcli.errors import UsageError
from hybridcli.evaluation.measures import parse_measure
from hybridcli.evaluation.scores import distinct_labels
from hybridcli.formats.files import require_one_stdin, stem_of, write_text
from hybridcli.formats.landscapes import join_tables
from hybridcli.formats.qrels import read_qrels
from hybridcli.formats.tables import read_values
from hybridcli.fusion.fuse import Plan, idle_options
from hybridcli.records import Codes
from hybridcli.report.oracle import render_document
from hybridcli.report.tables import require_format


def route(
    runs: options.RunFiles,
    qrels: options.QrelsFile,
    router: options.Routers,
    topics: options.TopicsFile = None,
    groups: options.GroupsFile = None,
    categories: options.CategoriesFile = None,
    features: options.FeaturesFile = None,
    words: options.WordFiles = None,
    index: options.DenseIndex = None,
    embeddings: options.Embeddings = None,
    ids: options.EmbeddingIds = None,
    exhaustive: options.Exhaustive = False,
    tables: options.Tables = False,
    measure: options.Measures = None,
    method: options.LinearMethod = "weighted",
    norm: options.Norm = None,
    missing: options.Missing = "zero",
    rrf_k: options.RrfK = 60.0,
    depth: options.Depth = None,
    grid: options.GridStep = "0.05",
    box: options.Box = False,
    force: options.Forced = None,
    folds: options.Folds = 5,
    repeats: options.Repeats = 20,
    leave_one_group_out: options.LeaveOneOut = False,
    validation: options.Validation = 0.2,
    trees: options.Trees = 200,
    jobs: options.Jobs = 0,
    seed: options.Seed = 0,
    work: options.WorkFile = None,
    output: options.RunOutput = None,
    out_dir: options.OutputFolder = None,
    repeat_runs: options.RepeatRuns = False,
    save: options.SavedRouter = None,
    k: options.Keep = None,
    form: options.Form = "table",
    lower_is_better: options.LowerIsBetter = None,
    lenient: options.Lenient = False,
) -> None:
    """Learn weights for each query and report what they reach on groups that training has not seen.

    Folds keep groups whole (queries, without --groups); a router's settings are chosen on groups set aside inside
    the training part. A query's values are averaged over the repeats; compare reads them: --values DIR/ROUTER.values.
    """
    require_one_stdin(*runs, qrels, topics, groups, categories, features)
    require_format(form)
    if (output or save) and (len(router) > 1 or router == ["all"]):
        raise UsageError(
            "-o and --save write one router: name one with --router, or give --out-dir in their place"
        )
    if leave_one_group_out and groups is None:
        raise UsageError("--leave-one-group-out needs --groups")
    if (exhaustive or tables) and (output or repeat_runs or depth or lower_is_better):
        raise UsageError("complete rankings are not fused into runs; leave out -o, --repeat-runs, --depth …")
    measures = [parse_measure(name) for name in measure or ["nDCG@10"]]
    plan = Plan(method, norm, rrf_k, missing=missing)
    for line in idle_options(plan):
        note(line)
    stored = join_tables(runs) if tables else None
    labels = stored.runs if stored else distinct_labels([stem_of(path) for path in runs], runs)
    points = Grid.of(len(labels), grid, box=box, forced=forced_runs(force or [], labels)).weights
    chosen = choose_routers(router, given_inputs(topics, features, index, embeddings, categories))
    lists = own_words(words or [])
    judged = read_qrels(qrels)
    queries = judged.queries
    if stored:
        rankings = stored_rankings(stored, queries, measures)
    elif exhaustive:
        rankings = complete_rankings(runs, topics, judged, [plan], measures, points)
    else:
        rankings = read_rankings(
            runs, [plan], judged, depth=depth, lower_is_better=lower_is_better or [], lenient=lenient
        )
    inputs, names = read_inputs(
        queries,
        rankings.top_scores(queries),
        topics=topics,
        features=features,
        words=lists,
        index=index,
        embeddings=embeddings,
        ids=ids,
        categories=categories,
    )
    codes = group_codes(queries if groups is None else read_values(groups, queries, "group"))
    problem = Problem(
        contest=rankings.contests[0],
        measure=measures[0],
        points=points,
        inputs=inputs,
        groups=codes,
        missed=(depth or rankings.longest) + 1,
        macro=leave_one_group_out,
        validation=validation,
        seed=seed,
        settings=Settings(trees=trees, jobs=jobs or os.cpu_count() or 1),
    )
    parts = leave_one_out(codes) if leave_one_group_out else repeated_folds(codes, folds, repeats, seed)
    reached = [reach_of(problem, routed, measures) for routed in _cross_fit(problem, chosen, parts, work)]
    document = {
        "schema": "hybridcli/route/1",
        "command": "route",
        "version": __version__,
        "runs": labels,
        "method": method,
        "norm": plan.norm_used,
        "rrf_k": rrf_k if method == "rrf" else None,
        "grid": f"step {grid}" + (", box" if box else ""),
        "forced": force or [],
        "depth": depth,
        "leave_one_group_out": leave_one_group_out,
        "folds": int(parts.max()) + 1,
        "repeats": len(parts),
        **describe(problem, measures, reached, grouped=groups is not None),
    }
    pool, tags = rankings.pool, rankings.tags
    if out_dir is not None:
        write_results(out_dir, reached, measures, queries, tags, pool, plan, k, repeats=repeat_runs)
        write_text(str(Path(out_dir) / "report.json"), render_document(document, "json"))
    if save is not None:
        save_router(save, problem, chosen[0], plan, tags, depth, names, lists)
    if output is not None and pool is not None:
        mean = reached[0].routed.weights.mean(axis=0)
        write_fused(output, pool, plan, queries, mean, k, router[0])
    if "-" not in (output, save):
        write_text("-", render_document(document, form))


def _cross_fit(problem: Problem, routers: Sequence[Router], parts: Codes, work: str | None) -> list[Routed]:
    """Fit all routers in all folds, showing progress; an interrupt says how to go on."""
    results = []
    with resumable(work, problem.fingerprint(parts)) as cells:
        for router in routers:
            total = len(parts) * (int(parts.max()) + 1) + 1
            for step in track(cross_fit(problem, router, parts, cells), router.name, total):
                if step is not None:
                    results.append(step)
    return results


_routers = [(name, f"{about} ({reads})") for name, about, reads, _ in router_rows()]
_features = [(known.name, known.summary.replace("`", "")) for known in FEATURES.values()]
route.__doc__ = f"""{inspect.cleandoc(route.__doc__ or "")}

{listing("Routers (and what they read besides the runs):", _routers)}

{listing("Features of a topic's text:", _features)}

Example: hybridcli route bm25.run dense.run --topics topics.tsv --qrels test.qrels --groups groups.tsv
--router tuned --router forest -m RefHit@10 --out-dir routed
"""
