"""Reading and writing qrels."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridcli.errors import DataError
from hybridcli.formats.qrels import read_qrels, write_qrels
from hybridcli.records import Qrels


def judged(qrels: Qrels) -> dict[str, dict[str, int]]:
    docnos = qrels.docnos.to_list()
    return {
        qid: {docnos[qrels.docs[row]]: int(qrels.grades[row]) for row in range(low, high)}
        for qid, low, high in zip(qrels.queries, qrels.offsets[:-1], qrels.offsets[1:], strict=True)
    }


def put(folder: Path, text: str | bytes) -> str:
    path = folder / "q.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def test_order_of_queries_and_documents(tmp_path: Path) -> None:
    qrels = read_qrels(put(tmp_path, "q2 0 b 1\nq1 0 z 2\nq2 0 a 0\nq1 0 c -1\n"))
    assert qrels.queries == ["q2", "q1"]
    assert judged(qrels) == {"q2": {"a": 0, "b": 1}, "q1": {"c": -1, "z": 2}}
    assert qrels.docnos.to_list() == ["a", "b", "c", "z"]
    assert qrels.docs.tolist() == [0, 1, 2, 3]
    assert qrels.pairs is None
    assert qrels.reference_ids is None


@pytest.mark.parametrize(
    "text",
    [
        "q1\t0\td1\t1\nq1\t0\td2\t0\n",
        "q1 0 d1 1\r\nq1 0  d2   0\r\n",
        "\n# a comment\n  q1 0 d1 1\n\nq1 0 d2 0",
        b"\xef\xbb\xbfq1 0 d1 1\nq1 0 d2 0\n",
        gzip.compress(b"q1 0 d1 1\nq1 0 d2 0\n"),
    ],
    ids=["tabs", "crlf", "blank-comment-no-end", "bom", "gzip"],
)
def test_blanks_ends_and_gzip(tmp_path: Path, text: str | bytes) -> None:
    assert judged(read_qrels(put(tmp_path, text))) == {"q1": {"d1": 1, "d2": 0}}


COLUMN = st.text("ab1é#.-", min_size=1, max_size=3)


@given(
    rows=st.lists(
        st.tuples(COLUMN, COLUMN, COLUMN, st.integers(-2, 3)),
        min_size=1,
        max_size=12,
        unique_by=lambda row: row[:3],
    )
)
def test_the_fast_and_the_tolerant_reader_agree(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("qrels")
    text = "".join(f"q{qid} {reference} {docno} {grade}\n" for qid, reference, docno, grade in rows)
    found = []
    for form in (
        text,
        text.replace(" ", "\t"),
        text.replace("\n", "\r\n"),
        f"# odd\n{text}",
        text.replace(" ", "  "),
    ):
        try:
            qrels = read_qrels(put(folder, form))
        except DataError as error:
            found.append(re.sub(r"[\d,]+ (here|on line)|line \d+|:\d+", "", str(error)))
        else:
            pairs = None if qrels.pairs is None else qrels.pairs.tolist()
            found.append((qrels.queries, judged(qrels), pairs, qrels.reference_ids))
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize("grade", ["1.0", "x", "1e3", "1234567890", "+-1", ""])
def test_a_grade_that_is_none_is_named_by_the_fast_reader_too(tmp_path: Path, grade: str) -> None:
    with pytest.raises(DataError, match=r"q\.txt:2: "):
        read_qrels(put(tmp_path, f"q1 0 d1 +1\nq1 0 d2 {grade}\n"))


def test_ids_are_strings(tmp_path: Path) -> None:
    ids = ["001", "1", "1e5", "NA", "null", "x,y", "a#b", "ü", "a\u00a0b"]
    qrels = read_qrels(put(tmp_path, "".join(f"{name} 0 {name} 1\n" for name in ids)))
    assert qrels.queries == ids
    assert qrels.docnos.to_list() == sorted(ids)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 0 d1 1\nq1 0 d2 1.0\n", ":2: grade '1.0' is not a whole number"),
        ("q1 0 d1 0.5\n", ":1: grade '0.5' is not a whole number"),
        ("q1 0 d1 1_0\n", ":1: grade '1_0' is not"),
        ("q1 0 d1 relevant\n", ":1: grade 'relevant' is not"),
        ("q1 0 d1\n", ":1: expected 4 columns (qid 0 docno rel), found 3; BEIR's"),
        ("q1 Q0 d1 1 2.5 t\n", ":1: expected 4 columns (qid 0 docno rel), found 6; is this a run?"),
        ("q1 0 d1 1 x\n", ":1: expected 4 columns (qid 0 docno rel), found 5"),
        ("", ": no judgements in this file"),
        ("q1 0 d1 1\nq1 0 d1 0\n", ":2: query q1 judges d1 twice: grade 1 on line 1 and 0 here"),
        ("q1 0 b 1\nq1 0 a 1\nq1 0 b 2\nq1 0 a 2\n", ":3: query q1 judges b twice: grade 1 on line 1"),
    ],
)
def test_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as raised:
        read_qrels(put(tmp_path, text))
    assert message in str(raised.value)
    assert str(raised.value).startswith(str(tmp_path / "q.txt"))


@pytest.mark.parametrize("line", [b"q1 0 d\xe9 1\n", b"q\xe9 0 d 1\n", b"q1 r\xe9 d 1\n"])
def test_not_utf8(tmp_path: Path, line: bytes) -> None:
    with pytest.raises(DataError, match=r"q\.txt:2: not UTF-8"):
        read_qrels(put(tmp_path, b"q0 0 d0 1\n" + line))


def test_the_same_judgement_twice_counts_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels = read_qrels(put(tmp_path, "q1 0 d1 1\nq1 0 d1 1\n"))
    assert judged(qrels) == {"q1": {"d1": 1}}
    assert (
        "1 judgement given more than once, counted once (first: query q1, d1, line 2)"
        in capsys.readouterr().err
    )


def test_references(tmp_path: Path) -> None:
    text = "q1 rB d1 1\nq1 rA d1 1\nq1 rA d2 1\nq1 rC d3 0\nq2 rA d1 2\nq2 rA d9 0\nq3 rA d1 0\n"
    qrels = read_qrels(put(tmp_path, text))
    assert judged(qrels) == {"q1": {"d1": 1, "d2": 1, "d3": 0}, "q2": {"d1": 2, "d9": 0}, "q3": {"d1": 0}}
    assert qrels.pairs is not None
    assert qrels.pairs.tolist() == [[0, 0], [0, 1], [1, 1], [3, 0]]
    assert qrels.reference_counts is not None
    assert qrels.reference_counts.tolist() == [2, 1, 0]  # a reference without a relevant document is none
    assert qrels.reference_ids == [["rB", "rA"], ["rA"], []]


def test_references_of_one_document_with_two_grades(tmp_path: Path) -> None:
    qrels = read_qrels(put(tmp_path, "q1 a d1 0\nq1 b d1 2\n"))
    assert judged(qrels) == {"q1": {"d1": 2}}
    assert qrels.reference_ids == [["b"]]


def test_write_and_read_back(tmp_path: Path) -> None:
    path = str(tmp_path / "out.gz")
    write_qrels(path, [("q1", "0", "d2", 1), ("q1", "0", "ü", -1)])
    assert judged(read_qrels(path)) == {"q1": {"d2": 1, "ü": -1}}


BEIR = "query-id\tcorpus-id\tscore\nq1\td2\t1\nq1\td1\t2\nq2\td1\t0\n"


def test_beir_columns_and_folder(tmp_path: Path) -> None:
    want = {"q1": {"d1": 2, "d2": 1}, "q2": {"d1": 0}}
    assert judged(read_qrels(put(tmp_path, BEIR))) == want
    assert judged(read_qrels(put(tmp_path, gzip.compress(BEIR.encode())))) == want
    (tmp_path / "set" / "qrels").mkdir(parents=True)
    (tmp_path / "set" / "qrels" / "test.tsv.gz").write_bytes(gzip.compress(BEIR.encode()))
    assert judged(read_qrels(str(tmp_path / "set"))) == want


def test_beir_columns_without_their_header_and_folders_without_qrels(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"expected 4 columns .* need their header, query-id corpus-id score"):
        read_qrels(put(tmp_path, "q1\td2\t1\n"))
    with pytest.raises(DataError, match=r"expected 4 columns \(qid 0 docno rel\), found 2") as found:
        read_qrels(put(tmp_path, BEIR + "q3\td1\n"))
    assert found.value.line == 5
    with pytest.raises(DataError, match=r"is a folder without qrels/test\.tsv; a qrels file is needed"):
        read_qrels(str(tmp_path))
