"""Effectiveness measures as kernels over hits, in one registry; names as in ir_measures, values as in trec_eval.

A measure is one function ``(judgments, hits, cutoff, rel) -> float64[Q]`` with a line of description and a
source. It is 0 for a query without a relevant document, and never NaN.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridcli.errors import UsageError
from hybridcli.evaluation.hits import Hits, Judgments
from hybridcli.records import Floats, Ints, rank_in_segment, segment_of

Kernel = Callable[[Judgments, Hits, int | None, int], Floats]


@dataclass(frozen=True, slots=True)
class Spec:
    """A family of measures. ``cutoff``: ``required``, ``optional`` or ``none``."""

    name: str
    kernel: Kernel
    cutoff: str
    takes_rel: bool
    about: str
    source: str
    aliases: tuple[str, ...]

    @property
    def form(self) -> str:
        """How it is written, e.g. ``AP[@k]``."""
        return self.name + {"required": "@k", "optional": "[@k]", "none": ""}[self.cutoff]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure, such as nDCG@10. ``rel``: the lowest grade that counts as relevant."""

    name: str
    spec: Spec
    cutoff: int | None
    rel: int

    def values(self, judgments: Judgments, hits: Hits) -> Floats:
        """The measure of each query: float64[Q]."""
        return self.spec.kernel(judgments, hits, self.cutoff, self.rel)


MEASURES: dict[str, Spec] = {}
_BY_ALIAS: dict[str, Spec] = {}


def measure(
    name: str, *, cutoff: str, about: str, source: str, aliases: tuple[str, ...] = (), takes_rel: bool = True
) -> Callable[[Kernel], Kernel]:
    """Register a measure; ``takes_rel``: a lowest relevant grade can be named, as in ``P(rel=2)@5``."""

    def register(kernel: Kernel) -> Kernel:
        spec = Spec(name, kernel, cutoff, takes_rel, about, source, aliases)
        MEASURES[name] = spec
        for key in (name, *aliases):
            _BY_ALIAS[key.lower()] = spec
        return kernel

    return register


_GRAMMAR = re.compile(r"(?P<name>[A-Za-z]+)(?:\(rel=(?P<rel>[0-9]+)\))?(?:@(?P<cutoff>[0-9]+))?")
_TREC_EVAL = re.compile(r"(?P<name>[A-Za-z_]+?)(?:_(?P<cutoff>[0-9]+))?")


def parse_measure(text: str) -> Measure:
    """Read ``nDCG@10``, ``R(rel=2)@100``, or trec_eval's ``ndcg_cut_10``; the case does not matter.

    Raises UsageError when the name is unknown (see ``is_own``), the cutoff is missing, not wanted or 0.
    """
    match = _match(text)
    if match is None:
        known = ", ".join(spec.form for spec in MEASURES.values())
        raise UsageError(f"unknown measure {text!r}; own measures: {known}")
    spec, cutoff, rel = match
    if cutoff is None and spec.cutoff == "required":
        raise UsageError(f"measure {text!r} needs a cutoff, for example {spec.name}@10")
    if cutoff is not None and spec.cutoff == "none":
        raise UsageError(f"measure {text!r} takes no cutoff; write {spec.name}")
    if cutoff == 0 or rel == 0:
        raise UsageError(f"measure {text!r}: cutoff and rel start at 1")
    if rel is not None and not spec.takes_rel:
        raise UsageError(f"measure {text!r}: {spec.name} takes no rel here")
    name = spec.name + ("" if rel in (None, 1) else f"(rel={rel})") + ("" if cutoff is None else f"@{cutoff}")
    return Measure(name, spec, cutoff, 1 if rel is None else rel)


def is_own(text: str) -> bool:
    """Tell whether the registry knows this name (else it is ir_measures' business)."""
    return _match(text) is not None


def _match(text: str) -> tuple[Spec, int | None, int | None] | None:
    for grammar in (_GRAMMAR, _TREC_EVAL):
        match = grammar.fullmatch(text.strip())
        spec = _BY_ALIAS.get(match["name"].lower()) if match else None
        if match and spec:
            found = match.groupdict()
            cutoff, rel = found.get("cutoff"), found.get("rel")
            return spec, int(cutoff) if cutoff else None, int(rel) if rel else None
    return None


def measure_rows() -> list[tuple[str, str, str]]:
    """(form, what it says, source) of each measure, for help and README."""
    return [(spec.form, spec.about, spec.source) for spec in MEASURES.values()]


def _relevant(judgments: Judgments, rel: int) -> NDArray[np.int64]:
    """Number of relevant documents of each query: int64[Q]."""
    if rel == 1:
        return judgments.relevant.astype(np.int64)
    rows = segment_of(judgments.offsets)[judgments.grades >= rel]
    return np.bincount(rows, minlength=len(judgments.relevant))


def _within(hits: Hits, cutoff: int | None, rel: int) -> NDArray[np.bool_]:
    """Which hits are relevant and within the cutoff."""
    good = hits.grade >= rel
    return good if cutoff is None else good & (hits.rank <= cutoff)


def _ratio(top: NDArray[Any], bottom: NDArray[Any]) -> Floats:
    """Divide; 0 where there is nothing to divide by."""
    result = np.zeros(len(top), dtype=np.float64)
    np.divide(top, bottom, out=result, where=bottom > 0)
    return result


def _count(hits: Hits, chosen: NDArray[np.bool_]) -> Ints:
    return np.bincount(hits.query[chosen], minlength=len(hits.retrieved))


@measure(
    "RefHit",
    cutoff="required",
    about="share of a query's references with a relevant document in the top k; Success@k without references",
    source="subtopic recall: Zhai, Cohen & Lafferty 2003; ndeval strec",
    aliases=("STREC", "StRecall"),
    takes_rel=False,
)
def reference_hit(judgments: Judgments, hits: Hits, cutoff: int | None, rel: int) -> Floats:
    """References found in the top k over all references of the query."""
    found = hits.reference_query[hits.reference_rank <= (cutoff or 0)]
    return _ratio(np.bincount(found, minlength=len(hits.retrieved)), judgments.references)


@measure(
    "R",
    cutoff="required",
    about="share of the relevant documents that stand in the top k",
    source="trec_eval recall",
    aliases=("Recall",),
)
def recall(judgments: Judgments, hits: Hits, cutoff: int | None, rel: int) -> Floats:
    """Relevant documents in the top k over all relevant documents."""
    return _ratio(_count(hits, _within(hits, cutoff, rel)), _relevant(judgments, rel))


@measure(
    "P",
    cutoff="required",
    about="share of the top k that is relevant (a shorter list counts as filled with misses)",
    source="trec_eval P",
    aliases=("Precision",),
)
def precision(judgments: Judgments, hits: Hits, cutoff: int | None, rel: int) -> Floats:
    """Relevant documents in the top k over k."""
    return _count(hits, _within(hits, cutoff, rel)) / np.float64(cutoff or 1)


@measure(
    "Success",
    cutoff="required",
    about="1 when a relevant document stands in the top k",
    source="trec_eval success",
    aliases=("Hit",),
)
def success(judgments: Judgments, hits: Hits, cutoff: int | None, rel: int) -> Floats:
    """Whether any relevant document stands in the top k."""
    return (_count(hits, _within(hits, cutoff, rel)) > 0).astype(np.float64)


@measure(
    "RR",
    cutoff="optional",
    about="1 / rank of the first relevant document (0 beyond k)",
    source="trec_eval recip_rank",
    aliases=("MRR", "recip_rank"),
)
def reciprocal_rank(judgments: Judgments, hits: Hits, cutoff: int | None, rel: int) -> Floats:
    """Reciprocal rank of the first relevant document."""
    best = np.zeros(len(hits.retrieved), dtype=np.float64)
    good = _within(hits, cutoff, rel)
    np.maximum.at(best, hits.query[good], 1.0 / hits.rank[good])
    return best


@measure(
    "AP",
    cutoff="optional",
    about="mean over all relevant documents of the precision at their ranks",
    source="trec_eval map, map_cut",
    aliases=("MAP", "map_cut"),
)
def average_precision(judgments: Judgments, hits: Hits, cutoff: int | None, rel: int) -> Floats:
    """Average precision, over all relevant documents also when cut."""
    good = _within(hits, cutoff, rel)
    query = hits.query[good]
    starts = np.searchsorted(query, np.arange(len(hits.retrieved)))
    nth = np.arange(1, len(query) + 1) - starts[query]
    total = np.bincount(query, weights=nth / hits.rank[good], minlength=len(hits.retrieved))
    return _ratio(total, _relevant(judgments, rel))


@measure(
    "nDCG",
    cutoff="optional",
    about="discounted gain over that of the ideal ranking; gain = grade, discount = log2(1 + rank)",
    source="Järvelin & Kekäläinen 2002; trec_eval ndcg, ndcg_cut",
    aliases=("ndcg_cut",),
    takes_rel=False,
)
def ndcg(judgments: Judgments, hits: Hits, cutoff: int | None, rel: int) -> Floats:
    """Linear gains; the ideal ranking is over all judged documents."""
    size = len(hits.retrieved)
    ideal_rank = rank_in_segment(judgments.offsets)
    ideal = _gain(segment_of(judgments.offsets), ideal_rank, judgments.grades, cutoff, size)
    return _ratio(_gain(hits.query, hits.rank, hits.grade, cutoff, size), ideal)


def _gain(
    query: NDArray[np.int32],
    rank: NDArray[np.int32],
    grade: NDArray[np.int32],
    cutoff: int | None,
    size: int,
) -> Floats:
    good = (grade > 0) if cutoff is None else (grade > 0) & (rank <= cutoff)
    gains = grade[good] / np.log2(rank[good] + 1.0)
    return np.bincount(query[good], weights=gains, minlength=size).astype(np.float64)


@measure(
    "Rprec",
    cutoff="none",
    about="precision at R, the number of relevant documents of the query",
    source="trec_eval Rprec",
    aliases=("RPrec",),
)
def r_precision(judgments: Judgments, hits: Hits, cutoff: int | None, rel: int) -> Floats:
    """Relevant documents in the top R over R."""
    wanted = _relevant(judgments, rel)
    return _ratio(_count(hits, (hits.grade >= rel) & (hits.rank <= wanted[hits.query])), wanted)


@measure(
    "Judged",
    cutoff="optional",
    about="share of the retrieved top k that was judged at all",
    source="ir_measures Judged",
    takes_rel=False,
)
def judged(judgments: Judgments, hits: Hits, cutoff: int | None, rel: int) -> Floats:
    """Judged documents in the top k over the documents retrieved there."""
    near = np.ones(len(hits.rank), dtype=bool) if cutoff is None else hits.rank <= cutoff
    length = hits.retrieved if cutoff is None else np.minimum(hits.retrieved, cutoff)
    return _ratio(_count(hits, near), length)
