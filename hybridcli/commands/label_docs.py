"""``hybridcli label-docs``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from hybridcli import options
from hybridcli.console import note, warn
from hybridcli.errors import UsageError
from hybridcli.formats.documents import read_passages
from hybridcli.formats.files import open_output, require_one_stdin, require_one_stdout
from hybridcli.formats.qrels import read_qrels
from hybridcli.formats.tables import write_mapping
from hybridcli.formats.topics import read_topics
from hybridcli.text.labeling import examples_of, head_labels, label_text


def label_docs(
    labels: Annotated[
        str, typer.Argument(metavar="LABELS", help="The labels' names as documents: id, text (JSONL, TSV …).")
    ],
    topics: Annotated[
        str, typer.Option("--topics", metavar="TRAIN", help="Training texts: TSV, JSONL, windows.")
    ],
    qrels: Annotated[str, typer.Option("--qrels", metavar="TRAINQRELS", help="Their labels: qid 0 label 1.")],
    output: options.Output = "-",
    max_examples: Annotated[
        int, typer.Option("--max-examples", min=0, help="Training texts put into a document, the first ones.")
    ] = 10,
    max_words: Annotated[
        int,
        typer.Option(
            "--max-words", min=0, help="Words of all of them, shared equally; the name comes on top."
        ),
    ] = 200,
    doc_slices_out: Annotated[
        str | None,
        typer.Option(
            "--doc-slices-out", metavar="FILE", help="Write label<TAB>head|tail, for compare --doc-slices."
        ),
    ] = None,
    head_share: Annotated[
        float,
        typer.Option("--head-share", help="Share of the labels, by training frequency, that is the head."),
    ] = 0.2,
) -> None:
    """Turn the labels of a classification task into documents: a label's name and texts that carry it.

    Then a text to be classified is a topic and its ranked labels are a run. Only training texts are read. Head: the
    most frequent fifth of all labels; tail: all others, and every label that training has not seen.

    Example: hybridcli label-docs labels.jsonl --topics train.tsv --qrels train.qrels -o labels.docs.jsonl
    --doc-slices-out slices.tsv
    """
    require_one_stdin(labels, topics, qrels)
    require_one_stdout(output, doc_slices_out)
    if not 0 < head_share < 1:
        raise UsageError(f"--head-share must be between 0 and 1, found {head_share}")
    names = dict(read_passages(labels))
    training = read_topics(topics)
    judged = read_qrels(qrels).to_dict()
    labels_of = {qid: [label for label, grade in found.items() if grade > 0] for qid, found in judged.items()}
    examples = examples_of(zip(training.qids, training.texts, strict=True), labels_of)
    unknown = [label for label in examples if label not in names]
    if unknown:
        warn(
            f"{len(unknown):,} labels of {qrels} are not in {labels} and get no document, such as {unknown[0]}"
        )
    with open_output(output) as stream:
        for label, name in names.items():
            text = label_text(name, examples.get(label, []), max_words, max_examples)
            stream.write((json.dumps({"id": label, "text": text}, ensure_ascii=False) + "\n").encode())
    counts = {label: len(examples.get(label, [])) for label in names}
    head = head_labels(counts, head_share)
    if doc_slices_out is not None:
        write_mapping(doc_slices_out, {label: "head" if label in head else "tail" for label in names})
    note(
        f"{len(names):,} labels, {sum(map(bool, counts.values())):,} of them in {len(training.qids):,} training texts"
    )
    if head:
        lowest = min(counts[label] for label in head)
        tied = sum(count == lowest for label, count in counts.items() if label not in head)
        share = sum(counts[label] for label in head) / max(sum(counts.values()), 1)
        note(
            f"head: {len(head):,} labels with at least {lowest:,} training texts and {share:.0%} of all assignments; "
            f"tail: {len(names) - len(head):,}, of them {tied:,} with {lowest:,} too (parted by their ids)"
        )
