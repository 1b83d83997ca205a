"""The reference implementation of EM: worked examples, and the sums of every back end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from textkin.models._block_passes import Passes, dense_rows
from textkin.models.mixture._bessel import bessel_ratio
from textkin.models.mixture._densities import (
    GaussianFamily,
    GaussianParameters,
    Scale,
    VonMisesFisherFamily,
    VonMisesFisherParameters,
    unit_rows,
)
from textkin.models.mixture._em_blocks import BlockRows, _directed, _RowFrame
from textkin.models.mixture._em_core import CoreRows
from textkin.models.mixture._em_reference import e_step, log_densities, log_likelihood, m_step

FAMILIES = {
    "Gaussian": lambda d: GaussianFamily(Scale(np.zeros(d), np.ones(d)), 1e-3),
    "von Mises-Fisher": lambda _: VonMisesFisherFamily(1e4, False),
    "shared kappa": lambda _: VonMisesFisherFamily(1e4, True),
}
TOLERANCE = {np.float32: 2e-4, np.float64: 1e-9}


def test_posteriors_of_two_gaussians_match_worked_example():
    """METHODS 14, test B."""
    model = GaussianParameters(np.full(2, 0.5), np.array([[-1.0], [1.0]]), np.ones((2, 1)))
    found = e_step(np.array([[1.0], [0.0]]), model)
    assert_allclose(found, [[0.1192029, 0.8807971], [0.5, 0.5]], atol=1e-7)
    assert_array_equal(e_step(np.array([[1.0], [0.0]]), model, hard=True), [[0, 1], [1, 0]])


def test_posteriors_of_two_directions_match_worked_example():
    """METHODS 15.5."""
    model = VonMisesFisherParameters(np.full(2, 0.5), np.eye(2, 3), np.full(2, 2.0))
    rows = np.array([[0.6, 0.8, 0], [1, 0, 0]])
    found = e_step(rows, model)
    assert_allclose(found, [[0.4013123, 0.5986877], [0.8807971, 0.1192029]], atol=1e-7)
    expected = -3.1262444390 + np.log(0.5) + 2 * rows @ model.means.T
    assert_allclose(log_densities(rows, model), expected, atol=1e-9)


def test_kappa_follows_from_the_length_of_the_mean():
    rows = np.array([[1.0, 0, 0], [0.0746294414, 0.9972113397, 0]])  # a mean of length 0.73304
    model = m_step(rows, np.ones(2), np.ones((2, 1)), VonMisesFisherFamily(1e5, False))
    length = np.linalg.norm(rows.mean(axis=0))
    assert_allclose(bessel_ratio(3, model.kappas), length)
    assert_allclose(model.means, rows.mean(axis=0, keepdims=True) / length)


@st.composite
def cases(draw):
    """Return a family, rows, their weights, a model, and whether EM is hard."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, d, k = draw(st.integers(12, 500)), draw(st.integers(2, 9)), draw(st.integers(1, 4))
    family = FAMILIES[draw(st.sampled_from(sorted(FAMILIES)))](d)
    centers = 2 * rng.normal(size=(k, d))
    rows = centers[rng.integers(k, size=n_rows)] + rng.normal(size=(n_rows, d))
    if isinstance(family, VonMisesFisherFamily):
        rows = unit_rows(rows)[0]
    weights = rng.uniform(0.1, 3, n_rows) if draw(st.booleans()) else np.ones(n_rows)
    shares = rng.dirichlet(np.ones(k), n_rows) + 0.2
    model = m_step(rows, weights, shares / shares.sum(axis=1, keepdims=True), family)
    return family, rows, weights, model, draw(st.booleans())


@settings(max_examples=30, deadline=None)
@given(cases())
def test_step_never_lowers_the_likelihood(case):
    family, rows, weights, model, hard = case
    before = log_likelihood(rows, weights, model, hard=hard)
    posteriors = e_step(rows, model, hard=hard)
    assert_allclose(posteriors.sum(axis=1), 1)
    if posteriors.sum(axis=0).min() > 0:
        after = m_step(rows, weights, posteriors, family)
        assert log_likelihood(rows, weights, after, hard=hard) >= before - 1e-9


def core_sums(family, rows, weights, logits, hard, dtype):
    return CoreRows(rows.astype(dtype), weights).pass_over(logits, hard=hard, threads=1)


def torch_sums(family, rows, weights, logits, hard, dtype):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from textkin.models.mixture._em_torch import TorchRows

    there = TorchRows(rows.astype(dtype), weights, torch.device("cpu"), 2**28, len(logits.offset))
    return there.pass_over(logits, hard=hard)


def block_sums(family, rows, weights, logits, hard, dtype):
    parts = np.array_split(rows.astype(dtype), [1, len(rows) // 3])
    with Passes(parts, dense_rows, executor=None, n_jobs=None, folder=None) as passes:
        counts = tuple(passes.first(_directed))
        blocks = BlockRows(passes, _RowFrame(family, passes.dtype), counts)
        return blocks.pass_over(logits, hard=hard, threads=1)


@pytest.mark.usefixtures("one_torch_thread")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sums_of", [core_sums, torch_sums, block_sums])
@settings(max_examples=15, deadline=None)
@given(cases())
def test_back_end_sums_give_the_step_of_the_reference(sums_of, dtype, case):
    family, rows, weights, model, hard = case
    if sums_of is block_sums:
        weights = np.ones(len(rows))  # rows in blocks have weight 1
    rows = rows.astype(dtype).astype(np.float64)
    logs = np.sort(log_densities(rows, model), axis=1)
    if hard and logs.shape[1] > 1:  # rounding can choose between equally good components
        clear = logs[:, -1] - logs[:, -2] > 1e-3
        rows, weights = rows[clear], weights[clear]
    posteriors = e_step(rows, model, hard=hard)
    if len(rows) < 4 or (weights @ posteriors).min() < 0.05 * weights.sum():
        return  # a component is empty
    found = sums_of(family, rows, weights, family.logits(model), hard, dtype)
    close = TOLERANCE[dtype]
    assert_allclose(found.mean, log_likelihood(rows, weights, model, hard=hard), atol=10 * close)
    step, expected = family.estimate(found, model), m_step(rows, weights, posteriors, family)
    assert_allclose(step.weights, expected.weights, rtol=close)
    assert_allclose(step.means, expected.means, atol=10 * close)
    if isinstance(family, GaussianFamily):
        assert_allclose(step.covariances, expected.covariances, rtol=close, atol=10 * close)
    else:
        d = rows.shape[1]
        ratios = bessel_ratio(d, step.kappas), bessel_ratio(d, expected.kappas)
        assert_allclose(*ratios, rtol=close)
