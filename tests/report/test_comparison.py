"""The tables of a comparison."""

from __future__ import annotations

from hybridcli.evaluation.comparisons import Estimate
from hybridcli.report.comparison import means_section


def test_several_measures_of_one_run_have_an_interval_each() -> None:
    estimates = [Estimate("a", "AP", 9, 0.5, 0.25, 0.75), Estimate("a", "RR", 9, 0.25, None, None)]
    (table,) = means_section(estimates, [], 9).tables
    assert [column.name for column in table.columns] == ["measure", "a", "interval"]
    assert [row[0] for row in table.rows] == ["AP", "RR"]
    assert table.rows[0][2] == (0.25, 0.75)
    assert table.rows[1][2] is None
