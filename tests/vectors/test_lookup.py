"""Word lookup, compared with a plain loop."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from textkin.vectors import WordVectors

short_words = st.text(alphabet="asAS\u00df_'", min_size=1, max_size=4)


def slow_row(words, word):
    stems = [word, word[:-2]] if word[-2:].lower() == "'s" else [word]
    for stem in stems:
        for form in (stem, stem.lower(), stem.title()):
            if form in words:
                return words.index(form)
    return -1


@given(words=st.lists(short_words, min_size=1, unique=True), asked=st.lists(short_words))
def test_lookup_equals_a_plain_loop(words, asked):
    vectors = WordVectors(words, np.ones((len(words), 1)))
    rows = vectors.lookup(asked)
    assert rows.dtype == np.int32
    assert rows.tolist() == [slow_row(words, word) for word in asked]
    assert [word in vectors for word in asked] == [row >= 0 for row in rows]


def test_exact_case_precedes_lowercase_and_title_case():
    vectors = WordVectors(["Apple", "apple", "APPLE"], np.eye(3))
    assert vectors.lookup(["APPLE", "Apple", "apple", "aPPLE"]).tolist() == [2, 0, 1, 1]


def test_title_case_finds_phrases(tiny):
    assert tiny.lookup(["new_york", "PARIS", ""]).tolist() == [4, 3, -1]


def test_possessive_is_found_without_its_ending(tiny):
    assert tiny.lookup(["Cat's", "PARIS'S", "cat\u2019s", "dogs'", "'s"]).tolist() == [
        0,
        3,
        0,
        -1,
        -1,
    ]
    own = WordVectors(["cat's", "cat"], np.eye(2))
    assert own.lookup(["cat's", "Cat's"]).tolist() == [0, 0]


def test_lookup_of_no_words(tiny):
    assert tiny.lookup([]).shape == (0,)


def test_lookup_invalid_words_raise(tiny):
    with pytest.raises(TypeError, match="got the string 'cat'"):
        tiny.lookup("cat")
    with pytest.raises(TypeError, match="int 7"):
        tiny.lookup(["cat", 7])


def test_contains_is_false_for_other_types(tiny):
    assert 7 not in tiny
    assert None not in tiny


def test_vector_of_a_word(tiny):
    assert tiny["Cat"].tolist() == [3, 4]


def test_unknown_word_suggests_similar_spellings(tiny):
    with pytest.raises(KeyError, match=r"no vector for 'dogg' among 5 words.*dog"):
        tiny["dogg"]
    with pytest.raises(KeyError, match="no word has a similar spelling"):
        tiny["xylophone"]


@pytest.mark.parametrize("kind", ["words", "array", "vocabulary", "vectors"])
def test_align_gives_nan_rows_to_words_without_vector(tiny, kind):
    words = ["dog", "unicorn", "paris", "dog"]
    vocabulary = {
        "words": words,
        "array": np.array(words, dtype=object),
        "vocabulary": SimpleNamespace(words=words),
        "vectors": WordVectors(["dog", "unicorn", "paris", "DOG"], np.ones((4, 1))),
    }[kind]
    aligned = tiny.align(vocabulary)
    assert aligned.dtype == np.float32
    assert_array_equal(aligned, [[4, 3], [np.nan, np.nan], [0, -2], [4, 3]])


def test_pickle_preserves_everything(tiny):
    tiny.nearest("cat")  # with a filled cache
    again = pickle.loads(pickle.dumps(tiny))
    assert again.words == tiny.words
    assert_array_equal(again.matrix, tiny.matrix)
    assert not again.matrix.flags.writeable
    assert again.lookup(["Dog"]).tolist() == [1]


def test_copies_share_the_table(tiny):
    assert copy.copy(tiny) is tiny
    assert copy.deepcopy(tiny) is tiny


def test_from_gensim_accepts_keyed_vectors():
    matrix = np.eye(2, dtype=np.float32)
    vectors = WordVectors.from_gensim(SimpleNamespace(index_to_key=["a", "b"], vectors=matrix))
    assert vectors.words == ("a", "b")
    assert np.shares_memory(vectors.matrix, matrix)


def test_from_gensim_model_raises():
    with pytest.raises(TypeError, match=r"pass its \.wv"):
        WordVectors.from_gensim(SimpleNamespace(wv=None))


def test_align_accepts_sources_of_ordered_column_names(tiny):
    expected = tiny.align(["cat", "unicorn", "dog"])
    vectoriser = SimpleNamespace(get_feature_names_out=lambda: np.array(["cat", "unicorn", "dog"]))
    assert_array_equal(tiny.align(vectoriser), expected)
    # scikit-learn's vocabulary_ maps words to columns, in any order
    assert_array_equal(tiny.align({"dog": 2, "cat": 0, "unicorn": 1}), expected)


@pytest.mark.parametrize(
    ("vocabulary", "error", "message"),
    [
        ({"cat", "dog"}, TypeError, "must name the columns in order.*got set"),
        ("cat", TypeError, "must name the columns in order"),
        (7, TypeError, "must name the columns in order.*got int"),
        ({"cat": 1, "dog": 2}, ValueError, "must map each word to its column"),
    ],
)
def test_align_unordered_names_raise(tiny, vocabulary, error, message):
    with pytest.raises(error, match=message):
        tiny.align(vocabulary)


@pytest.mark.parametrize("words", [{"a", "b"}, {"a": 0, "b": 1}])
def test_words_must_match_the_order_of_rows(words):
    with pytest.raises(TypeError, match="words must be in the order of the rows"):
        WordVectors(words, np.eye(2))
