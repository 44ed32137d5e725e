"""``hybridcli compare``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import hybridcli
from hybridcli import options
from hybridcli.commands.common.listing import listing
from hybridcli.commands.comparing.asking import declared_pairs, inference_notes, per_query_lines
from hybridcli.commands.comparing.checking import (
    Case,
    Groups,
    excluded_queries,
    named_files,
    read_optional_ids,
    sensitivity,
    slices,
)
from hybridcli.commands.comparing.ranking import ranking as rank_cells
from hybridcli.commands.comparing.ranking import resolve_best
from hybridcli.commands.comparing.reading import Reading, data_notes, evaluate, narrow_ties, parse_measures
from hybridcli.console import note
from hybridcli.errors import DataError, UsageError
from hybridcli.evaluation.agreement import agreements
from hybridcli.evaluation.comparisons import (
    FAMILIES,
    Comparison,
    Inference,
    compare_pairs,
    estimate_means,
)
from hybridcli.evaluation.measures import measure_rows
from hybridcli.evaluation.resampling import INTERVALS, interval_rows
from hybridcli.evaluation.scores import POLICIES, chosen_queries
from hybridcli.evaluation.significance import ALTERNATIVES, CORRECTIONS, TESTS, registry_rows
from hybridcli.formats.files import require_one_stdin, write_text
from hybridcli.formats.qrels import read_qrels
from hybridcli.formats.tables import read_mapping
from hybridcli.report.checks import agreement_section
from hybridcli.report.comparison import (
    Facts,
    Section,
    as_json,
    comparisons_section,
    footnotes,
    means_section,
)
from hybridcli.report.tables import FORMATS, format_rows, json_text, render, require_format

SUFFIXES = {
    ".md": "markdown",
    ".html": "html",
    ".tex": "latex",
    ".tsv": "tsv",
    ".json": "json",
    ".txt": "table",
}


def compare(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN...", help="TREC run files; the first is the baseline.")
    ] = None,
    *,
    qrels: options.QrelsFile,
    output: options.Output = "-",
    measure: Annotated[
        list[str] | None,
        typer.Option("-m", "--measure", help="Such as nDCG@10 or P(rel=2)@5; repeatable. See above."),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help=f"{', '.join(FORMATS)} or json.", metavar="FORMAT")
    ] = "table",
    report: Annotated[
        str | None, typer.Option(metavar="FILE", help=f"Write the report here too: {', '.join(SUFFIXES)}.")
    ] = None,
    per_query: Annotated[
        bool, typer.Option("--per-query", help="Print measure, qid, value lines only.")
    ] = False,
    values: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="One more system, given as per-query values. Repeatable."),
    ] = None,
    queries: Annotated[
        str, typer.Option(help=f"Which queries enter the means: {', '.join(POLICIES)}.")
    ] = "judged",
    groups: options.GroupsFile = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RUN",
            help="Compare all others to this run, or to the higher one of best:A,B,…. Repeatable.",
        ),
    ] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Compare A to B, not all to the baseline; 'all' takes every pair. Repeatable.",
        ),
    ] = None,
    planned: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A>B|FILE",
            help="Declared in advance: A is higher than B; one-sided, a family of its own. Repeatable.",
        ),
    ] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(TESTS)}; a verdict needs all of those named. Repeatable."),
    ] = None,
    alternative: Annotated[
        str, typer.Option(help=f"Of what is not planned: {', '.join(ALTERNATIVES)}.")
    ] = "two-sided",
    correction: Annotated[str, typer.Option(help=f"{', '.join(CORRECTIONS)}.")] = "holm",
    family: Annotated[
        str,
        typer.Option(
            help=f"Corrected together: a kind's comparisons on one measure, or all ({FAMILIES[1]})."
        ),
    ] = "measure",
    margin: Annotated[
        float | None,
        typer.Option(min=0.0, max=1e9, help="Differences below this do not matter: test equivalence."),
    ] = None,
    interval: Annotated[str, typer.Option(help=f"{', '.join(INTERVALS)}.")] = "percentile",
    level: Annotated[
        float, typer.Option(min=0.5, max=0.9999, help="Of intervals; alpha is 1 - level.")
    ] = 0.95,
    replicates: Annotated[
        int, typer.Option(min=100, help="Of the bootstrap and of random sign flips.")
    ] = 10_000,
    seed: options.Seed = 0,
    slice_files: Annotated[
        list[str] | None,
        typer.Option(
            "--slices", metavar="NAME=FILE", help="TSV qid<TAB>value: results by value. Repeatable."
        ),
    ] = None,
    doc_slices: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="TSV docno<TAB>value: run and qrels cut to each value's documents."
        ),
    ] = None,
    excluded: Annotated[
        str | None, typer.Option(metavar="FILE", help="Queries left out of the qrels: bounds with them.")
    ] = None,
    subset: Annotated[
        str | None, typer.Option(metavar="FILE", help="Queries to trust most: results on them alone.")
    ] = None,
    topics: Annotated[
        str | None, typer.Option(metavar="FILE", help="Topics: surface features of excluded queries.")
    ] = None,
    without_unjudged: Annotated[
        bool, typer.Option("--without-unjudged", help="Also compare on judged documents alone.")
    ] = False,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="How alike the runs are, pair by pair.")
    ] = False,
    depth: Annotated[int, typer.Option(min=1, help="Of --agreement.")] = 100,
    ranking: Annotated[
        bool,
        typer.Option(
            "--ranking",
            help="Rank the runs over all cells (measure x document slice): mean ranks, Friedman, Nemenyi; runs down, "
            "measures across, in place of the other tables.",
        ),
    ] = False,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Of --ranking: deviation over so many folds of the queries.")
    ] = None,
    lower_is_better: options.LowerIsBetter = None,
    lenient: options.Lenient = False,
) -> None:
    """Evaluate runs and compare them: how good, how sure, over which queries.

    Prints means with n, differences to the baseline with group-clustered intervals, p-values by family, a
    verdict for each comparison, and what the data could have shown.
    """
    paths, given = runs or [], values or []
    require_one_stdin(*paths, *given, qrels, groups, doc_slices, excluded, subset, topics)
    if not paths and not given:
        raise UsageError("give at least one run")
    if folds is not None and not ranking:
        raise UsageError("--folds belongs to --ranking")
    require_format(form)
    suffix = None if report is None else SUFFIXES.get(Path(report.removesuffix(".gz")).suffix)
    if report is not None and suffix is None:
        raise UsageError(f"--report {report}: the name must end in one of {', '.join(SUFFIXES)}")
    read = read_qrels(qrels)
    names = measure or (["RefHit@10", "R@10"] if read.pairs is not None else ["nDCG@10", "R@100"])
    reading = Reading(
        parse_measures(names),
        lenient,
        lower_is_better or (),
        without_unjudged,
        agreement,
        {} if doc_slices is None else read_mapping(doc_slices, "docno"),
    )
    evaluated = evaluate(read, paths, given, reading)
    scores = evaluated.scores.take(chosen_queries(evaluated.scores, queries))
    if not scores.queries:
        raise DataError(f"no query is left to average over ({queries}: {POLICIES[queries]})")
    if per_query:
        for line in narrow_ties(evaluated):
            note(line)
        write_text(output, "\n".join(per_query_lines(scores)) + "\n")
        return
    grouping = Groups.read(groups)
    units = grouping.units(scores.queries)
    how = Inference(
        replicates,
        seed,
        interval,
        level,
        tuple(dict.fromkeys(test or ("bootstrap", "permutation"))),
        correction,
        family,
        alternative,
        margin,
    )
    baselines = resolve_best(baseline or [], scores)
    pairs = declared_pairs(scores.labels, [*paths, *given], baselines, pair or [], planned or [])
    case = Case(evaluated, scores, grouping, pairs, how)
    comparisons = compare_pairs(scores, pairs, units, how)
    facts = Facts(
        hybridcli.__version__, len(scores.queries), POLICIES[queries], units, groups, how, evaluated.facts
    )
    facts.notes += [*data_notes(evaluated, scores), *inference_notes(units, comparisons)]
    by_query = {name: read_mapping(path) for name, path in named_files(slice_files or [], "--slices").items()}
    left_out, trusted = read_optional_ids(excluded), read_optional_ids(subset)
    sections = [means_section(estimate_means(scores, units, how), comparisons, len(scores.queries))]
    sections += [comparisons_section(comparisons, how)] if comparisons else []
    sections += slices(case, by_query)
    if ranking:
        found, said = rank_cells(case, folds)
        sections = [found, *(Section(section.key, (), section.rows) for section in sections)]
        facts.notes += said
    sections += sensitivity(case, left_out, trusted)
    sections += [] if left_out is None else excluded_queries(case, left_out, by_query, topics)
    if agreement:
        sections.append(agreement_section(agreements(scores.labels, evaluated.runs, read, depth), depth))
    write_text(output, _written(form, facts, sections, comparisons))
    if report is not None and suffix is not None:
        write_text(report, _written(suffix, facts, sections, comparisons))


def _written(form: str, facts: Facts, sections: list[Section], comparisons: Sequence[Comparison]) -> str:
    if form == "json":
        return json_text(as_json(facts, sections))
    tables = [table for section in sections for table in section.tables]
    return render(form, tables, footnotes(facts, comparisons))


_LISTS = "\n\n".join(
    listing(title, (row[:2] for row in rows))
    for title, rows in (
        ("Measures (any other name goes to ir_measures):", measure_rows()),
        ("Tests:", registry_rows(TESTS)),
        ("Corrections:", registry_rows(CORRECTIONS)),
        ("Intervals:", interval_rows()),
        ("Formats:", format_rows()),
    )
)
compare.__doc__ = f"""{inspect.cleandoc(compare.__doc__ or "")}

{_LISTS}

Example: hybridcli compare bm25.run rrf.run --qrels ref.qrels -m RefHit@10 --groups groups.tsv --planned 'rrf>bm25'
"""
