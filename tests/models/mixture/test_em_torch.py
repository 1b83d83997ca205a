"""EM steps in torch compared with NumPy and the core."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import RandomState
from numpy.testing import assert_allclose, assert_array_equal

from textkin.models.mixture._densities import (
    GaussianFamily,
    VonMisesFisherFamily,
    unit_rows,
    variance_of,
)
from textkin.models.mixture._em import Logits
from textkin.models.mixture._em_core import CoreRows
from textkin.models.mixture._gaussian import standardize_rows
from textkin.models.mixture._initialization import choose_seeds, run_k_means

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.usefixtures("one_torch_thread")

from textkin.models.mixture._em_torch import TorchRows  # noqa: E402 (torch may be missing)

CPU = torch.device("cpu")
PLENTY, LITTLE = 2**28, 60_000
# Tolerances relative to the largest sum: rounding in the dtype of the rows, in another order.
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-12}


def drawn(n_rows, n_features, dtype, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(4, n_features)) * 3
    return (centres[rng.integers(4, size=n_rows)] + rng.normal(size=(n_rows, n_features))).astype(
        dtype
    )


def setting(kind, dtype, n_rows=900, n_features=7):
    """Return a family, rows for both back ends, and a model."""
    values, weights = drawn(n_rows, n_features, dtype), np.linspace(0.5, 2, n_rows)
    if kind == "gaussian":
        scale, rows = standardize_rows(values, weights)
        family = GaussianFamily(scale, 1e-3)
    else:
        family, rows = VonMisesFisherFamily(1e5, False), CoreRows(unit_rows(values)[0], weights)
    model = run_k_means(family, choose_seeds(rows, 5, RandomState(0)), rows, steps=2, threads=1)
    return family, rows, model


def placed(rows, memory):
    return TorchRows(rows.rows, rows.weights[: rows.n_rows], CPU, memory, 5)


def taken(rows):
    """Return the rows in their current units, and their weights."""
    return rows._rows_at(torch.arange(rows.n_rows)), rows._weights.numpy()


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("kind", ["gaussian", "sphere"])
def test_sums_equal_the_cpu(kind, hard, dtype, memory):
    family, rows, model = setting(kind, dtype)
    logits = family.logits(model)
    expected = rows.pass_over(logits, hard=hard, threads=1)
    there = placed(rows, memory)
    assert there.resident == (memory == PLENTY)
    found = there.pass_over(logits, hard=hard)
    close = TOLERANCE[dtype]
    assert_allclose(found.counts, expected.counts, rtol=close)
    assert_allclose(found.first, expected.first, atol=close * np.abs(expected.first).max())
    if expected.second is None:
        assert found.second is None
    else:
        assert_allclose(found.second, expected.second, rtol=close)
    assert_allclose(found.mean, expected.mean, rtol=close)
    assert_allclose(there._logs, expected.logs, rtol=0, atol=close * np.abs(expected.logs).max())


def test_narrow_components_use_double(monkeypatch):
    family, rows, model = setting("gaussian", np.float32)
    logits = family.logits(model)
    fine = CoreRows(rows.rows.astype(np.float64), rows.weights[: rows.n_rows])
    expected = fine.pass_over(logits, hard=False, threads=1)
    monkeypatch.setattr("textkin.models.mixture._em_torch.needs_double", lambda logits: True)
    found = placed(rows, PLENTY).pass_over(logits, hard=False)
    assert_allclose(found.first, expected.first, atol=1e-12 * np.abs(expected.first).max())


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    components=st.integers(1, 6),
    memory=st.sampled_from([2**14, PLENTY]),
)
def test_posteriors_sum_to_the_row_weight(seed, components, memory):
    rng = np.random.default_rng(seed)
    values, weights = drawn(40, 3, np.float64, seed), rng.uniform(0.1, 3, 40)
    rows = CoreRows(values, weights)
    there = TorchRows(values, rows.weights[:40], CPU, memory, components)
    means = rng.normal(size=(components, 3)) * 5
    found = there.pass_over(Logits(-0.5 * (means**2).sum(axis=1), means, None), hard=False)
    assert_allclose(found.counts.sum(), 40)
    assert_allclose(found.first.sum(axis=0), rows.weights[:40] @ values)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_seeds_equal_the_cpu(dtype, memory):
    _, rows, _ = setting("gaussian", dtype)
    assert_array_equal(
        placed(rows, memory).seeds(None, 5, RandomState(3)), choose_seeds(rows, 5, RandomState(3))
    )


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scaled_rows_equal_the_cpu(dtype, memory):
    values, weights = 5 + 2 * drawn(900, 7, dtype), np.linspace(0.5, 2, 900)
    given = values.copy()
    scale, expected = standardize_rows(values, weights)
    there = TorchRows(values, weights, CPU, memory, 5)
    shift, sums = there.moments()
    assert_allclose(shift, scale.shift, rtol=1e-12)
    assert_allclose(variance_of(sums), scale.size**2, rtol=1e-12)
    there.scale_by(scale.shift, scale.size)
    found, own = taken(there)
    assert_array_equal(found, expected.rows)
    assert_array_equal(own, expected.weights[:900])
    some = np.array([3, 4, 800])
    found, own = taken(there._part(some))
    assert_array_equal(found, expected.rows[some])
    assert_allclose(own, weights[some] / weights[some].mean())
    assert_array_equal(values, given)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize(("dtype", "scale"), [(np.float32, 1e30), (np.float64, 1e-200)])
def test_unit_rows_have_length_one(dtype, scale, memory):
    values = (scale * drawn(900, 7, np.float64)).astype(dtype)
    there = TorchRows(values, np.ones(900), CPU, memory, 5)
    there.to_units()
    assert_allclose(taken(there)[0], unit_rows(values)[0], rtol=4 * np.finfo(dtype).eps)


def test_seeds_among_equal_rows():
    rows = CoreRows(np.ones((20, 3)), np.ones(20))
    assert_array_equal(placed(rows, PLENTY).seeds(None, 5, RandomState(0)), np.ones((5, 3)))


def test_worst_returns_the_least_likely_rows():
    values = np.arange(8.0).reshape(4, 2)
    there = TorchRows(values, np.ones(4), CPU, PLENTY, 1)
    there._logs = torch.tensor([0.0, -3.0, -3.0, -1.0], dtype=torch.float64)
    found = there.worst(None, None, 3, hard=False, threads=1)
    assert_array_equal(found, values[[1, 2, 3]])


def test_too_little_memory_raises():
    with pytest.raises(ValueError, match=r"memory must be at least .* for a mixture of 5 comp"):
        TorchRows(np.ones((9, 2)), np.ones(9), CPU, 500, 5)
