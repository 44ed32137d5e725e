"""What a reader sees: whole, once, in order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridcli.text.filings import parse_filing

IX = 'xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"'


def seen(body: str) -> str:
    """The text of all units, as if they stood below each other."""
    return "\n".join(
        unit.text for unit in parse_filing(f"<html {IX}><body>{body}</body></html>".encode(), "D")
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>Fac<span>tors</span> of <b>ri</b><i>sk</i></p>", "Factors of risk"),
        ("<p>one</p><p>two</p>", "one\ntwo"),
        ("<div>one<div>two</div>three</div>", "one\ntwo\nthree"),
        ("one<br/>two<br><br>three", "one\ntwo\nthree"),
        ("<p>a&#160;b&#8239;c&#8197;d \t\n e&#12288;f</p>", "a b c d e f"),
        ("<p>zero&#8203;width&#xFEFF; soft&shy;hyphen</p>", "zerowidth softhyphen"),
        ("<p>R&amp;D &amp;amp; &#150; &#x2014; &euro;</p>", "R&D &amp; – — €"),
        ("<p>a</p><!-- b --><?pi c?><p>d</p>", "a\nd"),
        (
            "<head><title>t</title></head><script>s</script><style>y</style><template>z</template><p>a</p>",
            "a",
        ),
        ("<p>a<span style='display:none'>b</span>c</p>", "ac"),
        ("<p>a<span style='DISPLAY : NONE !important'>b<b>c</b></span> d</p>", "a d"),
        ("<p style='visibility:hidden'>a</p><p hidden>b</p><p>c</p>", "c"),
        ("<div style='display:none'><p>a<p>b</div><p>c</p>", "c"),
        ("<span style='display:block'>a</span><span style='display:block'>b</span>", "a\nb"),
        ("<div style='display:inline'>a</div><div style='display:inline-block'>b</div>", "ab"),
        ("a<span style='position:absolute'>b</span><span style='float:left'>c</span>", "a\nb\nc"),
        ("<pre>a  b\nc</pre><p>d\ne</p>", "a b\nc\nd e"),
        ("<ul><li>a</li><li>b</li></ul><h1>c</h1>d", "a\nb\nc\nd"),
        ("<ix:header><ix:hidden><ix:nonNumeric>a</ix:nonNumeric></ix:hidden></ix:header><p>b</p>", "b"),
        ("<p><ix:nonNumeric>a <ix:nonFraction>1</ix:nonFraction></ix:nonNumeric> b</p>", "a 1 b"),
        ("<p><ix:continuation>a</ix:continuation><ix:exclude> 7 </ix:exclude>b</p>", "a 7 b"),
        ("<p>H<sub>2</sub>O<sup>(1)</sup></p>", "H2O(1)"),
    ],
)
def test_visible_text(body: str, text: str) -> None:
    assert seen(body) == text


WORDS = st.integers(0, 999).map(lambda number: f"w{number}")
HIDE = [("<div style='display:none'>", "</div>"), ("<ix:hidden>", "</ix:hidden>"), ("<script>", "</script>")]
SHOW = [
    (f"<{tag}>", f"</{tag.split()[0]}>")
    for tag in ("p", "div", "span", "b", "ix:nonNumeric name='a'", "ul", "h2")
]

Piece = tuple[str, list[str]]


def wrap(inner: list[Piece], tags: tuple[str, str]) -> Piece:
    """Put pieces in an element; what it hides is not to be seen."""
    words = [] if tags in HIDE else [word for _, words in inner for word in words]
    return tags[0] + " ".join(markup for markup, _ in inner) + tags[1], words


def grid(rows: list[list[Piece]]) -> Piece:
    """Put pieces in a table."""
    markup = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell, _ in row) + "</tr>" for row in rows)
    return f"<table>{markup}</table>", [word for row in rows for _, words in row for word in words]


def nest(pieces: st.SearchStrategy[Piece]) -> st.SearchStrategy[Piece]:
    several = st.lists(pieces, max_size=4)
    return (
        st.builds(wrap, several, st.sampled_from(SHOW))
        | st.builds(wrap, st.lists(WORDS.map(lambda word: (word, [word])), max_size=3), st.sampled_from(HIDE))
        | st.builds(grid, st.lists(several, max_size=4))
    )


@settings(deadline=None)
@given(
    st.lists(
        st.recursive(WORDS.map(lambda word: (word, [word])), nest, max_leaves=25), min_size=1, max_size=5
    )
)
def test_every_visible_word_once_and_in_order(pieces: list[Piece]) -> None:
    markup, words = wrap(pieces, ("<div>", "</div>"))
    assert seen(markup).split() == words
