"""The EM step of the core for float32 rows compared with float64."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from textkin import _core
from textkin.models.mixture._em import Logits
from textkin.models.mixture._em_core import CoreRows, posteriors


def logits(rng, n_components, n_features, squares):
    """Return logits of typical size: at most some tens, with most posteriors close to 0."""
    shape = (n_components, n_features)
    quadratic = -0.5 / rng.uniform(0.5, 2, size=shape) if squares else None
    linear = rng.normal(size=shape)
    return Logits(rng.normal(size=n_components) - 100, linear, quadratic)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 900),
    n_features=st.integers(1, 70),
    n_components=st.integers(1, 40),
    squares=st.booleans(),
    hard=st.booleans(),
    weighted=st.booleans(),
)
def test_single_precision_equals_rounded_double(
    seed, n_rows, n_features, n_components, squares, hard, weighted
):
    rng = np.random.default_rng(seed)
    terms = logits(rng, n_components, n_features, squares)
    values = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    if hard:  # rounding can choose between equally good components
        best = np.sort(posteriors(values.astype(np.float64), terms)[1], axis=1)
        clear = best[:, -1] > 1.001 * best[:, -2] if n_components > 1 else np.ones(n_rows, bool)
        values = np.vstack([values[clear], np.zeros((1, n_features), np.float32)])
    weights = rng.uniform(0.1, 3, len(values)) if weighted else np.ones(len(values))
    single, double = (
        CoreRows(values.astype(dtype), weights).pass_over(terms, hard=hard, threads=1)
        for dtype in (np.float32, np.float64)
    )
    assert_allclose(single.logs, double.logs, atol=1e-4)
    assert single.mean == pytest.approx(double.mean, abs=1e-4)
    assert_allclose(single.counts, double.counts, rtol=1e-4, atol=1e-4)
    assert single.counts.sum() == pytest.approx(len(values), rel=1e-6)
    assert_allclose(single.first, double.first, rtol=1e-4, atol=1e-3)
    if squares:
        assert_allclose(single.second, double.second, rtol=1e-4, atol=1e-3)
    else:
        assert single.second is None
        assert double.second is None


def test_overflow_of_float32_rows_raises():
    rng = np.random.default_rng(0)
    terms = logits(rng, 3, 4, True)
    values = rng.normal(size=(500, 4)).astype(np.float32)
    values[321, 2] = 1e30
    for hard in (False, True):
        with pytest.raises(ValueError, match=r"squared distances .* are finite"):
            CoreRows(values, np.ones(500)).pass_over(terms, hard=hard, threads=1)


def test_step_stops_when_progress_raises():
    """A thread stops soon after another thread fails."""
    step = _core.MixtureStep(np.zeros(200), np.zeros((200, 64)), np.zeros((200, 64)), False)
    values, weights = np.zeros((60_000, 64), np.float32), np.ones(60_000)
    sums = np.zeros(200), np.zeros((200, 64)), np.zeros((200, 64))

    def enough(_done, _total):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        step.add(values, weights, np.zeros(60_000), *sums, enough)
    assert 0 < sums[0].sum() < 60_000


@pytest.mark.parametrize(
    "wrong",
    [
        {"values": np.zeros((5, 3), np.float32)},
        {"weights": np.ones(4)},
        {"logs": np.zeros(6)},
        {"counts": np.zeros(3)},
        {"first": np.zeros((2, 5))},
        {"second": np.zeros((1, 4))},
        {"second": None},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_arrays_of_wrong_shape_raise(wrong):
    step = _core.MixtureStep(np.zeros(2), np.zeros((2, 4)), np.zeros((2, 4)), False)
    right = {
        "values": np.zeros((5, 4), np.float32),
        "weights": np.ones(5),
        "logs": np.zeros(5),
        "counts": np.zeros(2),
        "first": np.zeros((2, 4)),
        "second": np.zeros((2, 4)),
        "progress": None,
    }
    step.add(**right)
    with pytest.raises(ValueError, match="must"):
        step.add(**{**right, **wrong})


def test_parameters_of_wrong_shape_raise():
    with pytest.raises(ValueError, match="a component"):
        _core.MixtureStep(np.zeros(0), np.zeros((0, 4)), None, False)
    with pytest.raises(ValueError, match="one width"):
        _core.MixtureStep(np.zeros(2), np.zeros((2, 4)), np.zeros((2, 3)), False)
