"""BM25 and RM3 with Lucene, through the classes of Anserini that pyserini carries.

Scores are Lucene's own 32-bit floats: the formula of ``sparse``, but with document lengths rounded to one byte
(exact up to 40 terms), and with N and the mean length over the passages that are not empty. Anserini's searcher
would round scores to four digits to break ties, so it is used for analysis and feedback only, and Lucene's
``IndexSearcher`` does the ranking.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from hybridcli.console import note, track
from hybridcli.errors import DataError, HybridcliError, UsageError
from hybridcli.records import Run, Topics
from hybridcli.search import sparse
from hybridcli.search.analysis import Analyzer, Terms
from hybridcli.search.index import Index, finish_index, new_index, sorted_order
from hybridcli.search.java import fitting_java, jar_of_pyserini, start_java
from hybridcli.search.settings import SearchOptions, SparseSettings, refuse_others
from hybridcli.search.sparse import analyzer_of

ENGINE = "lucene"
FOLDER = "lucene"
SPOOL = 50_000
MARGIN = 32
STEMMERS = ("porter", "krovetz", "none")
TERMS = "terms"


@dataclass(frozen=True, slots=True)
class LuceneSpec:
    """How text becomes terms. ``language``: one of Anserini's codes; for ``en``, ``stemmer`` and
    ``keep_stopwords`` count too. ``analyzer``: cut into terms here, as for bm25s, instead (language ``terms``).
    """

    k1: float = 0.9
    b: float = 0.4
    language: str = "en"
    stemmer: str = "porter"
    keep_stopwords: bool = False
    analyzer: Analyzer | None = None

    def arguments(self) -> list[str]:
        """The options for Anserini's IndexCollection."""
        if self.analyzer is not None:
            return ["-pretokenized"]
        keep = ["-keepStopwords"] if self.keep_stopwords else []
        return ["-language", self.language, "-stemmer", self.stemmer, *keep]


def build_index(path: str, passages: Iterable[tuple[str, str]], settings: SparseSettings) -> int:
    """Index (docno, text) passages into a folder ``path``; give their number."""
    spec = _spec_of_build(settings)
    terms = None if spec.analyzer is None else spec.analyzer.compiled()
    jar = jar_of_pyserini()
    java = fitting_java(jar)
    with new_index(path) as folder:
        spool = folder / "spool"
        spool.mkdir()
        docnos = _spool(spool, track(passages, "reading"), terms)
        sorted_order(docnos)  # refuses docnos that a run cannot hold
        note(f"Lucene indexes {len(docnos):,} passages …")
        command = [str(java.program), "-cp", str(jar), "io.anserini.index.IndexCollection"]
        command += ["-collection", "JsonCollection", "-input", str(spool), "-index", str(folder / FOLDER)]
        command += ["-threads", str(settings.threads or os.cpu_count() or 1)]
        command += ["-storeDocvectors", "-optimize", *spec.arguments()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not any((folder / FOLDER).glob("segments_*")):
            lines = (done.stderr + done.stdout).splitlines()
            reason = next((line.strip() for line in lines if "xception" in line), "it does not say why")
            raise HybridcliError(f"Lucene could not index the passages: {reason}")
        shutil.rmtree(spool)
        finish_index(folder, path, engine=ENGINE, documents=len(docnos), options=asdict(spec))
    return len(docnos)


def _spec_of_build(settings: SparseSettings) -> LuceneSpec:
    k1, b = settings.bm25(0.9, 0.4)
    language = settings.language or "en"
    if language == TERMS:
        refuse_others(settings, BUILD_TAKES - {"keep_stopwords"}, "lucene with --language terms")
        return LuceneSpec(k1, b, language, analyzer=analyzer_of(settings))
    refuse_others(
        settings, BUILD_TAKES - sparse.BUILD_TAKES | {"k1", "b", "stemmer"}, "lucene's own analysis"
    )
    stemmer = settings.stemmer or "porter"
    if stemmer not in STEMMERS:
        raise UsageError(f"--stemmer {stemmer} is not one of Lucene's: {', '.join(STEMMERS)}")
    return LuceneSpec(k1, b, language, stemmer, settings.keep_stopwords)


def _spool(folder: Path, passages: Iterable[tuple[str, str]], terms: Terms | None) -> list[str]:
    """Write the passages as Anserini's JsonCollection reads them, in files that threads can share; give docnos."""
    docnos: list[str] = []
    stream = None
    try:
        for docno, text in passages:
            if len(docnos) % SPOOL == 0:
                if stream is not None:
                    stream.close()
                stream = open(folder / f"{len(docnos) // SPOOL}.jsonl", "w", encoding="utf-8")
            docnos.append(docno)
            contents = text if terms is None else " ".join(terms(text))
            assert stream is not None
            stream.write(json.dumps({"id": docno, "contents": contents}, ensure_ascii=False) + "\n")
    finally:
        if stream is not None:
            stream.close()
    return docnos


class LuceneEngine:
    """Searches an index of ``build_index``, or one that Anserini built (then with Anserini's defaults)."""

    tag = ENGINE

    def __init__(self, parts: list[Index], options: SearchOptions) -> None:
        index = parts[0]
        spec = _spec_of(index.options, options)
        self._java = start_java()
        place = str(index.path / FOLDER) if (index.path / FOLDER).is_dir() else str(index.path)
        try:
            self._anserini = self._java.find("io.anserini.search.SimpleSearcher")(place)
        except self._java.error as error:
            raise DataError(f"Lucene cannot read the index: {_reason(error)}", path=place) from None
        self._terms = None if spec.analyzer is None else spec.analyzer.compiled()
        self._anserini.set_analyzer(self._analyzer(spec))
        self._anserini.set_bm25(spec.k1, spec.b)
        self._feedback = options.rm3 is not None
        if options.rm3 is not None:
            terms, docs, weight = options.rm3
            self._anserini.set_rm3(terms, docs, weight)
        self._searcher = self._open_searcher(place, spec)
        self._generator = self._java.find("io.anserini.search.query.BagOfWordsQueryGenerator")()
        self._scored = self._java.find("io.anserini.search.ScoredDocs")

    def _analyzer(self, spec: LuceneSpec) -> Any:
        if spec.analyzer is not None or spec.language == TERMS:
            return self._java.find("org.apache.lucene.analysis.core.WhitespaceAnalyzer")()
        if spec.language == "en":
            english = self._java.find("io.anserini.analysis.DefaultEnglishAnalyzer")
            return english.fromArguments(spec.stemmer, spec.keep_stopwords, None)
        known = self._java.find("io.anserini.analysis.AnalyzerMap")
        if not known.analyzerMap.containsKey(spec.language):
            names = " ".join(sorted(["en", *known.analyzerMap.keySet().toArray()]))
            raise UsageError(f"--language {spec.language} is not one of Anserini's: {names}")
        return known.getLanguageSpecificAnalyzer(spec.language)

    def _open_searcher(self, place: str, spec: LuceneSpec) -> Any:
        directory = self._java.find("org.apache.lucene.store.FSDirectory").open(
            self._java.find("java.nio.file.Paths").get(place)
        )
        reader = self._java.find("org.apache.lucene.index.DirectoryReader").open(directory)
        reader = self._java.cast("org.apache.lucene.index.IndexReader", reader)
        searcher = self._java.find("org.apache.lucene.search.IndexSearcher")(reader)
        bm25 = self._java.find("org.apache.lucene.search.similarities.BM25Similarity")
        searcher.setSimilarity(bm25(spec.k1, spec.b))
        return searcher

    def search(self, topics: Topics, depth: int) -> Run:
        """Rank the best ``depth`` documents of every query; one without any of its terms is not retrieved."""
        rankings = {
            qid: self._rank(text, depth)
            for qid, text in track(zip(topics.qids, topics.texts, strict=True), "searching", len(topics.qids))
        }
        return Run.from_dict(rankings, self.tag)

    def _rank(self, text: str, depth: int) -> dict[str, float]:
        text = text if self._terms is None else " ".join(self._terms(text))
        query = self._query(text)
        want = depth + MARGIN
        while True:
            found = self._scored.fromTopDocs(self._searcher.search(query, want), self._searcher)
            scores = list(found.scores)
            # Lucene breaks ties its own way: go on until the last is below the one at the cut
            if len(scores) < want or scores[-1] < scores[depth - 1]:
                break
            want *= 4
        ranked = sorted(zip(scores, list(found.docids), strict=True), reverse=True)[:depth]
        return {docno: float(score) for score, docno in ranked}

    def _query(self, text: str) -> Any:
        if self._feedback:
            try:
                terms = self._anserini.get_feedback_terms(text)
            except self._java.error as error:
                raise UsageError(f"--rm3 needs an index with document vectors: {_reason(error)}") from None
            return self._generator.buildQuery("contents", terms)
        return self._generator.buildQuery("contents", self._anserini.get_analyzer(), text)


def _spec_of(stored: dict[str, Any], options: SearchOptions) -> LuceneSpec:
    """The stored settings, or Anserini's defaults for an index built elsewhere, with what is chosen now."""
    analyzer = stored.get("analyzer")
    spec = LuceneSpec(**{**stored, "analyzer": None if analyzer is None else Analyzer.restored(analyzer)})
    if options.language is not None and stored:
        raise UsageError("--language belongs to the index; only for one built elsewhere it can be given now")
    return replace(
        spec,
        k1=spec.k1 if options.k1 is None else options.k1,
        b=spec.b if options.b is None else options.b,
        language=options.language or spec.language,
    )


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0].removeprefix("JVM exception occurred: ")


open_engine = LuceneEngine
BUILD_TAKES = sparse.BUILD_TAKES | {"language", "keep_stopwords", "threads"}
SEARCH_TAKES = frozenset({"k1", "b", "language", "rm3"})
