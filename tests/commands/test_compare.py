"""``hybridcli compare``: the small cases that broke other tools, every option, and what goes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hybridcli.report.tables import FORMATS
from tests.support import Result

Cli = Callable[..., Result]

# relevant documents that runs A, B, C and D put in the top ten of six queries
FOUND = {
    "a": (5, 4, 6, 7, 3, 5),
    "b": (4, 2, 3, 7, 4, 3),
    "c": (5, 5, 5, 6, 3, 4),
    "d": (1, 2, 2, 3, 1, 2),
}
QUERIES = [f"q{at}" for at in range(1, 7)]
GROUPS = "q1\tc1\nq2\tc1\nq3\tc2\nq4\tc3\nq5\tc3\nq6\tc3\n"


def run_text(found: tuple[int, ...], tag: str) -> str:
    lines = []
    for qid, count in zip(QUERIES, found, strict=True):
        for rank in range(1, 11):
            docno = f"{'r' if rank <= count else 'n'}{rank:02d}"
            lines.append(f"{qid} Q0 {docno} {rank} {11 - rank} {tag}\n")
    return "".join(lines)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with four runs, qrels and groups, as the working folder."""
    monkeypatch.chdir(tmp_path)
    for name, found in FOUND.items():
        (tmp_path / f"{name}.run").write_text(run_text(found, name))
    qrels = "".join(f"{qid} 0 r{rank:02d} 1\n" for qid in QUERIES for rank in range(1, 11))
    (tmp_path / "qrels.txt").write_text(qrels)
    (tmp_path / "groups.tsv").write_text(GROUPS)
    return tmp_path


def compared(cli: Cli, *args: object) -> dict[str, Any]:
    result = cli("compare", *args, "--format", "json")
    assert result.code == 0, result.err
    return dict(json.loads(result.out))


def test_ties_and_the_rank_column(cli: Cli, tmp_path: Path) -> None:
    run, qrels = tmp_path / "a.run", tmp_path / "q"
    run.write_text("1 Q0 a 1 1.0 r\n1 Q0 b 2 1.0 r\n1 Q0 c 3 1.0 r\n")
    qrels.write_text("1 0 a 1\n")
    names = ("RR", "RR@10", "P@1", "Success@1", "nDCG@3", "R@3")
    args = [arg for name in names for arg in ("-m", name)]
    report = compared(cli, run, "--qrels", qrels, *args)
    means = {row["measure"]: row["mean"] for row in report["rows"]}
    assert means == pytest.approx(
        {"RR": 1 / 3, "RR@10": 1 / 3, "P@1": 0, "Success@1": 0, "nDCG@3": 0.5, "R@3": 1}
    )
    assert report["tie_rule"].startswith("score descending, then docno descending")
    assert "queries with equal scores, put in order by docno: a 1" in report["notes"]


def test_duplicates(cli: Cli, tmp_path: Path) -> None:
    run, qrels = tmp_path / "dup.run", tmp_path / "q"
    run.write_text("q1 Q0 d1 1 3.0 r\nq1 Q0 d2 2 2.0 r\nq1 Q0 d1 3 1.0 r\n")
    qrels.write_text("q1 0 d1 1\nq1 0 d2 1\n")
    result = cli("compare", run, "--qrels", qrels)
    assert result.code == 1
    assert f"{run}:3: query q1 lists document d1 twice, first on line 1" in result.err
    report = compared(
        cli, run, "--qrels", qrels, "--lenient", "-m", "P@2", "-m", "R@2", "-m", "nDCG@2", "-m", "R@3"
    )
    assert [row["mean"] for row in report["rows"]] == [1.0, 1.0, 1.0, 1.0]
    qrels.write_text("q1 0 d1 1\nq1 0 d1 0\n")
    result = cli("compare", run, "--qrels", qrels, "--lenient")
    assert (result.code, result.out) == (1, "")
    assert f"{qrels}:2: query q1 judges d1 twice: grade 1 on line 1 and 0 here" in result.err


@pytest.mark.parametrize(
    ("policy", "n", "mean"), [("judged", 3, 1 / 3), ("answerable", 2, 0.5), ("intersection", 1, 1.0)]
)
def test_which_queries_enter_the_mean(cli: Cli, tmp_path: Path, policy: str, n: int, mean: float) -> None:
    run, qrels = tmp_path / "a.run", tmp_path / "q"
    run.write_text("q1 Q0 d1 1 2.0 a\nq1 Q0 d2 2 1.0 a\nq9 Q0 d1 1 1.0 a\n")
    qrels.write_text("q1 0 d1 1\nq2 0 d4 1\nq3 0 d5 0\n")
    report = compared(cli, run, "--qrels", qrels, "-m", "RR", "--queries", policy)
    assert report["n"] == report["rows"][0]["n"] == n
    assert report["rows"][0]["mean"] == pytest.approx(mean)
    notes = "\n".join(report["notes"])
    assert ("1 judged query has no relevant document and counts 0" in notes) == (policy == "judged")
    assert "a: 2 judged queries are missing" in notes
    assert "a: 1 query is not judged and left out" in notes
    assert "NaN" not in cli("compare", run, "--qrels", qrels, "-m", "RR", "--queries", policy).out


def test_known_p_values(cli: Cli, place: Path) -> None:
    pairs = [arg for other in "bcd" for arg in ("--pair", f"a,{other}")]
    args = ("a.run", "b.run", "c.run", "d.run", "--qrels", "qrels.txt", "-m", "P@10", *pairs)
    tests = ("--test", "permutation", "--test", "t")
    expected = {
        "holm": ([0.375, 0.625, 0.09375], [0.21973300206845292, 0.3632174676491229, 0.001578446038955704]),
        "bonferroni": ([0.5625, 1.0, 0.09375], [0.3295995031026794, 1.0, 0.001578446038955704]),
    }
    for correction, (flips, t) in expected.items():
        report = compared(cli, *args, *tests, "--correction", correction)
        rows = report["comparisons"]
        assert [row["difference"] for row in rows] == pytest.approx([7 / 60, 1 / 30, 19 / 60])
        assert [row["p"]["permutation"] for row in rows] == [0.1875, 0.625, 0.03125]
        assert [row["p"]["t"] for row in rows] == pytest.approx(
            [0.10986650103422646, 0.3632174676491229, 0.0005261486796519013], rel=1e-9
        )
        assert [row["adjusted"]["permutation"] for row in rows] == pytest.approx(flips)
        assert [row["adjusted"]["t"] for row in rows] == pytest.approx(t, rel=1e-9)
        assert {(row["family_size"], row["n"], row["correction"]) for row in rows} == {(3, 6, correction)}
    shown = cli("compare", *args, *tests).out
    assert "exploratory family: 3 two-sided tests on each measure, correction holm" in " ".join(shown.split())
    assert "permutation: all 64 sign patterns of 6 queries" in shown


def test_cluster_bootstrap(cli: Cli, place: Path) -> None:
    args = ("b.run", "a.run", "--qrels", "qrels.txt", "-m", "P@10", "--groups", "groups.tsv")
    report = compared(cli, *args)
    (row,) = report["comparisons"]
    assert row["difference"] == pytest.approx(0.11666666666666667)
    assert [row["low"], row["high"]] == pytest.approx([0.03333333333333333, 0.3])
    assert report["groups"] == {"file": "groups.tsv", "count": 3}
    assert "ratio estimator" in cli("compare", *args).out
    result = cli("compare", *args)
    assert "warning: 3 groups only" in result.err
    assert result.out == cli("compare", *args).out
    assert compared(cli, *args) == report


def test_a_query_without_a_group(cli: Cli, place: Path) -> None:
    (place / "groups.tsv").write_text("q1\tc1\nq2\tc1\nq4\tc3\n")
    result = cli("compare", "a.run", "--qrels", "qrels.txt", "--groups", "groups.tsv")
    assert (result.code, result.out) == (1, "")
    assert "groups.tsv: no group for query q3 and 2 more; every evaluated query needs one" in result.err


@pytest.mark.parametrize("form", [*FORMATS, "json"])
def test_every_format_carries_its_terms(cli: Cli, place: Path, form: str) -> None:
    args = ("a.run", "b.run", "--qrels", "qrels.txt", "--groups", "groups.tsv", "--format", form)
    result = cli("compare", *args, "--replicates", "500", "--seed", "7")
    assert result.code == 0
    assert "nan" not in result.out.lower().replace("finance", "")
    text = " ".join(result.out.split())
    terms = ["docno descending", "0.1.0", "groups.tsv"]
    terms += (
        ['"seed": 7', '"replicates": 500', '"n": 6']
        if form == "json"
        else ["seed 7", "500 replicates", "n = 6"]
    )
    for term in terms:
        assert term in text, term


def test_the_terminal_table_fits(cli: Cli, place: Path) -> None:
    long = "a_run_with_a_name_that_is_longer_than_any_sensible_person_would_ever_choose_for_it"
    (place / f"{long}.run").write_text((place / "d.run").read_text())
    runs = ["a.run", "b.run", "c.run", f"{long}.run"]
    measures = [
        arg for name in ("P@10", "nDCG@10", "R@100", "RR@10", "AP", "Judged@10") for arg in ("-m", name)
    ]
    (place / "slices.tsv").write_text("q1\tShareholder return\nq2\tFootnotes\n")
    result = cli(
        *("compare", *runs, "--qrels", "qrels.txt", *measures, "--margin", "0.01", "--agreement"),
        *("--slices", "category=slices.tsv", "--without-unjudged", "--replicates", "200"),
        *("--test", "bootstrap", "--test", "permutation", "--test", "t"),
    )
    assert result.code == 0
    assert max(len(line) for line in result.out.splitlines()) <= 80
    assert long[:78] in result.out.replace("\n", "")


def test_report_files(cli: Cli, place: Path) -> None:
    for suffix, start in (
        (".md", "**Means"),
        (".html", "<!doctype html>"),
        (".tex", "% needs"),
        (".json", "{\n"),
    ):
        result = cli("compare", "a.run", "b.run", "--qrels", "qrels.txt", "--report", f"report{suffix}")
        assert result.code == 0
        assert (place / f"report{suffix}").read_text().startswith(start)
    result = cli("compare", "a.run", "--qrels", "qrels.txt", "--report", "report.pdf", "-o", "out.txt")
    assert result.code == 2
    assert "must end in one of .md" in result.err
    assert not (place / "out.txt").exists()


def test_planned(cli: Cli, place: Path) -> None:
    (place / "plan.txt").write_text("# declared on day one\na>b\na > c\n")
    args = ("a.run", "b.run", "c.run", "d.run", "--qrels", "qrels.txt", "-m", "P@10")
    rows = compared(cli, *args, "--planned", "plan.txt")["comparisons"]
    found = [(r["label"], r["against"], r["kind"], r["alternative"], r["family_size"]) for r in rows]
    assert found == [
        ("a", "b", "planned", "greater", 2),
        ("a", "c", "planned", "greater", 2),
        ("d", "a", "exploratory", "two-sided", 1),
    ]
    assert compared(cli, *args, "--planned", "a>b", "--planned", "a>c")["comparisons"] == rows
    result = cli("compare", *args, "--planned", "a>z")
    assert result.code == 2
    assert "'a>z' does not name two runs; write A>B with A and B among a, b, c, d" in result.err


def test_baselines_by_label_or_file(cli: Cli, place: Path) -> None:
    args = ("a.run", "b.run", "c.run", "--qrels", "qrels.txt", "-m", "P@10")
    by_label = compared(cli, *args, "--baseline", "b", "--baseline", "c")["comparisons"]
    assert [(row["label"], row["against"]) for row in by_label] == [("a", "b"), ("c", "b"), ("a", "c")]
    assert compared(cli, *args, "--baseline", "b.run", "--baseline", "c.run")["comparisons"] == by_label
    every = compared(cli, *args, "--pair", "all")["comparisons"]
    assert [(row["label"], row["against"]) for row in every] == [("b", "a"), ("c", "a"), ("c", "b")]


def test_runs_of_one_name(cli: Cli, place: Path) -> None:
    for folder, name in (("x", "a"), ("y", "b")):
        (place / folder).mkdir()
        (place / folder / "same.run").write_text(run_text(FOUND[name], name))
    report = compared(cli, "x/same.run", "y/same.run", "--qrels", "qrels.txt", "-m", "P@10")
    assert [row["label"] for row in report["rows"]] == ["x/same", "y/same"]


def test_empty_run_and_identical_runs(cli: Cli, place: Path) -> None:
    (place / "empty.run").write_text("")
    (place / "copy.run").write_text((place / "a.run").read_text())
    report = compared(cli, "a.run", "empty.run", "copy.run", "--qrels", "qrels.txt", "-m", "P@10")
    empty, copy = report["comparisons"]
    assert [row["mean"] for row in report["rows"]] == pytest.approx([0.5, 0, 0.5])
    assert empty["difference"] == pytest.approx(-0.5)
    assert (copy["difference"], copy["low"], copy["high"], copy["ties"]) == (0, 0, 0, 6)
    assert (copy["verdict"], copy["effect"], copy["p"]["bootstrap"]) == ("undecided", None, 1)
    notes = "\n".join(report["notes"])
    assert "empty: 6 judged queries are missing" in notes
    assert "the same value on every query: copy and a (P@10)" in notes


def test_one_query(cli: Cli, tmp_path: Path) -> None:
    for name, docs in (("a", "d1 d2"), ("b", "d2 d1")):
        lines = [f"q Q0 {docno} 1 {2 - at} t\n" for at, docno in enumerate(docs.split())]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    (tmp_path / "q").write_text("q 0 d1 1\n")
    args = (tmp_path / "a.run", tmp_path / "b.run", "--qrels", tmp_path / "q", "-m", "RR", "--margin", "0.1")
    (row,) = compared(cli, *args)["comparisons"]
    assert (row["difference"], row["low"], row["p"]["bootstrap"], row["verdict"]) == (
        -0.5,
        None,
        None,
        "undecided",
    )
    shown = cli("compare", *args).out
    assert "one unit only: no interval" in shown
    assert "–" in shown


def test_per_query(cli: Cli, place: Path) -> None:
    result = cli("compare", "a.run", "--qrels", "qrels.txt", "-m", "P@10", "--per-query")
    assert result.out.splitlines()[:2] == ["P@10\tq1\t0.5000", "P@10\tq2\t0.4000"]
    assert result.out.splitlines()[-1] == "P@10\tall\t0.5000"
    two = cli("compare", "a.run", "b.run", "--qrels", "qrels.txt", "-m", "P@10", "--per-query")
    assert two.out.splitlines()[0] == "a\tP@10\tq1\t0.5000"


def test_per_query_values_are_compared_as_runs(cli: Cli, place: Path) -> None:
    lines = cli(
        "compare", "b.run", "--qrels", "qrels.txt", "-m", "P@10", "--per-query", "-o", "routed.values"
    )
    assert lines.code == 0
    args = ("--qrels", "qrels.txt", "-m", "P@10")
    routed = compared(cli, "a.run", "--values", "routed.values", *args)["comparisons"][0]
    direct = compared(cli, "a.run", "b.run", *args)["comparisons"][0]
    assert routed == direct | {"label": "routed"}
    result = cli("compare", "a.run", "--values", "routed.values", "--qrels", "qrels.txt", "-m", "RR")
    assert result.code == 1
    assert "routed.values: no values of RR here, only of P@10" in result.err
    result = cli("compare", "a.run", "--values", "routed.values", *args, "--agreement")
    assert result.code == 2


def test_slices(cli: Cli, place: Path) -> None:
    (place / "cat.tsv").write_text("q1\tRisk\nq2\tRisk\nq3\tLegal\nq4\tLegal\nq5\tLegal\n")
    (place / "docs.tsv").write_text("r01\thead\nr02\thead\nn07\thead\nr03\ttail\n")
    args = ("a.run", "d.run", "--qrels", "qrels.txt", "-m", "P@10", "--replicates", "200")
    rows = compared(cli, *args, "--slices", "category=cat.tsv", "--doc-slices", "docs.tsv")["slices"]
    means = {(r["slicing"], r["slice"], r["label"]): (r["n"], r["mean"]) for r in rows if "mean" in r}
    assert means["category", "Risk", "a"] == (2, pytest.approx(0.45))
    assert means["category", "Legal", "a"] == (3, pytest.approx(16 / 30))
    assert means["category", "(none)", "a"] == (1, pytest.approx(0.5))
    assert means["category", "macro", "a"] == (None, pytest.approx((0.45 + 16 / 30 + 0.5) / 3))
    assert means["category", "micro", "a"] == (6, pytest.approx(0.5))
    assert means["documents", "head", "a"] == (6, pytest.approx(0.2))
    assert means["documents", "tail", "d"] == (6, pytest.approx(1 / 60))
    result = cli("compare", *args, "--slices", "category=", "--format", "json")
    assert result.code == 2
    assert "write NAME=FILE" in result.err


def test_sensitivity(cli: Cli, place: Path) -> None:
    (place / "excluded.txt").write_text("u1\nu2\n")
    (place / "subset.txt").write_text("q1\nq2\n")
    (place / "cat.tsv").write_text("q1\tRisk\nu1\tRisk\nu2\tLegal\n")
    topics = "".join(f"{qid}\tnet sales of {qid}\n" for qid in [*QUERIES, "u1", "u2"])
    (place / "topics.tsv").write_text(topics)
    report = compared(
        *(cli, "b.run", "a.run", "--qrels", "qrels.txt", "-m", "P@10", "--replicates", "300"),
        *("--excluded", "excluded.txt", "--subset", "subset.txt", "--without-unjudged"),
        *("--slices", "category=cat.tsv", "--topics", "topics.tsv"),
    )
    rows = {row["assumption"]: row for row in report["sensitivity"]}
    assert [rows[name]["n"] for name in rows] == [6, 2, 8, 8, 6]
    assert rows["as above"]["difference"] == pytest.approx(7 / 60)
    assert rows["subset only"]["difference"] == pytest.approx(0.15)
    assert rows["excluded = 0"]["difference"] == pytest.approx(0.7 / 8)
    assert rows["excluded = subset's mean"]["difference"] == pytest.approx((0.7 + 2 * 0.15) / 8)
    assert "judged docs only" in rows
    shares = {row["value"]: row for row in report["excluded"] if row["kind"] == "category"}
    assert (shares["Risk"]["resolved"], shares["Risk"]["unresolved"]) == (1, 1)
    assert {row["feature"] for row in report["excluded"] if row["kind"] == "feature"} >= {"word_length"}


def test_excluded_queries_that_are_evaluated_are_told(cli: Cli, place: Path) -> None:
    qid = (place / "qrels.txt").read_text().split()[0]
    (place / "excluded.txt").write_text(f"{qid}\nu1\nu1\n")
    args = ("b.run", "a.run", "--qrels", "qrels.txt", "-m", "P@10", "--excluded", "excluded.txt")
    result = cli("compare", *args)
    assert "1 of 2 excluded queries are evaluated; those count as they are" in result.err


def test_excluded_queries_without_a_group_are_one_group(cli: Cli, place: Path) -> None:
    (place / "excluded.txt").write_text("u1\nu2\n")
    args = ("b.run", "a.run", "--qrels", "qrels.txt", "-m", "P@10", "--excluded", "excluded.txt")
    result = cli("compare", *args, "--groups", "groups.tsv", "--format", "json")
    assert result.code == 0
    assert "2 excluded queries have no group; together they are one group" in result.err
    rows = {row["assumption"]: row for row in json.loads(result.out)["sensitivity"]}
    assert rows["excluded = 0"]["n"] == 8


def test_many_assumed_values_decide_nothing(cli: Cli, place: Path) -> None:
    """The same mean put in for 40 queries is one assumption, not 40 observations of a difference."""
    (place / "excluded.txt").write_text("".join(f"u{number}\n" for number in range(40)))
    args = ("b.run", "a.run", "--qrels", "qrels.txt", "-m", "P@10", "--excluded", "excluded.txt")
    result = cli("compare", *args, "--groups", "groups.tsv", "--format", "json")
    rows = {row["assumption"]: row for row in json.loads(result.out)["sensitivity"]}
    assert rows["excluded = evaluated mean"]["n"] == 46
    assert {row["verdict"] for row in rows.values()} == {"undecided"}


def test_agreement(cli: Cli, place: Path) -> None:
    report = compared(cli, "a.run", "b.run", "--qrels", "qrels.txt", "--agreement", "--depth", "10")
    (row,) = report["agreement"]
    # a and b share 10 - |difference of found| documents of each query
    assert row["overlap"] == pytest.approx(sum(10 - d for d in (1, 2, 3, 0, 1, 2)) / 60)
    assert row["right_only"] == pytest.approx(1 / 31)


def test_references_and_plain_qrels(cli: Cli, place: Path) -> None:
    report = compared(cli, "a.run", "--qrels", "qrels.txt", "-m", "RefHit@10")
    assert "the qrels name no references: RefHit@k is Success@k here" in report["notes"]
    (place / "ref.txt").write_text("q1 A r01 1\nq1 B r09 1\n")
    report = compared(cli, "a.run", "--qrels", "ref.txt")
    assert [(row["measure"], row["mean"]) for row in report["rows"]] == [("RefHit@10", 0.5), ("R@10", 0.5)]


def test_ties_in_32_bits_are_told(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q Q0 d1 1 1.00000000001 t\nq Q0 d2 2 1.0 t\n")
    (tmp_path / "q").write_text("q 0 d1 1\n")
    report = compared(cli, tmp_path / "a.run", "--qrels", tmp_path / "q")
    told = "a: pairs of neighbours that tie in 32 bits only: 1; trec_eval 9 (float)"
    assert any(told in line for line in report["notes"])
    assert told in cli("compare", tmp_path / "a.run", "--qrels", tmp_path / "q", "--per-query").err


def test_runs_that_are_not_compared_are_told_from_undecided_ones(cli: Cli, place: Path) -> None:
    args = ("compare", "a.run", "b.run", "c.run", "--qrels", "qrels.txt", "-m", "P@10")
    assert "no mark" not in cli(*args).out
    assert "no mark: undecided or not compared" in " ".join(cli(*args, "--pair", "a,b").out.split())


def test_lines_of_a_query_apart(cli: Cli, place: Path) -> None:
    lines = (place / "a.run").read_text().splitlines(keepends=True)
    (place / "scattered.run").write_text("".join(lines[::2] + lines[1::2]))
    report = compared(cli, "a.run", "scattered.run", "--qrels", "qrels.txt", "-m", "AP")
    assert report["rows"][0]["mean"] == report["rows"][1]["mean"]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("--qrels", "qrels.txt"), 2, "give at least one run"),
        (("a.run", "a.run", "--qrels", "qrels.txt"), 2, "a.run is given twice"),
        (("a.run", "--qrels", "none.txt"), 1, "none.txt: no such file"),
        (("a.run", "--qrels", "qrels.txt", "-m", "P"), 2, "needs a cutoff"),
        (("a.run", "--qrels", "qrels.txt", "--format", "xml"), 2, "unknown format 'xml'"),
        (("a.run", "b.run", "--qrels", "qrels.txt", "--test", "z"), 2, "unknown test 'z'"),
        (("a.run", "b.run", "--qrels", "qrels.txt", "--correction", "z"), 2, "unknown correction 'z'"),
        (("a.run", "b.run", "--qrels", "qrels.txt", "--baseline", "z"), 2, "no run is called 'z'"),
        (("a.run", "--qrels", "qrels.txt", "--queries", "z"), 2, "unknown --queries 'z'"),
        (("a.run", "--qrels", "a.run"), 1, "is this a run?"),
        (("-", "b.run", "--qrels", "qrels.txt", "--slices", "category=-"), 2, "'-' (stdin) is given twice"),
        (
            ("a.run", "--qrels", "qrels.txt", "--slices", "x=strangers.tsv"),
            1,
            "--slices x: its file has no evaluated",
        ),
        (("-", "--qrels", "-"), 2, "'-' (stdin) is given twice"),
    ],
)
def test_what_is_wrong(cli: Cli, place: Path, args: tuple[str, ...], code: int, message: str) -> None:
    (place / "strangers.tsv").write_text("stranger\ta\n")
    result = cli("compare", *args, "-o", "out.txt", stdin=(place / "a.run").read_bytes())
    assert result.code == code
    assert message in result.err
    assert not (place / "out.txt").exists()


def test_from_stdin(cli: Cli, place: Path) -> None:
    text = (place / "a.run").read_bytes()
    result = cli("compare", "-", "--qrels", "qrels.txt", "-m", "P@10", "--format", "tsv", stdin=text)
    assert "stdin\t0.5\t" in result.out


def test_the_winner_has_no_other_systems_near_where_all_are_alike(cli: Cli, place: Path) -> None:
    for name in ("a2", "a3"):
        (place / f"{name}.run").write_text((place / "a.run").read_text())
    args = ("--qrels", "qrels.txt", "-m", "RR", "-m", "P@10", "--ranking")
    for others in ([], ["a2.run"], ["a2.run", "a3.run"]):
        out = " ".join(cli("compare", "a.run", *others, *args).out.split())
        assert "0 other systems are within" in out
