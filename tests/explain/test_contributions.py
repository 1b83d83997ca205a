"""Contributions: order and sums of parts, and drawings as text, SVG, and HTML."""

import json
import math
import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textkin.explain import Contribution, Contributions
from textkin.explain._characters import text_width

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'&<>]]>",
    "\x1b[31mred\x07",
    "\u202eevil",
    "\ud800lone",
    "a\x00b\nc",
    "漢字" * 20,
    "مرحبا",
    "👩‍👩‍👧",
    "W" * 5000,
    "",
]

NESTED = Contributions.of(
    [
        Contribution(
            "wmd",
            0.25,
            "0.5 x 0.5",
            (Contribution("farthest", 0.75), Contribution("media to press", -0.5, "50 % at 1")),
        ),
        Contribution("bm25", 0.5, "1 x 0.5", (Contribution("media", 0.5),)),
        Contribution("lsi", 0.0, "not found"),
    ]
)


def parts_of(depth=2):
    leaf = st.builds(Contribution, st.text(max_size=8), st.floats(-1e6, 1e6), st.text(max_size=8))
    tree = leaf
    for _ in range(depth):
        tree = st.builds(
            Contribution,
            st.text(max_size=8),
            st.floats(-1e6, 1e6),
            st.text(max_size=8),
            st.lists(tree, max_size=4).map(tuple),
        )
    return st.lists(tree, max_size=6)


# ---------------------------------------------------------------- sums


def test_parts_are_sorted_and_sum_to_the_score():
    assert NESTED.score == 0.75
    assert [part.name for part in NESTED.parts] == ["bm25", "wmd", "lsi"]
    assert NESTED.share(NESTED.parts[0]) == pytest.approx(2 / 3)
    assert Contributions.of([]).score == 0
    assert isinstance(Contributions.of([]).score, float)
    assert Contributions.of([]).share(NESTED.parts[0]) == 0


def test_equal_parts_keep_their_order():
    found = Contributions.of([Contribution("a", 1), Contribution("b", -1), Contribution("c", 1)])
    assert [part.name for part in found.parts] == ["a", "b", "c"]


def test_given_score_is_used():
    assert Contributions.of([Contribution("a", 0.1)], score=0.1000001).score == 0.1000001


@settings(max_examples=40)
@given(parts_of(), st.integers(1, 4))
def test_drawn_parts_sum_to_all_parts(parts, limit):
    found = Contributions.of(parts)
    bars = found.bars(limit)
    whole = sum(bar.value for bar in bars if bar.depth == 0)
    assert whole == pytest.approx(found.score, abs=1e-6)
    assert sum(bar.depth == 0 for bar in bars) <= limit + 1
    everything = found.bars(None)
    assert not any(bar.summed for bar in everything)


def test_rest_is_summed_up_at_every_level():
    words = tuple(Contribution(f"w{i}", 1.0 + i) for i in range(10))
    found = Contributions.of([Contribution("bm25", 55.0, parts=words)])
    lines = found.to_text(limit=3).splitlines()
    assert [line.split()[1] for line in lines[1:]] == ["w9", "w8", "w7", "…"]
    assert lines[-1].startswith("└ … 7 more  28.000")
    assert len(found.to_text(limit=9).splitlines()) == 11  # one more instead of "1 more"


def test_to_dict_has_plain_types():
    plain = json.loads(json.dumps(NESTED.to_dict()))
    assert plain["score"] == 0.75
    assert plain["parts"][1]["parts"][1] == {
        "name": "media to press",
        "value": -0.5,
        "share": pytest.approx(-2 / 3),
        "note": "50 % at 1",
        "parts": [],
    }


# ---------------------------------------------------------------- characters


def test_text_shows_nested_sums():
    assert NESTED.to_text().splitlines() == [
        "bm25               0.500  ██████████▋        67 %  1 x 0.5",
        "└ media            0.500  ██████████▋        67 %",
        "wmd                0.250  █████▍             33 %  0.5 x 0.5",
        "├ farthest         0.750  ████████████████  100 %",
        "└ media to press  -0.500  ░░░░░░░░░░░       -67 %  50 % at 1",
        "lsi                0.000                      0 %  not found",
    ]
    assert repr(NESTED).startswith("Contributions: score 0.75\nbm25 ")


def test_text_in_ascii_and_in_color_has_the_same_content():
    plain = NESTED.to_text(unicode=False)
    assert plain.isascii()
    assert "-----------" in plain
    long = Contributions.of([Contribution("word" * 20, 1.0), Contribution("x", 2.0)])
    assert long.to_text(unicode=False).isascii()
    coloured = NESTED.to_text(color=True)
    assert "\x1b[38;2;" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == NESTED.to_text()


@pytest.mark.parametrize("width", [1, 30, 45, 60, 80, 120])
def test_text_fits_the_width_if_possible(width):
    lines = NESTED.to_text(width=width).splitlines()
    needed = 33  # names, numbers, and shares
    assert all(text_width(line) <= max(width, needed) for line in lines)


def test_hostile_names_do_not_control_the_terminal():
    found = Contributions.of([Contribution(name, 1.0, name) for name in HOSTILE])
    drawn = found.to_text(limit=50)
    assert len(drawn.splitlines()) == len(HOSTILE)
    assert not {"\x1b", "\u202e", "\x00"} & set(drawn)
    drawn.encode("utf-8")  # no lone surrogates


@pytest.mark.parametrize(
    ("value", "shown"), [(1e-9, "1e-09"), (3e12, "3e+12"), (12.3456, "12.346")]
)
def test_numbers_of_any_size_have_digits(value, shown):
    found = Contributions.of([Contribution("a", value)])
    assert shown in found.to_text()
    assert shown.replace("-", "-") in found.to_svg().replace("\u2212", "-")


def test_no_parts():
    nothing = Contributions.of([])
    assert nothing.to_text() == ""
    assert repr(nothing) == "Contributions: score 0"
    assert "no part contributes to the score" in nothing.to_svg()
    assert "All 0 parts" in nothing.to_html()


# ---------------------------------------------------------------- SVG


def frame(root):
    _, _, width, height = map(float, root.get("viewBox").split())
    return width, height


@settings(max_examples=40)
@given(parts_of(1))
def test_svg_stays_inside_its_frame(parts):
    root = ElementTree.fromstring(Contributions.of(parts).to_svg(limit=5))
    width, height = frame(root)
    labels = root.findall(f"{SVG}svg")  # nested frames clip long names
    left = max((float(label.get("x")) + float(label.get("width")) for label in labels), default=0)
    assert left <= 14 + 0.4 * width
    for bar in root.iter(f"{SVG}rect"):
        if bar.get("class") == "ground":
            continue
        x, y, long, high = (float(bar.get(name)) for name in ("x", "y", "width", "height"))
        assert x >= left
        assert x + long <= width - 14 - 130 + 0.6
        assert 0 <= y <= y + high <= height
    for text in root.iter(f"{SVG}text"):
        assert 0 <= float(text.get("x")) <= width
        assert 0 <= float(text.get("y")) <= height
    assert all(label.get("overflow") is None for label in labels)


def test_bars_are_to_scale_and_start_at_the_axis():
    root = ElementTree.fromstring(NESTED.to_svg())
    zero = float(root.find(f"{SVG}line").get("x1"))
    bars = [bar for bar in root.iter(f"{SVG}rect") if bar.get("class") != "ground"]
    lengths = [float(bar.get("width")) for bar in bars]
    assert lengths[2] / lengths[0] == pytest.approx(0.5, abs=0.01)
    assert lengths[3] / lengths[0] == pytest.approx(1.5, abs=0.01)
    for bar in bars:
        x, long = float(bar.get("x")), float(bar.get("width"))
        if "takes" in bar.get("class"):
            assert x + long == pytest.approx(zero, abs=0.2)
        else:
            assert x == pytest.approx(zero, abs=0.2)
    assert sum("takes" in bar.get("class") for bar in bars) == 1
    assert "\u22120.500" in "".join(root.itertext())
    assert "orange, to the left: lowers the score" in "".join(root.itertext())


def test_svg_has_text_alternative_and_both_backgrounds():
    drawn = NESTED.to_svg(title="Why <this> one")
    root = ElementTree.fromstring(drawn)
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == "Why <this> one"
    words = root.find(f"{SVG}desc").text
    assert "Parts sum to 0.75" in words
    assert "media to press subtracts 0.5 (-67 %), 50 % at 1" in words
    assert "prefers-color-scheme:dark" in drawn
    assert NESTED._repr_html_() == NESTED.to_svg()


def test_svg_and_html_of_hostile_names_are_valid():
    found = Contributions.of([Contribution(name, 1.0, name) for name in HOSTILE])
    drawn = found.to_svg(title=HOSTILE[0], limit=50)
    root = ElementTree.fromstring(drawn)
    assert "script" not in {element.tag.removeprefix(SVG) for element in root.iter()}
    page = found.to_html(title=HOSTILE[0])
    for markup in (drawn, page):
        assert "<script" not in markup
        assert "\u202e" not in markup
        assert not re.search(r"(?:src|href)=", markup)
        assert markup.count("http") == markup.count("http://www.w3.org/2000/svg")
        markup.encode("utf-8")
    assert len(page) < 60_000  # a word of 5,000 letters is truncated


@settings(max_examples=40)
@given(parts_of())
def test_anything_can_be_drawn(parts):
    found = Contributions.of(parts)
    ElementTree.fromstring(found.to_svg())
    found.to_html().encode("utf-8")
    found.to_text().encode("utf-8")
    repr(found)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 1e308, -1e308, 5e-324])
def test_nan_and_huge_numbers(value):
    found = Contributions.of([Contribution("a", value), Contribution("b", 1.0)])
    drawn = found.to_svg()
    ElementTree.fromstring(drawn)
    assert not re.search(r'(?:x|y|width|height)="[^"]*(?:nan|inf)', drawn)
    assert found.to_text()
    assert found.to_html()


# ---------------------------------------------------------------- HTML


def test_html_has_every_part_and_one_heading():
    words = tuple(Contribution(f"w{i}", 1.0) for i in range(40))
    page = Contributions.of([Contribution("bm25", 40.0, parts=words)]).to_html(limit=3)
    assert page.count("<tr>") == 1 + 1 + 40
    assert page.count("Score 40") == 2  # title and heading, not in the figure again
    assert "All 41 parts; the parts without indent sum to 40" in page
    assert "… 37 more" in page


@pytest.mark.parametrize(
    ("method", "options", "match"),
    [
        ("to_text", {"limit": 0}, "limit must be"),
        ("to_text", {"width": 0}, "width must be"),
        ("to_svg", {"limit": 0}, "limit must be"),
        ("to_svg", {"width": 100}, "width must be"),
        ("to_html", {"limit": 0}, "limit must be"),
    ],
)
def test_options_are_checked(method, options, match):
    with pytest.raises(ValueError, match=match):
        getattr(NESTED, method)(**options)


def test_name_column_fits_the_names():
    short, long = (
        ElementTree.fromstring(Contributions.of([Contribution(name, 1.0)]).to_svg(width=900))
        for name in ("cat", "factor 12: market shares investors")
    )
    zeros = [float(root.find(f"{SVG}line").get("x1")) for root in (short, long)]
    assert zeros[0] < 160
    assert zeros[0] + 100 < zeros[1]
    assert "factor 12: market shares investors" in "".join(long.itertext())


def test_number_rounded_to_zero_has_no_sign():
    found = Contributions.of([Contribution("cat", 1.0), Contribution("dog", -1e-9)])
    for drawn in (found.to_text(), "".join(ElementTree.fromstring(found.to_svg()).itertext())):
        assert "-0" not in drawn.replace("1e-09", "")
        assert "\u22120" not in drawn


def test_zero_sum():
    drawn = Contributions.of([]).to_svg()
    assert "<desc>Parts sum to 0.</desc>" in drawn
    assert "no part contributes to the score" in drawn


@pytest.mark.parametrize("down", [-1.0, -0.9999])
def test_canceling_parts_have_no_share(down):
    found = Contributions.of([Contribution("up", 1.0), Contribution("down", down)])
    assert "%" not in found.to_text()
    assert "%" not in re.sub("<style>.*?</style>", "", found.to_svg())
    assert found.share(found.parts[0]) in (0, pytest.approx(1e4))
