"""Counting grids compared with a reference step from METHODS 12, PLSA, and torus symmetry."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from textkin import _core
from textkin.models import CountingGrid
from textkin.models._arrays import table_of
from textkin.models.topics._counting_grid import GridEM, Windows
from textkin.models.topics._em import EMProblem, EMSettings, EMStart, draw_start
from textkin.models.topics._em_core import CoreEM

N = np.array([[2.0, 1, 0], [0, 1, 2]])
unconverged = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
collapsed = pytest.mark.filterwarnings("ignore:The map has collapsed")


def cells_of(windows, anchor):
    """Return the cells of the window that starts at an anchor."""
    (rows, columns), (high, wide) = windows.shape, windows.window
    row, column = divmod(anchor, columns)
    return [
        (row + i) % rows * columns + (column + j) % columns
        for i in range(high)
        for j in range(wide)
    ]


def reference_means(windows, cells):
    return np.array([cells[cells_of(windows, anchor)].mean(axis=0) for anchor in range(len(cells))])


def reference_step(windows, counts, topics, cells, *, topic_word_prior=0.0, doc_topic_prior=0.0):
    """Compute METHODS 12 with the full posterior: theta, pi, and sum n log P(w|d)."""
    means = reference_means(windows, cells)
    joint = topics[:, :, None] * means[None, :, :]  # (d, l, w)
    with np.errstate(divide="ignore", invalid="ignore"):
        q = np.nan_to_num(joint / joint.sum(axis=1, keepdims=True))
        logs = np.where(counts > 0, counts * np.log(joint.sum(axis=1)), 0)
        ratios = np.nan_to_num((counts[:, None, :] * q).sum(axis=0) / means)
    new_topics = (counts[:, None, :] * q).sum(axis=2) + doc_topic_prior
    totals = new_topics.sum(axis=1, keepdims=True)
    new_topics = np.divide(new_topics, totals, out=topics.copy(), where=totals > 0)
    new_cells = np.zeros_like(cells)
    for anchor in range(len(cells)):
        for cell in cells_of(windows, anchor):
            new_cells[cell] += cells[cell] * ratios[anchor]
    new_cells = new_cells / (windows.window[0] * windows.window[1])
    new_cells[:, counts.sum(axis=0) > 0] += topic_word_prior
    return new_topics, new_cells / new_cells.sum(axis=1, keepdims=True), logs.sum()


def grid_at(windows, counts, topics, cells, *, topic_word_prior=0.0, doc_topic_prior=0.0, jobs=1):
    """Return the back end of a grid with given topics and cells."""
    bags = sparse.csr_array(counts)
    given = EMSettings(windows.size, topic_word_prior, doc_topic_prior, 1, 0, jobs)
    seen = counts.sum(axis=0) > 0
    start = EMStart(topics, np.where(seen, cells, 0).T, np.ones(windows.size))
    return GridEM(bags, EMProblem.of_bags(given, bags), start, windows)


def state_of(grid):
    cells = grid.cell_words()
    return grid.document_topics(), cells.reshape(-1, cells.shape[2])


@st.composite
def windows_of_grids(draw):
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    window = draw(st.integers(1, rows)), draw(st.integers(1, columns))
    return Windows((rows, columns), window)


@st.composite
def problems(draw):
    windows = draw(windows_of_grids())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_documents, n_words = draw(st.integers(1, 7)), draw(st.integers(1, 9))
    counts = rng.poisson(draw(st.sampled_from([0.3, 1.0, 5.0])), (n_documents, n_words))
    counts[0, 0] += 1
    seen = counts.sum(axis=0) > 0
    topics = rng.dirichlet(np.ones(windows.size), n_documents)
    topics[counts.sum(axis=1) == 0] = 1 / windows.size
    cells = rng.exponential(size=(windows.size, n_words)) * seen
    return windows, counts.astype(float), topics, cells / cells.sum(axis=1, keepdims=True)


# ------------------------------------------------------------------ windows


@given(windows_of_grids(), st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]))
def test_window_means_equal_reference(windows, seed, dtype):
    cells = np.random.default_rng(seed).exponential(size=(windows.size, 5)).astype(dtype)
    words = table_of(np.zeros((5, windows.size)), dtype)
    scale = np.full(windows.size, 0.5)
    _core.window_means(
        table_of(cells.T, dtype), scale, words, windows.shape, windows.window, threads=1
    )
    found = words[:, : windows.size].T
    expected = reference_means(windows, cells.astype(np.float64) / 2)  # float32 is less precise
    assert_allclose(found, expected, rtol=1e-7 if dtype == np.float32 else 1e-14)
    assert not words[:, windows.size :].any()


@given(windows_of_grids(), st.integers(0, 2**32 - 1))
def test_window_means_have_no_cancellation_and_are_not_negative(windows, seed):
    """Differences of cumulative sums would fail this."""
    rng = np.random.default_rng(seed)
    cells = 10.0 ** rng.integers(-200, 200, (windows.size, 4)) * rng.integers(0, 2, (1, 4))
    words = table_of(np.zeros((4, windows.size)), np.float64)
    ones = np.ones(windows.size)
    _core.window_means(table_of(cells.T, np.float64), ones, words, windows.shape, windows.window, 1)
    assert_allclose(words[:, : windows.size].T, reference_means(windows, cells), rtol=1e-14)
    assert words.min() >= 0


@given(windows_of_grids(), st.integers(0, 5), st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_shifted_torus_has_bit_identical_shifted_windows(windows, down, right, seed):
    cells = np.random.default_rng(seed).exponential(size=(3, *windows.shape))
    found = []
    for grid in (cells, np.roll(cells, (down, right), (1, 2))):
        words = table_of(np.zeros((3, windows.size)), np.float64)
        table = table_of(grid.reshape(3, -1), np.float64)
        _core.window_means(
            table, np.ones(windows.size), words, windows.shape, windows.window, threads=2
        )
        found.append(words[:, : windows.size].reshape(cells.shape))
    assert_array_equal(np.roll(found[0], (down, right), (1, 2)), found[1])


def test_invalid_core_arguments_raise():
    cells, words = (table_of(np.ones((2, 12)), np.float64) for _ in range(2))
    good = [cells, np.ones(12), words, (3, 4), (2, 2), 1]
    _core.window_means(*good)
    for at, wrong in [
        (1, np.ones(11)),
        (2, table_of(np.ones((3, 12)), np.float64)),
        (2, np.ones((2, 12))),
        (3, (3, 5)),
        (3, (0, 4)),
        (3, (2**63, 2**63)),
        (4, (4, 2)),
        (4, (2, 5)),
        (4, (0, 1)),
    ]:
        bad = list(good)
        bad[at] = wrong
        with pytest.raises(ValueError, match="must"):
            _core.window_means(*bad)
    with pytest.raises(ValueError, match="tokens must"):
        _core.renew_cells(cells, np.ones(12), words, np.ones(11), (3, 4), (2, 2), 0.0, 0.0, 1)


# ------------------------------------------------------------------ steps

PRIORS = st.sampled_from([0.0, 0.01, 0.5])


@given(problems(), PRIORS, PRIORS)
def test_step_equals_reference(problem, topic_word_prior, doc_topic_prior):
    priors = {"topic_word_prior": topic_word_prior, "doc_topic_prior": doc_topic_prior}
    topics, cells, logarithm = reference_step(*problem, **priors)
    grid = grid_at(*problem, **priors)
    assert grid.problem.unit * grid.step() == pytest.approx(logarithm, rel=1e-10, abs=1e-10)
    found_topics, found_cells = state_of(grid)
    filled = problem[1].sum(axis=1) > 0
    assert_allclose(found_topics[filled], topics[filled], rtol=1e-9, atol=1e-13)
    assert_allclose(found_cells, cells, rtol=1e-9, atol=1e-13)
    windows = problem[0]
    assert_allclose(grid.word_topics(), reference_means(windows, found_cells), atol=1e-14)
    assert grid.cell_tokens().sum() == pytest.approx(1)


@given(problems())
@settings(max_examples=20)
def test_threads_are_bit_identical(problem):
    one, three = (grid_at(*problem, jobs=jobs) for jobs in (1, 3))
    for _ in range(3):
        assert one.step() == three.step()
    for found, other in zip(state_of(one), state_of(three), strict=True):
        assert_array_equal(found, other)
    assert_array_equal(one.cell_tokens(), three.cell_tokens())


@given(problems(), st.integers(0, 5), st.integers(0, 5))
@settings(max_examples=50)
def test_shifted_initialization_gives_a_shifted_grid(problem, down, right):
    windows, counts, topics, cells = problem

    def shifted(rows):
        grid = rows.reshape(len(rows), *windows.shape)
        return np.roll(grid, (down, right), (1, 2)).reshape(rows.shape)

    plain = grid_at(windows, counts, topics, cells)
    moved = grid_at(windows, counts, shifted(topics), shifted(cells.T).T)
    for _ in range(5):
        assert plain.step() == pytest.approx(moved.step(), rel=1e-11, abs=1e-11)
    (topics, cells), (other_topics, other_cells) = state_of(plain), state_of(moved)
    assert_allclose(other_topics, shifted(topics), rtol=1e-7, atol=1e-10)
    assert_allclose(other_cells, shifted(cells.T).T, rtol=1e-7, atol=1e-10)


@given(problems(), PRIORS, PRIORS)
@settings(max_examples=50)
def test_windows_of_one_cell_equal_plsa_step_by_step(problem, topic_word_prior, doc_topic_prior):
    windows, counts, _, _ = problem
    windows = Windows(windows.shape, (1, 1))
    bags = sparse.csr_array(counts)
    given = EMSettings(windows.size, topic_word_prior, doc_topic_prior, 1, 0, 1)
    problem = EMProblem.of_bags(given, bags)
    start = draw_start(bags, problem, np.random.RandomState(5))
    grid, plsa = GridEM(bags, problem, start, windows), CoreEM(bags, problem, start)
    for _ in range(10):
        assert grid.log_prior() == pytest.approx(plsa.log_prior(), rel=1e-9, abs=1e-9)
        assert grid.step() == pytest.approx(plsa.step(), rel=1e-11, abs=1e-11)
        topics, cells = state_of(grid)
        assert_allclose(topics, plsa.document_topics(), rtol=1e-9, atol=1e-12)
        assert_allclose(cells, plsa.word_topics(), rtol=1e-9, atol=1e-12)
        assert_array_equal(grid.word_topics(), cells)


@given(problems())
@settings(max_examples=30)
def test_equal_cells_stay_equal(problem):
    """Noise in the initialization avoids this fixed point."""
    windows, counts, topics, _ = problem
    equal = np.full_like(topics, 1 / windows.size)
    flat = np.full((windows.size, counts.shape[1]), 1 / counts.shape[1])
    grid = grid_at(windows, counts, equal, flat)
    corpus = counts.sum(axis=0) / counts.sum()
    for _ in range(3):
        grid.step()
        found_topics, cells = state_of(grid)
        assert_allclose(found_topics, equal, rtol=1e-12)
        assert_allclose(cells, np.tile(corpus, (windows.size, 1)), rtol=1e-12)


@collapsed
@given(problems(), st.sampled_from([1.0, 1.01, 1.5]), st.sampled_from([1.0, 1.1, 2.0]))
@settings(max_examples=50)
@unconverged
def test_objective_never_falls(problem, topic_word_prior, doc_topic_prior):
    windows, counts, _, _ = problem
    grid = CountingGrid(
        windows.shape,
        window=windows.window,
        topic_word_prior=topic_word_prior,
        doc_topic_prior=doc_topic_prior,
        max_iter=60,
        tol=0,
        random_state=0,
    ).fit(counts)
    values = np.array(grid.objectives_)
    assert np.all(np.diff(values) >= -1e-9 * np.maximum(np.abs(values[1:]), counts.sum()))
    assert len(values) == len(grid.log_likelihoods_) == grid.n_iter_ + 1
    if topic_word_prior == doc_topic_prior == 1:
        assert grid.log_likelihoods_ == grid.objectives_
    assert min(grid.grid_.min(), grid.components_.min()) >= 0
    assert_allclose(
        grid.components_, reference_means(windows, grid.grid_.reshape(windows.size, -1)), atol=1e-14
    )
