"""Measures compared with brute force over all distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import textkin as tk
from textkin.corpus import TokenVectors
from textkin.distance._nearest import nearest_rows, rows_below
from textkin.learn._documents import are_numbers, listed, part, size
from textkin.learn._measure import make_measure

TEXTS = [
    "Cats purr on the mat",
    "A kitten sleeps on the sofa",
    "Stocks fell sharply on Monday",
    "The market lost five percent",
    "The",
    "Dogs bark at night",
    "Cats purr on the mat",
    "Investors sold their shares",
]
METRICS = ["wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd", "cosine", "l1", "l2", "jaccard"]


def brute(matrix, k, own):
    """Return the k nearest columns of each row, ties by position, without infinite distances."""
    found = []
    for row, values in enumerate(matrix):
        order = [i for i in np.argsort(values, kind="stable") if np.isfinite(values[i])]
        if own:
            order = [i for i in order if i != row]
        found.append(order[:k])
    return found


@pytest.mark.parametrize("metric", [*METRICS, "hellinger", "weighted-jaccard", "edit"])
def test_nearest_and_below_equal_brute_force(metric):
    measure = make_measure(metric).fit(TEXTS)
    rows = np.arange(len(TEXTS))
    matrix = measure.between(rows, rows)
    found = measure.nearest(None, 3)
    assert [f.tolist() for f, _ in found] == brute(matrix, 3, own=True)
    for row, (columns, distances) in enumerate(found):
        np.testing.assert_allclose(distances, matrix[row, columns], rtol=1e-9, atol=1e-12)
    asked = measure.nearest(TEXTS[:3], 3)
    assert [f.tolist() for f, _ in asked] == brute(matrix[:3], 3, own=False)
    threshold = float(np.median(matrix[np.isfinite(matrix)]))
    pairs = {
        (row, column)
        for block in measure.below(threshold)
        for row, column in zip(block.rows.tolist(), block.columns.tolist(), strict=True)
    }
    upper = np.triu(matrix <= threshold, 1)
    assert pairs == set(zip(*(x.tolist() for x in np.nonzero(upper)), strict=True))
    between = {
        (row, column)
        for block in measure.below(threshold, TEXTS[:3])
        for row, column in zip(block.rows.tolist(), block.columns.tolist(), strict=True)
    }
    assert between == set(
        zip(*(x.tolist() for x in np.nonzero(matrix[:3] <= threshold)), strict=True)
    )


@pytest.mark.parametrize("metric", METRICS)
def test_empty_documents_find_nothing_and_are_not_found(metric):
    # Only for "edit", "The" is a word like any other.
    measure = make_measure(metric).fit(TEXTS)
    assert measure.empty.tolist() == [text == "The" for text in TEXTS]
    found = measure.nearest(["the", "kittens purr"], 99)
    assert len(found[0][0]) == 0
    assert 4 not in found[1][0]


def test_batches_equal_single_documents():
    random = np.random.default_rng(1)
    X, Q = random.normal(size=(301, 37)), random.normal(size=(101, 37))
    for metric in ("cosine", "l2", "l1", "squared-l2"):
        many = nearest_rows(Q, X, metric, 7)
        for row in (0, 47, 48, 100):
            rows, distances = nearest_rows(Q[row : row + 1], X, metric, 7)[0]
            np.testing.assert_array_equal(rows, many[row][0])
            np.testing.assert_array_equal(distances, many[row][1])


@settings(deadline=None, max_examples=30)
@given(
    n=st.integers(1, 60),
    m=st.integers(1, 60),
    k=st.integers(1, 70),
    metric=st.sampled_from(["cosine", "l1", "l2", "jaccard", "hellinger"]),
    is_sparse=st.booleans(),
    jobs=st.integers(1, 2),
    seed=st.integers(0, 99),
)
def test_nearest_rows_equal_the_full_matrix(n, m, k, metric, is_sparse, jobs, seed):
    random = np.random.default_rng(seed)
    X, Y = (random.integers(0, 3, size=(rows, 4)).astype(float) for rows in (n, m))
    matrix = tk.pairwise_distances(X, Y, metric)
    if is_sparse:
        X, Y = sparse.csr_array(X), sparse.csr_array(Y)
    found = nearest_rows(X, Y, metric, k, n_jobs=jobs, memory=4096)
    for row, (rows, distances) in enumerate(found):
        assert len(rows) == min(k, m)
        np.testing.assert_allclose(distances, np.sort(matrix[row])[:k], atol=1e-12)
        np.testing.assert_allclose(distances, matrix[row, rows], atol=1e-12)
    pairs = [
        (begin + at, column)
        for begin, near in rows_below(X, Y, metric, 0.5, n_jobs=jobs, memory=4096)
        for at, (columns, _) in enumerate(near)
        for column in columns.tolist()
    ]
    safe = np.abs(matrix - 0.5) > 1e-9
    assert {p for p in pairs if safe[p]} == set(
        zip(*(x.tolist() for x in np.nonzero((matrix <= 0.5) & safe)), strict=True)
    )


def test_tokens_lists_and_documents_are_accepted():
    documents = [["cat", "purr"], ["dog", "bark"], []]
    for metric in ("wmd", "cosine", "edit"):
        measure = make_measure(metric).fit(listed(documents))
        assert measure.empty.tolist() == [False, False, True]
        assert measure.nearest([["cat", "bark", "purr"]], 1)[0][0].tolist() == [0]
    token_vectors = [TokenVectors([[1, 0], [0, 1]]), TokenVectors([[1, 1]])]
    measure = make_measure(tk.TokenMover()).fit(listed(token_vectors))
    assert measure.nearest(None, 5)[0][0].tolist() == [1]


def test_models_make_the_vectors():
    pooled = make_measure("cosine", model=tk.Pooling(stop_words="smart")).fit(TEXTS)
    assert pooled.empty.tolist() == [text == "The" for text in TEXTS]
    assert pooled.nearest(["the shares of investors"], 1)[0][0].tolist() == [7]
    bags = tk.BagOfWords().fit_transform(TEXTS)
    lsi = make_measure("cosine", model=tk.LSI(2)).fit(listed(bags))
    assert lsi.vectors.shape == (len(TEXTS), 2)


def test_contradicting_parameters_raise():
    with pytest.raises(ValueError, match="takes no model"):
        make_measure("wmd", model=tk.LSI(2))
    with pytest.raises(ValueError, match="vectors are for transport"):
        make_measure("cosine", vectors=np.ones((3, 3)))
    with pytest.raises(ValueError, match="its own settings"):
        make_measure(tk.WordMover(), vectors=np.ones((3, 3)))
    with pytest.raises(TypeError, match="got texts"):
        make_measure("cosine").fit(np.eye(3)).nearest(TEXTS, 1)
    with pytest.raises(TypeError, match="got numbers"):
        make_measure("cosine").fit(TEXTS).nearest(np.eye(3), 1)


def test_listed_accepts_all_collections():
    assert listed(iter(TEXTS)) == TEXTS
    assert size(listed(np.eye(3))) == 3
    assert are_numbers(listed([[1, 2], [3, 4]]))
    assert part(TEXTS, [2, 0]) == [TEXTS[2], TEXTS[0]]
    assert listed(np.array(TEXTS)) == TEXTS
    for wrong in ("a text", b"bytes", {"a": 1}, 7):
        with pytest.raises(TypeError, match="X must hold"):
            listed(wrong)


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("others", [["a text"], [["a", "list"]]])
def test_missing_text_raises_with_its_position(missing, others):
    with pytest.raises(TypeError, match=r"position 0 holds .*a missing value: drop it"):
        listed([missing, *others])
    with pytest.raises(TypeError, match=r"position 1 holds .*a missing value: drop it"):
        listed([*others, missing])


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([b"a text"], r"got bytes: decode it first"),
        (np.array([["a", "cat"], ["a", "dog"]]), r"pass X\.tolist\(\)"),
        ([np.array(["a", "cat"]), np.array(["a", "dog"])], r"pass X\.tolist\(\)"),
    ],
    ids=["bytes", "array", "arrays"],
)
def test_arrays_of_strings_raise(documents, message):
    with pytest.raises(TypeError, match=message):
        listed(documents)


def test_invalid_words_raise():
    with pytest.raises(TypeError, match="lists of words; one holds int"):
        make_measure("cosine").fit([["cat", 5], ["dog"]])
    with pytest.raises(TypeError, match="position 1 holds int"):
        make_measure("edit").fit(["cat", 5])
