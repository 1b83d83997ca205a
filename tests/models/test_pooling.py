"""Pooling beside its formulas, written out slowly, and beside the distances of centroids."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from textkin import Pooling, WordMover, WordVectors, distances, similarities
from textkin.exceptions import EmptyDocumentError
from textkin.models._word_weights import usif_weights
from textkin.weighting import sif_weights, zipf_probabilities

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


def slow(bags, table, weights=None, combine="mean"):
    """Return pooled documents by the definition."""
    found = np.zeros((len(bags), table.shape[1]))
    for row, counts in enumerate(np.asarray(bags, dtype=np.float64)):
        words = np.flatnonzero(counts)
        if not len(words):
            continue
        vectors = table[words].astype(np.float64)
        if combine == "max":
            found[row] = vectors.max(axis=0)
            continue
        g = np.ones(len(words)) if weights is None else weights[words]
        for n, weight, vector in zip(counts[words], g, vectors, strict=True):
            found[row] += n * weight * vector
        if combine == "mean":
            found[row] /= counts.sum()
    return found


def slow_removal(v, fitted, r, scaled=False):
    """Return vectors less their projections on the first singular vectors of others."""
    _, sigma, directions = np.linalg.svd(fitted, full_matrices=False)
    parts = sigma[:r] ** 2 / (sigma[:r] ** 2).sum() if scaled else np.ones(r)
    for s, u in zip(parts, directions, strict=False):
        v = v - s * np.outer(v @ u, u)
    return v


counts = st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=1, max_size=8)


class TestFormulas:
    @given(counts, st.sampled_from(["mean", "sum", "max"]))
    @settings(deadline=None)
    def test_sums_and_maxima(self, bags, combine):
        found = Pooling(TABLE, combine=combine).transform(np.array(bags))
        assert found.dtype == np.float32
        assert_allclose(found, slow(bags, TABLE, combine=combine), rtol=1e-6, atol=1e-6)

    def test_texts_are_their_bags(self):
        assert_array_equal(Pooling(VECTORS).transform(TEXTS), Pooling(TABLE).transform(BAGS))
        tokens = [text.split() for text in TEXTS]
        assert_array_equal(Pooling(VECTORS).transform(tokens), Pooling(TABLE).transform(BAGS))

    def test_weights_of_the_user(self):
        g = np.array([1, 0.5, 0, 2, 3])
        found = Pooling(TABLE, weights=g).transform(BAGS)
        assert_allclose(found, slow(BAGS, TABLE, g), rtol=1e-6)

    def test_tfidf(self):
        found = Pooling(TABLE, weights="tfidf").fit(BAGS)
        idf = np.log2(7 / np.array([2, 2, 1, 3, 2]))
        assert_allclose(found.word_weights_, idf)
        assert_allclose(found.transform(BAGS), slow(BAGS, TABLE, idf), rtol=1e-6)

    def test_a_word_that_fit_never_saw_weighs_as_one_of_a_single_document(self):
        assert Pooling(TABLE, weights="tfidf").fit(BAGS[:2]).word_weights_[4] == 1

    def test_sif_learns_probabilities_of_bags_and_takes_ranks_for_words(self):
        p = BAGS.sum(axis=0) / BAGS.sum()
        of_bags = Pooling(TABLE, weights="sif", a=0.1).fit(BAGS)
        assert_allclose(of_bags.word_weights_, 0.1 / (0.1 + p))
        assert of_bags.a_ == 0.1
        by_rank = sif_weights(zipf_probabilities(5), 0.1)
        of_texts = Pooling(VECTORS, weights="sif", a=0.1).transform(TEXTS)
        assert_allclose(of_texts, slow(BAGS, TABLE, by_rank), rtol=1e-6)
        learnt = Pooling(VECTORS, weights="sif", a=0.1, probabilities="corpus").fit(TEXTS)
        assert_array_equal(learnt.transform(TEXTS), of_bags.transform(BAGS))
        given_p = Pooling(TABLE, weights="sif", a=0.1, probabilities=p).transform(BAGS)
        assert_array_equal(given_p, of_bags.transform(BAGS))

    def test_sif_as_in_the_paper(self):
        model = Pooling(TABLE, weights="sif", remove_components=1).fit(BAGS)
        v = slow(BAGS, TABLE, model.word_weights_)
        assert_allclose(model.transform(BAGS), slow_removal(v, v, 1), rtol=1e-5, atol=1e-6)
        assert_allclose(np.linalg.norm(model.components_), 1)

    def test_usif_by_hand(self):
        # V = 4, n = 2: threshold 1 - (3/4)^2 = 0.4375, one word of four above, Z = 2.
        p = np.array([0.5, 0.25, 0.125, 0.125, 0.0])
        weights, a = usif_weights(p, 2.0)
        assert a == pytest.approx((1 - 0.25) / (0.25 * 2))
        assert_allclose(weights, a / (a / 2 + p))
        assert weights[4] == 2

    def test_usif_where_no_word_is_frequent(self):
        weights, a = usif_weights(np.full(4, 0.25), 100.0)
        assert a == np.inf
        assert set(weights) == {2}
        assert usif_weights(np.array([1.0]), 3.0)[1] == np.inf

    @pytest.mark.parametrize("n_words", [2, 4, 32, 64, 256])
    def test_usif_where_all_words_are_at_the_threshold(self, n_words):
        """Rounding put it below them: all weighed 0, and all documents were empty."""
        words = np.eye(n_words)
        assert_array_equal(Pooling(words, weights="usif").fit_transform(words), 2 * words)

    def test_usif_scales_components(self):
        model = Pooling(TABLE, weights="usif", remove_components=2).fit(BAGS)
        p = BAGS.sum(axis=0) / BAGS.sum()
        expected, a = usif_weights(p, BAGS.sum() / 5)
        assert_allclose(model.word_weights_, expected)
        assert model.a_ == a
        v = slow(BAGS, TABLE, expected)
        assert model.component_weights_.sum() == pytest.approx(1)
        expected = slow_removal(v, v, 2, scaled=True)
        assert_allclose(model.transform(BAGS), expected, rtol=1e-5, atol=1e-6)

    def test_one_component_of_usif_is_taken_away_whole(self):
        model = Pooling(TABLE, weights="usif", remove_components=1).fit(BAGS)
        assert_array_equal(model.component_weights_, [1])
        assert_allclose(model.transform(BAGS) @ model.components_[0], 0, atol=1e-6)

    @pytest.mark.parametrize("kept", [True, 3, 2, 1])
    def test_whitening_makes_the_covariance_one(self, kept):
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
        assert_array_equal(found[:, 2:], 0)  # three documents differ in two directions
        assert_allclose(found[:, :2].T @ found[:, :2] / 3, np.eye(2), atol=1e-5)

    @pytest.mark.parametrize("seed", range(5))
    def test_products_of_white_vectors_are_those_by_the_inverse_covariance(self, seed):
        rng = np.random.default_rng(seed)
        table = rng.standard_normal((30, 6)) + 1
        bags = rng.poisson(0.2, (50, 30))
        options = {"weights": "sif", "remove_components": seed % 3}
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
    def test_the_plain_mean_is_the_centroid_of_the_word_mover(self):
        bags = BAGS[BAGS.any(axis=1)]
        vectors = Pooling(TABLE).transform(bags)
        assert_allclose(
            distances(vectors, metric="euclidean"), WordMover(TABLE).wcd(bags), rtol=1e-5, atol=1e-6
        )

    @pytest.mark.parametrize("weights", ["tfidf", "sif"])
    def test_divided_by_the_weights_it_is_the_weighed_centroid(self, weights):
        bags = BAGS[BAGS.any(axis=1)]
        pooling = Pooling(TABLE, weights=weights).fit(bags)
        g = pooling.word_weights_
        scales = (bags.sum(axis=1) / (bags @ g))[:, np.newaxis]
        expected = WordMover(TABLE, masses=weights).fit(bags).wcd(bags)
        assert_allclose(
            distances(pooling.transform(bags) * scales, metric="euclidean"), expected, atol=1e-5
        )

    def test_built_in_vectors(self):
        texts = ["Obama speaks to the media in Illinois", "The President greets the press"]
        found = distances(Pooling().transform(texts), metric="euclidean")[0, 1]
        assert found == pytest.approx(WordMover().word_centroid_distance(*texts), rel=1e-5)


class TestEmptyDocuments:
    @pytest.mark.parametrize(
        "options",
        [{}, {"remove_components": 1}, {"whiten": True}, {"combine": "max", "whiten": 2}],
        ids=str,
    )
    def test_are_zero_and_named(self, options):
        model = Pooling(VECTORS, **options).fit(TEXTS)
        found = model.transform(TEXTS)
        assert_array_equal(np.flatnonzero(~found.any(axis=1)), EMPTY)
        assert_array_equal(model.empty_documents(TEXTS), EMPTY)
        assert [cover.known for cover in model.coverage(TEXTS)][3:5] == [0, 0]

    def test_teach_nothing(self):
        filled = [text for row, text in enumerate(TEXTS) if row not in EMPTY]
        options = {"weights": "usif", "remove_components": 1, "whiten": True}
        one, other = (Pooling(VECTORS, **options).fit(texts) for texts in (TEXTS, filled))
        assert_allclose(one.whitening_, other.whitening_)
        assert_allclose(one.mean_, other.mean_)

    def test_a_document_whose_words_weigh_nothing_is_one(self):
        model = Pooling(TABLE, weights=np.array([0.0, 1, 1, 1, 1]), whiten=True)
        bags = np.vstack([BAGS, [[5, 0, 0, 0, 0]]])
        assert not model.fit(bags).transform(bags)[-1].any()
        assert_array_equal(model.empty_documents(bags), [*EMPTY, 7])

    def test_are_refused_where_that_is_asked_for(self):
        with pytest.raises(EmptyDocumentError, match="Document 3 and 1 more of X is empty") as told:
            Pooling(VECTORS, empty="error").transform(TEXTS)
        assert told.value.rows == (3, 4)

    def test_no_documents(self):
        assert Pooling(VECTORS).transform([]).shape == (0, 3)
        assert Pooling(TABLE, whiten=2).fit(BAGS).transform(BAGS[:0]).shape == (0, 2)
        with pytest.raises(ValueError, match="at least one document"):
            Pooling(VECTORS).fit([])


class TestExtremes:
    def test_one_document_has_nothing_beside_its_own_component(self):
        found = Pooling(TABLE, remove_components=1).fit_transform(BAGS[:1])
        assert_array_equal(found, 0)

    def test_directions_beyond_the_rank_are_none(self):
        model = Pooling(TABLE, remove_components=2).fit(np.repeat(BAGS[:1], 4, axis=0))
        assert_array_equal(model.components_[1], 0)
        assert_array_equal(model.singular_values_[1:], 0)
        assert model.transform(BAGS[1:2]).any()

    def test_huge_and_tiny_counts_have_the_same_mean(self):
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

    def test_what_is_too_large_is_told(self):
        with pytest.raises(ValueError, match="vector of document 2 is too large"):
            Pooling(TABLE, combine="sum").transform(BAGS * 8e307 * (np.arange(7) == 2)[:, None])
        with pytest.raises(ValueError, match="too large"):
            Pooling(TABLE, combine="sum", remove_components=1).fit(BAGS * 8e307)

    @pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
    def test_wrong_counts_are_refused(self, wrong):
        bags = BAGS.copy()
        bags[1, 1] = wrong
        with pytest.raises(ValueError, match="finite and at least 0; row 1"):
            Pooling(TABLE).transform(bags)

    def test_a_stored_zero_is_no_word(self):
        bags = sparse.csr_array(np.ones((1, 5)))
        bags.data[2:] = 0
        assert_allclose(Pooling(TABLE, combine="max").transform(bags), [[1, 1, 2]])
        assert_allclose(Pooling(TABLE).transform(bags), [[0.5, 0.5, 1.5]])

    def test_words_without_a_vector_are_left_out(self):
        table = TABLE.copy()
        table[2] = np.nan
        expected = slow(np.where(np.arange(5) == 2, 0, BAGS), TABLE)
        assert_allclose(Pooling(table).transform(BAGS), expected, rtol=1e-6)

    def test_what_is_too_small_to_be_whitened_is_told(self):
        model = Pooling(TABLE * np.float32(1e-30), combine="sum", whiten=True)
        with pytest.raises(ValueError, match="too small to be whitened"):
            model.fit(BAGS * 1e-290)

    def test_alike_documents_cannot_be_whitened(self):
        with pytest.raises(ValueError, match="two documents at least that differ"):
            Pooling(TABLE, whiten=True).fit(np.repeat(BAGS[2:3] / 3, 7, axis=0))
        with pytest.raises(ValueError, match="two documents at least that differ"):
            Pooling(TABLE, whiten=True).fit(BAGS[:1])

    def test_nothing_to_learn_from(self):
        for options in ({"remove_components": 1}, {"whiten": True}, {"weights": "sif"}):
            with pytest.raises(ValueError, match="X must have"):
                Pooling(TABLE, **options).fit(np.zeros((2, 5)))


class TestExplain:
    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"weights": "sif", "remove_components": 1},
            {"weights": "usif", "remove_components": 2},
            {"combine": "sum", "whiten": 2},
            {"weights": "tfidf", "remove_components": 1, "whiten": True},
            {"combine": "max", "remove_components": 1},
            {"combine": "max", "whiten": True},
        ],
        ids=str,
    )
    def test_parts_sum_to_the_cosine(self, options):
        model = Pooling(VECTORS, **options).fit(TEXTS)
        vectors = model.transform(TEXTS)
        for a, b in [(0, 1), (2, 5), (1, 2), (5, 5)]:
            found = model.explain(TEXTS[a], TEXTS[b])
            assert {part.name for part in found.parts} == set(TEXTS[a].split())
            cosine = similarities(vectors[[a]], vectors[[b]])[0, 0]
            assert found.score == pytest.approx(cosine, abs=1e-6)
            assert sum(part.value for part in found.parts) == pytest.approx(cosine, abs=1e-6)

    def test_words_name_the_columns_of_bags(self):
        found = Pooling(TABLE).explain(BAGS[0], BAGS[1], words=WORDS)
        assert {part.name for part in found.parts} == {"cat", "dog"}
        assert {part.name for part in Pooling(TABLE).explain(BAGS[0], BAGS[1]).parts} == {
            "#0",
            "#1",
        }
        with pytest.raises(ValueError, match="must name the 5 columns"):
            Pooling(TABLE).explain(BAGS[0], BAGS[1], words=WORDS[:2])

    def test_wrong_counts_are_refused(self):
        with pytest.raises(ValueError, match="b must hold counts or weights"):
            Pooling(TABLE).explain(BAGS[0], -BAGS[0])

    @pytest.mark.parametrize("scale", [1e-200, 1e200])
    def test_huge_and_tiny_sums_have_the_same_cosine(self, scale):
        model = Pooling(TABLE, combine="sum")
        expected = model.explain(BAGS[:1], BAGS[1:2]).score
        assert model.explain(BAGS[:1] * scale, BAGS[1:2]).score == pytest.approx(expected)

    def test_what_is_too_large_is_told(self):
        model = Pooling(TABLE, combine="sum", weights=np.full(5, 1e300))
        with pytest.raises(ValueError, match="vector of b is too large"):
            model.explain(BAGS[:1], BAGS[1:2] * 1e300)

    def test_nothing_is_shared_with_an_empty_document(self):
        found = Pooling(VECTORS).explain("cat", "")
        assert (found.score, found.parts) == (0.0, ())
        nothing_left = Pooling(TABLE, remove_components=1).fit(BAGS[:1])
        assert nothing_left.explain(BAGS[0], BAGS[2]).score == 0
        with pytest.raises(EmptyDocumentError, match="of b is empty"):
            Pooling(VECTORS, empty="error").explain("cat", "")


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"weights": "idf"}, ValueError, "weights must be one of"),
            ({"weights": 3}, ValueError, "weights must be one of"),
            ({"weights": np.ones(4)}, ValueError, "each of the 5 words"),
            ({"weights": np.array([1, 1, -1, 1, 1.0])}, ValueError, "position 2 has -1"),
            ({"weights": np.ones(5) * 1j}, ValueError, "weights must hold real numbers"),
            ({"combine": "min"}, ValueError, "combine must be"),
            ({"combine": "max", "weights": "sif"}, ValueError, "weights must be 'mean' for comb"),
            ({"remove_components": 3}, ValueError, "remove_components must be below 3"),
            ({"remove_components": -1}, ValueError, "remove_components must be a whole"),
            ({"whiten": 4}, ValueError, "whiten must be at most 3"),
            ({"whiten": 0}, ValueError, "whiten must be"),
            ({"a": 0, "weights": "sif"}, ValueError, "a must be a finite number above 0"),
            ({"probabilities": "rank", "weights": "sif"}, ValueError, "probabilities must be"),
            ({"probabilities": np.ones(3), "weights": "sif"}, ValueError, "each of the 5 words"),
            ({"probabilities": np.full(5, 2), "weights": "sif"}, ValueError, "between 0 and 1"),
            ({"probabilities": np.zeros(5), "weights": "sif"}, ValueError, "not all be 0"),
            ({"probabilities": np.array(list("abcde")), "weights": "sif"}, ValueError, "real num"),
            ({"probabilities": np.full(5, 0.9), "weights": "usif"}, ValueError, "must sum to 1"),
            ({"empty": "inf"}, ValueError, "empty must be"),
            ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
        ],
        ids=str,
    )
    def test_wrong_parameters(self, options, error, message):
        with pytest.raises(error, match=message):
            Pooling(TABLE, **options).fit(BAGS).transform(BAGS)

    @pytest.mark.parametrize(
        "options",
        [
            {"weights": "tfidf"},
            {"weights": "usif"},
            {"weights": "sif", "probabilities": "corpus"},
            {"remove_components": 1},
            {"whiten": True},
        ],
        ids=str,
    )
    def test_what_is_learnt_needs_a_fit(self, options):
        with pytest.raises(NotFittedError, match="call fit"):
            Pooling(VECTORS, **options).transform(TEXTS)

    def test_what_was_learnt_holds_for_its_parameters_alone(self):
        model = Pooling(VECTORS, weights="tfidf").fit(TEXTS)
        with pytest.raises(NotFittedError):
            model.set_params(weights="usif").transform(TEXTS)
        with pytest.raises(NotFittedError):
            model.set_params(weights="tfidf", remove_components=1).transform(TEXTS)
        model.set_params(remove_components=0).transform(TEXTS)

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ({"weights": np.ones(5)}, {"weights": np.arange(5.0)}),
            (
                {"weights": "sif", "probabilities": np.full(5, 0.1)},
                {"probabilities": np.linspace(0, 0.9, 5)},
            ),
            ({}, {"vectors": TABLE[::-1].copy()}),
        ],
        ids=["weights", "probabilities", "vectors"],
    )
    def test_it_holds_for_its_arrays_alone(self, before, after, tmp_path):
        model = Pooling(TABLE, remove_components=1, **before).fit(BAGS)
        expected = model.transform(BAGS)
        old = {name: getattr(model, name) for name in after}
        model.set_params(**after)
        for stale in (model, pickle.loads(pickle.dumps(model))):
            with pytest.raises(NotFittedError, match="have changed"):
                stale.transform(BAGS)
        with pytest.raises(NotFittedError):
            model.save(tmp_path / "model")
        assert_array_equal(model.set_params(**old).transform(BAGS), expected)

    def test_arrays_that_the_user_writes_to_change_nothing_learnt(self):
        weights = np.ones(5)
        model = Pooling(TABLE, weights=weights, remove_components=1).fit(BAGS)
        expected = model.transform(BAGS)
        weights[:] = [1, 2, 3, 4, 5]
        assert_array_equal(model.transform(BAGS), expected)

    def test_unknown_words_where_they_are_refused(self):
        with pytest.raises(ValueError, match="Document 4 of X has words without a vector"):
            Pooling(VECTORS, oov="error").transform(TEXTS)

    def test_bags_for_words_and_texts_for_columns(self):
        with pytest.raises(TypeError, match=r"Pooling\(vectors.align"):
            Pooling(VECTORS).transform(BAGS)
        with pytest.raises(TypeError, match="X must be bags"):
            Pooling(TABLE).transform(TEXTS)
