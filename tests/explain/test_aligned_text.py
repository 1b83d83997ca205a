"""Aligned texts: both whole texts, each word with its distance and its partners."""

import math
import pickle
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import textkin as tk
from textkin import _core
from textkin.explain import AlignedText, Flow, Place, stylesheet
from textkin.explain._characters import text_width
from textkin.index import TransportRanking
from textkin.text._word_spans import word_spans

FIRST = "Obama speaks to the media in Illinois,\nqwertzish media!"
SECOND = "The President greets the press in Illinois"
HOSTILE = [
    "<script>alert(1)</script>", "]]>&amp;\"' onload='x", "\x1b[2J\x07", "\u202eabc\u2066",
    "a\u0301" + "\u0301" * 300, "w" * 500, "日本語のテキスト", "שלום עולם", "👩\u200d👩\u200d👧 🇩🇪",
    "\ud800", "\0", "{}</style>",
]  # fmt: skip


@pytest.fixture(scope="module")
def found() -> tk.transport.Comparison:
    return tk.compare(FIRST, SECOND)


def placed(text: str) -> list[Place]:
    return [Place(start, end, (text[start:end],)) for start, end in word_spans(text)]


def aligned_texts(first: str, second: str) -> AlignedText:
    """Move the words of one text to the words of another in turn; every third at no cost."""
    columns = [list(dict.fromkeys(p.words[0] for p in placed(text))) for text in (first, second)]
    moves = []
    if all(columns):
        n = max(map(len, columns))
        moves = [(i % len(columns[0]), i % len(columns[1]), 1 / n, i % 3 * 0.7) for i in range(n)]
    flow = Flow.of(*([(word, 1.0) for word in column] for column in columns), moves)
    return AlignedText.of(flow, first, placed(first), second, placed(second))


# ------------------------------------------------------------------ words and distances


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
@example("a\nb\tc\u2028d é\n\né")
@example("x\x85é\x1cy")
def test_spans_match_words_in_any_text(text: str) -> None:
    found = [word for a, b in word_spans(text) for word in _core.tokenise(text[a:b], True)]
    assert found == _core.tokenise(text, True)


def test_words_of_a_comparison_are_aligned_with_the_texts(found: tk.transport.Comparison) -> None:
    aligned = found.aligned()
    assert "".join(piece.text for piece in aligned.source) == FIRST
    assert "".join(piece.text for piece in aligned.target) == SECOND
    words = [(piece.text, found.flow.sources[piece.word][0])
             for piece in aligned.source if piece.word is not None]  # fmt: skip
    assert words == [
        ("Obama", "obama"), ("speaks", "speaks"), ("media", "media"),
        ("Illinois", "illinois"), ("media", "media"),
    ]  # fmt: skip
    reasons = {piece.text: piece.reason for piece in aligned.source if piece.reason}
    assert reasons == {"to": "stop", "the": "stop", "in": "stop", "qwertzish": "unknown"}


def test_contributions_sum_to_the_score_on_both_sides(found: tk.transport.Comparison) -> None:
    aligned = found.aligned()
    for pieces in (aligned.source, aligned.target):
        adds = {piece.word: piece.adds for piece in pieces if piece.word is not None}
        assert math.isclose(sum(adds.values()), found.distance, rel_tol=1e-9)
        for piece in pieces:
            if piece.word is not None:
                mass = sum(one.mass for one in piece.partners)
                assert math.isclose(piece.cost * mass, piece.adds, abs_tol=1e-12)
                assert math.isclose(sum(o.contribution for o in piece.partners), piece.adds)


def test_levels_match_the_flow(found: tk.transport.Comparison) -> None:
    aligned = found.aligned()
    free = [piece for piece in aligned.source if piece.text == "Illinois"]
    assert [(piece.level, piece.cost, piece.adds) for piece in free] == [(None, 0.0, 0.0)]
    costs = [move.cost for move in found.moves if move.cost]
    assert (aligned.scale.low, aligned.scale.high) == (min(costs), max(costs))
    pairs = sorted((p.cost, p.level) for p in aligned.source if p.level is not None)
    assert [level for _, level in pairs] == sorted(level for _, level in pairs)
    press = next(piece for piece in aligned.target if piece.text == "press")
    assert press.level == 0
    assert [one.word for one in press.partners] == ["media"]


def test_overlapping_words_end_at_the_next_word() -> None:
    text = "東京都2015"
    flow = Flow.of(
        [("東京", 0.5), ("京都", 0.5)], [("x", 1.0)], [(0, 0, 0.5, 1.0), (1, 0, 0.5, 2.0)]
    )
    aligned = AlignedText.of(flow, text, placed(text), "x", placed("x"))
    assert [(piece.text, piece.word) for piece in aligned.source] == [
        ("東", 0), ("京都", 1), ("2015", None),
    ]  # fmt: skip


def test_documents_without_texts_raise() -> None:
    for a, b in ((["obama", "speaks"], "press"), ("press", ["obama"])):
        with pytest.raises(ValueError, match="aligned requires two texts"):
            tk.compare(a, b).aligned()
    bags = tk.WordMover(np.eye(3)).explain(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))
    with pytest.raises(ValueError, match="aligned requires two texts"):
        bags.aligned()
    assert "<blockquote" not in bags.to_html()


def test_read_documents_keep_their_texts() -> None:
    [one, other] = tk.read([{"text": FIRST}, {"text": SECOND}])
    assert tk.compare(one, other).aligned() == tk.compare(FIRST, SECOND).aligned()


def test_pickle_without_vectors(found: tk.transport.Comparison) -> None:
    kept = pickle.dumps(tk.compare(FIRST, SECOND))
    assert len(kept) < 50_000
    loaded = pickle.loads(kept)
    assert loaded.aligned() == found.aligned()
    assert loaded.to_html() == found.to_html()


def test_hits_show_alignments(tmp_path) -> None:
    with tk.Index.create(tmp_path / "a.kin", language=None) as index:
        index.add([{"id": "a", "text": SECOND}, {"id": "b", "text": FIRST}])
        for by in ("wmd", "rwmd", *map(TransportRanking, ("rwmd-query", "rwmd-document"))):
            hits = index.search("Obama speaks to the media.", ranking=by)
            for hit in hits:
                aligned = hit.aligned()
                assert "".join(piece.text for piece in aligned.target) == hit.text
                assert "".join(piece.text for piece in aligned.source) == hits.query.text
                adds = {p.word: p.adds for p in aligned.source if p.word is not None}
                assert math.isclose(sum(adds.values()), hit.score, abs_tol=1e-6)
            assert hits.feedback(relevant=["a"])[0].aligned() is None
            [like] = index.similar("a", ranking=by)
            assert "".join(piece.text for piece in like.aligned().source) == SECOND
        for by in ("bm25", "wcd"):
            assert index.search("press", ranking=by)[0].aligned() is None


# ------------------------------------------------------------------ characters


def test_marks_in_text(found: tk.transport.Comparison) -> None:
    text = found.aligned().to_text(width=50)
    assert "Illinois⁼,\nqwertzishˣ media²!" in text
    assert "to the media² in" in text
    plain = found.aligned().to_text(width=50, unicode=False)
    assert "Illinois(=)," in plain
    assert plain.isascii()
    coloured = found.aligned().to_text(width=50, color=True)
    assert "\x1b[4mIllinois\x1b[0m" in coloured
    assert "\x1b[2mthe\x1b[0m" in coloured
    bare = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert "Illinois,\nqwertzish media!" in bare
    with pytest.raises(ValueError, match="width must be"):
        found.aligned().to_text(width=3)


@given(st.text(max_size=200), st.text(max_size=50), st.integers(20, 90), st.booleans())
@example("a" * 200, "b", 20, True)
@example("\n\n\na\n\n\n\nb", "b", 20, True)
def test_lines_fit_and_contain_all_words(a: str, b: str, width: int, unicode: bool) -> None:
    drawn = aligned_texts(a, b).to_text(width=width, unicode=unicode)
    assert all(text_width(line) <= width for line in drawn.split("\n"))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", drawn)
    assert "\n\n\n" not in drawn


# ------------------------------------------------------------------ HTML and SVG


def root_of(page: str) -> ElementTree.Element:
    return ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>\n"))


def test_html_shows_whole_texts_with_tooltips(found: tk.transport.Comparison) -> None:
    root = root_of(found.aligned().to_html(title="Two"))
    first, second = (node for node in root.iter("div") if node.get("class") == "text")
    for hidden in [*first.iter("span"), *second.iter("span")]:
        if hidden.get("class") == "sr":
            hidden.text = ""
    assert "".join(first.itertext()) == FIRST
    assert "".join(second.itertext()) == SECOND
    assert first.get("dir") == "auto"
    media = [node for node in first.iter("span") if node.text == "media"]
    assert [node.get("class") for node in media] == ["w q2 a0", "w q2 a0"]
    assert [node.get("tabindex") for node in media] == ["0", None]  # each word is one tab stop
    assert media[0].get("title").startswith("25 % to press at 4.09, 15 % to president at")
    assert "outline" in "".join(node.text for node in root.iter("style"))


def test_comparison_html_includes_aligned_texts(found: tk.transport.Comparison) -> None:
    page = found.to_html()
    assert 'class="textkin-aligned ' in page
    assert "<blockquote" not in page
    assert all(f".textkin-aligned .{name}{{" in stylesheet() for name in ("w", "free", "unknown"))


def test_only_some_words_are_tab_stops() -> None:
    words = " ".join(f"word{at}" for at in range(3000))
    page = aligned_texts(words, words[::-1]).to_html()
    assert page.count('tabindex="0"') == 80
    assert page.count(":has(") == 400


def test_svg_draws_the_first_lines() -> None:
    text = " ".join(f"word{at}" for at in range(300))
    root = ElementTree.fromstring(aligned_texts(text, "one").to_svg(limit=5, title="Two"))
    lines = {node.get("y") for node in root.iter() if node.get("class") == "ink word"}
    assert len(lines) == 5
    assert any("more lines" in (node.text or "") for node in root.iter())


@given(
    st.lists(st.sampled_from(HOSTILE) | st.text(max_size=20), max_size=4).map(" ".join),
    st.lists(st.sampled_from(HOSTILE) | st.text(max_size=20), max_size=4).map("\n".join),
)
@example(" ".join(HOSTILE), "\n".join(HOSTILE))
def test_texts_are_escaped(a: str, b: str) -> None:
    words = [text.encode("utf-8", "replace").decode() for text in (a, b)]
    aligned = aligned_texts(*words)
    for drawn in (aligned.to_html(title=a), aligned.to_svg(title=a), aligned._repr_html_()):
        root = root_of(drawn)  # well-formed: everything is escaped
        assert {node.tag.rpartition("}")[2] for node in root.iter()} <= {
            "html", "head", "meta", "title", "style", "body", "h1", "div", "span", "p",
            "svg", "desc", "rect", "text",
        }  # fmt: skip
        assert not any(name.startswith("on") for node in root.iter() for name in node.attrib)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", drawn)


def test_right_to_left_text_starts_at_the_right():
    flow = Flow.of(
        [("one", 0.5), ("two", 0.5)], [("שלום", 1.0)], [(0, 0, 0.5, 1.0), (1, 0, 0.5, 2)]
    )
    first, second = "one two", "שלום עולם two"
    drawn = AlignedText.of(flow, first, placed(first), second, placed(second)).to_svg()
    place = {
        word: (float(x), anchor)
        for x, anchor, word in re.findall(
            r'<text x="([0-9.]+)" y="24.0" text-anchor="(\w+)"[^>]*>\u2068(\w+)', drawn
        )
    }
    assert place["שלום"][0] > place["עולם"][0] > place["two"][0]
    assert place["שלום"][1] == "end"
    assert place["one"] == (10.0, "start")
