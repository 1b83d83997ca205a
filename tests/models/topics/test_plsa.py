"""PLSA compared with its equations, a reference implementation, and METHODS 7.6."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_extraction.text import CountVectorizer

from support import interrupted
from textkin import _core
from textkin.models import LDA, PLSA
from textkin.models._arrays import entries_of, table_of
from textkin.models.topics._em import EMProblem, EMSettings, draw_start, split_tokens
from textkin.models.topics._em_core import CoreEM, fold_in

N = np.array([[2.0, 1, 0], [0, 1, 2]])
T = np.array([[0.75, 0.25], [0.25, 0.75]])
F = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])


def reference_step(counts, topics, words, *, topic_word_prior=0.0, doc_topic_prior=0.0, power=1.0):
    """Compute one step with the full posterior P(z|d,w), and sum n log P(w|d)."""
    joint = topics[:, None, :] * words.T[None, :, :]  # (d, w, z)
    with np.errstate(divide="ignore", invalid="ignore"):
        posterior = np.nan_to_num(joint**power / (joint**power).sum(axis=2, keepdims=True))
        logs = np.where(counts > 0, counts * np.log(joint.sum(axis=2)), 0)
    expected = counts[:, :, None] * posterior
    seen = (counts.sum(axis=0) > 0)[:, None]
    new_words = np.where(seen, expected.sum(axis=0) + topic_word_prior, 0).T
    new_topics = expected.sum(axis=1) + doc_topic_prior
    totals = new_topics.sum(axis=1, keepdims=True)
    new_topics = np.divide(new_topics, totals, out=topics.copy(), where=totals > 0)
    return new_topics, new_words / new_words.sum(axis=1, keepdims=True), logs.sum()


def core_step(
    counts, topics, words, *, topic_word_prior=0.0, doc_topic_prior=0.0, jobs=1, dtype=np.float64
):
    bags = sparse.csr_array(counts)
    places = sparse.csr_array((np.arange(bags.nnz), bags.indices, bags.indptr), shape=bags.shape)
    by_word = places.tocsc()
    kind = _core.FineMixture if dtype == np.float64 else _core.Mixture
    core = kind(
        *entries_of(bags, dtype),
        by_word.indptr.astype(np.int64),
        by_word.indices.astype(np.int32),
        by_word.data.astype(np.int64),
    )
    old, table, scale = table_of(topics, dtype), table_of(words.T, dtype), np.ones(len(words))
    new = np.zeros_like(old)
    logarithm = core.step(old, new, table, scale, doc_topic_prior, topic_word_prior, 0.0, jobs)
    n = len(words)
    return new[:, :n], (table[:, :n] * scale).T, logarithm


def test_step_matches_worked_example():
    topics, words, before = core_step(N, T, F)
    assert_allclose(topics[0], [23 / 28, 5 / 28])
    assert_allclose(words[0], [4 / 7, 1 / 3, 2 / 21])
    assert before == pytest.approx(-6.0793030, abs=1e-7)
    _, _, after = core_step(N, topics, words)
    assert after == pytest.approx(-5.0801651, abs=1e-7)


def test_single_factor_is_the_word_distribution():
    plsa = PLSA(1, random_state=0).fit(N)
    assert_allclose(plsa.components_, [N.sum(axis=0) / N.sum()])
    assert_allclose(plsa.document_topics_, 1)


def test_inference_of_one_word_step_by_step():
    """METHODS 7.6: 1/2, 2/3, 4/5, 8/9, ..., 2^t / (2^t + 1)."""
    word = sparse.csr_array([[1.0, 0, 0]])
    for steps in range(1, 8):
        found = fold_in(word, F, 1.0, EMSettings(2, 0, 0, 1, 0, 1), steps=steps, tolerance=0)
        assert found[0, 0] == pytest.approx(2**steps / (2**steps + 1))


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_documents, n_words = draw(st.integers(1, 9)), draw(st.integers(1, 12))
    n_topics = draw(st.sampled_from([1, 2, 3, 8, 17, 33]))
    counts = rng.poisson(draw(st.sampled_from([0.2, 1.0, 5.0])), (n_documents, n_words))
    counts[0, 0] += 1
    topics = rng.dirichlet(np.ones(n_topics), n_documents)
    words = rng.dirichlet(np.ones(n_words), n_topics)
    return counts.astype(float), topics, words


PRIORS = st.sampled_from([0.0, 0.01, 0.5])


@given(problems(), PRIORS, PRIORS)
def test_step_equals_reference(problem, topic_word_prior, doc_topic_prior):
    expected = reference_step(
        *problem, topic_word_prior=topic_word_prior, doc_topic_prior=doc_topic_prior
    )
    found = core_step(*problem, topic_word_prior=topic_word_prior, doc_topic_prior=doc_topic_prior)
    for one, other in zip(found, expected, strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-13)
    rough = core_step(
        *problem,
        topic_word_prior=topic_word_prior,
        doc_topic_prior=doc_topic_prior,
        dtype=np.float32,
    )
    for one, other in zip(rough, expected, strict=True):
        assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@given(problems())
@settings(max_examples=20)
def test_instruction_sets_and_threads_are_bit_identical(problem):
    usual = _core.instruction_set()
    try:
        for dtype in (np.float32, np.float64):
            found = []
            for name in _core.instruction_sets():
                _core.use_instruction_set(name)
                found += [core_step(*problem, jobs=jobs, dtype=dtype) for jobs in (1, 3)]
            for other in found[1:]:
                assert_array_equal(other[0], found[0][0])
                assert_array_equal(other[1], found[0][1])
                assert other[2] == found[0][2]
    finally:
        _core.use_instruction_set(usual)


@given(problems(), st.sampled_from([1.0, 1.01, 1.5]), st.sampled_from([1.0, 1.1, 2.0]))
@settings(max_examples=50)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_objective_never_falls(problem, topic_word_prior, doc_topic_prior):
    counts, topics, _ = problem
    plsa = PLSA(
        topics.shape[1],
        topic_word_prior=topic_word_prior,
        doc_topic_prior=doc_topic_prior,
        max_iter=60,
        tol=0,
        random_state=0,
    ).fit(counts)
    values = np.array(plsa.objectives_)
    assert np.all(np.diff(values) >= -1e-9 * np.maximum(np.abs(values[1:]), counts.sum()))
    assert len(values) == len(plsa.log_likelihoods_) == plsa.n_iter_ + 1
    if topic_word_prior == doc_topic_prior == 1:
        assert plsa.log_likelihoods_ == plsa.objectives_


@given(problems(), st.sampled_from([1.0, 0.9, 0.5]))
@settings(max_examples=30)
def test_inference_equals_reference_steps_with_fixed_words(problem, power):
    counts, _, words = problem
    n = len(words)
    topics = np.full((len(counts), n), 1 / n)
    for _ in range(5):
        topics, _, _ = reference_step(counts, topics, words, power=power)
    found = fold_in(
        sparse.csr_array(counts), words, power, EMSettings(n, 0, 0, 1, 0, 2), steps=5, tolerance=0
    )
    assert_allclose(found, topics, rtol=1e-8, atol=1e-12)


@pytest.fixture(scope="module")
def collection():
    """Return documents of three factors with mostly separate words."""
    rng = np.random.default_rng(3)
    words = np.full((3, 30), 0.002)
    for k in range(3):
        words[k, 10 * k : 10 * k + 10] += rng.dirichlet(np.ones(10))
    words /= words.sum(axis=1, keepdims=True)
    topics = rng.dirichlet([0.4] * 3, 60)
    return np.array([rng.multinomial(150, row @ words) for row in topics]).astype(float), topics


def test_fitted_documents_transform_to_their_own_topics(collection):
    bags, _ = collection
    plsa = PLSA(3, tol=1e-10, max_iter=3000, fold_in_iter=3000, random_state=0).fit(bags)
    assert_allclose(plsa.transform(bags), plsa.document_topics_, atol=2e-3)
    assert_allclose(
        plsa.transform(bags) @ plsa.components_, plsa.document_topics_ @ plsa.components_, atol=1e-3
    )


def test_fit_recovers_factors(collection):
    bags, topics = collection
    plsa = PLSA(3, n_init=3, random_state=0).fit(bags)
    closest = np.abs(plsa.document_topics_.T @ topics).argmax(axis=1)
    assert sorted(closest) == [0, 1, 2]
    assert np.abs(plsa.document_topics_ - topics[:, closest]).mean() < 0.05
    assert_allclose(plsa.components_.sum(axis=1), 1)
    assert_allclose(plsa.document_topics_.sum(axis=1), 1)
    assert_allclose(plsa.topic_weights_, plsa.document_topics_.mean(axis=0))  # equal lengths


def test_best_of_several_initializations_is_kept(collection):
    bags, _ = collection
    each = np.random.RandomState(1)
    alone = [PLSA(4, random_state=each).fit(bags).objectives_[-1] for _ in range(4)]
    best = PLSA(4, n_init=4, random_state=np.random.RandomState(1)).fit(bags)
    assert best.objectives_[-1] == max(alone)


def test_threads_and_seeds(collection):
    bags, _ = collection
    one = PLSA(5, random_state=3).fit(bags)
    two = PLSA(5, random_state=3, n_jobs=2).fit(bags)
    other = PLSA(5, random_state=4).fit(bags)
    assert_array_equal(one.components_, two.components_)
    assert_array_equal(one.transform(bags), two.transform(bags))
    assert one.log_likelihoods_ == two.log_likelihoods_
    assert not np.array_equal(one.components_, other.components_)


def test_single_precision_of_large_models_agrees_with_double(collection, monkeypatch):
    bags = collection[0]
    double = PLSA(5, random_state=0).fit(bags)
    monkeypatch.setattr("textkin.models.topics._em._SMALL", 0)
    single = PLSA(5, random_state=0).fit(bags.astype(np.float32))
    assert_allclose(single.log_likelihoods_[:20], double.log_likelihoods_[:20], rtol=1e-5)
    assert_allclose(single.components_, double.components_, atol=1e-2)
    values = np.array(single.log_likelihoods_)
    assert np.all(np.diff(values) >= -1e-6 * np.abs(values[1:]))


def test_tempering_improves_held_out_tokens(collection):
    bags, _ = collection
    few = np.random.default_rng(0).binomial(bags.astype(int), 0.2).astype(float)
    plsa = PLSA(12, tempered=True, random_state=0).fit(few)
    held = plsa.held_out_log_likelihoods_
    assert plsa.inverse_temperature_ < 1
    assert plsa.converged_
    assert len(held) == plsa.n_iter_
    stopped = next(at for at in range(1, len(held)) if held[at] <= held[at - 1])
    assert max(held) > max(held[: stopped + 1])  # more than early stopping alone
    assert_allclose(plsa.transform(few), plsa.document_topics_, atol=1e-4)
    assert_array_equal(
        PLSA(12, tempered=True, random_state=0, n_jobs=2).fit(few).components_, plsa.components_
    )


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.9))
@settings(max_examples=20)
def test_held_out_tokens_belong_to_remaining_words(seed, fraction):
    counts = np.random.RandomState(seed).poisson(3.0, (30, 6)) + np.eye(30, 6)
    split = split_tokens(sparse.csr_array(counts), fraction, np.random.RandomState(seed))
    kept, held = split.train.toarray(), split.held.toarray()
    assert np.all(kept >= 0)
    assert np.all(held == np.floor(held))
    left = counts - kept - held
    assert np.all(left >= 0)
    assert not np.any(left[:, kept.sum(axis=0) > 0])
    assert not np.any(held[:, kept.sum(axis=0) == 0])


def test_weights_below_one_cannot_be_held_out():
    with pytest.raises(ValueError, match="held_out must leave tokens"):
        PLSA(2, tempered=True, random_state=0).fit(N / 10)


def test_empty_documents_and_unseen_words():
    bags = np.array([[2.0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 2, 0]])
    for prior in (1.0, 1.1):
        plsa = PLSA(2, topic_word_prior=prior, random_state=0).fit(bags)
        assert_array_equal(plsa.document_topics_[1], [0.5, 0.5])
        assert_array_equal(plsa.components_[:, 3], 0)
        assert_array_equal(plsa.transform([[0, 0, 0, 0], [0, 0, 0, 9]]), 0.5)
        unseen = bags.copy()
        unseen[:, 3] = 5
        assert_array_equal(plsa.transform(unseen), plsa.transform(bags))


def test_scale_of_weights_does_not_matter_without_priors():
    whole = PLSA(2, random_state=0).fit(N)
    for factor in (2.0**-1074, 2.0**-660, 2.0**-66, 2.0**66, 2.0**515, 2.0**1000):
        other = PLSA(2, random_state=0).fit(N * factor)
        assert_array_equal(other.components_, whole.components_)
        assert_array_equal(other.document_topics_, whole.document_topics_)
        assert_array_equal(other.transform(N * factor), whole.transform(N))
        assert other.n_iter_ == whole.n_iter_
        if factor >= 2.0**-1000:  # for smaller factors, likelihoods have few bits
            assert_array_equal(other.log_likelihoods_, np.multiply(whole.log_likelihoods_, factor))
    huge = PLSA(2, random_state=0).fit((N * 1e30).astype(np.float32))
    assert_allclose(huge.components_, whole.components_, rtol=1e-6, atol=1e-9)
    with pytest.raises(ValueError, match=r"finite sum\. Scale them down"):
        PLSA(2).fit(np.full((2, 2), 1e308))


def test_priors_scale_with_the_weights():
    for factor in (1e-300, 1e200):
        plsa = PLSA(2, topic_word_prior=1.5, doc_topic_prior=1.5, random_state=0).fit(N * factor)
        expected = np.full(3, 1 / 3) if factor < 1 else N.sum(axis=0) / N.sum()
        assert_allclose(plsa.topic_weights_ @ plsa.components_, expected)
        assert_allclose(plsa.transform(N * factor).sum(axis=1), 1)
        assert np.isfinite(plsa.objectives_).all()


@pytest.mark.parametrize("small", [2**20, 0])
@pytest.mark.parametrize("weight", [1e-20, 1e-35])
def test_word_with_a_small_weight_is_kept(weight, small, monkeypatch):
    monkeypatch.setattr("textkin.models.topics._em._SMALL", small)
    for dtype in (np.float32, np.float64):
        plsa = PLSA(2, random_state=0).fit(np.array([[1, 0], [0, weight]], dtype))
        assert plsa.topic_weights_ @ plsa.components_[:, 1] == pytest.approx(weight)
        assert np.isfinite(plsa.transform(np.array([[0, weight]], dtype))).all()


def test_word_with_vanishing_weight_is_unseen():
    plsa = PLSA(2, random_state=0).fit(np.array([[1, 0], [0, 1e-300]]))
    assert_array_equal(plsa.components_, [[1, 0], [1, 0]])
    assert_array_equal(plsa.transform([[0, 1]]), 0.5)


@pytest.mark.parametrize("scale", [2.0**-76, 2.0**60])
def test_large_model_of_small_weights_equals_model_of_large_weights(collection, scale, monkeypatch):
    bags = collection[0].astype(np.float32)
    monkeypatch.setattr("textkin.models.topics._em._SMALL", 0)
    usual = PLSA(5, random_state=0).fit(bags)
    other = PLSA(5, random_state=0).fit(bags * np.float32(scale))
    assert_array_equal(other.components_, usual.components_)


def test_documents_that_lose_all_tokens_get_equal_shares():
    counts = sparse.csr_array(np.vstack([np.eye(3), np.full((4, 3), 5.0)]))
    parts = counts.copy()
    parts.data[:3] = 0
    parts.eliminate_zeros()
    problem = EMProblem.of_bags(EMSettings(4, 0, 0, 1, 0, 1), parts)
    backend = CoreEM(parts, problem, draw_start(parts, problem, np.random.RandomState(0)))
    for power in (1.0, 0.9, 0.8):
        assert_array_equal(backend.document_topics()[:3], 0.25)
        backend.step(power)
    assert_array_equal(backend.document_topics()[:3], 0.25)


def test_too_many_tokens_to_hold_out_raise():
    with pytest.raises(ValueError, match=r"at most 9,007,199,254,740,992 .*got 1e\+19.*tempered=F"):
        PLSA(2, tempered=True).fit(N * 5e18)


def test_too_few_steps_warn():
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 steps. Raise max_iter"):
        plsa = PLSA(2, max_iter=1, random_state=0).fit(N)
    assert not plsa.converged_
    assert plsa.n_iter_ == 1


def test_fit_without_words_raises():
    with pytest.raises(ValueError, match="all its documents are empty"):
        PLSA(2).fit(np.zeros((3, 4)))


def test_progress_is_reported_and_can_stop(collection):
    bags, _ = collection
    told = []
    plsa = PLSA(2, n_init=2, random_state=0)
    plsa.fit(bags, progress=lambda *step: told.append(step))
    assert told[0] == (1, 400)
    assert all(total == 400 for _, total in told)
    assert [done for done, _ in told] == sorted({done for done, _ in told})

    def enough(done, total):
        raise RuntimeError("enough")

    fresh = PLSA(2, random_state=0)
    with pytest.raises(RuntimeError, match="enough"):
        fresh.fit(bags, progress=enough)
    assert not hasattr(fresh, "components_")
    with pytest.raises(RuntimeError, match="enough"):
        plsa.transform(bags, progress=enough)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ctrl_c_interrupts_fit():
    bags = sparse.random_array((3000, 3000), density=0.02, random_state=0, dtype=np.float64)
    assert interrupted(lambda: PLSA(64, max_iter=300, random_state=0).fit(bags))


def test_invalid_core_arguments_raise():
    bags = sparse.csr_array(N)
    good = [*entries_of(bags, np.float64), table_of(T, np.float64), table_of(F.T, np.float64)]
    scale = np.ones(8)
    assert _core.log_likelihood(*good, scale, 1)[1] == 0
    for at, wrong in [
        (0, np.array([0, 2, 1, 4])),
        (0, np.array([1, 2, 4])),
        (1, np.array([0, 1, 1, 3], dtype=np.int32)),
        (1, np.array([0, 1, -1, 2], dtype=np.int32)),
        (2, np.ones(3)),
        (3, table_of(T[:1], np.float64)),
        (4, np.ones((3, 4))),
    ]:
        bad = list(good)
        bad[at] = wrong
        with pytest.raises(ValueError, match="must"):
            _core.log_likelihood(*bad, scale, 1)


def test_topics_are_the_most_probable_words(collection):
    bags, _ = collection
    names = [f"w{column}" for column in range(30)]
    plsa = PLSA(3, random_state=0).fit(bags)
    topics = plsa.topics(names, n_words=4)
    assert len(topics) == 3
    weights = [topic.weight for topic in topics]
    assert weights == sorted(weights, reverse=True)
    for topic in topics:
        row = plsa.components_[topic.number]
        assert [word for word, _ in topic.words] == [names[at] for at in np.argsort(-row)[:4]]
        assert topic.weight == plsa.topic_weights_[topic.number]
    assert plsa.topics().topics[0].words[0][0].startswith("#")
    with pytest.raises(ValueError, match=r"feature_names must be 30, one for each column.*got 2"):
        plsa.topics(["a", "b"])
    with pytest.raises(
        TypeError, match=r"^feature_names must name the columns.*: a list of words, .*got str"
    ):
        plsa.topics("w" * 30)


@pytest.mark.parametrize("model", [PLSA(1), LDA(1)], ids=str)
def test_topics_accept_vectorizers_as_feature_names(model):
    vectoriser = CountVectorizer()
    model.fit(vectoriser.fit_transform(["zebra zebra zebra apple", "mango mango"]))
    assert list(vectoriser.vocabulary_) != sorted(vectoriser.vocabulary_)
    for words in (vectoriser, vectoriser.vocabulary_, ["apple", "mango", "zebra"]):
        (topic,) = model.topics(words)
        assert [word for word, _ in topic.words] == ["zebra", "mango", "apple"]
        assert model.topics(words).to_text().startswith("0  100.0 %\n")


@pytest.mark.parametrize("ask", [PLSA().topics, LDA().topics, lambda: LDA().topic_words_])
def test_methods_before_fit_raise(ask):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        ask()


def test_too_large_fold_in_iter_raises():
    with pytest.raises(ValueError, match=r"fold_in_iter must be .* at most 2147483647"):
        PLSA(2, fold_in_iter=2**64).fit(N)
