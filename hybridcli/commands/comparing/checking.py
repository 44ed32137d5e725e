"""The sections of ``compare`` that need more files: slices, sensitivity, excluded queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hybridcli.adaptive.features import FEATURES, WORD_LISTS, surface_features, word_file, word_lists
from hybridcli.commands.comparing.reading import Evaluated
from hybridcli.console import note
from hybridcli.errors import DataError, UsageError
from hybridcli.evaluation.averages import slice_positions, slice_scores
from hybridcli.evaluation.comparisons import Inference, Pair
from hybridcli.evaluation.resampling import Units, units_of
from hybridcli.evaluation.scores import Scores
from hybridcli.evaluation.sensitivity import Contrast, Scenario, contrasts, shares, with_excluded
from hybridcli.formats.files import name_of
from hybridcli.formats.tables import read_ids, read_mapping
from hybridcli.formats.topics import read_topics
from hybridcli.formats.words import read_words
from hybridcli.records import Ints
from hybridcli.report.checks import excluded_section, sensitivity_section, slices_section
from hybridcli.report.comparison import Section


@dataclass(frozen=True, slots=True)
class Groups:
    """What every query's group is; ``path`` None: every query stands by itself."""

    path: str | None
    of_query: Mapping[str, str]

    @classmethod
    def read(cls, path: str | None) -> Groups:
        """Read ``qid<TAB>group``."""
        return cls(path, {} if path is None else read_mapping(path))

    def units(self, queries: Sequence[str], imputed: Collection[str] = ()) -> Units:
        """Units of these queries; a query without a group is an error that names it.

        Queries whose values are assumed (``imputed``) need none: one assumption, so one group together.
        """
        if self.path is None:
            return units_of(None, len(queries))
        lacking = [qid for qid in queries if qid not in self.of_query and qid not in imputed]
        if lacking:
            more = f" and {len(lacking) - 1:,} more" if len(lacking) > 1 else ""
            raise DataError(
                f"no group for query {lacking[0]}{more}; every evaluated query needs one",
                path=name_of(self.path),
            )
        # NUL cannot stand in a group's name
        return units_of([self.of_query.get(qid, "\0") for qid in queries], len(queries))


@dataclass(frozen=True, slots=True)
class Case:
    """What all sections work on: the evaluated runs, the queries chosen, and how differences are judged."""

    evaluated: Evaluated
    scores: Scores
    groups: Groups
    pairs: Sequence[Pair]
    how: Inference


def named_files(given: Sequence[str], option: str) -> dict[str, str]:
    """Read NAME=FILE options; a FILE alone is called by the option."""
    result: dict[str, str] = {}
    for text in given:
        name, sign, path = text.partition("=")
        name, path = (name, path) if sign else (option.removeprefix("--"), text)
        if not name or not path or name in result:
            raise UsageError(f"{option} {text!r}: write NAME=FILE, each name once")
        result[name] = path
    return result


def slices(case: Case, values: Mapping[str, Mapping[str, str]]) -> list[Section]:
    """Query slices, one kind a mapping, and the document slices that the runs were scored on."""
    how = replace(case.how, tests=("bootstrap",), correction="none", margin=None)
    units = case.groups.units(case.scores.queries)
    found = []
    for name, of_query in values.items():
        if of_query.keys().isdisjoint(case.scores.queries):
            raise DataError(f"--slices {name}: its file has no evaluated query; are the qids of one form?")
        parts = {
            value: (case.scores.take(chosen), units.take(chosen))
            for value, chosen in slice_positions(case.scores.queries, of_query).items()
        }
        found.append(slice_scores(name, parts, case.pairs, how))
    if case.evaluated.by_slice:
        parts = {}
        for value, scores in case.evaluated.by_slice.items():
            chosen = scores.take(_among(scores.queries, case.scores.queries))
            parts[value] = (chosen, case.groups.units(chosen.queries))
        found.append(slice_scores("documents", parts, case.pairs, how))
    return [slices_section(found)] if found else []


def sensitivity(case: Case, excluded: Sequence[str] | None, subset: Sequence[str] | None) -> list[Section]:
    """Every comparison again: on the subset, with bounds for the excluded queries, without unjudged documents."""
    scores, groups = case.scores, case.groups
    scenarios = [Scenario("as above", scores, groups.units(scores.queries))]
    trusted = scores
    if subset is not None:
        trusted = scores.take(_among(scores.queries, subset))
        if not trusted.queries:
            raise DataError("none of the subset's queries is evaluated")
        scenarios.append(Scenario("subset only", trusted, groups.units(trusted.queries)))
    if excluded is not None:
        added, listed = _left_out(scores.queries, excluded), len(set(excluded))
        if len(added) < listed:
            note(
                f"{listed - len(added):,} of {listed:,} excluded queries are evaluated; those count as they are"
            )
        name = "subset's" if subset is not None else "evaluated"
        for label, fill in (("excluded = 0", 0.0), (f"excluded = {name} mean", 1.0)):
            whole = with_excluded(scores, added, trusted.means() * fill)
            scenarios.append(Scenario(label, whole, groups.units(whole.queries, imputed=added)))
        ungrouped = sum(qid not in groups.of_query for qid in added)
        if groups.path is not None and ungrouped:
            note(f"{ungrouped:,} excluded queries have no group; together they are one group in the bounds")
    if case.evaluated.condensed is not None:
        condensed = case.evaluated.condensed
        condensed = condensed.take(_among(condensed.queries, scores.queries))
        scenarios.append(Scenario("judged docs only", condensed, groups.units(condensed.queries)))
    if len(scenarios) == 1 or not case.pairs:
        return []
    return [sensitivity_section([(s.name, s.judged(case.pairs, case.how)) for s in scenarios])]


def excluded_queries(
    case: Case, excluded: Sequence[str], values: Mapping[str, Mapping[str, str]], topics: str | None
) -> list[Section]:
    """Categories and surface features of the excluded queries against the evaluated ones."""
    resolved = case.scores.queries
    added = _left_out(resolved, excluded)
    found = [(name, shares(of_query, resolved, added)) for name, of_query in values.items()]
    features = [] if topics is None else _features(topics, resolved, added)
    return [excluded_section(found, features)] if found or features else []


def _features(path: str, resolved: Sequence[str], excluded: Sequence[str]) -> list[Contrast]:
    topics = read_topics(path)
    text = dict(zip(topics.qids, topics.texts, strict=True))
    lacking = [qid for qid in [*resolved, *excluded] if qid not in text]
    if lacking:
        raise DataError(f"no topic for query {lacking[0]}", path=name_of(path))
    lists = word_lists({name: read_words(word_file(name)) for name in WORD_LISTS})
    rows = [surface_features([text[qid] for qid in side], lists) for side in (resolved, excluded)]
    return contrasts(list(FEATURES), rows[0], rows[1])


def _left_out(evaluated: Sequence[str], excluded: Sequence[str]) -> list[str]:
    """The excluded queries that are not evaluated, each once, in their own order."""
    known = set(evaluated)
    return [qid for qid in dict.fromkeys(excluded) if qid not in known]


def _among(queries: Sequence[str], wanted: Sequence[str]) -> Ints:
    """Positions of the queries that are wanted, in their own order."""
    chosen = set(wanted)
    return np.array([at for at, qid in enumerate(queries) if qid in chosen], dtype=np.int64)


def read_optional_ids(path: str | None) -> list[str] | None:
    """First column of a file, or None without a file."""
    return None if path is None else read_ids(path)
