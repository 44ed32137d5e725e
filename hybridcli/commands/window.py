"""``hybridcli window``: documents to windows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from hybridcli.console import note, track, warn
from hybridcli.errors import DataError, UsageError
from hybridcli.formats.documents import read_documents
from hybridcli.formats.files import STDIN, name_of, open_output, require_one_stdout, write_text
from hybridcli.formats.windows import window_line
from hybridcli.options import Output
from hybridcli.records import Unit
from hybridcli.text.budget import Budget, cut_all
from hybridcli.text.cutting import Cut
from hybridcli.text.facts import concept_words, concepts_of
from hybridcli.text.filings import parse_filing
from hybridcli.text.tally import Tally
from hybridcli.text.tokens import Tokens, load_tokens

WORDS = 160
MAX_TOKENS = 512


def window(
    docs: Annotated[
        list[str],
        typer.Argument(
            metavar="DOCS...",
            help="JSONL, TSV, TREC SGML, HTML or inline XBRL, plain text; a folder of those or in BEIR form; "
            "irds:DATASET; '-' is stdin, gzip is found by itself.",
        ),
    ],
    output: Output = "-",
    words: Annotated[int | None, typer.Option(help="Words a window.  [default: 160]")] = None,
    tokens: Annotated[
        int | None, typer.Option(help="Tokens of --tokenizer a window, instead of --words; words stay whole.")
    ] = None,
    uncut: Annotated[bool, typer.Option("--uncut", help="One window a unit, whatever its length.")] = False,
    overlap: Annotated[
        int | None,
        typer.Option(help="Words (or tokens) that two windows share.  [default: a fifth of the window]"),
    ] = None,
    carry_headings: Annotated[
        bool,
        typer.Option(
            "--carry-headings",
            help="Put '[Heading] …' and '[Columns] …' lines in front of every window of a table.",
        ),
    ] = False,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Count the tokens of every window: minilm, wordllama, a model's folder, a tokenizer.json or a hub id.",
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            help="Tokens the encoder reads, special ones included.  [default: what the model's folder says, else 512]"
        ),
    ] = None,
    split_over_budget: Annotated[
        bool, typer.Option("--split-over-budget", help="Cut windows over --max-tokens again until none is.")
    ] = False,
    over_budget: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write windowid<TAB>tokens of the windows over --max-tokens."),
    ] = None,
    facts: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write 'windowid 0 concept 1' for every XBRL fact printed in a window: label qrels.",
        ),
    ] = None,
    fact_labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write those concepts as JSONL documents: id, text (the name in words)."
        ),
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Take HTML pages that never close <html>, with a warning.")
    ] = False,
) -> None:
    """Cut documents into windows, the units of retrieval.

    HTML and inline XBRL are parsed into tables and texts in reading order; any other document is one text. Each is
    cut into windows that never reach beyond it. Window ids are DOCNO:UNIT:NUMBER. The distribution goes to stderr.

    Example: hybridcli window filings/ -o windows.jsonl --carry-headings --tokenizer minilm
    """
    require_one_stdout(output, facts, fact_labels, over_budget)
    _require_output_outside(docs, output)
    counter = load_tokens(tokenizer) if tokenizer is not None else None
    budget = _budget(counter, max_tokens, split_over_budget, over_budget)
    how = Cut(*_size(words, tokens, uncut, overlap, counter), carry_headings, counter if tokens else None)
    tally = Tally(budget)
    labels: set[str] = set()
    with ExitStack() as outputs:
        windows_file = outputs.enter_context(open_output(output))
        facts_file = outputs.enter_context(open_output(facts)) if facts is not None else None
        for cut in cut_all(_units(docs, lenient, tally), how, budget):
            tally.add(cut)
            windows_file.writelines(map(window_line, cut.windows))
            if facts_file is not None or fact_labels is not None:
                found = list(concepts_of(cut.unit, cut.windows))
                labels.update(concept for _, concept in found)
                if facts_file is not None:
                    facts_file.writelines(f"{name} 0 {concept} 1\n".encode() for name, concept in found)
        if fact_labels is not None:
            rows = ({"id": concept, "text": concept_words(concept)} for concept in sorted(labels))
            write_text(fact_labels, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        if over_budget is not None:
            write_text(over_budget, "".join(f"{name}\t{count}\n" for name, count in tally.over))
    tally.close()
    for line in tally.lines():
        note(line)
    warning = tally.warning(listed=over_budget is None)
    if warning is not None:
        warn(warning)


def _require_output_outside(docs: list[str], output: str) -> None:
    """Refuse to write windows among the documents, where the next run would read them as documents."""
    place = Path(os.path.realpath(output))
    for folder in docs:
        if output != STDIN and Path(os.path.realpath(folder)) in place.parents and Path(folder).is_dir():
            raise UsageError(f"{output} would lie among the documents of {folder}; write it elsewhere")


def _size(
    words: int | None, tokens: int | None, uncut: bool, overlap: int | None, counter: Tokens | None
) -> tuple[int | None, int]:
    """Window size and overlap of the options, in words or tokens."""
    if (words is not None) + (tokens is not None) + uncut > 1:
        raise UsageError("--words, --tokens and --uncut exclude each other")
    if tokens is not None and counter is None:
        raise UsageError("--tokens needs --tokenizer MODEL")
    if uncut:
        if overlap is not None:
            raise UsageError("--overlap means nothing with --uncut")
        return None, 0
    size = tokens if tokens is not None else words if words is not None else WORDS
    return size, max(size, 0) // 5 if overlap is None else overlap


def _budget(
    counter: Tokens | None, max_tokens: int | None, split: bool, over_budget: str | None
) -> Budget | None:
    if counter is not None:
        return Budget(counter, max_tokens if max_tokens is not None else counter.limit or MAX_TOKENS, split)
    if max_tokens is not None or split or over_budget is not None:
        raise UsageError("--max-tokens, --split-over-budget and --over-budget need --tokenizer MODEL")
    return None


def _units(docs: list[str], lenient: bool, tally: Tally) -> Iterator[Unit]:
    for document in track(read_documents(docs, lenient=lenient), "documents"):
        tally.add_document(document.docno)
        if document.page is not None:
            try:
                units = parse_filing(document.page, document.docno)
            except DataError as error:
                raise DataError(str(error), path=name_of(document.path)) from None
            yield from units
        else:
            yield Unit(document.docno, 0, "text", document.passage, document.title)
