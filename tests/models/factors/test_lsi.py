"""LSI compared with the full singular value decomposition."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from support import interrupted
from textkin.distance import pairwise_similarities
from textkin.models import LSI
from textkin.models.factors._lsi import _settled
from textkin.text import BagOfWords
from textkin.weighting import TfIdf

BLOCKS = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1.0]])  # documents as rows; symmetric


@pytest.mark.parametrize("algorithm", ["randomized", "arpack"])
def test_lsi_matches_worked_example(algorithm):
    """METHODS 5."""
    lsi = LSI(2, algorithm=algorithm, random_state=0).fit(BLOCKS)
    assert_allclose(lsi.singular_values_, [2, 1], atol=1e-12)
    assert_allclose(lsi.components_, [[2**-0.5, 2**-0.5, 0], [0, 0, 1]], atol=1e-12)
    query = lsi.transform([[1.0, 0, 0]])
    assert_allclose(query, [[0.7071068, 0]], atol=5e-8)
    assert_allclose(query / lsi.singular_values_, [[0.3535534, 0]], atol=5e-8)
    assert_allclose(pairwise_similarities(query, lsi.transform(BLOCKS)), [[1, 1, 0]], atol=1e-12)


@settings(max_examples=30)
@given(
    arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(2, 6)), elements=st.integers(0, 4))
)
def test_lsi_equals_the_full_decomposition(bags):
    if not bags.any():
        return
    k = min(bags.shape)
    lsi = LSI(k, random_state=1).fit(bags)
    values = np.linalg.svd(bags, compute_uv=False)
    assert_allclose(lsi.singular_values_, values, atol=1e-9)
    assert_array_equal(lsi.singular_values_ == 0, values < 1e-12)
    places = lsi.transform(bags)
    assert_allclose(places @ lsi.components_, bags, atol=1e-9)  # full rank reproduces the bags
    assert_allclose(np.linalg.norm(places, axis=0), values, atol=1e-9)  # V_k S_k
    # The largest weight is positive; among weights that are equal up to rounding, the first.
    sizes = np.abs(lsi.components_)
    first = (sizes >= (1 - 1e-6) * sizes.max(axis=1, keepdims=True)).argmax(axis=1)
    positive = lsi.components_[np.arange(k), first] > 0
    assert np.all(positive | (lsi.singular_values_ == 0))


def test_empty_bags_are_zero():
    lsi = LSI(2, random_state=0).fit(np.zeros((3, 4)))
    assert_array_equal(lsi.singular_values_, 0)
    assert_array_equal(lsi.transform(np.ones((1, 4))), 0)


def test_empty_documents_and_unseen_words():
    bags = np.zeros((4, 6))
    bags[:, :4] = np.random.default_rng(0).poisson(1, (4, 4))
    lsi = LSI(4, random_state=0).fit(bags)
    assert_array_equal(lsi.transform(np.zeros((1, 6))), 0)
    assert_array_equal(lsi.components_[:, 4:], 0)
    with_unseen = bags + np.array([0, 0, 0, 0, 7, 7])
    assert_array_equal(lsi.transform(with_unseen), lsi.transform(bags))


def test_fitted_documents_transform_to_their_own_vectors():
    bags = np.random.default_rng(2).poisson(0.5, (30, 20)).astype(float)
    lsi = LSI(5, algorithm="arpack", random_state=0).fit(bags)
    v, s, _ = np.linalg.svd(bags)
    assert_allclose(np.abs(lsi.transform(bags)), np.abs(v[:, :5] * s[:5]), atol=1e-8)


def test_randomized_is_close_to_exact():
    bags = np.random.default_rng(2).poisson(0.2, (200, 100)).astype(float)
    exact = LSI(5, algorithm="arpack", random_state=0).fit(bags)
    quick = LSI(5, n_iter=10, random_state=0).fit(bags)
    assert_allclose(quick.singular_values_, exact.singular_values_, rtol=1e-2)


def test_negative_weights_are_accepted():
    bags = TfIdf("wtmf", norm=None).fit_transform([[1, 1, 1], [1, 1, 1], [1, 0, 0.0]])
    assert bags.toarray().min() < 0
    assert np.all(np.isfinite(LSI(2, random_state=0).fit_transform(bags)))


def test_word_vectors():
    texts = ["cat dog", "cat dog", "car bus", "bus car car"]
    counter = BagOfWords().fit([*texts])
    bags = counter.transform(texts)
    lsi = LSI(2, random_state=0).fit(bags)
    vectors = lsi.word_vectors(counter.vocabulary_)
    assert vectors.words == tuple(counter.vocabulary_.words)
    expected = lsi.components_.T * lsi.singular_values_
    assert_allclose(vectors.matrix, expected, atol=1e-6)
    assert vectors.nearest("cat", 1)[0][0] == "dog"


def test_unseen_words_have_no_vector():
    lsi = LSI(1, random_state=0).fit([[1, 0, 1], [2, 0, 2]])
    assert lsi.word_vectors(["a", "b", "c"]).words == ("a", "c")


def test_word_vectors_by_feature_names():
    frame = pd.DataFrame([[1, 0], [0, 1]], columns=["up", "down"])
    assert set(LSI(2, random_state=0).fit(frame).word_vectors().words) == {"up", "down"}
    lsi = LSI(2, random_state=0).fit([[1, 0], [0, 1]])
    with pytest.raises(ValueError, match="feature_names must be the words of the columns"):
        lsi.word_vectors()
    with pytest.raises(ValueError, match="the names of the 2 columns of fit; got 1"):
        lsi.word_vectors(["up"])


@pytest.mark.parametrize("algorithm", ["randomized", "arpack"])
@pytest.mark.parametrize("seed", range(6))
def test_sign_does_not_depend_on_rounding_of_equal_weights(algorithm, seed):
    bags = np.array([[1, 0, 0, 0], [0, 3, -3, 0], [0, -3, 3, 0], [0, 0, 0, 2.0]])
    lsi = LSI(2, algorithm=algorithm, random_state=seed).fit(bags)
    assert_allclose(lsi.components_, [[0, 0.5**0.5, -(0.5**0.5), 0], [0, 0, 0, 1]], atol=1e-6)
    settled = [_settled(np.array([[0.5, -0.5 + error]]), np.ones(1), 2)[0] for error in TIES]
    assert all(components[0, 0] > 0 for components in settled)


TIES = (-1e-15, 0, 1e-15)


def test_single_word():
    lsi = LSI(1).fit([[3.0], [-4.0]])
    assert_allclose(lsi.singular_values_, [5])
    assert_allclose(lsi.transform([[3.0], [-4.0]]), [[3], [-4]])
    with pytest.raises(ValueError, match=r"2 documents and 2 words for .*'arpack'"):
        LSI(1, algorithm="arpack").fit([[3.0], [-4.0]])


def test_arpack_of_empty_bags_is_zero():
    lsi = LSI(2, algorithm="arpack").fit(np.zeros((3, 4)))
    assert not lsi.singular_values_.any()
    assert not lsi.transform(np.ones((1, 4))).any()


def test_transform_before_fit_and_too_many_components_raise():
    with pytest.raises(NotFittedError):
        LSI().word_vectors(["a"])
    lsi = LSI(1).fit(BLOCKS)
    expected = lsi.transform(BLOCKS)
    with pytest.raises(ValueError, match="n_components must be at most 2"):
        lsi.set_params(n_components=9).fit([[1.0, 2], [3, 4]])
    assert_array_equal(lsi.transform(BLOCKS), expected)


def test_progress_is_reported_and_can_stop():
    told = []
    lsi = LSI(1, random_state=0).fit(BLOCKS, progress=lambda *step: told.append(step))
    assert told == [(0, 1), (1, 1)]
    expected = lsi.transform(BLOCKS)
    for last in told:

        def enough(*step, last=last):
            if step == last:
                raise RuntimeError("enough")

        with pytest.raises(RuntimeError, match="enough"):
            lsi.fit(2 * BLOCKS[::-1, ::-1], progress=enough)
        assert_array_equal(lsi.transform(BLOCKS), expected)


@pytest.mark.parametrize("algorithm", ["randomized", "arpack"])
def test_ctrl_c_interrupts_fit(algorithm):
    bags = sparse.random_array((3000, 3000), density=0.01, random_state=0, dtype=np.float64)
    assert interrupted(lambda: LSI(50, algorithm=algorithm, random_state=0).fit(bags))


def test_transform_reports_progress():
    bags = [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    told = []
    LSI(2, random_state=0).fit(bags).transform(bags, progress=lambda *step: told.append(step))
    assert told == [(3, 3)]
