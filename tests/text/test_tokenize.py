"""Tests of the tokenizer."""

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import ROOT, load_script
from textkin import _core
from textkin.text import tokenize
from tokenize_reference import TABLE, look_up, nfkc, reference_tokenize, table

ANY = st.text(st.characters(codec=None, exclude_categories=()))
TRICKY = st.text(
    "aB9zéΣ\u03c3\u0301\u0308\u0316\u093e\u0915\u4e2d\u6587\u30ab\u3099\u0e17\u0e35\u1100\u1161\u11a8"
    "\uac00\u0130\ufb01\u00ad\U0001f600\ufe0f\u200d\u200b\ufdfa\u0331H\u03aaJ\u030c_''\u2019- .\n",
    max_size=30,
)


@settings(max_examples=300)
@given(ANY | TRICKY, st.booleans())
def test_tokens_equal_reference(text, lowercase):
    assert tokenize(text, lowercase=lowercase) == reference_tokenize(text, lowercase=lowercase)


def test_tokens_equal_reference_for_every_character_of_the_table():
    special = {*table().characters, *table().lower, *table().decompositions}
    around = {code + step for code in special for step in (-1, 1)} & set(range(sys.maxunicode + 1))
    # Place each character between letters, after a mark, and next to itself.
    for code in sorted(special | around):
        if (
            not 0x4E00 < code < 0x9FFF
            and not 0xAC20 < code < 0xD780
            and not 0x17001 < code < 0x323AF
        ):
            text = f"a{chr(code)}Bo\u0323{chr(code)}{chr(code)}\u0301"
            assert tokenize(text) == reference_tokenize(text), hex(code)


def test_characters_outside_the_table_separate_words():
    others = [c for c in range(sys.maxunicode + 1) if c not in table().characters]
    assert len(others) > 800_000
    words = tokenize("".join(f"a{chr(code)}b " for code in others))
    assert len(words) == 2 * len(others)
    assert set(words) == {"a", "b"}


def test_tokens_of_each_table_character_are_stable():
    # Stop lists and phrases rely on this. Pairs of characters are words of two units.
    special = [*table().characters, *table().lower, *table().decompositions]
    for word in {word for code in special for word in tokenize(f"a{chr(code)}o {chr(code)}")}:
        assert tokenize(word) == [word], ascii(word)


@settings(max_examples=300)
@given(ANY | TRICKY)
def test_tokens_of_any_token_are_itself(text):
    for word in tokenize(text):
        assert tokenize(word) == [word]


@settings(max_examples=100)
@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_path_agrees_with_general_path(text):
    assert [*tokenize(text), "é"] == tokenize(text + " é")


def assigned() -> list[str]:
    """Return the characters that are assigned in the running Python's Unicode version."""
    return [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) != "Cn"]


def test_character_table_agrees_with_unicode():
    version = tuple(map(int, unicodedata.unidata_version.split(".")))
    if version > (15, 1, 0):
        pytest.skip(f"this Python has Unicode {unicodedata.unidata_version}, newer than the table")
    # Python versions can differ: a few characters have changed their category since Unicode 14.
    changed = {"\u1734", "\u180f", "\u1cf7", "\u061c"}
    wrong = []
    for c in assigned():
        kind, category = look_up(ord(c)).kind, unicodedata.category(c)
        expected = {"L": {"word", "cjk", "southeast"}, "N": {"word", "cjk"}, "M": {"mark"}}.get(
            category[0], {"separator", "apostrophe"}
        )
        is_dropped = kind == "dropped" and (category == "Cf" or c in INVISIBLE)
        if kind not in expected and not is_dropped and c not in changed:
            wrong.append(c)
        assert look_up(ord(c)).combining == unicodedata.combining(c)
    assert not wrong


INVISIBLE = {
    "\u034f",
    "\u180b",
    "\u180c",
    "\u180d",
    "\u180f",
    *map(chr, range(0xFE00, 0xFE10)),
    *map(chr, range(0xE0100, 0xE01F0)),
}


@settings(max_examples=300)
@given(st.text(st.sampled_from([c for c in assigned() if look_up(ord(c)).kind != "dropped"])))
def test_normal_form_equals_nfkc_of_python(text):
    # Unicode guarantees that the normal form of an assigned character never changes.
    if any(0xD800 <= ord(c) <= 0xDFFF for c in text):
        return
    expected = unicodedata.normalize("NFKC", text)
    assert "".join(map(chr, nfkc(list(map(ord, text))))) == expected
    assert _core.normalise(text) == expected.replace("\u2019", "'")


def test_lower_case_equals_lower_of_python():
    for c in assigned():
        for word in tokenize(f"a{c}", lowercase=False):
            assert tokenize(word) == [unicodedata.normalize("NFKC", word.lower())], ascii(c)


def test_table_file_equals_output_of_the_script():
    script = load_script("scripts/make_character_table.py")
    if unicodedata.unidata_version != script.UNICODE:
        pytest.skip(f"this Python has Unicode {unicodedata.unidata_version}")
    assert TABLE.read_text(encoding="ascii") == "\n".join(script.table()) + "\n"


def test_tokens_are_the_same_on_every_python():
    # The file has the words of a text in many scripts, from when the table was frozen.
    text = (ROOT / "tests" / "text" / "scripts.txt").read_text(encoding="utf-8")
    words = (ROOT / "tests" / "text" / "scripts.words.txt").read_text(encoding="utf-8").split("\n")
    assert tokenize(text) == words[:-1]


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
        ("我们读书", ["我们", "们读", "读书"]),
        ("カﾞｷﾞ日本の", ["ガギ", "ギ日", "日本", "本の"]),
        ("ภาษาไทย ดี", ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย", "ดี"]),
        ("ที่นี่", ["ที่นี่"]),
        ("iPhone手機2015年", ["iphone", "手機", "2015", "年"]),
        ("한국어 텍스트", ["한국어", "텍스트"]),
        ("\u1112\u1161\u11ab", ["한"]),
        ("co\u00adop \ufeffx\u200by", ["coop", "x", "y"]),
        ("\u0645\u06cc\u200c\u062e\u0648", ["\u0645\u06cc\u062e\u0648"]),
        ("1\ufe0f\u20e3", ["1\u20e3"]),
        ("H\u0331 \u1e96", ["\u1e96", "\u1e96"]),
        ("\u03a4\u0391\u03aa\u0301\u0396\u03a9", ["\u03c4\u03b1\u0390\u03b6\u03c9"]),
        ("Straße GROẞ İ", ["straße", "groß", "i\u0307"]),
        ("love \u2764\ufe0f you \U0001f600", ["love", "you"]),
        ("\u0301alone", ["alone"]),
        ("\u039f\u0394\u039f\u03a3.\u0391", ["\u03bf\u03b4\u03bf\u03c2", "\u03b1"]),
        ("\ud800 lone", ["lone"]),
    ],
)
def test_edge_cases(text, words):
    assert tokenize(text) == words


def test_huge_text_is_tokenized():
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
def test_invalid_input_raises(value, message):
    with pytest.raises(TypeError, match=message):
        tokenize(value)
