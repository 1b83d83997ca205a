"""A search that is asked wrongly, and one that takes long."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from search_oracle import sums_are_right
from support import interrupted
from textkin import WordMover, WordVectors
from textkin.run import memory_in_bytes
from textkin.transport._corpus import ALGORITHMS

WORDS = ["the", "press", "media", "band", "Paris"]
MATRIX = np.array([[9, 1], [1, 1], [1, 2], [5, 5], [8, 8]], dtype=np.float32)
TEXTS = ["the press", "media media band", "Paris press media", "band"]
VECTORS = WordVectors(WORDS, MATRIX)


@pytest.fixture
def mover():
    return WordMover(VECTORS, n_neighbors=2).fit(TEXTS)


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
