"""Maps of words as text, SVG, and HTML."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from textkin.explain import WordMap
from textkin.explain._characters import text_width

WORDS = ["oil", "<b>price\x1b[31m", "价格", "a very long word indeed it is \u202e"]
CELLS = np.array(
    [
        [[0.5, 0.3, 0.2, 0.0], [0.0, 0.0, 0.25, 0.75], [0.25, 0.25, 0.25, 0.25]],
        [[0.0, 0.9, 0.1, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]],
    ]
)
WEIGHTS = np.array([[0.2, 0.5, 0.1], [0.15, 0.0, 0.05]])


@pytest.fixture
def drawn():
    return WordMap.of(CELLS, WORDS, weights=WEIGHTS, n_words=2)


def parts(svg, tag):
    return [node for node in ET.fromstring(svg).iter() if node.tag.endswith(f"}}{tag}")]


def test_cells_have_their_most_probable_words(drawn):
    assert drawn[0][0].words == ((WORDS[0], 0.5), (WORDS[1], 0.3))
    assert drawn[0][1].words == ((WORDS[3], 0.75), (WORDS[2], 0.25))
    assert drawn[1][1].words == ()
    assert drawn[1][2].weight == 0.05
    assert len(drawn) == 2
    assert drawn[1:].rows == drawn.rows[1:]


def test_text_fits_its_width_and_does_not_control_the_terminal(drawn):
    for width in (10, 24, 30, 80):
        text = drawn.to_text(width=width)
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "oil" in text
        assert "价格" in text
        assert all(text_width(line) <= max(width, 16) for line in text.splitlines())
    assert str(drawn) == drawn.to_text()
    assert "columns 0 to 1" in drawn.to_text(width=24)
    assert "columns" not in drawn.to_text()
    assert "█ a very" in drawn.to_text()  # the heaviest


def test_svg_is_valid_and_words_are_escaped(drawn):
    svg = drawn.to_svg()
    assert "&lt;b&gt;" in svg
    assert "\x1b" not in svg
    assert "\u202e" not in svg
    assert len(parts(svg, "rect")) == 1 + 2 * 6
    assert svg in drawn.to_html()
    ET.fromstring(drawn.to_html().removeprefix("<!DOCTYPE html>\n"))
    assert drawn._repr_html_() == svg


def test_svg_has_a_text_alternative(drawn):
    [about] = parts(drawn.to_svg(), "desc")
    assert "Row 0, column 0, 20 %: oil, <b>price" in about.text
    assert "Row 1, column 1, 0 %: no words" in about.text
    assert "Map of words" in parts(drawn.to_svg(), "title")[0].text


def test_heavier_cells_are_darker_and_more_probable_words_larger(drawn):
    svg = WordMap.of(CELLS[:, :, :1], ["oil"], weights=WEIGHTS, n_words=1).to_svg()
    shades = [
        float(node.get("opacity")) for node in parts(svg, "rect") if node.get("class") == "cell"
    ]
    assert np.argsort(shades).tolist() == np.argsort(WEIGHTS.ravel()).tolist()
    words = [node for node in parts(svg, "text") if node.get("class") == "ink"]
    letters = [float(node.get("font-size")) for node in words]
    assert letters[2] > letters[0] > letters[1]  # 1, 0.5, and 0.25 of their cells


def test_words_stay_inside_their_cells_at_any_width():
    words = ["internationalisation", "of", "价格价格价格价格"]
    drawn = WordMap.of(np.full((2, 5, 3), 1 / 3), words, weights=np.full((2, 5), 0.1))
    for width in (240, 448, 1200):
        svg = drawn.to_svg(width=width)
        wide = (width - 28) / 5
        for node in parts(svg, "text"):
            if node.get("class") == "ink":
                size = float(node.get("font-size"))
                assert text_width(node.text.strip("\u2068\u2069")) * size * 0.5 < wide


def test_no_cells_and_invalid_sizes(drawn):
    assert WordMap(()).to_text() == ""
    ET.fromstring(WordMap(()).to_svg())
    nothing = WordMap.of(np.zeros((1, 2, 4)), WORDS, weights=np.zeros((1, 2)))
    assert nothing.to_text() == ""
    ET.fromstring(nothing.to_svg())
    with pytest.raises(ValueError, match="n_words must be"):
        WordMap.of(CELLS, WORDS, weights=WEIGHTS, n_words=0)
    with pytest.raises(ValueError, match="width must be"):
        drawn.to_svg(width=10)
    with pytest.raises(ValueError, match="width must be"):
        drawn.to_text(width=0)
