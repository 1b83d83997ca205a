"""Input, errors, and guarantees of pairwise distances and similarities, for all metrics."""

import subprocess
import sys
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from threadpoolctl import threadpool_info

import textkin as tk
from support import interrupted
from textkin.distance import edit_distance, pairwise_distances, pairwise_similarities

VECTOR_CALLS = [
    *(
        (pairwise_distances, m)
        for m in ("cosine", "l1", "l2", "squared-l2", "hellinger", "jaccard")
    ),
    (pairwise_distances, "weighted-jaccard"),
    *(
        (pairwise_similarities, m)
        for m in ("inner", "cosine", "hellinger", "jaccard", "weighted-jaccard")
    ),
]


@pytest.fixture(params=["dense", "sparse"])
def bags(request):
    dense = np.random.default_rng(0).poisson(0.3, (700, 30)).astype(np.float64) / 3
    return dense if request.param == "dense" else sparse.csr_array(dense)


@pytest.mark.parametrize(("function", "metric"), VECTOR_CALLS)
def test_n_jobs_gives_bit_identical_results(function, metric, bags):
    one = function(bags, metric=metric)
    assert one.dtype == np.float64
    for n_jobs in (2, 5, -1):
        assert_array_equal(function(bags, metric=metric, n_jobs=n_jobs), one)


@pytest.mark.parametrize(("function", "metric"), VECTOR_CALLS)
def test_memory_changes_only_last_bits(function, metric, bags):
    small = function(bags[:50], metric=metric, memory=4096)
    np.testing.assert_allclose(small, function(bags[:50], metric=metric), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(("function", "metric"), VECTOR_CALLS)
def test_rows_in_a_batch_equal_single_rows(function, metric, bags):
    batch = function(bags[:20], bags[20:40], metric)
    for position in (0, 7, 19):
        row = function(bags[[position]], bags[20:40], metric)
        np.testing.assert_allclose(row, batch[[position]], rtol=1e-13, atol=1e-15)
    if sparse.issparse(bags):
        assert_array_equal(row, batch[[position]])


@pytest.mark.parametrize(
    "form",
    [
        np.ndarray.tolist,
        sparse.csr_array,
        sparse.csr_matrix,
        sparse.coo_array,
        lambda X: X.astype(np.float32),
        lambda X: X.astype(np.int64),
        lambda X: sparse.csr_array(X.astype(np.uint8)),
        np.asfortranarray,
    ],
)
def test_all_array_types_give_the_same(form):
    X = np.array([[2, 0, 1], [0, 0, 0], [1, 3, 0]])
    for function, metric in VECTOR_CALLS:
        np.testing.assert_allclose(
            function(form(X), metric=metric), function(X, metric=metric), rtol=1e-14, atol=1e-15
        )


def test_one_row_slice_is_accepted():
    X = sparse.csr_array([[1.0, 0.0], [0.0, 1.0]])
    assert pairwise_distances(X[0], X).tolist() == [[0, 1]]


def test_unsorted_repeated_and_zero_entries_are_summed():
    untidy = sparse.csr_array(
        (np.array([1.0, 0.0, 2.0, 1.0]), np.array([3, 1, 0, 0]), np.array([0, 4])), shape=(1, 4)
    )
    tidy = np.array([[3.0, 0.0, 0.0, 1.0]])
    others = np.array([[1.0, 1.0, 1.0, 1.0], [3.0, 0.0, 0.0, 0.0]])
    for function, metric in VECTOR_CALLS:
        expected = function(tidy, others, metric)
        np.testing.assert_allclose(function(untidy, others, metric), expected, rtol=1e-14)
    assert untidy.data.tolist() == [1, 0, 2, 1]
    assert untidy.indices.tolist() == [3, 1, 0, 0]


def test_no_rows_give_empty_results():
    nothing = sparse.csr_array((0, 3))
    some = np.ones((2, 3))
    for function, metric in VECTOR_CALLS:
        assert function(nothing, some, metric).shape == (0, 2)
        assert function(some, np.ones((0, 3)), metric).shape == (2, 0)
    assert pairwise_distances([], ["a"], "edit").shape == (0, 1)


@pytest.mark.parametrize(("name", "same"), [("manhattan", "l1"), ("cityblock", "l1")])
@pytest.mark.parametrize(("other", "also"), [("euclidean", "l2"), ("sqeuclidean", "squared-l2")])
def test_metric_aliases_give_the_same(name, same, other, also):
    X = np.array([[1.0, 2.0], [3.0, 5.0]])
    assert_array_equal(pairwise_distances(X, metric=name), pairwise_distances(X, metric=same))
    assert_array_equal(pairwise_distances(X, metric=other), pairwise_distances(X, metric=also))


def test_functions_are_at_top_level():
    assert tk.pairwise_distances([[1, 0]], [[0, 1]]) == 1
    assert tk.pairwise_similarities([[1, 0]], [[0, 1]]) == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: pairwise_distances([[1, 2]], [[1, 2, 3]]),
            ValueError,
            "same columns; got 2 and 3",
        ),
        (lambda: pairwise_distances([[1, np.nan]]), ValueError, "NaN"),
        (lambda: pairwise_distances(sparse.csr_array([[1, np.inf]])), ValueError, "infinity"),
        (lambda: pairwise_distances([[1, -2]], metric="hellinger"), ValueError, r"below 0.*-2"),
        (
            lambda: pairwise_similarities([[1, -2]], metric="weighted-jaccard"),
            ValueError,
            "below 0",
        ),
        (
            lambda: pairwise_distances([[1]], metric="inner"),
            ValueError,
            "use pairwise_similarities",
        ),
        (
            lambda: pairwise_similarities([[1]], metric="euclidean"),
            ValueError,
            "use pairwise_distances",
        ),
        (
            lambda: pairwise_distances([[1]], metric="wmd"),
            ValueError,
            "must be one of 'cosine'.*got 'wmd'",
        ),
        (lambda: pairwise_distances([[1]], metric=2), ValueError, "must be one of.*got 2"),
        (lambda: pairwise_distances([1, 2]), ValueError, "2D array"),
        (lambda: pairwise_distances(["a text"]), TypeError, "got text.*BagOfWords"),
        (lambda: pairwise_distances("a text"), TypeError, "got text"),
        (lambda: pairwise_distances([["a", "b"]]), TypeError, "metric='edit'"),
        (lambda: pairwise_distances([[1]], n_jobs=0), ValueError, "n_jobs must not be 0"),
        (lambda: pairwise_distances([[1]], memory="much"), ValueError, "a size such as"),
        (lambda: pairwise_distances("abc", metric="edit"), TypeError, "list of sequences.*got str"),
        (lambda: pairwise_distances(7, metric="edit"), TypeError, "list of sequences.*got int"),
        (lambda: pairwise_distances(["a", 7], metric="edit"), TypeError, "position 1 has int"),
        (lambda: pairwise_distances([[["a"]]], metric="edit"), TypeError, "position 0 has list"),
    ],
)
def test_invalid_input_raises(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_is_reported_and_can_stop(n_jobs, bags):
    told = []
    pairwise_distances(bags, n_jobs=n_jobs, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (700, 700)
    assert told == sorted(told)

    def raise_error(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        pairwise_distances(bags, n_jobs=n_jobs, progress=raise_error)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_pairwise_distances(n_jobs):
    rng = np.random.default_rng(0)
    sequences = [rng.integers(0, 50, 60_000) for _ in range(300)]
    before = set(threading.enumerate())  # threads of other tests may end meanwhile
    # without Ctrl-C it would take hours
    assert interrupted(lambda: pairwise_distances(sequences, metric="edit", n_jobs=n_jobs))
    assert set(threading.enumerate()) <= before


def reference_edit_distance(a, b):
    """Compute the edit distance with the textbook table of dynamic programming."""
    above = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
        above = row
    return above[-1]


@pytest.mark.parametrize("seed", range(6))
def test_edit_distance_equals_reference(seed):
    rng = np.random.default_rng(seed)
    sequences = [
        "".join(rng.choice(list("abcdé"), rng.integers(0, length)))
        for length in (1, 3, 9, 63, 65, 130, 200)
    ]
    expected = [[reference_edit_distance(a, b) for b in sequences] for a in sequences]
    for n_jobs in (1, 2):
        found = pairwise_distances(sequences, metric="edit", n_jobs=n_jobs, memory=300)
        assert found.tolist() == expected
    longer = [[max(len(a), len(b), 1) for b in sequences] for a in sequences]
    alike = 1 - np.array(expected) / longer
    assert_array_equal(pairwise_similarities(sequences, metric="edit"), alike)
    assert edit_distance(sequences[3], sequences[5]) == expected[3][5]


def test_edit_distance_of_known_and_empty_sequences():
    """Check the example of METHODS.md, section 3."""
    assert edit_distance("kitten", "sitting") == 3
    assert pairwise_similarities(["kitten"], ["sitting"], "edit") == 1 - 3 / 7
    assert edit_distance("", "") == 0
    assert edit_distance("", "abc") == edit_distance("abc", "") == 3
    assert pairwise_similarities([""], ["", "ab"], "edit").tolist() == [[1, 0]]


def test_edit_distance_of_words_accepts_all_input_types():
    texts = ["the cat sat on the mat", "the dog sat", "", "sat sat the cat"]
    words = [text.split() for text in texts]
    expected = [[reference_edit_distance(a, b) for b in words] for a in words]
    counter = tk.BagOfWords(stop_words=None).fit(texts)
    for X in (
        words,
        [tuple(w) for w in words],
        [np.array(w) for w in words],
        counter.tokens(texts),
    ):
        assert pairwise_distances(X, metric="edit").tolist() == expected
        assert (
            pairwise_distances(X, X[:] if isinstance(X, list) else X, "edit").tolist() == expected
        )


def test_tokens_of_another_vocabulary_raise():
    one = tk.BagOfWords(stop_words=None).fit(["a b"]).tokens(["a b"])
    other = tk.BagOfWords(stop_words=None).fit(["b c"]).tokens(["b c"])
    again = tk.BagOfWords(stop_words=None).fit(["a b"]).tokens(["b"])
    with pytest.raises(ValueError, match="same vocabulary"):
        pairwise_distances(one, other, "edit")
    with pytest.raises(TypeError, match="both be Tokens"):
        pairwise_distances(one, [["a"]], "edit")
    assert pairwise_distances(one, again, "edit").tolist() == [[1]]


def test_overlapping_calls_restore_blas_threads():
    """Calls that overlap must not take another call's limit for the limit of the process."""

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    X = np.ones((2, 3))
    pairwise_distances(X)
    before, during = threads(), []

    def nested(done, total):
        pairwise_distances(X)
        during.extend(threads())

    pairwise_distances(X, progress=nested)
    assert set(during) == {1}
    assert threads() == before


def test_edit_distance_memory_is_below_one_bit_per_word_and_position():
    """Limit memory: 60,000 words times 60,000 positions, at one bit each, would need 450 MB."""
    program = """
import resource
from textkin.distance import edit_distance
edit_distance("a", "b")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert edit_distance(list(range(60_000)), ["x"]) == 60_000
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 100_000  # in KiB
