"""Reading what ``rerank`` needs: candidate lists with the vectors or texts that a re-ranker reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from hybridcli.adaptive.pairs import Lists, Pairs, segment_rows
from hybridcli.errors import DataError, UsageError
from hybridcli.evaluation.hits import match_rows
from hybridcli.formats.documents import read_passages
from hybridcli.formats.files import note_input
from hybridcli.formats.tables import read_ids
from hybridcli.formats.vectors import read_vectors
from hybridcli.records import Codes, Floats, Ints, Qrels, Run, Topics, offsets_of
from hybridcli.search.engines import VectorEngine, open_engine
from hybridcli.search.settings import SearchOptions

Judge = Callable[[list[tuple[str, str]]], Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Where a re-ranker's inputs come from: a dense index's ``engine``, or ``texts`` by docno and a ``judge``."""

    engine: VectorEngine | None = None
    texts: Mapping[str, str] | None = None
    judge: Judge | None = None

    def lists(self, run: Run, topics: Topics, grades: Codes) -> Lists:
        """Candidates of all the run's queries, with their vectors or the means to score their texts."""
        code = np.unique(run.docs)
        docnos = run.docnos.series.gather(code).to_list()
        query = np.repeat(np.arange(len(run.queries), dtype=np.int64), np.diff(run.offsets))
        pairs = Pairs(query, np.searchsorted(code, run.docs).astype(np.int64))
        if self.engine is not None:
            vectors = self.engine.encode(topics), self.engine.vectors_of(docnos)
            pairs = replace(pairs, queries=vectors[0], passages=vectors[1])
        else:
            pairs = replace(pairs, judge=self._reader(topics.texts, docnos))
        return Lists(pairs, run.offsets, grades)

    def _reader(self, queries: list[str], docnos: list[str]) -> Callable[[Ints, Ints], Floats]:
        texts, judge = self.texts, self.judge
        if texts is None or judge is None:
            raise UsageError("this re-ranker reads texts; give --documents and --encoder")
        missing = [docno for docno in docnos if docno not in texts]
        if missing:
            raise DataError(
                f"--documents has no text for {len(missing):,} of {len(docnos):,} candidates, "
                f"the first is {missing[0]}"
            )
        passages = [texts[docno] for docno in docnos]

        def score(query: Ints, passage: Ints) -> Floats:
            return judge(
                [(queries[q], passages[p]) for q, p in zip(query.tolist(), passage.tolist(), strict=True)]
            )

        return score


def dense_source(
    index: str | None, topics: Topics, embeddings: str | None, ids: str | None, device: str | None
) -> Source:
    """Open the dense index whose vectors are read; queries are encoded by it, or given."""
    if index is None:
        raise UsageError("this re-ranker reads vectors; give --index DENSE, a folder written by index-dense")
    if ids is not None and embeddings is None:
        raise UsageError("--ids belongs to --embeddings")
    given = None
    if embeddings is not None:
        given = (topics.qids if ids is None else read_ids(ids), read_vectors(embeddings))
    devices = () if device is None else tuple(device.split(","))
    note_input(index)
    engine = open_engine(index, SearchOptions(devices, query_vectors=given))
    if not isinstance(engine, VectorEngine):
        raise UsageError(f"--index {index}: holds no vectors; give a dense index")
    return Source(engine=engine)


def text_source(
    documents: str | None, encoder: str | None, device: str | None, max_length: int | None
) -> Source:
    """Read the passages' texts and load a cross-encoder."""
    from hybridcli.search.cross import CrossScorer

    if documents is None or encoder is None:
        raise UsageError(
            "--model cross-encoder needs --documents (the passages' texts) and --encoder (its id or folder)"
        )
    texts = dict(read_passages(documents))
    return Source(texts=texts, judge=CrossScorer(encoder, device, max_length).score)


def grades_of(run: Run, qrels: Qrels) -> Codes:
    """The grade of every row of a run, 0 where it is not judged: int32[N]."""
    grades = np.zeros(len(run.docs), dtype=np.int32)
    rows, judged = match_rows(run, qrels)
    grades[rows] = qrels.grades[judged]
    return grades


def topics_of(topics: Topics, run: Run, path: str) -> Topics:
    """The topics of a run's queries, in its order."""
    text = dict(zip(topics.qids, topics.texts, strict=True))
    missing = [qid for qid in run.queries if qid not in text]
    if missing:
        raise DataError(
            f"has no topic for {len(missing):,} of {len(run.queries):,} queries, the first is {missing[0]}",
            path=path,
        )
    return Topics(run.queries, [text[qid] for qid in run.queries])


def take_queries(run: Run, queries: Ints) -> Run:
    """A run of some of its queries, in the given order."""
    rows = segment_rows(run.offsets, queries)
    return replace(
        run,
        queries=[run.queries[at] for at in queries.tolist()],
        offsets=offsets_of(np.diff(run.offsets)[queries]),
        docs=run.docs[rows],
        scores=run.scores[rows],
    )


def require_apart(training: Topics, test: Topics) -> None:
    """Refuse a training topic whose text is also a test topic's."""
    texts = dict(zip(test.texts, test.qids, strict=True))
    shared = [
        (qid, texts[text]) for qid, text in zip(training.qids, training.texts, strict=True) if text in texts
    ]
    if shared:
        raise DataError(
            f"{len(shared)} training topics are test topics too ({shared[0][0]} reads as {shared[0][1]} does); "
            "take them out of --train-topics"
        )
