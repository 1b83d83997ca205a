"""No text breaks a drawing, runs a script, or controls a terminal."""

import re
from collections.abc import Callable
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import textkin as tk
from textkin.explain import (
    Contribution,
    Contributions,
    Drawing,
    Evidence,
    Flow,
    Group,
    GroupMap,
    Neighbor,
    Topics,
    WordMap,
)

HOSTILE = [
    "<script>alert(1)</script>", "]]></style></title>", "\"'><img src=x onerror=alert(1)>",
    "&lt;b&gt;&amp;", "\x1b[2J\x07\x9b", "\u202ecba\u2066", "\0\x01\ufffe\uffff", "\ud800",
    "a" * 400, "\u0301" * 99, "日本語", "שלום", "👩\u200d👩\u200d👧",
]  # fmt: skip
KNOWN = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "div", "section", "table",
    "caption", "tr", "th", "td", "p", "b", "br", "small", "blockquote", "span", "details",
    "summary", "svg", "desc", "rect", "text", "tspan", "path", "g", "line",
    "ol", "li", "bdi", "mark",
}  # fmt: skip
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff\ufffe\uffff]")


def flow(a: str, b: str) -> Drawing:
    return Flow.of([(a, 0.5), (b, 0.5)], [(b, 1.0)], [(0, 0, 0.5, 1.0), (1, 0, 0.5, 0.0)])


def contributions(a: str, b: str) -> Drawing:
    return Contributions.of([Contribution(a, 2.0, b, (Contribution(b, 2.0, a),))])


def evidence(a: str, b: str) -> Drawing:
    neighbors = Neighbor(0, a, b, 1.5, 0.5, a), Neighbor(1, None, a, 2.5, 0.5, b)
    return Evidence(a, ((a, 0.5), (b, 0.5)), neighbors, False, b, a)


def topics(a: str, b: str) -> Drawing:
    return Topics.of(np.ones((1, 2)), [a, b], weights=np.ones(1), names=[a])


def word_map(a: str, b: str) -> Drawing:
    return WordMap.of(np.ones((1, 1, 2)), [a, b], weights=np.ones((1, 1)))


def group_map(a: str, b: str) -> Drawing:
    group = Group(a, 2, ((b, 1.0),), a, b)
    return GroupMap((group,), np.array([[0.0, 0], [1, 1]]), np.array([0, 0]))


def check(drawing: Drawing, title: str) -> None:
    """Check every form of a drawing."""
    assert not CONTROL.search(drawing.to_text(width=60))
    pictures = [drawing.to_svg(title=title), drawing.to_svg(title=title, embedded=True)]
    for shown in (*pictures, drawing.to_html(title=title)):
        assert not CONTROL.search(shown)
        root = ElementTree.fromstring(shown.removeprefix("<!DOCTYPE html>\n"))
        assert {node.tag.rpartition("}")[2] for node in root.iter()} <= KNOWN
        assert not any(name.startswith("on") for node in root.iter() for name in node.attrib)
    assert not CONTROL.search(drawing._repr_html_())
    assert "<script" not in drawing._repr_html_()


@pytest.mark.parametrize("made", [flow, contributions, evidence, topics, word_map, group_map])
@given(a=st.text(max_size=30) | st.sampled_from(HOSTILE), b=st.sampled_from(HOSTILE))
@settings(max_examples=40)
@example(a="", b="")
def test_any_text_keeps_drawings_valid(made: Callable[[str, str], Drawing], a: str, b: str) -> None:
    check(made(a, b), a)


@pytest.mark.parametrize("made", [flow, contributions, evidence, topics, word_map, group_map])
def test_very_long_words_are_truncated(made: Callable[[str, str], Drawing]) -> None:
    drawing = made("w" * 100_000, "é" * 100_000)
    for shown in (drawing.to_text(), drawing.to_svg(), drawing.to_html(), drawing._repr_html_()):
        assert len(shown) < 20_000


@pytest.mark.parametrize(
    ("nothing", "said"),
    [
        (Flow.of([], [], []), "no word moves"),
        (Contributions.of([]), "no part contributes to the score"),
        (Topics(()), "no topics"),
        (GroupMap((), np.empty((0, 2)), np.empty(0, np.int64)), "no groups"),
    ],
)
def test_empty_drawings(nothing: Drawing, said: str) -> None:
    drawn = nothing.to_svg()
    assert f">{said}</text>" in drawn
    (about,) = re.findall("<desc>(.*)</desc>", drawn)
    assert re.fullmatch(r"\w[\w ]+\.", about)


@pytest.mark.parametrize("by", ["bm25", "wmd"])
def test_hits_of_hostile_documents(by: str, tmp_path) -> None:
    texts = [text for text in HOSTILE if "\ud800" not in text]
    with tk.Index.create(tmp_path / "odd.kin", language=None) as index:
        index.add([
            {"id": text.replace("\0", "") + str(at), "text": f"a cat {text} sleeps", "note": text}
            for at, text in enumerate(texts)
        ])  # fmt: skip
        hits = index.search("the cat alert <script>", ranking=by, k=20)
        assert len(hits) == len(texts)
        check(hits, HOSTILE[0])
        ElementTree.fromstring(hits.to_html(explained=20).removeprefix("<!DOCTYPE html>\n"))


def test_comparisons_of_hostile_texts() -> None:
    text = " cat ".join(text for text in HOSTILE if "\ud800" not in text)
    check(tk.compare(text, "a kitten " + text[::-1]), text)
