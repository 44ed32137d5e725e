"""Labels as documents: a label's name with texts that carry it, and the head and tail of a label set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def label_text(name: str, examples: Sequence[str], max_words: int, max_examples: int) -> str:
    """The name on the first line, then the first ``max_examples`` texts, one a line.

    ``max_words`` are shared: each example gets an equal part, and what a short one leaves goes to those after it.
    """
    lines = [name] if name else []
    chosen = [words for words in (text.split() for text in examples) if words][:max_examples]
    left = max_words
    for at, words in enumerate(chosen):
        taken = words[: left // (len(chosen) - at)]
        left -= len(taken)
        if taken:
            lines.append(" ".join(taken))
    return "\n".join(lines)


def examples_of(
    topics: Iterable[tuple[str, str]], labels_of: Mapping[str, Iterable[str]]
) -> dict[str, list[str]]:
    """The texts of each label, in the order of the topics, which are (qid, text)."""
    found: dict[str, list[str]] = {}
    for qid, text in topics:
        for label in labels_of.get(qid, ()):
            found.setdefault(label, []).append(text)
    return found


def head_labels(counts: Mapping[str, int], share: float) -> set[str]:
    """The most frequent ``share`` of the labels (the number is rounded), equals in ascending order of their ids.

    A label that was never seen is no head label, even where that leaves the head smaller.
    """
    size = round(share * len(counts))
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    return {label for label in ranked[:size] if counts[label] > 0}
