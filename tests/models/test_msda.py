"""mSDA compared with explicit corruption of documents."""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from support import interrupted
from textkin.models import MSDA, load_estimator
from textkin.models._denoising import ROWS, deal_columns

THREE = np.array([[1.0, 0], [0, 1], [1, 1]])  # METHODS 11, documents as rows


def with_bias(rows):
    return np.column_stack([rows, np.ones(len(rows))])


def reference_layer(inputs, outputs, noise, ridge):
    """Return W^T from all possible corruptions, weighted by their probabilities."""
    size = inputs.shape[1]
    q, p = np.zeros((size + 1, size + 1)), np.zeros((size + 1, outputs.shape[1]))
    for mask in product([0, 1], repeat=size):
        chance = np.prod([1 - noise if kept else noise for kept in mask])
        left = with_bias(inputs * mask)
        q += chance * left.T @ left
        p += chance * left.T @ outputs
    q += ridge * np.diag([1.0] * size + [0])
    return np.linalg.pinv(q) @ p


def some_bags(n_documents=130, n_words=40, seed=3):
    return np.random.default_rng(seed).poisson(0.2, (n_documents, n_words)).astype(float)


def test_layer_matches_worked_example():
    """METHODS 11."""
    msda = MSDA(noise=0.5, n_layers=1, ridge=0, include_input=False).fit(THREE)
    first, second, bias = 0.4761905, -0.1904762, 0.5714286
    expected = [[first, second], [second, first], [bias, bias]]
    assert_allclose(msda.layers_[0], expected, atol=5e-8)
    assert_allclose(with_bias(THREE)[0] @ msda.layers_[0], [1.0476190, 0.3809524], atol=5e-8)
    assert_allclose(msda.transform(THREE)[0], np.tanh([1.0476190, 0.3809524]), atol=5e-8)


def test_word_predicts_itself_without_noise():
    msda = MSDA(noise=0, n_layers=1, ridge=0).fit(THREE)
    assert_allclose(msda.layers_[0], [[1, 0], [0, 1], [0, 0]], atol=1e-14)


@settings(max_examples=60)
@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=st.integers(-2, 3)
    ),
    st.sampled_from([0.0, 0.3, 0.5, 0.95]),
    st.sampled_from([1e-5, 0.5]),
)
def test_layer_equals_the_mean_over_all_corruptions(bags, noise, ridge):
    msda = MSDA(noise=noise, n_layers=1, ridge=ridge).fit(bags)
    assert_allclose(msda.layers_[0], reference_layer(bags, bags, noise, ridge), atol=2e-7)


def test_sampled_corruptions_approximate_the_layer():
    """Least squares over 20,000 corrupted copies; the error falls with the number of copies."""
    random, noise = np.random.default_rng(0), 0.4
    bags = random.poisson(0.8, (12, 5)).astype(float)
    exact = MSDA(noise=noise, n_layers=1, ridge=0).fit(bags).layers_[0]
    errors = []
    for copies in (200, 20_000):
        clean = np.tile(bags, (copies, 1))
        left = with_bias(clean * (random.random(clean.shape) >= noise))
        errors.append(np.abs(np.linalg.lstsq(left, clean)[0] - exact).max())
    assert errors[1] < min(0.01, 0.3 * errors[0])


def test_layers_are_stacked():
    bags = some_bags()
    stack = MSDA(n_layers=3, noise=0.7).fit(bags)
    rows, parts = bags, [bags]
    for layer in stack.layers_:
        one = MSDA(n_layers=1, noise=0.7, include_input=False).fit(rows)
        assert_allclose(layer, one.layers_[0], atol=1e-12)
        rows = np.tanh(with_bias(rows) @ layer)
        parts.append(rows)
    assert_allclose(stack.transform(bags), np.hstack(parts), atol=1e-12)
    alone = clone(stack).set_params(include_input=False).fit(bags)
    assert_array_equal(alone.transform(bags), stack.transform(bags)[:, 40:])


def test_single_block_equals_the_dense_form():
    bags = some_bags()
    whole, block = MSDA().fit(bags), MSDA(40).fit(bags)
    for one, other in zip(whole.layers_, block.layers_, strict=True):
        assert_array_equal(one, other)


def test_blocks_are_dealt_by_frequency():
    frequencies = np.array([5, 9, 0, 5, 7, 1, 0])
    found = deal_columns(frequencies, 2)  # descending order: 1, 4, 0, 3, 5
    assert [block.tolist() for block in found] == [[1, 3], [4, 5], [0]]
    assert [block.tolist() for block in deal_columns(np.zeros(3, dtype=int), 2)] == [[]]


@pytest.mark.parametrize("size", [1, 3, 7, 39])
def test_many_words_equal_the_mean_over_blocks(size):
    bags = some_bags(n_words=40)[:, ::-1]
    bags[:, 5] = 0
    msda = MSDA(size, n_layers=2, noise=0.6).fit(bags)
    frequencies = (bags != 0).sum(axis=0)
    order = sorted(range(40), key=lambda column: (-frequencies[column], column))
    assert msda.features_.tolist() == sorted(order[:size])
    seen = [column for column in order if frequencies[column]]
    n_blocks = -(-len(seen) // size)
    outputs, total = bags[:, msda.features_], 0
    for at in range(n_blocks):
        x = bags[:, seen[at::n_blocks]]
        assert x.shape[1] <= size
        s = with_bias(x).T @ with_bias(x)
        q = s * np.outer(*2 * [np.append(np.full(x.shape[1], 0.4), 1)])
        np.fill_diagonal(q, np.append(0.4 * s.diagonal()[:-1] + 1e-5, len(x)))
        p = np.append(np.full(x.shape[1], 0.4), 1)[:, None] * (with_bias(x).T @ outputs)
        total = total + with_bias(x) @ np.linalg.solve(q, p)
    first = np.tanh(total / n_blocks)
    places = msda.transform(bags)
    assert_allclose(places[:, 40 : 40 + size], first, atol=1e-9)
    second = MSDA(n_layers=1, noise=0.6, include_input=False).fit(first).transform(first)
    assert_allclose(places[:, 40 + size :], second, atol=1e-9)


@pytest.mark.parametrize("size", [None, 7])
def test_batches_equal_single_rows_at_all_positions(size):
    bags = sparse.csr_array(some_bags(2 * ROWS + 5, 300))
    msda = MSDA(size, noise=0.8).fit(bags)
    batch = msda.transform(bags)
    for start in range(bags.shape[0]):
        assert_array_equal(msda.transform(bags[start]), batch[[start]])
        assert_array_equal(msda.transform(bags[start:]), batch[start:])


def test_threads_give_the_same():
    bags = some_bags(300, 300)
    alone, many = MSDA(n_jobs=1).fit(bags), MSDA(n_jobs=3).fit(bags)
    for one, other in zip(alone.layers_, many.layers_, strict=True):
        assert_array_equal(one, other)
    assert_array_equal(alone.transform(bags), many.transform(bags))


@pytest.mark.parametrize("size", [None, 6])
def test_unseen_words_do_not_matter(size):
    bags = some_bags()
    wide = np.insert(bags, [0, 20, 40, 40], 0, axis=1)
    unseen = [0, 21, 42, 43]
    short, long = MSDA(size, ridge=0).fit(bags), MSDA(size, ridge=0).fit(wide)
    strange = wide.copy()
    strange[:, unseen] = 7
    long.include_input = short.include_input = False
    expected = short.transform(bags)
    if size is None:  # unseen words are predicted, too, as 0
        expected = np.hstack(
            [np.insert(part, [0, 20, 40, 40], 0, axis=1) for part in np.split(expected, 3, axis=1)]
        )
    assert_allclose(long.transform(strange), expected, atol=1e-12)
    assert_array_equal(long.transform(strange), long.transform(wide))


@pytest.mark.parametrize("size", [None, 6])
def test_empty_document_gives_the_bias(size):
    msda = MSDA(size, n_layers=2).fit(some_bags())
    [empty] = msda.transform(np.zeros((1, 40)))
    first = np.tanh(msda.layers_[0][-1])
    assert_array_equal(empty[:40], 0)
    assert_allclose(empty[40 : 40 + first.size], first, rtol=1e-15)
    assert_allclose(empty[40 + first.size :], np.tanh(np.append(first, 1) @ msda.layers_[1]))
    assert msda.transform(sparse.csr_array((0, 40))).shape == (0, empty.size)


def test_empty_documents_single_document_and_duplicates():
    nothing = MSDA().fit(np.zeros((3, 4)))
    assert_array_equal(nothing.transform(np.ones((1, 4)))[:, 4:], 0)
    one = MSDA(n_layers=1).fit([[1.0, 0, 2]])
    assert_allclose(one.layers_[0], [[0] * 3] * 3 + [[1, 0, 2]], atol=1e-4)  # only the bias
    bags = some_bags()
    once, twice = (MSDA(ridge=ridge).fit(b) for ridge, b in [(1, bags), (2, np.tile(bags, (2, 1)))])
    assert_allclose(once.layers_[2], twice.layers_[2], atol=1e-9)


def test_order_of_documents_and_words_does_not_matter():
    bags = some_bags()
    bags[:, :7] = np.tri(130, 7)  # gives all words different frequencies
    bags = bags[:, np.unique((bags != 0).sum(axis=0), return_index=True)[1]]
    expected = MSDA(3).fit(bags)
    order = np.random.default_rng(0).permutation(bags.shape[1])
    other = MSDA(3).fit(bags[::-1, order])
    assert_array_equal(np.sort(order[other.features_]), expected.features_)
    back = np.argsort(order[other.features_])
    assert_allclose(other.layers_[0][:-1][:, back], expected.layers_[0][order], atol=1e-9)


def test_weights_of_extreme_magnitude():
    bags = some_bags()
    for scale in (1e-150, 1e-4, 1e4, 1e150):
        same = MSDA(n_layers=1, ridge=0).fit(bags * scale).layers_[0]
        expected = MSDA(n_layers=1, ridge=0).fit(bags).layers_[0]
        assert_allclose(same[:-1], expected[:-1], atol=1e-9)
        assert_allclose(same[-1] / scale, expected[-1], atol=1e-9)
    mixed = bags * np.logspace(-100, 100, 40)
    assert np.isfinite(MSDA(n_layers=2, ridge=0).fit(mixed).transform(mixed)).all()
    tiny = MSDA(n_layers=1).fit(bags * 1e-200)  # the squares are 0
    assert_array_equal(tiny.layers_[0][:-1], 0)
    with pytest.raises(ValueError, match=r"finite sum. Scale them down"):
        MSDA().fit(bags * 1e200)
    apart = np.array([[1e-100, 1e-100, 1e100], [0, 1e-100, 1e100], [0, 0, 0]])
    msda = MSDA(ridge=0).fit(apart)
    with pytest.raises(ValueError, match=r"Scale them down"):  # infinity minus infinity
        msda.transform(np.array([[1e300, -1e300, 0]]))
    with pytest.raises(ValueError, match="row 3 has nan"):
        MSDA().fit(np.where(np.arange(130)[:, None] == 3, np.nan, bags))


def test_uninitialized_memory_does_not_matter(monkeypatch):
    bags = some_bags()
    expected = MSDA(n_layers=1).fit(bags).layers_[0]
    empty = np.empty

    def full(shape, dtype=float, **how):
        made = empty(shape, dtype, **how)
        if made.dtype.kind == "f":
            made.fill(np.finfo(made.dtype).max)
        return made

    monkeypatch.setattr(np, "empty", full)
    assert_array_equal(MSDA(n_layers=1).fit(bags).layers_[0], expected)
    assert np.isfinite(MSDA(n_layers=1, ridge=0).fit(bags * 1e-150).layers_[0]).all()


def test_singular_equations_raise():
    twins = np.column_stack([THREE, THREE[:, 0]])
    with pytest.raises(ValueError, match=r"layer 1 are singular with noise=0 and ridge=0.*Raise"):
        MSDA(noise=0, ridge=0).fit(twins)
    with pytest.raises(ValueError, match=r"layer 1 are singular"):
        MSDA(noise=0, ridge=0).fit([[1.0], [1.0]])  # the column equals the bias
    [found] = MSDA(noise=0, ridge=1e-8, n_layers=1).fit(twins).layers_
    assert_allclose(with_bias(twins) @ found, twins, atol=1e-6)
    assert MSDA(noise=0.1, ridge=0).fit(twins).transform(twins).shape == (3, 12)


def test_too_little_memory_raises_before_allocation():
    bags = sparse.csr_array(([1.0], ([0], [5])), shape=(2, 1_000_000))
    with pytest.raises(ValueError, match=r"about 67055\.3 GB.*Choose n_components="):
        MSDA().fit(bags)
    with pytest.raises(ValueError, match=r"n_components=100000 need about .*Lower it, drop"):
        MSDA(100_000).fit(bags)
    few = MSDA(2, memory="100MB").fit(bags)
    assert few.transform(bags).shape == (2, 1_000_006)
    with pytest.raises(ValueError, match=r"99 documents of 1000006 numbers need .*include_input"):
        few.transform(sparse.csr_array((99, 1_000_000)))
    few.include_input = False
    assert few.transform(sparse.csr_array((99, 1_000_000))).shape == (99, 6)


def test_feature_names_out():
    frame = pd.DataFrame([[1.0, 0, 1], [1, 1, 0], [1, 1, 0]], columns=["cat", "dog", "car"])
    msda = MSDA(2, n_layers=2).set_output(transform="pandas").fit(frame)
    hidden = ["msda1_cat", "msda1_dog", "msda2_cat", "msda2_dog"]
    assert msda.transform(frame).columns.tolist() == ["cat", "dog", "car", *hidden]
    msda.include_input = False
    assert msda.get_feature_names_out().tolist() == hidden
    plain = MSDA(1, n_layers=1).fit(THREE)
    assert plain.get_feature_names_out().tolist() == ["x0", "x1", "msda1_x0"]
    assert plain.get_feature_names_out(["a", "b"]).tolist() == ["a", "b", "msda1_a"]
    with pytest.raises(ValueError, match="input_features"):
        plain.get_feature_names_out(["a"])
    with pytest.raises(NotFittedError):
        MSDA().get_feature_names_out()


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.coo_matrix, np.ndarray.tolist])
def test_all_array_types_and_dtypes_give_the_same(form):
    bags = some_bags()
    msda = MSDA(7).fit(bags)
    expected = msda.transform(bags)
    assert expected.dtype == np.float64
    again = MSDA(7).fit(form(bags))
    assert_array_equal(again.transform(bags), expected)
    if form is not np.ndarray.tolist:  # lists of Python floats are float64
        small = again.transform(form(bags.astype(np.float32)))
        assert small.dtype == np.float32
        assert_array_equal(small, expected.astype(np.float32))


def test_progress_and_interruption():
    bags = some_bags(300, 300)
    told = []
    msda = MSDA(260, n_layers=2).fit(bags, progress=lambda *steps: told.append(steps))
    # two blocks and a second layer, each in two panels of outputs
    assert told == [(step, 6) for step in range(1, 7)]
    told.clear()
    msda.transform(bags, progress=lambda *steps: told.append(steps))
    assert told[-1] == (300, 300)
    assert len(told) == 7

    def stop(_done, _total):
        raise KeyboardInterrupt

    before = vars(msda).copy()
    with pytest.raises(KeyboardInterrupt):
        msda.fit(bags[:, :270], progress=stop)
    assert vars(msda) == before
    with pytest.raises(KeyboardInterrupt):
        msda.transform(bags, progress=stop)
    assert interrupted(lambda: MSDA(260, n_layers=5).fit(bags))


def test_pickle_and_save(tmp_path):
    bags = some_bags()
    msda = MSDA(7, n_layers=2).fit(bags)
    expected = msda.transform(bags)
    assert_array_equal(pickle.loads(pickle.dumps(msda)).transform(bags), expected)
    msda.save(tmp_path / "model")
    for loaded in (MSDA.load(tmp_path / "model"), load_estimator(tmp_path / "model")):
        assert loaded.get_params() == msda.get_params()
        assert_array_equal(loaded.transform(bags), expected)
        assert_array_equal(loaded.get_feature_names_out(), msda.get_feature_names_out())


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("features_", lambda msda: msda.features_[::-1].copy(), "features_ must hold 7 columns"),
        ("features_", lambda msda: msda.features_ + 40, "features_ must hold 7 columns"),
        ("features_", lambda msda: msda.features_.astype(float), "features_ must hold 7 columns"),
        ("layers_", lambda msda: msda.layers_[:1], "layers_ must be a list of 2 arrays"),
        ("layers_", lambda msda: msda.layers_[0], "layers_ must be a list of 2 arrays"),
        ("layers_", lambda msda: msda.layers_[::-1], r"layers_\[0\] must hold finite numbers"),
        ("layers_", lambda msda: [msda.layers_[0], msda.layers_[1] / 0], r"layers_\[1\] must hold"),
        ("layers_", lambda msda: [msda.layers_[0], 3.0], "is invalid"),
    ],
)
def test_inconsistent_saved_model_raises(name, wrong, message, tmp_path):
    msda = MSDA(7, n_layers=2).fit(some_bags())
    with np.errstate(divide="ignore", invalid="ignore"):
        setattr(msda, name, wrong(msda))
    msda.save(tmp_path / "model")
    with pytest.raises(ValueError, match=message):
        MSDA.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components must be None or an integer"),
        ({"n_components": 2.5}, ValueError, "n_components must be None or an integer"),
        ({"n_components": 3}, ValueError, "at most the number of words, n_features = 2; got 3"),
        ({"noise": 1}, ValueError, "noise must be a number at least 0 and below 1; got 1"),
        ({"noise": "0.5"}, TypeError, "noise must be"),
        ({"n_layers": 0}, ValueError, "n_layers must be an integer at least 1"),
        ({"ridge": -1}, ValueError, "ridge must be a finite number at least 0"),
        ({"include_input": None}, ValueError, "include_input must be one of True, False"),
        ({"memory": "much"}, ValueError, "memory must be a size such as"),
        ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
    ],
)
def test_invalid_parameters_raise(wrong, error, message):
    with pytest.raises(error, match=message):
        MSDA(**wrong).fit(THREE)
