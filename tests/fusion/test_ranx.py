"""Agreement with ranx where the conventions agree; the others are listed with the reason, and do disagree.

ranx breaks ties by its own order, so scores are compared, not places.
"""

from __future__ import annotations

import numpy as np
import pytest

from hybridcli.errors import UsageError
from hybridcli.fusion.fuse import Plan, every_plan, fused_scores
from hybridcli.fusion.pool import Pool, align
from hybridcli.fusion.ranx_methods import NORMS, RanxMethod, lists_of, rows_of
from hybridcli.records import Floats, Run

# ours → the name in ranx; of all with every normalisation
NAMES = {
    "rrf": "rrf",
    "weighted": "wsum",
    "combmin": "min",
    "combmax": "max",
    "combmed": "med",
    "combsum": "sum",
    "combanz": "anz",
    "combmnz": "mnz",
    "isr": "isr",
    "logisr": "log_isr",
    "borda": "bordafuse",
    "condorcet": "condorcet",
    "rbc": "rbc",
}
PARAMETERS = {"rrf": {"k": 60}, "weighted": {"weights": (0.5, 0.3, 0.2)}, "rbc": {"phi": 0.8}}
ABSENT = (
    "by ranx's Borda normalisation a document is in every run; ours leaves absent ones out, as with any other"
)
DISAGREE = {
    "logisr": "ranx takes log N, which is 0 for a document of one run; ours log(N + 1)",
    "condorcet": "ranx sorts by votes that form cycles, from an arbitrary start; ours settles them by rule",
    "combmin.borda": ABSENT,
    "combmed.borda": ABSENT,
    "combanz.borda": ABSENT,
    "combmnz.borda": ABSENT,
}
ONLY_OURS = {"interleave"}


def _pool(constant: bool = False) -> Pool:
    rng = np.random.default_rng(7)
    runs = []
    for _ in range(3):
        lists = {}
        for q in range(4):
            docnos = rng.choice([f"d{i}" for i in range(12)], 8, replace=False).tolist()
            scores = rng.permutation(8) + rng.random(8) + 1
            lists[f"q{q}"] = {d: 1.0 if constant else float(s) for d, s in zip(docnos, scores, strict=True)}
        runs.append(Run.from_dict(lists))
    return align(runs)


def _theirs(pool: Pool, plan: Plan) -> Floats:
    """What ranx itself gives each row of the pool."""
    ranx = pytest.importorskip("ranx")
    norm = "none" if plan.entry.reads == "ranks" else plan.norm
    rankings = [ranx.Run(one) for one in lists_of(pool)]
    fused = ranx.fuse(
        rankings, norm=NORMS[norm], method=NAMES[plan.method], params=PARAMETERS.get(plan.method)
    )
    return rows_of(pool, fused.to_dict())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(every_plan()))
def test_agreement_with_ranx(name: str) -> None:
    plan, pool = every_plan()[name], _pool()
    if name in ONLY_OURS:
        assert name not in NAMES
        return
    weights = PARAMETERS[plan.method]["weights"] if plan.method == "weighted" else None
    ours = fused_scores(pool, plan, None if weights is None else np.array(weights))
    if plan.method == "rbc":
        ours = np.exp(ours)  # printed as its logarithm
    same = np.allclose(ours, _theirs(pool, plan), rtol=1e-5, atol=1e-6)
    assert same != (name in DISAGREE), DISAGREE.get(name, name)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_constant_list() -> None:
    # ours becomes 1 (a lone hit must count), ranx divides by 1e-9 and gives 0
    constant = _pool(constant=True)
    assert fused_scores(constant, Plan("combmax")).tolist() == [1.0] * len(constant.docs)
    assert not RanxMethod("max", "min-max").scores(constant).any()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_supervised_method() -> None:
    pool = _pool()
    judged = {f"q{q}": {f"d{q}": 1, f"d{q + 1}": 1} for q in range(3)}
    scores = RanxMethod("mapfuse", judged=judged).scores(pool)
    assert np.isfinite(scores).all()
    with pytest.raises(UsageError, match="no query of the runs"):
        RanxMethod("mapfuse", judged={"other": {"d": 1}}).scores(pool)
    with pytest.raises(UsageError, match="same queries only; 1 queries"):
        RanxMethod("sum").scores(align([Run.from_dict({"q": {"a": 1.0}}), Run.from_dict({})]))
