"""BM25 with the bm25s library, in its Lucene variant.

score(q, d) = Σ over the terms of q, repeated as they stand there, of
ln(1 + (N - df + 0.5) / (df + 0.5)) · tf / (tf + k1 (1 - b + b · |d| / avgdl)); there is no factor (k1 + 1), as in
Lucene since version 8 (Kamphuis et al., ECIR 2020). Document lengths are exact; Lucene rounds them to a byte.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from hybridcli.console import track, warn
from hybridcli.errors import DataError
from hybridcli.records import Run, Topics
from hybridcli.search.analysis import ALPHANUMERIC, Analyzer, stopwords_of
from hybridcli.search.index import Index, finish_index, new_index, require_free, sorted_order, write_docnos
from hybridcli.search.ranking import Ranking, Scores, best_positive, collect_run
from hybridcli.search.settings import SearchOptions, SparseSettings

ENGINE = "bm25s"
ARRAYS = "bm25s"


def build_index(path: str, passages: Iterable[tuple[str, str]], settings: SparseSettings) -> int:
    """Index (docno, text) passages into a folder ``path``; give their number."""
    k1, b = settings.bm25(1.5, 0.75)
    analyzer = analyzer_of(settings)
    terms = analyzer.compiled()
    require_free(Path(path))
    vocabulary: dict[str, int] = {}
    docnos: list[str] = []
    documents: list[array[int]] = []
    for docno, text in track(passages, "indexing"):
        docnos.append(docno)
        documents.append(array("i", [vocabulary.setdefault(term, len(vocabulary)) for term in terms(text)]))
    order = sorted_order(docnos)
    if not vocabulary:
        warn(f"no term in {len(docnos):,} passages: a search in this index will find nothing")
    options = {"k1": k1, "b": b, "variant": "lucene", "analyzer": asdict(analyzer), "terms": len(vocabulary)}
    with new_index(path) as folder:
        write_docnos(folder, [docnos[place] for place in order])
        if vocabulary:
            _save([documents[place] for place in order], vocabulary, folder / ARRAYS, k1, b)
        finish_index(folder, path, engine=ENGINE, documents=len(docnos), options=options)
    return len(docnos)


def analyzer_of(settings: SparseSettings) -> Analyzer:
    """The analyzer that the settings describe."""
    words = () if settings.stopwords is None else stopwords_of(settings.stopwords)
    pattern = ALPHANUMERIC if settings.pattern is None else settings.pattern
    return Analyzer(pattern, not settings.keep_case, words, settings.stemmer)


def _save(documents: list[array[int]], vocabulary: dict[str, int], folder: Path, k1: float, b: float) -> None:
    import bm25s

    model = bm25s.BM25(k1=k1, b=b, method="lucene", backend="numpy")
    model.index((documents, vocabulary), create_empty_token=False, show_progress=False)
    model.save(folder, show_progress=False)


class SparseEngine:
    """Searches an index that ``build_index`` made; a document without any of the query's terms is not retrieved."""

    def __init__(self, parts: list[Index], options: SearchOptions) -> None:
        import bm25s

        index = parts[0]
        if len(parts) > 1:
            raise DataError("BM25 needs the whole collection in one index; it cannot be sharded")
        self._terms = Analyzer.restored(index.options["analyzer"]).compiled()
        self.docnos = index.docnos()
        # without a single term in the collection there is nothing to load and nothing to find
        self._model = (
            bm25s.BM25.load(index.path / ARRAYS, mmap=True, show_progress=False)
            if index.options["terms"]
            else None
        )
        self.tag = ENGINE

    def search(self, topics: Topics, depth: int) -> Run:
        """Rank the best ``depth`` passages of every query."""
        rankings = [self._rank(text, depth) for text in track(topics.texts, "searching", len(topics.texts))]
        return collect_run(self.tag, topics.qids, self.docnos, rankings)

    def score_all(self, topics: Topics) -> Iterator[Scores]:
        """Give the scores of all documents for one topic after the other; NaN without any of its terms."""
        for text in topics.texts:
            scores = self._scores(text)
            yield np.where(scores > 0, scores, np.float32(np.nan))

    def _rank(self, text: str, depth: int) -> Ranking:
        return best_positive(self._scores(text), depth)

    def _scores(self, text: str) -> Scores:
        nothing = np.zeros(len(self.docnos), dtype=np.float32)
        if self._model is None:
            return nothing
        terms: list[int] = self._model.get_tokens_ids(self._terms(text))
        if not terms:
            return nothing
        scores: Scores = self._model.get_scores_from_ids(terms)
        return scores


open_engine = SparseEngine
BUILD_TAKES = frozenset({"k1", "b", "pattern", "keep_case", "stopwords", "stemmer"})
SEARCH_TAKES: frozenset[str] = frozenset()
