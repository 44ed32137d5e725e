"""One call of ``fuse``: its plans, its weights, and what it has to say when it is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from hybridcli.commands.common.runs import require_known_runs, require_tag
from hybridcli.console import note, warn
from hybridcli.errors import DataError, UsageError
from hybridcli.formats.files import STDIN, name_of
from hybridcli.formats.run_batches import RunBatches, RunSource
from hybridcli.formats.runs import report_findings
from hybridcli.formats.weights import QueryWeights, read_weights
from hybridcli.fusion.fuse import Plan, fuse, fused_run, idle_options, sums_negatives
from hybridcli.fusion.order import round_scores
from hybridcli.fusion.pool import align, only_here
from hybridcli.fusion.ranx_methods import RanxMethod
from hybridcli.fusion.weights import parse_weights
from hybridcli.records import Floats, Run


class FusionJob:
    """Fuses batches of runs, each by every plan, or whole runs by a method of ranx.

    ``plans`` are named as warnings shall call them.
    """

    def __init__(
        self,
        paths: Sequence[str],
        plans: Mapping[str, Plan],
        *,
        weights: str | None,
        depth: int | None,
        k: int | None,
        tag: str,
        lower_is_better: Sequence[str],
        lenient: bool,
        ranx: RanxMethod | None = None,
    ) -> None:
        require_known_runs("--lower-is-better", lower_is_better, paths)
        for name, value in (("--depth", depth), ("-k", k)):
            if value is not None and value < 1:
                raise UsageError(f"{name} must be at least 1, found {value}")
        require_tag(tag)
        self.paths, self.plans, self.depth, self.k, self.tag = paths, plans, depth, k, tag
        self.ranx = ranx
        self.weights: Floats | QueryWeights | None = None
        if weights is not None:
            if not any(plan.entry.linear for plan in plans.values()):
                raise UsageError("this method takes no weights; rrf and weighted do")
            fixed = parse_weights(weights, len(paths))
            if fixed is None and weights != STDIN and not Path(weights).exists():
                example = ",".join(["0.5"] * len(paths))
                raise UsageError(
                    f"--weights {weights}: is neither {len(paths)} numbers, such as {example}, nor a file that is there"
                )
            self.weights = read_weights(weights) if fixed is None else fixed
            if isinstance(self.weights, QueryWeights) and len(self.weights.tags) != len(paths):
                found = len(self.weights.tags)
                raise DataError(
                    f"has weights for {found} runs; {len(paths)} are given", path=name_of(weights)
                )
            self.weights_path = weights
        self.batches = RunBatches(
            [RunSource(path) for path in paths],
            lenient=lenient,
            lower_is_better=[path in lower_is_better for path in paths],
        )
        self.negative: set[str] = set()

    def fuse(self, runs: Sequence[Run]) -> list[Run]:
        """Fuse runs over some queries by every plan; several threads may do so."""
        pool = align(runs, self.depth)
        if self.ranx is not None:
            return [fused_run(pool, round_scores(self.ranx.scores(pool)), k=self.k, tag=self.tag)]
        self.negative.update(name for name, plan in self.plans.items() if sums_negatives(pool, plan))
        weights = self.weights
        if isinstance(weights, QueryWeights):
            weights = weights.matrix(pool.queries, self.batches.tags)
        return [
            fuse(pool, plan, weights if plan.entry.linear else None, k=self.k, tag=self.tag)
            for plan in self.plans.values()
        ]

    def report(self) -> None:
        """Say on stderr what a careful user should know."""
        report_findings(self.paths, self.batches.findings)
        for path, times in Counter(self.paths).items():
            if times > 1:
                note(f"{name_of(path)} is given {times} times; its ranking counts as often")
        if len(self.plans) == 1:
            for line in idle_options(*self.plans.values()):
                note(line)
        for name in sorted(self.negative):
            warn(
                f"{name} adds up raw scores that are negative: an absent document (0) beats a retrieved one; "
                "choose a --norm or --missing min"
            )
        alone = [
            f"{count} in {name_of(path)}"
            for count, path in zip(only_here(self.batches.queries), self.paths, strict=True)
            if count
        ]
        if alone and len(self.paths) > 1:
            note(f"queries that one run only has: {', '.join(alone)}")
        if not any(self.batches.queries):
            warn("the runs hold no query; the fused run is empty")
        if isinstance(self.weights, QueryWeights):
            self._report_weights(self.weights)

    def _report_weights(self, weights: QueryWeights) -> None:
        name = name_of(self.weights_path)
        if weights.unknown:
            warn(f"{name}: {len(weights.unknown)} queries have no weights there; equal weights are taken")
        if not weights.names(self.batches.tags):
            warn(
                f"{name}: its columns ({' '.join(weights.tags)}) are not named as the runs' tags "
                f"({' '.join(self.batches.tags)}); they are taken in order"
            )
