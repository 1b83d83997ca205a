"""Variants of BM25, SMART codes, and pivoted length, compared with their formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from textkin import Index
from textkin.exceptions import ParameterError
from textkin.models import fit_blocks
from textkin.weighting import BM25, TfIdf, bm25_saturation, inverse_document_frequency

COUNTS = arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.integers(0, 4)
)
BAGS = np.array([[2, 1, 0, 0], [0, 1, 1, 3], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]])
TEXTS = ["cat sat mat", "cat cat dog", "dog barked", "bird sang song loud", "cat dog bird mat"]


def weight(variant, n, df, n_documents, length, mean, k1, b, delta):
    """Return the weight of a word by the formulas of Kamphuis et al. (2020)."""
    longer = 1 - b + b * length / mean
    odds = (n_documents - df + 0.5) / (df + 0.5)
    saturation = n * (k1 + 1) / (n + k1 * longer)
    if variant == "robertson":
        return np.log(odds) * n / (n + k1 * longer)
    if variant == "lucene":
        return np.log(1 + odds) * n / (n + k1 * longer)
    if variant == "atire":
        return np.log(n_documents / df) * saturation
    if variant == "bm25l":
        adjusted = n / longer + delta
        idf = np.log((n_documents + 1) / (df + 0.5))
        return idf * adjusted * (k1 + 1) / (adjusted + k1)
    if variant == "bm25+":
        return np.log((n_documents + 1) / df) * (saturation + delta)
    return np.log(1 + odds) * saturation


@settings(max_examples=40)
@given(
    COUNTS,
    st.sampled_from(["standard", "robertson", "lucene", "atire", "bm25l", "bm25+"]),
    st.sampled_from([0, 0.5, 1.2]),
    st.sampled_from([0, 0.75]),
    st.sampled_from([None, 0.0, 0.25]),
)
def test_variants_agree_with_their_formulas(bags, variant, k1, b, delta):
    lower = delta if variant in ("bm25l", "bm25+") else None
    found = BM25(k1, b, variant=variant, delta=lower).fit(bags).transform(bags).toarray()
    lengths, df = bags.sum(axis=1), (bags > 0).sum(axis=0)
    used = {"bm25l": 0.5, "bm25+": 1.0}.get(variant, 0.0) if lower is None else lower
    for d, w in np.argwhere(bags):
        expected = weight(
            variant, bags[d, w], df[w], len(bags), lengths[d], lengths.mean(), k1, b, used
        )
        assert_allclose(found[d, w], expected, rtol=1e-12, atol=1e-12)
    assert not found[bags == 0].any()


def test_bm25l_at_the_edges():
    saturated = bm25_saturation([1e300, 1.0, 0.0], [1.0, 0.0, 5.0], 3.0, b=1.0, variant="bm25l")
    assert_allclose(saturated, [2.2, 2.2, 0.0])
    assert_allclose(bm25_saturation([2.0], [3.0], 3.0, k1=0.0, variant="bm25l"), [1.0])


def test_idf_floor_raises_negative_idf_and_keeps_unseen_words_at_0():
    bags = np.hstack([BAGS, np.zeros((5, 1))])
    plain, floored = BM25(idf="okapi").fit(bags), BM25(idf="okapi", idf_floor=0.1).fit(bags)
    assert plain.idf_.min() < 0
    assert_array_equal(floored.idf_[:4], np.maximum(plain.idf_[:4], 0.1))
    assert floored.idf_[4] == 0
    assert inverse_document_frequency([4], 4, idf="okapi", floor=None)[0] < 0


def test_probabilistic_idf_is_never_negative():
    df = np.array([1, 2, 3, 4])
    expected = np.maximum(0, [np.log(3), 0, -1, -np.inf])
    assert_allclose(inverse_document_frequency(df, 4, idf="probabilistic"), expected)


@pytest.mark.parametrize("code", ["lnc.ltc", "Lnu.ltn", "anc.bpc", "mtn", "nnn.ntc", "ltu"])
def test_smart_codes_agree_with_their_formulas(code):
    documents, _, queries = code.partition(".")
    queries = queries or documents
    n, df = len(BAGS), (BAGS > 0).sum(axis=0)
    pivot = (BAGS > 0).sum() / n

    def reference(letters, row):
        tf, idf, norm = letters
        words = np.flatnonzero(row)
        counts = row[words]
        weights = {
            "n": counts,
            "l": 1 + np.log(counts),
            "a": 0.5 + 0.5 * counts / counts.max(),
            "b": np.ones(len(counts)),
            "L": (1 + np.log(counts)) / (1 + np.log(counts.mean())),
            "m": counts / counts.max(),
        }[tf]
        of = df[words]
        weights = (
            weights
            * {
                "n": np.ones(len(words)),
                "t": np.log(n / of),
                "p": np.maximum(0, np.log((n - of) / of)),
            }[idf]
        )
        if norm == "c" and weights.any():
            weights = weights / np.linalg.norm(weights)
        if norm == "u":
            weights = weights / (0.8 * pivot + 0.2 * len(words))
        found = np.zeros(len(row))
        found[words] = weights
        return found

    smart = TfIdf(smart=code).fit(BAGS)
    assert_allclose(
        smart.transform(BAGS).toarray(), [reference(documents, row) for row in BAGS], rtol=1e-12
    )
    assert_allclose(
        smart.transform_queries(BAGS).toarray(),
        [reference(queries, row) for row in BAGS],
        rtol=1e-12,
    )


def test_queries_are_weighted_like_documents_without_a_code():
    tfidf = TfIdf().fit(BAGS)
    assert_array_equal(tfidf.transform_queries(BAGS).toarray(), tfidf.transform(BAGS).toarray())


def test_pivoted_length_by_slope():
    plain = TfIdf(norm=None).fit_transform(BAGS).toarray()
    assert_allclose(
        TfIdf(norm="pivoted", slope=0.0).fit_transform(BAGS).toarray(), plain / 1.8, rtol=1e-12
    )
    lengths = (BAGS > 0).sum(axis=1, keepdims=True)
    assert_allclose(
        TfIdf(norm="pivoted", slope=1.0).fit_transform(BAGS).toarray(), plain / lengths, rtol=1e-12
    )
    assert TfIdf(norm="pivoted").fit(np.zeros((2, 3))).transform(BAGS[:, :3]).nnz == 0


@pytest.mark.parametrize(
    "weighting",
    [
        TfIdf(smart="lnc.ltc"),
        TfIdf(norm="pivoted"),
        BM25(variant="bm25+", delta=0.7),
        BM25(idf="okapi", idf_floor=0.0),
    ],
    ids=repr,
)
def test_saved_weightings_and_fits_in_blocks_agree(weighting, tmp_path):
    expected = weighting.fit(BAGS).transform(BAGS).toarray()
    weighting.save(tmp_path / "weighting")
    loaded = type(weighting).load(tmp_path / "weighting")
    assert_array_equal(loaded.transform(BAGS).toarray(), expected)
    queries = loaded.transform_queries(BAGS).toarray()
    assert_array_equal(queries, weighting.transform_queries(BAGS).toarray())
    blocks = fit_blocks(type(weighting)(**weighting.get_params()), [BAGS[:2], BAGS[2:]])
    assert_array_equal(blocks.transform(BAGS).toarray(), expected)


@pytest.mark.parametrize(
    "weighting",
    [
        BM25(variant="robertson"),
        BM25(variant="lucene"),
        BM25(variant="atire"),
        BM25(idf="okapi", idf_floor=0.05),
        TfIdf(smart="lnc.ltc"),
        TfIdf(smart="nnn.apc"),
        TfIdf(smart="mtc.Ltn"),
    ],
    ids=repr,
)
def test_rankings_of_an_index_agree_with_the_vectors(weighting, tmp_path):
    from textkin.text import BagOfWords

    counter = BagOfWords(stop_words=None)
    bags = counter.fit_transform(TEXTS).astype(np.float64)
    query = "cat cat bird loud"
    fitted = weighting.fit(bags)
    asked = fitted.transform_queries(counter.transform([query]).astype(np.float64))
    expected = (asked @ fitted.transform(bags).T).toarray()[0]
    with Index.create(tmp_path / "index", stop_words=None, language=None) as index:
        index.add(TEXTS)
        hits = index.search(query, ranking=weighting)
        found = {int(hit.id): hit.score for hit in hits}
        assert_allclose(
            [found.get(at, 0.0) for at in range(5)], np.maximum(expected, 0), rtol=1e-6, atol=1e-9
        )
        for hit in hits:
            assert_allclose(sum(part.value for part in hit.explain().parts), hit.score, rtol=1e-9)


@pytest.mark.parametrize(
    "weighting",
    [BM25(variant="bm25l"), BM25(variant="bm25+"), TfIdf(norm="pivoted"), TfIdf(smart="anc.ltc")],
    ids=repr,
)
def test_an_index_rejects_what_its_postings_cannot_hold(weighting, tmp_path):
    with Index.create(tmp_path / "index", language=None) as index:
        index.add(TEXTS)
        with pytest.raises(ParameterError, match=r"ranking must be .*`index.bags\(\)"):
            index.search("cat", ranking=weighting)
