"""``hybridcli map-labels``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from hybridcli.commands.labelling.checking import apply_sheet, check_labels, named_groups, parse_thresholds
from hybridcli.console import note, say
from hybridcli.errors import DataError, UsageError
from hybridcli.evaluation.audit import draw_sample, earliest_starts, strata_of
from hybridcli.formats.audits import write_sheet
from hybridcli.formats.files import name_of, require_one_stdin, require_one_stdout
from hybridcli.formats.provenance import write_ids, write_label_qrels, write_provenance, write_unresolved
from hybridcli.formats.references import read_references
from hybridcli.formats.tables import read_mapping, write_mapping
from hybridcli.formats.topics import write_topics
from hybridcli.formats.windows import read_document_windows
from hybridcli.options import Seed
from hybridcli.records import Topics
from hybridcli.report.labels import audit_lines, mapping_lines
from hybridcli.text.mapping import MappingRules, map_references
from hybridcli.text.outcome import excluded_queries, literal_queries


class Scope(StrEnum):
    """Where a reference's span may lie."""

    document = "document"
    unit = "unit"


def _file(flag: str, what: str) -> Any:
    return typer.Option(flag, metavar="FILE", help=what)


def map_labels(
    references: Annotated[
        str, typer.Argument(metavar="REFERENCES", help="Queries with evidence texts: JSONL or Parquet.")
    ],
    windows: Annotated[str, typer.Argument(metavar="WINDOWS", help="What hybridcli window wrote.")],
    qrels: Annotated[str, _file("--qrels", "Write relevant windows: qid 0 window 1.")],
    reference_qrels: Annotated[
        str | None, _file("--reference-qrels", "Write qid reference window 1, for RefHit@k.")
    ] = None,
    provenance: Annotated[str | None, _file("--provenance", "Write JSONL, one line a reference.")] = None,
    unresolved: Annotated[str | None, _file("--unresolved", "Write qid, reference, reason, query.")] = None,
    excluded: Annotated[
        str | None, _file("--excluded", "Write the queries without any resolved reference.")
    ] = None,
    literal: Annotated[
        str | None, _file("--literal", "Write the queries whose references are all contained literally.")
    ] = None,
    groups: Annotated[str | None, _file("--groups", "Write qid and group (company).")] = None,
    categories: Annotated[str | None, _file("--categories", "Write qid and category.")] = None,
    topics: Annotated[str | None, _file("--topics", "Write qid and text of every query.")] = None,
    scope: Annotated[
        Scope, typer.Option(help="May a span run over several units, or end with the unit it begins in?")
    ] = Scope.document,
    doc_groups: Annotated[
        str | None, _file("--doc-groups", "docno and group, where docnos do not begin with the group.")
    ] = None,
    anywhere: Annotated[
        bool, typer.Option("--anywhere", help="Ignore doc and group of the queries.")
    ] = False,
    min_letters: Annotated[
        int, typer.Option(min=1, help="Letters and digits below which a reference is too short.")
    ] = 16,
    min_similarity: Annotated[
        float, typer.Option(min=0, max=1, help="Needed where doc or group is known.")
    ] = 0.6,
    min_similarity_anywhere: Annotated[
        float, typer.Option(min=0, max=1, help="Needed where all documents are searched.")
    ] = 0.85,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail, and write nothing, when a reference is unresolved.")
    ] = False,
    audit: Annotated[
        str | None,
        typer.Option(metavar="WORDS", help="Share of evidence at or beyond these words: 256,512."),
    ] = None,
    audit_sample: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Draw N resolved references to judge by hand.")
    ] = None,
    sheet: Annotated[str | None, _file("--sheet", "Where --audit-sample writes its sheet.")] = None,
    audited: Annotated[
        str | None, _file("--audited", "A judged sheet: print precision, drop what is wrong.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Find evidence texts in windows and write relevance judgements.

    Both sides are compared by letters and digits alone (a point between digits stays): compatibility forms, case,
    accents, quotes, dashes, blanks and table cells do not matter. A reference is looked for whole, then by ever
    shorter beginnings, in the document its query names; without one, in its group's documents (their names are the
    group's, alone or followed by - _ or . and more); where there is none, in all. Every window that overlaps the place
    is relevant; of several equally good places in a document all are. A query counts as resolved with one
    resolved reference; its others are left out of its mean. What is not found is listed with a reason.

    Overlap is the share of a reference's words that its windows hold; literal means that they hold all of it, as
    compared, in one piece. A sheet is judged by writing right or wrong into its first column.

    Example: hybridcli map-labels questions.jsonl windows.jsonl --qrels w.qrels --reference-qrels r.qrels
    """
    require_one_stdin(references, windows, doc_groups, audited)
    require_one_stdout(
        qrels, reference_qrels, provenance, unresolved, excluded, literal, groups, categories, topics, sheet
    )
    thresholds = parse_thresholds(audit)
    if (audit_sample is None) != (sheet is None):
        raise UsageError("--audit-sample N and --sheet FILE go together")
    rules = MappingRules(scope.value, min_letters, min_similarity, min_similarity_anywhere)
    judged = read_references(references)
    textless = next((query.qid for query in judged if not query.text.strip()), None)
    if topics is not None and textless is not None:
        raise DataError(f"query {textless} has no text, which --topics needs", path=name_of(references))
    of_documents = read_mapping(doc_groups, key="docno") if doc_groups is not None else None
    labels = map_references(judged, read_document_windows(windows), rules, of_documents, anywhere)
    check_labels(labels, judged, references, windows, strict)
    categories_of = {query.qid: query.category for query in judged}
    if audited is not None:
        labels = apply_sheet(labels, strata_of(labels, categories_of), audited)
    if sheet is not None and audit_sample is not None:
        drawn = draw_sample(strata_of(labels, categories_of), audit_sample, seed)
        by_name = {(label.qid, label.reference): label for label in labels}
        rows = [(by_name[row[:2]], *row[2:]) for row in drawn]
        write_sheet(sheet, rows, {query.qid: query.text for query in judged})
        note(f"{len(drawn)} references to judge: write right or wrong into the first column of {sheet}")
    write_label_qrels(qrels, labels, by_reference=False)
    if reference_qrels is not None:
        write_label_qrels(reference_qrels, labels, by_reference=True)
    if provenance is not None:
        write_provenance(provenance, labels)
    if unresolved is not None:
        write_unresolved(unresolved, labels)
    if excluded is not None:
        write_ids(excluded, excluded_queries(judged, labels))
    if literal is not None:
        write_ids(literal, literal_queries(judged, labels))
    if groups is not None:
        write_mapping(groups, named_groups(judged, labels))
    if categories is not None:
        write_mapping(categories, {query.qid: query.category or "-" for query in judged})
    if topics is not None:
        write_topics(Topics([query.qid for query in judged], [query.text for query in judged]), topics)
    say(mapping_lines(labels, len(judged), scope.value))
    say(audit_lines(earliest_starts(labels), thresholds))
