"""What other programs make of a file that reads well here: one registered function a program and kind of file.

Sources: trec_eval's get_trec_results.c, get_qrels.c and form_res_rels.c; pytrec_eval.parse_run and parse_qrel;
ir_measures.read_trec_run and read_trec_qrels; ranx.Run.from_file and Qrels.from_file. The Python readers are run on
odd files in this project's tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hybridcli.records import Problem, Sheet

Reader = Callable[[Sheet], Iterator[str]]
READERS: dict[str, dict[str, Reader]] = {"run": {}, "qrels": {}}
NAMES = ("trec_eval 9", "trec_eval 10", "pytrec_eval", "ir_measures", "ranx")


def reader(kind: str, name: str) -> Callable[[Reader], Reader]:
    """Register what program ``name`` does otherwise than hybridcli with a file of a kind."""

    def register(function: Reader) -> Reader:
        READERS[kind][name] = function
        return function

    return register


def other_readers(sheet: Sheet) -> dict[str, list[str]]:
    """Say for each program what it does otherwise with this file; an empty list: it reads the same.

    Programs that say nothing of a file in which nothing can be read are left out.
    """
    said = {name: list(function(sheet)) for name, function in READERS.get(sheet.kind, {}).items()}
    return {name: texts for name, texts in said.items() if texts or not sheet.has("empty")}


def _first(sheet: Sheet, *kinds: str) -> Problem | None:
    return next((problem for problem in sheet.problems if problem.kind in kinds), None)


def _stops(sheet: Sheet, why: str, *kinds: str) -> Iterator[str]:
    found = _first(sheet, *kinds)
    if found is not None:
        yield f"stops at line {found.line} ({why})"


def _marks(sheet: Sheet) -> Iterator[str]:
    if sheet.has("bom"):
        yield "the byte-order mark becomes part of the first qid, which then matches nothing"


@reader("run", "trec_eval 9")
def trec_eval_9_run(sheet: Sheet) -> Iterator[str]:
    """Scores are 32-bit; no comments (9.0.7 and older)."""
    if sheet.has("comment"):
        yield "a comment of six words or more is read as a document, a shorter one stops it (to 9.0.7)"
    yield from _trec_eval_run(sheet)
    ties = sheet.facts.get("ties", {})
    if ties.get("pairs_32"):
        yield (
            f"reads scores as 32-bit floats: {ties['pairs_32']:,} pairs in {ties['queries_32']:,} queries tie and are "
            "ordered by docno"
        )


@reader("run", "trec_eval 10")
def trec_eval_10_run(sheet: Sheet) -> Iterator[str]:
    """Scores are doubles, # lines are comments."""
    yield from _trec_eval_run(sheet)
    if sheet.facts.get("hash_ids"):
        yield "ids that hold # upset its line count in builds with comment support (its issue 46)"


def _trec_eval_run(sheet: Sheet) -> Iterator[str]:
    if sheet.facts.get("gzip"):
        yield "does not read gzip: zcat the file first"
    yield from _marks(sheet)
    yield from _stops(sheet, "Malformed line, by its own count of lines", "too-few-columns")
    if sheet.has("too-many-columns"):
        yield "takes the first six columns of a longer line, whatever they are"
    if sheet.has("score"):
        yield "reads a score that is no number as the number it begins with, or 0"
    if sheet.has("not-finite"):
        yield "takes nan and inf for scores; where a nan ranks is chance"
    if sheet.has("encoding"):
        yield "takes ids as bytes, whatever their encoding"
    if sheet.has("duplicate"):
        yield "stops where a judged query lists a document twice (duplicate docs)"


@reader("run", "pytrec_eval")
def pytrec_eval_run(sheet: Sheet) -> Iterator[str]:
    """``parse_run``; ranks as trec_eval 9."""
    yield from _python_run(sheet, blank=True)
    yield from _stops(sheet, "AssertionError", "duplicate")
    if sheet.facts.get("ties", {}).get("pairs_32"):
        yield "ranks by 32-bit scores, as trec_eval 9"


@reader("run", "ir_measures")
def ir_measures_run(sheet: Sheet) -> Iterator[str]:
    """``read_trec_run``; measures of several providers."""
    yield from _python_run(sheet, blank=False)
    if sheet.has("duplicate"):
        yield "the last line of a duplicate wins"
    ties = sheet.facts.get("ties", {})
    if ties.get("pairs"):
        yield "RR with a cutoff ranks ties in file order, other measures by docno"
    if ties.get("pairs_32"):
        yield "most measures rank by 32-bit scores, as trec_eval 9"


@reader("run", "ranx")
def ranx_run(sheet: Sheet) -> Iterator[str]:
    """``Run.from_file(kind="trec")``."""
    yield from _python_run(sheet, blank=True)
    if sheet.has("duplicate"):
        yield "the last line of a duplicate wins"
    if sheet.facts.get("ties", {}).get("pairs"):
        yield "ranks ties by its own sort, not by docno"


def _python_run(sheet: Sheet, *, blank: bool) -> Iterator[str]:
    yield from _marks(sheet)
    odd = ("too-few-columns", "too-many-columns", "score", "comment", *(["blank"] if blank else []))
    yield from _stops(sheet, "ValueError", *odd)
    yield from _stops(sheet, "UnicodeDecodeError", "encoding")
    if sheet.facts.get("blank_ids"):
        yield "stops (ValueError): an id or the tag holds a Unicode blank, which parts a line in Python"
    if sheet.has("not-finite"):
        yield "takes nan and inf for scores; where a nan ranks is chance"


@reader("qrels", "trec_eval 9")
def trec_eval_9_qrels(sheet: Sheet) -> Iterator[str]:
    """No blank lines, no comments (9.0.7 and older)."""
    if sheet.has("comment"):
        yield "a comment of four words is read as a judgement, any other stops it (to 9.0.7)"
    yield from _trec_eval_qrels(sheet)


@reader("qrels", "trec_eval 10")
def trec_eval_10_qrels(sheet: Sheet) -> Iterator[str]:
    """Comments, but no blank lines."""
    yield from _trec_eval_qrels(sheet)


def _trec_eval_qrels(sheet: Sheet) -> Iterator[str]:
    if sheet.facts.get("gzip"):
        yield "does not read gzip: zcat the file first"
    yield from _marks(sheet)
    why = "Malformed line, by its own count of lines"
    yield from _stops(sheet, why, "beir", "blank", "too-few-columns", "too-many-columns")
    if sheet.has("grade"):
        yield "cuts a grade to the whole number it begins with: 0.5 and text become 0"
    if sheet.has("conflict", "repeat"):
        yield "stops where a query of the run judges a document twice (duplicate docs)"
    elif sheet.facts.get("shared_documents"):
        yield "stops: documents are judged for several references (write qrels with 0 in column 2 for it)"


@reader("qrels", "pytrec_eval")
def pytrec_eval_qrels(sheet: Sheet) -> Iterator[str]:
    """``parse_qrel``."""
    yield from _python_qrels(sheet, blank=True)
    yield from _stops(sheet, "AssertionError", "conflict", "repeat")
    if sheet.facts.get("shared_documents"):
        yield "stops: documents are judged for several references (AssertionError)"


@reader("qrels", "ir_measures")
def ir_measures_qrels(sheet: Sheet) -> Iterator[str]:
    """``read_trec_qrels``."""
    yield from _python_qrels(sheet, blank=False)
    yield from _last_wins(sheet)


@reader("qrels", "ranx")
def ranx_qrels(sheet: Sheet) -> Iterator[str]:
    """``Qrels.from_file(kind="trec")``."""
    yield from _python_qrels(sheet, blank=True)
    yield from _last_wins(sheet)


def _python_qrels(sheet: Sheet, *, blank: bool) -> Iterator[str]:
    yield from _marks(sheet)
    odd = ("beir", "too-few-columns", "too-many-columns", "grade", "comment", *(["blank"] if blank else []))
    yield from _stops(sheet, "ValueError", *odd)
    yield from _stops(sheet, "UnicodeDecodeError", "encoding")


def _last_wins(sheet: Sheet) -> Iterator[str]:
    if sheet.has("conflict"):
        yield "the last of two grades wins"
    if sheet.facts.get("shared_documents"):
        yield "forgets references: the last grade of a document wins"
