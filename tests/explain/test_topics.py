"""Top words of topics as text, SVG, and HTML."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from textkin.explain import Topics

SHARES = np.array([[0.5, 0.3, 0.2, 0.0], [0.0, 0.0, 0.25, 0.75], [0.25, 0.25, 0.25, 0.25]])
WORDS = ["oil", "<b>price\x1b[31m", "价格", "a very long word indeed it is"]


@pytest.fixture
def topics():
    return Topics.of(SHARES, WORDS, weights=np.array([0.2, 0.5, 0.3]), n_words=3)


def test_topics_and_words_are_sorted(topics):
    assert [topic.number for topic in topics] == [1, 2, 0]
    assert topics[0].words == ((WORDS[3], 0.75), (WORDS[2], 0.25))
    assert [word for word, _ in topics[1].words] == WORDS[:3]
    assert len(topics[:2]) == 2
    assert topics[-1].weight == 0.2


def test_text_fits_its_width_and_does_not_control_the_terminal(topics):
    for width in (10, 30, 80):
        text = topics.to_text(width=width)
        assert "\x1b" not in text
        assert "oil" in text
        assert all(len(line) <= max(width, 20) for line in text.splitlines())
    assert str(topics) == topics.to_text()


def test_svg_is_valid_and_words_are_escaped(topics):
    root = ET.fromstring(topics.to_svg())
    assert "&lt;b&gt;" in topics.to_svg()
    assert len([node for node in root.iter() if node.tag.endswith("rect")]) == 1 + 2 + 3 + 3
    assert topics.to_svg() in topics.to_html()
    assert topics._repr_html_() == topics.to_svg()


def test_no_topics_and_invalid_sizes(topics):
    assert Topics(()).to_text() == ""
    ET.fromstring(Topics(()).to_svg())
    with pytest.raises(ValueError, match="n_words must be"):
        Topics.of(SHARES, WORDS, weights=np.ones(3), n_words=0)
    with pytest.raises(ValueError, match="width must be"):
        topics.to_svg(width=10)


def test_topic_names():
    named = Topics.of(
        SHARES, WORDS, weights=np.ones(3) / 3, names=["<i>sport", "\x1b[2J", "x" * 99]
    )
    assert named.to_text().split()[0] == "<i>sport"
    assert "\x1b" not in named.to_text() + named.to_svg()
    assert "&lt;i&gt;sport · 33.3 %" in named.to_svg()
    assert max(map(len, named.to_text(width=20).splitlines())) <= 16 + len("  33.3 %")
    ET.fromstring(named.to_svg())
