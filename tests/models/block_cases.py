"""Estimators and rows for tests of fits over blocks, and comparisons of fits."""

import warnings

import numpy as np
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from textkin.models import (
    PLSA,
    WTMF,
    DiagonalGaussianMixture,
    VonMisesFisherMixture,
)
from textkin.weighting import BM25, SIF, TfIdf

WEIGHTINGS = [TfIdf(), BM25(), SIF()]
OVER_BAGS = [
    PLSA(3, max_iter=10, random_state=0),
    PLSA(3, max_iter=8, topic_word_prior=1.1, doc_topic_prior=1.5, n_init=2, random_state=1),
    WTMF(4, regularization=0.5, max_iter=3, random_state=0),
    WTMF(3, regularization=0.5, orthogonality=1e-3, max_iter=3, tol=1e-2, random_state=0),
]
OVER_ROWS = [
    DiagonalGaussianMixture(3, max_iter=15, random_state=0),
    DiagonalGaussianMixture(3, hard=True, n_init=2, max_iter=15, random_state=1),
    VonMisesFisherMixture(3, max_iter=15, random_state=0),
    VonMisesFisherMixture(3, shared_kappa=True, max_iter=15, random_state=0),
]


def random_bags(seed=0, n_documents=60, n_words=25):
    """Return random counts; some documents are empty, and some words are in no document."""
    rng = np.random.default_rng(seed)
    bags = rng.poisson(rng.choice([0.05, 0.3, 1.5], size=n_words), (n_documents, n_words))
    bags[rng.random(n_documents) < 0.1] = 0
    bags[:, 3] = 0
    return sparse.csr_array(bags.astype(np.float64))


def random_points(seed=0, n_rows=90, n_features=4):
    """Return random rows around points, two of them zero."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(3, n_features)) * 3
    rows = centres[rng.integers(3, size=n_rows)] + rng.normal(size=(n_rows, n_features))
    rows[[5, 40]] = 0
    return rows


def cut(rows, ends):
    return [rows[start:end] for start, end in zip((0, *ends), (*ends, rows.shape[0]), strict=True)]


def quietly(fit, *arguments, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "WTMF keeps")
        return fit(*arguments, **keywords)


def learned_attributes(estimator):
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}


def assert_bit_identical(one, other):
    assert learned_attributes(one).keys() == learned_attributes(other).keys()
    for name, value in learned_attributes(one).items():
        assert_array_equal(value, getattr(other, name), err_msg=name)


def assert_close(whole, parts, tolerance):
    """Compare relatively to the maximum of each array; log-likelihoods can be about 0."""
    assert learned_attributes(whole).keys() == learned_attributes(parts).keys()
    for name, value in learned_attributes(whole).items():
        least = 1 if name in ("log_likelihoods_", "lower_bound_") else 1e-300
        scale = np.abs(np.asarray(value, dtype=np.float64)).max(initial=least)
        assert_allclose(getattr(parts, name), value, rtol=0, atol=tolerance * scale, err_msg=name)


def names(estimator):
    return type(estimator).__name__


@st.composite
def splits(draw, n_rows):
    """Draw ends of blocks, including empty blocks, blocks of one row, and a single block."""
    return sorted(draw(st.lists(st.integers(0, n_rows), max_size=5)))
