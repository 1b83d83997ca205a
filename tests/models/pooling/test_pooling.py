"""Pooling compared with the reference, its formulas, and the centroids of `WordMover`."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from textkin import Pooling, WordMover, WordVectors, pairwise_distances, pairwise_similarities
from textkin.exceptions import EmptyDocumentError
from textkin.models.pooling._arithmetic import pool_document
from textkin.weighting import sif_weights, zipf_probabilities
from textkin.weighting._word_weights import usif_weights

WORDS = ("cat", "dog", "car", "bus", "sun")
TABLE = np.array([[1, 0, 2], [0, 1, 1], [3, 0, -1], [-1, 2, 0], [0, 0, 4]], dtype=np.float32)
VECTORS = WordVectors(WORDS, TABLE)
TEXTS = ["cat dog cat", "dog bus", "car car bus sun", "", "unknown", "sun cat", "bus"]
BAGS = np.array(
    [[2, 1, 0, 0, 0], [0, 1, 0, 1, 0], [0, 0, 2, 1, 1], [0] * 5, [0] * 5, [1, 0, 0, 0, 1],
     [0, 0, 0, 1, 0]],
    dtype=np.float64,
)  # fmt: skip
EMPTY = [3, 4]


def pool_reference(bags, table, weights=None, combine="mean", shape=None):
    """Return the pooled documents of the reference implementation."""
    bags = np.asarray(bags, dtype=np.float64)
    return np.array([pool_document(counts, table, weights, combine, shape) for counts in bags])


def reference_removal(v, fitted, r, scaled=False):
    """Return vectors minus their projections on the first singular vectors of `fitted`."""
    _, sigma, directions = np.linalg.svd(fitted, full_matrices=False)
    parts = sigma[:r] ** 2 / (sigma[:r] ** 2).sum() if scaled else np.ones(r)
    for s, u in zip(parts, directions, strict=False):
        v = v - s * np.outer(v @ u, u)
    return v


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["mean", "sum", "max"]),
    st.integers(0, 2),
    st.sampled_from([False, True, 2]),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_pooling_equals_reference(seed, combine, removed, whiten, weighted):
    rng = np.random.default_rng(seed)
    bags = rng.poisson(0.7, (12, 5)).astype(float)
    bags[:2] = [[1, 0, 0, 0, 0], [0, 2, 0, 0, 1]]  # two different documents
    weights = rng.uniform(0.1, 2, 5) if weighted and combine != "max" else "mean"
    model = Pooling(
        TABLE, word_weights=weights, combine=combine, remove_components=removed, whiten=whiten
    ).fit(bags)
    given_weights = weights if weighted and combine != "max" else None
    expected = pool_reference(bags, TABLE, given_weights, combine, model._shape())
    found = model.transform(bags)
    assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * max(1, np.abs(expected).max()))


counts = st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=1, max_size=8)


class TestFormulas:
    @given(counts, st.sampled_from(["mean", "sum", "max"]))
    @settings(deadline=None)
    def test_sums_and_maxima(self, bags, combine):
        found = Pooling(TABLE, combine=combine).transform(np.array(bags))
        assert found.dtype == np.float32
        assert_allclose(found, pool_reference(bags, TABLE, combine=combine), rtol=1e-6, atol=1e-6)

    def test_texts_equal_their_bags(self):
        assert_array_equal(Pooling(VECTORS).transform(TEXTS), Pooling(TABLE).transform(BAGS))
        tokens = [text.split() for text in TEXTS]
        assert_array_equal(Pooling(VECTORS).transform(tokens), Pooling(TABLE).transform(BAGS))

    def test_given_weights_are_used(self):
        g = np.array([1, 0.5, 0, 2, 3])
        found = Pooling(TABLE, word_weights=g).transform(BAGS)
        assert_allclose(found, pool_reference(BAGS, TABLE, g), rtol=1e-6)

    def test_tfidf_weights_match_worked_example(self):
        found = Pooling(TABLE, word_weights="tfidf").fit(BAGS)
        idf = np.log2(7 / np.array([2, 2, 1, 3, 2]))
        assert_allclose(found.word_weights_, idf)
        assert_allclose(found.transform(BAGS), pool_reference(BAGS, TABLE, idf), rtol=1e-6)

    def test_unseen_word_weighs_like_a_word_of_one_document(self):
        assert Pooling(TABLE, word_weights="tfidf").fit(BAGS[:2]).word_weights_[4] == 1

    def test_sif_learns_probabilities_of_bags_and_uses_ranks_for_words(self):
        p = BAGS.sum(axis=0) / BAGS.sum()
        of_bags = Pooling(TABLE, word_weights="sif", a=0.1).fit(BAGS)
        assert_allclose(of_bags.word_weights_, 0.1 / (0.1 + p))
        assert of_bags.a_ == 0.1
        by_rank = sif_weights(zipf_probabilities(5), 0.1)
        of_texts = Pooling(VECTORS, word_weights="sif", a=0.1).transform(TEXTS)
        assert_allclose(of_texts, pool_reference(BAGS, TABLE, by_rank), rtol=1e-6)
        learnt = Pooling(VECTORS, word_weights="sif", a=0.1, probabilities="corpus").fit(TEXTS)
        assert_array_equal(learnt.transform(TEXTS), of_bags.transform(BAGS))
        given_p = Pooling(TABLE, word_weights="sif", a=0.1, probabilities=p).transform(BAGS)
        assert_array_equal(given_p, of_bags.transform(BAGS))

    def test_sif_matches_the_paper(self):
        model = Pooling(TABLE, word_weights="sif", remove_components=1).fit(BAGS)
        v = pool_reference(BAGS, TABLE, model.word_weights_)
        assert_allclose(model.transform(BAGS), reference_removal(v, v, 1), rtol=1e-5, atol=1e-6)
        assert_allclose(np.linalg.norm(model.components_), 1)

    def test_usif_matches_worked_example(self):
        # V = 4, n = 2: threshold 1 - (3/4)^2 = 0.4375, exceeded by one of four words, Z = 2.
        p = np.array([0.5, 0.25, 0.125, 0.125, 0.0])
        weights, a = usif_weights(p, 2.0)
        assert a == pytest.approx((1 - 0.25) / (0.25 * 2))
        assert_allclose(weights, a / (a / 2 + p))
        assert weights[4] == 2

    def test_usif_without_frequent_words(self):
        weights, a = usif_weights(np.full(4, 0.25), 100.0)
        assert a == np.inf
        assert set(weights) == {2}
        assert usif_weights(np.array([1.0]), 3.0)[1] == np.inf

    @pytest.mark.parametrize("n_words", [2, 4, 32, 64, 256])
    def test_usif_with_all_words_at_the_threshold(self, n_words):
        """Check a regression: rounding gave all words weight 0, and all documents were empty."""
        words = np.eye(n_words)
        assert_array_equal(Pooling(words, word_weights="usif").fit_transform(words), 2 * words)

    def test_usif_scales_components(self):
        model = Pooling(TABLE, word_weights="usif", remove_components=2).fit(BAGS)
        p = BAGS.sum(axis=0) / BAGS.sum()
        expected, a = usif_weights(p, BAGS.sum() / 5)
        assert_allclose(model.word_weights_, expected)
        assert model.a_ == a
        v = pool_reference(BAGS, TABLE, expected)
        assert model.component_weights_.sum() == pytest.approx(1)
        expected = reference_removal(v, v, 2, scaled=True)
        assert_allclose(model.transform(BAGS), expected, rtol=1e-5, atol=1e-6)

    def test_usif_removes_a_single_component_completely(self):
        model = Pooling(TABLE, word_weights="usif", remove_components=1).fit(BAGS)
        assert_array_equal(model.component_weights_, [1])
        assert_allclose(model.transform(BAGS) @ model.components_[0], 0, atol=1e-6)

    @pytest.mark.parametrize("kept", [True, 3, 2, 1])
    def test_whitening_gives_unit_covariance(self, kept):
        rng = np.random.default_rng(0)
        bags = rng.poisson(1.0, (200, 5))
        model = Pooling(TABLE, whiten=kept).fit(bags)
        filled = bags.any(axis=1)
        found = model.transform(bags)[filled].astype(np.float64)
        width = 3 if kept is True else kept
        assert found.shape[1] == width
        assert_allclose(found.mean(axis=0), 0, atol=1e-6)
        assert_allclose(found.T @ found / filled.sum(), np.eye(width), atol=1e-5)

    def test_whitening_of_fewer_documents_than_dimensions(self):
        rng = np.random.default_rng(0)
        table = rng.standard_normal((5, 8))
        bags = np.eye(5)[:3]
        found = Pooling(table, whiten=True).fit_transform(bags)
        assert np.isfinite(found).all()
        assert_array_equal(found[:, 2:], 0)  # three documents span two directions
        assert_allclose(found[:, :2].T @ found[:, :2] / 3, np.eye(2), atol=1e-5)

    @pytest.mark.parametrize("seed", range(5))
    def test_products_of_whitened_vectors_equal_the_inverse_covariance_form(self, seed):
        rng = np.random.default_rng(seed)
        table = rng.standard_normal((30, 6)) + 1
        bags = rng.poisson(0.2, (50, 30))
        options = {"word_weights": "sif", "remove_components": seed % 3}
        found = Pooling(table, whiten=True, **options).fit_transform(bags).astype(np.float64)
        rest = Pooling(table, **options).fit_transform(bags).astype(np.float64)
        filled = bags.any(axis=1)
        apart = rest - rest[filled].mean(axis=0)
        inverse = np.linalg.pinv(np.cov(rest[filled].T, bias=True), rcond=1e-9, hermitian=True)
        expected = (apart @ inverse @ apart.T) * np.outer(filled, filled)
        assert_allclose(found @ found.T, expected, atol=1e-3)

    def test_components_are_removed_before_whitening(self):
        rng = np.random.default_rng(1)
        bags = rng.poisson(1.0, (100, 5))
        model = Pooling(TABLE, remove_components=1, whiten=True).fit(bags)
        assert_array_equal(model.whitening_[:, 2], 0)
        assert_allclose(model.components_ @ model.whitening_, 0, atol=1e-7)


class TestCentroids:
    def test_plain_mean_is_the_centroid_of_word_mover(self):
        bags = BAGS[BAGS.any(axis=1)]
        vectors = Pooling(TABLE).transform(bags)
        assert_allclose(
            pairwise_distances(vectors, metric="euclidean"),
            WordMover(TABLE).pairwise(bags, metric="wcd"),
            rtol=1e-5,
            atol=1e-6,
        )

    @pytest.mark.parametrize("weights", ["tfidf", "sif"])
    def test_mean_divided_by_weights_is_the_weighted_centroid(self, weights):
        bags = BAGS[BAGS.any(axis=1)]
        pooling = Pooling(TABLE, word_weights=weights).fit(bags)
        g = pooling.word_weights_
        scales = (bags.sum(axis=1) / (bags @ g))[:, np.newaxis]
        expected = WordMover(TABLE, word_weights=weights).fit(bags).pairwise(bags, metric="wcd")
        assert_allclose(
            pairwise_distances(pooling.transform(bags) * scales, metric="euclidean"),
            expected,
            atol=1e-5,
        )

    def test_builtin_vectors_match_word_mover(self):
        texts = ["Obama speaks to the media in Illinois", "The President greets the press"]
        found = pairwise_distances(Pooling(stop_words="smart").transform(texts), metric="euclidean")
        expected = WordMover(metric="wcd").distance(*texts)
        assert found[0, 1] == pytest.approx(expected, rel=1e-5)

    def test_stop_words_count_by_default(self):
        assert_array_equal(
            Pooling().transform(["the cat"]), Pooling(stop_words=None).transform(["the cat"])
        )
        removed = Pooling(stop_words="smart").transform(["the cat"])
        assert not np.array_equal(Pooling().transform(["the cat"]), removed)


class TestEmptyDocuments:
    @pytest.mark.parametrize(
        "options",
        [{}, {"remove_components": 1}, {"whiten": True}, {"combine": "max", "whiten": 2}],
        ids=str,
    )
    def test_empty_documents_are_zero_and_listed(self, options):
        model = Pooling(VECTORS, **options).fit(TEXTS)
        found = model.transform(TEXTS)
        assert_array_equal(np.flatnonzero(~found.any(axis=1)), EMPTY)
        assert_array_equal(model.empty_documents(TEXTS), EMPTY)
        assert [cover.known for cover in model.coverage(TEXTS)][3:5] == [0, 0]

    def test_fit_ignores_empty_documents(self):
        filled = [text for row, text in enumerate(TEXTS) if row not in EMPTY]
        options = {"word_weights": "usif", "remove_components": 1, "whiten": True}
        one, other = (Pooling(VECTORS, **options).fit(texts) for texts in (TEXTS, filled))
        assert_allclose(one.whitening_, other.whitening_)
        assert_allclose(one.mean_, other.mean_)

    def test_document_with_zero_weights_is_empty(self):
        model = Pooling(TABLE, word_weights=np.array([0.0, 1, 1, 1, 1]), whiten=True)
        bags = np.vstack([BAGS, [[5, 0, 0, 0, 0]]])
        assert not model.fit(bags).transform(bags)[-1].any()
        assert_array_equal(model.empty_documents(bags), [*EMPTY, 7])

    def test_empty_error_raises(self):
        with pytest.raises(EmptyDocumentError, match="Document 3 and 1 more of X is empty") as told:
            Pooling(VECTORS, empty="error").transform(TEXTS)
        assert told.value.rows == (3, 4)

    def test_no_documents_give_no_rows_or_raise_in_fit(self):
        assert Pooling(VECTORS).transform([]).shape == (0, 3)
        assert Pooling(TABLE, whiten=2).fit(BAGS).transform(BAGS[:0]).shape == (0, 2)
        with pytest.raises(ValueError, match="at least one document"):
            Pooling(VECTORS).fit([])


class TestExtremes:
    def test_single_document_without_its_component_is_zero(self):
        found = Pooling(TABLE, remove_components=1).fit_transform(BAGS[:1])
        assert_array_equal(found, 0)

    def test_components_beyond_the_rank_are_zero(self):
        model = Pooling(TABLE, remove_components=2).fit(np.repeat(BAGS[:1], 4, axis=0))
        assert_array_equal(model.components_[1], 0)
        assert_array_equal(model.singular_values_[1:], 0)
        assert model.transform(BAGS[1:2]).any()

    def test_mean_of_huge_and_tiny_counts_is_the_same(self):
        expected = Pooling(TABLE).transform(BAGS)
        for scale in (1e300, 1e-300, 5e307):
            assert_allclose(Pooling(TABLE).transform(BAGS * scale), expected, rtol=1e-6)

    @pytest.mark.parametrize("scale", [1e-30, 1e30])
    def test_huge_and_tiny_vectors(self, scale):
        expected = Pooling(TABLE, remove_components=1).fit_transform(BAGS)
        found = Pooling(TABLE * np.float32(scale), remove_components=1).fit_transform(BAGS)
        assert_allclose(found / scale, expected, atol=1e-6)
        white = Pooling(TABLE * np.float32(scale), whiten=True).fit_transform(BAGS)
        assert_allclose(np.abs(white), np.abs(Pooling(TABLE, whiten=True).fit_transform(BAGS)),
                        atol=1e-5)  # fmt: skip

    def test_overflow_raises(self):
        with pytest.raises(ValueError, match="vector of document 2 is too large"):
            Pooling(TABLE, combine="sum").transform(BAGS * 8e307 * (np.arange(7) == 2)[:, None])
        with pytest.raises(ValueError, match="too large"):
            Pooling(TABLE, combine="sum", remove_components=1).fit(BAGS * 8e307)

    @pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
    def test_invalid_counts_raise(self, wrong):
        bags = BAGS.copy()
        bags[1, 1] = wrong
        with pytest.raises(ValueError, match="finite and at least 0; row 1"):
            Pooling(TABLE).transform(bags)

    def test_stored_zero_is_not_a_word(self):
        bags = sparse.csr_array(np.ones((1, 5)))
        bags.data[2:] = 0
        assert_allclose(Pooling(TABLE, combine="max").transform(bags), [[1, 1, 2]])
        assert_allclose(Pooling(TABLE).transform(bags), [[0.5, 0.5, 1.5]])

    def test_words_without_a_vector_are_skipped(self):
        table = TABLE.copy()
        table[2] = np.nan
        expected = pool_reference(np.where(np.arange(5) == 2, 0, BAGS), TABLE)
        assert_allclose(Pooling(table).transform(BAGS), expected, rtol=1e-6)

    def test_underflow_in_whitening_raises(self):
        model = Pooling(TABLE * np.float32(1e-30), combine="sum", whiten=True)
        with pytest.raises(ValueError, match="too small to be whitened"):
            model.fit(BAGS * 1e-290)

    def test_whitening_of_equal_documents_raises(self):
        with pytest.raises(ValueError, match="at least two different documents"):
            Pooling(TABLE, whiten=True).fit(np.repeat(BAGS[2:3] / 3, 7, axis=0))
        with pytest.raises(ValueError, match="at least two different documents"):
            Pooling(TABLE, whiten=True).fit(BAGS[:1])

    def test_fit_without_words_raises(self):
        for options in ({"remove_components": 1}, {"whiten": True}, {"word_weights": "sif"}):
            with pytest.raises(ValueError, match="X must have"):
                Pooling(TABLE, **options).fit(np.zeros((2, 5)))


class TestExplain:
    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"word_weights": "sif", "remove_components": 1},
            {"word_weights": "usif", "remove_components": 2},
            {"combine": "sum", "whiten": 2},
            {"word_weights": "tfidf", "remove_components": 1, "whiten": True},
            {"combine": "max", "remove_components": 1},
            {"combine": "max", "whiten": True},
        ],
        ids=str,
    )
    def test_contributions_sum_to_the_cosine(self, options):
        model = Pooling(VECTORS, **options).fit(TEXTS)
        vectors = model.transform(TEXTS)
        for a, b in [(0, 1), (2, 5), (1, 2), (5, 5)]:
            found = model.explain(TEXTS[a], TEXTS[b])
            assert {part.name for part in found.parts} == set(TEXTS[a].split())
            cosine = pairwise_similarities(vectors[[a]], vectors[[b]])[0, 0]
            assert found.score == pytest.approx(cosine, abs=1e-6)
            assert sum(part.value for part in found.parts) == pytest.approx(cosine, abs=1e-6)

    def test_feature_names_name_the_columns(self):
        found = Pooling(TABLE).explain(BAGS[0], BAGS[1], feature_names=WORDS)
        assert {part.name for part in found.parts} == {"cat", "dog"}
        assert {part.name for part in Pooling(TABLE).explain(BAGS[0], BAGS[1]).parts} == {
            "#0",
            "#1",
        }
        with pytest.raises(ValueError, match="the names of the 5 columns"):
            Pooling(TABLE).explain(BAGS[0], BAGS[1], feature_names=WORDS[:2])

    def test_invalid_counts_raise(self):
        with pytest.raises(ValueError, match="b must be a document with finite counts or weights"):
            Pooling(TABLE).explain(BAGS[0], -BAGS[0])

    @pytest.mark.parametrize("scale", [1e-200, 1e200])
    def test_cosine_of_huge_and_tiny_sums_is_the_same(self, scale):
        model = Pooling(TABLE, combine="sum")
        expected = model.explain(BAGS[:1], BAGS[1:2]).score
        assert model.explain(BAGS[:1] * scale, BAGS[1:2]).score == pytest.approx(expected)

    def test_overflow_raises(self):
        model = Pooling(TABLE, combine="sum", word_weights=np.full(5, 1e300))
        with pytest.raises(ValueError, match="vector of b is too large"):
            model.explain(BAGS[:1], BAGS[1:2] * 1e300)

    def test_empty_document_has_no_contributions(self):
        found = Pooling(VECTORS).explain("cat", "")
        assert (found.score, found.parts) == (0.0, ())
        nothing_left = Pooling(TABLE, remove_components=1).fit(BAGS[:1])
        assert nothing_left.explain(BAGS[0], BAGS[2]).score == 0
        with pytest.raises(EmptyDocumentError, match="of b is empty"):
            Pooling(VECTORS, empty="error").explain("cat", "")


class TestErrors:
    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"word_weights": "idf"}, ValueError, "word_weights must be one of"),
            ({"word_weights": 3}, ValueError, "word_weights must be one of"),
            ({"word_weights": np.ones(4)}, ValueError, "each of the 5 words"),
            ({"word_weights": np.array([1, 1, -1, 1, 1.0])}, ValueError, "position 2 has -1"),
            ({"word_weights": np.ones(5) * 1j}, ValueError, "word_weights must hold real numbers"),
            ({"combine": "min"}, ValueError, "combine must be"),
            (
                {"combine": "max", "word_weights": "sif"},
                ValueError,
                "word_weights must be 'mean' for comb",
            ),
            ({"remove_components": 3}, ValueError, "remove_components must be below 3"),
            ({"remove_components": -1}, ValueError, "remove_components must be an integer"),
            ({"whiten": 4}, ValueError, "whiten must be at most 3"),
            ({"whiten": 0}, ValueError, "whiten must be"),
            ({"a": 0, "word_weights": "sif"}, ValueError, "a must be a finite number above 0"),
            ({"probabilities": "rank", "word_weights": "sif"}, ValueError, "probabilities must be"),
            (
                {"probabilities": np.ones(3), "word_weights": "sif"},
                ValueError,
                "each of the 5 words",
            ),
            (
                {"probabilities": np.full(5, 2), "word_weights": "sif"},
                ValueError,
                "between 0 and 1",
            ),
            ({"probabilities": np.zeros(5), "word_weights": "sif"}, ValueError, "not all be 0"),
            (
                {"probabilities": np.array(list("abcde")), "word_weights": "sif"},
                ValueError,
                "real num",
            ),
            (
                {"probabilities": np.full(5, 0.9), "word_weights": "usif"},
                ValueError,
                "numbers that sum to 1",
            ),
            ({"empty": "inf"}, ValueError, "empty must be"),
            ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
        ],
        ids=str,
    )
    def test_invalid_parameters_raise(self, options, error, message):
        with pytest.raises(error, match=message):
            Pooling(TABLE, **options).fit(BAGS).transform(BAGS)

    @pytest.mark.parametrize(
        "options",
        [
            {"word_weights": "tfidf"},
            {"word_weights": "usif"},
            {"word_weights": "sif", "probabilities": "corpus"},
            {"remove_components": 1},
            {"whiten": True},
        ],
        ids=str,
    )
    def test_transform_without_fit_raises(self, options):
        with pytest.raises(NotFittedError, match="call fit"):
            Pooling(VECTORS, **options).transform(TEXTS)

    def test_changed_parameters_need_a_new_fit(self):
        model = Pooling(VECTORS, word_weights="tfidf").fit(TEXTS)
        with pytest.raises(NotFittedError):
            model.set_params(word_weights="usif").transform(TEXTS)
        with pytest.raises(NotFittedError):
            model.set_params(word_weights="tfidf", remove_components=1).transform(TEXTS)
        model.set_params(remove_components=0).transform(TEXTS)

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ({"word_weights": np.ones(5)}, {"word_weights": np.arange(5.0)}),
            (
                {"word_weights": "sif", "probabilities": np.full(5, 0.1)},
                {"probabilities": np.linspace(0, 0.9, 5)},
            ),
            ({}, {"vectors": TABLE[::-1].copy()}),
        ],
        ids=["weights", "probabilities", "vectors"],
    )
    def test_changed_arrays_need_a_new_fit(self, before, after, tmp_path):
        model = Pooling(TABLE, remove_components=1, **before).fit(BAGS)
        expected = model.transform(BAGS)
        old = {name: getattr(model, name) for name in after}
        model.set_params(**after)
        for stale in (model, pickle.loads(pickle.dumps(model))):
            with pytest.raises(NotFittedError, match="after each change"):
                stale.transform(BAGS)
        with pytest.raises(NotFittedError):
            model.save(tmp_path / "model")
        assert_array_equal(model.set_params(**old).transform(BAGS), expected)

    def test_learned_weights_are_a_copy(self):
        weights = np.ones(5)
        model = Pooling(TABLE, word_weights=weights, remove_components=1).fit(BAGS)
        expected = model.transform(BAGS)
        weights[:] = [1, 2, 3, 4, 5]
        assert_array_equal(model.transform(BAGS), expected)

    def test_oov_error_raises(self):
        with pytest.raises(ValueError, match="Document 4 of X has words without a vector"):
            Pooling(VECTORS, oov="error").transform(TEXTS)

    def test_bags_for_words_and_texts_for_columns_raise(self):
        with pytest.raises(TypeError, match=r"Pooling\(vectors.align"):
            Pooling(VECTORS).transform(BAGS)
        with pytest.raises(TypeError, match="X must be bags"):
            Pooling(TABLE).transform(TEXTS)
