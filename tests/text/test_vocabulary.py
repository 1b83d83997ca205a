"""Tests of vocabularies: words and their columns."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textkin.text import Vocabulary


@settings(max_examples=60)
@given(st.lists(st.text(), unique=True), st.lists(st.text()))
def test_words_and_columns_map_to_each_other(words, others):
    vocabulary = Vocabulary(iter(words))
    assert list(vocabulary) == list(vocabulary.words) == words
    assert [vocabulary[column] for column in range(len(vocabulary))] == words
    assert [vocabulary.index(word) for word in words] == list(range(len(words)))
    found = vocabulary.lookup(words + others)
    assert found.dtype == np.int32
    assert found.tolist() == [words.index(w) if w in words else -1 for w in words + others]
    assert all((word in vocabulary) == (word in words) for word in others)


def test_equality_hash_and_copies_follow_the_words():
    vocabulary = Vocabulary(["a", "b"])
    assert vocabulary == Vocabulary(np.array(["a", "b"]))
    assert hash(vocabulary) == hash(Vocabulary(("a", "b")))
    assert vocabulary != Vocabulary(["b", "a"])
    assert vocabulary != ("a", "b")
    assert copy.copy(vocabulary) is copy.deepcopy(vocabulary) is vocabulary
    again = pickle.loads(pickle.dumps(vocabulary))
    assert again == vocabulary
    assert again.index("b") == 1


def test_numpy_words_become_str():
    assert type(Vocabulary(np.array(["a"]))[np.int64(0)]) is str


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ([], "Vocabulary(0 words)"),
        (["a"], "Vocabulary(1 word: 'a')"),
        (list("abcdef"), "Vocabulary(6 words: 'a', 'b', 'c', 'd', 'e', ...)"),
    ],
)
def test_repr_shows_first_words(words, shown):
    assert repr(Vocabulary(words)) == shown


def test_vocabulary_is_immutable():
    with pytest.raises(AttributeError):
        Vocabulary(["a"]).words = ("b",)


def test_duplicate_word_raises():
    with pytest.raises(ValueError, match="'b' is at positions 1 and 3"):
        Vocabulary(["a", "b", "c", "b", "a"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("word", "got the single str 'word'"),
        (["a", None], "position 1 holds NoneType"),
        ({"a", "b"}, "order of the columns; got set.*sorted"),
        ({"a": 1, "b": 0}, "order of the columns; got dict"),
    ],
)
def test_invalid_words_raise(words, message):
    with pytest.raises(TypeError, match=message):
        Vocabulary(words)


def test_lookup_of_a_single_str_raises():
    with pytest.raises(TypeError, match=r"single str 'ab'.*index"):
        Vocabulary(["a", "b"]).lookup("ab")


def test_index_of_an_unknown_word_raises_key_error():
    with pytest.raises(KeyError, match="'c' is not among the 2 words"):
        Vocabulary(["a", "b"]).index("c")


@pytest.mark.parametrize("column", [-1, 2])
def test_column_out_of_range_raises_index_error(column):
    """Column -1, which `lookup` returns for unknown words, must not name the last word."""
    with pytest.raises(IndexError, match=f"below 2; got {column}"):
        Vocabulary(["a", "b"])[column]
