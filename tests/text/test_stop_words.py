"""Stop words: the list and how it matches."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textkin.text import remove_stop_words, smart_words, stop_word_set


def test_the_smart_list():
    words = smart_words()
    assert len(words) == 571
    assert len(set(words)) == 570
    assert words.count("would") == 2
    assert "uucp" in words
    assert "obama" not in words
    assert words[0] == "a"
    assert words[-1] == "zero"


def test_stripped_smart_entries_that_are_ordinary_words():
    new = stop_word_set("smart") - set(smart_words())
    assert {"id", "ill", "lets", "wed"} <= new
    assert not {"hell", "shell"} & stop_word_set("smart")
    assert {"well", "were"} <= set(smart_words())


@pytest.mark.parametrize("token", ["don't", "DON'T", "dont", "Dont", "don\u2019t"])
def test_a_stop_word_matches_in_any_case_with_and_without_apostrophe(token):
    for entry in ("don't", "DON\u2019T"):
        assert remove_stop_words([token, "word"], stop_word_set([entry])) == ["word"]


def test_a_token_with_apostrophe_matches_an_entry_without():
    assert remove_stop_words(["don't"], stop_word_set(["dont"])) == []


def test_an_entry_matches_whatever_its_normal_form():
    assert remove_stop_words(["\u00e9t\u00e9"], stop_word_set(["e\u0301te\u0301"])) == []


def test_no_stop_words():
    assert stop_word_set(None) == stop_word_set([]) == frozenset()
    assert remove_stop_words(("the", "the"), frozenset()) == ["the", "the"]


@settings(max_examples=60)
@given(st.lists(st.text("aB'", max_size=3)), st.lists(st.text("aB'", max_size=3)))
def test_equals_a_loop(tokens, entries):
    def forms(word):
        return {word.lower(), word.lower().replace("'", "")}

    stopped = set().union(*map(forms, entries))
    expected = [token for token in tokens if not forms(token) & stopped]
    assert remove_stop_words(iter(tokens), stop_word_set(iter(entries))) == expected


@pytest.mark.parametrize("name", ["the", "english", "SMART", ""])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(ValueError, match=f"'smart', None or a list.*got '{name}'.*pass a list"):
        stop_word_set(name)


def test_an_entry_that_is_no_word_is_refused():
    with pytest.raises(TypeError, match="position 1 holds int"):
        stop_word_set(["a", 1])
