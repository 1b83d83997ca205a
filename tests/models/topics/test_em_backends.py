"""Every back end of EM compared with `_em_reference`."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.random import RandomState
from numpy.testing import assert_allclose
from scipy import sparse

from models.block_cases import cut, quietly, splits
from textkin._base import check_bags
from textkin.models import PLSA
from textkin.models._block_passes import Passes, survey
from textkin.models.topics._counting_grid import GridEM, Windows
from textkin.models.topics._em import EMProblem, EMSettings, draw_start, split_tokens
from textkin.models.topics._em_blocks import BlockEM
from textkin.models.topics._em_core import CoreEM, fold_in
from textkin.models.topics._em_reference import ReferenceEM, e_step, log_likelihood, m_step

SEED = 3


@st.composite
def problems(draw, n_topics=(1, 2, 3, 8, 17)):
    """Draw settings and bags; some documents are empty, and some words are in no document."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(2, 9)), draw(st.integers(2, 12))
    counts = rng.poisson(draw(st.sampled_from([0.2, 1.0, 5.0])), shape).astype(float)
    counts[0, 0] += 2
    counts[0, 1] += 2
    counts *= draw(st.sampled_from([1.0, 2.0**-80, 2.0**70]))
    priors = st.sampled_from([0.0, 0.01, 0.5])
    topics = draw(st.sampled_from(n_topics))
    return sparse.csr_array(counts), EMSettings(topics, draw(priors), draw(priors), 10, 0.0, 1)


def assert_same_model(found, expected, tolerance):
    assert_allclose(found.word_topics(), expected.word_topics(), atol=tolerance)
    size = max(found.problem.total, 1e-300)
    close = {"rtol": tolerance, "atol": tolerance * size}
    assert_allclose(found.log_likelihood(), expected.log_likelihood(), **close)
    # A probability of 0 counts as the smallest float, and rounding decides which are 0.
    least = min(expected.word_topics().min(), expected.document_topics().min())
    if least > 1e-12:
        assert_allclose(found.log_prior(), expected.log_prior(), **close)
    # This call comes last: over blocks, the topics can be read only once.
    assert_allclose(found.document_topics(), expected.document_topics(), atol=tolerance)


def torch_backend(*arguments):
    pytest.importorskip("torch", reason="torch is not installed")
    from textkin.models.topics._em_torch import TorchEM

    return TorchEM(*arguments, device="cpu")


BACKENDS = [CoreEM, torch_backend]


class TestReference:
    def test_step_matches_worked_example(self):
        """METHODS 7.6."""
        bags = sparse.csr_array([[2.0, 1, 0], [0, 1, 2]])
        topics = np.array([[0.75, 0.25], [0.25, 0.75]])
        words = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
        posterior = e_step(bags, words, topics)
        assert_allclose(posterior[:2, 0], [6 / 7, 3 / 4])
        assert log_likelihood(bags, words, topics)[0] == pytest.approx(-6.0793030, abs=1e-7)
        words, topics = m_step(bags, posterior, topics)
        assert_allclose(topics[0], [23 / 28, 5 / 28])
        assert_allclose(words[0], [4 / 7, 1 / 3, 2 / 21])
        assert log_likelihood(bags, words, topics)[0] == pytest.approx(-5.0801651, abs=1e-7)

    def test_priors_are_pseudo_counts_of_words_that_occur(self):
        """METHODS 7.4."""
        bags = sparse.csr_array([[3.0, 1, 0]])
        words, topics = m_step(bags, np.ones((2, 1)), np.ones((1, 1)), 0.5, 2.0)
        assert_allclose(words, [[3.5 / 5, 1.5 / 5, 0]])
        assert_allclose(topics, [[1.0]])

    def test_tempering_flattens_the_posterior(self):
        bags = sparse.csr_array([[1.0]])
        words, topics = np.array([[1.0], [1.0]]), np.array([[0.8, 0.2]])
        assert_allclose(e_step(bags, words, topics, 0.5), [[2 / 3, 1 / 3]])
        assert_allclose(e_step(bags, words, topics, 1.0), topics)


class TestSteps:
    @pytest.mark.parametrize("backend", BACKENDS)
    @settings(max_examples=40, deadline=None)
    @given(problem=problems(), power=st.sampled_from([1.0, 0.9, 0.5]))
    def test_steps_equal_reference(self, backend, problem, power):
        bags, given_settings = problem
        scaled = EMProblem.of_bags(given_settings, bags)
        start = draw_start(bags, scaled, RandomState(SEED))
        expected, found = ReferenceEM(bags, scaled, start), backend(bags, scaled, start)
        assert_same_model(found, expected, 1e-12)
        for _ in range(4):
            before = expected.step(power)
            assert found.step(power) == pytest.approx(before, rel=1e-9, abs=1e-9 * scaled.total)
            assert_same_model(found, expected, 1e-9)

    @pytest.mark.parametrize("backend", BACKENDS)
    @settings(max_examples=20, deadline=None)
    @given(problem=problems(), power=st.sampled_from([1.0, 0.8]))
    def test_steps_in_single_precision(self, backend, problem, power):
        bags, given_settings = problem
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("textkin.models.topics._em._SMALL", 0)
            scaled = EMProblem.of_bags(given_settings, bags.astype(np.float32))
        assume(scaled.dtype == np.float32)
        start = draw_start(bags, scaled, RandomState(SEED))
        expected, found = ReferenceEM(bags, scaled, start), backend(bags, scaled, start)
        for _ in range(2):
            before = expected.step(power)
            assert found.step(power) == pytest.approx(before, rel=1e-4, abs=1e-4 * scaled.total)
        assert_allclose(found.word_topics(), expected.word_topics(), atol=1e-3)
        assert_allclose(found.document_topics(), expected.document_topics(), atol=1e-3)

    @settings(max_examples=20, deadline=None)
    @given(problem=problems(), data=st.data())
    def test_steps_over_blocks(self, problem, data):
        bags, given_settings = problem
        blocks = cut(bags, data.draw(splits(bags.shape[0])))
        scaled = EMProblem.of_bags(given_settings, bags)
        expected = ReferenceEM(bags, scaled, draw_start(bags, scaled, RandomState(SEED)))
        with Passes(blocks, check_bags, executor=None, n_jobs=None, folder=None) as passes:
            found = BlockEM(passes, survey(passes, PLSA()), given_settings, RandomState(SEED))
            assert found.problem == scaled
            for _ in range(3):
                before = expected.step()
                assert found.step() == pytest.approx(before, rel=1e-9, abs=1e-9 * scaled.total)
            assert_same_model(found, expected, 1e-9)

    @settings(max_examples=20, deadline=None)
    @given(problem=problems(n_topics=(4,)))
    def test_steps_of_windows_of_one_cell(self, problem):
        bags, given_settings = problem
        scaled = EMProblem.of_bags(given_settings, bags)
        start = draw_start(bags, scaled, RandomState(SEED))
        found = GridEM(bags, scaled, start, Windows((2, 2), (1, 1)))
        expected = ReferenceEM(bags, scaled, start)
        for _ in range(3):
            before = expected.step()
            assert found.step() == pytest.approx(before, rel=1e-9, abs=1e-9 * scaled.total)
        assert_same_model(found, expected, 1e-9)


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), power=st.sampled_from([1.0, 0.8]))
def test_held_out_tokens_and_states(backend, seed, power):
    bags = sparse.csr_array(RandomState(seed).poisson(2.0, (9, 7)) + np.eye(9, 7))
    split = split_tokens(bags, 0.3, RandomState(seed))
    scaled = EMProblem.of_bags(EMSettings(3, 0.0, 0.0, 9, 0.0, 1), split.train)
    start = draw_start(split.train, scaled, RandomState(SEED))
    expected = ReferenceEM(split.train, scaled, start, split.held)
    found = backend(split.train, scaled, start, split.held)
    states = expected.state(), found.state()
    for _ in range(2):
        for one in (expected, found):
            one.step(power)
        held = expected.log_likelihood(held=True)
        assert_allclose(found.log_likelihood(held=True), held, rtol=1e-9, atol=1e-9)
    for one, state in zip((expected, found), states, strict=True):
        one.restore(state)
    assert_same_model(found, expected, 1e-12)


@settings(max_examples=20, deadline=None)
@given(problem=problems(), power=st.sampled_from([1.0, 0.7]))
def test_fold_in_equals_reference_steps_with_fixed_words(problem, power):
    bags, given_settings = problem
    n = given_settings.n_components
    words = RandomState(SEED).dirichlet(np.ones(bags.shape[1]), n)
    expected = np.full((bags.shape[0], n), 1 / n)
    for _ in range(5):
        posterior = e_step(bags, words, expected, power)
        _, expected = m_step(bags, posterior, expected, 0.0, given_settings.doc_topic_prior)
    found = fold_in(bags, words, power, given_settings, steps=5, tolerance=0)
    assert_allclose(found, expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"topic_word_prior": 1.2, "doc_topic_prior": 1.1},
        {"tempered": True, "doc_topic_prior": 1.1},
        {"n_init": 2},
    ],
)
def test_fit_equals_fit_with_reference_back_end(parameters, monkeypatch):
    bags = sparse.csr_array(RandomState(0).poisson(0.8, (40, 25)).astype(float))
    model = PLSA(3, random_state=0, max_iter=30, tol=1e-4, **parameters)
    found = quietly(model.fit, bags)

    def reference(self, bags, split, settings, random):
        train, held = (bags, None) if split is None else (split.train, split.held)
        problem = EMProblem.of_bags(settings, train)
        return ReferenceEM(train, problem, draw_start(train, problem, random), held)

    monkeypatch.setattr(PLSA, "_backend", reference)
    expected = quietly(PLSA(**model.get_params()).fit, bags)
    assert found.n_iter_ == expected.n_iter_
    assert found.inverse_temperature_ == expected.inverse_temperature_
    for name in ("components_", "document_topics_", "topic_weights_"):
        assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-8)
    for name in ("log_likelihoods_", "objectives_", "held_out_log_likelihoods_"):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-8)
