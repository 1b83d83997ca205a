"""Variational LDA compared with scikit-learn and the equations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import digamma
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.exceptions import ConvergenceWarning

from textkin.models import LDA


@pytest.fixture(scope="module")
def collection():
    """Return documents of two topics with separate words, and the shares of the topics."""
    rng = np.random.default_rng(0)
    topics = np.zeros((2, 20))
    topics[0, :10], topics[1, 10:] = rng.dirichlet(np.ones(10)), rng.dirichlet(np.ones(10))
    shares = rng.dirichlet([0.3, 0.3], 80)
    return np.array([rng.multinomial(60, row @ topics) for row in shares]).astype(float), shares


def reference_shares(counts, components, alpha):
    """Return the fixed point of METHODS 6.2 with full variational topics, in logarithms."""
    log_topics = digamma(components) - digamma(components.sum(axis=1, keepdims=True))
    gamma = np.ones(len(components))
    for _ in range(1000):
        log = log_topics + digamma(gamma)[:, None]
        of_words = np.exp(log - log.max(axis=0))
        gamma = alpha + (of_words / of_words.sum(axis=0)) @ counts
    return gamma / gamma.sum()


def test_fit_recovers_topics(collection):
    bags, shares = collection
    lda = LDA(2, random_state=0).fit(bags)
    found = lda.transform(bags)
    order = [0, 1] if found[:, 0] @ shares[:, 0] > found[:, 0] @ shares[:, 1] else [1, 0]
    assert np.abs(found[:, order] - shares).mean() < 0.05
    assert lda.topic_words_[order[0], :10].sum() > 0.98
    assert_allclose(lda.topic_words_.sum(axis=1), 1)
    assert lda.converged_
    assert lda.n_iter_ % 5 == 0
    assert len(lda.lower_bounds_) == lda.n_iter_ // 5
    assert lda.lower_bounds_[-1] > lda.lower_bounds_[0]


def test_steps_equal_scikit_learn_batch_method(collection):
    bags, _ = collection
    with pytest.warns(ConvergenceWarning, match="did not converge in 4 steps. Raise max_iter"):
        ours = LDA(3, doc_topic_prior=0.2, topic_word_prior=0.1, max_iter=4, random_state=5).fit(
            bags
        )
    theirs = LatentDirichletAllocation(
        3, doc_topic_prior=0.2, topic_word_prior=0.1, max_iter=4, random_state=5
    ).fit(bags)
    assert_allclose(ours.components_, theirs.components_, rtol=1e-12)
    assert_allclose(ours.transform(bags), theirs.transform(bags), atol=1e-6)  # another digamma
    assert not ours.converged_


def test_shares_equal_the_fixed_point_of_the_equations(collection):
    bags, _ = collection
    lda = LDA(2, random_state=0).fit(bags)
    expected = [reference_shares(row, lda.components_, lda.doc_topic_prior_) for row in bags[:10]]
    assert_allclose(lda.transform(bags[:10]), expected, atol=2e-3)  # stops at a change of 1e-3


def test_empty_document_has_equal_shares(collection):
    bags, _ = collection
    lda = LDA(3, random_state=0).fit(bags)
    assert_allclose(lda.transform(np.zeros((1, 20))), 1 / 3)


@pytest.mark.parametrize("beta", [0.01, 1.0])
def test_unseen_words_are_ignored(collection, beta):
    bags = np.hstack([collection[0], np.zeros((80, 2))])
    lda = LDA(2, topic_word_prior=beta, random_state=0).fit(bags)
    unseen = np.zeros((1, 22))
    unseen[0, 20:] = 9
    assert_allclose(lda.transform(unseen), 0.5)
    assert_array_equal(lda.transform(bags[:3] + unseen), lda.transform(bags[:3]))


@pytest.mark.parametrize("method", ["variational", "gibbs"])
@pytest.mark.parametrize("beta", [0.0001, 50.0])
def test_parameters_set_after_fit_do_not_change_words(collection, method, beta):
    bags = np.hstack([collection[0], np.zeros((80, 2))])
    lda = LDA(2, method=method, random_state=0).fit(bags)
    assert_array_equal(lda.known_words_, [1] * 20 + [0] * 2)
    expected = lda.transform(bags[:3])
    lda.topic_word_prior = beta
    unseen = np.zeros((1, 22))
    unseen[0, 20:] = 9
    assert_array_equal(lda.transform(bags[:3] + unseen), expected)


def test_invalid_saved_words_raise(collection, tmp_path):
    lda = LDA(2, random_state=0).fit(collection[0])
    lda.known_words_ = lda.known_words_[:-1]
    lda.save(tmp_path / "lda")
    with pytest.raises(ValueError, match="known_words_ must have one byte per word"):
        LDA.load(tmp_path / "lda")


@pytest.mark.parametrize("method", ["variational", "gibbs"])
def test_progress_of_transform_is_reported_and_can_stop(collection, method):
    bags = np.tile(collection[0], (4, 1))
    lda = LDA(2, method=method, random_state=0).fit(collection[0])
    told = []
    placed = lda.transform(bags, progress=lambda *step: told.append(step))
    assert told[-1] == (320, 320)
    assert_array_equal(placed[-80:], placed[:80])

    def enough(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        lda.transform(bags, progress=enough)


def test_progress_of_fit_is_reported_and_can_stop(collection):
    bags, _ = collection
    told = []
    lda = LDA(2, random_state=0).fit(bags, progress=lambda *step: told.append(step))
    assert told == [(step, 100) for step in range(1, lda.n_iter_ + 1)]

    def enough(done, total):
        raise RuntimeError("enough")

    fresh = LDA(2, random_state=0)
    with pytest.raises(RuntimeError, match="enough"):
        fresh.fit(bags, progress=enough)
    assert not hasattr(fresh, "components_")


def test_fit_without_words_raises():
    with pytest.raises(ValueError, match="all its documents are empty"):
        LDA(2).fit(np.zeros((3, 4)))
