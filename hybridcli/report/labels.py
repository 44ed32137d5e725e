"""What label mapping did, as the short tables a person reads."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from hybridcli.records import Label


def mapping_lines(labels: Sequence[Label], queries: int, scope: str) -> list[str]:
    """Say how many references and queries were resolved, how, and why the others were not."""
    resolved = [label for label in labels if not label.reason]
    of_query: dict[str, list[Label]] = defaultdict(list)
    for label in labels:
        of_query[label.qid].append(label)
    answered = [found for found in of_query.values() if any(not label.reason for label in found)]
    whole = sum(all(not label.reason for label in found) for found in answered)
    literal = sum(all(label.literal for label in found) for found in answered)
    references = sum(label.reference != "-" for label in labels)
    n = len(resolved)
    lines = [
        _share("references resolved", n, references),
        _share("queries with a resolved reference", len(answered), queries),
        _share("queries with all references resolved", whole, queries),
        _share("references literally contained", sum(label.literal for label in resolved), n),
        _share("queries with all references literally contained", literal, len(answered)),
        _share("references with text overlap > 0.5", sum(label.overlap > 0.5 for label in resolved), n),
        _share("references with text overlap > 0.7", sum(label.overlap > 0.7 for label in resolved), n),
        _share("references over several units", sum(map(_over_units, resolved)), n),
        _share(_title_only(scope), sum(label.title_only for label in resolved), n),
        _share("references found in several places", sum(len(label.spans) > 1 for label in resolved), n),
    ]
    counts = [len(label.windows) for label in resolved]
    if counts:
        lines.append(
            f"windows per reference: mean {np.mean(counts):.2f}, median {np.median(counts):g}, "
            f"largest {max(counts)}, n = {n}"
        )
        beyond = sum(len(span.windows) - span.first_windows for label in resolved for span in label.spans)
        if beyond:
            lines.append(f"windows beyond the unit a reference begins in: {beyond:,} of {sum(counts):,}")
    failed = [label for label in labels if label.reason]
    if failed:
        lines.append(f"unresolved by reason: {_counted(label.reason for label in failed)}")
    kinds = Counter(label.kind for label in labels if label.reference != "-")
    for kind, count in sorted(kinds.items()):
        missing = sum(label.kind == kind and label.reference != "-" for label in failed)
        lines.append(_share(f"unresolved of kind {kind}", missing, count))
    return lines


def audit_lines(starts: Sequence[int], thresholds: Iterable[int]) -> list[str]:
    """Say how many (query, unit) pairs have their earliest reference beyond what an encoder reads."""
    return [
        _share(
            f"(query, unit) pairs beginning at or beyond word {threshold}",
            sum(start >= threshold for start in starts),
            len(starts),
        )
        for threshold in thresholds
    ]


def precision_lines(rows: Iterable[tuple[str, int, int, int, float, float, float]]) -> list[str]:
    """Show (stratum, references, judged, right, share, low, high) rows, one a line under a header."""
    header = f"{'stratum':<37}{'refs':>7}{'judged':>7}{'right':>6}  precision [95 %]"
    return [header] + [
        f"{stratum:<37}{size:>7,}{judged:>7}{right:>6}  "
        + (f"{share:.3f} [{low:.3f}, {high:.3f}]" if judged else "-")
        for stratum, size, judged, right, share, low, high in rows
    ]


def _title_only(scope: str) -> str:
    if scope == "unit":
        return "title-only: under half of the reference labelled"
    return "title-only if mapped within one unit"


def _over_units(label: Label) -> bool:
    return any(span.unit != span.end_unit for span in label.spans)


def _counted(names: Iterable[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in Counter(names).most_common())


def _share(what: str, count: int, of: int) -> str:
    share = f"{100 * count / of:.1f} %" if of else "-"
    return f"{what:<52}{count:>7,} of {of:>6,} {share:>8}"
