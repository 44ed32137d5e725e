"""How good a re-ranked run is: all runs under one protocol, and the bound that no re-ranker can exceed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from hybridcli.adaptive.pairs import Lists, reorder
from hybridcli.adaptive.rerankers import Settings
from hybridcli.adaptive.reranking import ideal_scores
from hybridcli.errors import UsageError
from hybridcli.evaluation.comparisons import (
    Comparison,
    Estimate,
    Inference,
    Pair,
    compare_pairs,
    estimate_means,
)
from hybridcli.evaluation.hits import Matcher, judgments_of
from hybridcli.evaluation.measures import Measure, parse_measure
from hybridcli.evaluation.resampling import Units
from hybridcli.evaluation.scores import Scores
from hybridcli.records import Floats, Qrels, Run

ORACLE = "candidate oracle"
# measures of references: the best order by grade need not be the best for them
BY_REFERENCE = ("RefHit", "STREC")


def bounded_measures(names: Sequence[str]) -> list[Measure]:
    """Read the names of measures whose highest value over all orders of the candidates is known."""
    measures = list({measure.name: measure for measure in map(parse_measure, names)}.values())
    for measure in measures:
        if measure.name.startswith(BY_REFERENCE):
            raise UsageError(
                f"-m {measure.name}: what the best order of candidates reaches is known for measures of documents "
                "only; give the written run to hybridcli compare"
            )
    return measures


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """The one protocol: every judged query counts, one that a run lacks counts 0; ``units``: what is resampled."""

    qrels: Qrels
    measures: Sequence[Measure]
    units: Units
    how: Inference

    def values(self, runs: Sequence[Run]) -> Floats:
        """Per-query values: float64[runs, M, Q]."""
        matcher, judgments = Matcher(self.qrels), judgments_of(self.qrels)
        found = [matcher.find_hits(run) for run in runs]
        return np.stack([[m.values(judgments, hits) for m in self.measures] for hits in found])

    def scores(self, labels: Sequence[str], values: Floats) -> Scores:
        """Values with names: float64[labels, M, Q]."""
        return Scores(
            list(labels),
            [measure.name for measure in self.measures],
            self.qrels.queries,
            values,
            np.ones((len(labels), len(self.qrels.queries)), dtype=bool),
            judgments_of(self.qrels).relevant,
        )

    def means(self, scores: Scores) -> list[Estimate]:
        """Means with intervals."""
        return estimate_means(scores, self.units, self.how)

    def compare(self, scores: Scores, left: str, right: Sequence[str]) -> list[Comparison]:
        """The difference of one system to others."""
        return compare_pairs(scores, [Pair(left, label) for label in right], self.units, self.how)


def oracle_run(run: Run, lists: Lists, k: int) -> Run:
    """The run with its first k candidates in the best order: relevant ones first, by grade."""
    return reorder(run, k, ideal_scores(lists, k), ORACLE)


def repeat_values(judge: Judge, run: Run, k: int, scores: Floats) -> Floats:
    """Values of each repeat's re-ranked run: float64[repeats, M, Q]; ``scores``: float64[repeats, rows]."""
    return judge.values([reorder(run, k, row, "repeat") for row in scores])


def estimate_row(estimate: Estimate) -> dict[str, Any]:
    """A mean as plain data."""
    return asdict(estimate)


def comparison_row(comparison: Comparison) -> dict[str, Any]:
    """A difference as plain data; ``p``: the largest of all tests, adjusted."""
    p = [value for value in comparison.adjusted.values() if value is not None]
    return {
        "against": comparison.pair.right,
        "measure": comparison.measure,
        "difference": comparison.difference,
        "low": comparison.low,
        "high": comparison.high,
        "p": max(p) if len(p) == len(comparison.adjusted) else None,
        "verdict": comparison.verdict,
    }


def sensitivity(
    judge: Judge, run: Run, lists: Lists, cells: Sequence[tuple[Settings, Floats]]
) -> list[dict[str, Any]]:
    """One row for each setting: what was reached, the bound, and the difference to the candidates' own order.

    ``cells``: settings with the scores of all repeats, float64[repeats, rows].
    """
    own = judge.values([run])
    rows = []
    for settings, scores in cells:
        asked = replace(judge, measures=[*judge.measures, parse_measure(f"Success@{settings.k}")])
        bound = asked.values([oracle_run(run, lists, settings.k)])[0].mean(axis=1)
        reached = repeat_values(judge, run, settings.k, scores).mean(axis=0)
        pair = judge.scores(["re-ranked", "candidates"], np.stack([reached, own[0]]))
        for comparison, mean, best in zip(
            judge.compare(pair, "re-ranked", ["candidates"]), reached.mean(axis=1), bound, strict=False
        ):
            rows.append(
                {
                    "settings": asdict(settings),
                    "found": float(bound[-1]),
                    "measure": comparison.measure,
                    "mean": float(mean),
                    "bound": float(best),
                    "difference": comparison.difference,
                    "low": comparison.low,
                    "high": comparison.high,
                }
            )
    return rows
