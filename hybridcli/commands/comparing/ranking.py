"""``compare --ranking``: every system in every cell, and the winner rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybridcli.adaptive.folds import group_codes, repeated_folds
from hybridcli.commands.comparing.checking import Case
from hybridcli.console import warn
from hybridcli.errors import UsageError
from hybridcli.evaluation.cells import Cells, make_cells
from hybridcli.evaluation.resampling import Units
from hybridcli.evaluation.scores import Scores
from hybridcli.fusion.methods import METHODS
from hybridcli.records import Codes
from hybridcli.report.cells import cell_notes, cells_section
from hybridcli.report.comparison import Section

BEST = "best:"


def ranking(case: Case, folds: int | None) -> tuple[Section, list[str]]:
    """Cells of all documents and of each document slice, by measure; the section and its notes."""
    scores = case.scores
    of_query = None if folds is None else _folds(case, folds)
    parts: dict[str, tuple[Scores, Units, Codes | None]] = {
        "all": (scores, case.groups.units(scores.queries), of_query)
    }
    place = {qid: at for at, qid in enumerate(scores.queries)}
    for name, every in case.evaluated.by_slice.items():
        chosen = every.take(
            np.array([at for at, q in enumerate(every.queries) if q in place], dtype=np.int64)
        )
        if chosen.queries:
            fold = None if of_query is None else of_query[[place[qid] for qid in chosen.queries]]
            parts[name] = (chosen, case.groups.units(chosen.queries), fold)
    cells = make_cells(parts, case.pairs, case.how, folds)
    marked = [label for label in cells.labels if reads_ranks(label)]
    notes = [*cell_notes(cells, marked), *_suspects(cells)]
    return cells_section(cells, marked), notes


def reads_ranks(label: str) -> bool:
    """Whether a label, ``METHOD`` or ``METHOD.NORM`` as ``fuse --all`` names files, is of a rank method."""
    method = METHODS.get(label.partition(".")[0])
    return method is not None and method.reads == "ranks"


def resolve_best(baselines: Sequence[str], scores: Scores) -> list[str]:
    """Replace ``best:A,B`` by the one with the highest mean on the first measure; ties: the first named."""
    means = dict(zip(scores.labels, scores.means()[:, 0].tolist(), strict=True))
    found = []
    for name in baselines:
        if not name.startswith(BEST):
            found.append(name)
            continue
        among = name.removeprefix(BEST).split(",")
        unknown = [label for label in among if label not in means]
        if unknown:
            raise UsageError(f"no run is called {unknown[0]!r}; the runs are {', '.join(means)}")
        found.append(max(among, key=lambda label: means[label]))
    return found


def _folds(case: Case, folds: int) -> Codes:
    """Deal the queries, in whole groups, to folds."""
    queries, groups = case.scores.queries, case.groups
    codes = group_codes(queries if groups.path is None else [groups.of_query[qid] for qid in queries])
    drawn: Codes = repeated_folds(codes, folds, 1, case.how.seed)[0]
    return drawn


def _suspects(cells: Cells) -> list[str]:
    """Rank methods whose runs differ between normalisations: one of them was not made as its name says."""
    alike = {label: at for at, group in enumerate(cells.alike) for label in group}
    by_method: dict[str, list[str]] = {}
    for label in cells.labels:
        if reads_ranks(label):
            by_method.setdefault(label.partition(".")[0], []).append(label)
    notes = []
    for method, labels in by_method.items():
        if len(labels) > 1 and len({alike.get(label, label) for label in labels}) > 1:
            notes.append(
                f"{method} reads ranks only, yet {', '.join(labels)} differ: the normalisation changed an order, or "
                "the runs were made from other lists"
            )
    for note in notes:
        warn(note)
    return notes
