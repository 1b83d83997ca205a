"""LDA with asymmetric and learned priors of topics."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import gammaln
from sklearn.base import clone
from sklearn.decomposition import LatentDirichletAllocation

from textkin.models import LDA
from textkin.models.topics._variational_prior import learn_prior


@pytest.fixture(scope="module")
def collection():
    """Return bags of three topics: the first is in all documents, the others are rare."""
    rng = np.random.default_rng(0)
    topics = np.zeros((3, 30))
    for at in range(3):
        topics[at, 10 * at : 10 * at + 10] = rng.dirichlet(np.ones(10))
    shares = rng.dirichlet([3.0, 0.3, 0.1], 150)
    return np.array([rng.multinomial(80, row @ topics) for row in shares]).astype(float)


def test_equal_numbers_give_the_shares_and_bound_of_scikit_learn(collection):
    fitted = LDA(3, doc_topic_prior=[0.2] * 3, tol=1e-5, random_state=0).fit(collection)
    same = LDA(3, doc_topic_prior=0.2, random_state=0).fit(collection)
    same.components_ = fitted.components_
    assert_allclose(fitted.transform(collection), same.transform(collection), atol=2e-3)
    theirs = LatentDirichletAllocation(3, doc_topic_prior=0.2, topic_word_prior=0.01)
    theirs.fit(collection)
    theirs.components_ = fitted.components_
    theirs.exp_dirichlet_component_ = np.exp(_expectations(fitted.components_))
    bound = theirs.score(collection) / collection.sum()
    assert fitted.lower_bounds_[-1] == pytest.approx(bound, abs=2e-3)


def _expectations(components):
    from scipy.special import digamma

    return digamma(components) - digamma(components.sum(axis=1, keepdims=True))


def test_the_bound_rises_with_every_evaluation(collection):
    for prior in ("auto", "asymmetric", [1.0, 0.1, 0.1]):
        lda = LDA(3, doc_topic_prior=prior, tol=1e-4, random_state=1).fit(collection)
        assert len(lda.lower_bounds_) > 2
        assert np.all(np.diff(lda.lower_bounds_) >= -1e-5)


def test_a_learned_prior_finds_the_common_topic(collection):
    lda = LDA(3, doc_topic_prior="auto", random_state=0).fit(collection)
    common = int(lda.document_topics_.mean(axis=0).argmax())
    assert lda.doc_topic_prior_.shape == (3,)
    assert int(lda.doc_topic_prior_.argmax()) == common
    assert lda.doc_topic_prior_[common] > 5 * np.delete(lda.doc_topic_prior_, common).max()
    fixed = LDA(3, random_state=0).fit(collection)
    assert lda.lower_bounds_[-1] > fixed.lower_bounds_[-1]


def test_newton_reaches_the_maximum():
    rng = np.random.default_rng(2)
    logs = np.log(rng.dirichlet([2.0, 0.5, 0.1, 7.0], 400)).sum(axis=0)

    def loss(log_prior):
        prior = np.exp(log_prior)
        return -400 * (gammaln(prior.sum()) - gammaln(prior).sum()) - (prior - 1) @ logs

    expected = np.exp(minimize(loss, np.zeros(4), options={"gtol": 1e-6}).x)
    assert_allclose(learn_prior(np.full(4, 0.25), logs, 400), expected, rtol=1e-3)


def test_asymmetric_numbers():
    lda = LDA(4, doc_topic_prior="asymmetric", max_iter=10, tol=100.0, random_state=0)
    prior = lda.fit(np.eye(4) * 3 + 1).doc_topic_prior_
    assert prior.sum() == pytest.approx(1)
    assert_allclose(prior[0] / prior[3], (3 + 2) / 2)


def test_rows_do_not_interact_and_folders_keep_the_prior(collection, tmp_path):
    lda = LDA(3, doc_topic_prior="auto", random_state=0).fit(collection)
    shares = lda.transform(collection)
    assert_allclose(shares.sum(axis=1), 1)
    assert_allclose(shares[7:8], lda.transform(collection[7:8]), rtol=1e-12)
    assert_array_equal(clone(lda).fit(collection).components_, lda.components_)
    lda.save(tmp_path / "lda")
    loaded = LDA.load(tmp_path / "lda")
    assert_array_equal(loaded.doc_topic_prior_, lda.doc_topic_prior_)
    assert_array_equal(loaded.transform(collection), shares)
    empty = lda.transform(np.zeros((1, 30)))[0]
    assert_allclose(empty, lda.doc_topic_prior_ / lda.doc_topic_prior_.sum())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"doc_topic_prior": "automatic"}, "doc_topic_prior must be"),
        ({"doc_topic_prior": [1.0, 0.0, 1.0]}, "doc_topic_prior must be"),
        ({"doc_topic_prior": [1.0, 2.0]}, "one number for each of the 3 topics; got 2"),
        ({"doc_topic_prior": "auto", "method": "gibbs"}, "None or a number with method='gibbs'"),
    ],
)
def test_invalid_priors_raise(collection, parameters, message):
    with pytest.raises(ValueError, match=message):
        LDA(3, **parameters).fit(collection)
