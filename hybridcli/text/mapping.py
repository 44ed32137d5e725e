"""From queries with evidence texts and a stream of windows to relevant windows, with a reason for each failure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hybridcli.console import first_of, note
from hybridcli.errors import DataError
from hybridcli.records import Judged, Label, Span, Window
from hybridcli.text.matching import Occurrence, Screen, locate
from hybridcli.text.normalizing import fold, word_overlap, words_of
from hybridcli.text.running import RunningText, running_texts

EMPTY = "empty"  # no letters or digits
NO_REFERENCES = "no-references"  # the query has no evidence at all
TOO_SHORT = "too-short"  # fewer letters and digits than the minimum
NO_DOCUMENT = "no-document"  # the document it names has no windows
NOT_FOUND = "not-found"  # no key of it stands where it was looked for
DISSIMILAR = "dissimilar"  # a key of it was found, but what follows is too unlike
AMBIGUOUS = "ambiguous"  # equally good in several documents, or in too many places of one
JUDGED_WRONG = "judged-wrong"  # a person said so in the audit

SAME = 1e-9  # similarities closer than this are equal


@dataclass(frozen=True, slots=True)
class MappingRules:
    """What counts as found.

    ``scope``: ``document`` (a reference may run over several units) or ``unit`` (the key lies in one unit, the
    span ends with it, the best of several places is taken, the first among equals, however unlike the rest is).
    ``min_letters``: letters and digits below which a reference is too short. ``min_similarity``: where the
    document (or the group's documents) is known; ``min_similarity_anywhere``: where all documents are searched.
    ``max_places``: equally good places in a document above which a reference says nothing.
    """

    scope: str = "document"
    min_letters: int = 16
    min_similarity: float = 0.6
    min_similarity_anywhere: float = 0.85
    max_places: int = 20


@dataclass(slots=True)
class _Task:
    """A reference that is being looked for, and the best that was found so far."""

    judged: Judged
    name: str
    text: str
    folded: str
    in_group: bool = False
    best: float = 0.0
    found: dict[str, Label] = field(default_factory=dict)
    too_many: bool = False
    unlike: Span | None = None


def map_references(
    judged: Sequence[Judged],
    windows: Iterable[Window],
    rules: MappingRules,
    doc_groups: Mapping[str, str] | None = None,
    anywhere: bool = False,
) -> list[Label]:
    """Map every reference to windows; one Label a reference, in the order of the queries.

    A reference whose query names a document is looked for there only. Otherwise, when its query has a group and
    documents of that group exist, in those; otherwise in all documents, where it must be more alike. A document
    belongs to a group when ``doc_groups`` (docno → group) says so, or when its docno is the group's name, alone or
    followed by one of ``-_.`` and more. ``anywhere`` ignores named documents and groups. The windows of a document
    must stand together: memory holds one document at a time.
    """
    tasks = [task for query in judged for task in _tasks_of(query)]
    sought = [task for task in tasks if len(task.folded) >= max(1, rules.min_letters)]
    named: dict[str, list[_Task]] = defaultdict(list)
    grouped: dict[str, list[_Task]] = defaultdict(list)
    free = []
    for task in sought:
        if task.judged.doc is not None and not anywhere:
            named[task.judged.doc].append(task)
        else:
            free.append(task)
            if task.judged.group is not None and not anywhere:
                grouped[task.judged.group].append(task)
    screen = Screen([task.folded for task in free])
    seen = set()
    for document in running_texts(windows):
        seen.add(document.doc)
        for task in named.get(document.doc, ()):
            _search(task, document, rules, rules.min_similarity)
        for task in _tasks_of_group(document.doc, grouped, doc_groups or {}):
            if not task.in_group:  # what other documents had no longer counts
                task.in_group, task.best, task.found, task.too_many = True, 0.0, {}, False
            _search(task, document, rules, rules.min_similarity)
        for task in (free[number] for number in screen.passing(document.folded.text)):
            if not task.in_group:
                _search(task, document, rules, rules.min_similarity_anywhere)
    if doc_groups is not None and not anywhere and seen and seen.isdisjoint(doc_groups):
        raise DataError(
            f"--doc-groups names no document of the windows: it has {next(iter(doc_groups), 'no line')}, they have "
            f"{min(seen)}; its first column must hold docnos as the windows' doc has them"
        )
    absent = sorted(
        group for group, of_group in grouped.items() if not any(task.in_group for task in of_group)
    )
    if absent:
        names = first_of(absent, 8)
        note(f"groups without a document, searched for in all documents: {len(absent):,} ({names})")
    return [_conclude(task, seen, rules, anywhere) for task in tasks]


def kind_of(reference: str) -> str:
    """Guess whether a text was a table: it has a tab, or more than a quarter of its words hold a digit."""
    words = words_of(reference)
    numbers = sum(any(char.isdigit() for char in word) for word in words)
    return "table" if "\t" in reference.strip() or numbers * 4 > len(words) else "text"


def _search(task: _Task, document: RunningText, rules: MappingRules, floor: float) -> None:
    """Look for a reference in one document; keep what is as good as the best so far."""
    whole = rules.scope == "document"
    # a place less like than the best one elsewhere is of no use, so that copies of a text cost little
    wanted = max(floor, task.best if task.best == 1 else task.best - SAME)
    places = locate(
        task.folded,
        document.grams,
        floor=wanted if whole else 0.0,
        walls=None if whole else document.walls,
    )
    if task.judged.unit is not None:
        places = [place for place in places if document.touches(place, task.judged.unit)]
    if not places:
        return
    best = places[0].similarity
    if whole and best < floor:
        if task.unlike is None or best > task.unlike.similarity:
            task.unlike = document.span(places[0], task.text)
        return
    if best < task.best - SAME:
        return
    if best > task.best + SAME:
        task.best, task.found, task.too_many = best, {}, False
    equal = [place for place in places if place.similarity >= best - SAME] if whole else places[:1]
    if len(equal) > rules.max_places:
        task.too_many = True
    task.found[document.doc] = _label(task, document, places[: rules.max_places], len(equal))


def _label(task: _Task, document: RunningText, places: Sequence[Occurrence], taken: int) -> Label:
    spans = [document.span(place, task.text) for place in places]
    text, folded = document.held_by(spans[0])
    first_part = spans[0].first_share * (places[0].end - places[0].start)
    return Label(
        qid=task.judged.qid,
        reference=task.name,
        text=task.text,
        reason="",
        kind=spans[0].kind,
        spans=tuple(spans[:taken]),
        others=tuple(spans[taken:]),
        windows=tuple(dict.fromkeys(name for span in spans[:taken] for name in span.windows)),
        literal=task.folded in folded,
        overlap=word_overlap(task.text, text),
        title_only=first_part < len(task.folded) / 2,
    )


def _conclude(task: _Task, seen: set[str], rules: MappingRules, anywhere: bool) -> Label:
    """Give the label of a reference after all documents were read, or the reason why it has none."""
    labels = list(task.found.values())
    reason = ""
    if not task.folded:
        reason = EMPTY if task.judged.references else NO_REFERENCES
    elif len(task.folded) < rules.min_letters:
        reason = TOO_SHORT
    elif task.judged.doc is not None and task.judged.doc not in seen and not anywhere:
        reason = NO_DOCUMENT
    elif not labels:
        reason = NOT_FOUND if task.unlike is None else DISSIMILAR
    elif task.too_many or (len(labels) > 1 and not task.in_group):
        reason = AMBIGUOUS
    if not reason:
        return labels[0] if len(labels) == 1 else _joined(labels)
    others = tuple(span for label in labels for span in label.spans) or (
        () if task.unlike is None else (task.unlike,)
    )
    return Label(task.judged.qid, task.name, task.text, reason, kind_of(task.text), others=others)


def _joined(labels: Sequence[Label]) -> Label:
    """Take equally good places in several documents of one group together."""
    first = labels[0]
    return Label(
        qid=first.qid,
        reference=first.reference,
        text=first.text,
        reason="",
        kind=first.kind,
        spans=tuple(span for label in labels for span in label.spans),
        others=tuple(span for label in labels for span in label.others),
        windows=tuple(name for label in labels for name in label.windows),
        literal=first.literal,
        overlap=first.overlap,
        title_only=first.title_only,
    )


def _tasks_of(query: Judged) -> list[_Task]:
    """Give the references of a query; one that stands for their absence when there are none."""
    if not query.references:
        return [_Task(query, "-", "", "")]
    return [
        _Task(query, f"r{number}", text, fold(text).text)
        for number, text in enumerate(query.references, start=1)
    ]


def _tasks_of_group(
    doc: str, grouped: Mapping[str, list[_Task]], doc_groups: Mapping[str, str]
) -> list[_Task]:
    if doc in doc_groups:
        return grouped.get(doc_groups[doc], [])
    names = [doc, *(doc[:at] for at, char in enumerate(doc) if char in "-_.")]
    return [task for name in names for task in grouped.get(name, ())]
