"""Counting grids beside a slow step written from METHODS 12, PLSA and the symmetry of a torus."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from support import interrupted
from textkin import _core
from textkin.models import PLSA, CountingGrid
from textkin.models._em import EmSettings, Mixture, table_of
from textkin.models._grid import GridMixture, Windows

N = np.array([[2.0, 1, 0], [0, 1, 2]])
unconverged = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
collapsed = pytest.mark.filterwarnings("ignore:The map has collapsed")


def cells_of(windows, anchor):
    """Return the cells of the window that begins at an anchor, one by one."""
    (rows, columns), (high, wide) = windows.shape, windows.window
    row, column = divmod(anchor, columns)
    return [
        (row + i) % rows * columns + (column + j) % columns
        for i in range(high)
        for j in range(wide)
    ]


def slow_means(windows, cells):
    return np.array([cells[cells_of(windows, anchor)].mean(axis=0) for anchor in range(len(cells))])


def slow_step(windows, counts, topics, cells, *, word_prior=0.0, topic_prior=0.0):
    """METHODS 12 with the whole posterior; returns theta, pi and sum n log P(w|d)."""
    means = slow_means(windows, cells)
    joint = topics[:, :, None] * means[None, :, :]  # (d, l, w)
    with np.errstate(divide="ignore", invalid="ignore"):
        q = np.nan_to_num(joint / joint.sum(axis=1, keepdims=True))
        logs = np.where(counts > 0, counts * np.log(joint.sum(axis=1)), 0)
        ratios = np.nan_to_num((counts[:, None, :] * q).sum(axis=0) / means)
    new_topics = (counts[:, None, :] * q).sum(axis=2) + topic_prior
    totals = new_topics.sum(axis=1, keepdims=True)
    new_topics = np.divide(new_topics, totals, out=topics.copy(), where=totals > 0)
    new_cells = np.zeros_like(cells)
    for anchor in range(len(cells)):
        for cell in cells_of(windows, anchor):
            new_cells[cell] += cells[cell] * ratios[anchor]
    new_cells = new_cells / (windows.window[0] * windows.window[1])
    new_cells[:, counts.sum(axis=0) > 0] += word_prior
    return new_topics, new_cells / new_cells.sum(axis=1, keepdims=True), logs.sum()


def mixture_at(windows, counts, topics, cells, *, word_prior=0.0, topic_prior=0.0, jobs=1):
    """Return a mixture that stands where it is told to."""
    given = EmSettings(windows.size, word_prior, topic_prior, 1, 0, jobs)
    mixture = GridMixture(sparse.csr_array(counts), given, np.random.RandomState(0), windows)
    mixture.topics = table_of(topics, mixture.dtype)
    mixture.cells = table_of(np.where(mixture.seen, cells, 0).T, mixture.dtype)
    mixture.cell_scale = np.ones(windows.size)
    mixture._overlay()
    return mixture


def state_of(mixture):
    cells = mixture.cell_probabilities()
    return mixture.topic_probabilities(), cells.reshape(-1, cells.shape[2])


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
def test_window_means_are_those_of_the_oracle(windows, seed, dtype):
    cells = np.random.default_rng(seed).exponential(size=(windows.size, 5)).astype(dtype)
    words = table_of(np.zeros((5, windows.size)), dtype)
    scale = np.full(windows.size, 0.5)
    _core.window_means(
        table_of(cells.T, dtype), scale, words, windows.shape, windows.window, threads=1
    )
    found = words[:, : windows.size].T
    expected = slow_means(windows, cells.astype(np.float64) / 2)  # sums of float32 would be worse
    assert_allclose(found, expected, rtol=1e-7 if dtype == np.float32 else 1e-14)
    assert not words[:, windows.size :].any()


@given(windows_of_grids(), st.integers(0, 2**32 - 1))
def test_nothing_is_lost_beside_large_numbers_and_nothing_falls_below_zero(windows, seed):
    """What differences of cumulative sums get wrong."""
    rng = np.random.default_rng(seed)
    cells = 10.0 ** rng.integers(-200, 200, (windows.size, 4)) * rng.integers(0, 2, (1, 4))
    words = table_of(np.zeros((4, windows.size)), np.float64)
    ones = np.ones(windows.size)
    _core.window_means(table_of(cells.T, np.float64), ones, words, windows.shape, windows.window, 1)
    assert_allclose(words[:, : windows.size].T, slow_means(windows, cells), rtol=1e-14)
    assert words.min() >= 0


@given(windows_of_grids(), st.integers(0, 5), st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_a_shifted_torus_has_shifted_windows_to_the_bit(windows, down, right, seed):
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


def test_the_core_checks_what_it_is_given():
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
def test_a_step_is_that_of_the_oracle(problem, word_prior, topic_prior):
    priors = {"word_prior": word_prior, "topic_prior": topic_prior}
    topics, cells, logarithm = slow_step(*problem, **priors)
    mixture = mixture_at(*problem, **priors)
    assert mixture.unit * mixture.step() == pytest.approx(logarithm, rel=1e-10, abs=1e-10)
    found_topics, found_cells = state_of(mixture)
    filled = problem[1].sum(axis=1) > 0
    assert_allclose(found_topics[filled], topics[filled], rtol=1e-9, atol=1e-13)
    assert_allclose(found_cells, cells, rtol=1e-9, atol=1e-13)
    windows = problem[0]
    assert_allclose(mixture.word_probabilities(), slow_means(windows, found_cells), atol=1e-14)
    assert mixture.cell_tokens().sum() == pytest.approx(1)


@given(problems())
@settings(max_examples=20)
def test_any_number_of_threads_gives_the_same_bits(problem):
    one, three = (mixture_at(*problem, jobs=jobs) for jobs in (1, 3))
    for _ in range(3):
        assert one.step() == three.step()
    for found, other in zip(state_of(one), state_of(three), strict=True):
        assert_array_equal(found, other)
    assert_array_equal(one.tokens, three.tokens)


@given(problems(), st.integers(0, 5), st.integers(0, 5))
@settings(max_examples=50)
def test_a_shifted_start_leads_to_a_shifted_grid(problem, down, right):
    windows, counts, topics, cells = problem

    def shifted(rows):
        grid = rows.reshape(len(rows), *windows.shape)
        return np.roll(grid, (down, right), (1, 2)).reshape(rows.shape)

    plain = mixture_at(windows, counts, topics, cells)
    moved = mixture_at(windows, counts, shifted(topics), shifted(cells.T).T)
    for _ in range(5):
        assert plain.step() == pytest.approx(moved.step(), rel=1e-11, abs=1e-11)
    (topics, cells), (other_topics, other_cells) = state_of(plain), state_of(moved)
    assert_allclose(other_topics, shifted(topics), rtol=1e-7, atol=1e-10)
    assert_allclose(other_cells, shifted(cells.T).T, rtol=1e-7, atol=1e-10)


@given(problems(), PRIORS, PRIORS)
@settings(max_examples=50)
def test_windows_of_one_cell_are_plsa_step_by_step(problem, word_prior, topic_prior):
    windows, counts, _, _ = problem
    windows = Windows(windows.shape, (1, 1))
    bags = sparse.csr_array(counts)
    given = EmSettings(windows.size, word_prior, topic_prior, 1, 0, 1)
    grid = GridMixture(bags, given, np.random.RandomState(5), windows)
    plsa = Mixture(bags, given, np.random.RandomState(5))
    for _ in range(10):
        assert grid.log_prior() == pytest.approx(plsa.log_prior(), rel=1e-9, abs=1e-9)
        assert grid.step() == pytest.approx(plsa.step(), rel=1e-11, abs=1e-11)
        topics, cells = state_of(grid)
        assert_allclose(topics, plsa.topic_probabilities(), rtol=1e-9, atol=1e-12)
        assert_allclose(cells, plsa.word_probabilities(), rtol=1e-9, atol=1e-12)
        assert_array_equal(grid.word_probabilities(), cells)


def test_a_fit_with_windows_of_one_cell_is_one_of_plsa(collection):
    grid = CountingGrid((2, 3), window=1, random_state=2).fit(collection)
    plsa = PLSA(6, random_state=2).fit(collection)
    assert grid.n_iter_ == plsa.n_iter_
    assert_allclose(grid.log_likelihoods_, plsa.log_likelihoods_, rtol=1e-11)
    assert_allclose(grid.grid_.reshape(6, -1), plsa.components_, atol=1e-8)
    assert_allclose(grid.transform(collection), plsa.transform(collection), atol=1e-6)
    assert_allclose(grid.cell_weights_.ravel(), plsa.topic_weights_, atol=1e-8)


@given(problems())
@settings(max_examples=30)
def test_cells_that_are_all_alike_stay_so(problem):
    """The fixed point that noise has to keep a start away from."""
    windows, counts, topics, _ = problem
    equal = np.full_like(topics, 1 / windows.size)
    flat = np.full((windows.size, counts.shape[1]), 1 / counts.shape[1])
    mixture = mixture_at(windows, counts, equal, flat)
    corpus = counts.sum(axis=0) / counts.sum()
    for _ in range(3):
        mixture.step()
        found_topics, cells = state_of(mixture)
        assert_allclose(found_topics, equal, rtol=1e-12)
        assert_allclose(cells, np.tile(corpus, (windows.size, 1)), rtol=1e-12)


@collapsed
@given(problems(), st.sampled_from([1.0, 1.01, 1.5]), st.sampled_from([1.0, 1.1, 2.0]))
@settings(max_examples=50)
@unconverged
def test_what_a_fit_maximises_never_falls(problem, word_prior, topic_prior):
    windows, counts, _, _ = problem
    grid = CountingGrid(
        windows.shape,
        window=windows.window,
        word_prior=word_prior,
        topic_prior=topic_prior,
        max_iter=60,
        tol=0,
        random_state=0,
    ).fit(counts)
    values = np.array(grid.objectives_)
    assert np.all(np.diff(values) >= -1e-9 * np.maximum(np.abs(values[1:]), counts.sum()))
    assert len(values) == len(grid.log_likelihoods_) == grid.n_iter_ + 1
    if word_prior == topic_prior == 1:
        assert grid.log_likelihoods_ == grid.objectives_
    assert min(grid.grid_.min(), grid.components_.min()) >= 0
    assert_allclose(
        grid.components_, slow_means(windows, grid.grid_.reshape(windows.size, -1)), atol=1e-14
    )


# ------------------------------------------------------------------ the estimator


@pytest.fixture(scope="module")
def collection():
    """Documents along a ring: each is about a few words that follow each other."""
    rng = np.random.default_rng(3)
    places = rng.uniform(0, 30, 60)
    apart = np.abs(np.arange(30) - places[:, None])
    words = np.exp(-0.5 * (np.minimum(apart, 30 - apart) / 2) ** 2)
    return np.array([rng.multinomial(80, row / row.sum()) for row in words]).astype(float)


def test_neighbours_on_the_map_are_alike(collection):
    grid = CountingGrid((1, 12), window=(1, 3), n_init=3, random_state=0).fit(collection)
    assert grid.converged_
    assert_allclose(grid.components_.sum(axis=1), 1)
    assert_allclose(grid.document_topics_.sum(axis=1), 1)
    assert_allclose(grid.topic_weights_, grid.document_topics_.mean(axis=0))  # all are as long
    assert grid.cell_weights_.sum() == pytest.approx(1)
    roots = np.sqrt(grid.components_)
    alike = roots @ roots.T
    near = np.mean([alike[at, (at + 1) % 12] for at in range(12)])
    far = np.mean([alike[at, (at + 6) % 12] for at in range(12)])
    assert near > far + 0.3


def test_a_training_document_folds_in_to_its_own_place(collection):
    """Where it was, or better: with the grid held, the likelihood has no other maxima."""
    grid = CountingGrid(
        (3, 4), window=2, tol=1e-8, max_iter=3000, fold_in_iter=3000, random_state=0
    ).fit(collection)
    found = grid.transform(collection)
    assert_allclose(found.sum(axis=1), 1)
    mixed, before = found @ grid.components_, grid.document_topics_ @ grid.components_
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = np.where(collection > 0, collection * np.log(mixed / before), 0).sum(axis=1)
    assert gains.min() > -1e-4
    assert np.median(np.abs(mixed - before).max(axis=1)) < 1e-3


def test_threads_seeds_and_starts(collection):
    one = CountingGrid((3, 5), window=2, random_state=3).fit(collection)
    two = CountingGrid([3, 5], window=(2, 2), random_state=3, n_jobs=2).fit(collection)
    other = CountingGrid((3, 5), window=2, random_state=4).fit(collection)
    assert_array_equal(one.grid_, two.grid_)
    assert_array_equal(one.transform(collection), two.transform(collection))
    assert one.log_likelihoods_ == two.log_likelihoods_
    assert not np.array_equal(one.grid_, other.grid_)
    each = np.random.RandomState(1)
    alone = [
        CountingGrid((3, 5), window=2, random_state=each).fit(collection).objectives_[-1]
        for _ in range(3)
    ]
    best = CountingGrid((3, 5), window=2, n_init=3, random_state=np.random.RandomState(1))
    assert best.fit(collection).objectives_[-1] == max(alone)


def test_a_square_is_one_number(collection):
    grid = CountingGrid(3, window=2, tol=1e-3, random_state=0).fit(collection)
    assert grid.grid_.shape == (3, 3, 30)
    assert grid.transform(collection).shape == (60, 9)
    assert len(grid.get_feature_names_out()) == 9


def test_single_precision_agrees_with_double(collection, monkeypatch):
    make = CountingGrid((3, 4), window=2, random_state=0)
    double = make.fit(collection)
    likelihoods, cells = double.log_likelihoods_, double.grid_
    monkeypatch.setattr("textkin.models._em._SMALL", 0)
    single = make.fit(collection.astype(np.float32))
    assert single.log_likelihoods_ != likelihoods
    assert_allclose(single.log_likelihoods_[:20], likelihoods[:20], rtol=1e-5)
    assert_allclose(single.grid_, cells, atol=1e-2)
    values = np.array(single.log_likelihoods_)
    assert np.all(np.diff(values) >= -1e-6 * np.abs(values[1:]))


def test_empty_documents_and_unseen_words():
    bags = np.array([[2.0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 2, 0]])
    for prior in (1.0, 1.1):
        grid = CountingGrid((2, 3), window=2, word_prior=prior, random_state=0).fit(bags)
        assert_array_equal(grid.document_topics_[1], 1 / 6)
        assert_array_equal(grid.grid_[:, :, 3], 0)
        assert_allclose(grid.grid_.sum(axis=2), 1)
        assert_array_equal(grid.transform(np.array([[0.0, 0, 0, 0], [0, 0, 0, 9]])), 1 / 6)
        unseen = bags.copy()
        unseen[:, 3] = 5
        assert_array_equal(grid.transform(unseen), grid.transform(bags))
        assert (grid.grid_[:, :, :3].min() > 0) or prior == 1


def test_one_document_and_one_cell():
    grid = CountingGrid(1, window=1, random_state=0).fit(N[:1])
    assert_allclose(grid.grid_[0, 0], [2 / 3, 1 / 3, 0])
    assert_array_equal(grid.transform(N), 1)


def test_the_scale_of_weights_changes_nothing_without_priors():
    make = CountingGrid((2, 2), window=(1, 2), random_state=0)
    whole = make.fit(N).grid_
    for factor in (2.0**-1074, 2.0**-660, 2.0**66, 2.0**1000):
        assert_array_equal(make.fit(N * factor).grid_, whole)
    assert_allclose(make.fit((N * 1e30).astype(np.float32)).grid_, whole, rtol=1e-6, atol=1e-9)
    with pytest.raises(ValueError, match="finite sum; scale them down"):
        make.fit(np.full((2, 2), 1e308))


@pytest.mark.parametrize("small", [2**20, 0])
@pytest.mark.parametrize("weight", [1e-20, 1e-35])
def test_a_word_with_a_small_weight_is_kept(weight, small, monkeypatch):
    monkeypatch.setattr("textkin.models._em._SMALL", small)
    for dtype in (np.float32, np.float64):
        bags = np.array([[1, 0], [0, weight]], dtype)
        grid = CountingGrid((2, 2), window=(1, 2), random_state=0).fit(bags)
        mixed = grid.topic_weights_ @ grid.components_[:, 1]
        assert np.isfinite(grid.grid_).all()
        assert mixed == pytest.approx(weight, rel=1e-3)
        assert np.isfinite(grid.transform(np.array([[0, weight]], dtype))).all()


def test_progress_is_told_and_can_stop(collection):
    told = []
    grid = CountingGrid((2, 3), window=2, n_init=2, random_state=0)
    grid.fit(collection, progress=lambda *step: told.append(step))
    assert told[0] == (1, 400)
    assert [done for done, _ in told] == sorted({done for done, _ in told})

    def enough(done, total):
        raise RuntimeError("enough")

    fresh = CountingGrid((2, 3), window=2, random_state=0)
    with pytest.raises(RuntimeError, match="enough"):
        fresh.fit(collection, progress=enough)
    assert not hasattr(fresh, "grid_")
    with pytest.raises(RuntimeError, match="enough"):
        grid.transform(collection, progress=enough)


@unconverged
def test_control_c_gets_through():
    bags = sparse.random_array((3000, 3000), density=0.02, random_state=0, dtype=np.float64)
    assert interrupted(lambda: CountingGrid(8, window=3, max_iter=300, random_state=0).fit(bags))


def test_not_converging_is_told():
    with pytest.warns(ConvergenceWarning, match="CountingGrid did not converge in 1 steps"):
        grid = CountingGrid(2, window=1, max_iter=1, random_state=0).fit(N)
    assert not grid.converged_


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"window": (5, 2)}, ValueError, r"at most the 4 rows of the grid; got 5. Make the window"),
        ({"window": 5}, ValueError, "at most the 4 rows"),
        ({"shape": (9, 3), "window": 4}, ValueError, "at most the 3 columns .*got 4"),
        ({"shape": 0}, ValueError, r"shape must be \(rows, columns\), whole"),
        ({"shape": (2, 2, 2)}, ValueError, "shape must be"),
        ({"shape": (2, 2.5)}, ValueError, "shape must be"),
        ({"shape": "large"}, TypeError, "shape must be"),
        ({"window": None}, TypeError, "window must be"),
        ({"window": (0, 1)}, ValueError, "window must be"),
        ({"topic_prior": 0.5}, ValueError, "topic_prior must be a finite number at least 1"),
        ({"word_prior": np.nan}, ValueError, "word_prior must be"),
        ({"max_iter": 0}, ValueError, "max_iter must be"),
        ({"fold_in_iter": 2**64}, ValueError, "fold_in_iter must be"),
    ],
)
def test_wrong_parameters_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        CountingGrid(**{"shape": (4, 4), "window": 2} | parameters).fit(N)


def test_nothing_to_learn_from_is_told():
    with pytest.raises(ValueError, match="all its documents are empty"):
        CountingGrid((2, 2), window=1).fit(np.zeros((3, 4)))


def test_a_grid_that_memory_cannot_hold_is_refused_before_it_is_taken():
    """A fit of this shape was killed by the system."""
    with pytest.raises(ValueError, match=r"3 words on a grid of 32768 x 32768 cells"):
        CountingGrid(32768, window=1).fit(N)
    small = CountingGrid((2, 2), window=1, memory=8 * 4 * 21, random_state=0).fit(N)
    with pytest.raises(ValueError, match=r"take about .* more than memory=672. Make the shape"):
        small.set_params(n_init=2).fit(N)  # the best one is kept too


@pytest.mark.parametrize("name", ["grid_", "components_", "cell_weights_", "topic_weights_"])
def test_a_saved_grid_is_checked(name, tmp_path):
    grid = CountingGrid((2, 3), window=2, random_state=0).fit(N)
    setattr(grid, name, -getattr(grid, name))
    grid.save(tmp_path / "negative")
    with pytest.raises(ValueError, match="must not be negative"):
        CountingGrid.load(tmp_path / "negative")
    setattr(grid, name, getattr(grid, name)[:-1].copy())
    grid.save(tmp_path / "short")
    with pytest.raises(ValueError, match=f"{name} must hold"):
        CountingGrid.load(tmp_path / "short")


def test_words_of_windows_and_cells(collection):
    names = [f"w{column}" for column in range(30)]
    grid = CountingGrid((3, 4), window=2, random_state=0).fit(collection)
    topics = grid.topics(names, n_words=4)
    assert len(topics) == 12
    assert topics[0].weight == grid.topic_weights_.max()
    drawn = grid.word_map(names, n_words=2)
    assert len(drawn) == 3
    for row in range(3):
        for column in range(4):
            top = np.argsort(-grid.grid_[row, column])[:2]
            assert [word for word, _ in drawn[row][column].words] == [names[at] for at in top]
            assert drawn[row][column].weight == grid.cell_weights_[row, column]
    assert grid.word_map()[0][0].words[0][0].startswith("#")
    with pytest.raises(ValueError, match=r"words must be 30, one for each column.*got 2"):
        grid.word_map(["a", "b"])


@pytest.mark.parametrize("ask", [CountingGrid().topics, CountingGrid().word_map])
def test_nothing_is_known_before_a_fit(ask):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        ask()


def test_a_map_that_priors_have_made_one_is_told():
    counts = np.repeat(np.eye(6) * 3, 4, axis=1)
    with pytest.warns(UserWarning, match=r"map has collapsed.*topic_prior=50.*Lower them"):
        CountingGrid((4, 4), window=2, word_prior=2, topic_prior=50, random_state=0).fit(counts)
    grid = CountingGrid((4, 4), window=2, word_prior=1.01, tol=1e-3, random_state=0).fit(counts)
    assert np.abs(grid.components_ - grid.components_.mean(axis=0)).sum(axis=1).max() > 0.5
    # A window of the whole grid is the same wherever it begins.
    CountingGrid(2, window=2, word_prior=1.1, tol=0.1, random_state=0).fit(counts)
