"""Every back end of WTMF compared with `_als_reference`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from models.block_cases import cut, quietly, splits
from textkin._base import check_bags
from textkin.models import WTMF
from textkin.models._arrays import table_of
from textkin.models._block_passes import Passes, survey
from textkin.models.factors._als_blocks import BlockALS
from textkin.models.factors._als_core import ALSProblem, CoreALS
from textkin.models.factors._als_reference import (
    ReferenceALS,
    objective,
    orthogonal_step,
    solve_rows,
)


@st.composite
def problems(draw):
    """Draw weighted bags with stored zeros, and initial vectors."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(1, 9)), draw(st.integers(1, 12))
    observed = rng.random(shape) < draw(st.sampled_from([0.1, 0.4, 0.9]))
    observed[0, 0] = True
    values = rng.normal(size=shape)
    values[rng.random(shape) < 0.1] = 0  # observed, with weight 0
    values[0, 0] = 1
    rows, columns = np.nonzero(observed)
    bags = sparse.csr_array((values[rows, columns], (rows, columns)), shape=shape)
    k = draw(st.sampled_from([1, 2, 3, 7]))
    missing = draw(st.sampled_from([0.0, 0.01, 1.0]))
    problem = ALSProblem(k, missing, draw(st.sampled_from([0.1, 2.0])), 1, np.float64)
    return bags, problem, rng.standard_normal((shape[1], k))


def torch_backend(*arguments):
    pytest.importorskip("torch", reason="torch is not installed")
    from textkin.models.factors._als_torch import TorchALS

    return TorchALS(*arguments, device="cpu")


def assert_same_sweeps(found, expected, tolerance):
    k = expected.problem.n_components
    for _ in range(3):
        for method in ("solve_texts", "solve_words"):
            least = getattr(expected, method)()
            assert getattr(found, method)() == pytest.approx(least, rel=tolerance, abs=tolerance)
        assert_allclose(found.words[:, :k], expected.words[:, :k], atol=tolerance)


def test_reference_matches_worked_example():
    """METHODS 17.8."""
    bags = sparse.csr_array([[3.0, 0.0], [0.0, 4.0]])
    found = solve_rows(bags, np.array([[1.0], [2.0]]), 0.01, 20)
    assert_allclose(found[:, 0], [0.1425856, 0.3331945], atol=5e-8)


@given(problems())
@settings(max_examples=30, deadline=None)
def test_rows_minimize_the_objective(problem):
    bags, of, start = problem
    weights = of.missing_weight, of.regularization
    rows = solve_rows(bags, start, *weights)
    least = objective(bags, rows, start, *weights)
    for change in np.random.default_rng(0).normal(scale=0.01, size=(5, *rows.shape)):
        assert objective(bags, rows + change, start, *weights) >= least - 1e-9


@pytest.mark.parametrize("backend", [CoreALS, torch_backend])
@given(problems())
@settings(max_examples=30, deadline=None)
def test_sweeps_equal_reference(backend, problem):
    assert_same_sweeps(backend(*problem), ReferenceALS(*problem), 1e-9)


@given(problems(), st.data())
@settings(max_examples=20, deadline=None)
def test_sweeps_over_blocks_equal_reference(problem, data):
    bags, of, start = problem
    blocks = cut(bags, data.draw(splits(bags.shape[0])))

    def checked(rows):
        return check_bags(rows, takes_negative=True, keeps_zeros=True)

    with Passes(blocks, checked, executor=None, n_jobs=None, folder=None) as passes:
        frequencies = survey(passes, WTMF()).words.document_frequencies
        found = BlockALS(passes, frequencies, of, start, 1 << 20)
        assert_same_sweeps(found, ReferenceALS(bags, of, start), 1e-9)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-4, 0.1, 10.0]))
@settings(max_examples=20)
def test_orthogonal_step_equals_reference(seed, step):
    words = np.random.default_rng(seed).normal(size=(9, 4))
    table = table_of(words, np.float64)
    WTMF(4, orthogonality=step)._make_orthogonal(table)
    assert_allclose(table[:, :4], orthogonal_step(words, step), atol=1e-12)


@pytest.mark.parametrize("parameters", [{}, {"orthogonality": 1e-2}, {"tol": 1e-2}])
def test_fit_equals_fit_with_reference_back_end(parameters, monkeypatch):
    bags = sparse.csr_array(np.random.RandomState(0).poisson(0.5, (30, 20)).astype(float))
    model = WTMF(3, regularization=0.5, random_state=0, max_iter=8, **parameters)
    found = quietly(model.fit, bags)

    def reference(self, bags, dtype):
        return ReferenceALS(bags, self._problem(dtype), self._start(bags.shape[1]))

    monkeypatch.setattr(WTMF, "_backend", reference)
    expected = quietly(WTMF(**model.get_params()).fit, bags)
    assert found.n_iter_ == expected.n_iter_
    assert_allclose(found.components_, expected.components_, atol=1e-9)
    assert_allclose(found.objectives_, expected.objectives_, rtol=1e-10)
