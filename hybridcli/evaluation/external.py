"""Measures that are not ours, computed by ir_measures on the ranking as we order it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Any

import numpy as np

from hybridcli.errors import DataError, MissingComponentError, UsageError
from hybridcli.evaluation.measures import MEASURES
from hybridcli.records import Floats, Qrels, Run

# what brings the providers that ir_measures does not install by itself
PROVIDERS = {
    "RBP": "cwl-eval",
    "BPM": "cwl-eval",
    "SDCG": "cwl-eval",
    "NERR8": "cwl-eval",
    "NERR9": "cwl-eval",
    "NERR10": "cwl-eval",
    "NERR11": "cwl-eval",
    "INSQ": "cwl-eval",
    "INST": "cwl-eval",
    "alpha_nDCG": "pyndeval",
    "alpha_DCG": "pyndeval",
    "ERR_IA": "pyndeval",
    "nERR_IA": "pyndeval",
    "nNRBP": "pyndeval",
    "NRBP": "pyndeval",
    "AP_IA": "pyndeval",
    "P_IA": "pyndeval",
}


def parse_external(text: str) -> Any:
    """Read a measure of ir_measures.

    Raises UsageError for a name nobody knows, MissingComponentError when its provider is not installed.
    """
    import ir_measures

    try:
        measure = ir_measures.parse_measure(text)
        supported = ir_measures.DefaultPipeline.supports(measure)
    except (NameError, ValueError, SyntaxError, TypeError, AssertionError) as error:
        known = ", ".join(spec.form for spec in MEASURES.values())
        raise UsageError(
            f"unknown measure {text!r} ({error}); own measures: {known}; any other of ir_measures by its name"
        ) from None
    if not supported:
        package = PROVIDERS.get(measure.NAME, "ir_measures[all]")
        raise MissingComponentError(f"ir_measures cannot compute {text} here", f"pip install '{package}'")
    return measure


def external_values(measures: Sequence[Any], run: Run, qrels: Qrels) -> Floats:
    """Values of ir_measures' measures, float64[M, Q] aligned to the qrels; absent queries count 0.

    Scores are replaced by falling ranks, so that every provider sees our one order, ties included; ids by numbers,
    as some providers accept no others. Raises DataError when a provider fails.
    """
    import ir_measures

    place = {qid: at for at, qid in enumerate(qrels.queries)}
    number = {docno: f"D{at}" for at, docno in enumerate({*run.docnos.to_list(), *qrels.docnos.to_list()})}
    docnos = [number[docno] for docno in run.docnos.to_list()]
    ranked = {
        str(place[qid] + 1): {
            docnos[doc]: float(high - at) for at, doc in enumerate(run.docs[low:high], start=low)
        }
        for qid, low, high in zip(
            run.queries, run.offsets[:-1].tolist(), run.offsets[1:].tolist(), strict=True
        )
        if qid in place and high > low
    }
    values = np.zeros((len(measures), len(qrels.queries)))
    if not ranked:
        return values
    row = {str(measure): at for at, measure in enumerate(measures)}
    try:
        for metric in ir_measures.iter_calc(list(measures), _judgement_rows(qrels, number), ranked):
            if metric.query_id in ranked and np.isfinite(metric.value):
                values[row[str(metric.measure)], int(metric.query_id) - 1] = metric.value
    except (subprocess.CalledProcessError, OSError, ValueError) as error:
        names = ", ".join(row)
        raise DataError(f"ir_measures could not compute {names} on these qrels: {error}") from None
    return values


def _judgement_rows(qrels: Qrels, number: dict[str, str]) -> list[Any]:
    import ir_measures

    docnos = [number[docno] for docno in qrels.docnos.to_list()]
    owner = np.searchsorted(qrels.offsets, np.arange(len(qrels.docs)), side="right") - 1
    if qrels.pairs is None:
        return [
            ir_measures.Qrel(str(query + 1), docnos[doc], grade)
            for query, doc, grade in zip(
                owner.tolist(), qrels.docs.tolist(), qrels.grades.tolist(), strict=True
            )
        ]
    return [
        ir_measures.Qrel(
            str(owner[row] + 1), docnos[qrels.docs[row]], int(qrels.grades[row]), str(reference + 1)
        )
        for row, reference in qrels.pairs.tolist()
    ]
