"""The rules of scikit-learn's neighbours, of estimators, and of input that is wrong."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline

from search_oracle import movers, random_corpus, sums_are_right
from support import interrupted
from textkin import BagOfWords, EmptyDocumentError, WordMover, WordVectors
from textkin.run import memory_in_bytes
from textkin.transport._corpus import ALGORITHMS

WORDS = ["the", "press", "media", "band", "Paris"]
MATRIX = np.array([[9, 1], [1, 1], [1, 2], [5, 5], [8, 8]], dtype=np.float32)
TEXTS = ["the press", "media media band", "Paris press media", "band"]
VECTORS = WordVectors(WORDS, MATRIX)


@pytest.fixture
def mover():
    return WordMover(VECTORS, n_neighbors=2).fit(TEXTS)


@pytest.fixture
def both(rng):
    """A mover, and scikit-learn's neighbours over all its distances; no two are equal."""
    table, bags = random_corpus(rng, 30, 60)
    queries = random_corpus(rng, 6, 60)[1]
    mover = WordMover(table, n_neighbors=4, radius=3.9).fit(bags)
    plain = NearestNeighbors(metric="precomputed", n_neighbors=4, radius=3.9)
    plain.fit(mover.pairwise(bags))
    return mover, queries, plain, mover.pairwise(queries, bags)


# ---------------------------------------------------------------- as scikit-learn


@pytest.mark.parametrize("n_neighbors", [None, 1, 29, np.int64(3)])
def test_kneighbors(both, n_neighbors):
    mover, queries, plain, distances = both
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
def test_radius_neighbors(both, radius, sort_results):
    mover, queries, plain, distances = both
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
def test_graphs(both, mode):
    mover, queries, plain, distances = both
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


def test_no_document_finds_itself_but_its_copies_do(mover):
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


def test_arrays_of_arrays_of_the_same_length(mover):
    distances, indices = mover.radius_neighbors(["press", "press"], 0.5)
    assert distances.shape == indices.shape == (2,)
    assert indices[1].tolist() == [0]
    assert mover.radius_neighbors([], 0.5)[0].shape == (0,)
    assert mover.kneighbors([], 2)[0].shape == (0, 2)
    assert mover.kneighbors_graph([]).shape == (0, 4)


@pytest.mark.parametrize("name", ["kneighbors", "kneighbors_graph"])
def test_wrong_numbers_of_neighbours_in_the_words_of_scikit_learn(both, name):
    mover, queries, plain, distances = both
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


def test_other_messages_of_scikit_learn(both):
    mover, queries, plain, distances = both
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


def test_an_empty_query_is_an_error_that_names_it(mover):
    for call in (
        mover.kneighbors,
        mover.radius_neighbors,
        mover.kneighbors_graph,
        mover.radius_neighbors_graph,
    ):
        with pytest.raises(EmptyDocumentError, match=r"Document 1 and 1 more of X") as caught:
            call(["press", "xyzzy", ""])
        assert caught.value.rows == (1, 2)


def test_empty_documents_of_the_corpus(mover):
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
def test_with_infinities_it_is_brute_force_over_all_pairs(case):
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


def test_not_fitted():
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
        {"masses": "sif"},
        {"masses": np.arange(1.0, 6.0)},
        {"cost": "sqeuclidean"},
        {"unit": True},
        {"stop_words": None},
        {"max_words_per_document": 1},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_corpus_read_otherwise_is_not_searched(mover, changes):
    before = mover.search("press media", 4)
    with pytest.raises(NotFittedError, match=r"changed since fit: call fit\(corpus\) again"):
        mover.set_params(**changes).search("press media", 4)
    with pytest.raises(NotFittedError, match="changed since fit"):
        pickle.loads(pickle.dumps(mover)).search("press media", 4)
    fresh = WordMover(**{**mover.get_params(), "n_jobs": 1}).fit(TEXTS)
    again = mover.fit(TEXTS).search("press media", 4)
    np.testing.assert_array_equal(again.distances, fresh.search("press media", 4).distances)
    assert before.certificate(0).verify().exact


def test_changing_back_is_as_if_nothing_had_happened(mover):
    before = mover.search("press media", 4).distances
    mover.set_params(cost="sqeuclidean").set_params(cost="".join(["eucl", "idean"]))
    np.testing.assert_array_equal(mover.search("press media", 4).distances, before)


@pytest.mark.parametrize(
    "changes", [{"n_jobs": 2}, {"empty": "inf"}, {"algorithm": "brute"}, {"memory": "1GB"}]
)
def test_other_parameters_count_at_once(mover, changes):
    before = mover.kneighbors(["press media"], 4)
    after = mover.set_params(**changes).kneighbors(["press media"], 4)
    np.testing.assert_array_equal(before, after)


def test_refitting_forgets(mover):
    mover.search("press")
    found = mover.fit(["band", "press"]).search("press", 5)
    assert found.indices[0].tolist() == [1, 0]


def test_a_fit_that_fails_changes_nothing(mover):
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
def test_copies_search_as_the_original(tmp_path, masses, searched):
    mover = WordMover(VECTORS, masses=masses, unit=True, empty="inf").fit(TEXTS)
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


def test_pickles_do_not_carry_what_can_be_made_again(mover):
    before = len(pickle.dumps(mover))
    mover.search("press")
    assert len(pickle.dumps(mover)) == before


def test_what_was_found_can_be_pickled(mover):
    found = mover.search(["press", "band"], 2)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.indices, found.indices)
    assert repr(again.stats) == repr(found.stats)
    with pytest.raises(ValueError, match="no corpus to make certificates with: search again"):
        again.certificate(0)
    proof = pickle.loads(pickle.dumps(found.certificate(0)))
    assert proof.verify().exact


def test_the_end_of_a_pipeline():
    pipeline = make_pipeline(
        BagOfWords(vocabulary=WORDS, lowercase=False, stop_words=None), WordMover(MATRIX)
    )
    pipeline.fit(TEXTS)
    bags = pipeline[:-1].transform(["press"])
    assert pipeline[-1].search(bags, 1).indices.tolist() == [[1]]


def test_counts_are_kept_small_where_that_is_exact():
    bags = WordMover(MATRIX)
    assert bags.fit(np.eye(5))._fitted_rows.counts.dtype == np.float32
    assert bags.fit(np.eye(5) / 3)._fitted_rows.counts.dtype == np.float64
    assert bags.fit(np.eye(5) * (2.0**24 + 1))._fitted_rows.counts.dtype == np.float64


# ---------------------------------------------------------------- wrong input


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"k": 0}, ValueError, "k must be .* at least 1; got 0"),
        ({"k": 2.5}, ValueError, "k must be .* whole number"),
        ({"radius": -1}, ValueError, "radius must be .* at least 0; got -1"),
        ({"radius": np.nan}, ValueError, "radius must be"),
        ({"radius": "far"}, ValueError, "radius must be"),
        ({"algorithm": "tree"}, ValueError, "algorithm must be one of 'auto', 'prefetch'"),
        ({"m": 20}, ValueError, "m is for algorithm='prefetch' alone; got m=20 with .*'auto'"),
        ({"m": 5, "algorithm": "prefetch"}, ValueError, "m must be at least k; got m=5 and k=10"),
        ({"m": 0, "algorithm": "prefetch"}, ValueError, "m must be"),
        ({"mask": [True]}, ValueError, r"each of the 4 documents; got shape \(1,\)"),
        ({"mask": [4]}, ValueError, "positions from 0 to 3; got 4 to 4"),
        ({"mask": [-1, 2]}, ValueError, "positions from 0 to 3; got -1 to 2"),
        ({"mask": [0.5]}, TypeError, "array of booleans, one for each document, or of positions"),
        ({"mask": [[1]]}, TypeError, "array of booleans"),
        ({"mask": "all"}, TypeError, "array of booleans"),
        ({"mask": np.ones(4, int)}, ValueError, r"different positions; got 1 4 times\..*boolean"),
        ({"mask": [0, 1, 1, 0]}, ValueError, "different positions; got 0 2 times.*boolean"),
        ({"mask": [3, 2, 3]}, ValueError, "different positions; got 3 2 times"),
    ],
)
def test_wrong_arguments(mover, arguments, error, message):
    with pytest.raises(error, match=message):
        mover.search("press", **arguments)


@pytest.mark.parametrize("k", [4, 5, 10**11, 2**62, 2**64, 2**70, 10**400])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_more_than_there_are_is_as_many_as_there_are(mover, algorithm, k):
    mover.fit([*TEXTS, ""])
    every = mover.search(["press", "xyzzy"], None, algorithm=algorithm)
    found = mover.search(["press", "xyzzy"], k, algorithm=algorithm)
    assert found.indices.shape == found.distances.shape == (2, min(k, 5))
    np.testing.assert_array_equal(found.indices[:, :4], every.indices)
    np.testing.assert_array_equal(found.distances[:, :4], every.distances)
    assert np.all(found.indices[:, 4:] == -1)
    assert found.counts.tolist() == [4, 0]
    assert repr(found) == repr(every)
    proof = found.certificate(0)
    proof.verify()
    assert proof.limit == (found.distances[0, 3] if k == 4 else np.inf)
    if algorithm == "prefetch":
        alike = mover.search(["press", "xyzzy"], k, algorithm=algorithm, m=k)
        np.testing.assert_array_equal(alike.indices, found.indices)
        some = mover.search(["press"], 1, algorithm=algorithm, m=k)
        np.testing.assert_array_equal(some.indices, found.indices[:1, :1])
        some.certificate(0).verify()
    with pytest.raises(ValueError, match="n_samples_fit"):
        mover.kneighbors(["press"], max(k, 6))


def test_one_query_is_not_one_queries(mover):
    with pytest.raises(IndexError, match="There is 1 query; got position 1"):
        mover.search("press")[1]


@pytest.mark.parametrize("name", ["search", "pairwise_below", "pairwise_neighbors"])
def test_progress_must_be_a_function(mover, name):
    with pytest.raises(TypeError, match=r"progress must be None or a function of \(done, total\)"):
        getattr(mover, name)(["press"], 1, progress=True)


def test_what_was_found_cannot_be_changed(mover):
    found = mover.search("press", 2)
    proof = found.certificate(0)
    for array in (
        found.indices,
        found.distances,
        *found[0],
        proof.verdicts,
        proof.values,
        proof.indices,
        proof.distances,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize("wrong", [1.5, 0.0, "a", None, slice(0, 1), (0, 0), [0]], ids=str)
def test_queries_are_named_by_position_one_at_a_time(mover, wrong):
    found = mover.search(["press", "band"], 2)
    for use in (found.certificate, found.__getitem__):
        with pytest.raises(TypeError, match="by its position, a whole number, one at a time; got"):
            use(wrong)
    with pytest.raises(IndexError, match="There are 2 queries; got position 2"):
        found[2]
    np.testing.assert_array_equal(found[np.int8(-1)][0], found[1][0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be a whole number at least 1; got 0"),
        ({"n_neighbors": "5"}, "n_neighbors must be"),
        ({"radius": -0.5}, "radius must be a finite number at least 0; got -0.5"),
        ({"algorithm": "fast"}, "algorithm must be one of 'auto'"),
        ({"memory": "much"}, "memory must be a size such as '512MB' or '2GB'"),
        ({"memory": 0}, "memory must be"),
        ({"memory": 2**70}, "memory must be .* at most 4611686018427387904; got 1180591620717"),
        ({"memory": "9999999TB"}, "at most 4611686018427387904 bytes .*; got '9999999TB'"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
    ],
)
def test_wrong_parameters_before_and_after_fit(mover, parameters, message):
    def use():
        mover.kneighbors(["press"])
        mover.radius_neighbors(["press"])

    def fit():
        mover.set_params(vectors=WordVectors(WORDS, MATRIX)).fit(TEXTS)
        use()

    mover.set_params(**parameters)
    with pytest.raises((TypeError, ValueError), match=message):
        use()
    with pytest.raises((TypeError, ValueError), match=message):
        fit()


@pytest.mark.parametrize(
    ("queries", "error", "message"),
    [
        (None, TypeError, "queries must be texts, lists of tokens or bags; got NoneType"),
        (["press", None], TypeError, "queries must hold texts or lists of tokens; position 1"),
        ({"press": 1}, TypeError, "queries must be a list of documents; got dict"),
        (np.eye(5), TypeError, "queries is a bag, but the vectors are named by words"),
        (3, TypeError, "queries must be texts, lists of tokens or bags; got int"),
        (b"press", TypeError, "queries must be texts; got bytes: decode it first"),
        (
            SimpleNamespace(columns=["text"], iloc=None),
            TypeError,
            r"queries must be a list of documents; got SimpleNamespace: .*df\['text'\].*read\(df\)",
        ),
    ],
)
def test_wrong_queries(mover, queries, error, message):
    with pytest.raises(error, match=message):
        mover.search(queries)


def test_unknown_words_can_be_refused(mover):
    mover.set_params(oov="error")
    with pytest.raises(ValueError, match="Document 1 of queries has words without a vector"):
        mover.search(["press", "xyzzy"])


def test_sizes():
    assert memory_in_bytes("2GB") == memory_in_bytes("2 GiB") == memory_in_bytes(2 << 30)
    assert memory_in_bytes("100b") == 100
    assert memory_in_bytes("0.5kb") == 512
    assert memory_in_bytes("4194304TB") == memory_in_bytes(2**62) == 2**62
    for large in ("4194305TB", f"{2**62 * 2}B", "9" * 400 + "B", 2**62 + 1, np.uint64(2**63)):
        with pytest.raises(ValueError, match=r"memory must be .*at most 4611686018427387904"):
            memory_in_bytes(large)
    for wrong in ("", "MB", "-1MB", "1 PB", "1e3MB", "0MB", -1, 0, 2.5, None, True):
        with pytest.raises((TypeError, ValueError), match="memory must be"):
            memory_in_bytes(wrong)


# ---------------------------------------------------------------- long work


@pytest.fixture
def work(rng):
    """Long queries over a corpus: a search of some seconds without bounds."""
    table = rng.normal(size=(2000, 50)).astype(np.float32)
    bags = np.zeros((120, 2000))
    for document in bags:
        document[rng.choice(2000, 120, replace=False)] = 1
    return WordMover(table, algorithm="brute").fit(bags), bags


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_can_be_stopped(work, n_jobs):
    mover, bags = work
    mover.set_params(n_jobs=n_jobs)

    def stop(done, total):
        raise RuntimeError("seen enough")

    with pytest.raises(RuntimeError, match="seen enough"):
        mover.search(bags, progress=stop)
    assert interrupted(lambda: mover.search(bags))
    assert mover.search(bags[:1], 1).indices.tolist() == [[0]]  # still usable


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("algorithm", ["auto", "brute", "prefetch"])
def test_progress_may_search_on_the_same_mover(work, algorithm, n_jobs):
    mover, bags = work
    mover.set_params(n_jobs=n_jobs, algorithm=algorithm)
    queries = bags[:8]
    expected = mover.search(queries, None)  # all distances: long enough to be called in between
    inner = []

    def search_again(done, total):
        if len(inner) < 2 or done == total:
            inner.append(mover.search(queries[:1], None))

    found = mover.search(queries, None, progress=search_again)
    assert len(inner) > 1
    for one in (found, *inner):
        np.testing.assert_array_equal(one.indices, expected.indices[: len(one)])
        np.testing.assert_array_equal(one.distances, expected.distances[: len(one)])
        sums_are_right(one)


@pytest.mark.parametrize("algorithm", ["auto", "brute", "prefetch"])
def test_several_threads_may_search_one_mover(work, algorithm):
    mover, bags = work
    mover.set_params(algorithm=algorithm, n_jobs=2)
    parts = [bags[begin : begin + 1] for begin in range(4)]
    expected = [mover.search(part, 3) for part in parts]
    alone = pickle.loads(pickle.dumps(mover))  # has nothing ready yet: all come first
    start = threading.Barrier(len(parts))

    def search(part):
        start.wait()
        return [alone.search(part, 3) for _ in range(2)]

    with ThreadPoolExecutor(len(parts)) as threads:
        answers = list(threads.map(search, parts))
    for found, plain in zip(answers, expected, strict=True):
        for one in found:
            np.testing.assert_array_equal(one.indices, plain.indices)
            np.testing.assert_array_equal(one.distances, plain.distances)
            sums_are_right(one)
