"""Counting grids in use: fits, inference, warnings, errors, and the map."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from support import interrupted
from textkin.models import PLSA, CountingGrid

N = np.array([[2.0, 1, 0], [0, 1, 2]])
unconverged = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def collection():
    """Return documents along a ring: each has a few consecutive words."""
    rng = np.random.default_rng(3)
    places = rng.uniform(0, 30, 60)
    apart = np.abs(np.arange(30) - places[:, None])
    words = np.exp(-0.5 * (np.minimum(apart, 30 - apart) / 2) ** 2)
    return np.array([rng.multinomial(80, row / row.sum()) for row in words]).astype(float)


def test_neighbors_on_the_map_are_similar(collection):
    grid = CountingGrid((1, 12), window=(1, 3), n_init=3, random_state=0).fit(collection)
    assert grid.converged_
    assert_allclose(grid.components_.sum(axis=1), 1)
    assert_allclose(grid.document_topics_.sum(axis=1), 1)
    assert_allclose(grid.topic_weights_, grid.document_topics_.mean(axis=0))  # equal lengths
    assert grid.cell_weights_.sum() == pytest.approx(1)
    roots = np.sqrt(grid.components_)
    alike = roots @ roots.T
    near = np.mean([alike[at, (at + 1) % 12] for at in range(12)])
    far = np.mean([alike[at, (at + 6) % 12] for at in range(12)])
    assert near > far + 0.3


def test_fitted_documents_transform_to_their_own_topics(collection):
    """The inferred topics are at least as likely: with a fixed grid, there is only one maximum."""
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


def test_threads_seeds_and_initializations(collection):
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


def test_integer_shape_is_a_square(collection):
    grid = CountingGrid(3, window=2, tol=1e-3, random_state=0).fit(collection)
    assert grid.grid_.shape == (3, 3, 30)
    assert grid.transform(collection).shape == (60, 9)
    assert len(grid.get_feature_names_out()) == 9


def test_single_precision_agrees_with_double(collection, monkeypatch):
    make = CountingGrid((3, 4), window=2, random_state=0)
    double = make.fit(collection)
    likelihoods, cells = double.log_likelihoods_, double.grid_
    monkeypatch.setattr("textkin.models.topics._em._SMALL", 0)
    single = make.fit(collection.astype(np.float32))
    assert single.log_likelihoods_ != likelihoods
    assert_allclose(single.log_likelihoods_[:20], likelihoods[:20], rtol=1e-5)
    assert_allclose(single.grid_, cells, atol=1e-2)
    values = np.array(single.log_likelihoods_)
    assert np.all(np.diff(values) >= -1e-6 * np.abs(values[1:]))


def test_empty_documents_and_unseen_words():
    bags = np.array([[2.0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 2, 0]])
    for prior in (1.0, 1.1):
        grid = CountingGrid((2, 3), window=2, topic_word_prior=prior, random_state=0).fit(bags)
        assert_array_equal(grid.document_topics_[1], 1 / 6)
        assert_array_equal(grid.grid_[:, :, 3], 0)
        assert_allclose(grid.grid_.sum(axis=2), 1)
        assert_array_equal(grid.transform(np.array([[0.0, 0, 0, 0], [0, 0, 0, 9]])), 1 / 6)
        unseen = bags.copy()
        unseen[:, 3] = 5
        assert_array_equal(grid.transform(unseen), grid.transform(bags))
        assert (grid.grid_[:, :, :3].min() > 0) or prior == 1


def test_single_document_and_single_cell():
    grid = CountingGrid(1, window=1, random_state=0).fit(N[:1])
    assert_allclose(grid.grid_[0, 0], [2 / 3, 1 / 3, 0])
    assert_array_equal(grid.transform(N), 1)


def test_scale_of_weights_does_not_matter_without_priors():
    make = CountingGrid((2, 2), window=(1, 2), random_state=0)
    whole = make.fit(N).grid_
    for factor in (2.0**-1074, 2.0**-660, 2.0**66, 2.0**1000):
        assert_array_equal(make.fit(N * factor).grid_, whole)
    assert_allclose(make.fit((N * 1e30).astype(np.float32)).grid_, whole, rtol=1e-6, atol=1e-9)
    with pytest.raises(ValueError, match=r"finite sum\. Scale them down"):
        make.fit(np.full((2, 2), 1e308))


@pytest.mark.parametrize("small", [2**20, 0])
@pytest.mark.parametrize("weight", [1e-20, 1e-35])
def test_word_with_a_small_weight_is_kept(weight, small, monkeypatch):
    monkeypatch.setattr("textkin.models.topics._em._SMALL", small)
    for dtype in (np.float32, np.float64):
        bags = np.array([[1, 0], [0, weight]], dtype)
        grid = CountingGrid((2, 2), window=(1, 2), random_state=0).fit(bags)
        mixed = grid.topic_weights_ @ grid.components_[:, 1]
        assert np.isfinite(grid.grid_).all()
        assert mixed == pytest.approx(weight, rel=1e-3)
        assert np.isfinite(grid.transform(np.array([[0, weight]], dtype))).all()


def test_progress_is_reported_and_can_stop(collection):
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
def test_ctrl_c_interrupts_fit():
    bags = sparse.random_array((3000, 3000), density=0.02, random_state=0, dtype=np.float64)
    assert interrupted(lambda: CountingGrid(8, window=3, max_iter=300, random_state=0).fit(bags))


def test_too_few_steps_warn():
    with pytest.warns(ConvergenceWarning, match="CountingGrid did not converge in 1 steps"):
        grid = CountingGrid(2, window=1, max_iter=1, random_state=0).fit(N)
    assert not grid.converged_


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"window": (5, 2)}, ValueError, r"at most the 4 rows of the grid; got 5. Make the window"),
        ({"window": 5}, ValueError, "at most the 4 rows"),
        ({"shape": (9, 3), "window": 4}, ValueError, "at most the 3 columns .*got 4"),
        ({"shape": 0}, ValueError, r"shape must be \(rows, columns\), integers"),
        ({"shape": (2, 2, 2)}, ValueError, "shape must be"),
        ({"shape": (2, 2.5)}, ValueError, "shape must be"),
        ({"shape": "large"}, TypeError, "shape must be"),
        ({"window": None}, TypeError, "window must be"),
        ({"window": (0, 1)}, ValueError, "window must be"),
        (
            {"doc_topic_prior": 0.5},
            ValueError,
            "doc_topic_prior must be a finite number at least 1",
        ),
        ({"topic_word_prior": np.nan}, ValueError, "topic_word_prior must be"),
        ({"max_iter": 0}, ValueError, "max_iter must be"),
        ({"fold_in_iter": 2**64}, ValueError, "fold_in_iter must be"),
    ],
)
def test_invalid_parameters_raise(parameters, error, message):
    with pytest.raises(error, match=message):
        CountingGrid(**{"shape": (4, 4), "window": 2} | parameters).fit(N)


def test_fit_without_words_raises():
    with pytest.raises(ValueError, match="all its documents are empty"):
        CountingGrid((2, 2), window=1).fit(np.zeros((3, 4)))


def test_too_little_memory_raises_before_allocation():
    """Check a regression: the operating system killed a fit of this shape."""
    with pytest.raises(ValueError, match=r"3 words on a grid of 32768 x 32768 cells"):
        CountingGrid(32768, window=1).fit(N)
    small = CountingGrid((2, 2), window=1, memory=8 * 4 * 21, random_state=0).fit(N)
    with pytest.raises(ValueError, match=r"need about .* more than memory=672. Make the shape"):
        small.set_params(n_init=2).fit(N)  # the best fit is kept in memory, too


@pytest.mark.parametrize("name", ["grid_", "components_", "cell_weights_", "topic_weights_"])
def test_invalid_saved_grid_raises(name, tmp_path):
    grid = CountingGrid((2, 3), window=2, random_state=0).fit(N)
    setattr(grid, name, -getattr(grid, name))
    grid.save(tmp_path / "negative")
    with pytest.raises(ValueError, match="must not be negative"):
        CountingGrid.load(tmp_path / "negative")
    setattr(grid, name, getattr(grid, name)[:-1].copy())
    grid.save(tmp_path / "short")
    with pytest.raises(ValueError, match=f"{name} must hold"):
        CountingGrid.load(tmp_path / "short")


def test_topics_of_windows_and_map_of_cells(collection):
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
    with pytest.raises(ValueError, match=r"feature_names must be 30, one for each column.*got 2"):
        grid.word_map(["a", "b"])


@pytest.mark.parametrize("ask", [CountingGrid().topics, CountingGrid().word_map])
def test_methods_before_fit_raise(ask):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        ask()


def test_collapsed_map_warns():
    counts = np.repeat(np.eye(6) * 3, 4, axis=1)
    with pytest.warns(UserWarning, match=r"map has collapsed.*doc_topic_prior=50.*Lower them"):
        CountingGrid((4, 4), window=2, topic_word_prior=2, doc_topic_prior=50, random_state=0).fit(
            counts
        )
    grid = CountingGrid((4, 4), window=2, topic_word_prior=1.01, tol=1e-3, random_state=0).fit(
        counts
    )
    assert np.abs(grid.components_ - grid.components_.mean(axis=0)).sum(axis=1).max() > 0.5
    # A window of the full grid has the same words at every start.
    CountingGrid(2, window=2, topic_word_prior=1.1, tol=0.1, random_state=0).fit(counts)


def test_windows_of_one_cell_fit_like_plsa(collection):
    grid = CountingGrid((2, 3), window=1, random_state=2).fit(collection)
    plsa = PLSA(6, random_state=2).fit(collection)
    assert grid.n_iter_ == plsa.n_iter_
    assert_allclose(grid.log_likelihoods_, plsa.log_likelihoods_, rtol=1e-11)
    assert_allclose(grid.grid_.reshape(6, -1), plsa.components_, atol=1e-8)
    assert_allclose(grid.transform(collection), plsa.transform(collection), atol=1e-6)
    assert_allclose(grid.cell_weights_.ravel(), plsa.topic_weights_, atol=1e-8)
