"""BM25 with the bm25s library, in its Lucene variant.

score(q, d) = Σ over the terms of q, repeated as they stand there, of
ln(1 + (N - df + 0.5) / (df + 0.5)) · tf / (tf + k1 (1 - b + b · |d| / avgdl)); there is no factor (k1 + 1), as in
Lucene since version 8 (Kamphuis et al., ECIR 2020). Document lengths are exact; Lucene rounds them to a byte.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from hybridcli.console import track
from hybridcli.errors import DataError, UsageError
from hybridcli.records import Ints, Run, Topics
from hybridcli.search.analysis import Analyzer
from hybridcli.search.engines import SearchOptions
from hybridcli.search.index import Index, sorted_order, write_docnos
from hybridcli.search.ranking import Ranking, best, best_positive, collect_run

ENGINE = "bm25s"
ARRAYS = "bm25s"


def build(
    folder: Path, passages: Iterable[tuple[str, str]], analyzer: Analyzer, *, k1: float, b: float
) -> tuple[int, dict[str, Any]]:
    """Index (docno, text) passages into ``folder``; give their number and the options to store."""
    if not k1 >= 0 or not 0 <= b <= 1:
        raise UsageError(f"BM25 needs k1 of 0 or more and b from 0 to 1, found k1 {k1:g} and b {b:g}")
    terms = analyzer.compiled()
    vocabulary: dict[str, int] = {}
    docnos: list[str] = []
    documents: list[array[int]] = []
    for docno, text in track(passages, "indexing"):
        docnos.append(docno)
        documents.append(array("i", [vocabulary.setdefault(term, len(vocabulary)) for term in terms(text)]))
    order = sorted_order(docnos)
    write_docnos(folder, [docnos[place] for place in order])
    if vocabulary:
        _save([documents[place] for place in order], vocabulary, folder / ARRAYS, k1, b)
    options = {"k1": k1, "b": b, "variant": "lucene", "analyzer": asdict(analyzer), "terms": len(vocabulary)}
    return len(docnos), options


def _save(documents: list[array[int]], vocabulary: dict[str, int], folder: Path, k1: float, b: float) -> None:
    import bm25s

    model = bm25s.BM25(k1=k1, b=b, method="lucene", backend="numpy")
    model.index((documents, vocabulary), create_empty_token=False, show_progress=False)
    model.save(folder, show_progress=False)


class SparseEngine:
    """Searches an index that ``build`` made; a document without any of the query's terms is not retrieved."""

    def __init__(self, parts: list[Index], options: SearchOptions) -> None:
        import bm25s

        index = parts[0]
        if len(parts) > 1:
            raise DataError("BM25 needs the whole collection in one index; it cannot be sharded")
        stored = index.options["analyzer"]
        self._terms = Analyzer(**{**stored, "stopwords": tuple(stored["stopwords"])}).compiled()
        self._docnos = index.docnos()
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
        return collect_run(self.tag, topics.qids, self._docnos, rankings)

    def _rank(self, text: str, depth: int) -> Ranking:
        if self._model is None:
            return _nothing()
        terms: list[int] = self._model.get_tokens_ids(self._terms(text))
        if not terms:
            return _nothing()
        return best_positive(self._model.get_scores_from_ids(terms), depth)


def _nothing() -> Ranking:
    empty: Ints = np.zeros(0, np.int64)
    return best(empty, np.zeros(0, np.float32), 0)


open_engine = SparseEngine
