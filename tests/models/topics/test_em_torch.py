"""EM steps of topic models in torch compared with the core."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import RandomState
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

torch = pytest.importorskip("torch", reason="torch is not installed")

from textkin.models.topics._em import (  # noqa: E402 (needs torch)
    EMProblem,
    EMSettings,
    EMStart,
    draw_start,
)
from textkin.models.topics._em_core import CoreEM  # noqa: E402 (needs torch)
from textkin.models.topics._em_torch import TorchEM  # noqa: E402 (needs torch)

PLENTY, LITTLE = 2**28, 190_000


def bags_of(n_documents, n_words, dtype=np.float64, seed=0, density=0.2):
    bags = sparse.random(n_documents, n_words, density, random_state=seed, format="csr")
    bags.data = np.ceil(4 * bags.data)
    return sparse.csr_array(bags, dtype=dtype)


def both(bags, n_topics, topic_word_prior, doc_topic_prior, memory):
    """Return the back ends of the core and of torch with the same initialization."""
    given = EMSettings(n_topics, topic_word_prior, doc_topic_prior, 9, 0.0, 1)
    problem = EMProblem.of_bags(given, bags)
    start = draw_start(bags, problem, RandomState(0))
    there = TorchEM(bags, problem, start, bags, device="cpu", memory=memory)
    return CoreEM(bags, problem, start, bags), there


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("priors", [(0.0, 0.0), (0.1, 0.02)])
def test_steps_equal_the_core(priors, memory):
    bags = bags_of(90, 60)
    bags = sparse.csr_array(bags.toarray() * (np.arange(90) != 3)[:, None])  # document 3 is empty
    here, there = both(bags, 6, *priors, memory)
    assert there.resident == (memory == PLENTY)
    assert len(there.cuts) > 1 or there.resident
    for _ in range(10):
        assert_allclose(there.step(), here.step(), rtol=1e-12)
    assert_allclose(there.document_topics(), here.document_topics(), atol=1e-12)
    assert_allclose(there.word_topics(), here.word_topics(), atol=1e-12)
    for held in (False, True):
        assert_allclose(there.log_likelihood(held=held), here.log_likelihood(held=held), rtol=1e-12)


def test_steps_in_single_precision():
    bags = bags_of(9000, 400, np.float32, density=0.02)
    here, there = both(bags, 120, 0.0, 0.0, PLENTY)
    assert there.words.dtype == torch.float32
    for _ in range(3):
        assert_allclose(there.step(), here.step(), rtol=1e-6)
    # Rounding of a probability after three steps, with products in another order.
    assert_allclose(there.document_topics(), here.document_topics(), atol=1e-5)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**16), n_topics=st.integers(1, 5), memory=st.sampled_from([PLENTY, 2**15])
)
def test_likelihoods_rise_and_rows_sum_to_one(seed, n_topics, memory):
    bags = bags_of(12, 9, seed=seed, density=0.5)
    if not bags.nnz:
        return
    _, there = both(bags, n_topics, 0.0, 0.0, memory)
    logs = [there.step() for _ in range(6)]
    assert (np.diff(logs) >= -1e-9).all()
    assert_allclose(there.document_topics().sum(axis=1), 1)
    words = there.word_topics()
    assert_allclose(words.sum(axis=1), 1)
    assert_array_equal(words[:, np.diff(bags.tocsc().indptr) == 0], 0)


def test_impossible_tokens_are_counted():
    bags = sparse.csr_array([[2.0, 1.0], [0.0, 3.0]])
    problem = EMProblem.of_bags(EMSettings(1, 0.0, 0.0, 9, 0.0, 1), bags)
    start = EMStart(np.ones((2, 1)), np.array([[1.0], [0.0]]), np.ones(1))
    there = TorchEM(bags, problem, start, bags, device="cpu", memory=PLENTY)
    assert there.log_likelihood(held=True) == (0.0, 4.0)


def test_too_little_memory_raises():
    with pytest.raises(ValueError, match=r"memory must be at least .* for 6 topics of 60 words"):
        both(bags_of(90, 60), 6, 0.0, 0.0, 10_000)
