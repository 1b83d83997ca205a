"""Tests of the `WordMover` interface: documents, word weights, errors, and estimator rules."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from textkin import BagOfWords, WordMover, WordVectors, read
from textkin.exceptions import EmptyDocumentError
from textkin.weighting import sif_weights, zipf_probabilities

WORDS = ["the", "press", "media", "band", "Paris"]
MATRIX = np.array([[9, 1], [1, 1], [1, 2], [5, 5], [8, 8]], dtype=np.float32)
TEXTS = ["the press", "media media band", "Paris press media"]


@pytest.fixture
def vectors():
    return WordVectors(WORDS, MATRIX)


def row(*counts):
    return np.array(counts, dtype=np.float32)


# ---------------------------------------------------------------- types of documents


def test_texts_tokens_and_bags_agree(vectors):
    by_text = WordMover(vectors).distance("The press in Paris", "media, media, band!")
    by_tokens = WordMover(vectors).distance(["press", "paris"], ["media", "band", "media"])
    a, b = row(0, 1, 0, 0, 1), row(0, 0, 2, 1, 0)
    by_bags = WordMover(MATRIX).distance(a, b)
    assert by_text == by_tokens == by_bags


@pytest.mark.parametrize(
    "convert",
    [
        sparse.csr_matrix,
        sparse.csr_array,
        sparse.csc_array,
        sparse.coo_array,
        sparse.lil_matrix,
        np.asarray,
        lambda rows: sparse.csr_array(np.asarray(rows, dtype=np.int64)),
        lambda rows: sparse.csr_array(np.asarray(rows, dtype=bool)),
    ],
)
def test_all_array_types_give_the_same(convert):
    rows = [[0, 1, 0, 0, 1], [0, 0, 1, 1, 0]]
    mover = WordMover(MATRIX)
    expected = mover.distance(row(*rows[0]), row(*rows[1]))
    bags = convert(rows)
    assert mover.pairwise(bags)[0, 1] == expected


def test_row_of_an_array_is_a_document():
    bags = sparse.csr_array(np.array([[0, 1, 0, 0, 1], [0, 0, 1, 1, 0]], dtype=np.float32))
    mover = WordMover(MATRIX)
    expected = mover.pairwise(bags)[0, 1]
    assert mover.distance(bags[0], bags[1]) == expected  # one-dimensional in SciPy
    assert mover.distance(bags[[0]], bags[[1]]) == expected


def test_unsorted_and_repeated_entries_are_summed_without_changing_the_input():
    data = np.array([1, 1, 1], dtype=np.float32)
    messy = sparse.csr_array((data, np.array([4, 1, 4]), np.array([0, 3])), shape=(1, 5))
    mover = WordMover(MATRIX)
    other = row(0, 0, 1, 0, 0)
    assert mover.distance(messy, other) == mover.distance(row(0, 1, 0, 0, 2), other)
    assert messy.indices.tolist() == [4, 1, 4]


def test_bags_of_bag_of_words_are_accepted(vectors):
    bags_of = BagOfWords(stop_words=None)
    bags = bags_of.fit_transform(TEXTS)
    mover = WordMover(vectors.align(bags_of.vocabulary_))
    by_text = WordMover(vectors, stop_words=None).pairwise(TEXTS)
    np.testing.assert_allclose(mover.pairwise(bags), by_text, rtol=1e-6)


def test_feature_names_name_the_columns(vectors):
    mover = WordMover(MATRIX)
    a, b = row(0, 1, 0, 0, 0), row(0, 0, 1, 0, 0)
    assert mover.explain(a, b).moves[0].source == "#1"
    assert mover.explain(a, b, feature_names=WORDS).moves[0].source == "press"
    with pytest.raises(
        ValueError, match="feature_names must name the 5 columns of the bags; got 2"
    ):
        mover.explain(a, b, feature_names=["one", "two"])


def test_words_are_looked_up_as_written_then_in_lower_then_in_title_case(vectors):
    mover = WordMover(vectors)
    assert mover.distance("PRESS paris", "Press Paris") == 0
    assert mover.distance(["Paris"], ["PARIS"]) == 0


def test_stop_words_are_removed_from_texts_only(vectors):
    assert WordMover(vectors).distance("the press", "press") == 0
    assert WordMover(vectors, stop_words=None).distance("the press", "press") > 0
    assert WordMover(vectors, stop_words=["Press"]).distance("press media", "media") == 0
    # tokens are used unchanged
    assert WordMover(vectors).distance(["the", "press"], ["press"]) > 0


def test_max_words_per_document_truncates(vectors):
    cut = WordMover(vectors, max_words_per_document=1)
    assert cut.distance("media media band", "media") == 0


# ---------------------------------------------------------------- word weights


def masses_of(mover, document):
    return dict(mover.explain(document, document).flow.sources)


def test_nbow_weights(vectors):
    assert masses_of(WordMover(vectors), "media media band") == {"media": 2 / 3, "band": 1 / 3}


def test_sif_by_rank_needs_no_corpus(vectors):
    weights = sif_weights(zipf_probabilities(5))
    found = masses_of(WordMover(vectors, word_weights="sif"), "media media band")
    total = 2 * weights[2] + weights[3]
    assert found == pytest.approx({"media": 2 * weights[2] / total, "band": weights[3] / total})


def test_sif_of_bags_learns_from_the_corpus():
    mover = WordMover(MATRIX, word_weights="sif")
    document = row(0, 1, 0, 1, 0)
    with pytest.raises(NotFittedError, match="call fit"):
        mover.distance(document, document)
    mover.fit(np.array([[0, 3, 0, 1, 0]]))
    weights = sif_weights(np.array([0.75, 0.25]))
    found = mover.explain(document, document, feature_names=WORDS)
    assert dict(found.flow.sources) == pytest.approx(
        dict(zip(["press", "band"], weights / weights.sum(), strict=True))
    )


def test_tfidf_learns_from_the_corpus(vectors):
    mover = WordMover(vectors, word_weights="tfidf", stop_words=None)
    with pytest.raises(
        NotFittedError, match="word_weights='tfidf' uses the frequencies of a corpus"
    ):
        mover.distance("press", "media")
    mover.fit(["press media", "press band", "press", "press media"])
    assert mover.n_documents_ == 4
    # press is everywhere: idf 0; media log2(4/2) = 1; band log2(4/1) = 2
    assert masses_of(mover, "press media band") == pytest.approx({"media": 1 / 3, "band": 2 / 3})
    # an unseen word has the weight of a word in one document
    assert masses_of(mover, "media Paris") == pytest.approx({"media": 1 / 3, "Paris": 2 / 3})


def test_document_of_words_without_weight_raises(vectors):
    mover = WordMover(vectors, word_weights="tfidf").fit(["press media", "press band"])
    with pytest.raises(EmptyDocumentError, match=r"have weight 0 under .*word_weights='nbow'"):
        mover.distance("press", "media")


def test_given_weights_are_used(vectors):
    weights = np.array([0, 1, 3, 1, 0], dtype=float)
    assert masses_of(WordMover(vectors, word_weights=weights), "media band") == {
        "media": 0.75,
        "band": 0.25,
    }
    by_bag = WordMover(MATRIX).explain(
        row(0, 0, 0.75, 0.25, 0), row(0, 1, 0, 0, 0), feature_names=WORDS
    )
    assert dict(by_bag.flow.sources) == {"media": 0.75, "band": 0.25}


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(4), "one number for each of the 5 words; got shape"),
        (np.full(5, -1.0), "finite and at least 0; position 0 has -1"),
        (np.full(5, np.nan), "finite and at least 0; position 0 has nan"),
        (np.ones(5) * 1j, "word_weights must hold real numbers"),
    ],
)
def test_invalid_weights_raise(vectors, weights, message):
    with pytest.raises(ValueError, match=message):
        WordMover(vectors, word_weights=weights).distance("press", "media")


# ---------------------------------------------------------------- costs


def test_unit_vectors_and_cosine_cost(vectors):
    unit = MATRIX / np.linalg.norm(MATRIX, axis=1, keepdims=True)
    a, b = "press", "band"
    euclidean = WordMover(vectors, unit=True).distance(a, b)
    assert euclidean == pytest.approx(np.linalg.norm(unit[1] - unit[3]), abs=1e-6)
    cosine = WordMover(vectors, cost="cosine").distance("press", "media")
    assert cosine == pytest.approx(1 - unit[1] @ unit[2], rel=1e-5)
    assert WordMover(vectors, cost="sqeuclidean").distance(a, b) == pytest.approx(32, rel=1e-6)
    assert WordMover(vectors).distance(a, b) == pytest.approx(np.sqrt(32), rel=1e-6)


def test_metric_selects_centroid_or_relaxed_distances(vectors):
    mover = WordMover(vectors)
    a, b = "press media", "band"
    bounds = mover.bounds(a, b)
    for metric, bound in (
        ("wcd", bounds.centroid),
        ("rwmd", bounds.relaxed),
        ("rwmd-query", bounds.source),
        ("rwmd-document", bounds.target),
    ):
        other = WordMover(vectors, metric=metric)
        assert other.distance(a, b) == bound
        assert other.pairwise([a], [b]) == bound
        assert other.paired([a, b], [b, b])[0] == bound
        assert mover.pairwise([a], [b], metric=metric) == bound
    for call in ("distance", "pairwise", "paired"):
        with pytest.raises(ValueError, match="metric must be one of 'wmd', 'rwmd'"):
            getattr(WordMover(vectors, metric="left"), call)([a], [b])


def test_paired_bounds_equal_pairwise(rng):
    table = rng.normal(size=(30, 4))
    bags = sparse.csr_array((rng.random((9, 30)) < 0.3) * rng.integers(1, 4, (9, 30)))
    bags = bags[np.flatnonzero(np.diff(bags.indptr))]
    seen = []
    for metric in ("wcd", "rwmd", "rwmd-query", "rwmd-document"):
        mover = WordMover(table, metric=metric, word_weights=rng.random(30))
        found = mover.paired(bags, bags[::-1], progress=lambda *done: seen.append(done))
        np.testing.assert_array_equal(found, np.diag(mover.pairwise(bags, bags[::-1])))
        assert seen[-1] == (len(found), len(found))
    with pytest.raises(ValueError, match="same number of documents"):
        mover.paired(bags, bags[:1])


# ---------------------------------------------------------------- invalid input


def test_arrays_of_the_caller_are_unchanged():
    matrix, bags = MATRIX.copy(), sparse.csr_array(np.eye(5, dtype=np.float32))
    WordMover(matrix).pairwise(bags)
    assert matrix.flags.writeable
    np.testing.assert_array_equal(matrix, MATRIX)
    np.testing.assert_array_equal(bags.toarray(), np.eye(5))


def test_documents_that_do_not_match_the_vectors_raise(vectors):
    with pytest.raises(TypeError, match=r"vectors.align\(vocabulary\)"):
        WordMover(vectors).distance(row(1, 0, 0, 0, 0), row(0, 1, 0, 0, 0))
    with pytest.raises(TypeError, match=r"vectors.align\(vocabulary\)"):
        WordMover().pairwise(sparse.csr_array(np.eye(3)))
    with pytest.raises(TypeError, match="because they are a matrix without words"):
        WordMover(MATRIX).distance("press", "media")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.pairwise("press"), "X must be a list of documents; got one text"),
        (
            lambda m: m.pairwise(["press", None]),
            "X must contain texts or lists of tokens; position 1",
        ),
        (lambda m: m.pairwise([b"press"]), "position 0 has type bytes"),
        (lambda m: m.pairwise({"press": 1}), "X must be a list of documents; got dict"),
        (lambda m: m.distance("press", None), "b must be a text, a list of tokens or one row"),
        (lambda m: m.distance(3, "press"), "a must be a text"),
        (lambda m: m.distance(["press", 3], "press"), "a must contain texts or lists of tokens"),
    ],
)
def test_invalid_types_raise(vectors, call, message):
    with pytest.raises(TypeError, match=message):
        call(WordMover(vectors))


@pytest.mark.parametrize(
    ("bag", "message"),
    [
        (np.ones((1, 4)), "a must have 5 columns, one for each row of the vectors; got 4"),
        (np.ones((2, 5)), "a must be one document; got 2 rows"),
        (row(0, -1, 0, 0, 0), "finite and not negative; row 0 has -1.0"),
        (row(0, np.nan, 1, 0, 0), "finite and not negative"),
        (row(0, np.inf, 1, 0, 0), "finite and not negative"),
        (sparse.csr_array(np.ones((1, 5)) * 1j), "real numbers"),
    ],
)
def test_invalid_bags_raise(bag, message):
    with pytest.raises(ValueError, match=message):
        WordMover(MATRIX).distance(bag, row(1, 0, 0, 0, 0))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones(5), "vectors must be a matrix of real numbers"),
        (np.ones((0, 3)), "vectors must be a matrix of real numbers"),
        (np.array([["a"]]), "vectors must be a matrix of real numbers"),
        (np.array([[1.0, 2.0], [0.0, 0.0]]), "vectors must not be zero; row 1 is"),
        (np.array([[1.0, 2.0], [np.nan, 0.0]]), "vectors must be finite in float32; row 1"),
        (np.array([[1.0, np.inf]]), "vectors must be finite in float32; row 0"),
        (np.array([[1.0, 1e300]]), "vectors must be finite in float32; row 0"),
    ],
)
def test_invalid_matrices_raise(matrix, message):
    with pytest.raises(ValueError, match=message):
        WordMover(matrix).distance(np.ones(1), np.ones(1))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"cost": "manhattan"}, ValueError, "cost must be one of 'euclidean'.*got 'manhattan'"),
        ({"word_weights": "idf"}, ValueError, "word_weights must be one of 'nbow', 'sif', 'tfidf'"),
        ({"word_weights": 3}, ValueError, "word_weights must be"),
        ({"unit": 1}, ValueError, "unit must be one of True, False; got 1"),
        ({"empty": "zero"}, ValueError, "empty must be one of 'error', 'inf'"),
        ({"oov": "keep"}, ValueError, "oov must be one of 'drop', 'error'"),
        ({"vectors": "glove.txt"}, ValueError, "vectors must be .*WordVectors.load"),
        ({"stop_words": "english"}, ValueError, "stop_words must be 'smart', None or a list"),
        ({"max_words_per_document": 0}, ValueError, "at least 1; got 0"),
        ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
        ({"n_jobs": 1.5}, ValueError, "n_jobs must be"),
    ],
)
def test_invalid_parameters_raise(parameters, error, message):
    with pytest.raises(error, match=message):
        WordMover(**parameters).pairwise(["press", "media"])


def test_paired_with_different_lengths_raises(vectors):
    with pytest.raises(ValueError, match="same number of documents; got 2 and 1"):
        WordMover(vectors).paired(["press", "media"], ["band"])


# ---------------------------------------------------------------- estimator rules


def test_clone_and_pickle_keep_parameters_and_fit(vectors):
    mover = WordMover(vectors, word_weights="tfidf", unit=True).fit(TEXTS)
    expected = mover.distance("press band", "media")
    again = pickle.loads(pickle.dumps(mover))
    assert again.distance("press band", "media") == expected
    fresh = clone(mover)
    assert fresh.get_params()["unit"] is True
    assert not hasattr(fresh, "word_weights_")
    assert fresh.fit(TEXTS).distance("press band", "media") == expected


def test_pickles_omit_derived_objects(vectors):
    mover = WordMover(vectors, unit=True)
    before = len(pickle.dumps(mover))
    mover.distance("press", "media")
    assert len(pickle.dumps(mover)) == before


def test_changed_parameters_apply_immediately(vectors):
    mover = WordMover(vectors)
    raw = mover.distance("press", "band")
    assert mover.set_params(unit=True).distance("press", "band") != raw
    assert mover.set_params(unit=False).distance("press", "band") == raw
    assert mover.set_params(cost="sqeuclidean").distance("press", "band") != raw


def test_changed_weights_or_vectors_require_another_fit(vectors):
    mover = WordMover(vectors).fit(TEXTS)
    with pytest.raises(NotFittedError, match="again, if word_weights or vectors have changed"):
        mover.set_params(word_weights="tfidf").distance("press band", "media")
    bags = BagOfWords(vocabulary=WORDS, lowercase=False).transform(TEXTS)
    mover = WordMover(MATRIX, word_weights="tfidf").fit(bags)
    with pytest.raises(NotFittedError):
        mover.set_params(word_weights="sif").distance(bags[0], bags[1])
    mover.set_params(word_weights="tfidf").distance(bags[0], bags[1])
    with pytest.raises(NotFittedError):
        mover.set_params(vectors=MATRIX[:4]).distance(bags[:, :4][0], bags[:, :4][1])


def test_every_changed_parameter_is_validated(vectors):
    mover = WordMover(vectors)
    mover.distance("press", "media")
    with pytest.raises(TypeError, match="stop_words must be"):
        mover.set_params(stop_words=3).distance("press", "media")


def test_refit_replaces_the_first_fit(vectors):
    mover = WordMover(vectors, word_weights="tfidf")
    mover.fit(["press", "media", "media band"])
    first = mover.word_weights_
    mover.fit(["press", "media"])
    assert mover.n_documents_ == 2
    assert not np.array_equal(first, mover.word_weights_)


def test_word_mover_ends_a_pipeline(vectors):
    columns = ["press", "media", "band"]
    matrix = vectors.align(columns)
    pipeline = make_pipeline(BagOfWords(vocabulary=columns), WordMover(matrix, word_weights="sif"))
    pipeline.fit(TEXTS)
    assert pipeline[-1].n_documents_ == 3
    bags = pipeline[:-1].transform(TEXTS)
    assert pipeline[-1].pairwise(bags).shape == (3, 3)


def test_repr_shows_changed_parameters(vectors):
    assert repr(WordMover(unit=True)) == "WordMover(unit=True)"
    found = WordMover(vectors).explain("press zyx", "media")
    assert repr(found).startswith("Comparison: distance 1, at least 1 (relaxed) and 1 (centroid)")


def test_read_documents_are_accepted_as_texts(vectors):
    found = list(read(["the press", "media"]))
    mover = WordMover(vectors)
    assert mover.distance(*found) == mover.distance("the press", "media")
    np.testing.assert_array_equal(mover.pairwise(found), mover.pairwise(["the press", "media"]))
