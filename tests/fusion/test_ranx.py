"""Agreement with ranx where the conventions agree; the others are listed with the reason, and do disagree.

ranx breaks ties by its own order, so scores are compared, not places.
"""

from __future__ import annotations

import numpy as np
import pytest

from hybridcli.errors import UsageError
from hybridcli.fusion.fuse import Plan, fused_scores
from hybridcli.fusion.pool import Pool, align
from hybridcli.fusion.ranx_methods import RanxMethod
from hybridcli.records import Run

# ours → the name in ranx
AGREE = {
    ("combsum", "min-max"): ("sum", "min-max"),
    ("combmnz", "min-max"): ("mnz", "min-max"),
    ("combmax", "sum"): ("max", "sum"),
    ("combmin", "rank"): ("min", "rank"),
    ("combanz", "max"): ("anz", "max"),
    ("combsum", "zmuv"): ("sum", "zmuv"),
    ("rrf", None): ("rrf", "none"),
    ("isr", None): ("isr", "none"),
    ("borda", None): ("bordafuse", "none"),
}
DISAGREE = {
    ("logisr", None): (
        "log_isr",
        "none",
        "ranx takes log N, which is 0 for a document of one run; ours log(N + 1)",
    ),
}


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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_agreement_with_ranx() -> None:
    pool = _pool()
    for (method, norm), (name, ranx_norm) in AGREE.items():
        ours = fused_scores(pool, Plan(method, norm))
        np.testing.assert_allclose(
            ours, RanxMethod(name, ranx_norm).scores(pool), rtol=1e-5, atol=1e-6, err_msg=name
        )
    for (method, norm), (name, ranx_norm, reason) in DISAGREE.items():
        ours = fused_scores(pool, Plan(method, norm))
        assert not np.allclose(ours, RanxMethod(name, ranx_norm).scores(pool)), reason
    # a constant list: ours becomes 1 (a lone hit must count), ranx divides by 1e-9 and gives 0
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
