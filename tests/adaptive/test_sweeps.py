"""Reports side by side: choices, unused runs and the number of weightings, by hand."""

from __future__ import annotations

from typing import Any

from hybridcli.adaptive.sweeps import settings_of, weightings

ROW = {"router": "tuned", "measure": "RR", "value": 0.5, "deviation": None}


def report(runs: list[str], counts: list[tuple[str, int]], **more: Any) -> dict[str, Any]:
    head = {"runs": runs, "n": 7, "measures": ["RR"], "grid": "step 0.1", "forced": [], "rows": [ROW]}
    return {**head, "choices": {"tuned": {"counts": counts, "ties": 2}}, **more}


def test_what_the_fits_chose() -> None:
    found = settings_of(
        "k-60", report(["a", "b", "c"], [("0.5,0.5,0", 7), ("0.6,0.4,0", 2), ("0.4,0.4,0.2", 1)])
    )
    assert len(found) == 1
    setting = found[0]
    assert (setting.fits, setting.choices, setting.common, setting.often) == (10, 3, "0.5,0.5,0", 7)
    assert setting.unused == {"a": 0, "b": 0, "c": 9}
    assert setting.ties == 2


def test_choices_that_are_no_weights() -> None:
    assert settings_of("x", report(["a", "b"], [("C=1", 5)]))[0].unused == {}
    assert settings_of("x", report(["a", "b"], [("1,2,3", 5)]))[0].unused == {}


def test_two_panels_share_the_weightings_of_their_common_runs() -> None:
    """66 each; the 11 without a static run are the same: 121, as study B's reviewers counted."""
    panels = [report(["bm25", "qwen", static], []) for static in ("potion", "mrl")]
    assert weightings(panels[:1]) == {"step 0.1": 66}
    assert weightings(panels) == {"step 0.1": 121}
    forced = report(["bm25", "qwen", "potion"], [], forced=["potion>0"])
    assert weightings([forced]) == {"step 0.1": 55}
    assert weightings([*panels, forced]) == {"step 0.1": 121}
    box = report(["bm25", "qwen"], [], grid="step 0.5, box")
    assert weightings([box]) == {"step 0.5, box": 8}  # 3 × 3 without the point of no weight
