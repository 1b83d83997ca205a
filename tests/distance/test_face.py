"""What `distances` and `similarities` take, refuse and promise, whatever the metric."""

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
from textkin.distance import distances, edit_distance, similarities

VECTOR_CALLS = [
    *((distances, m) for m in ("cosine", "l1", "l2", "squared-l2", "hellinger", "jaccard")),
    (distances, "weighted-jaccard"),
    *((similarities, m) for m in ("inner", "cosine", "hellinger", "jaccard", "weighted-jaccard")),
]


@pytest.fixture(params=["dense", "sparse"])
def bags(request):
    dense = np.random.default_rng(0).poisson(0.3, (700, 30)).astype(np.float64) / 3
    return dense if request.param == "dense" else sparse.csr_array(dense)


@pytest.mark.parametrize(("function", "metric"), VECTOR_CALLS)
def test_any_number_of_threads_gives_the_same_bits(function, metric, bags):
    one = function(bags, metric=metric)
    assert one.dtype == np.float64
    for n_jobs in (2, 5, -1):
        assert_array_equal(function(bags, metric=metric, n_jobs=n_jobs), one)


@pytest.mark.parametrize(("function", "metric"), VECTOR_CALLS)
def test_the_working_memory_changes_nothing_but_last_bits(function, metric, bags):
    small = function(bags[:50], metric=metric, working_memory=4096)
    np.testing.assert_allclose(small, function(bags[:50], metric=metric), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(("function", "metric"), VECTOR_CALLS)
def test_a_batch_equals_its_rows(function, metric, bags):
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
def test_every_form_gives_the_same(form):
    X = np.array([[2, 0, 1], [0, 0, 0], [1, 3, 0]])
    for function, metric in VECTOR_CALLS:
        np.testing.assert_allclose(
            function(form(X), metric=metric), function(X, metric=metric), rtol=1e-14, atol=1e-15
        )


def test_a_one_row_slice_is_a_row():
    X = sparse.csr_array([[1.0, 0.0], [0.0, 1.0]])
    assert distances(X[0], X).tolist() == [[0, 1]]


def test_unsorted_repeated_and_stored_zeros():
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


def test_no_rows():
    nothing = sparse.csr_array((0, 3))
    some = np.ones((2, 3))
    for function, metric in VECTOR_CALLS:
        assert function(nothing, some, metric).shape == (0, 2)
        assert function(some, np.ones((0, 3)), metric).shape == (2, 0)
    assert distances([], ["a"], "edit").shape == (0, 1)


@pytest.mark.parametrize(("name", "same"), [("manhattan", "l1"), ("cityblock", "l1")])
@pytest.mark.parametrize(("other", "also"), [("euclidean", "l2"), ("sqeuclidean", "squared-l2")])
def test_other_names(name, same, other, also):
    X = np.array([[1.0, 2.0], [3.0, 5.0]])
    assert_array_equal(distances(X, metric=name), distances(X, metric=same))
    assert_array_equal(distances(X, metric=other), distances(X, metric=also))


def test_the_top_level_has_them():
    assert tk.distances([[1, 0]], [[0, 1]]) == 1
    assert tk.similarities([[1, 0]], [[0, 1]]) == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: distances([[1, 2]], [[1, 2, 3]]), ValueError, "same columns; got 2 and 3"),
        (lambda: distances([[1, np.nan]]), ValueError, "NaN"),
        (lambda: distances(sparse.csr_array([[1, np.inf]])), ValueError, "infinity"),
        (lambda: distances([[1, -2]], metric="hellinger"), ValueError, r"below 0.*-2"),
        (lambda: similarities([[1, -2]], metric="weighted-jaccard"), ValueError, "below 0"),
        (lambda: distances([[1]], metric="inner"), ValueError, "use similarities"),
        (lambda: similarities([[1]], metric="euclidean"), ValueError, "use distances"),
        (lambda: distances([[1]], metric="wmd"), ValueError, "must be one of 'cosine'.*got 'wmd'"),
        (lambda: distances([[1]], metric=2), ValueError, "must be one of.*got 2"),
        (lambda: distances([1, 2]), ValueError, "2D array"),
        (lambda: distances(["a text"]), TypeError, "got text.*BagOfWords"),
        (lambda: distances("a text"), TypeError, "got text"),
        (lambda: distances([["a", "b"]]), TypeError, "metric='edit'"),
        (lambda: distances([[1]], n_jobs=0), ValueError, "n_jobs must not be 0"),
        (lambda: distances([[1]], working_memory="much"), ValueError, "a size such as"),
        (lambda: distances("abc", metric="edit"), TypeError, "list of sequences.*got str"),
        (lambda: distances(7, metric="edit"), TypeError, "list of sequences.*got int"),
        (lambda: distances(["a", 7], metric="edit"), TypeError, "position 1 has int"),
        (lambda: distances([[["a"]]], metric="edit"), TypeError, "position 0 has list"),
    ],
)
def test_wrong_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_is_told_and_can_stop(n_jobs, bags):
    told = []
    distances(bags, n_jobs=n_jobs, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (700, 700)
    assert told == sorted(told)

    def enough(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        distances(bags, n_jobs=n_jobs, progress=enough)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c(n_jobs):
    rng = np.random.default_rng(0)
    sequences = [rng.integers(0, 50, 60_000) for _ in range(300)]
    before = threading.active_count()
    # alone it would take hours
    assert interrupted(lambda: distances(sequences, metric="edit", n_jobs=n_jobs))
    assert threading.active_count() == before


def textbook(a, b):
    """The table of the dynamic programme."""
    above = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
        above = row
    return above[-1]


@pytest.mark.parametrize("seed", range(6))
def test_edit_equals_the_textbook(seed):
    rng = np.random.default_rng(seed)
    sequences = [
        "".join(rng.choice(list("abcdé"), rng.integers(0, length)))
        for length in (1, 3, 9, 63, 65, 130, 200)
    ]
    expected = [[textbook(a, b) for b in sequences] for a in sequences]
    for n_jobs in (1, 2):
        found = distances(sequences, metric="edit", n_jobs=n_jobs, working_memory=300)
        assert found.tolist() == expected
    longer = [[max(len(a), len(b), 1) for b in sequences] for a in sequences]
    alike = 1 - np.array(expected) / longer
    assert_array_equal(similarities(sequences, metric="edit"), alike)
    assert edit_distance(sequences[3], sequences[5]) == expected[3][5]


def test_edit_of_the_reference_and_of_nothing():
    """METHODS 3."""
    assert edit_distance("kitten", "sitting") == 3
    assert similarities(["kitten"], ["sitting"], "edit") == 1 - 3 / 7
    assert edit_distance("", "") == 0
    assert edit_distance("", "abc") == edit_distance("abc", "") == 3
    assert similarities([""], ["", "ab"], "edit").tolist() == [[1, 0]]


def test_edit_of_words_in_every_form():
    texts = ["the cat sat on the mat", "the dog sat", "", "sat sat the cat"]
    words = [text.split() for text in texts]
    expected = [[textbook(a, b) for b in words] for a in words]
    counter = tk.BagOfWords(stop_words=None).fit(texts)
    for X in (
        words,
        [tuple(w) for w in words],
        [np.array(w) for w in words],
        counter.tokens(texts),
    ):
        assert distances(X, metric="edit").tolist() == expected
        assert distances(X, X[:] if isinstance(X, list) else X, "edit").tolist() == expected


def test_tokens_of_another_vocabulary_are_refused():
    one = tk.BagOfWords(stop_words=None).fit(["a b"]).tokens(["a b"])
    other = tk.BagOfWords(stop_words=None).fit(["b c"]).tokens(["b c"])
    again = tk.BagOfWords(stop_words=None).fit(["a b"]).tokens(["b"])
    with pytest.raises(ValueError, match="same vocabulary"):
        distances(one, other, "edit")
    with pytest.raises(TypeError, match="both be Tokens"):
        distances(one, [["a"]], "edit")
    assert distances(one, again, "edit").tolist() == [[1]]


def test_blas_has_its_threads_back_after_calls_at_a_time():
    """Calls that overlap must not take each other's limit for the process's own."""

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    X = np.ones((2, 3))
    distances(X)
    before, during = threads(), []

    def nested(done, total):
        distances(X)
        during.extend(threads())

    distances(X, progress=nested)
    assert set(during) == {1}
    assert threads() == before


def test_edit_needs_no_memory_for_every_word_at_every_place():
    """One bit for each of 60,000 different words at each of 60,000 places would be 450 MB."""
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
    assert int(done.stdout) < 100_000  # KiB
