"""``hybridcli fuse``: cases that broke other tools, the options, and what it says."""

from __future__ import annotations

import gzip
import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from hybridcli.formats import run_batches
from hybridcli.formats.runs import read_run
from hybridcli.fusion.fuse import every_plan
from hybridcli.fusion.weights import simplex_points
from tests.support import ROOT, Result, shared

Cli = Callable[..., Result]
A = "q1 Q0 d1 1 2.0 A\nq1 Q0 d2 2 1.0 A\n"
B = "q1 Q0 d2 1 9.0 B\nq1 Q0 d3 2 8.0 B\n"


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., list[str]]:
    """Write texts to files a.run, b.run, …; give their names."""

    def write(*texts: str) -> list[str]:
        paths = [tmp_path / f"{name}.run" for name in "abcdefgh"[: len(texts)]]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")
        return [str(path) for path in paths]

    return write


def ranked(text: str) -> dict[str, list[tuple[str, float]]]:
    """The documents and scores of each query; checks the form of every line on the way."""
    found: dict[str, list[tuple[str, float]]] = {}
    for line in text.splitlines():
        qid, q0, docno, rank, score, _ = line.split(" ")
        one = found.setdefault(qid, [])
        one.append((docno, float(score)))
        assert (q0, rank) == ("Q0", str(len(one)))
    return found


def rows(*ids: str, tag: str = "r", qid: str = "q1") -> str:
    """A list in the order given."""
    return "".join(f"{qid} Q0 {docno} {i} {100 - i} {tag}\n" for i, docno in enumerate(ids, start=1))


# ---------------------------------------------------------------- cases


def test_ties_go_to_the_greater_docno(cli: Cli, files: Callable[..., list[str]]) -> None:
    (path,) = files("q1 Q0 a 1 1.0 t\nq1 Q0 b 2 1.0 t\nq1 Q0 c 3 1.0 t\n")
    assert [docno for docno, _ in ranked(cli("fuse", path).out)["q1"]] == ["c", "b", "a"]


def test_the_rank_column_is_ignored_and_contradictions_are_noted(
    cli: Cli, files: Callable[..., list[str]]
) -> None:
    a, b = files(
        "q1 Q0 d1 0 1.0 A\nq1 Q0 d2 0 3.0 A\nq1 Q0 d3 0 2.0 A\n",
        "q1 Q0 d3 1 1.0 B\nq1 Q0 d1 2 2.0 B\nq1 Q0 d4 3 3.0 B\n",
    )
    result = cli("fuse", a, b)
    expected = [("d3", 1 / 62 + 1 / 63), ("d1", 1 / 62 + 1 / 63), ("d4", 1 / 61), ("d2", 1 / 61)]
    found = ranked(result.out)["q1"]
    assert [docno for docno, _ in found] == [docno for docno, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], rel=1e-7)
    assert f"{a}: the rank column contradicts the scores (query q1, for one)" in result.err


def test_ids_are_strings(cli: Cli, files: Callable[..., list[str]]) -> None:
    a, b = files(
        "001 Q0 007 1 2.0 A\n001 Q0 1e5 2 1.0 A\n1 Q0 7 1 1 A\n01 Q0 100000 1 5.0 A\n",
        "001 Q0 1e5 1 9 B\n001 Q0 NA 2 8 B\n1 Q0 null 1 9 B\n1 Q0 nan 2 8 B\n01 Q0 Report,_1992;v#2 1 9 B\n",
    )
    assert {qid: [docno for docno, _ in one] for qid, one in ranked(cli("fuse", a, b).out).items()} == {
        "001": ["1e5", "007", "NA"],
        "1": ["null", "7", "nan"],
        "01": ["Report,_1992;v#2", "100000"],
    }


def test_a_wrong_line_writes_nothing(cli: Cli, files: Callable[..., list[str]], tmp_path: Path) -> None:
    good, bad = files(A, "q1 Q0 d1 1 2.0 r\nq1 Q0 d2 2 high r\n")
    for output in ("-", str(tmp_path / "out.run")):
        result = cli("fuse", good, bad, "-o", output)
        assert (result.code, result.out) == (1, "")
        assert result.err == f"hybridcli: {bad}:2: score 'high' is not a number\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.run", "b.run"]


def test_duplicates_are_an_error_or_the_best_is_kept(cli: Cli, files: Callable[..., list[str]]) -> None:
    dup, other = files("q1 Q0 d1 1 3.0 r\nq1 Q0 d2 2 2.0 r\nq1 Q0 d1 3 1.0 r\n", "q1 Q0 d2 1 3.0 o\n")
    result = cli("fuse", dup, other)
    assert (result.code, result.out) == (1, "")
    assert (
        f"{dup}:3: query q1 lists document d1 twice, first on line 1; --lenient keeps the best" in result.err
    )
    result = cli("fuse", dup, other, "--lenient")
    assert ranked(result.out)["q1"] == [
        ("d2", pytest.approx(1 / 62 + 1 / 61, rel=1e-7)),
        ("d1", pytest.approx(1 / 61, rel=1e-7)),
    ]
    assert "1 duplicate documents dropped" in result.err


def test_a_lone_hit_counts(cli: Cli, files: Callable[..., list[str]]) -> None:
    a, b = files("q1 Q0 d1 1 5.0 A\n", "q1 Q0 d2 1 9.0 B\nq1 Q0 d1 2 7.0 B\nq1 Q0 d3 3 5.0 B\n")
    result = cli("fuse", a, b, "--method", "weighted", "--weights", "0.5,0.5")
    assert ranked(result.out)["q1"] == [("d1", 0.75), ("d2", 0.5), ("d3", 0.0)]


def test_negative_scores(cli: Cli, files: Callable[..., list[str]]) -> None:
    a, b = files(
        "q1 Q0 d1 1 -1.0 A\nq1 Q0 d2 2 -2.0 A\nq1 Q0 d3 3 -4.0 A\n", "q1 Q0 d3 1 -0.1 B\nq1 Q0 d1 2 -0.3 B\n"
    )

    def order(*options: str) -> str:
        result = cli("fuse", a, b, *options)
        assert ("negative" in result.err) == ("none" in options), result.err
        return " ".join(docno for docno, _ in ranked(result.out)["q1"])

    assert order("--method", "combsum", "--norm", "none") == "d1 d2 d3"
    assert order("--method", "combmnz", "--norm", "none") == "d2 d1 d3"
    assert order("--method", "combsum") == "d3 d1 d2"
    assert order("--method", "combmnz") == "d3 d1 d2"
    assert order("--method", "combsum", "--norm", "max") == "d3 d1 d2"


def test_queries_of_one_run_only(cli: Cli, files: Callable[..., list[str]]) -> None:
    a, b = files(
        "q1 Q0 d1 1 2.0 A\nq1 Q0 d2 2 1.0 A\nq2 Q0 d5 1 2.0 A\n",
        "q1 Q0 d2 1 2.0 B\nq1 Q0 d3 2 1.0 B\nq3 Q0 d7 1 2.0 B\nq3 Q0 d8 2 1.0 B\n",
    )
    result = cli("fuse", a, b)
    assert {qid: [docno for docno, _ in one] for qid, one in ranked(result.out).items()} == {
        "q1": ["d2", "d1", "d3"],
        "q2": ["d5"],
        "q3": ["d7", "d8"],
    }
    assert f"note: queries that one run only has: 1 in {a}, 1 in {b}\n" in result.err
    assert cli("fuse", b, a).out == result.out


def test_structural_ties_and_the_order_of_files(cli: Cli, files: Callable[..., list[str]]) -> None:
    a, b = files(rows("x1", "x2", "s"), rows("y1", "y2", "s"))
    out = cli("fuse", a, b).out
    assert [docno for docno, _ in ranked(out)["q1"]] == ["s", "y1", "x1", "y2", "x2"]
    for seed, first, second in (("0", a, b), ("5", b, a)):
        done = subprocess.run(
            [sys.executable, "-m", "hybridcli", "fuse", first, second],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed},
        )
        assert done.stdout == out


def test_printed_scores_keep_deep_ranks_apart(
    cli: Cli, files: Callable[..., list[str]], tmp_path: Path
) -> None:
    ids = [f"d{i:04}" for i in range(1000)]
    a, b = files(rows(*ids), rows(*[ids[7 * i % 1000] for i in range(1000)]))
    output = str(tmp_path / "out.run")
    assert cli("fuse", a, b, "-o", output).code == 0
    exact = {docno: 1 / (61 + i) for i, docno in enumerate(ids)}
    for i in range(1000):
        exact[ids[7 * i % 1000]] += 1 / (61 + i)
    expected = sorted(ids, key=lambda docno: (exact[docno], docno), reverse=True)
    assert expected[:3] == ["d0000", "d0007", "d0014"]
    assert list(read_run(output).to_dict()["q1"]) == expected
    assert [docno for docno, _ in ranked(Path(output).read_text())["q1"]] == expected


def test_every_point_of_a_grid_is_a_weight(cli: Cli, files: Callable[..., list[str]]) -> None:
    paths = files(rows("a", "b"), rows("b", "c"), rows("c", "a"))
    points = simplex_points(3, 10)
    assert len(points) == 66
    for point in points[::13]:
        result = cli("fuse", *paths, "--weights", ",".join(f"{part / 10}" for part in point))
        assert (result.code, set(ranked(result.out))) == (0, {"q1"})


def test_borda_and_condorcet(cli: Cli, files: Callable[..., list[str]]) -> None:
    cycle = files(rows(*"abc"), rows(*"bca"), rows(*"cab"))
    outs = {cli("fuse", *order, "--method", "condorcet").out for order in itertools.permutations(cycle)}
    assert len(outs) == 1
    assert [docno for docno, _ in ranked(outs.pop())["q1"]] == ["c", "b", "a"]
    partial = files(rows(*"ab"), rows(*"cbd"), rows("b"))
    assert ranked(cli("fuse", *partial, "--method", "borda").out)["q1"] == [
        ("b", 10),
        ("c", 7.5),
        ("a", 7),
        ("d", 5.5),
    ]
    order = [docno for docno, _ in ranked(cli("fuse", *partial, "--method", "condorcet").out)["q1"]]
    assert (order[0], order.index("c") < order.index("d")) == ("b", True)


# ---------------------------------------------------------------- options


def test_depth_k_and_tag(cli: Cli, files: Callable[..., list[str]]) -> None:
    a, b = files(rows(*"abcd"), rows(*"efgh"))
    result = cli("fuse", a, b, "--depth", "2", "-k", "3", "--tag", "mine")
    assert result.out.splitlines()[-1].split() == ["q1", "Q0", "f", "3", "0.016129032", "mine"]
    assert [docno for docno, _ in ranked(result.out)["q1"]] == ["e", "a", "f"]


def test_lower_is_better(cli: Cli, files: Callable[..., list[str]]) -> None:
    a, b = files("q1 Q0 near 1 0.1 A\nq1 Q0 far 2 5.0 A\n", rows("x"))
    result = cli("fuse", a, b, "--lower-is-better", a, "-k", "2")
    assert [docno for docno, _ in ranked(result.out)["q1"]] == ["x", "near"]
    assert result.err == ""
    result = cli("fuse", a, b, "--lower-is-better", "c.run")
    assert (result.code, "not among the runs" in result.err) == (2, True)


def test_missing_min(cli: Cli, files: Callable[..., list[str]]) -> None:
    a, b = files("q1 Q0 d1 1 -1 A\nq1 Q0 d2 2 -2 A\n", "q1 Q0 d2 1 -5 B\nq1 Q0 d3 2 -9 B\n")
    result = cli("fuse", a, b, "--method", "combsum", "--norm", "none", "--missing", "min")
    assert ranked(result.out)["q1"] == [("d2", -7), ("d1", -10), ("d3", -11)]
    assert "negative" not in result.err


@pytest.mark.parametrize("options", [[], ["--recipe"], ["--all"]])
def test_scattered_queries_go_to_a_file_too(
    cli: Cli, files: Callable[..., list[str]], tmp_path: Path, options: list[str]
) -> None:
    a, b = files(A + B.replace("q1", "q2") + "q1 Q0 d4 3 0.5 A\n", B + A.replace("q1", "q2"))
    out = tmp_path / "out"
    result = cli("fuse", a, b, "-o", out, *options)
    assert (result.code, result.err) == (0, "")
    assert (out / "rrf.run" if out.is_dir() else out).read_text() == cli("fuse", a, b).out


def test_a_number_beyond_64_bits(cli: Cli, files: Callable[..., list[str]]) -> None:
    result = cli("fuse", *files(A, B), "--depth", "9" * 20)
    assert (result.code, result.out) == (2, "")
    assert "hybridcli: a number given is too large" in result.err


def test_weights_for_other_numbers_of_runs(cli: Cli, files: Callable[..., list[str]], tmp_path: Path) -> None:
    a, b = files(A, B)
    for head, row in (("#qid\tx\ty\tz", "q1\t1\t0\t1"), ("#qid\tx", "q1\t1")):
        (tmp_path / "w").write_text(f"{head}\n{row}\n")
        result = cli("fuse", a, b, "--method", "weighted", "--weights", tmp_path / "w")
        assert result.code == 1
        assert "runs; 2 are given" in result.err


def test_constants_of_other_methods_are_noted(cli: Cli, files: Callable[..., list[str]]) -> None:
    a, b = files(A, B)
    err = cli("fuse", a, b, "--method", "combsum", "--rrf-k", "10", "--rbc-p", "0.5").err
    assert "combsum has no constant: rrf_k=10 has no effect" in err
    assert "combsum has no persistence: rbc_p=0.5 has no effect" in err
    assert "has no" not in cli("fuse", a, b, "--rrf-k", "10").err


def test_a_run_given_twice_is_noted(cli: Cli, files: Callable[..., list[str]]) -> None:
    a, b = files(A, B)
    assert f"{a} is given 2 times; its ranking counts as often" in cli("fuse", a, b, a).err
    assert "is given" not in cli("fuse", a, b).err


def test_what_has_no_effect_is_noted(cli: Cli, files: Callable[..., list[str]]) -> None:
    paths = files(A, B)
    result = cli("fuse", *paths, "--norm", "zmuv")
    assert result.err == "note: rrf reads ranks only: the normalisation zmuv has no effect\n"
    assert result.out == cli("fuse", *paths).out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--weights", "0.5"], "2 runs need 2 weights, found 1"),
        (["--weights", "0.5,-1"], "at least 0"),
        (["--weights", "0,0"], "above 0"),
        (["--weights", "0,1e-31"], "the largest weight must be at least 1e-30, or all scores are 0"),
        (["--weights", "a,b"], "--weights a,b: is neither 2 numbers, such as 0.5,0.5, nor a file"),
        (["--weights", "0.3,O.7"], "--weights 0.3,O.7: is neither 2 numbers"),
        (["--weights", "1,nan"], "at least 0"),
        (["--method", "combsum", "--weights", "1,1"], "takes no weights"),
        (["--depth", "0"], "--depth must be at least 1"),
        (["-k", "0"], "-k must be at least 1"),
        (["--tag", "two words"], "--tag 'two words' must be one word"),
        (["--tag", "a\x01b"], "--tag 'a\\x01b' must be one word, without control characters"),
        (["--tag", "a\udcff"], "must be one word, without control characters"),
        (["--all", "--method", "combsum"], "--all takes every method and normalisation"),
        (["--all", "--norm", "zmuv"], "--all takes every method and normalisation"),
        (["--weights", "1_0,1"], "--weights 1_0,1: is neither 2 numbers"),
        (["--weights", "1e300,1e300"], "choose a normalisation with --norm, or smaller weights"),
        (["--all"], "give a folder"),
        (["--train-qrels", "q"], "supervised methods of ranx"),
        (["--method", "ranx:nope"], "no ranx method 'nope'"),
        (["--method", "ranx:bayesfuse"], "--train-qrels"),
        (["--method", "nope"], "rrf, weighted"),
    ],
)
def test_usage_errors(cli: Cli, files: Callable[..., list[str]], options: list[str], message: str) -> None:
    result = cli("fuse", *files(A, B), *options)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_weights_by_query(cli: Cli, files: Callable[..., list[str]], tmp_path: Path) -> None:
    a, b = files(
        rows("x", "y", tag="A") + rows("x", tag="A", qid="q2"),
        rows("y", "z", tag="B") + rows("y", tag="B", qid="q2"),
    )
    table = tmp_path / "w.tsv"
    table.write_text("#qid\tB\tA\nq1\t0\t1\n", encoding="utf-8")
    for paths in ([a, b], [b, a]):  # columns are found by tag, in any order of the files
        result = cli("fuse", *paths, "--weights", table)
        assert [docno for docno, _ in ranked(result.out)["q1"]] == ["x", "y"]
        assert [docno for docno, _ in ranked(result.out)["q2"]] == ["y", "x"]
        assert "1 queries have no weights there; equal weights are taken" in result.err
    table.write_text("#qid\tone\ttwo\nq1\t0\t1\nq2\t1\t1\n", encoding="utf-8")
    result = cli("fuse", a, b, "--weights", table)
    assert [docno for docno, _ in ranked(result.out)["q1"]] == ["y", "z"]
    assert "columns (one two) are not named as the runs' tags (A B); they are taken in order" in result.err
    table.write_text("q1\t0\t1\n", encoding="utf-8")
    assert f"{table}:1: expected a head line" in cli("fuse", a, b, "--weights", table).err


def test_all_methods_at_once(cli: Cli, files: Callable[..., list[str]], tmp_path: Path) -> None:
    a, b = files(A, B)
    assert cli("fuse", a, b, "--all", "-o", tmp_path / "all").code == 0
    assert {path.stem for path in (tmp_path / "all").iterdir()} == set(every_plan())
    for name, plan in list(every_plan().items())[::7]:
        options = ["--method", plan.method] + (["--norm", plan.norm] if plan.norm else [])
        assert (tmp_path / "all" / f"{name}.run").read_text() == cli("fuse", a, b, *options).out
    assert cli("fuse", a, b, "--all", "-o", a).code == 2


def test_nothing_to_fuse(cli: Cli, files: Callable[..., list[str]]) -> None:
    result = cli("fuse", *files("", "# nothing\n"))
    assert (result.code, result.out) == (0, "")
    assert "the runs hold no query" in result.err


# ---------------------------------------------------------------- streams


def _long(seed: int, tag: str) -> str:
    """Forty queries with lists of various lengths, some of them in one run only."""
    lines = []
    for q in range(40):
        if (q + seed) % 9:
            docnos = [f"d{(q * 31 + i * (seed + 3)) % 97}" for i in range(1 + (q * seed) % 23)]
            lines.append(rows(*dict.fromkeys(docnos), tag=tag, qid=f"q{40 - q}"))
    return "".join(lines)


@pytest.mark.parametrize("method", ["rrf", "combmnz"])
def test_streaming_gives_the_same_bytes(
    cli: Cli, files: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, method: str
) -> None:
    paths = files(_long(1, "A"), _long(2, "B"), _long(5, "C"))
    whole = cli("fuse", *paths, "--method", method)
    output = tmp_path / "out.run.gz"
    for block in (50, 700, 5000):
        monkeypatch.setattr(run_batches, "BLOCK", block)
        assert cli("fuse", *paths[::-1], "--method", method, "-o", output).code == 0
        assert gzip.decompress(output.read_bytes()).decode() == whole.out
    # a run whose lines are scattered is read as a whole
    Path(paths[0]).write_text(
        "".join(sorted(Path(paths[0]).read_text().splitlines(True), key=lambda s: s.split()[2]))
    )
    assert ranked(cli("fuse", *paths, "--method", method).out) == ranked(whole.out)


def test_stdin_pipes_and_gzip(cli: Cli, files: Callable[..., list[str]], tmp_path: Path) -> None:
    a, b = files(A, B)
    out = cli("fuse", a, b).out
    (tmp_path / "b.gz").write_bytes(gzip.compress(B.encode()))
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(A,))
    writer.start()
    assert cli("fuse", tmp_path / "pipe", tmp_path / "b.gz").out == out
    writer.join()
    assert cli("fuse", a, "-", stdin=gzip.compress(B.encode())).out == out
    assert cli("fuse", "-", "-").code == 2


def test_fuse_loads_nothing_heavy(files: Callable[..., list[str]]) -> None:
    code = (
        "import sys; from hybridcli.cli import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "fuse", *files(A, B), "--method", "combmnz"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    assert not {"torch", "numba", "pandas", "scipy", "sklearn", "ranx"} & set(done.stderr.split())


# ---------------------------------------------------------------- real runs


@pytest.mark.slow
def test_real_runs(cli: Cli, tmp_path: Path) -> None:
    folder = shared("data", "codec-runs")
    rm3, ance = folder / "document_bm25+rm3-tuned.run.gz", folder / "document_ance-maxp.run.gz"
    result = cli("fuse", rm3, ance)
    assert (result.code, result.out) == (1, "")
    assert f"{rm3}:1845: query economics-6 lists document" in result.err
    fused = tmp_path / "fused.run"
    result = cli("fuse", rm3, ance, "--lenient", "-o", fused)
    assert "duplicate documents dropped, the best kept" in result.err
    run = read_run(str(fused))
    assert len(run.queries) == 42
    cacm = shared("data", "cacm-run", "cacm-bm25.txt")
    assert cli("fuse", cacm, cacm, "-o", fused).code == 0
    assert read_run(str(fused)).queries == read_run(str(cacm)).queries


def test_a_qid_that_would_become_a_comment_is_refused(cli: Cli, tmp_path: Path) -> None:
    run = tmp_path / "hash.run"
    run.write_text("q1 Q0 d1 1 3 A\n #q1 Q0 d1 1 3 A\n")
    result = cli("fuse", run)
    assert (result.code, result.out) == (1, "")
    assert f"{run}:2: the qid begins with #: at the start of a line it would be a comment" in result.err
    assert cli("check", run).code == 1
    assert cli("fuse", run, "--lenient").out.startswith("q1 Q0 d1 1 ")


@pytest.mark.parametrize("method", ["weighted", "combsum", "combmnz", "combanz", "combmax"])
def test_a_sum_that_overflows_is_refused(cli: Cli, tmp_path: Path, method: str) -> None:
    """inf - inf is NaN, which marks rows that are no candidates: none may vanish so."""
    paths = []
    for name, score in (("a", 1e308), ("b", 1e308), ("c", -1e308), ("d", -1e308)):
        paths.append(tmp_path / name)
        paths[-1].write_text(f"q1 Q0 d1 1 {score} {name}\nq1 Q0 d2 2 0 {name}\n")
    weights = ("--weights", "1e308,1e308,1e308,1e308") if method == "weighted" else ()
    result = cli("fuse", *paths, "--method", method, "--norm", "none", *weights)
    assert (result.code, result.out) == (2, "")
    assert "a fused score is too large for a 32-bit float" in result.err
    assert "RuntimeWarning" not in result.err


def test_an_order_that_no_scores_can_keep_is_refused(cli: Cli, tmp_path: Path) -> None:
    lowest = ("-3.4028234663852886e38", "-3.40282346638528870e38", "-3.4028234663852889e38")
    run = tmp_path / "m.run"
    run.write_text("".join(f"q1 Q0 d{at} {at} {score} A\n" for at, score in enumerate(lowest, 1)))
    result = cli("fuse", run, "--method", "weighted", "--norm", "none")
    assert (result.code, result.out) == (2, "")
    assert "a fused score is too large for a 32-bit float" in result.err
