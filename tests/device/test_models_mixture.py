"""Steps of EM on tensors beside those of NumPy and the core."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import RandomState
from numpy.testing import assert_allclose, assert_array_equal

from textkin.device._mixture import MixtureRows
from textkin.models.mixture._em import Rows, pass_over
from textkin.models.mixture._gaussians import GaussianFamily, as_rows, variance_of
from textkin.models.mixture._spheres import SphereFamily, unit_rows
from textkin.models.mixture._starts import far_rows, started

CPU = torch.device("cpu")
PLENTY, LITTLE = 2**28, 60_000
# Of sums by the largest one: rounding of products in the dtype of the rows, in another order.
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-12}


def drawn(n_rows, n_features, dtype, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(4, n_features)) * 3
    return (centres[rng.integers(4, size=n_rows)] + rng.normal(size=(n_rows, n_features))).astype(
        dtype
    )


def setting(kind, dtype, n_rows=900, n_features=7):
    """Return a family, rows for it on both sides of the house, and a model."""
    values, weights = drawn(n_rows, n_features, dtype), np.linspace(0.5, 2, n_rows)
    if kind == "gaussian":
        scale, rows = as_rows(values, weights)
        family = GaussianFamily(scale, 1e-3)
    else:
        family, rows = SphereFamily(1e5, False), Rows(unit_rows(values)[0], weights)
    model = started(family, far_rows(rows, 5, RandomState(0)), rows, steps=2, threads=1)
    return family, rows, model


def placed(rows, memory):
    return MixtureRows(rows.rows, rows.weights[: rows.n_rows], CPU, memory, 5)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("kind", ["gaussian", "sphere"])
def test_sums_are_those_of_the_cpu(kind, hard, dtype, memory):
    family, rows, model = setting(kind, dtype)
    logits = family.logits(model)
    expected = pass_over(rows, logits, hard=hard, threads=1)
    there = placed(rows, memory)
    assert there.resident == (memory == PLENTY)
    counts, first, second, mean, logs = there.sums(
        logits.offset, logits.linear, logits.quadratic, hard=hard, double=False
    )
    close = TOLERANCE[dtype]
    assert_allclose(counts, expected.counts, rtol=close)
    assert_allclose(first, expected.first, atol=close * np.abs(expected.first).max())
    if expected.second is None:
        assert second is None
    else:
        assert_allclose(second, expected.second, rtol=close)
    assert_allclose(mean, expected.mean, rtol=close)
    assert_allclose(logs, expected.logs, rtol=0, atol=close * np.abs(expected.logs).max())


def test_float32_rows_in_double():
    family, rows, model = setting("gaussian", np.float32)
    logits = family.logits(model)
    fine = Rows(rows.rows.astype(np.float64), rows.weights[: rows.n_rows])
    expected = pass_over(fine, logits, hard=False, threads=1)
    found = placed(rows, PLENTY).sums(
        logits.offset, logits.linear, logits.quadratic, hard=False, double=True
    )
    assert_allclose(found[1], expected.first, atol=1e-12 * np.abs(expected.first).max())


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    components=st.integers(1, 6),
    memory=st.sampled_from([2**14, PLENTY]),
)
def test_posteriors_of_a_row_sum_to_its_weight(seed, components, memory):
    rng = np.random.default_rng(seed)
    values, weights = drawn(40, 3, np.float64, seed), rng.uniform(0.1, 3, 40)
    rows = Rows(values, weights)
    there = MixtureRows(values, rows.weights[:40], CPU, memory, components)
    means = rng.normal(size=(components, 3)) * 5
    counts, first, *_ = there.sums(
        -0.5 * (means**2).sum(axis=1), means, None, hard=False, double=False
    )
    assert_allclose(counts.sum(), 40)
    assert_allclose(first.sum(axis=0), rows.weights[:40] @ values)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_start_is_that_of_the_cpu(dtype, memory):
    _, rows, _ = setting("gaussian", dtype)
    assert_array_equal(
        placed(rows, memory).far(5, RandomState(3)), far_rows(rows, 5, RandomState(3))
    )


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_scaled_as_on_the_cpu(dtype, memory):
    values, weights = 5 + 2 * drawn(900, 7, dtype), np.linspace(0.5, 2, 900)
    given = values.copy()
    scale, expected = as_rows(values, weights)
    there = MixtureRows(values, weights, CPU, memory, 5)
    shift, sums = there.moments()
    assert_allclose(shift, scale.shift, rtol=1e-12)
    assert_allclose(variance_of(sums), scale.size**2, rtol=1e-12)
    there.scale_by(scale.shift, scale.size)
    found, own = there.here()
    assert_array_equal(found, expected.rows)
    assert_array_equal(own, expected.weights[:900])
    some = np.array([3, 4, 800])
    found, own = there.at(some).here()
    assert_array_equal(found, expected.rows[some])
    assert_allclose(own, weights[some] / weights[some].mean())
    assert_array_equal(values, given)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize(("dtype", "scale"), [(np.float32, 1e30), (np.float64, 1e-200)])
def test_rows_are_brought_to_length_one(dtype, scale, memory):
    values = (scale * drawn(900, 7, np.float64)).astype(dtype)
    there = MixtureRows(values, np.ones(900), CPU, memory, 5)
    there.to_units()
    assert_allclose(there.here()[0], unit_rows(values)[0], rtol=4 * np.finfo(dtype).eps)


def test_a_start_among_equal_rows():
    rows = Rows(np.ones((20, 3)), np.ones(20))
    assert_array_equal(placed(rows, PLENTY).far(5, RandomState(0)), np.ones((5, 3)))


def test_the_rows_that_fit_worst():
    values = np.arange(8.0).reshape(4, 2)
    there = MixtureRows(values, np.ones(4), CPU, PLENTY, 1)
    logs = torch.tensor([0.0, -3.0, -3.0, -1.0], dtype=torch.float64)
    assert_array_equal(there.worst(logs, 3), values[[1, 2, 3]])


def test_too_little_memory():
    with pytest.raises(ValueError, match=r"memory must be at least .* for a mixture of 5 comp"):
        MixtureRows(np.ones((9, 2)), np.ones(9), CPU, 500, 5)
