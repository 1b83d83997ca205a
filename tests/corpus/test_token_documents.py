"""Documents as token vectors: accepted and invalid input, n-grams, and IDF weights."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from textkin import TokenMover, TokenVectors
from textkin.models import load_estimator
from textkin.weighting import TokenIdf

ROWS = [[3.0, 4.0], [0.0, 2.0], [-1.0, 0.0]]


class Tensor:
    """Tensor of another library."""

    ndim = 2

    def __init__(self, values, error=None):
        self.values, self.error = np.asarray(values), error

    def __array__(self, dtype=None, copy=None):
        if self.error:
            raise self.error
        return self.values


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.uint16])
def test_vectors_of_any_dtype_become_float32(dtype):
    values = np.array([[3, 4], [0, 2]], dtype=dtype)
    for given_as in (values, values.tolist(), Tensor(values), np.asfortranarray(values)):
        read = TokenVectors(given_as)
        assert read.vectors.dtype == np.float32
        np.testing.assert_array_equal(read.vectors, values)
        assert not read.vectors.flags.writeable
    assert values.flags.writeable


def test_repr_shows_size_and_first_tokens():
    assert repr(TokenVectors(ROWS)) == "TokenVectors: 3 tokens of 2 numbers"
    many = TokenVectors(np.ones((13, 2)), tokens=["a"] * 13)
    assert repr(many).endswith(": a a a a a a a a a a a a ...")
    assert len(many) == 13
    hostile = TokenVectors(np.ones((2, 2)), tokens=["\x1b[31mred", "a\nb"])
    assert repr(hostile) == "TokenVectors: 2 tokens of 2 numbers: �[31mred a b"


def test_document_without_tokens_is_accepted():
    for nothing in ([], np.empty((0, 5)), np.empty((0,))):
        assert len(TokenVectors(nothing)) == 0
        assert len(TokenVectors(nothing).ngrams(2)) == 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([1.0, 2.0],), ValueError, r"shape \(n_tokens, d\).*got \(2,\).*shape \(1, d\)"),
        ((np.ones((1, 2, 3)),), ValueError, r"got \(1, 2, 3\)"),
        ((np.ones((2, 0)),), ValueError, r"got \(2, 0\)"),
        (([[1, 2], [3]],), TypeError, "NumPy cannot convert this list"),
        (
            (Tensor(ROWS, TypeError("on cuda:0")),),
            TypeError,
            "cannot convert this Tensor: on cuda:0",
        ),
        ((Tensor(ROWS, RuntimeError("needs grad")),), TypeError, "needs grad"),
        (([["a", "b"]],), TypeError, "real numbers.*dtype <U1"),
        ((np.ones((1, 2), complex),), TypeError, "complex128"),
        ((np.ones((1, 2), bool),), TypeError, "dtype bool"),
        (([[1, 2], [np.nan, 0]],), ValueError, "finite in float32; token 1 is not"),
        (([[1, 1e300]],), ValueError, "finite in float32; token 0 is not"),
        ((np.array([[1, np.inf]], np.float16),), ValueError, "finite in float32"),
        (([[1, 2], [0, 0]],), ValueError, "not be zero in float32; token 1 is zero.*padding"),
        (([[1e-60, 0]],), ValueError, "not be zero in float32"),
        ((ROWS, [1, 2]), ValueError, r"each of the 3 tokens; got shape \(2,\)"),
        ((ROWS, [1, -1, 1]), ValueError, "finite and not negative"),
        ((ROWS, [1, np.nan, 1]), ValueError, "finite and not negative"),
        ((ROWS, [1e308, 1e308, 1]), ValueError, "finite sum"),
        ((ROWS, ["a", "b", "c"]), TypeError, "weights must be an array of real numbers"),
        ((ROWS, None, ["a"]), ValueError, "each of the 3 vectors; got 1"),
        ((ROWS, None, "abc"), TypeError, "list of str; got str"),
        ((ROWS, None, [1, 2, 3]), TypeError, "list of str"),
    ],
)
def test_invalid_arguments_raise(arguments, error, message):
    with pytest.raises(error, match=message):
        TokenVectors(*arguments)


def test_pickled_and_copied_documents_are_equal():
    one = TokenVectors(ROWS, [1, 2, 3], ["a", "b", "c"])
    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        np.testing.assert_array_equal(other.vectors, one.vectors)
        np.testing.assert_array_equal(other.weights, one.weights)
        assert other.tokens == one.tokens


# ---------------------------------------------------------------- n-grams


@given(st.integers(1, 6), st.integers(1, 4), st.booleans(), st.integers(0, 2**32 - 1))
def test_ngrams_are_weighted_means_of_neighbors(size, n, weighed, seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(size, 3)).astype(np.float32)
    weights = rng.integers(0, 3, size).astype(float) if weighed else None
    found = TokenVectors(vectors, weights, [str(i) for i in range(size)]).ngrams(n)
    n = min(n, size)
    assert len(found) == size - n + 1
    for i in range(len(found)):
        inside = np.ones(n) if weights is None else weights[i : i + n]
        if len(found) < size or weighed:  # otherwise the n-grams are the tokens themselves
            assert found.weights[i] == inside.sum()
        inside = inside if inside.sum() else np.ones(n)
        expected = np.average(vectors[i : i + n].astype(float), axis=0, weights=inside)
        np.testing.assert_allclose(found.vectors[i], expected, rtol=1e-5, atol=1e-6)
        assert found.tokens[i] == " ".join(str(k) for k in range(i, i + n))


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", True])
def test_invalid_ngram_size_raises(wrong):
    with pytest.raises((TypeError, ValueError), match="n must be an integer at least 1"):
        TokenVectors(ROWS).ngrams(wrong)


def test_ngram_of_canceling_vectors_raises():
    with pytest.raises(ValueError, match=r"the 2 vectors from token 1 on .* cancel out"):
        TokenVectors([[1, 1], [1, 0], [-1, 0]]).ngrams(2)


def test_array_changed_after_construction_raises():
    rows = np.ones((2, 3), np.float32)
    sound, document = TokenVectors(np.eye(3)), TokenVectors(rows)
    for wrong in (np.nan, np.inf, 0):
        rows[1] = wrong
        with pytest.raises(ValueError, match=r"document 1 of X changed after construction.*copy"):
            TokenMover().pairwise([sound, document])


# ---------------------------------------------------------------- idf


def document(words, rng):
    return TokenVectors(rng.normal(size=(len(words), 4)), tokens=words)


def test_idf_equals_bertscore(rng):
    texts = [["the", "cat", "the"], ["the", "dog"], ["the", "cat"]]
    corpus = [document(words, rng) for words in texts]
    idf = TokenIdf().fit(corpus)
    assert idf.tokens_.tolist() == ["cat", "dog", "the"]
    np.testing.assert_allclose(idf.idf_, np.log([4 / 3, 4 / 2, 4 / 4]))
    [found] = idf.transform([document(["dog", "unseen", "the"], rng)])
    np.testing.assert_allclose(found.weights, np.log([2, 4, 1]))
    twice = TokenVectors(found.vectors, [2, 3, 4], found.tokens)
    np.testing.assert_allclose(idf.transform([twice])[0].weights, np.log([2, 4, 1]) * [2, 3, 4])


def test_idf_follows_estimator_interface(rng, tmp_path):
    corpus = [document(words, rng) for words in (["a", "b"], ["a", "ß"], [])]
    idf = TokenIdf()
    with pytest.raises(NotFittedError):
        idf.transform(corpus)
    idf.fit(corpus)
    assert clone(idf).get_params() == {}
    idf.save(tmp_path / "idf")
    for other in (pickle.loads(pickle.dumps(idf)), load_estimator(tmp_path / "idf")):
        for one, same in zip(idf.transform(corpus), other.transform(corpus), strict=True):
            np.testing.assert_array_equal(one.weights, same.weights)
    both = make_pipeline(TokenIdf(), TokenMover(empty="inf")).fit(corpus)
    assert both[-1].n_documents_ == 3
    np.testing.assert_allclose(both[-1].weights_, np.log([4 / 3, 2, 4 / 3, 2]))
    alone = [idf.transform([each])[0].weights for each in corpus]
    for one, same in zip(idf.transform(corpus), alone, strict=True):
        np.testing.assert_array_equal(one.weights, same)
    before = idf.idf_
    for wrong, message in (([], "at least one document"), ([ROWS], "none in document 0")):
        with pytest.raises(ValueError, match=message):
            idf.fit(wrong)
    assert idf.idf_ is before


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("tokens_", np.arange(2)),
        ("idf_", np.array([1, 2])),
        ("idf_", np.array([1.0, -1.0])),
        ("n_documents_", 2.5),
        ("n_documents_", 0),
    ],
)
def test_loading_invalid_saved_idf_raises(name, wrong, rng, tmp_path):
    idf = TokenIdf().fit([document(["a", "b"], rng)])
    setattr(idf, name, wrong)
    idf.save(tmp_path / "idf")
    with pytest.raises(ValueError, match="is invalid"):
        TokenIdf.load(tmp_path / "idf")
