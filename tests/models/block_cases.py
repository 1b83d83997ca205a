"""Estimators and rows for the tests of fits over blocks, and how answers are compared."""

import warnings

import numpy as np
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from textkin.models import (
    PLSA,
    WTMF,
    GaussianMixture,
    VonMisesFisherMixture,
)
from textkin.weighting import BM25, SIF, TfIdf

WEIGHTINGS = [TfIdf(), BM25(), SIF()]
OVER_BAGS = [
    PLSA(3, max_iter=10, random_state=0),
    PLSA(3, max_iter=8, word_prior=1.1, topic_prior=1.5, n_init=2, random_state=1),
    WTMF(4, regularization=0.5, max_iter=3, random_state=0),
    WTMF(3, regularization=0.5, orthogonality=1e-3, max_iter=3, tol=1e-2, random_state=0),
]
OVER_ROWS = [
    GaussianMixture(3, max_iter=15, random_state=0),
    GaussianMixture(3, hard=True, n_init=2, max_iter=15, random_state=1),
    VonMisesFisherMixture(3, max_iter=15, random_state=0),
    VonMisesFisherMixture(3, shared_kappa=True, max_iter=15, random_state=0),
]


def drawn_bags(seed=0, n_documents=60, n_words=25):
    """Return counts, some documents empty, some words in no document."""
    rng = np.random.default_rng(seed)
    bags = rng.poisson(rng.choice([0.05, 0.3, 1.5], size=n_words), (n_documents, n_words))
    bags[rng.random(n_documents) < 0.1] = 0
    bags[:, 3] = 0
    return sparse.csr_array(bags.astype(np.float64))


def drawn_rows(seed=0, n_rows=90, n_features=4):
    """Return rows around points, two of them zero."""
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


def learnt(estimator):
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}


def assert_same_bits(one, other):
    assert learnt(one).keys() == learnt(other).keys()
    for name, value in learnt(one).items():
        assert_array_equal(value, getattr(other, name), err_msg=name)


def assert_near(whole, parts, tolerance):
    """Compare relatively to the largest number of an array; log-likelihoods may be about 0."""
    assert learnt(whole).keys() == learnt(parts).keys()
    for name, value in learnt(whole).items():
        least = 1 if name in ("log_likelihoods_", "lower_bound_") else 1e-300
        scale = np.abs(np.asarray(value, dtype=np.float64)).max(initial=least)
        assert_allclose(getattr(parts, name), value, rtol=0, atol=tolerance * scale, err_msg=name)


def names(estimator):
    return type(estimator).__name__


@st.composite
def splits(draw, n_rows):
    """Draw where blocks end: empty ones, ones of a row, one block alone."""
    return sorted(draw(st.lists(st.integers(0, n_rows), max_size=5)))
