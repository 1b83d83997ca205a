"""Half sweeps in torch compared with the core and the reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

torch = pytest.importorskip("torch", reason="torch is not installed")

from textkin.models._arrays import entries_of, table_of  # noqa: E402 (needs torch)
from textkin.models.factors import _als_torch  # noqa: E402 (needs torch)
from textkin.models.factors._als_core import ALSProblem  # noqa: E402 (needs torch)
from textkin.models.factors._als_reference import (  # noqa: E402 (needs torch)
    objective as objective_of,
)
from textkin.models.factors._als_reference import solve_rows  # noqa: E402 (needs torch)
from textkin.models.factors._als_torch import DeviceBags, half_sweep  # noqa: E402 (needs torch)

CPU = torch.device("cpu")
PLENTY, LITTLE = 2**28, 60_000


def bags_of(n_rows, n_columns, seed=0, density=0.2):
    bags = sparse.random(n_rows, n_columns, density, random_state=seed, format="csr")
    bags.data = 4 * bags.data - 1
    return sparse.csr_array(bags)


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
        patch.setattr(_als_torch, "PIECE", 4)
        there = DeviceBags(*entries_of(bags, np.float64), 14, k, CPU, memory)
        found, objective = half_sweep(torch.from_numpy(factors), there, missing, 0.5)
    expected = solve_rows(bags, factors, missing, 0.5)
    least = objective_of(bags, expected, factors, missing, 0.5)
    assert_allclose(found, expected, atol=1e-10)
    assert_allclose(objective, least, rtol=1e-10)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize(("dtype", "close"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_sweeps_equal_the_core(dtype, close, memory):
    bags, k = bags_of(120, 90), 10
    problem = ALSProblem(k, 0.01, 0.5, 1, dtype)
    start = np.random.default_rng(0).normal(size=(90, k))
    words, texts = table_of(start, dtype), table_of(np.zeros((120, k)), dtype)
    by_text, by_word = entries_of(bags, dtype), entries_of(bags.T.tocsr(), dtype)
    ours = DeviceBags(*by_text, 90, k, CPU, memory), DeviceBags(*by_word, 120, k, CPU, memory)
    assert ours[0].resident == (memory == PLENTY)
    there = torch.from_numpy(start.astype(dtype))
    for _ in range(3):
        expected = [
            problem.solver(factors).solve(*entries, out, 1, None)
            for factors, entries, out in ((words, by_text, texts), (texts, by_word, words))
        ]
        found, first = half_sweep(there, ours[0], 0.01, 0.5)
        there, second = half_sweep(found, ours[1], 0.01, 0.5)
        assert_allclose([first, second], expected, rtol=close)
    assert_allclose(found, texts[:, :k], atol=10 * close)
    assert_allclose(there, words[:, :k], atol=10 * close)


def test_rows_without_entries_are_zero():
    bags = sparse.csr_array((3, 5))
    there = DeviceBags(*entries_of(bags, np.float64), 5, 2, CPU, PLENTY)
    found, objective = half_sweep(torch.ones(5, 2, dtype=torch.float64), there, 0.01, 2.0)
    assert_array_equal(found, np.zeros((3, 2)))
    assert objective == 20.0


def test_systems_out_of_range_are_nan():
    bags = sparse.csr_array(np.full((1, 3), 1.0))
    there = DeviceBags(*entries_of(bags, np.float32), 3, 2, CPU, PLENTY)
    found, objective = half_sweep(torch.full((3, 2), 1e30), there, 0.0, 1e-30)
    assert not np.isfinite(objective)
    assert not found.isfinite().all()


def test_too_little_memory_raises():
    with pytest.raises(ValueError, match=r"memory must be at least .* for systems of 10 dimens"):
        DeviceBags(*entries_of(bags_of(120, 90), np.float64), 90, 10, CPU, 10_000)
