"""Every query against every document: exact ranks in complete rankings, of which nothing is kept but the outcome.

A document that stands below every relevant one in each run's ranking, by more than 32-bit rounding, can pass none of
them at any weights. So of a complete ranking only the documents that can are compared, at every point of the grid;
then the query's values are kept and all else is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybridcli.adaptive.contest import Contest
from hybridcli.console import track
from hybridcli.errors import DataError, UsageError
from hybridcli.evaluation.measures import Measure
from hybridcli.fusion.fuse import Plan
from hybridcli.fusion.pool import Pool
from hybridcli.names import Names
from hybridcli.records import Codes, Floats, Ints, Qrels

if TYPE_CHECKING:
    pass

Scores = NDArray[np.float32]
# fused parts this much lower, relatively, stay lower when their sums are rounded to 32 bits
MARGIN = 2.0**-21
# (query, document) pairs that are held at once
CELLS = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Values of Q queries at known weightings; stands in for a ``Contest`` where only these are asked for.

    ``weights``: float64[P, R]; ``measures``: M names; ``table``: float64[M, P, Q]; ``best``: int32[R, Q], as
    ``Contest.best_ranks``.
    """

    weights: Floats
    measures: list[str]
    table: Floats
    best: Codes

    @property
    def n_runs(self) -> int:
        """Number of runs, R."""
        return int(self.weights.shape[1])

    @property
    def size(self) -> int:
        """Number of queries, Q."""
        return int(self.table.shape[2])

    def arrays(self) -> list[NDArray[np.generic]]:
        """Everything that values depend on, for a fingerprint."""
        return [self.weights, self.table, self.best]

    def best_ranks(self) -> Codes:
        """Best rank of a relevant document of each query in each run, 0 where it has none: int32[R, Q]."""
        return self.best

    def take(self, queries: Ints) -> Table:
        """The same for some of the queries."""
        return replace(self, table=self.table[:, :, queries], best=self.best[:, queries])

    def values(self, measures: Sequence[Measure], weights: Floats) -> Floats:
        """Look up M weightings, float64[M, R] or float64[M, Q, R]; one that was not evaluated is a UsageError."""
        place = {tuple(row): at for at, row in enumerate(np.round(self.weights, 12).tolist())}
        rows = np.round(weights, 12).reshape(-1, self.n_runs).tolist()
        try:
            at = np.array([place[tuple(row)] for row in rows]).reshape(weights.shape[:-1])
        except KeyError:
            raise UsageError(
                "complete rankings are known at the points of the grid only; routers that predict other weights "
                "need run files"
            ) from None
        chosen = [self.measures.index(measure.name) for measure in measures]
        table = self.table[chosen]
        if weights.ndim == 2:
            return table[:, at]
        found: Floats = table[:, at, np.arange(self.size)]
        return found


def known_points(weights: Floats) -> Floats:
    """The points of a table over a grid: its weights, equal weights, and each run alone."""
    n_runs = weights.shape[1]
    return np.vstack([weights, np.full((1, n_runs), 1.0 / n_runs), np.eye(n_runs)])


def table_of(contest: Contest | Table, measures: Sequence[Measure], weights: Floats) -> Table:
    """Keep of a contest only the values at the points of a grid."""
    if isinstance(contest, Table):
        return contest
    points = known_points(weights)
    names = [measure.name for measure in measures]
    return Table(points, names, contest.values(measures, points), contest.best_ranks())


def tabulate(
    scores: Sequence[Iterable[Scores]],
    docnos: Names,
    qrels: Qrels,
    plans: Sequence[Plan],
    measures: Sequence[Measure],
    weights: Floats,
) -> list[Table]:
    """Evaluate complete rankings at P weightings for each of K plans: K tables.

    ``scores``: for each of R runs, the scores of all D documents for one query after the other, in the order of
    ``qrels.queries``: float32[D], NaN for what the run does not retrieve. ``docnos``: D docnos, ascending.
    """
    n_runs = len(scores)
    points = known_points(weights)
    size = len(qrels.queries)
    tables = [np.zeros((len(measures), len(points), size)) for _ in plans]
    best = np.zeros((n_runs, size), dtype=np.int32)
    code = _codes_of(qrels, docnos)
    step = max(1, CELLS // max(len(docnos) * n_runs, 1))
    queries = iter(zip(*scores, strict=True))
    for start in track(range(0, size, step), "ranking", -(-size // step)):
        batch = np.arange(start, min(start + step, size))
        rows = list(islice(queries, len(batch)))
        if len(rows) < len(batch):
            raise DataError(f"scores of {start + len(rows)} queries for {size} judged ones")
        pool = complete_pool([qrels.queries[at] for at in batch], np.array(rows, dtype=np.float32), docnos)
        found, judged = _judged(batch, qrels, code, len(docnos))
        for table, plan in zip(tables, plans, strict=True):
            contest = Contest.assemble(pool, plan, qrels, found, judged).take(batch)
            table[:, :, batch] = prune(contest, plan).values(measures, points)
            best[:, batch] = contest.best_ranks()
    names = [measure.name for measure in measures]
    return [Table(points, names, table, best) for table in tables]


def complete_pool(queries: list[str], scores: Scores, docnos: Names) -> Pool:
    """Lay complete rankings side by side: float32[B, R, D] scores of documents in ascending order of docnos."""
    size, n_runs, width = scores.shape
    flipped = np.ascontiguousarray(scores.transpose(1, 0, 2)[:, :, ::-1])  # a pool's rows descend by docno
    order = np.argsort(-flipped, axis=2, kind="stable")  # NaN last
    present = ~np.isnan(flipped)
    ranks = np.zeros((n_runs, size, width), dtype=np.int32)
    np.put_along_axis(ranks, order, np.arange(1, width + 1, dtype=np.int32)[None, None, :], axis=2)
    return Pool(
        queries=queries,
        offsets=np.arange(size + 1, dtype=np.int64) * width,
        docs=np.tile(np.arange(width - 1, -1, -1, dtype=np.int32), size),
        docnos=docnos,
        scores=flipped.astype(np.float64).reshape(n_runs, -1),
        ranks=np.where(present, ranks, 0).reshape(n_runs, -1),
        lengths=present.sum(axis=2).astype(np.int32),
    )


def prune(contest: Contest, plan: Plan) -> Contest:
    """Leave out the documents that can pass no relevant one, whatever the weights.

    Needs parts of at least 0 with 0 for absent documents; other contests are given back as they are. The number
    of candidates is no longer that of the rankings.
    """
    if plan.missing == "min" or (contest.parts < 0).any():
        return contest
    kept = np.zeros(int(contest.offsets[-1]), dtype=bool)
    owners = contest.hit_queries
    for row, owner in zip(contest.hit_rows.tolist(), owners.tolist(), strict=True):
        inside = slice(contest.offsets[owner], contest.offsets[owner + 1])
        for part, ranks in zip(contest.parts, contest.ranks, strict=True):
            bar = part[row] * (1.0 - MARGIN)
            near = part[inside] > bar if part[row] > 0 else ranks[inside] > 0
            kept[inside] |= near & (ranks[inside] > 0)
        kept[row] = True
    before = np.concatenate(([0], np.cumsum(kept)))
    return replace(
        contest,
        offsets=before[contest.offsets],
        parts=contest.parts[:, kept],
        ranks=contest.ranks[:, kept],
        hit_rows=before[contest.hit_rows],
    )


def _codes_of(qrels: Qrels, docnos: Names) -> Ints:
    """The place of each of the qrels' docnos among ``docnos``, −1 where it is not there: int64[V]."""
    if not len(docnos):
        return np.full(len(qrels.docnos), -1, dtype=np.int64)
    at = docnos.series.search_sorted(qrels.docnos.series).to_numpy().astype(np.int64)
    at = np.minimum(at, len(docnos) - 1)
    return np.where((docnos.series.gather(at) == qrels.docnos.series).to_numpy(), at, -1)


def _judged(batch: Ints, qrels: Qrels, code: Ints, width: int) -> tuple[Ints, Ints]:
    """Rows of the batch's pool that are judged, and the rows of the qrels that judge them."""
    judged = np.arange(qrels.offsets[batch[0]], qrels.offsets[batch[-1] + 1])
    owner = np.repeat(np.arange(len(batch)), np.diff(qrels.offsets[batch[0] : batch[-1] + 2]))
    place = code[qrels.docs[judged]]
    there = place >= 0
    return (owner * width + width - 1 - place)[there], judged[there]


def same_documents(docnos: Sequence[Sequence[str]]) -> tuple[list[str], list[Ints]]:
    """The union of several indexes' docnos, ascending, and the place of each index's documents in it."""
    union = sorted(set().union(*docnos))
    place = {docno: at for at, docno in enumerate(union)}
    return union, [np.array([place[docno] for docno in own], dtype=np.int64) for own in docnos]


def spread_scores(scores: Iterable[Scores], places: Ints, width: int) -> Iterator[Scores]:
    """Put each query's scores at their places among ``width`` documents; NaN elsewhere."""
    for row in scores:
        wide = np.full(width, np.nan, dtype=np.float32)
        wide[places] = row
        yield wide
