"""``hybridcli oracle``."""

from __future__ import annotations

from hybridcli import __version__, options
from hybridcli.adaptive.contest import Contest
from hybridcli.adaptive.oracle import Grid, forced_runs, spread, summarise, survey
from hybridcli.errors import UsageError
from hybridcli.evaluation.measures import parse_measure
from hybridcli.evaluation.resampling import units_of
from hybridcli.evaluation.scores import distinct_labels
from hybridcli.formats.curves import write_curve
from hybridcli.formats.files import open_output, require_one_stdin, stem_of, write_text
from hybridcli.formats.qrels import read_qrels
from hybridcli.formats.runs import read_run, write_run
from hybridcli.formats.tables import read_values
from hybridcli.formats.weights import write_weights
from hybridcli.fusion.fuse import Plan, fuse
from hybridcli.fusion.pool import align
from hybridcli.report.oracle import render_document, require_format
from hybridcli.report.plots import draw_curve, figure_kind


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
    first: options.Firsts = None,
    curve: options.CurveFile = None,
    plot: options.PlotFile = None,
    weights_out: options.WeightsOut = None,
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
    require_one_stdin(*runs, qrels, groups)
    require_format(form)
    kind = "" if plot is None else figure_kind(plot)
    measures = [parse_measure(name) for name in measure or ["nDCG@10"]]
    rrf_ks = rrf_k or [60.0]
    if len(rrf_ks) > 1 and (method != "rrf" or output or weights_out):
        raise UsageError("several --rrf-k go with --method rrf, and with neither -o nor --weights-out")
    if plot is not None and box:
        raise UsageError("--plot draws weights that sum to 1; leave --box out")
    plans = [Plan(method, norm, constant, missing=missing) for constant in rrf_ks]
    labels = distinct_labels([stem_of(path) for path in runs], runs)
    points = Grid.of(len(runs), grid, box=box, forced=forced_runs(force or [], labels))
    distances = lower_is_better or []
    judged = read_qrels(qrels)
    of_query = None if groups is None else read_values(groups, judged.queries, "group")
    read = [read_run(path, lenient=lenient, lower_is_better=path in distances) for path in runs]
    pool = align(read, depth)
    contests = [Contest.of(pool, plan, judged) for plan in plans]
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
        write_weights(weights_out, [run.tag for run in read], dict(zip(judged.queries, best, strict=True)))
    if output is not None:
        by_query = spread(judged.queries, best, pool.queries)
        write_run(fuse(pool, plans[0], by_query, k=k, tag="oracle"), output)
    if "-" not in (output, curve, weights_out):
        write_text("-", render_document(head | how | found, form))
