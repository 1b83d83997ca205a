"""Tests of the bag-of-words estimator."""

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from textkin.text import BagOfWords, Vocabulary, tokenize
from textkin.weighting import TfIdf

TEXTS = ["Obama speaks to the media in Illinois", "The President greets the press", "Media! media"]


def assert_same(left, right):
    assert left.shape == right.shape
    assert left.dtype == right.dtype == np.float32
    assert_array_equal(left.toarray(), right.toarray())


class CaseFoldingLookup:
    """Word lookup that is not a Vocabulary and also finds other cases, as word vectors do."""

    words = ("press", "media")

    def __len__(self):
        return 2

    def lookup(self, words):
        return Vocabulary(self.words).lookup([word.lower() for word in words])


@settings(max_examples=60)
@given(st.lists(st.text("aAbc' ", max_size=12), min_size=1), st.integers(1, 3))
def test_bags_equal_counters(texts, min_count):
    counters = [Counter(tokenize(text)) for text in texts]
    totals = sum(counters, Counter())
    words = sorted(word for word, total in totals.items() if total >= min_count)
    estimator = BagOfWords(None, min_count=min_count)
    if not words:
        with pytest.raises(ValueError, match="no word can be learned"):
            estimator.fit(texts)
        return
    bags = estimator.fit_transform(texts)
    assert estimator.vocabulary_.words == tuple(words)
    assert_array_equal(bags.toarray(), [[counter[word] for word in words] for counter in counters])


def test_fit_sorts_words_and_removes_stop_words():
    estimator = BagOfWords().fit(TEXTS)
    names = ["greets", "illinois", "media", "obama", "president", "press", "speaks"]
    assert estimator.get_feature_names_out().tolist() == names
    assert estimator.get_feature_names_out().dtype == object
    assert "the" in BagOfWords(stop_words=None).fit(TEXTS).vocabulary_
    assert "media" not in BagOfWords(stop_words=["MEDIA"]).fit(TEXTS).vocabulary_


def test_fit_transform_equals_fit_then_transform_and_reads_a_generator_once():
    estimator = BagOfWords(max_words_per_document=2)
    assert_same(
        estimator.fit_transform(text for text in TEXTS),
        clone(estimator).fit(text for text in TEXTS).transform(text for text in TEXTS),
    )


def test_batch_equals_single_texts():
    estimator = BagOfWords(max_words_per_document=2).fit(TEXTS)
    batch = estimator.transform(TEXTS)
    for position, text in enumerate(TEXTS):
        assert_same(estimator.transform([text]), batch[[position]])


def test_arrays_of_texts_are_accepted():
    expected = BagOfWords().fit_transform(TEXTS)
    assert_same(BagOfWords().fit_transform(np.array(TEXTS, dtype=object)), expected)
    assert_same(BagOfWords().fit_transform(np.array(TEXTS)), expected)
    assert_same(BagOfWords().fit_transform(tuple(TEXTS)), expected)


def test_lowercase_false_keeps_case_but_stop_words_match():
    estimator = BagOfWords(lowercase=False).fit(TEXTS)
    assert "Obama" in estimator.vocabulary_
    assert "media" in estimator.vocabulary_
    assert "Media" in estimator.vocabulary_
    assert "The" not in estimator.vocabulary_


def test_words_returns_words_of_one_text():
    assert BagOfWords().words("The press, the PRESS!") == ["press", "press"]
    assert BagOfWords(None, lowercase=False).words("The press") == ["The", "press"]
    with pytest.raises(TypeError, match="position 0 holds NoneType"):
        BagOfWords().words(None)


@pytest.mark.parametrize(
    "vocabulary",
    [Vocabulary(["press", "media"]), ["press", "media"], CaseFoldingLookup()],
    ids=type,
)
def test_given_vocabulary_needs_no_fit(vocabulary):
    estimator = BagOfWords(vocabulary=vocabulary)
    assert not get_tags(estimator).requires_fit
    bags = estimator.transform(TEXTS)
    assert bags.toarray().tolist() == [[0, 1], [1, 0], [0, 2]]
    assert estimator.get_feature_names_out().tolist() == ["press", "media"]
    assert not hasattr(estimator, "vocabulary_")
    assert_same(clone(estimator).fit_transform(TEXTS), bags)
    assert_same(make_pipeline(estimator).transform(TEXTS), bags)


def test_surface_forms_of_one_column_are_added():
    bags = BagOfWords(vocabulary=CaseFoldingLookup(), lowercase=False).transform(TEXTS)
    assert bags.toarray().tolist() == [[0, 1], [1, 0], [0, 2]]


def test_given_word_lookup_is_unchanged():
    vocabulary = Vocabulary(["z", "a"])
    assert BagOfWords(vocabulary=vocabulary).fit(TEXTS).vocabulary_ is vocabulary


@pytest.mark.parametrize(
    "text", ["", " \n", "the of and", "\U0001f600 \u2764\ufe0f", "nowhere seen"]
)
def test_text_without_known_words_gives_an_empty_row(text):
    bags = BagOfWords().fit(TEXTS).transform([text, TEXTS[0]])
    assert bags.shape == (2, 7)
    assert np.diff(bags.indptr).tolist() == [0, 4]


def test_other_scripts_duplicates_and_single_documents_are_counted():
    words = BagOfWords().fit(["हिन्दी भाषा", "ภาษาไทย", "中文 文本", "中文 文本"]).vocabulary_.words
    assert set(words) == set(tokenize("हिन्दी भाषा ภาษาไทย 中文 文本"))
    assert BagOfWords().fit_transform(["word"]).toarray().tolist() == [[1]]


def test_fit_without_texts_raises():
    with pytest.raises(ValueError, match="at least one text"):
        BagOfWords().fit([])
    with pytest.raises(ValueError, match="at least one text"):
        BagOfWords(vocabulary=["a"]).fit_transform([])
    empty = BagOfWords().fit(TEXTS).transform([])
    assert empty.shape == (0, 7)
    assert empty.dtype == np.float32


def test_fit_on_corpus_without_words_raises():
    with pytest.raises(
        ValueError, match=r"no word can be learned: the texts .2. have 0 distinct.*stop_words=None"
    ):
        BagOfWords().fit(["the of", ""])
    with pytest.raises(ValueError, match=r"2 distinct terms.*min_count=2"):
        BagOfWords(min_count=2).fit(["word", "media"])


class Table:
    """Iterable over column names, like a DataFrame."""

    ndim = 2

    def __iter__(self):
        return iter(["title", "text"])


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        ("one text", ValueError, r"single str. Wrap it: \[text\]"),
        (b"one text", TypeError, "got bytes: decode"),
        (None, TypeError, "must be a list of texts; got NoneType"),
        (3, TypeError, "must be a list of texts; got int"),
        ({"a": "text"}, TypeError, "got dict"),
        (Table(), ValueError, "got a Table with 2 dimensions.*column"),
        (np.array([["a"]]), ValueError, "got a ndarray with 2 dimensions"),
        (["a", None], TypeError, "position 1 holds NoneType .None., a missing value"),
        (["a", float("nan")], TypeError, "position 1 holds float .nan., a missing value"),
        (["a", b"b"], TypeError, "position 1 holds bytes: decode"),
        (["a", ["b"]], TypeError, "position 1 holds list"),
        ([np.array(["a", "b"])], TypeError, "position 0 holds ndarray"),
    ],
)
def test_invalid_texts_raise(texts, error, message):
    for call in (
        BagOfWords().fit,
        BagOfWords().fit_transform,
        BagOfWords().fit(["word"]).transform,
    ):
        with pytest.raises(error, match=message):
            call(texts)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"stop_words": "the"}, ValueError, "stop_words must be 'smart', None or a list"),
        ({"stop_words": iter(["the"])}, TypeError, "stop_words must be the name.*collection"),
        ({"min_count": 0}, ValueError, "min_count must be an integer at least 1; got 0"),
        ({"min_count": 1.5}, TypeError, "min_count must be an integer"),
        ({"max_words_per_document": 0}, ValueError, "max_words_per_document must be None or"),
        ({"lowercase": "yes"}, ValueError, "lowercase must be one of True, False"),
        ({"vocabulary": 3}, TypeError, "vocabulary must be a Vocabulary.*got int"),
        ({"vocabulary": "word"}, TypeError, "single str 'word'"),
        ({"vocabulary": {"word": 0}}, TypeError, "order of the columns; got dict"),
        ({"vocabulary": ["a"], "min_count": 2}, ValueError, "min_count must be 1 when.*got 2"),
    ],
)
def test_invalid_parameters_raise(params, error, message):
    with pytest.raises(error, match=message):
        BagOfWords(**params).fit(TEXTS)


def test_transform_before_fit_raises():
    with pytest.raises(NotFittedError):
        BagOfWords().transform(TEXTS)
    with pytest.raises(NotFittedError):
        BagOfWords().get_feature_names_out()


def test_clone_and_refit_follow_parameters():
    estimator = BagOfWords(None, min_count=2).fit(["a a", "b"])
    assert estimator.get_params()["min_count"] == 2
    assert not hasattr(clone(estimator), "vocabulary_")
    assert estimator.set_params(min_count=1).fit(["c"]).vocabulary_ == Vocabulary(["c"])


def test_pickled_estimator_gives_the_same_bags():
    estimator = BagOfWords().fit(TEXTS)
    again = pickle.loads(pickle.dumps(estimator))
    assert_same(again.transform(TEXTS), estimator.transform(TEXTS))


def test_bags_in_pipeline_and_grid_search():
    texts = ["good film", "bad film", "good day", "bad day"] * 5
    labels = [1, 0, 1, 0] * 5
    pipeline = make_pipeline(BagOfWords(None), TfIdf(), LogisticRegression())
    search = GridSearchCV(pipeline, {"bagofwords__min_count": [1, 3]}, cv=2).fit(texts, labels)
    assert search.best_score_ == 1
    assert search.predict(["a good one"]).tolist() == [1]
    names = search.best_estimator_[:-1].get_feature_names_out()
    assert names.tolist() == ["bad", "day", "film", "good"]
