"""Steps of EM for topics on tensors beside those of the core."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import RandomState
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from textkin.device._plsa import DeviceTopics
from textkin.models._em import EmSettings, Mixture, entries_of

CPU = torch.device("cpu")
PLENTY, LITTLE = 2**28, 190_000


def bags_of(n_documents, n_words, dtype=np.float64, seed=0, density=0.2):
    bags = sparse.random(n_documents, n_words, density, random_state=seed, format="csr")
    bags.data = np.ceil(4 * bags.data)
    return sparse.csr_array(bags, dtype=dtype)


def both(bags, n_topics, word_prior, topic_prior, memory):
    """Return the mixture of the core, and the same on tensors."""
    here = Mixture(bags, EmSettings(n_topics, word_prior, topic_prior, 9, 0.0, 1), RandomState(0))
    start = here.topics[:, :n_topics].copy(), here.words[:, :n_topics].copy(), here.scale.copy()
    return here, DeviceTopics(*here.entries, *start, CPU, memory)


def step(there, here):
    return there.step(here.settings.topic_prior, here.added_to_words, here.least)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("priors", [(0.0, 0.0), (0.1, 0.02)])
def test_steps_are_those_of_the_core(priors, memory):
    bags = bags_of(90, 60)
    bags = sparse.csr_array(bags.toarray() * (np.arange(90) != 3)[:, None])  # one is empty
    here, there = both(bags, 6, *priors, memory)
    assert there.resident == (memory == PLENTY)
    assert len(there.cuts) > 1 or there.resident
    for _ in range(10):
        assert_allclose(step(there, here), here.step(), rtol=1e-12)
    assert_allclose(there.document_topics(), here.topics[:, :6], atol=1e-12)
    words, scale = there.word_topics()
    assert_allclose(words * scale, here.words[:, :6] * here.scale, atol=1e-12)
    assert_allclose(there.log_likelihood(), here.log_likelihood(here.entries), rtol=1e-12)


def test_steps_in_single_precision():
    bags = bags_of(9000, 400, np.float32, density=0.02)
    here, there = both(bags, 120, 0.0, 0.0, PLENTY)
    assert there.words.dtype == torch.float32
    for _ in range(3):
        assert_allclose(step(there, here), here.step(), rtol=1e-6)
    # Of a probability after three steps, rounding of products in another order.
    assert_allclose(there.document_topics(), here.topics[:, :120], atol=1e-5)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**16), n_topics=st.integers(1, 5), memory=st.sampled_from([PLENTY, 2**15])
)
def test_likelihoods_rise_and_rows_sum_to_one(seed, n_topics, memory):
    bags = bags_of(12, 9, seed=seed, density=0.5)
    if not bags.nnz:
        return
    here, there = both(bags, n_topics, 0.0, 0.0, memory)
    logs = [step(there, here) for _ in range(6)]
    assert (np.diff(logs) >= -1e-9).all()
    assert_allclose(there.document_topics().sum(axis=1), 1)
    words, scale = there.word_topics()
    assert_allclose((words * scale).sum(axis=0), 1)
    assert_array_equal(words[np.diff(bags.tocsc().indptr) == 0], 0)


def test_tokens_that_a_model_thinks_impossible():
    bags = sparse.csr_array([[2.0, 1.0], [0.0, 3.0]])
    words, topics = np.array([[1.0], [0.0]]), np.ones((2, 1))
    entries = entries_of(bags, np.float64)
    there = DeviceTopics(*entries, topics, words, np.ones(1), CPU, PLENTY)
    assert there.log_likelihood(there.entries(*entries)) == (0.0, 4.0)


def test_too_little_memory():
    with pytest.raises(ValueError, match=r"memory must be at least .* for 6 topics of 60 words"):
        both(bags_of(90, 60), 6, 0.0, 0.0, 10_000)
