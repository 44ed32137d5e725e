"""``hybridcli oracle``."""

from __future__ import annotations

from hybridcli import __version__, options
from hybridcli.adaptive.exhaustive import table_of
from hybridcli.adaptive.oracle import Grid, forced_runs, summarise, survey
from hybridcli.commands.routing.reading import complete_rankings, read_rankings
from hybridcli.commands.routing.writing import write_fused
from hybridcli.console import note
from hybridcli.errors import UsageError
from hybridcli.evaluation.measures import parse_measure
from hybridcli.evaluation.resampling import units_of
from hybridcli.evaluation.scores import distinct_labels
from hybridcli.formats.curves import write_curve
from hybridcli.formats.files import (
    open_output,
    require_one_stdin,
    require_one_stdout,
    stem_of,
    write_text,
)
from hybridcli.formats.landscapes import StoredTable, write_table
from hybridcli.formats.qrels import read_qrels
from hybridcli.formats.tables import read_values
from hybridcli.formats.weights import write_weights
from hybridcli.fusion.fuse import Plan, idle_options
from hybridcli.report.oracle import render_document
from hybridcli.report.plots import draw_curve, figure_kind
from hybridcli.report.tables import require_format


def oracle(
    runs: options.RunFiles,
    qrels: options.QrelsFile,
    output: options.RunOutput = None,
    measure: options.Measures = None,
    method: options.LinearMethod = "weighted",
    norm: options.Norm = None,
    missing: options.Missing = "zero",
    grid: options.GridStep = "0.05",
    box: options.Box = False,
    force: options.Forced = None,
    rrf_k: options.RrfKs = None,
    depth: options.Depth = None,
    groups: options.GroupsFile = None,
    exhaustive: options.Exhaustive = False,
    topics: options.TopicsFile = None,
    first: options.Firsts = None,
    curve: options.CurveFile = None,
    plot: options.PlotFile = None,
    weights_out: options.WeightsOut = None,
    table_out: options.TableOut = None,
    replicates: options.Replicates = 10_000,
    seed: options.Seed = 0,
    k: options.Keep = None,
    form: options.Form = "table",
    lower_is_better: options.LowerIsBetter = None,
    lenient: options.Lenient = False,
) -> None:
    """Say how much weights could gain: the best fixed weights, the best for each query, and what none can answer.

    Every weighting is ranked exactly as `fuse` would; queries of the qrels that no run has count 0. Ties go to the
    point nearest to equal weights, then to the first in order.

    Example: hybridcli oracle bm25.run dense.run --qrels test.qrels -m RefHit@10 --groups groups.tsv --curve alpha.tsv
    """
    require_one_stdin(*runs, qrels, groups, topics)
    require_one_stdout(output, curve, weights_out, table_out, plot)
    require_format(form)
    kind = "" if plot is None else figure_kind(plot)
    measures = [parse_measure(name) for name in measure or ["nDCG@10"]]
    rrf_ks = rrf_k or [60.0]
    if len(rrf_ks) > 1 and (method != "rrf" or output or weights_out or table_out):
        raise UsageError("several --rrf-k need --method rrf, and no -o, --weights-out or --table-out")
    if exhaustive and (output or depth or lower_is_better):
        raise UsageError("--exhaustive ranks all documents; leave out -o, --depth and --lower-is-better")
    if plot is not None and box:
        raise UsageError("--plot draws weights that sum to 1; leave --box out")
    plans = [Plan(method, norm, constant, missing=missing) for constant in rrf_ks]
    for line in idle_options(plans[0]):
        note(line)
    labels = distinct_labels([stem_of(path) for path in runs], runs)
    points = Grid.of(len(runs), grid, box=box, forced=forced_runs(force or [], labels))
    judged = read_qrels(qrels)
    of_query = None if groups is None else read_values(groups, judged.queries, "group")
    if exhaustive:
        rankings = complete_rankings(runs, topics, judged, plans, measures, points.weights)
    else:
        rankings = read_rankings(
            runs, plans, judged, depth=depth, lower_is_better=lower_is_better or [], lenient=lenient
        )
    contests, tags, pool = rankings.contests, rankings.tags, rankings.pool
    landscapes = survey(contests, measures, points)
    units = units_of(of_query, len(judged.queries))
    found = summarise(
        landscapes, contests[0], labels, rrf_ks, units, replicates=replicates, seed=seed, firsts=first or [10]
    )
    how = {
        "method": method,
        "norm": plans[0].norm_used,
        "missing": missing,
        "rrf_k": rrf_ks if method == "rrf" else None,
        "grid": f"step {grid}" + (", box" if box else ""),
        "depth": depth,
    }
    head = {"schema": "hybridcli/oracle/1", "command": "oracle", "version": __version__}
    top = landscapes[0]
    constants = [rrf_ks[number] for number in top.variant.tolist()] if method == "rrf" else None
    if curve is not None:
        means = {landscape.measure: landscape.means for landscape in landscapes}
        write_curve(curve, labels, top.weights, constants, means)
    if plot is not None:
        levels = [("equal weights", top.equal.mean()), ("per-query oracle", top.oracle.mean())]
        with open_output(plot) as stream:
            draw_curve(stream, kind, top.weights, top.means, constants, labels, top.measure, levels)
    best = top.weights[top.best_by_query[0]]
    if weights_out is not None:
        write_weights(weights_out, tags, dict(zip(judged.queries, best, strict=True)))
    if table_out is not None:
        table = table_of(contests[0], measures, points.weights)
        write_table(
            table_out,
            StoredTable(labels, table.measures, judged.queries, table.weights, table.table, table.best),
        )
    if output is not None and pool is not None:
        write_fused(output, pool, plans[0], judged.queries, best, k, "oracle")
    if "-" not in (output, curve, weights_out, table_out):
        write_text("-", render_document(head | how | found, form))
