"""Label documents, and head and tail by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hybridcli.text.labeling import examples_of, head_labels, label_text


def test_words_are_shared_equally_and_what_is_left_goes_on() -> None:
    assert label_text("net sales", ["a b c d", "e", "f g h i"], 6, 3) == "net sales\na b\ne\nf g h"
    assert label_text("net sales", ["a b c d", "e f"], 3, 1) == "net sales\na b c"
    assert label_text("net sales", [], 6, 3) == "net sales"
    assert label_text("", ["a  b"], 6, 3) == "a b"
    assert label_text("net sales", ["a b"], 0, 3) == label_text("net sales", ["a b"], 3, 0) == "net sales"


def test_examples_keep_the_order_of_the_topics() -> None:
    topics = [("q2", "two"), ("q1", "one"), ("q3", "unjudged")]
    assert examples_of(topics, {"q1": ["a", "b"], "q2": ["b"]}) == {"b": ["two", "one"], "a": ["one"]}


def test_head_and_tail_of_five_labels_by_hand() -> None:
    counts = {"a": 3, "b": 9, "c": 3, "d": 1, "e": 0}
    assert head_labels(counts, 0.2) == {"b"}  # 20 % of five labels: one
    assert head_labels(counts, 0.4) == {"a", "b"}  # a and c tie; a is first by id
    assert head_labels(counts, 0.99) == {"a", "b", "c", "d"}  # e was never seen: tail
    assert head_labels({}, 0.2) == set()


@given(
    st.lists(st.text(st.sampled_from("ab "), max_size=12), max_size=5),
    st.integers(0, 9),
    st.integers(0, 5),
)
def test_never_more_words_than_allowed(examples: list[str], max_words: int, max_examples: int) -> None:
    text = label_text("", examples, max_words, max_examples)
    chosen = [example.split() for example in examples if example.split()][:max_examples]
    assert len(text.split()) <= min(max_words, sum(map(len, chosen)))
    if all(len(words) == max(map(len, chosen)) for words in chosen):
        assert len(text.split()) == min(max_words, sum(map(len, chosen)))
