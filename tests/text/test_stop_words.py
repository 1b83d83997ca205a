"""Tests of stop words: lists, files, and matching."""

import copy
import hashlib
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from support import ROOT, load_script
from textkin.text import (
    BagOfWords,
    remove_stop_words,
    smart_words,
    stop_list,
    stop_lists,
    stop_word_set,
    tokenize,
)
from textkin.text._stop_words import MAX_BYTES

MAKE = "scripts/make_stop_lists.py"


def test_smart_list_is_complete():
    words = smart_words()
    assert len(words) == 571
    assert len(set(words)) == 570
    assert words.count("would") == 2
    assert "uucp" in words
    assert "obama" not in words
    assert words[0] == "a"
    assert words[-1] == "zero"


def test_smart_entries_without_apostrophe_include_ordinary_words():
    new = stop_word_set("smart") - set(smart_words())
    assert {"id", "ill", "lets", "wed"} <= new
    assert not {"hell", "shell"} & stop_word_set("smart")
    assert {"well", "were"} <= set(smart_words())


@pytest.mark.parametrize("token", ["don't", "DON'T", "dont", "Dont", "don\u2019t"])
def test_stop_words_match_in_any_case_with_or_without_apostrophe(token):
    for entry in ("don't", "DON\u2019T"):
        assert remove_stop_words([token, "word"], stop_word_set([entry])) == ["word"]


def test_token_with_apostrophe_matches_entry_without():
    assert remove_stop_words(["don't"], stop_word_set(["dont"])) == []


def test_entry_matches_in_any_unicode_normal_form():
    assert remove_stop_words(["\u00e9t\u00e9"], stop_word_set(["e\u0301te\u0301"])) == []


def test_no_stop_words_remove_nothing():
    assert stop_word_set(None) == stop_word_set([]) == frozenset()
    assert remove_stop_words(("the", "the"), frozenset()) == ["the", "the"]


@settings(max_examples=60)
@given(st.lists(st.text("aB'", max_size=3)), st.lists(st.text("aB'", max_size=3)))
def test_removal_equals_reference_loop(tokens, entries):
    def forms(word):
        return {word.lower(), word.lower().replace("'", "")}

    pieces = [piece for entry in entries for piece in re.findall("[aB]+(?:'[aB]+)*", entry)]
    stopped = set().union(*map(forms, entries + pieces))
    expected = [token for token in tokens if not forms(token) & stopped]
    assert remove_stop_words(iter(tokens), stop_word_set(iter(entries))) == expected


@pytest.mark.parametrize("name", ["the", "english", "SMART", "", ":1", "stop.txt", "../smart"])
def test_unknown_name_raises(name):
    expected = f"'smart', None or a list.*got '{name}'.*'glasgow', .*pass a list.*Path"
    with pytest.raises(ValueError, match=expected):
        stop_word_set(name)
    with pytest.raises(ValueError, match=r"must be one of .*'smart'"):
        stop_list(name)


@pytest.mark.parametrize("version", ["2", "01", "", "x", "1:1"])
def test_unknown_version_raises(version):
    with pytest.raises(ValueError, match=f"must be one of 'smart:1'; got '{version}'"):
        stop_list(f"smart:{version}")
    with pytest.raises(ValueError, match=f"got '{version}'"):
        stop_word_set(f"smart:{version}")


def test_entry_that_is_not_a_word_raises():
    with pytest.raises(TypeError, match="position 1 holds int"):
        stop_word_set(["a", 1])


def test_invalid_type_raises():
    for wrong in (3, 1.5, float("nan")):
        with pytest.raises(TypeError, match="name of a list, a Path, a list of words or None; got"):
            stop_word_set(wrong)
    with pytest.raises(TypeError, match="name must be a str; got NoneType"):
        stop_list(None)


# ------------------------------------------------------------------ lists

SIZES = {
    "glasgow": 318,
    "lucene": 33,
    "search": 54,
    "smart": 571,
    "snowball-english": 174,
    "snowball-german": 231,
}


def test_lists_have_names_versions_sizes_and_origins():
    found = {each.pinned: each for each in stop_lists()}
    assert list(found) == sorted(found)
    assert {name: len(stop_list(name)) for name in SIZES} == SIZES
    for pinned, each in found.items():
        assert stop_list(pinned) is each
        assert each.language.isalpha()
        assert each.origin
        assert each.license
        assert each.words
        assert all(word == word.strip().lower() for word in each)
        assert each.name == "smart" or len(set(each)) == len(each)
        assert each.words[0] in each
        assert "obama" not in each


def test_unversioned_name_gives_latest_version():
    assert stop_list("smart") is stop_list("smart:1")
    assert stop_word_set("smart") is stop_word_set("smart:1")


def test_lists_compare_and_copy_by_value():
    smart = stop_list("smart")
    assert pickle.loads(pickle.dumps(smart)) == copy.deepcopy(smart) == smart
    assert hash(pickle.loads(pickle.dumps(smart))) == hash(smart)
    assert smart != stop_list("lucene")
    assert stop_word_set(smart) == stop_word_set("smart")
    assert repr(smart) == "StopList('smart:1', 571 words)"


def test_list_of_another_language_removes_its_words():
    text = "Der Hund und die Katze waren nicht im Haus"
    found = remove_stop_words(tokenize(text), stop_word_set("snowball-german"))
    assert found == ["hund", "katze", "haus"]
    assert BagOfWords("snowball-german").words(text) == found


DIGESTS = {
    "glasgow:1": "40e0a284c5b9",
    "lucene:1": "2f66c0e3dde5",
    "search:1": "501cdb9d3d0f",
    "smart:1": "32ad5272f2e3",
    "snowball-danish:1": "2a877f646a59",
    "snowball-dutch:1": "bbe6657cb305",
    "snowball-english:1": "bb111acccf81",
    "snowball-finnish:1": "63f3c3a6fcaa",
    "snowball-french:1": "422fb48ad1fc",
    "snowball-german:1": "7bd54f11dbe5",
    "snowball-hungarian:1": "b1c604d79b3d",
    "snowball-italian:1": "98207aef1e7e",
    "snowball-norwegian:1": "96f216176f6c",
    "snowball-portuguese:1": "50c711a17416",
    "snowball-russian:1": "b13477c4b4d3",
    "snowball-spanish:1": "653a4f50e15b",
    "snowball-swedish:1": "566c6bf8521e",
}


def test_released_versions_are_unchanged():
    """If a list changes, add a version and a line here; never edit an existing line."""
    for pinned, digest in DIGESTS.items():
        data = "\n".join(stop_list(pinned).words).encode()
        assert hashlib.sha256(data).hexdigest().startswith(digest), pinned
    assert list(DIGESTS) == [each.pinned for each in stop_lists()]


def test_table_in_docs_has_every_list():
    rows = re.findall(
        r"^\| `([\w-]+)` \| (\d+) \| (\d+) \|", (ROOT / "docs/words.md").read_text(), re.M
    )
    assert sorted(rows) == sorted(
        (each.name, str(each.version), str(len(each))) for each in stop_lists()
    )


# ------------------------------------------------------------------ files


@pytest.fixture
def file(tmp_path):
    def write(data: bytes) -> Path:
        path = tmp_path / "stop.txt"
        path.write_bytes(data)
        return path

    return write


def test_file_of_words_is_read(file):
    path = file(
        "\ufeff# my list\r\n | a comment\nThe | article\r\nc#\n\n \u00dcber # x y\nof".encode()
    )
    assert stop_word_set(path) == {"the", "c#", "c", "\u00fcber", "of"}
    assert stop_word_set(file(b"")) == stop_word_set(file(b"# nothing\n")) == frozenset()


def test_changed_file_is_read_again(file):
    assert stop_word_set(file(b"a")) == {"a"}
    assert stop_word_set(file(b"b")) == {"b"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"the\nNew York\n", "one word per line; line 2 of '.*stop.txt' has 2: 'New York'"),
        (b"the\nof\n\xe9t\xe9", "must be UTF-8; '.*stop.txt' is invalid at line 3"),
        ("the".encode("utf-16"), "must be UTF-8"),
        (b"a\n#".ljust(MAX_BYTES + 1, b"x"), "at most 1,048,576 bytes"),
    ],
    ids=["two words", "latin-1", "utf-16", "too large"],
)
def test_invalid_file_raises(file, data, message):
    with pytest.raises(ValueError, match=message):
        stop_word_set(file(data))


def test_file_of_maximum_size_is_read(file):
    assert stop_word_set(file(b"a\n#".ljust(MAX_BYTES, b"x"))) == {"a"}


def test_missing_file_raises_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        stop_word_set(tmp_path / "none.txt")
    with pytest.raises(IsADirectoryError):
        stop_word_set(tmp_path)


# ------------------------------------------------------------------ tokenizers


@pytest.mark.parametrize("entry", ["New York", " the", "the\n", "a\u00a0b", "a\u2003b", " "])
def test_entry_with_white_space_raises(entry):
    with pytest.raises(ValueError, match="single words without white space; position 1 holds"):
        stop_word_set(["a", entry])


def test_entry_cut_at_apostrophe_gives_all_its_pieces():
    letters = re.compile("[A-Za-z]+").findall
    assert stop_word_set(["DON'T"], tokenizer=letters) == {"don't", "dont", "don", "t"}
    assert (
        remove_stop_words(letters("I don't know"), stop_word_set("smart", tokenizer=letters)) == []
    )
    assert "didn" in stop_word_set("smart:1", tokenizer=letters) - stop_word_set("smart:1")
    assert stop_word_set(["ab"], tokenizer=lambda text: []) == {"ab"}


def test_entry_cut_elsewhere_raises():
    # Otherwise "mail" would silently be removed from every text.
    with pytest.raises(ValueError, match=r"splits 'e-mail' \(position 1\) into 'e', 'mail'"):
        stop_word_set(["the", "e-mail"])
    with pytest.raises(ValueError, match=r"'New_York'.*Pass each part as an entry"):
        stop_word_set(["New_York"])
    with pytest.raises(
        ValueError, match=r"the tokenizer splits .* into 'a', 'b'.*or pass stop_words=None"
    ):
        stop_word_set(["ab"], tokenizer=iter)


def test_own_tokenizer_changes_no_list():
    for each in stop_lists():
        assert stop_word_set(each.pinned, tokenizer=tokenize) == stop_word_set(each.pinned)
        assert stop_word_set(each.pinned) >= set(each)


@pytest.mark.parametrize("wrong", [lambda text: text, lambda text: None, lambda text: [1], len])
def test_tokenizer_that_returns_no_words_raises(wrong):
    with pytest.raises(TypeError, match=r"tokenizer must return a list of words; got .* for 'a'"):
        stop_word_set(["a"], tokenizer=wrong)


def test_tokenizer_that_is_not_callable_raises():
    for stop_words in (None, "smart", ["a"]):
        with pytest.raises(TypeError, match=r"tokenizer must be None or a callable.*got str"):
            stop_word_set(stop_words, tokenizer="words")


# ------------------------------------------------------------------ the script that makes the lists


def test_script_reads_scikit_learn_list():
    import sklearn.feature_extraction._stop_words as module

    words = load_script(MAKE).glasgow_words(Path(module.__file__).read_text())
    assert words == sorted(ENGLISH_STOP_WORDS)
    with pytest.raises(ValueError, match="must assign ENGLISH_STOP_WORDS"):
        load_script(MAKE).glasgow_words("OTHER = frozenset(['a'])")


def test_script_reads_snowball_list():
    script = load_script(MAKE)
    license = " | This file is distributed under the BSD License.\n"
    assert script.snowball_words(f"{license}der | the\n| die\nich mich der\n") == [
        "der",
        "ich",
        "mich",
    ]
    with pytest.raises(ValueError, match="must name its license"):
        script.snowball_words("der\n")


def test_script_reads_strings_of_a_java_class():
    def text(value):
        return b"\x01" + len(value).to_bytes(2, "big") + value

    constants = [text(b"the"), b"\x08\0\1", b"\x05" + bytes(8), text(b"no"), b"\x08\0\5"]
    # constants are numbered from 1, and the long constant takes two numbers
    places = len(constants) + 2
    data = bytes(8) + places.to_bytes(2, "big") + b"".join(constants)
    assert list(load_script(MAKE).class_strings(data)) == ["the", "no"]


def test_script_never_changes_a_version(tmp_path, monkeypatch):
    script = load_script(MAKE)
    monkeypatch.setattr(script, "OUTPUT", tmp_path)
    facts = ("english", "here", "none")
    script.write_list("own", 1, ["a", "b"], *facts)
    script.write_list("own", 1, ["a", "b"], *facts)
    with pytest.raises(ValueError, match=r"own\.1\.txt is there and differs"):
        script.write_list("own", 1, ["a"], *facts)
    with pytest.raises(ValueError, match="no white space"):
        script.write_list("own", 2, ["a b"], *facts)
    assert [path.name for path in tmp_path.iterdir()] == ["own.1.txt"]
    assert stop_word_set(tmp_path / "own.1.txt") == {"a", "b"}
