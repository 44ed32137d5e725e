"""`hybridcli route` and `hybridcli weigh`: what they write, how they go on, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hybridcli.commands import route as route_module
from hybridcli.formats.features import write_features
from hybridcli.formats.per_query import read_per_query
from hybridcli.formats.runs import read_run, write_run
from hybridcli.formats.weights import read_weights
from tests.adaptive.simulated import simulate
from tests.support import Result, shared

Cli = Callable[..., Result]
SIZE = 120
FAST = (
    "--folds",
    "3",
    "--repeats",
    "2",
    "--grid",
    "0.1",
    "--trees",
    "5",
    "-m",
    "RR@10",
    "-m",
    "R@3",
    "--jobs",
    "1",
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs of which a feature tells the right one, with texts, groups, categories, features and vectors."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, SIZE).astype(np.int32)
    runs, qrels = simulate(rng, kind, strength=4)
    for run in runs:
        write_run(run, f"{run.tag}.run")
    queries, docs = qrels.queries, qrels.docnos.to_list()
    files = {
        "qrels": [f"{qid} 0 {docs[doc]} 1" for qid, doc in zip(queries, qrels.docs.tolist(), strict=True)],
        "topics": [
            f"{qid}\t{'growth of EPS' if k else 'a list of sites'}"
            for qid, k in zip(queries, kind, strict=True)
        ],
        "groups": [f"{qid}\tg{number // 6}" for number, qid in enumerate(queries)],
        "categories": [f"{qid}\tkind {k}" for qid, k in zip(queries, kind, strict=True)],
    }
    for name, lines in files.items():
        Path(name).write_text("\n".join(lines) + "\n")
    vectors = np.column_stack([kind, rng.normal(size=SIZE)])
    write_features("features", ["kind", "noise"], queries, vectors)
    np.save("vectors.npy", vectors.astype(np.float32))
    return tmp_path


def route(cli: Cli, *args: object) -> Result:
    return cli("route", "left.run", "right.run", "--qrels", "qrels", *FAST, *args)


def test_every_router_in_one_call(cli: Cli, place: Path) -> None:
    given = (
        "--topics",
        "topics",
        "--categories",
        "categories",
        "--embeddings",
        "vectors.npy",
        "--groups",
        "groups",
    )
    result = route(
        cli, *given, "--router", "all", "--out-dir", "out/deep", "--format", "json", "--repeat-runs"
    )
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert document == json.loads((place / "out/deep/report.json").read_text())
    reached = {row["router"]: row["value"] for row in document["rows"] if row["measure"] == "RR@10"}
    assert list(reached) == ["equal", "tuned", "heuristic", "category", "ridge", "forest", "bins", "reach"]
    for name in ("category", "ridge", "forest", "bins", "reach"):
        assert reached[name] > reached["equal"] + 0.1, name
    assert document["landmarks"][0][0] == reached["equal"]
    assert sum(count for _, count in document["choices"]["tuned"]["counts"]) == 6
    for name, value in reached.items():
        values = read_per_query(f"out/deep/{name}.values")
        assert list(values) == ["RR@10", "R@3"]
        assert np.mean(list(values["RR@10"].values())) == pytest.approx(value, abs=1e-12)
        weights = read_weights(f"out/deep/{name}.weights")
        assert weights.tags == ["left", "right"]
        assert len(weights.weights) == SIZE
        run = read_run(f"out/deep/{name}.run")
        assert (run.tag, len(run.queries)) == (name, SIZE)
        assert [(place / f"out/deep/{name}.{repeat}.run").exists() for repeat in ("01", "02", "03")] == [
            *(True, True, False)
        ]
        fused = cli(
            "fuse",
            "left.run",
            "right.run",
            "--method",
            "weighted",
            "--weights",
            f"out/deep/{name}.weights",
            "--tag",
            name,
        )
        assert fused.out == (place / f"out/deep/{name}.run").read_text()


def test_the_decision_rule_is_one_call_of_compare(cli: Cli, place: Path) -> None:
    route(
        cli,
        "--topics",
        "topics",
        "--groups",
        "groups",
        "--router",
        "equal",
        "--router",
        "forest",
        "--router",
        "tuned",
        "--out-dir",
        "out",
    )
    result = cli(
        "compare",
        "--values",
        "out/equal.values",
        "--values",
        "out/forest.values",
        "--values",
        "out/tuned.values",
        "--qrels",
        "qrels",
        "-m",
        "RR@10",
        "--groups",
        "groups",
        "--planned",
        "forest>equal",
        "--planned",
        "tuned>equal",
        "--test",
        "bootstrap",
        "--correction",
        "bonferroni",
        "--format",
        "json",
    )
    assert result.code == 0, result.err
    document = json.loads(result.out)
    found = [row for part in document.values() if isinstance(part, list) for row in part]
    verdicts = {row["label"]: row["verdict"] for row in found if isinstance(row, dict) and "verdict" in row}
    assert verdicts["forest"] == "better"
    assert verdicts["tuned"] != "better"


def test_a_repeat_run_has_the_values_of_its_repeat(cli: Cli, place: Path) -> None:
    result = route(cli, "--router", "tuned", "--out-dir", "out", "--repeat-runs", "--format", "json")
    assert result.code == 0, result.err
    means = []
    for repeat in ("01", "02"):
        (place / "v").write_text(
            cli("compare", f"out/tuned.{repeat}.run", "--qrels", "qrels", "-m", "RR@10", "--per-query").out
        )
        means.append(np.mean(list(read_per_query("v")["RR@10"].values())))
    row = json.loads(result.out)["rows"][0]
    assert row["value"] == pytest.approx(np.mean(means), abs=1e-12)
    assert row["deviation"] == pytest.approx(np.std(means, ddof=1), abs=1e-12)


def test_interrupted_work_goes_on_to_the_same_bytes(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = ("--features", "features", "--router", "forest", "--work", "work")
    assert route(cli, *args[:4], "-o", "whole.run").code == 0
    steps = route_module.cross_fit

    def stopping(*given: object) -> object:
        for number, step in enumerate(steps(*given), start=1):  # type: ignore[arg-type]
            yield step
            if number == 2:
                raise KeyboardInterrupt

    monkeypatch.setattr(route_module, "cross_fit", stopping)
    result = route(cli, *args)
    assert result.code == 130
    assert "interrupted after 2 fits; the same command goes on from there" in result.err
    assert result.out == ""
    with (place / "work").open("ab") as stream:
        stream.write(b'["forest/1/1", {"choi')  # killed while writing
    monkeypatch.undo()
    monkeypatch.chdir(place)
    lines = (place / "work").read_bytes().count(b"\n")
    assert lines == 3
    assert route(cli, *args, "-o", "resumed.run").code == 0
    assert (place / "whole.run").read_bytes() == (place / "resumed.run").read_bytes()
    other = route(cli, *args, "--seed", "1")
    assert other.code == 1
    assert "work: holds cells of other inputs or options; remove it or name another file" in other.err


@pytest.mark.parametrize(
    "router", ["equal", "tuned", "heuristic", "category", "ridge", "forest", "bins", "reach"]
)
def test_a_saved_router_weighs_new_queries(cli: Cli, place: Path, router: str) -> None:
    inputs = (
        "--topics",
        "topics",
        "--features",
        "features",
        "--categories",
        "categories",
        "--embeddings",
        "vectors.npy",
    )
    saved = route(cli, *inputs, "--router", router, "--save", "router.json.gz")
    assert saved.code == 0, saved.err
    result = cli("weigh", "router.json.gz", "left.run", "right.run", *inputs, "-o", "new.tsv")
    assert result.code == 0, result.err
    weights = read_weights("new.tsv")
    assert weights.tags == ["left", "right"]
    assert np.array(list(weights.weights.values())).sum(axis=1) == pytest.approx(np.ones(SIZE))
    if router in ("category", "ridge", "forest", "bins", "reach"):
        kinds = [line.split("\t")[1] for line in Path("categories").read_text().splitlines()]
        left = np.array([row[0] for row in weights.weights.values()])
        assert left[np.array(kinds) == "kind 0"].mean() > 0.6 > 0.4 > left[np.array(kinds) == "kind 1"].mean()
    fused = cli(
        "fuse", "left.run", "right.run", "--method", "weighted", "--weights", "new.tsv", "-o", "new.run"
    )
    assert fused.code == 0, fused.err


def test_weigh_refuses_what_does_not_fit(cli: Cli, place: Path) -> None:
    route(cli, "--topics", "topics", "--router", "forest", "--save", "router.json")
    for args, code, message in [
        (["left.run", "--topics", "topics"], 2, "was trained on 2 runs (left, right), found 1"),
        (["left.run", "right.run"], 2, "router forest reads features; give --topics or --features"),
        (
            ["left.run", "right.run", "--features", "features"],
            1,
            "router.json: was trained on the features char_length, word_length",
        ),
    ]:
        result = cli("weigh", "router.json", *args)
        assert result.code == code
        assert message in result.err
    saved = json.loads((place / "router.json").read_text())
    forest = saved["state"]["forest"]
    for change in (
        {"words": {}},
        {"state": {"forest": {**forest, "roots": []}, "n_runs": 2}},
        {"state": {"forest": {**forest, "left": [0] * len(forest["left"])}, "n_runs": 2}},
        {"state": {"forest": {**forest, "feature": [99] * len(forest["feature"])}, "n_runs": 2}},
        {"state": {"forest": 5, "n_runs": 2}},
        {"state": {"weights": [0.5, 0.25, 0.25]}},
        {"state": {"weights": [-0.5, 1.5]}},
        {"router": "tuned", "state": {"weights": [1e308 * 10, 0]}},
        {"router": "heuristic", "state": {"low": [0], "high": [1, 2, 3]}},
    ):
        # a number that Python reads as infinity without calling it so
        text = json.dumps({**saved, **change}).replace("Infinity", "1e999")
        (place / "edited.json").write_text(text)
        result = cli("weigh", "edited.json", "left.run", "right.run", "--topics", "topics", "-o", "W")
        assert (result.code, result.out) == (1, ""), change
        assert "edited.json: " in result.err
        assert "save the router again" in result.err
        assert not (place / "W").exists()
    (place / "other.json").write_text('{"schema": "x"}')
    result = cli("weigh", "other.json", "left.run", "right.run")
    assert result.code == 1
    assert "other.json: is not a router saved by this hybridcli" in result.err


def test_leave_one_group_out_and_force(cli: Cli, place: Path) -> None:
    (place / "groups").write_text("".join(f"q{n:04d}\tset{n % 3}\n" for n in range(SIZE)))
    args = ("--groups", "groups", "--leave-one-group-out", "--router", "tuned", "--validation", "0")
    document = json.loads(route(cli, *args, "--format", "json").out)
    assert (document["folds"], document["repeats"], document["groups"]) == (3, 1, 3)
    assert document["rows"][0]["macro"] > 0
    forced = json.loads(route(cli, *args, "--force", "left>0", "--force", "right>0", "--format", "json").out)
    for choice, _ in forced["choices"]["tuned"]["counts"]:
        assert "0" not in choice.split(",")
    table = route(cli, *args, "--force", "left>0").out
    assert "each group held out once" in table
    assert "left>0" in table
    assert max(map(len, table.splitlines())) <= 80


def test_words_can_be_replaced(cli: Cli, place: Path) -> None:
    (place / "mine").write_text("sites\n")
    args = ("--topics", "topics", "--router", "forest", "--save")
    assert route(cli, *args, "one.json", "--words", "acronyms=mine").code == 0
    assert json.loads((place / "one.json").read_text())["words"]["acronyms"] == ["sites"]
    refused = route(cli, *args, "two.json", "--words", "verbs=mine")
    assert refused.code == 2
    assert "write LIST=FILE, LIST one of tickers, acronyms" in refused.err


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (
            ["--router", "ridge"],
            2,
            "router ridge reads embeddings; give --index (a dense index) or --embeddings",
        ),
        (["--router", "best"], 2, "no router 'best'; there are: equal, tuned"),
        (["--router", "all", "-o", "x"], 2, "-o and --save write one router"),
        (["--router", "tuned", "--leave-one-group-out"], 2, "--leave-one-group-out needs --groups"),
        (["--router", "tuned", "--folds", "500"], 2, "there are only 120 groups; use fewer folds"),
        (["--router", "tuned", "--ids", "few"], 2, "--ids belongs to --embeddings"),
        (["--router", "ridge", "--embeddings", "vectors.npy"], 2, "--embeddings needs --ids or --topics"),
        (
            ["--router", "forest", "--features", "features", "--validation", "0"],
            2,
            "--validation must be above 0",
        ),
        (
            ["--router", "forest", "--topics", "few"],
            1,
            "few: has no topic for 119 of 120 queries, the first is q0001",
        ),
        (
            ["--router", "category", "--categories", "few"],
            1,
            "few: 119 of 120 judged queries have no category",
        ),
        (["--router", "tuned", "--out-dir", "qrels"], 2, "qrels: is a file; a folder is needed here"),
    ],
)
def test_what_is_refused(cli: Cli, place: Path, args: list[str], code: int, message: str) -> None:
    (place / "few").write_text("q0000\ttext\n")
    result = route(cli, *args)
    assert result.code == code
    assert message in result.err
    assert result.out == ""


def test_tables_of_two_data_sets_are_left_out_in_turn(cli: Cli, place: Path) -> None:
    """The tables of two halves give what the runs of both give; a run that is not weighed on the grid is refused."""
    lines = Path("qrels").read_text().splitlines(keepends=True)
    for name, half in (("one", lines[: SIZE // 2]), ("two", lines[SIZE // 2 :])):
        Path(f"{name}.qrels").write_text("".join(half))
        made = cli(
            "oracle",
            "left.run",
            "right.run",
            "--qrels",
            f"{name}.qrels",
            "--grid",
            "0.1",
            "-m",
            "RR@10",
            "-m",
            "R@3",
            "--table-out",
            f"{name}.npz",
        )
        assert made.code == 0, made.err
    Path("sets").write_text("".join(f"q{n:04d}\t{'one' if n < SIZE // 2 else 'two'}\n" for n in range(SIZE)))
    args = (
        "--groups",
        "sets",
        "--leave-one-group-out",
        "--router",
        "equal",
        "--router",
        "tuned",
        "--validation",
        "0",
        "--out-dir",
        "out",
        "--format",
        "json",
    )
    from_runs = json.loads(route(cli, *args).out)
    tables = ("one.npz", "two.npz", "--tables", "--qrels", "qrels", *FAST)
    result = cli("route", *tables, *args)
    assert result.code == 0, result.err
    from_tables = json.loads(result.out)
    assert from_tables["rows"] == from_runs["rows"]
    assert from_tables["choices"] == from_runs["choices"]
    for refused, message in [
        (
            cli("route", *tables, "--router", "forest", "--features", "features"),
            "predict other weights need run files",
        ),
        (
            cli("route", *tables, "--router", "tuned", "-o", "x.run"),
            "complete rankings are not fused into runs",
        ),
        (cli("route", *tables, "--router", "tuned", "-m", "AP"), "the tables hold RR@10, R@3, not AP"),
        (
            cli("route", *tables, "--router", "tuned", "--grid", "0.01"),
            "are known at the points of the grid only",
        ),
    ]:
        assert refused.code == 2
        assert message in refused.err


@pytest.mark.slow
def test_complete_rankings_equal_full_runs(cli: Cli, place: Path) -> None:
    """BM25 and a static model on a small collection: indexes and full-depth runs say the same."""
    rng = np.random.default_rng(4)
    words = [
        "net",
        "income",
        "rose",
        "fell",
        "cash",
        "flow",
        "assets",
        "list",
        "of",
        "plants",
        "risk",
        "legal",
        "growth",
        "margin",
        "debt",
    ]
    texts = {f"d{n:03d}": " ".join(rng.choice(words, 12)) for n in range(150)}
    Path("docs.tsv").write_text("".join(f"{docno}\t{text}\n" for docno, text in texts.items()))
    asked = {f"t{n}": " ".join(rng.choice(words, 3)) for n in range(30)}
    Path("asked.tsv").write_text("".join(f"{qid}\t{text}\n" for qid, text in asked.items()))
    Path("asked.qrels").write_text("".join(f"{qid} 0 d{rng.integers(150):03d} 1\n" for qid in asked))
    assert cli("index-sparse", "docs.tsv", "-o", "bm25").code == 0
    assert cli("index-dense", "docs.tsv", "-o", "dense", "--model", "wordllama").code == 0
    for name in ("bm25", "dense"):
        assert cli("retrieve", name, "asked.tsv", "--depth", "150", "-o", f"{name}.run").code == 0
    for command in (("oracle",), ("route", "--router", "tuned", "--folds", "3", "--repeats", "1")):
        for method in ("rrf", "weighted"):
            args = (
                "--qrels",
                "asked.qrels",
                "--method",
                method,
                "--grid",
                "0.1",
                "-m",
                "RR",
                "--format",
                "tsv",
            )
            runs = cli(command[0], "bm25.run", "dense.run", *args, *command[1:])
            whole = cli(
                command[0], "bm25", "dense", "--exhaustive", "--topics", "asked.tsv", *args, *command[1:]
            )
            assert whole.code == 0, whole.err
            assert whole.out == runs.out


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_a_vector_of_no_numbers_is_refused(cli: Cli, place: Path, odd: float) -> None:
    vectors = np.load("vectors.npy")
    vectors[1, 0] = odd
    np.save("vectors.npy", vectors)
    result = route(cli, "--topics", "topics", "--embeddings", "vectors.npy", "--router", "ridge")
    assert (result.code, result.out) == (1, "")
    assert "holds NaN, infinity or a number too large for 64 bits" in result.err


@pytest.mark.slow
def test_an_index_encodes_the_topics(cli: Cli, place: Path) -> None:
    (place / "docs.tsv").write_text("d1\tnet income grew\nd2\tlist of properties\n")
    assert cli("index-dense", "docs.tsv", "-o", "dense.index", "--model", "wordllama").code == 0
    result = route(
        cli, "--topics", "topics", "--index", "dense.index", "--router", "ridge", "--format", "json"
    )
    assert result.code == 0, result.err
    row = json.loads(result.out)["rows"][0]
    assert row["headroom"] > 0.3


@pytest.mark.slow
def test_real_runs_on_their_published_folds(cli: Cli, tmp_path: Path) -> None:
    """CODEC: BM25+RM3 with ANCE, the four published folds as groups, domains as categories."""
    import gzip

    folder = shared("data", "codec-runs")
    folds = json.loads(gzip.decompress((folder / "folds.json.gz").read_bytes()))
    of_query = {qid: fold for fold, qids in folds.items() for qid in qids}
    (tmp_path / "groups").write_text("".join(f"{qid}\t{fold}\n" for qid, fold in of_query.items()))
    (tmp_path / "domains").write_text("".join(f"{qid}\t{qid.split('-')[0]}\n" for qid in of_query))
    runs = [folder / "document_bm25+rm3-tuned.run.gz", folder / "document_ance-maxp.run.gz"]
    result = cli(
        *("route", *runs, "--qrels", folder / "document_ndcg.qrels.gz", "--groups", tmp_path / "groups"),
        *("--categories", tmp_path / "domains", "--leave-one-group-out", "--router", "all", "--lenient"),
        *("-m", "nDCG@10", "-m", "AP", "--format", "json"),
    )
    assert result.code == 0, result.err
    document = json.loads(result.out)
    rows = {(row["router"], row["measure"]): row for row in document["rows"]}
    # first scores are made from ranks, so the heuristic cannot tell queries apart
    assert rows["heuristic", "nDCG@10"]["value"] == rows["equal", "nDCG@10"]["value"]
    assert rows["category", "nDCG@10"]["value"] < rows["equal", "nDCG@10"]["value"]
    assert sum(count for _, count in document["choices"]["tuned"]["counts"]) == 4
