"""``hybridcli rerank`` on a small planted collection with vectors made by hand: no model, no network."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hybridcli.formats.runs import read_run
from hybridcli.search.dense import BuildOptions, build_from_vectors
from tests.support import Result, shared

Cli = Callable[..., Result]
QUERIES, DOCS = 24, 60
BASE = ("dense.run", "--index", "dense.index", "--topics", "topics.tsv", "--qrels", "qrels.txt")
GIVEN = ("--embeddings", "topics.npy", "--ids", "qids.txt")
QUICK = ("-k", "6", "--models", "3", "--overlap", "0.3", "--folds", "3", "-C", "10", "--replicates", "200")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> Path:
    """24 topics in 8 groups and 60 passages; each topic's relevant passage is near it but seldom the nearest."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    passages = rng.normal(size=(DOCS, 6)).astype(np.float32)
    topics = (passages[:QUERIES] + 0.9 * rng.normal(size=(QUERIES, 6))).astype(np.float32)
    build_from_vectors("dense.index", [f"d{d:02d}" for d in range(DOCS)], passages, None, BuildOptions())
    np.save("topics.npy", topics)
    qids = [f"q{q:02d}" for q in range(QUERIES)]
    Path("qids.txt").write_text("".join(f"{qid}\n" for qid in qids))
    Path("topics.tsv").write_text("".join(f"{qid}\tquestion {qid}\n" for qid in qids))
    Path("qrels.txt").write_text("".join(f"{qid} 0 d{q:02d} 1\n" for q, qid in enumerate(qids)))
    Path("groups.tsv").write_text("".join(f"{qid}\tg{q % 8}\n" for q, qid in enumerate(qids)))
    assert cli("retrieve", "dense.index", "topics.tsv", "-o", "dense.run", "--depth", 20, *GIVEN).code == 0
    return tmp_path


def rerank(cli: Cli, *more: object, base: tuple[str, ...] = (*BASE, *GIVEN, *QUICK)) -> Result:
    result = cli("rerank", *base, *more)
    assert result.code == 0, result.err
    return result


def test_everything_stands_in_one_report(cli: Cli, place: Path) -> None:
    found = json.loads(
        rerank(cli, "--groups", "groups.tsv", "--format", "json", "-o", "svr.run", "--repeats", 2).out
    )
    assert (found["schema"], found["n"], found["run"], found["label"]) == (
        "hybridcli/rerank/1",
        24,
        "dense",
        "svr",
    )
    assert found["settings"]["models"] == 3
    assert found["protocol"].startswith("3 folds of groups, 2 repeats, seed 0")
    mean = {(row["label"], row["measure"]): row["mean"] for row in found["rows"]}
    old, new = read_run("dense.run").to_dict(), read_run("svr.run").to_dict()
    within = [f"d{qid[1:]}" in list(ranking)[:6] for qid, ranking in old.items()]
    assert found["found"] == {"queries": sum(within), "share": pytest.approx(np.mean(within))}
    for measure in ("R@1", "RR@10", "nDCG@20"):
        assert mean["svr", measure] <= mean["candidate oracle", measure]
    assert mean["candidate oracle", "R@1"] == pytest.approx(np.mean(within))
    assert mean["svr", "R@10"] == mean["dense", "R@10"]  # the first 6 are only put in another order
    for qid, ranking in old.items():
        assert sorted(list(new[qid])[:6]) == sorted(list(ranking)[:6])
        assert list(new[qid])[6:] == list(ranking)[6:]


def test_the_table_says_what_compare_says_of_the_written_run(cli: Cli, place: Path) -> None:
    found = json.loads(rerank(cli, "-o", "svr.run", "--format", "json").out)
    other = cli(
        *("compare", "dense.run", "svr.run", "--qrels", "qrels.txt", "-m", "RR@10", "--format", "json"),
        *("--replicates", "200"),
    )
    ours = {r["label"]: (r["mean"], r["low"], r["high"]) for r in found["rows"] if r["measure"] == "RR@10"}
    theirs = {r["label"]: (r["mean"], r["low"], r["high"]) for r in json.loads(other.out)["rows"]}
    for label in ("dense", "svr"):
        assert ours[label] == pytest.approx(theirs[label])


def test_sweeps_stay_within_the_bound_and_keep_finished_cells(cli: Cli, place: Path) -> None:
    sweeps = ("--sweep", "k=1,3,6", "--sweep", "models=1,3 overlap=0,0.3", "--work", "cells")
    first = rerank(cli, *sweeps, "--format", "json").out
    rows = json.loads(first)["sensitivity"]
    assert {
        (row["settings"]["k"], row["settings"]["models"], row["settings"]["overlap"]) for row in rows
    } == {
        *((k, 3, 0.3) for k in (1, 3, 6)),
        *((6, models, overlap) for models in (1, 3) for overlap in (0.0, 0.3)),
    }
    assert len(rows) == 6 * 7  # six settings, those of several sweeps once, on seven measures
    assert all(row["mean"] <= row["bound"] + 1e-12 for row in rows)
    assert all(row["mean"] <= row["found"] + 1e-12 for row in rows if row["measure"] == "R@1")
    size = Path("cells").stat().st_size
    assert rerank(cli, *sweeps, "--format", "json").out == first
    assert Path("cells").stat().st_size == size
    table = rerank(cli, *sweeps).out
    assert "Sensitivity, nDCG@20" in table
    labels = [line.split("  ")[0] for line in table.split("Sensitivity, RR@10")[1].splitlines()[3:9]]
    assert labels == ["k=1", "k=3", "main setting", "models=1 overlap=0", "models=1", "overlap=0"]
    assert "vote rule: the models' predictions are added up" in table
    assert max(map(len, table.splitlines())) <= 80
    wrong = cli("rerank", *BASE, *GIVEN, *QUICK, *sweeps, "--seed", 1)
    assert wrong.code == 1
    assert "cells: holds cells of other inputs or options" in wrong.err


@pytest.mark.parametrize("model", ["svr", "logistic"])
def test_the_same_seed_the_same_bytes(cli: Cli, place: Path, model: str) -> None:
    written = []
    for jobs in (1, 2):
        out = rerank(cli, "--model", model, "--jobs", jobs, "-o", f"{jobs}.run").out
        written.append((out, Path(f"{jobs}.run").read_bytes()))
    assert written[0] == written[1]


def test_other_runs_stand_beside_it(cli: Cli, place: Path) -> None:
    Path("bm25.run").write_text("q00 Q0 d00 1 1 b\nq01 Q0 d59 1 1 b\n")
    found = json.loads(rerank(cli, "--against", "bm25.run", "--format", "json").out)
    mean = {(row["label"], row["measure"]): row["mean"] for row in found["rows"]}
    assert mean["bm25", "R@1"] == pytest.approx(1 / 24)
    assert {row["against"] for row in found["comparisons"]} == {"dense", "bm25"}


def test_given_training_topics(cli: Cli, place: Path) -> None:
    lines = Path("topics.tsv").read_text().splitlines(keepends=True)
    Path("train.tsv").write_text("".join(lines[:16]))
    Path("test.tsv").write_text("".join(lines[16:]))
    judged = Path("qrels.txt").read_text().splitlines(keepends=True)
    Path("test.qrels").write_text("".join(judged[16:]))
    run = Path("dense.run").read_text().splitlines(keepends=True)
    Path("test.run").write_text("".join(line for line in run if line[:3] >= "q16"))
    base = (
        "test.run",
        "--index",
        "dense.index",
        "--topics",
        "test.tsv",
        "--qrels",
        "test.qrels",
        *GIVEN,
        *QUICK,
    )
    how = ("--train-topics", "train.tsv", "--train-qrels", "qrels.txt")
    nearest = rerank(cli, *how, "--format", "json", base=base).out
    assert json.loads(nearest)["protocol"].startswith("trained on ")
    # the index's nearest passages are what retrieve has written
    assert rerank(cli, *how, "--train-run", "dense.run", "--format", "json", base=base).out == nearest
    leaking = cli("rerank", *base, "--train-topics", "topics.tsv", "--train-qrels", "qrels.txt")
    assert leaking.code == 1
    assert "8 training topics are test topics too (q16 reads as q16 does)" in leaking.err


def test_topics_of_one_text_stay_in_one_fold(cli: Cli, place: Path) -> None:
    """Two thirds of the topics read alike: they are one group, so three folds cannot be even, and do not leak."""
    lines = [f"q{q:02d}\t{'the same' if q < 16 else q}\n" for q in range(QUERIES)]
    Path("topics.tsv").write_text("".join(lines))
    result = cli("rerank", *BASE, *GIVEN, *QUICK, "--folds", 10)
    assert result.code == 2
    assert "--folds 10: there are only 9 groups" in result.err


def test_queries_that_are_not_judged_keep_their_order(cli: Cli, place: Path) -> None:
    judged = Path("qrels.txt").read_text().splitlines(keepends=True)
    Path("qrels.txt").write_text("".join(judged[:-2]) + "q99 0 d00 1\n")
    result = rerank(cli, "-o", "svr.run")
    assert "note: 2 queries of the run are not judged and keep their order" in result.err
    assert "1 judged queries are not in the run and count 0" in result.out
    assert "n = 23 queries" in result.out
    old, new = read_run("dense.run").to_dict(), read_run("svr.run").to_dict()
    assert all(list(old[qid]) == list(new[qid]) for qid in ("q22", "q23"))


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (("--model", "gpt"), 2, "unknown --model 'gpt'"),
        (
            ("--sweep", "depth=3"),
            2,
            "--sweep 'depth=3': write NAME=VALUE,VALUE…, NAME one of k, models, overlap",
        ),
        (("--sweep", "k=a"), 2, "--sweep 'k=a': 'a' are not numbers for k"),
        (
            ("--sweep", "k=3", "--model", "logistic", "--sweep", "models=3"),
            2,
            "NAME one of k, negatives, cost",
        ),
        (
            ("-m", "RefHit@10"),
            2,
            "-m RefHit@10: what the best order of candidates reaches is known for measures of",
        ),
        (("--train-topics", "topics.tsv"), 2, "--train-topics and --train-qrels belong together"),
        (("--model", "cross-encoder"), 2, "--model cross-encoder needs --documents"),
        (
            ("--model", "cross-encoder", "--work", "cells"),
            2,
            "--work keeps finished folds, and there are none",
        ),
        (("--tag", "a b"), 2, "--tag 'a b' must be one word"),
        (("--topics", "short.tsv"), 1, "short.tsv: has no topic for 23 of 24 queries, the first is q01"),
        (("--qrels", "other.txt"), 1, "dense.run: no query of it is judged in other.txt"),
        (("--index", "none"), 1, "none: no such index"),
    ],
)
def test_what_cannot_be(cli: Cli, place: Path, more: tuple[str, ...], code: int, message: str) -> None:
    Path("short.tsv").write_text("q00\tone\n")
    Path("other.txt").write_text("x 0 d00 1\n")
    result = cli("rerank", *BASE, *GIVEN, *QUICK, *more, "-o", "new.run")
    assert (result.code, message in result.err) == (code, True), result.err
    assert not Path("new.run").exists()


def test_a_passage_that_the_index_lacks(cli: Cli, place: Path) -> None:
    with open("dense.run", "a") as stream:
        stream.write("q23 Q0 zz 21 -5 d\n")
    result = cli("rerank", *BASE, *GIVEN, *QUICK)
    assert result.code == 1
    assert "dense.index: has no vector for 1 of " in result.err


@pytest.mark.slow
def test_a_real_cross_encoder(cli: Cli, place: Path) -> None:
    """A tiny model with random weights: its own scores, in its order, on the texts of the documents."""
    from sentence_transformers import CrossEncoder
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "question", *(f"w{n}" for n in range(DOCS))]
    words = Tokenizer(models.WordLevel({word: at for at, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    words.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=16, **special).save_pretrained("tiny")
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = BertConfig(vocab_size=len(vocabulary), num_labels=1, initializer_range=1.0, **shape)
    BertForSequenceClassification(config).save_pretrained("tiny")
    rows = "".join(json.dumps({"id": f"d{d:02d}", "text": f"w{d} w{d // 2}"}) + "\n" for d in range(DOCS))
    Path("docs.jsonl").write_text(rows)
    base = ("dense.run", "--topics", "topics.tsv", "--qrels", "qrels.txt", "-k", "6")
    how = ("--model", "cross-encoder", "--documents", "docs.jsonl", "--encoder", "tiny", "-o", "cross.run")
    table = rerank(cli, *how, base=base).out
    assert "nothing is trained" in table
    old, new = read_run("dense.run").to_dict(), read_run("cross.run").to_dict()
    model = CrossEncoder("tiny", device="cpu")
    for qid in ("q03", "q17"):
        pairs = [
            (f"question {qid}", f"w{int(docno[1:])} w{int(docno[1:]) // 2}") for docno in list(old[qid])[:6]
        ]
        expected = dict(
            zip(list(old[qid])[:6], model.predict(pairs), strict=True)
        )  # after a sigmoid: same order
        assert list(new[qid])[:6] == sorted(expected, key=lambda docno: -expected[docno])
    Path("docs.jsonl").write_text(rows.splitlines()[0] + "\n")
    assert "--documents has no text for" in cli("rerank", *base, *how).err
    missing = cli("rerank", *base, *how, "--encoder", "./nowhere")
    assert (missing.code, "./nowhere: no such model folder" in missing.err) == (1, True)


@pytest.mark.slow
def test_legalquad_with_a_static_model(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Study D's stand-in end to end, with an encoder that is quick: no cell above the bound."""
    data = shared("data", "legalquad-german")
    monkeypatch.chdir(tmp_path)
    topics, qrels = data / "topics.tsv.gz", data / "qrels.txt.gz"
    assert cli("index-dense", data / "docs.jsonl.gz", "-o", "dense.index", "--model", "wordllama").code == 0
    assert cli("retrieve", "dense.index", topics, "-o", "dense.run", "--depth", 100).code == 0
    base = ("dense.run", "--index", "dense.index", "--topics", topics, "--qrels", qrels)
    found = json.loads(
        rerank(cli, "--models", 10, "--sweep", "k=10,50", "--format", "json", base=base).out  # type: ignore[arg-type]
    )
    assert found["n"] == 200
    assert len(found["sensitivity"]) == 14
    assert all(row["mean"] <= row["bound"] + 1e-12 for row in found["sensitivity"])
