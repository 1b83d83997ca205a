"""Flows as text, SVG, and HTML: complete, escaped, and readable at any size."""

import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textkin.explain import Flow, flow_html, flow_svg, flow_text
from textkin.explain._characters import clean, shortened, text_width
from textkin.explain._flow_svg import lay_out
from textkin.explain._page import DARK, LEVELS, LIGHT, CostScale

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'&<>]]>",
    "\x1b[31mred\x07",
    "\u202eevil",
    "\ud800lone",
    "a\x00b\nc",
    "漢字" * 20,
    "ไทย",
    "مرحبا",
    "👩‍👩‍👧",
    "x" * 5000,
    "",
]


def random_flow(n, seed=0):
    """Return a random flow between two columns of n words."""
    rng = np.random.default_rng(seed)
    masses = rng.dirichlet(np.ones(n))
    order = rng.permutation(n)
    words = [f"word{i}" for i in range(n)]
    targets = [(words[j], float(masses[i])) for i, j in enumerate(order)]
    moves = [
        (i, i, float(masses[i]), float(rng.random() * (words[i] != targets[i][0])))
        for i in range(n)
    ]
    return Flow.of(zip(words, masses.tolist(), strict=True), targets, moves)


def hostile_flow():
    share = 1 / len(HOSTILE)
    words = [(word, share) for word in HOSTILE]
    return Flow.of(words, words, [(i, i, share, 1.0 + i) for i in range(len(HOSTILE))])


EMPTY = Flow.of([], [], [])


# ---------------------------------------------------------------- characters


def test_text_groups_the_partners_of_a_word():
    flow = Flow.of(
        [("media", 1.0)],
        [("press", 0.5), ("news", 0.3), ("media", 0.2)],
        [(0, 0, 0.5, 2.0), (0, 1, 0.3, 1.0), (0, 2, 0.2, 0.0)],
    )
    lines = flow_text(flow).splitlines()
    assert lines[0] == "                     mass × cost  = adds"
    assert lines[1].startswith("media ┳━━▶ press   50.0 % × 2.000 = 1.000  ")
    assert lines[1].endswith(" 77 %")
    assert lines[2].startswith("      ┣━━▶ news ")
    assert lines[3] == "      ┗━━▶ media   20.0 % at no cost"


def test_text_sums_up_the_rest():
    lines = flow_text(random_flow(200), limit=5).splitlines()
    assert len(lines) <= 8
    assert re.search(r"… \d+ smaller moves", lines[-2] + lines[-1])


@pytest.mark.parametrize("n", [1, 4, 30])
def test_text_in_ascii(n):
    assert flow_text(random_flow(n), unicode=False).isascii()


@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize("width", [1, *range(20, 100, 4), 120])
def test_text_fits_the_width_if_possible(width, unicode):
    long = Flow.of(
        [("a", 0.5), ("counterrevolutionaries", 0.5)],
        [("internationalisation", 0.25), ("b", 0.75)],
        [(0, 0, 0.25, 2.0), (0, 1, 0.25, 30.0), (1, 1, 0.5, 1.0)],
    )
    needed = 20  # two words of about a letter, and the contribution
    for flow, limit in ((random_flow(20), 12), (random_flow(200), 5), (long, 9)):
        lines = flow_text(flow, width=width, limit=limit, unicode=unicode).splitlines()
        assert all(text_width(line) <= max(width, needed) for line in lines)


def test_narrow_text_keeps_words_and_contributions():
    flow = Flow.of(
        [("parliament", 1.0)],
        [("government", 0.75), ("parliament", 0.25)],
        [(0, 0, 0.75, 2.0), (0, 1, 0.25, 0.0)],
    )
    assert flow_text(flow, width=52).splitlines()[1:] == [
        "parliament ┳━━▶ government   75.0 % × 2.000 = 1.500",
        "           ┗━━▶ parliament   25.0 % at no cost",
    ]
    assert flow_text(flow, width=40, unicode=False).splitlines() == [
        "                            adds",
        "parliament +--> government  1.500",
        "           `--> parliament  0.000",
    ]


def test_text_in_color_has_the_same_content():
    flow = random_flow(6)
    coloured = flow_text(flow, color=True)
    assert "\x1b[38;2;" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == flow_text(flow)


@pytest.mark.parametrize(("scale", "shown"), [(1e-12, "2e-12 = 1e-12"), (1e12, "2e+12 = 1e+12")])
def test_costs_of_any_size_have_digits(scale, shown):
    flow = Flow.of([("a", 0.5), ("b", 0.5)], [("c", 1.0)], [(0, 0, 0.5, 2.0), (1, 0, 0.5, 1.0)])
    scaled = Flow.of(flow.sources, flow.targets, [(0, 0, 0.5, 2 * scale), (1, 0, 0.5, scale)])
    assert shown in flow_text(scaled)
    assert "2.000 = 1.000" in flow_text(flow)


def test_combining_marks_are_truncated():
    assert len(shortened("a" + "\u0301" * 3000, 20)) <= 82


def test_hostile_words_do_not_control_the_terminal():
    drawn = flow_text(hostile_flow(), limit=50)
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn
    assert "\x00" not in drawn
    assert len(drawn.splitlines()) == len(HOSTILE) + 1
    drawn.encode("utf-8")  # no lone surrogates


def test_text_without_moves():
    assert flow_text(EMPTY) == ""


# ---------------------------------------------------------------- SVG


def parsed(flow, **options):
    return ElementTree.fromstring(flow_svg(flow, **options))


@pytest.mark.parametrize("n", [1, 2, 4, 10, 50, 200])
def test_svg_is_valid_and_stays_inside_its_frame(n):
    root = parsed(random_flow(n), title="title", source_title="a", target_title="b")
    _, _, width, height = map(float, root.get("viewBox").split())
    for path in root.iter(f"{SVG}path"):
        numbers = [float(x) for x in re.findall(r"-?\d+\.\d", path.get("d"))]
        assert min(numbers) >= 0
        assert max(numbers) <= max(width, height)
    assert height < 1500
    assert len(list(root.iter(f"{SVG}path"))) <= 22


def test_svg_labels_do_not_overlap():
    picture = lay_out(random_flow(200), 20)
    for column in (picture.left, picture.right):
        middles = [node.y + node.height / 2 for node in column]
        assert all(b - a >= 20 for a, b in pairwise(middles))


def test_svg_ribbons_have_the_thickness_of_their_mass_and_meet_their_nodes():
    picture = lay_out(random_flow(12), 20)
    scales = [ribbon.thickness / ribbon.mass for ribbon in picture.ribbons if ribbon.thickness > 1]
    assert scales == pytest.approx([scales[0]] * len(scales))
    for ribbon in picture.ribbons:
        for node, y in ((ribbon.source, ribbon.y0), (ribbon.target, ribbon.y1)):
            assert node.y - 1e-9 <= y
            assert y + ribbon.thickness <= node.y + node.height + 1e-9


def test_svg_has_a_text_alternative():
    flow = Flow.of([("media", 1.0)], [("press", 1.0)], [(0, 0, 1.0, 2.5)])
    root = parsed(flow, title="A title")
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == "A title"
    words = root.find(f"{SVG}desc").text
    assert "media to press: 100 % of the mass at 2.5 adds 2.5 (100 %)" in words


def test_svg_shows_contributions():
    flow = Flow.of([("media", 1.0)], [("press", 1.0)], [(0, 0, 1.0, 2.5)])
    assert "+2.50" in "".join(parsed(flow).itertext())


def test_svg_of_hostile_words_is_valid():
    drawn = flow_svg(hostile_flow(), title=HOSTILE[0], source_title=HOSTILE[2], limit=50)
    root = ElementTree.fromstring(drawn)
    assert "<script" not in drawn
    assert "script" not in {element.tag.removeprefix(SVG) for element in root.iter()}
    assert "\u202e" not in drawn


def test_svg_has_light_and_dark_colors():
    drawn = flow_svg(random_flow(3))
    assert "prefers-color-scheme:dark" in drawn
    assert len(set(LIGHT)) == len(set(DARK)) == LEVELS


def test_svg_without_moves():
    parsed(EMPTY)


@given(st.lists(st.text(max_size=30), min_size=1, max_size=6))
def test_any_text_can_be_drawn(words):
    share = 1 / len(words)
    named = [(word, share) for word in words]
    flow = Flow.of(named, named, [(i, i, share, float(i)) for i in range(len(words))])
    ElementTree.fromstring(flow_svg(flow, title=words[0]))
    flow_html(flow, title=words[0], source_text=words[-1]).encode("utf-8")
    flow_text(flow).encode("utf-8")


# ---------------------------------------------------------------- HTML


def test_html_is_self_contained_without_scripts():
    page = flow_html(
        hostile_flow(), title=HOSTILE[0], source_text=HOSTILE[1], facts=[(HOSTILE[0], HOSTILE[1])]
    )
    assert "<script" not in page
    assert "javascript:" not in page
    assert not re.search(r"(?:src|href)=", page)
    assert page.count("http") == page.count("http://www.w3.org/2000/svg")


def test_html_has_every_move():
    page = flow_html(random_flow(200), title="many")
    assert page.count("<tr>") == 201
    assert page.count("<h1>") == 1
    assert "All 200 moves" in page


# ---------------------------------------------------------------- colors and words


def test_costs_span_the_colors():
    scale = CostScale.of([0.0, 2.0, 4.0])
    assert (scale.low, scale.high) == (2.0, 4.0)
    assert scale.level(2.0) == 0
    assert scale.level(4.0) == LEVELS - 1
    assert scale.levels == range(LEVELS)
    assert CostScale.of([]).high == 0


def test_equal_costs_have_the_color_of_the_highest_cost():
    for costs in ([3.0, 3.0], [5.160001, 5.160002]):
        scale = CostScale.of(costs)
        assert scale.levels == range(LEVELS - 1, LEVELS)
        assert scale.level(costs[0]) == LEVELS - 1
    words = [("cat", 0.5), ("dog", 0.5)]
    flow = Flow.of(words, [("mat", 0.5), ("log", 0.5)], [(0, 0, 0.5, 2.0), (1, 1, 0.5, 2.0)])
    picture = flow.to_svg()
    assert f'class="ribbon q{LEVELS - 1}"' in picture
    assert picture.count('<rect class="ribbon q') == 1  # one color in the legend
    assert picture.count(">cost 2<") == 1


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("short", 10, "short"),
        ("exactly10!", 10, "exactly10!"),
        ("eleven long", 10, "eleven lo…"),
        ("漢字漢字", 5, "漢字…"),
        ("two\nlines", 20, "two lines"),
    ],
)
def test_shortened_counts_columns(text, width, expected):
    assert shortened(text, width) == expected
    assert text_width(expected) <= width


def test_combining_marks_take_no_column():
    assert text_width("e\u0301") == 1
    assert text_width("กำ") == 2


def test_clean_words_are_unchanged():
    for word in ("naïve", "l'été", "New_York", "漢字", "👍"):
        assert clean(word) == word


@pytest.mark.parametrize(("option", "value"), [("limit", 0), ("width", 0)])
def test_options_are_checked(option, value):
    with pytest.raises(ValueError, match=f"{option} must be an integer"):
        flow_text(EMPTY, **{option: value})
    with pytest.raises(ValueError, match=f"{option} must be an integer"):
        flow_svg(EMPTY, **{option: value})


def test_a_flow_draws_itself():
    flow = random_flow(5)
    assert repr(flow) == f"Flow: score {flow.score:.4g}\n{flow_text(flow)}"
    assert flow.to_text(limit=2, width=60, unicode=False) == flow_text(
        flow, limit=2, width=60, unicode=False
    )
    title = f"Score {flow.score:.4g}"
    assert flow._repr_html_() == flow.to_svg() == flow_svg(flow, title=title)
    assert flow.to_html(title="Why", limit=3) == flow_html(flow, title="Why", limit=3)
    told = flow.to_dict()
    assert sum(move["contribution"] for move in told["flow"]) == pytest.approx(told["score"])
    assert sum(move["share"] for move in told["flow"]) == pytest.approx(1)
