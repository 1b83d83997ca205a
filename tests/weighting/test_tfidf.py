"""Tests of the variants of TF-IDF."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import TfidfTransformer

from textkin.weighting import TfIdf, inverse_document_frequency, term_frequency

COUNTS = arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.integers(0, 4)
)
IDF = {
    "gensim": lambda df, n: np.log2(n / df),
    "lecture": lambda df, n: np.log2(n / df),
    "wmd": lambda df, n: 1 / df,
    "sklearn": lambda df, n: np.log((n + 1) / (df + 1)) + 1,
    "sklearn-unsmoothed": lambda df, n: np.log(n / df) + 1,
    "wtmf": lambda df, n: np.log(n / (df + 1)),
}


def reference_tfidf(bags, variant, norm):
    """Weight entry by entry, by the table of METHODS.md, section 2.2."""
    weighted = np.zeros(bags.shape)
    for d, w in zip(*np.nonzero(bags), strict=True):
        tf = bags[d, w] / (bags[d].max() if variant == "lecture" else 1)
        weighted[d, w] = tf * IDF[variant](np.count_nonzero(bags[:, w]), len(bags))
    sizes = {"l1": np.abs(weighted).sum(1), "l2": np.sqrt((weighted**2).sum(1))}.get(norm)
    if sizes is not None:
        weighted[sizes > 0] /= sizes[sizes > 0, None]
    return weighted


@settings(max_examples=100)
@given(COUNTS, st.sampled_from(list(IDF)), st.sampled_from(["l1", "l2", None]))
def test_tfidf_equals_reference(bags, variant, norm):
    estimator = TfIdf(variant, norm=norm)
    expected = reference_tfidf(bags, variant, norm)
    assert_allclose(estimator.fit_transform(bags).toarray(), expected, rtol=1e-12, atol=1e-15)
    small = estimator.transform(bags.astype(np.float32))
    assert_allclose(small.toarray(), expected, rtol=1e-6, atol=1e-15)


@settings(max_examples=60)
@given(COUNTS, st.sampled_from(["l1", "l2", None]), st.booleans(), st.booleans())
def test_tfidf_equals_scikit_learn(bags, norm, smooth, sublinear):
    # scikit-learn gives weights to unseen words, and `TfIdf` does not
    bags = bags[:, bags.any(axis=0)]
    if not bags.size:
        return
    ours = TfIdf("sklearn" if smooth else "sklearn-unsmoothed", norm=norm, sublinear=sublinear)
    theirs = TfidfTransformer(norm=norm, smooth_idf=smooth, sublinear_tf=sublinear)
    expected = theirs.fit_transform(bags).toarray()
    assert_allclose(ours.fit_transform(bags).toarray(), expected, rtol=1e-12)
    assert_allclose(ours.idf_, theirs.idf_, rtol=1e-14)


def test_lecture_variant_matches_worked_example():
    """METHODS.md, section 2.2: counts 3, 2, 1 of words in 50, 1300, and 250 of 10,000 documents."""
    idf = inverse_document_frequency([50, 1300, 250], 10_000, variant="lecture")
    assert_allclose(idf, [7.6439, 2.9434, 5.3219], atol=5e-5)
    estimator = TfIdf("lecture", norm=None).fit(np.ones((1, 3)))
    estimator.idf_ = idf
    weights = estimator.transform([[3.0, 2.0, 1.0]]).toarray()
    assert_allclose(weights, [[7.6439, 1.9623, 1.7740]], atol=5e-5)
    # values printed on the slide
    natural = inverse_document_frequency([50, 1300, 250], 10_000, idf="log")
    assert_allclose(natural, [5.2983, 2.0402, 3.6889], atol=5e-5)
    tf = term_frequency([3, 2, 1], "max", largest=3)
    assert_allclose(tf * natural, [5.2983, 1.3601, 1.2296], atol=5e-5)


def test_sklearn_variants_match_worked_example():
    """Check the example of METHODS.md, section 2.2."""
    smooth = inverse_document_frequency([2], 4, variant="sklearn")
    assert_allclose(smooth, 1.5108256, atol=5e-8)
    unsmoothed = inverse_document_frequency([2], 4, variant="sklearn-unsmoothed")
    assert_allclose(unsmoothed, 1.6931472, atol=5e-8)


def test_default_is_gensim_variant_with_l2_norm():
    estimator = TfIdf()
    assert (estimator.variant, estimator.norm, estimator.sublinear) == ("gensim", "l2", False)


@pytest.mark.parametrize("norm", ["l1", "l2", None])
def test_word_in_every_document_has_weight_zero(norm):
    weighted = TfIdf(norm=norm).fit_transform([[1, 0], [2, 1]])
    assert weighted.nnz == 1
    assert_array_equal(weighted.toarray(), [[0, 0], [0, 1]])


def test_negative_weights_are_normalized_by_absolute_value():
    weighted = TfIdf("wtmf", norm="l1").fit_transform([[1, 1, 1], [1, 1, 1], [1, 0, 0], [1, 0, 0]])
    assert weighted.toarray()[0, 0] < 0
    assert_allclose(np.abs(weighted.toarray()).sum(axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("variant", list(IDF))
def test_unseen_word_has_weight_zero(variant):
    estimator = TfIdf(variant, norm=None).fit([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]])
    assert estimator.idf_[2] == 0
    assert estimator.transform([[0, 0, 7]]).nnz == 0


@pytest.mark.parametrize("df", [[5], [-1], [np.nan]])
def test_invalid_document_frequencies_raise(df):
    with pytest.raises(ValueError, match="between 0 and n_documents, 4"):
        inverse_document_frequency(df, 4)


TF_PARTS = {
    "count": lambda n, largest: n,
    "binary": lambda n, largest: 1,
    "log": lambda n, largest: 1 + np.log(n),
    "max": lambda n, largest: n / largest,
}
IDF_PARTS = {
    "one": lambda df, n: 1,
    "log": lambda df, n: np.log(n / df),
    "log2": lambda df, n: np.log2(n / df),
    "inverse": lambda df, n: 1 / df,
    "smooth": lambda df, n: np.log((n + 1) / (df + 1)) + 1,
    "unsmoothed": lambda df, n: np.log(n / df) + 1,
    "wtmf": lambda df, n: np.log(n / (df + 1)),
    "lucene": lambda df, n: np.log(1 + (n - df + 0.5) / (df + 0.5)),
    "okapi": lambda df, n: np.log((n - df + 0.5) / (df + 0.5)),
}


@settings(max_examples=60)
@given(COUNTS, st.sampled_from(list(TF_PARTS)), st.sampled_from(list(IDF_PARTS)))
def test_tf_and_idf_parts_equal_reference(bags, tf, idf):
    expected = np.zeros(bags.shape)
    for d, w in zip(*np.nonzero(bags), strict=True):
        df = np.count_nonzero(bags[:, w])
        expected[d, w] = TF_PARTS[tf](bags[d, w], bags[d].max()) * IDF_PARTS[idf](df, len(bags))
    weighted = TfIdf(tf=tf, idf=idf, norm=None).fit_transform(bags)
    assert_allclose(weighted.toarray(), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("variant", list(IDF))
def test_given_parts_replace_parts_of_the_variant(variant):
    bags = np.array([[1.0, 2, 0], [0, 3, 1]])
    whole = TfIdf(variant, tf="binary", idf="one", norm=None).fit_transform(bags)
    assert_array_equal(whole.toarray(), bags > 0)
    assert_array_equal(
        TfIdf(variant, tf="log").fit_transform(bags).toarray(),
        TfIdf(variant, sublinear=True).fit_transform(bags).toarray(),
    )


@pytest.mark.parametrize("counts", [[0], [-1], [np.nan], [np.inf]])
def test_invalid_counts_raise(counts):
    with pytest.raises(ValueError, match="counts must be finite and above 0"):
        term_frequency(counts)


def test_tf_max_without_largest_count_raises():
    with pytest.raises(ValueError, match="largest must be given for tf='max'"):
        term_frequency([1], "max")
    with pytest.raises(ValueError, match="tf must be one of"):
        term_frequency([1], "half")
    with pytest.raises(ValueError, match="idf must be one of"):
        inverse_document_frequency([1], 2, idf="none")


def test_no_words_give_empty_arrays():
    assert term_frequency([]).shape == (0,)
    assert inverse_document_frequency([], 4).shape == (0,)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"variant": "bm25"}, "variant must be one of 'gensim', 'lecture'.*got 'bm25'"),
        ({"norm": "max"}, "norm must be one of 'l1', 'l2', 'pivoted', None; got 'max'"),
        ({"smart": "xyz"}, "smart must be None or a SMART code such as 'lnc.ltc'"),
        ({"smart": "ltc", "tf": "log"}, "smart must be None if tf, idf or sublinear is given"),
        ({"slope": 2.0}, "slope must be a finite number at least 0 and at most 1"),
        ({"sublinear": 1}, "sublinear must be one of True, False; got 1"),
        ({"tf": "half"}, "tf must be None or one of 'count', 'binary', .*; got 'half'"),
        ({"idf": "none"}, "idf must be None or one of 'one', 'log'.*got 'none'"),
        ({"tf": "max", "sublinear": True}, "tf must be None or 'log' with sublinear=True"),
    ],
)
def test_invalid_parameters_raise(params, message):
    with pytest.raises(ValueError, match=message):
        TfIdf(**params).fit([[1]])
