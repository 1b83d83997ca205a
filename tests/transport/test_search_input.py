"""Tests of invalid search arguments and of long searches."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from search_reference import assert_statistics_add_up, search_options
from support import interrupted
from textkin import WordMover, WordVectors
from textkin.run import memory_in_bytes
from textkin.transport._core_search import ALGORITHMS, TRANSPORT_METRICS

WORDS = ["the", "press", "media", "band", "Paris"]
MATRIX = np.array([[9, 1], [1, 1], [1, 2], [5, 5], [8, 8]], dtype=np.float32)
TEXTS = ["the press", "media media band", "Paris press media", "band"]
VECTORS = WordVectors(WORDS, MATRIX)


@pytest.fixture
def mover():
    return WordMover(VECTORS, n_neighbors=2).fit(TEXTS)


# ---------------------------------------------------------------- invalid input


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"k": 0}, ValueError, "k must be .* at least 1; got 0"),
        ({"k": 2.5}, ValueError, "k must be .* integer"),
        ({"radius": -1}, ValueError, "radius must be .* at least 0; got -1"),
        ({"radius": np.nan}, ValueError, "radius must be"),
        ({"radius": "far"}, ValueError, "radius must be"),
        ({"algorithm": "tree"}, ValueError, "algorithm must be one of 'auto', 'prefetch'"),
        ({"metric": "tree"}, ValueError, "metric must be one of 'wmd', 'rwmd', 'rwmd-query'"),
        (
            {"max_candidates": 20},
            ValueError,
            "requires metric='wmd' and algorithm='prefetch'; got max_candidates=20 with .*'auto'",
        ),
        (
            {"max_candidates": 5, "algorithm": "prefetch"},
            ValueError,
            "max_candidates must be at least k; got max_candidates=5 and k=10",
        ),
        ({"max_candidates": 0, "algorithm": "prefetch"}, ValueError, "max_candidates must be"),
        ({"mask": [True]}, ValueError, r"each of the 4 documents; got shape \(1,\)"),
        ({"mask": [4]}, ValueError, "positions from 0 to 3; got 4 to 4"),
        ({"mask": [-1, 2]}, ValueError, "positions from 0 to 3; got -1 to 2"),
        (
            {"mask": [0.5]},
            TypeError,
            "array of booleans, one per document, or an array of positions",
        ),
        ({"mask": [[1]]}, TypeError, "array of booleans"),
        ({"mask": "all"}, TypeError, "array of booleans"),
        (
            {"mask": np.ones(4, int)},
            ValueError,
            r"distinct positions; got 1 4 times\..*mask\.astype",
        ),
        ({"mask": [0, 1, 1, 0]}, ValueError, "distinct positions; got 0 2 times.*mask"),
        ({"mask": [3, 2, 3]}, ValueError, "distinct positions; got 3 2 times"),
    ],
)
def test_invalid_arguments_raise(mover, arguments, error, message):
    with pytest.raises(error, match=message):
        mover.search("press", **arguments)


@pytest.mark.parametrize("k", [4, 5, 10**11, 2**62, 2**64, 2**70, 10**400])
@pytest.mark.parametrize("algorithm", [*ALGORITHMS, *TRANSPORT_METRICS[1:]])
def test_k_above_the_number_of_documents_returns_all(mover, algorithm, k):
    mover.fit([*TEXTS, ""])
    every = mover.search(["press", "xyzzy"], None, **search_options(algorithm))
    found = mover.search(["press", "xyzzy"], k, **search_options(algorithm))
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
        alike = mover.search(["press", "xyzzy"], k, algorithm=algorithm, max_candidates=k)
        np.testing.assert_array_equal(alike.indices, found.indices)
        some = mover.search(["press"], 1, algorithm=algorithm, max_candidates=k)
        np.testing.assert_array_equal(some.indices, found.indices[:1, :1])
        some.certificate(0).verify()
    with pytest.raises(ValueError, match="n_samples_fit"):
        mover.kneighbors(["press"], max(k, 6))


def test_getitem_of_a_single_query_checks_the_position(mover):
    with pytest.raises(IndexError, match="must be below 1, the number of queries; got 1"):
        mover.search("press")[1]


@pytest.mark.parametrize("name", ["search", "pairwise_below", "pairwise_neighbors"])
def test_progress_that_is_not_callable_raises(mover, name):
    with pytest.raises(TypeError, match=r"progress must be None or a function of \(done, total\)"):
        getattr(mover, name)(["press"], 1, progress=True)


def test_results_are_read_only(mover):
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
def test_invalid_query_positions_raise(mover, wrong):
    found = mover.search(["press", "band"], 2)
    for use in (found.certificate, found.__getitem__):
        with pytest.raises(TypeError, match=r"must be given as one position \(an integer\); got"):
            use(wrong)
    with pytest.raises(IndexError, match="must be below 2, the number of queries; got 2"):
        found[2]
    np.testing.assert_array_equal(found[np.int8(-1)][0], found[1][0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be an integer at least 1; got 0"),
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
def test_invalid_parameters_raise_before_and_after_fit(mover, parameters, message):
    def search_neighbors():
        mover.kneighbors(["press"])
        mover.radius_neighbors(["press"])

    def fit_and_search():
        mover.set_params(vectors=WordVectors(WORDS, MATRIX)).fit(TEXTS)
        search_neighbors()

    mover.set_params(**parameters)
    with pytest.raises((TypeError, ValueError), match=message):
        search_neighbors()
    with pytest.raises((TypeError, ValueError), match=message):
        fit_and_search()


@pytest.mark.parametrize(
    ("queries", "error", "message"),
    [
        (None, TypeError, "queries must be texts, lists of tokens or bags; got NoneType"),
        (["press", None], TypeError, "queries must contain texts or lists of tokens; position 1"),
        ({"press": 1}, TypeError, "queries must be a list of documents; got dict"),
        (
            np.eye(5),
            TypeError,
            "queries is a document-term matrix, but the vectors are named by words",
        ),
        (3, TypeError, "queries must be texts, lists of tokens or bags; got int"),
        (b"press", TypeError, "queries must be texts; got bytes: decode it first"),
        (
            SimpleNamespace(columns=["text"], iloc=None),
            TypeError,
            r"queries must be a list of documents; got SimpleNamespace: .*df\['text'\].*read\(df\)",
        ),
    ],
)
def test_invalid_queries_raise(mover, queries, error, message):
    with pytest.raises(error, match=message):
        mover.search(queries)


def test_unknown_words_raise_on_request(mover):
    mover.set_params(oov="error")
    with pytest.raises(ValueError, match="Document 1 of queries has words without a vector"):
        mover.search(["press", "xyzzy"])


def test_memory_in_bytes_parses_sizes():
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


# ---------------------------------------------------------------- long searches


@pytest.fixture
def work(rng):
    """Long queries over a corpus; a search without bounds takes seconds."""
    table = rng.normal(size=(2000, 50)).astype(np.float32)
    bags = np.zeros((120, 2000))
    for document in bags:
        document[rng.choice(2000, 120, replace=False)] = 1
    return WordMover(table, algorithm="brute").fit(bags), bags


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_exception_in_progress_stops_the_search(work, n_jobs):
    mover, bags = work
    mover.set_params(n_jobs=n_jobs)

    def stop(done, total):
        raise RuntimeError("seen enough")

    with pytest.raises(RuntimeError, match="seen enough"):
        mover.search(bags, progress=stop)
    assert interrupted(lambda: mover.search(bags))
    assert mover.search(bags[:1], 1).indices.tolist() == [[0]]  # the mover is still usable


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("algorithm", ["auto", "brute", "prefetch"])
def test_progress_callback_can_search_with_the_same_mover(work, algorithm, n_jobs):
    mover, bags = work
    mover.set_params(n_jobs=n_jobs, algorithm=algorithm)
    queries = bags[:8]
    # all distances take long enough for the callback to be called
    expected = mover.search(queries, None)
    inner = []

    def search_again(done, total):
        if len(inner) < 2 or done == total:
            inner.append(mover.search(queries[:1], None))

    found = mover.search(queries, None, progress=search_again)
    assert len(inner) > 1
    for one in (found, *inner):
        np.testing.assert_array_equal(one.indices, expected.indices[: len(one)])
        np.testing.assert_array_equal(one.distances, expected.distances[: len(one)])
        assert_statistics_add_up(one)


@pytest.mark.parametrize("algorithm", ["auto", "brute", "prefetch"])
def test_threads_can_share_a_mover(work, algorithm):
    mover, bags = work
    mover.set_params(algorithm=algorithm, n_jobs=2)
    parts = [bags[begin : begin + 1] for begin in range(4)]
    expected = [mover.search(part, 3) for part in parts]
    alone = pickle.loads(pickle.dumps(mover))  # has no cached state, so that all threads build it
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
            assert_statistics_add_up(one)
