"""Tests of scikit-learn's neighbor interface and of estimator rules."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline

from search_reference import movers, random_corpus
from textkin import BagOfWords, WordMover, WordVectors
from textkin.exceptions import EmptyDocumentError

WORDS = ["the", "press", "media", "band", "Paris"]
MATRIX = np.array([[9, 1], [1, 1], [1, 2], [5, 5], [8, 8]], dtype=np.float32)
TEXTS = ["the press", "media media band", "Paris press media", "band"]
VECTORS = WordVectors(WORDS, MATRIX)


@pytest.fixture
def mover():
    return WordMover(VECTORS, n_neighbors=2).fit(TEXTS)


@pytest.fixture
def mover_and_sklearn(rng):
    """A mover, and scikit-learn's neighbors over all its distances; no two distances are equal."""
    table, bags = random_corpus(rng, 30, 60)
    queries = random_corpus(rng, 6, 60)[1]
    mover = WordMover(table, n_neighbors=4, radius=3.9).fit(bags)
    plain = NearestNeighbors(metric="precomputed", n_neighbors=4, radius=3.9)
    plain.fit(mover.pairwise(bags))
    return mover, queries, plain, mover.pairwise(queries, bags)


# ---------------------------------------------------------------- equality with scikit-learn


@pytest.mark.parametrize("n_neighbors", [None, 1, 29, np.int64(3)])
def test_kneighbors_equals_scikit_learn(mover_and_sklearn, n_neighbors):
    mover, queries, plain, distances = mover_and_sklearn
    for ours, theirs in ((queries, distances), (None, None)):
        found = mover.kneighbors(ours, n_neighbors)
        expected = plain.kneighbors(theirs, n_neighbors)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
        alone = mover.kneighbors(ours, n_neighbors, return_distance=False)
        np.testing.assert_array_equal(alone, expected[1])


@pytest.mark.parametrize("radius", [None, 0.0, 4.5, 1e9])
@pytest.mark.parametrize("sort_results", [False, True])
def test_radius_neighbors_equals_scikit_learn(mover_and_sklearn, radius, sort_results):
    mover, queries, plain, distances = mover_and_sklearn
    for ours, theirs in ((queries, distances), (None, None)):
        found = mover.radius_neighbors(ours, radius, sort_results=sort_results)
        expected = plain.radius_neighbors(theirs, radius, sort_results=sort_results)
        for one, other in zip(found, expected, strict=True):
            assert one.shape == other.shape
            assert one.dtype == other.dtype == object
            for ours_of, theirs_of in zip(one, other, strict=True):
                np.testing.assert_array_equal(ours_of, theirs_of)
        if not sort_results:
            alone = mover.radius_neighbors(ours, radius, return_distance=False)
            assert all(map(np.array_equal, alone, expected[1]))


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_graphs_equal_scikit_learn(mover_and_sklearn, mode):
    mover, queries, plain, distances = mover_and_sklearn
    for ours, theirs in ((queries, distances), (None, None)):
        pairs = [
            (mover.kneighbors_graph(ours, mode=mode), plain.kneighbors_graph(theirs, mode=mode)),
            (
                mover.radius_neighbors_graph(ours, mode=mode),
                plain.radius_neighbors_graph(theirs, mode=mode),
            ),
        ]
        for found, expected in pairs:
            assert found.shape == expected.shape
            assert found.format == "csr"
            np.testing.assert_array_equal(found.toarray(), expected.toarray())
            np.testing.assert_array_equal(found.indices, expected.indices)


def test_documents_find_their_copies_but_not_themselves(mover):
    mover.fit(["press", "press", "band", "press"])
    assert mover.kneighbors(return_distance=False).tolist() == [[1, 3], [0, 3], [0, 1], [0, 1]]
    assert [found.tolist() for found in mover.radius_neighbors(None, 0.0, False)] == [
        [1, 3],
        [0, 3],
        [],
        [0, 1],
    ]
    graph = mover.radius_neighbors_graph(radius=0.0, mode="distance")
    assert graph.nnz == 6  # explicit zeros


def test_radius_neighbors_of_equal_length_are_object_arrays(mover):
    distances, indices = mover.radius_neighbors(["press", "press"], 0.5)
    assert distances.shape == indices.shape == (2,)
    assert indices[1].tolist() == [0]
    assert mover.radius_neighbors([], 0.5)[0].shape == (0,)
    assert mover.kneighbors([], 2)[0].shape == (0, 2)
    assert mover.kneighbors_graph([]).shape == (0, 4)


@pytest.mark.parametrize("name", ["kneighbors", "kneighbors_graph"])
def test_invalid_n_neighbors_raises_as_in_scikit_learn(mover_and_sklearn, name):
    mover, queries, plain, distances = mover_and_sklearn
    for wrong in (0, -1, 1.5, 31):
        with pytest.raises((TypeError, ValueError)) as theirs:
            getattr(plain, name)(distances, wrong)
        with pytest.raises(type(theirs.value)) as ours:
            getattr(mover, name)(queries, wrong)
        assert str(ours.value) == str(theirs.value)
    with pytest.raises(ValueError, match="Expected") as theirs:
        getattr(plain, name)(None, 30)
    with pytest.raises(ValueError, match="Expected") as ours:
        getattr(mover, name)(None, 30)
    assert str(ours.value) == str(theirs.value)


def test_other_errors_are_as_in_scikit_learn(mover_and_sklearn):
    mover, queries, plain, distances = mover_and_sklearn
    for call in (
        lambda one, X: one.radius_neighbors(X, 1.0, False, True),
        lambda one, X: one.kneighbors_graph(X, mode="wrong"),
        lambda one, X: one.radius_neighbors_graph(X, mode="wrong"),
    ):
        with pytest.raises(ValueError, match="must be") as theirs:
            call(plain, distances)
        with pytest.raises(ValueError, match="must be") as ours:
            call(mover, queries)
        assert str(ours.value) == str(theirs.value)


# ---------------------------------------------------------------- empty documents


def test_empty_query_raises_error_that_names_it(mover):
    for call in (
        mover.kneighbors,
        mover.radius_neighbors,
        mover.kneighbors_graph,
        mover.radius_neighbors_graph,
    ):
        with pytest.raises(EmptyDocumentError, match=r"Document 1 and 1 more of X") as caught:
            call(["press", "xyzzy", ""])
        assert caught.value.rows == (1, 2)


def test_empty_documents_of_the_corpus_are_not_neighbors(mover):
    mover.fit([*TEXTS, "", "xyzzy"])
    assert mover.kneighbors(["press"], 4)[1].shape == (1, 4)
    with pytest.raises(ValueError, match=r"Expected n_neighbors <= 4, .*empty='inf'"):
        mover.kneighbors(["press"], 5)
    with pytest.raises(EmptyDocumentError, match="Document 4 and 1 more of the corpus") as caught:
        mover.kneighbors()
    assert caught.value.rows == (4, 5)
    with pytest.raises(ValueError, match="n_samples_fit = 6"):
        mover.kneighbors(["press"], 7)


@given(movers())
@settings(max_examples=40)
def test_empty_inf_equals_brute_force_over_all_pairs(case):
    mover, bags, queries = case
    distances = mover.pairwise(queries, bags)
    order = np.argsort(distances, axis=1, kind="stable")
    found, indices = mover.kneighbors(queries, len(bags))
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(found, np.take_along_axis(distances, order, axis=1))
    if len(bags) > 1:
        own = mover.pairwise(bags)
        others = np.array([[j for j in range(len(bags)) if j != i] for i in range(len(bags))])
        order = np.argsort(np.take_along_axis(own, others, axis=1), axis=1, kind="stable")
        expected = np.take_along_axis(others, order, axis=1)
        for k in (1, len(bags) - 1):
            found, indices = mover.kneighbors(None, k)
            np.testing.assert_array_equal(indices, expected[:, :k])
            np.testing.assert_array_equal(found, np.take_along_axis(own, indices, axis=1))
    near, at = mover.radius_neighbors(queries, 2.0)
    for row, (some, where) in enumerate(zip(near, at, strict=True)):
        np.testing.assert_array_equal(where, np.flatnonzero(distances[row] <= 2.0))
        np.testing.assert_array_equal(some, distances[row, where])


# ---------------------------------------------------------------- estimator rules


def test_methods_before_fit_raise():
    mover = WordMover(VECTORS)
    for call in (
        lambda: mover.search("press"),
        mover.kneighbors,
        mover.radius_neighbors,
        mover.kneighbors_graph,
        mover.radius_neighbors_graph,
    ):
        with pytest.raises(NotFittedError, match=r"not fitted yet: call fit\(corpus\)"):
            call()
    with pytest.raises(NotFittedError):
        clone(mover.fit(TEXTS)).search("press")


@pytest.mark.parametrize(
    "changes",
    [
        {"vectors": WordVectors(WORDS, MATRIX[::-1])},
        {"word_weights": "sif"},
        {"word_weights": np.arange(1.0, 6.0)},
        {"cost": "sqeuclidean"},
        {"unit": True},
        {"stop_words": None},
        {"max_words_per_document": 1},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_parameters_that_change_reading_require_another_fit(mover, changes):
    before = mover.search("press media", 4)
    with pytest.raises(NotFittedError, match=r"changed since fit: call fit\(corpus\) again"):
        mover.set_params(**changes).search("press media", 4)
    with pytest.raises(NotFittedError, match="changed since fit"):
        pickle.loads(pickle.dumps(mover)).search("press media", 4)
    fresh = WordMover(**{**mover.get_params(), "n_jobs": 1}).fit(TEXTS)
    again = mover.fit(TEXTS).search("press media", 4)
    np.testing.assert_array_equal(again.distances, fresh.search("press media", 4).distances)
    assert before.certificate(0).verify().exact


def test_parameters_changed_back_need_no_fit(mover):
    before = mover.search("press media", 4).distances
    mover.set_params(cost="sqeuclidean").set_params(cost="".join(["eucl", "idean"]))
    np.testing.assert_array_equal(mover.search("press media", 4).distances, before)


@pytest.mark.parametrize(
    "changes", [{"n_jobs": 2}, {"empty": "inf"}, {"algorithm": "brute"}, {"memory": "1GB"}]
)
def test_other_changed_parameters_apply_immediately(mover, changes):
    before = mover.kneighbors(["press media"], 4)
    after = mover.set_params(**changes).kneighbors(["press media"], 4)
    np.testing.assert_array_equal(before, after)


def test_refit_replaces_the_first_fit(mover):
    mover.search("press")
    found = mover.fit(["band", "press"]).search("press", 5)
    assert found.indices[0].tolist() == [1, 0]


def test_failed_fit_leaves_the_estimator_unchanged(mover):
    before = mover.search("press").distances
    for wrong in ([], ["press", 3]):
        with pytest.raises((TypeError, ValueError)):
            mover.fit(wrong)
    np.testing.assert_array_equal(mover.search("press").distances, before)
    bags = WordMover(MATRIX).fit(np.eye(5))
    with pytest.raises(ValueError, match=r"not negative; row 0 of X has -1\.0 in column 2"):
        bags.fit(np.eye(5) - np.eye(5, k=2))
    assert bags.n_documents_ == 5
    with pytest.raises(ValueError, match="finite and not negative; row 0 of queries"):
        bags.search(np.full((1, 5), np.inf))


@pytest.mark.parametrize("masses", ["nbow", "tfidf", np.arange(1.0, 6.0)], ids=str)
@pytest.mark.parametrize("searched", [False, True])
def test_copies_search_like_the_original(tmp_path, masses, searched):
    mover = WordMover(VECTORS, word_weights=masses, unit=True, empty="inf").fit(TEXTS)
    if searched:
        mover.search("press")
    joblib.dump(mover, tmp_path / "mover")
    copies = [
        pickle.loads(pickle.dumps(mover)),
        copy.deepcopy(mover),
        copy.copy(mover),
        joblib.load(tmp_path / "mover"),
    ]
    expected = mover.search(["press band", "media"], 4)
    for other in copies:
        found = other.search(["press band", "media"], 4)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.distances, expected.distances)


def test_pickles_omit_derived_objects(mover):
    before = len(pickle.dumps(mover))
    mover.search("press")
    assert len(pickle.dumps(mover)) == before


def test_results_can_be_pickled(mover):
    found = mover.search(["press", "band"], 2)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.indices, found.indices)
    assert repr(again.stats) == repr(found.stats)
    with pytest.raises(ValueError, match=r"A certificate requires the corpus.*Search again"):
        again.certificate(0)
    proof = pickle.loads(pickle.dumps(found.certificate(0)))
    assert proof.verify().exact


def test_word_mover_ends_a_pipeline():
    pipeline = make_pipeline(
        BagOfWords(vocabulary=WORDS, lowercase=False, stop_words=None), WordMover(MATRIX)
    )
    pipeline.fit(TEXTS)
    bags = pipeline[:-1].transform(["press"])
    assert pipeline[-1].search(bags, 1).indices.tolist() == [[1]]


def test_counts_are_stored_as_float32_if_exact():
    bags = WordMover(MATRIX)
    assert bags.fit(np.eye(5))._fitted_rows.counts.dtype == np.float32
    assert bags.fit(np.eye(5) / 3)._fitted_rows.counts.dtype == np.float64
    assert bags.fit(np.eye(5) * (2.0**24 + 1))._fitted_rows.counts.dtype == np.float64
