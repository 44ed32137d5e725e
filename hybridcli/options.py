"""Options that several subcommands share, so that they are named and explained once."""

from __future__ import annotations

from typing import Annotated

import typer

Output = Annotated[
    str,
    typer.Option("-o", "--output", metavar="FILE", help="Where to write; '-' is stdout, '.gz' compresses."),
]
RunFiles = Annotated[
    list[str], typer.Argument(metavar="RUN...", help="TREC run files; '-' is stdin, gzip is found by itself.")
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of everything random; the same seed, the same bytes.")
]
Lenient = Annotated[
    bool,
    typer.Option(
        "--lenient", help="Keep the best of duplicate documents, drop bad lines, and report how many."
    ),
]
LowerIsBetter = Annotated[
    list[str] | None,
    typer.Option(
        "--lower-is-better", metavar="RUN", help="This run's scores are distances: negate them. Repeatable."
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option("--model", help="sentence-transformers id or folder; minilm and wordllama need no network."),
]
Devices = Annotated[
    str | None,
    typer.Option("--device", metavar="NAME,…", help="cpu, cuda:0 …; several share the work (a GPU if any)."),
]
QrelsFile = Annotated[
    str,
    typer.Option("--qrels", metavar="FILE", help="Judgements: qid 0 docno rel, or qid reference docno rel."),
]
GroupsFile = Annotated[
    str | None,
    typer.Option("--groups", metavar="FILE", help="TSV qid<TAB>group (company): what stays together."),
]
LinearMethod = Annotated[
    str, typer.Option("--method", help="weighted (sum of normalised scores) or rrf (weighted ranks).")
]
Norm = Annotated[
    str | None, typer.Option("--norm", help="Normalisation of scores; min-max unless given. See fuse.")
]
Missing = Annotated[
    str,
    typer.Option("--missing", help="What an absent document scores: zero, or min (the run's minimum)."),
]
Depth = Annotated[
    int | None, typer.Option("--depth", min=1, help="Documents taken from each input list (all).")
]
GridStep = Annotated[
    str, typer.Option("--grid", metavar="STEP", help="Step of the weights, such as 0.05 or 1/20.")
]
Box = Annotated[
    bool, typer.Option("--box", help="Try every combination of weights in [0, 1], not only sums of 1.")
]
Forced = Annotated[
    list[str] | None,
    typer.Option("--force", metavar="'RUN>0'", help="Try only weights that give RUN some. Repeatable."),
]
TopicsFile = Annotated[
    str | None,
    typer.Option("--topics", metavar="FILE", help="Queries' texts: TSV qid<TAB>text, JSONL, TREC."),
]
FeaturesFile = Annotated[
    str | None,
    typer.Option("--features", metavar="FILE", help="More features: TSV, first line #qid<TAB>name<TAB>name…"),
]
WordFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--words",
        metavar="LIST=FILE",
        help="Replace a word list: tickers, acronyms, comparison_words, statement_words. Repeatable.",
    ),
]
CategoriesFile = Annotated[
    str | None, typer.Option("--categories", metavar="FILE", help="TSV qid<TAB>category.")
]
DenseIndex = Annotated[
    str | None,
    typer.Option("--index", metavar="DENSE", help="Encode the topics with this dense index's model."),
]
Embeddings = Annotated[
    str | None, typer.Option("--embeddings", metavar="NPY", help="Queries' vectors, made elsewhere.")
]
EmbeddingIds = Annotated[
    str | None, typer.Option("--ids", metavar="FILE", help="Their qids, one a line (those of --topics).")
]
RrfK = Annotated[float, typer.Option("--rrf-k", help="RRF's constant.")]
Measures = Annotated[
    list[str] | None,
    typer.Option("-m", "--measure", help="nDCG@10, RefHit@10 …; the first makes the choices. Repeatable."),
]
Form = Annotated[str, typer.Option("--format", help="table, tsv, markdown, latex, html or json.")]
Keep = Annotated[int | None, typer.Option("-k", min=1, help="Documents written for each query.")]
Folds = Annotated[int, typer.Option("--folds", help="Parts that the groups are dealt to.")]
Repeats = Annotated[int, typer.Option("--repeats", min=1, help="Different dealings; values are averaged.")]
LeaveOneOut = Annotated[
    bool,
    typer.Option("--leave-one-group-out", help="Hold out each group once; choose by the groups' macro mean."),
]
Validation = Annotated[
    float,
    typer.Option(
        "--validation", min=0.0, max=0.9, help="Share of the training groups that choices are made on."
    ),
]
Routers = Annotated[
    list[str],
    typer.Option(
        "--router", help="A name of the list above, or all: those whose inputs are given. Repeatable."
    ),
]
Trees = Annotated[int, typer.Option("--trees", min=1, help="Trees of the forest.")]
Jobs = Annotated[int, typer.Option("--jobs", min=0, help="Threads that grow trees; 0: one a core.")]
WorkFile = Annotated[
    str | None,
    typer.Option(
        "--work", metavar="FILE", help="Keep finished folds here; the same command goes on from them."
    ),
]
OutputFolder = Annotated[
    str | None,
    typer.Option("--out-dir", metavar="DIR", help="Write each router's run, weights and per-query values."),
]
RepeatRuns = Annotated[bool, typer.Option("--repeat-runs", help="In DIR, also write each repeat's run.")]
SavedRouter = Annotated[
    str | None,
    typer.Option("--save", metavar="FILE", help="Also fit on all queries and save, for hybridcli weigh."),
]
RunOutput = Annotated[
    str | None, typer.Option("-o", "--output", metavar="FILE", help="Write the fused run; '-' is stdout.")
]
CurveFile = Annotated[
    str | None, typer.Option("--curve", metavar="FILE", help="Write the mean at every point, TSV.")
]
PlotFile = Annotated[
    str | None, typer.Option("--plot", metavar="FILE", help="Draw that curve: .svg, .pdf or .png.")
]
WeightsOut = Annotated[
    str | None,
    typer.Option(
        "--weights-out", metavar="FILE", help="Write each query's best weights, for fuse --weights."
    ),
]
RrfKs = Annotated[
    list[float] | None, typer.Option("--rrf-k", help="RRF's constant (60); several are all tried.")
]
Firsts = Annotated[
    list[int] | None,
    typer.Option("--first", min=1, help="Also: what the first K of each run can answer at all (10)."),
]
Replicates = Annotated[int, typer.Option("--replicates", min=1, help="Bootstrap replicates.")]
Exhaustive = Annotated[
    bool,
    typer.Option(
        "--exhaustive",
        help="RUN are index folders: score every document for every topic (--topics), exact complete rankings.",
    ),
]
TableOut = Annotated[
    str | None,
    typer.Option(
        "--table-out", metavar="NPZ", help="Write each query's values at every point, for route --tables."
    ),
]
Tables = Annotated[
    bool,
    typer.Option("--tables", help="RUN are tables of oracle --table-out, of different queries (data sets)."),
]
MilvusUri = Annotated[
    str | None, typer.Option("--uri", help="Milvus: http(s)://HOST:PORT; MILVUS_TOKEN holds the password.")
]
MilvusCollection = Annotated[
    str | None, typer.Option("--collection", metavar="NAME", help="Milvus: the collection to fill.")
]
