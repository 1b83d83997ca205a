"""Gibbs sampling compared with a reference sampler that uses the same random numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from support import interrupted
from textkin import _core
from textkin.models import LDA

MASK = 2**64 - 1
STEP = 0x9E3779B97F4A7C15


def mixed(z):
    """Mix bits like SplitMix64."""
    z = (z + STEP) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class ReferenceSampler:
    """METHODS 6.1, token by token, in the order of documents and words."""

    def __init__(self, counts, n_topics, alpha, beta, seed):
        self.tokens = [(d, w) for d, w in np.argwhere(counts) for _ in range(int(counts[d, w]))]
        self.alpha, self.beta, self.seed = alpha, beta, seed
        self.in_document = np.zeros((counts.shape[0], n_topics))
        self.of_word = np.zeros((counts.shape[1], n_topics))
        state = mixed(seed)
        self.topics = []
        for d, w in self.tokens:
            topic = ((mixed(state) >> 32) * n_topics) >> 32
            state = (state + STEP) & MASK
            self.topics.append(topic)
            self.in_document[d, topic] += 1
            self.of_word[w, topic] += 1

    def conditional(self, d, w):
        totals = self.of_word.sum(axis=0)
        words = len(self.of_word)
        return (
            (self.in_document[d] + self.alpha)
            * (self.of_word[w] + self.beta)
            / (totals + words * self.beta)
        )

    def sweep(self, number):
        state = mixed((mixed((mixed(self.seed) + number + 1) & MASK)) & MASK)
        for at, (d, w) in enumerate(self.tokens):
            for table, row in ((self.in_document, d), (self.of_word, w)):
                table[row, self.topics[at]] -= 1
            weights = self.conditional(d, w)
            drawn = (mixed(state) >> 40) * 2.0**-24
            state = (state + STEP) & MASK
            topic = int(np.searchsorted(np.cumsum(weights), drawn * weights.sum(), side="right"))
            self.topics[at] = topic
            for table, row in ((self.in_document, d), (self.of_word, w)):
                table[row, topic] += 1


def sampler_of(counts, n_topics, alpha, beta, seed, groups=1):
    bags = sparse.csr_array(counts)
    return _core.TopicSampler(
        bags.indptr.astype(np.int64),
        bags.indices.astype(np.int32),
        bags.data.astype(np.int32),
        counts.shape[1],
        n_topics,
        alpha,
        beta,
        seed,
        groups,
    )


def test_reference_matches_worked_example():
    """METHODS 6.1; the other tests compare the core with this reference."""
    slow = ReferenceSampler(np.zeros((1, 3)), 2, 1, 1, 0)
    slow.in_document[0] = 2, 1
    slow.of_word[:] = [[3, 0], [1, 2], [1, 2]]
    weights = slow.conditional(0, 0)
    assert_allclose(weights, [1.5, 0.2857143], rtol=1e-6)
    assert_allclose(weights / weights.sum(), [0.84, 0.16])


@st.composite
def corpora(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    counts = rng.poisson(draw(st.sampled_from([0.3, 1.5])), (draw(st.integers(1, 6)), 5))
    return counts, draw(st.integers(1, 16)), draw(st.integers(0, 2**63))


@given(corpora(), st.sampled_from([0.1, 1.0]), st.sampled_from([0.01, 2.0]))
@settings(max_examples=40)
def test_samples_equal_reference(corpus, alpha, beta):
    counts, n_topics, seed = corpus
    fast = sampler_of(counts, n_topics, alpha, beta, seed)
    slow = ReferenceSampler(counts, n_topics, alpha, beta, seed)
    assert fast.n_tokens == counts.sum()
    for number in range(4):
        assert_array_equal(fast.document_counts(), slow.in_document)
        assert_array_equal(fast.word_counts(), slow.of_word)
        assert_array_equal(fast.totals(), slow.of_word.sum(axis=0))
        fast.sweep(1, 1, None)
        slow.sweep(number)


@given(corpora(), st.sampled_from([1, 2, 16]), st.sampled_from([3, 20, 40]))
@settings(max_examples=20)
def test_threads_and_instruction_sets_give_the_same_integer_counts(corpus, groups, n_topics):
    counts, _, seed = corpus
    usual = _core.instruction_set()
    found = []
    try:
        for name in _core.instruction_sets():
            _core.use_instruction_set(name)
            for jobs in (1, 3):
                sampler = sampler_of(counts, n_topics, 0.1, 0.01, seed, groups)
                sampler.sweep(5, jobs, None)
                found.append(sampler.word_counts())
                assert_array_equal(sampler.document_counts().sum(axis=1), counts.sum(axis=1))
                assert_array_equal(found[-1].sum(axis=1), counts.sum(axis=0))
                assert_array_equal(found[-1].sum(axis=0), sampler.totals())
                assert_array_equal(sampler.document_counts().sum(axis=0), sampler.totals())
                assert_array_equal(found[-1], found[0])
    finally:
        _core.use_instruction_set(usual)


@pytest.mark.parametrize("alpha", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("beta", [1e-12, 1.0, 1e12])
def test_extreme_priors_lose_no_token(alpha, beta):
    usual = _core.instruction_set()
    try:
        for name in _core.instruction_sets():
            _core.use_instruction_set(name)
            sampler = sampler_of(np.eye(50), 3, alpha, beta, 0)
            sampler.sweep(20, 1, None)
            assert_array_equal(sampler.document_counts().sum(axis=1), 1)
            assert_array_equal(sampler.word_counts().sum(axis=1), 1)
            assert sampler.totals().sum() == 50
    finally:
        _core.use_instruction_set(usual)


def test_words_with_vanishing_weights_keep_their_topics():
    """Weights of 1e-38 times 1e-12 underflow in single precision."""
    found = _core.fold_in_by_sampling(
        np.array([0, 1]),
        np.array([0], np.int32),
        np.array([4], np.int32),
        np.full((1, 3), 1e-38, np.float32),
        1e-12,
        2,
        5,
        1,
        1,
        None,
    )
    assert_allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        (
            {"doc_topic_prior": 1e-25},
            "doc_topic_prior must be from 1e-12 to 1e.12 .*got 1e-25.*'variational'",
        ),
        ({"topic_word_prior": 1e-40}, "topic_word_prior must be from"),
        ({"doc_topic_prior": 1e39}, "doc_topic_prior must be from"),
        ({"topic_word_prior": 1e300}, "topic_word_prior must be from"),
    ],
)
def test_priors_beyond_single_precision_raise(priors, message):
    with pytest.raises(ValueError, match=message):
        LDA(3, method="gibbs", **priors).fit(np.eye(5))


@pytest.fixture(scope="module")
def collection():
    """Return documents of two topics with separate words, and the shares of the topics."""
    rng = np.random.default_rng(0)
    topics = np.zeros((2, 20))
    topics[0, :10], topics[1, 10:] = rng.dirichlet(np.ones(10)), rng.dirichlet(np.ones(10))
    shares = rng.dirichlet([0.3, 0.3], 80)
    return np.array([rng.multinomial(60, row @ topics) for row in shares]).astype(float), shares


@pytest.mark.parametrize("groups", [None, 16])
def test_fit_recovers_topics(collection, groups, monkeypatch):
    bags, shares = collection
    if groups:
        kind = _core.TopicSampler
        monkeypatch.setattr(_core, "TopicSampler", lambda *given: kind(*given, groups))
    lda = LDA(2, method="gibbs", doc_topic_prior=0.3, random_state=0).fit(bags)
    order = [0, 1] if lda.topic_words_[0, :10].sum() > 0.5 else [1, 0]
    for found in (lda.document_topics_, lda.transform(bags)):
        assert np.abs(found[:, order] - shares).mean() < 0.05
        assert_allclose(found.sum(axis=1), 1)
    assert lda.topic_words_[order[0], :10].sum() > 0.98
    assert lda.converged_
    assert lda.n_iter_ == 100
    assert len(lda.lower_bounds_) == 10
    alike = bags.sum(axis=0) / bags.sum()
    assert lda.lower_bounds_[-1] > alike @ np.log(alike) + 0.3


def test_transform_approximates_the_posterior_mean():
    """For one token, P(z|w) with the prior is known, and the sampled mean must be close."""
    bags = np.array([[8.0, 2, 0], [0, 2, 8]])
    lda = LDA(2, method="gibbs", doc_topic_prior=0.5, topic_word_prior=0.1, random_state=0).fit(
        bags
    )
    probabilities = lda.topic_words_[:, 1] / lda.topic_words_[:, 1].sum()
    expected = (probabilities + 0.5) / (1 + 2 * 0.5)
    assert_allclose(lda.transform([[0, 1, 0]])[0], expected, atol=0.08)


def test_seeds_and_threads(collection):
    bags, _ = collection
    one = LDA(3, method="gibbs", max_iter=20, random_state=1).fit(bags)
    two = LDA(3, method="gibbs", max_iter=20, random_state=1, n_jobs=2).fit(bags)
    other = LDA(3, method="gibbs", max_iter=20, random_state=2).fit(bags)
    assert_array_equal(one.components_, two.components_)
    assert_array_equal(one.transform(bags), two.transform(bags))
    assert not np.array_equal(one.components_, other.components_)
    batch = one.transform(bags)
    for at in (0, 5):
        assert_array_equal(one.transform(bags[[at]]), batch[[at]])


def test_save_and_load(collection, tmp_path):
    bags, _ = collection
    lda = LDA(3, method="gibbs", max_iter=10, random_state=1).fit(bags)
    lda.save(tmp_path / "lda")
    again = LDA.load(tmp_path / "lda")
    assert_array_equal(again.transform(bags), lda.transform(bags))
    assert_array_equal(again.document_topics_, lda.document_topics_)


def test_empty_documents_and_unseen_words(collection):
    bags = np.hstack([collection[0], np.zeros((80, 1))])
    bags[3] = 0
    lda = LDA(3, method="gibbs", max_iter=10, random_state=1).fit(bags)
    assert_allclose(lda.document_topics_[3], 1 / 3)
    unseen = np.zeros((2, 21))
    unseen[1, 20] = 4
    assert_allclose(lda.transform(unseen), 1 / 3)
    assert_array_equal(lda.transform(bags + unseen[1]), lda.transform(bags))


def test_components_are_the_mean_of_samples_after_burn_in(collection):
    bags, _ = collection
    last = LDA(2, method="gibbs", max_iter=30, burn_in=29, random_state=0).fit(bags)
    mean = LDA(2, method="gibbs", max_iter=30, burn_in=0, random_state=0).fit(bags)
    counts = last.components_ - 0.01
    assert_allclose(counts, np.round(counts), atol=1e-9)
    assert_allclose(mean.components_.sum(), last.components_.sum())
    counts = 3 * (mean.components_ - 0.01)
    assert_allclose(counts, np.round(counts), atol=1e-9)


def test_progress_is_reported_and_can_stop(collection):
    bags, _ = collection
    told = []
    LDA(2, method="gibbs", max_iter=25, random_state=0).fit(
        bags, progress=lambda *step: told.append(step)
    )
    assert told == [(10, 25), (20, 25), (25, 25)]

    def enough(done, total):
        raise RuntimeError("enough")

    fresh = LDA(2, method="gibbs", random_state=0)
    with pytest.raises(RuntimeError, match="enough"):
        fresh.fit(bags, progress=enough)
    assert not hasattr(fresh, "components_")


def test_ctrl_c_interrupts_fit():
    bags = np.random.default_rng(0).poisson(3.0, (300, 300))
    assert interrupted(lambda: LDA(50, method="gibbs", max_iter=2000, random_state=0).fit(bags))


@pytest.mark.parametrize(
    ("bags", "message"),
    [
        ([[1, 0], [0, 0.5]], r"must have integer counts .*row 1 has 0\.5.*method='variational'"),
        ([[1, 0], [0, 2.0**31]], "at most 2,147,483,647 tokens"),
        ([[0, 0], [0, 0]], "all its documents are empty"),
    ],
)
def test_invalid_bags_raise(bags, message):
    with pytest.raises(ValueError, match=message):
        LDA(2, method="gibbs").fit(bags)


def test_burn_in_without_samples_raises():
    with pytest.raises(ValueError, match="burn_in must be below max_iter, 10"):
        LDA(2, method="gibbs", max_iter=10, burn_in=10).fit([[1]])


def test_invalid_core_arguments_raise():
    good = [
        np.array([0, 1]),
        np.array([0], np.int32),
        np.array([2], np.int32),
        3,
        2,
        0.1,
        0.1,
        0,
        1,
    ]
    assert _core.TopicSampler(*good).n_tokens == 2
    for at, wrong in [
        (0, np.array([0, 2])),
        (0, np.array([], np.int64)),
        (1, np.array([3], np.int32)),
        (2, np.array([-1], np.int32)),
        (2, np.array([1, 1], np.int32)),
        (4, 0),
        (5, 0.0),
        (5, 1e-13),
        (5, np.nan),
        (6, 1e13),
        (8, 1025),
    ]:
        bad = list(good)
        bad[at] = wrong
        with pytest.raises(ValueError, match="must"):
            _core.TopicSampler(*bad)
