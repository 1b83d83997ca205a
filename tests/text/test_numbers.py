"""Tests of numbers and short words in bags, and of bags as DataFrames."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from textkin import LSI
from textkin.exceptions import ParameterError
from textkin.text import BagOfWords, tokenize
from textkin.weighting import BM25, SIF, TfIdf

TEXTS = ["Sold 20 cars in 1997", "In the 1990s cars cost 4.50", "No numbers, x y z"]


def words_of(**parameters):
    return list(BagOfWords(None, **parameters).fit(TEXTS).vocabulary_)


def test_numbers_are_kept_by_default():
    assert {"20", "1997", "1990s", "4", "50"} <= set(words_of())


def test_numbers_drop_removes_words_without_letters():
    assert set(words_of()) - set(words_of(numbers="drop")) == {"20", "1997", "4", "50"}


def test_numbers_mask_counts_all_numbers_as_one_word():
    counter = BagOfWords(None, numbers="mask").fit(TEXTS)
    column = list(counter.vocabulary_).index("<number>")
    assert counter.transform(TEXTS).toarray()[:, column].tolist() == [2, 2, 0]
    assert counter.words("Room 101") == ["room", "<number>"]


@pytest.mark.parametrize("normalizer", [None, str.upper])
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2)])
def test_mask_agrees_with_replaced_tokens(normalizer, ngram_range):
    def masked(text):
        return ["<number>" if word.isnumeric() else word for word in tokenize(text)]

    counter = BagOfWords(
        None, numbers="mask", normalizer=normalizer, ngram_range=ngram_range, n_jobs=2
    )
    many = TEXTS * 50
    bags = counter.fit_transform(many)
    expected = [
        word if word == "<number>" or normalizer is None else normalizer(word)
        for word in masked(TEXTS[0].lower())
    ]
    if ngram_range == (1, 1):
        assert counter.words(TEXTS[0]) == expected
    assert (counter.transform(many) != bags).nnz == 0


def test_vocabulary_with_the_mask_is_counted_without_a_warning():
    counter = BagOfWords(numbers="mask", vocabulary=["<number>", "cars"])
    assert counter.transform(TEXTS).toarray().tolist() == [[2, 1], [2, 1], [0, 0]]


def test_min_length_ignores_short_words_but_not_masked_numbers():
    assert not {"x", "y", "z", "4"} & set(words_of(min_length=2))
    assert "<number>" in words_of(min_length=3, numbers="mask")


def test_phrases_of_numbers_are_words():
    counter = BagOfWords(None, phrases=["9_11"], numbers="drop", min_length=5)
    assert counter.words("On 9/11 of 2001 they") == ["9_11"]


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=30), min_size=1, max_size=5))
def test_drop_and_min_length_agree_with_a_filter_of_tokens(texts):
    counter = BagOfWords(None, numbers="drop", min_length=3, vocabulary=[])
    for text in texts:
        expected = [
            word
            for word in tokenize(text)
            if len(word) >= 3
            and not (any(map(str.isnumeric, word)) and not any(map(str.isalpha, word)))
        ]
        assert counter.words(text) == [word.lower() for word in expected]


@pytest.mark.parametrize("wrong", [{"numbers": "remove"}, {"min_length": 0}])
def test_invalid_values_raise(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        BagOfWords(**wrong).fit(TEXTS)


def test_set_output_pandas_returns_sparse_columns_with_names_and_index():
    series = pd.Series(TEXTS, index=["a", "b", "c"])
    counter = BagOfWords().set_output(transform="pandas")
    frame = counter.fit_transform(series)
    assert list(frame.columns) == list(counter.vocabulary_)
    assert list(frame.index) == ["a", "b", "c"]
    assert all(isinstance(kind, pd.SparseDtype) for kind in frame.dtypes)
    expected = BagOfWords().fit_transform(TEXTS)
    np.testing.assert_array_equal(frame.to_numpy(), expected.toarray())
    pd.testing.assert_frame_equal(counter.transform(series), frame)
    pd.testing.assert_frame_equal(clone(counter).fit_transform(series), frame)


@pytest.mark.parametrize("weighting", [TfIdf(), BM25(), SIF()], ids=lambda model: repr(model))
def test_pipelines_return_frames(weighting):
    series = pd.Series(TEXTS, index=["a", "b", "c"])
    expected = make_pipeline(BagOfWords(), clone(weighting)).fit_transform(TEXTS)
    pipeline = make_pipeline(BagOfWords(), weighting).set_output(transform="pandas")
    frame = pipeline.fit_transform(series)
    assert list(frame.index) == ["a", "b", "c"]
    assert list(frame.columns) == list(pipeline[0].vocabulary_)
    np.testing.assert_allclose(frame.to_numpy(), expected.toarray(), rtol=1e-6)


def test_a_pipeline_down_to_factors_returns_a_frame():
    pipeline = make_pipeline(BagOfWords(), TfIdf(), LSI(2, random_state=0))
    frame = pipeline.set_output(transform="pandas").fit_transform(pd.Series(TEXTS, index=[5, 6, 7]))
    assert frame.shape == (3, 2)
    assert list(frame.index) == [5, 6, 7]


def test_the_global_setting_applies():
    with config_context(transform_output="pandas"):
        assert isinstance(BagOfWords().fit_transform(TEXTS), pd.DataFrame)


def test_set_output_polars_names_the_alternative():
    with pytest.raises(ParameterError, match="no sparse columns"):
        BagOfWords().set_output(transform="polars")
