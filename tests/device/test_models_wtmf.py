"""Half sweeps on tensors beside the core's, and beside the equations."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from textkin.device import _wtmf
from textkin.device._wtmf import DeviceBags, half_sweep
from textkin.models import WTMF
from textkin.models._em import entries_of, table_of

CPU = torch.device("cpu")
PLENTY, LITTLE = 2**28, 60_000


def bags_of(n_rows, n_columns, seed=0, density=0.2):
    bags = sparse.random(n_rows, n_columns, density, random_state=seed, format="csr")
    bags.data = 4 * bags.data - 1
    return sparse.csr_array(bags)


def by_the_equations(factors, bags, missing, regularization):
    """Solve row by row: W_ij is 1 for stored entries and `missing` for others."""
    found, objective = [], 0.0
    for row in range(bags.shape[0]):
        part = bags[[row]].tocoo()
        x, weights = np.zeros(len(factors)), np.full(len(factors), missing)
        x[part.coords[1]], weights[part.coords[1]] = part.data, 1
        system = (factors.T * weights) @ factors + regularization * np.eye(factors.shape[1])
        found.append(np.linalg.solve(system, factors.T @ (weights * x)))
        objective += weights @ (factors @ found[-1] - x) ** 2
    objective += regularization * ((factors**2).sum() + np.square(found).sum())
    return np.array(found), objective


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    k=st.integers(1, 6),
    density=st.sampled_from([0.05, 0.3, 1.0]),
    missing=st.sampled_from([0.0, 0.01, 1.0]),
    memory=st.sampled_from([PLENTY, 2**16]),
)
def test_rows_solve_the_equations(seed, k, density, missing, memory):
    bags = bags_of(9, 14, seed, density)
    factors = np.random.default_rng(seed).normal(size=(14, k))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_wtmf, "PIECE", 4)
        there = DeviceBags(*entries_of(bags, np.float64), 14, k, CPU, memory)
        found, objective = half_sweep(torch.from_numpy(factors), there, missing, 0.5)
    expected, least = by_the_equations(factors, bags, missing, 0.5)
    assert_allclose(found, expected, atol=1e-10)
    assert_allclose(objective, least, rtol=1e-10)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize(("dtype", "close"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_sweeps_are_those_of_the_core(dtype, close, memory):
    bags, k = bags_of(120, 90), 10
    model = WTMF(k, regularization=0.5)
    start = np.random.default_rng(0).normal(size=(90, k))
    words, texts = table_of(start, dtype), table_of(np.zeros((120, k)), dtype)
    by_text, by_word = entries_of(bags, dtype), entries_of(bags.T.tocsr(), dtype)
    ours = DeviceBags(*by_text, 90, k, CPU, memory), DeviceBags(*by_word, 120, k, CPU, memory)
    assert ours[0].resident == (memory == PLENTY)
    there = torch.from_numpy(start.astype(dtype))
    for _ in range(3):
        expected = [
            model._solver_of(factors, k).solve(*entries, out, 1, None)
            for factors, entries, out in ((words, by_text, texts), (texts, by_word, words))
        ]
        found, first = half_sweep(there, ours[0], model.missing_weight, 0.5)
        there, second = half_sweep(found, ours[1], model.missing_weight, 0.5)
        assert_allclose([first, second], expected, rtol=close)
    assert_allclose(found, texts[:, :k], atol=10 * close)
    assert_allclose(there, words[:, :k], atol=10 * close)


def test_rows_without_entries_are_zero():
    bags = sparse.csr_array((3, 5))
    there = DeviceBags(*entries_of(bags, np.float64), 5, 2, CPU, PLENTY)
    found, objective = half_sweep(torch.ones(5, 2, dtype=torch.float64), there, 0.01, 2.0)
    assert_array_equal(found, np.zeros((3, 2)))
    assert objective == 20.0


def test_what_is_out_of_range_is_nan():
    bags = sparse.csr_array(np.full((1, 3), 1.0))
    there = DeviceBags(*entries_of(bags, np.float32), 3, 2, CPU, PLENTY)
    found, objective = half_sweep(torch.full((3, 2), 1e30), there, 0.0, 1e-30)
    assert not np.isfinite(objective)
    assert not found.isfinite().all()


def test_too_little_memory():
    with pytest.raises(ValueError, match=r"memory must be at least .* for systems of 10 dimens"):
        DeviceBags(*entries_of(bags_of(120, 90), np.float64), 90, 10, CPU, 10_000)
