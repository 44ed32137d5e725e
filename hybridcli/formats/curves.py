"""Curves: the mean of measures at every weighting: TSV, the runs' weights, then rrf_k if any, then the measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hybridcli.formats.files import write_text
from hybridcli.records import Floats


def write_curve(
    path: str,
    runs: Sequence[str],
    weights: Floats,
    rrf_ks: Sequence[float] | None,
    means: Mapping[str, Floats],
) -> None:
    """Write P points in ascending order of weights; the first line, which starts with ``#``, names the columns.

    ``weights``: float64[P, R]; ``rrf_ks``: of each point, or None; ``means``: float64[P] for each measure.
    """
    names = [*runs, *([] if rrf_ks is None else ["rrf_k"]), *means]
    columns = [*weights.T, *([] if rrf_ks is None else [np.array(rrf_ks)]), *means.values()]
    lines = ["#" + "\t".join(names)]
    for at in np.lexsort(weights.T[::-1]):
        lines.append("\t".join(repr(float(column[at])) for column in columns))
    write_text(path, "\n".join(lines) + "\n")
