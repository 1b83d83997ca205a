"""What a word is."""

import sys
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textkin.text import tokenize
from textkin.text._tokenise import _WHERE_MARKS_LIE


def slow_tokenize(text: str) -> list[str]:
    """Walk over the characters one by one and ask Unicode what each is."""
    text = unicodedata.normalize("NFKC", text).replace("\u2019", "'") + "  "
    words, word = [], ""
    for here, following in pairwise(text):
        kind = unicodedata.category(here)[0]
        inner = here == "'" and unicodedata.category(following)[0] in "LN"
        if kind in "LN" or (word and (kind == "M" or inner)):
            word += here
        elif word:
            words.append(word)
            word = ""
    return words


TRICKY = "aB9zé\u0301\u0308\u093e\u0915\u4e2d\u0e17\U0001f600\ufe0f\u200d_''\u2019- .\n"


@settings(max_examples=150)
@given(st.text() | st.text(TRICKY, max_size=30))
def test_equals_a_walk_over_the_characters(text):
    assert tokenize(text, lowercase=False) == slow_tokenize(text)


@settings(max_examples=150)
@given(st.text() | st.text(TRICKY, max_size=30))
def test_lower_case_changes_the_words_only(text):
    assert tokenize(text) == [word.lower() for word in tokenize(text, lowercase=False)]


@settings(max_examples=50)
@given(st.text(st.characters(max_codepoint=127)))
def test_the_ascii_path_agrees_with_the_other(text):
    assert [*tokenize(text), "é"] == tokenize(text + " é")


def test_no_mark_lies_where_none_is_looked_for():
    looked_at = {code for codes in _WHERE_MARKS_LIE for code in codes}
    elsewhere = (code for code in range(sys.maxunicode + 1) if code not in looked_at)
    assert not [c for c in map(chr, elsewhere) if unicodedata.category(c)[0] == "M"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("   \n\t", []),
        ("!?...", []),
        ("Obama speaks.", ["obama", "speaks"]),
        ("don't 'quote' rock'n'roll", ["don't", "quote", "rock'n'roll"]),
        ("don\u2019t", ["don't"]),
        ("o''clock dogs'", ["o", "clock", "dogs"]),
        ("snake_case __init__", ["snake", "case", "init"]),
        ("\u00e9t\u00e9 e\u0301te\u0301", ["\u00e9t\u00e9", "\u00e9t\u00e9"]),
        ("x\u0329\u0302y", ["x\u0329\u0302y"]),
        ("\ufb01ne \uff21\uff22\uff23", ["fine", "abc"]),
        ("3.14 1,000 2nd \u00bd", ["3", "14", "1", "000", "2nd", "1", "2"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("我们 读书。好", ["我们", "读书", "好"]),
        ("ภาษาไทย ดี", ["ภาษาไทย", "ดี"]),
        ("love \u2764\ufe0f you \U0001f600", ["love", "you"]),
        ("\u0301alone", ["alone"]),
        ("\u039f\u0394\u039f\u03a3.\u0391", ["\u03bf\u03b4\u03bf\u03c2", "\u03b1"]),
        ("\ud800 lone", ["lone"]),
    ],
)
def test_edges(text, words):
    assert tokenize(text) == words


def test_a_huge_text():
    assert len(tokenize("word é " * 20_000)) == 40_000


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "must be a str; got NoneType.*missing value"),
        (float("nan"), "got float .nan., a missing value"),
        (b"text", "got bytes: decode it first"),
        (["text"], "must be a str; got list"),
    ],
)
def test_other_things_are_refused(value, message):
    with pytest.raises(TypeError, match=message):
        tokenize(value)
