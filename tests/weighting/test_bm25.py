"""BM25 compared with its formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from textkin.text import BagOfWords
from textkin.weighting import BM25, bm25_saturation, inverse_document_frequency, term_frequency

COUNTS = arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.integers(0, 4)
)


def reference_score(bags, fitted_on, document, query, k1, b, idf, k3):
    """Compute the score of a document for a query, word by word."""
    n, mean = len(fitted_on), fitted_on.sum() / len(fitted_on)
    score = 0.0
    for w, times in enumerate(query):
        df = np.count_nonzero(fitted_on[:, w])
        if not (times and df and bags[document, w]):
            continue
        odds = (n - df + 0.5) / (df + 0.5)
        weight = np.log(1 + odds) if idf == "lucene" else np.log(odds)
        count, length = bags[document, w], bags[document].sum()
        weight *= count * (k1 + 1) / (count + k1 * (1 - b + b * length / mean))
        score += weight * (times if k3 is None else (k3 + 1) * times / (k3 + times))
    return score


@settings(max_examples=60)
@given(
    COUNTS,
    st.sampled_from([0, 0.5, 1.2, 3]),
    st.sampled_from([0, 0.75, 1]),
    st.sampled_from(["lucene", "okapi"]),
    st.sampled_from([None, 0, 7.0]),
)
def test_product_with_query_weights_equals_reference_score(bags, k1, b, idf, k3):
    bm25 = BM25(k1, b, idf=idf, k3=k3).fit(bags)
    # documents of other lengths than the fitted ones
    new = np.flipud(bags) + (np.arange(bags.shape[1]) == 0)
    queries = np.roll(bags, 1, axis=1)
    scores = (bm25.transform_queries(queries) @ bm25.transform(new).T).toarray()
    for q, query in enumerate(queries):
        for d in range(len(new)):
            expected = reference_score(new, bags, d, query, k1, b, idf, k3)
            assert_allclose(scores[q, d], expected, rtol=1e-12, atol=1e-12)


def test_idf_and_scores_match_worked_example():
    """Check the example of METHODS.md, section 2.3."""
    counter = BagOfWords(stop_words=None)
    texts = ["cat sat mat", "cat cat dog", "dog barked", "bird sang song loud"]
    bags = counter.fit_transform(texts).astype(np.float64)
    cat, bird = counter.vocabulary_.lookup(["cat", "bird"])
    lucene, okapi = BM25().fit(bags), BM25(idf="okapi").fit(bags)
    assert lucene.average_length_ == 3
    assert_allclose(lucene.idf_[[cat, bird]], [0.6931472, 1.2039728], atol=5e-8)
    assert_allclose(okapi.idf_[[cat, bird]], [0, 0.8472979], atol=5e-8)
    assert_allclose(bm25_saturation([1, 2, 1], [3, 3, 4], 3), [1.0, 1.375, 0.88])
    queries = counter.transform(["cat", "bird"]).astype(np.float64)
    scores = (lucene.transform_queries(queries) @ lucene.transform(bags).T).toarray()
    expected = [[0.6931472, 0.9530774, 0, 0], [0, 0, 0, 1.0594961]]
    assert_allclose(scores, expected, atol=5e-8)


def test_okapi_idf_can_be_negative():
    assert inverse_document_frequency([3], 4, idf="okapi") < 0
    assert inverse_document_frequency([4], 4, idf="lucene") > 0
    weighted = BM25(idf="okapi").fit_transform([[1, 1], [1, 0], [1, 0]])
    assert weighted.toarray()[0, 0] < 0


def test_unseen_words_and_empty_documents_score_zero():
    bm25 = BM25().fit([[1, 0], [2, 0]])
    assert bm25.transform([[0, 5]]).nnz == 0
    nothing = BM25().fit(np.zeros((2, 2)))
    assert nothing.average_length_ == 0
    assert_array_equal(nothing.transform([[1, 2]]).toarray(), [[0, 0]])


def test_saturation_of_absent_words_is_zero():
    assert_array_equal(bm25_saturation([0, 0, 2], [0, 4, 4], 2, k1=0), [0, 0, 1])


@pytest.mark.parametrize("average", [0, -1, np.nan, np.inf])
def test_invalid_average_length_raises(average):
    with pytest.raises(ValueError, match="average_length must be a finite number above 0"):
        bm25_saturation([1], [1], average)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"k1": -1}, ValueError, "k1 must be a finite number at least 0; got -1"),
        ({"b": 1.5}, ValueError, "b must be a finite number at least 0 and at most 1; got 1.5"),
        ({"idf": "one"}, ValueError, "idf must be one of None, 'lucene', 'okapi'.*; got 'one'"),
        ({"variant": "okapi"}, ValueError, "variant must be one of 'standard', 'robertson'"),
        ({"delta": 1.0}, ValueError, "delta must be None for variant='standard'; got 1.0"),
        ({"variant": "bm25+", "delta": -1.0}, ValueError, "delta must be"),
        ({"idf_floor": "zero"}, ValueError, "idf_floor must be"),
        ({"k3": -1}, ValueError, "k3 must be None or a finite number at least 0"),
        ({"norm": "max"}, ValueError, "norm must be one of"),
        ({"k1": "1"}, TypeError, "k1 must be a finite number"),
    ],
)
def test_invalid_parameters_raise(params, error, message):
    with pytest.raises(error, match=message):
        BM25(**params).fit([[1]])


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1])
def test_invalid_counts_or_lengths_raise(wrong):
    with pytest.raises(ValueError, match="counts must be finite"):
        bm25_saturation([1, wrong], [3, 3], 3)
    with pytest.raises(ValueError, match="lengths must be finite"):
        bm25_saturation([1, 1], [3, wrong], 3)
    with pytest.raises(ValueError, match="largest must be finite"):
        term_frequency([1, 1], "max", largest=[1, wrong])


def test_largest_parameters_do_not_overflow():
    bags = np.array([[2.0, 0], [0, 3.0], [0, 1.0]])
    bm25 = BM25(1.7e308, b=0, k3=1.7e308).fit(bags)
    assert_allclose(bm25.transform(bags).toarray(), bags * bm25.idf_)
    assert_allclose(bm25.transform_queries(bags).toarray(), bags)
