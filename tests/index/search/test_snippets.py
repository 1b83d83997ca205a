"""Snippets: best passage, whole words, marked matches, and safe text."""

import html
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from textkin import Index, _core
from textkin.explain._characters import clean, text_width
from textkin.index.search._snippets import Piece, Snippets, marked
from textkin.text._word_spans import begins_cluster, word_spans

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
ODD = (
    "über naïve e\u0301te\u0301 Straße “press”, don\u2019t l'été snake_é x½y iPhone™ ℀ ㍿ 東京都 "
    "2015年 東京tower塔 ภาษาไทย ไทย東京 한국어 Ⓐb ﬁne a\u00adb é\u200bx 🇩🇪🇫🇷 👍🏽 \u0301é —é— "
    f"é''x 'é' नमस्ते ١٢٣ {FAMILY}"
).split()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snippets]:
    with Index.create(tmp_path_factory.mktemp("snippets") / "test.kin", language=None) as index:
        yield Snippets.of(index._searcher().state)


def read_as(path: Path, **settings: Any) -> Snippets:
    with Index.create(path / "test.kin", **settings) as index:
        return Snippets.of(index._searcher().state)


def shown(snippets: Snippets, text: str, words: str, width: int = 60) -> str:
    found = snippets.find(text, dict.fromkeys(words.split("|"), 1.0), width)
    return marked(found, ("[", "]"))


# ---------------------------------------------------------------------- spans of words


@given(
    st.lists(st.one_of(st.sampled_from(ODD), st.text(max_size=6)), max_size=5).flatmap(
        lambda parts: st.sampled_from([" ", ""]).map(lambda joint: joint.join(parts))
    )
)
@example("x½")
@example("ไทย東京2015年é")
@example("é\u200bx")
def test_spans_contain_the_words(text: str) -> None:
    line = clean(text.encode("utf-8", "replace").decode())
    found = [word for a, b in word_spans(line) for word in _core.tokenise(line[a:b], True)]
    assert found == _core.tokenise(line, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The “press”, the_press don't", ["The", "press", "the", "press", "don't"]),
        ("—über-Straße—", ["über", "Straße"]),
        ("2015年東京都tower", ["2015", "年東", "東京", "京都", "tower"]),
        ("l\u2019été, 'été'", ["l\u2019été", "été"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("e\u0301te\u0301!", ["e\u0301te\u0301"]),
        ("", []),
        ("— … !", []),
    ],
)
def test_spans_of_words(text: str, words: list[str]) -> None:
    assert [text[a:b] for a, b in word_spans(text)] == words


@pytest.mark.parametrize("text", [FAMILY, "🇩🇪", "👍🏽", "e\u0301", "\u1112\u1161\u11ab", "ก็"])
def test_grapheme_clusters_are_not_split(text: str) -> None:
    assert not any(begins_cluster(text + "x", at) for at in range(1, len(text)))
    assert begins_cluster(text + "x", len(text))
    assert begins_cluster("🇩🇪🇫🇷", 2)


# ---------------------------------------------------------------------- choice of the passage


WORDS = ["cat", "dog", "bird", "lorem", "ipsum", "dolor"]


def best_weight(words: list[str], weights: dict[str, float], room: int) -> float:
    """Weigh every window of words; a repeated word has a tenth of its weight."""
    best = 0.0
    for first in range(len(words)):
        for last in range(first, len(words)):
            run = words[first : last + 1]
            if last > first and len(" ".join(run)) > room:
                break
            best = max(best, weigh(run, weights))
    return best


def weigh(words: list[str], weights: dict[str, float]) -> float:
    counted = {word: words.count(word) for word in set(words) if word in weights}
    return sum(weights[word] * (1 + 0.1 * (n - 1)) for word, n in counted.items())


@given(
    words=st.lists(st.sampled_from(WORDS), max_size=60),
    weights=st.dictionaries(st.sampled_from(WORDS[:3]), st.sampled_from([0.5, 1.0, 3.0])),
    width=st.integers(10, 80),
)
def test_passage_has_the_most_query_words(
    plain: Snippets, words: list[str], weights: dict[str, float], width: int
) -> None:
    text = " ".join(words)
    pieces = plain.find(text, weights, width)
    found = [piece.text for piece in pieces if piece.matched]
    assert set(found) <= set(weights)
    assert weigh(found, weights) >= best_weight(words, weights, width - 2) - 1e-9
    whole = marked(pieces)
    assert len(whole) <= width
    assert whole.strip("…") in text
    assert all(word in WORDS for word in whole.replace("…", " ").split())


@given(
    text=st.lists(st.one_of(st.sampled_from([*ODD, "cat", " "]), st.text(max_size=40))).map(
        "".join
    ),
    width=st.integers(10, 50),
)
@example(text="cat" + "\u0301" * 3000 + " dog", width=20)
@example(text=(FAMILY + "🇩🇪") * 100, width=11)
@example(text="x" * 5000 + " cat " + "y" * 5000, width=30)
@example(text="東京" * 3000, width=30)
@example(text="\x1b[31m\u202ecat\x00\x07\r\n\t\u2028" * 5, width=30)
def test_any_text_gives_one_safe_line(plain: Snippets, text: str, width: int) -> None:
    text = text.encode("utf-8", "replace").decode()
    pieces = plain.find(text, {"cat": 1.0, "東京": 2.0, "été": 1.0}, width)
    whole = marked(pieces)
    assert text_width(whole) <= width
    assert len(whole) <= 4 * width + 2
    hidden = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not any(unicodedata.category(character) in hidden for character in whole)
    assert not set(whole) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    for piece in pieces:
        cut = text_width(piece.text) >= width - 4 or len(piece.text) > 3 * width
        if piece.matched and not cut:
            assert set(_core.tokenise(piece.text, True)) & {"cat", "東京", "été"}
    if whole.startswith("…") and f" {whole[1:2]}" not in text:
        assert unicodedata.category(whole[1]) not in ("Mn", "Me", "Mc")


@pytest.mark.parametrize(
    ("text", "words", "width", "expected"),
    [
        ("The cat sat.", "cat", 60, "The [cat] sat."),
        ("The cat  \n sat.", "", 60, "The cat sat."),
        ("", "cat", 60, ""),
        (" \n ", "cat", 60, ""),
        ("one two three four", "", 12, "one two…"),
        ("one two three four", "four", 12, "…three [four]"),
        ("one two three four", "three", 12, "…[three] four"),
        ("aaa bbb cat ccc ddd eee", "cat", 16, "…bbb [cat] ccc…"),
        ("Caterpillars are no cats", "cat", 60, "Caterpillars are no cats"),
        ("supercalifragilistic", "supercalifragilistic", 12, "[supercalif]…"),
        ("supercalifragilistic", "", 12, "supercalif…"),
        ("CAT-like cats' cat's cat", "cat", 60, "[CAT]-like cats' cat's [cat]"),
        ("古い都です京都は古い都です", "京都", 14, "…です[京都]は古…"),
    ],
)
def test_passages(plain: Snippets, text: str, words: str, width: int, expected: str) -> None:
    assert shown(plain, text, words, width) == expected


def test_passage_of_a_long_text(plain: Snippets) -> None:
    text = "lorem cat ipsum " * 5000 + " a cat met a dog here " + "lorem dog ipsum " * 5000
    assert "[cat] met a [dog]" in shown(plain, text, "cat|dog", 60)
    assert shown(plain, "lorem ipsum " * 10_000, "cat").startswith("lorem ipsum")
    assert shown(plain, "x" * 100_000 + " cat", "cat") == "…[cat]"
    assert shown(plain, "cat " + "x" * 100_000, "cat") == "[cat]…"
    assert shown(plain, "東京" * 50_000 + "京都府" + "東京" * 50_000, "都府").count("[") == 1


def test_words_with_large_weights_win(plain: Snippets) -> None:
    text = "the the the " + "x " * 100 + "rare " + "x " * 100
    found = plain.find(text, {"the": 0.1, "rare": 5.0}, 30)
    assert Piece("rare", True) in found
    assert plain.find("a b", {"a": 0.0, "b": -1.0}, 30) == [Piece("a b", False)]


# ---------------------------------------------------------------------- text settings


def test_stems_and_ngrams_match(tmp_path: Path) -> None:
    snippets = read_as(tmp_path, normalizer="stem", ngram_range=(1, 2), stop_words=["the"])
    assert shown(snippets, "Cats are running", "cat") == "[Cats] are running"
    assert shown(snippets, "Cats, running", "cat run") == "[Cats], [running]"
    assert shown(snippets, "sat on the mat", "on mat") == "sat [on] the [mat]"
    assert shown(snippets, "the the", "the") == "the the"


def test_case_sensitive_index_matches_case(tmp_path: Path) -> None:
    snippets = read_as(tmp_path, lowercase=False)
    assert shown(snippets, "US us", "US") == "[US] us"


def test_other_scripts_match(plain: Snippets) -> None:
    assert shown(plain, "Die STRASSE, die Straße", "straße") == "Die STRASSE, die [Straße]"
    assert shown(plain, "東京都は", "東京|京都") == "[東京都]は"
    assert shown(plain, "ภาษาไทย", "ภา|ไท") == "[ภา]ษา[ไท]ย"
    assert shown(plain, "E\u0301te\u0301!", "été") == "[E\u0301te\u0301]!"


# ---------------------------------------------------------------------- marks


def test_marks_and_escapes() -> None:
    pieces = [Piece("<i> & ", False), Piece("<b>", True)]
    assert marked(pieces) == "<i> & <b>"
    assert marked(pieces, ("«", "»")) == "<i> & «<b>»"
    assert marked(pieces, str.upper) == "<i> & <B>"
    assert marked(pieces, ("<m>", "</m>"), html.escape) == "&lt;i&gt; &amp; <m>&lt;b&gt;</m>"
    for wrong in ("**", ("a",), (1, 2), 3):
        with pytest.raises(TypeError, match="marks must be None, a pair of str"):
            marked(pieces, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [9, 0, -1, 10_001, 30.5, "30", True])
def test_invalid_width_raises(plain: Snippets, width: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="width must be an integer at least 10"):
        plain.find("text", {}, width)
