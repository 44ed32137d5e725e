"""Reading and writing runs: the fast reader and the cleaner agree, errors name the line, what is written reads back."""

from __future__ import annotations

import gzip
import io
import itertools
import math
import os
import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridcli.errors import DataError
from hybridcli.formats.run_batches import RunBatches, RunSource, Scattered, blocks_of, last_query
from hybridcli.formats.run_lists import encode, runs_of
from hybridcli.formats.run_rows import NUMBER, clean, parse_rows
from hybridcli.formats.runs import RunWriter, format_run, read_run, write_run
from hybridcli.records import Run

GOOD = "q1 Q0 d1 1 2.0 r\nq1 Q0 d2 2 1.0 r\n"


def _write(path: Path, text: str | bytes) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


# ---------------------------------------------------------------- reading


def test_order_comes_from_scores_then_docno_in_bytes(tmp_path: Path) -> None:
    text = "q Q0 a 0 1.0 r\nq Q0 é 0 1.0 r\nq Q0 z 0 1.0 r\nq Q0 b 0 3.0 r\n"
    assert list(read_run(_write(tmp_path / "r", text)).to_dict()["q"]) == ["b", "é", "z", "a"]


def test_ids_are_opaque(tmp_path: Path) -> None:
    ids = [
        "001",
        "1",
        "01",
        "1e5",
        "NA",
        "null",
        "nan",
        "x,y",
        'a"b',
        "a#b",
        '"',
        "-",
        "Ünï",
        "100000.0",
        "True",
    ]
    text = "".join(f"{qid} Q0 {docno} 1 {i} r\n" for qid in ids for i, docno in enumerate(ids))
    run = read_run(_write(tmp_path / "r", text))
    assert run.queries == ids
    assert all(list(ranking) == ids[::-1] for ranking in run.to_dict().values())
    assert run.docnos.to_list() == sorted(ids, key=str.encode)


TOLERATED = [
    "q1\tQ0\td1\t1\t2.0\tr\nq1\tQ0\td2\t2\t1.0\tr\n",
    "q1   Q0 d1  1 \t2.0 r  \n  q1 Q0 d2 2 1.0 r\n",
    "q1 Q0 d1 1 2.0 r\r\nq1 Q0 d2 2 1.0 r\r\n",
    "\n# a comment with seven or more words in it\nq1 Q0 d1 1 2.0 r\n\n   \nq1 Q0 d2 2 1.0 r\n\n",
    "#\nq1 Q0 d1 1 2.0 r\nq1 Q0 d2 2 1.0 r",
    "q1 Q0 d2 x 1 r\nq1 Q0 d1 y 2 r\n",
    "q1 Q0 d1 1 +2. r\nq1 Q0 d2 2 .1E1 r\n",
    "\ufeffq1 Q0 d1 1 2.0 r\nq1 Q0 d2 2 1.0 r\n",
    "q1 Q0 d1 1 2.0 r\nq1 Q0 d2 123456789012 1.0 r\n",
]


@pytest.mark.parametrize("text", TOLERATED)
def test_other_forms_read_the_same(tmp_path: Path, text: str) -> None:
    run = read_run(_write(tmp_path / "r", text))
    assert run.to_dict() == {"q1": {"d1": 2.0, "d2": 1.0}}
    assert run.tag == "r"


def test_empty_files(tmp_path: Path) -> None:
    for text in ("", "\n\n", "# nothing\n"):
        assert read_run(_write(tmp_path / "r", text)).queries == []


def test_gzip_and_pipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = read_run(_write(tmp_path / "r", GOOD)).to_dict()
    packed = gzip.compress(GOOD.encode())
    assert read_run(_write(tmp_path / "no-gz-in-its-name", packed)).to_dict() == plain
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    assert read_run("-").to_dict() == plain
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=_write, args=(tmp_path / "pipe", GOOD))
    writer.start()
    assert read_run(str(tmp_path / "pipe")).to_dict() == plain
    writer.join()


def test_scattered_queries_come_together(tmp_path: Path) -> None:
    text = "q1 Q0 a 1 1.0 r\nq2 Q0 a 1 1.0 r\nq1 Q0 b 1 3.0 r\nq2 Q0 c 2 2.0 r\n"
    assert read_run(_write(tmp_path / "r", text)).to_dict() == {
        "q1": {"b": 3, "a": 1},
        "q2": {"c": 2, "a": 1},
    }


def test_distances(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "q Q0 near 1 0.1 r\nq Q0 far 2 7.5 r\n"
    path = _write(tmp_path / "r", text)
    assert read_run(path, lower_is_better=True).to_dict() == {"q": {"near": -0.1, "far": -7.5}}
    assert capsys.readouterr().err == ""
    read_run(path)
    assert "the rank column contradicts the scores (query q, for one)" in capsys.readouterr().err


ERRORS = [
    ("q1 Q0 d1 1 2.0\n", 1, "expected 6 columns, found 5; is the tag missing?"),
    (GOOD + "q1 Q0 my doc 1 2.0 r\n", 3, "expected 6 columns, found 7; does an id or the tag hold a blank?"),
    (GOOD + "\nq1 Q0 d3 2 high r\n", 4, "score 'high' is not a number"),
    ("q1 Q0 d1 1 2,5 r\n", 1, "score '2,5' is not a number; write the decimals after a point"),
    ("q1 Q0 d1 1 1_000 r\n", 1, "score '1_000' is not a number"),
    ("q1 Q0 d1 1 ١ r\n", 1, "is not a number"),
    ("q1 Q0 d1 1 0x10 r\n", 1, "score '0x10' is not a number"),
    ("q1 0 d1 1\n", 1, "expected 6 columns, found 4; this looks like qrels (qid 0 docno rel), not a run"),
    (GOOD + "q1 Q0 d3 3 NaN r\n", 3, "the score of d3 is NaN; scores must be finite"),
    (GOOD + "q1 Q0 d3 3 -inf r\n", 3, "the score of d3 is -inf"),
    ("q1 Q0 d1 1 1e999 r\n", 1, "score '1e999' is too large"),
    (GOOD + "q1 Q0 d1 3 0.5 r\n", 3, "query q1 lists document d1 twice, first on line 1"),
    ("q1 Q0 d\x001 1 2.0 r\n", 1, "a control character"),
    (b"q1 Q0 caf\xe9 1 2.0 r\n", 1, "not UTF-8"),
    (b"q1 Q0 d1 1 2.0 r\nq1 Q0 d2 2 1.0 caf\xe9\n", 2, "not UTF-8"),
]


@pytest.mark.parametrize(("text", "line", "message"), ERRORS)
def test_errors_name_the_line(tmp_path: Path, text: str | bytes, line: int, message: str) -> None:
    path = _write(tmp_path / "bad.run", text)
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        read_run(path)
    assert (caught.value.path, caught.value.line) == (path, line)
    assert str(caught.value).startswith(f"{path}:{line}: ")


def test_the_first_of_several_duplicates_is_named(tmp_path: Path) -> None:
    text = "".join(
        f"q Q0 {docno} 1 {score} r\n" for docno, score in [*zip("abcba", [5, 4, 3, 2, 1], strict=True)]
    )
    with pytest.raises(
        DataError, match=r":4: query q lists document b twice, first on line 2 \(2 such lines\)"
    ):
        read_run(_write(tmp_path / "r", text))


def test_lenient_keeps_the_best_and_drops_bad_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "q Q0 a 1 1.0 r\nq Q0 b 2 nan r\nq Q0 a 3 3.0 r\nbad\nq Q0 a 4 2.0 r\nq Q0 c 5 0.5 r\n"
    path = _write(tmp_path / "r", text.encode() + b"q Q0 \xff 6 0.1 r\n")
    assert read_run(path, lenient=True).to_dict() == {"q": {"a": 3.0, "c": 0.5}}
    errors = capsys.readouterr().err
    assert f"{path}: 3 bad lines dropped; the first: {path}:2: the score of b is nan" in errors
    assert "2 duplicate documents dropped, the best kept" in errors


# ---------------------------------------------------------------- the two readers

IDS = st.text(
    st.characters(min_codepoint=33, exclude_categories=("Cs", "Z", "Cc"))
    | st.sampled_from("\",#\\'\u00a0\u3000"),
    min_size=1,
    max_size=20,
)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"\A[+-]?([0-9]{1,25}\.?[0-9]{0,20}|\.[0-9]{1,20})([eE][+-]?[0-9]{1,2})?\Z").map(str),
)
LINES = st.lists(st.tuples(IDS, IDS, IDS, NUMBERS, IDS), min_size=1, max_size=8)


@settings(max_examples=150, deadline=None)
@given(lines=LINES)
def test_the_fast_reader_and_the_cleaner_agree(lines: list[tuple[str, ...]]) -> None:
    data = "".join(f"{q} Q0 {d} {r} {s} {t}\n" for q, d, r, s, t in lines).encode()
    fast = parse_rows(data, "r")
    slow = parse_rows(clean(data, "r", 1, lenient=False)[0].replace(b" ", b" \t"), "r")
    kept = [line for line in lines if not line[0].startswith("#")]
    for rows in (fast, slow):
        assert rows.docnos().to_list() == [line[1] for line in kept]
        assert rows.scores.tolist() == [float(line[3]) for line in kept]
        assert np.repeat(rows.queries, np.diff(rows.offsets)).tolist() == [line[0] for line in kept]
        assert [
            rows.raw[start : start + size].decode()
            for start, size in zip(rows.starts, rows.sizes, strict=True)
        ] == rows.docnos().to_list()
    assert fast.tag == slow.tag == (kept[0][4] if kept else "run")


@given(text=st.text("0123456789.eE+-_naifNAIFxX ,", min_size=1, max_size=8))
def test_numbers_are_what_both_readers_think(text: str) -> None:
    if len(text.split()) != 1:
        return
    try:
        rows = parse_rows(f"q Q0 d 1 {text.strip()} t\n".encode(), "r")
    except DataError:
        assert not NUMBER.match(text.strip().encode()) or math.isinf(float(text))
    else:
        assert rows.scores.tolist() == [float(text)]


@given(
    parts=st.lists(st.lists(IDS, max_size=12), min_size=1, max_size=3),
    prefix=st.sampled_from(["", "msmarco_", "clueweb09-en00-"]),
)
def test_codes_are_in_the_order_of_bytes(parts: list[list[str]], prefix: str) -> None:
    docnos = [[prefix + docno for docno in part] for part in parts]
    rows = [parse_rows("".join(f"q Q0 {docno} 1 1 t\n" for docno in part).encode(), "r") for part in docnos]
    distinct, codes = encode(rows)
    assert distinct.to_list() == sorted({docno for part in docnos for docno in part}, key=str.encode)
    assert [[distinct[int(code)] for code in part] for part in codes] == docnos


# ---------------------------------------------------------------- blocks and batches


def _lines(rankings: dict[str, dict[str, float]]) -> bytes:
    return "".join(
        f"{qid} Q0 {docno} 0 {score!r} t\n" for qid, one in rankings.items() for docno, score in one.items()
    ).encode()


QUERIES = st.dictionaries(
    st.sampled_from([f"q{i}" for i in range(12)]),
    st.dictionaries(st.sampled_from("abcdef"), st.floats(-9, 9), min_size=1, max_size=6),
    max_size=8,
)


@given(rankings=QUERIES, size=st.integers(1, 120), noise=st.sampled_from([b"", b"# note\n", b"\n", b"  \n"]))
def test_blocks_hold_whole_queries_and_know_their_lines(
    rankings: dict[str, dict[str, float]], size: int, noise: bytes
) -> None:
    data = b"".join(line + noise for line in _lines(rankings).splitlines(keepends=True))
    blocks = list(blocks_of(io.BytesIO(data), size))
    assert b"".join(block for block, _ in blocks) == data
    seen: set[bytes] = set()
    for block, line in blocks:
        assert line == data[: data.index(block)].count(b"\n") + 1
        qids = {text.split()[0] for text in block.splitlines() if text.split() and not text.startswith(b"#")}
        assert not qids & seen
        seen |= qids


def test_last_query() -> None:
    assert last_query(b"a 1\na 2\nb 1\nb 2\nc") == 8
    assert last_query(b"a 1\na 2\n") == 0
    assert last_query(b"") == last_query(b"\n\n") == last_query(b"a") == 0


@settings(max_examples=60, deadline=None)
@given(drawn=st.lists(QUERIES, min_size=1, max_size=3), size=st.integers(1, 200))
def test_batches_are_the_runs(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[dict[str, dict[str, float]]], size: int
) -> None:
    folder = tmp_path_factory.mktemp("batches")
    sources = [RunSource(_write(folder / str(i), _lines(one))) for i, one in enumerate(drawn)]
    batches = RunBatches(sources, block=size)
    found: list[dict[str, dict[str, float]]] = [{} for _ in drawn]
    together = set()
    for runs in map(batches.make, batches.batches()):
        assert all(run.docnos is runs[0].docnos for run in runs)
        queries = {qid for run in runs for qid in run.queries}
        assert not queries & together
        together |= queries
        for one, run in zip(found, runs, strict=True):
            one |= run.to_dict()
    whole = [run.to_dict() for run in RunBatches(sources, block=size).whole()]
    assert found == whole == drawn
    assert batches.queries == [list(one) for one in drawn]
    for one, expected in zip(whole, found, strict=True):
        assert {qid: list(ranking) for qid, ranking in one.items()} == {
            qid: list(ranking) for qid, ranking in expected.items()
        }


def test_scattered_queries_are_noticed(tmp_path: Path) -> None:
    text = b"".join(_lines({qid: {"a": 1.0, str(i): 0.5}}) for i, qid in enumerate(["q1", "q2", "q3", "q1"]))
    with pytest.raises(Scattered):
        list(RunBatches([RunSource(_write(tmp_path / "r", text))], block=40).batches())


# ---------------------------------------------------------------- writing


def test_written_by_hand(tmp_path: Path) -> None:
    run = Run.from_dict({"q1": {"b": 0.5, "c,d": 1 / 3}, "q2": {'"': 12.0}}, "t")
    write_run(run, str(tmp_path / "r"))
    assert (tmp_path / "r").read_text() == 'q1 Q0 b 1 0.5 t\nq1 Q0 c,d 2 0.33333334 t\nq2 Q0 " 1 12.0 t\n'


@given(
    scores=st.lists(
        st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=40, unique=True
    )
)
def test_32_bit_scores_read_back_as_floats_and_as_doubles(scores: list[float]) -> None:
    run = Run.from_dict({"q": {str(i): score for i, score in enumerate(scores)}})
    text = [line.split()[4] for line in format_run(run).decode().splitlines()]
    assert [float(np.float32(number)) for number in text] == run.scores.tolist()
    assert [float(np.float32(float(number))) for number in text] == run.scores.tolist()
    doubles = [float(number) for number in text]
    assert all(a > b or a == b == 0 for a, b in itertools.pairwise(doubles))


@pytest.mark.parametrize("name", ["r", "r.gz"])  # written as it comes, and kept until the order is known
@pytest.mark.parametrize("order", [["q1", "q2"], ["q2", "q1"]])
def test_pieces_are_put_in_order(tmp_path: Path, name: str, order: list[str]) -> None:
    one, two = Run.from_dict({"q2": {"a": 2.0, "b": 1.0}}), Run.from_dict({"q1": {"é": 1.0}})
    with RunWriter(str(tmp_path / name), in_memory=1) as writer:
        writer.add(one, format_run(one))
        writer.add(two, format_run(two))
        writer.write(order)
    assert read_run(str(tmp_path / name)).to_dict() == {"q1": {"é": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
    assert read_run(str(tmp_path / name)).queries == order


def test_an_error_leaves_no_part_of_a_run(tmp_path: Path) -> None:
    run = Run.from_dict({"q": {"a": 1.0}})

    def interrupted() -> None:
        with RunWriter(str(tmp_path / "r")) as writer:
            writer.add(run, format_run(run))
            writer.write(["q"])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not list(tmp_path.iterdir())


def test_two_parts_share_their_documents() -> None:
    parts = [parse_rows(b"q Q0 b 1 1 t\n", "x"), parse_rows(b"q Q0 a 1 1 t\n", "y")]
    first, second = runs_of(parts)
    assert first.docnos is second.docnos
    assert (first.to_dict(), second.to_dict()) == ({"q": {"b": 1.0}}, {"q": {"a": 1.0}})
