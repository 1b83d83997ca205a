"""Group maps: text, SVG, and HTML for any groups."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from textkin.explain import Group, GroupMap

GROUPS = (
    Group("0", 1200, (("cat", 3.0), ("purr", 2.0)), "The cat purrs", "document 3"),
    Group("1", 300, (("stock", 2.5),), "Stocks fell"),
    Group("2", 1),
)


def picture(groups=GROUPS, n=30, without=0, seed=0):
    random = np.random.default_rng(seed)
    members = np.arange(n) % max(len(groups), 1)
    return GroupMap(tuple(groups), random.normal(size=(n, 2)), members, without)


def test_lines_have_sizes_bars_words_and_examples():
    assert picture(without=4).to_text(width=60).splitlines() == [
        "0  1,200  ████████████  cat purr",
        "                        The cat purrs",
        "1    300  ███           stock",
        "                        Stocks fell",
        "2      1  ▏",
        "4 in no group",
    ]
    assert str(picture()) == picture().to_text()


@pytest.mark.parametrize("width", [20, 35, 60, 200])
def test_lines_fit_the_width(width):
    group = Group("a long name of a group", 10, (("word" * 9, 1.0),) * 9, "text " * 99)
    for unicode in (True, False):
        drawn = picture([group, Group("x", 3)]).to_text(width=width, unicode=unicode)
        assert all(len(line) <= max(width, 32) for line in drawn.splitlines())
        assert unicode or drawn.isascii()


def test_as_many_words_as_fit():
    group = Group("0", 1, tuple((word, 1.0) for word in ("alpha", "beta", "gamma", "delta")))
    assert picture([group]).to_text(width=20) == "0  1  alpha beta"
    long = Group("0", 1, (("a" * 40, 1.0), ("b", 1.0)))
    assert picture([long]).to_text(width=20) == f"0  1  {'a' * 13}…"


def test_svg_is_well_formed_and_has_all_groups():
    root = ET.fromstring(picture().to_svg(title="Cats & stocks"))
    texts = ["".join(node.itertext()) for node in root.iter() if node.tag.endswith("}text")]
    plain = [re.sub("[\u2068\u2069]", "", text) for text in texts]
    assert "Cats & stocks" in plain
    assert {"0 cat purr", "1 stock", "2", "1,200", "cat purr"} <= set(plain)
    marks = [node for node in root.iter() if "mark" in node.get("class", "").split()]
    assert len(marks) == 6  # the points and the bar of each group


def test_points_are_inside_the_map():
    for points in (
        np.array([[0.0, 0], [1e9, 1], [5e8, 0.5]]),
        np.array([[0.0, 0], [1, 1e9], [0.5, 5e8]]),
        np.zeros((3, 2)),
    ):
        svg = GroupMap(GROUPS, points, np.arange(3)).to_svg(width=500)
        assert "nan" not in svg
        assert "inf" not in svg
        starts = re.findall(r'mark" d="M([-\d.]+) ([-\d.]+)a', svg)
        assert len(starts) == 3
        assert all(0 < float(x) < 500 and 0 < float(y) < 480 for x, y in starts)


def test_many_points_are_sampled_with_a_note():
    svg = picture(n=9000).to_svg()
    assert "2,000 of 9,000 are drawn" in svg
    assert sum(len(re.findall("M", d)) for d in re.findall(r'mark" d="([^"]*)"', svg)) == 2000


def test_groups_of_the_same_color_differ_in_shape():
    svg = picture([Group(str(i), 9) for i in range(40)], n=400).to_svg()
    shapes = dict(re.findall(r'<path class="(g0)" d="([^"]*)"/>', svg))
    assert shapes
    rows = re.findall(r'<path class="g0" d="M[^a-z]*([a-z])([^"]*)"/>', svg)
    assert len(set(rows[:4])) == 4


def test_labels_do_not_overlap():
    groups = [Group(str(i), 9, (("word", 1.0), ("other", 1.0))) for i in range(10)]
    svg = GroupMap(tuple(groups), np.zeros((10, 2)), np.arange(10)).to_svg()
    heights = [float(y) for y in re.findall(r'y="([\d.]+)" text-anchor="middle"', svg)]
    assert len(heights) == 10
    assert np.diff(sorted(heights)).min() >= 17.9


def test_hostile_texts_are_escaped():
    word = "<script>alert('x')</script>\x1b[31m\u202e"
    group = Group(word, 5, ((word, 1.0),), word, word)
    page = picture([group, group]).to_html(title=word)
    for drawn in (page, picture([group]).to_text(), picture([group])._repr_html_()):
        assert "\x1b" not in drawn
        assert "\u202e" not in drawn
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_no_groups():
    empty = GroupMap((), np.empty((0, 2)), np.empty(0, dtype=np.int64))
    assert empty.to_text() == ""
    assert ET.fromstring(empty.to_svg()).tag.endswith("svg")


def test_invalid_sizes_raise():
    with pytest.raises(ValueError, match="width must be"):
        picture().to_svg(width=100)
    with pytest.raises(ValueError, match="width must be"):
        picture().to_text(width=3)
