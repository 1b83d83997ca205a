"""Relevance feedback: Rocchio's formula, and its effect on the queries of rankings."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textkin import LSI, Index
from textkin.index import Cascade, RankFusion, TermRanking, WeightedSum, rocchio
from textkin.index.search._feedback import FeedbackRound, moved_words
from textkin.index.search._request import ranking_of
from textkin.weighting import BM25, TfIdf

WORDS = ["cat", "dog", "mat", "bird", "song", "tree", "sky", "sea"]
TEXTS = [
    "cat dog mat cat",
    "dog dog bird",
    "bird song tree sky",
    "cat song song",
    "",
    "tree sky sea sea",
    "mat",
    "cat dog mat cat",
    "sea song bird cat",
]
RANKINGS = {
    "bm25": "bm25",
    "bm25, query saturation": BM25(k3=1.0),
    "bm25, okapi": BM25(idf="okapi"),
    "tfidf": "tfidf",
    "tfidf, inner": TermRanking(TfIdf(), "inner"),
    "cosine": "cosine",
    "inner": "inner",
    "binary": "binary",
}


@pytest.fixture(scope="module")
def searcher(tmp_path_factory):
    with Index.create(tmp_path_factory.mktemp("feedback") / "test.kin", language=None) as index:
        index.add(TEXTS)
        yield index._searcher()


@pytest.fixture(params=RANKINGS)
def scorer(request, searcher):
    return searcher.scorer(ranking_of(RANKINGS[request.param]))


# ---------------------------------------------------------------- formula


def test_rocchio_matches_the_reference():
    moved = rocchio([1, 0, 0], [[1, 1, 0], [0, 1, 0]], [[0, 0, 2]])
    np.testing.assert_allclose(moved, [1.375, 0.75, 0])


def test_rocchio_without_documents_drops_the_term():
    np.testing.assert_allclose(rocchio([1, 2], alpha=0.5), [0.5, 1])
    np.testing.assert_allclose(rocchio([1, 2], [[2, 0]]), [2.5, 2])
    np.testing.assert_allclose(rocchio([1, 2], [], [[2, 20]]), [0.7, 0])
    np.testing.assert_allclose(rocchio([1, 2], np.zeros((0, 2)), np.zeros((0, 2))), [1, 2])


def test_rocchio_keeps_the_largest_entries_ties_by_position():
    np.testing.assert_allclose(rocchio([1, 3, 1, 2], max_terms=3), [1, 3, 0, 2])
    np.testing.assert_allclose(rocchio([1, 3, 1, 2], max_terms=9), [1, 3, 1, 2])


@pytest.mark.parametrize(
    ("arguments", "options", "error", "match"),
    [
        (([1, 2], [[1, 2, 3]]), {}, ValueError, "relevant must be rows of 2 numbers"),
        (([1, 2], [1, 2]), {}, ValueError, "relevant must be rows of 2 numbers"),
        (([1, 2], [], [[1]]), {}, ValueError, "nonrelevant must be rows of 2 numbers"),
        (([[1, 2]],), {}, ValueError, "query must be one vector"),
        (([1, np.nan],), {}, ValueError, "must be finite"),
        (([1, 2], [[np.inf, 0]]), {}, ValueError, "must be finite"),
        (([1, 2],), {"alpha": -1}, ValueError, "alpha must be a finite number at least 0"),
        (([1, 2],), {"beta": np.nan}, ValueError, "beta must be"),
        (([1, 2],), {"gamma": "much"}, TypeError, "gamma must be"),
        (([1, 2],), {"max_terms": 0}, ValueError, "max_terms must be"),
        (([1, 2],), {"max_terms": 1.5}, ValueError, "max_terms must be"),
        (([1, 2],), {"alpha": 0, "beta": 0}, ValueError, "must not both be 0"),
    ],
)
def test_rocchio_invalid_arguments_raise(arguments, options, error, match):
    with pytest.raises(error, match=match):
        rocchio(*arguments, **options)


VECTORS = st.dictionaries(st.integers(0, 9), st.floats(0.01, 10), max_size=6)


@settings(max_examples=100)
@given(
    VECTORS,
    st.lists(VECTORS, max_size=3),
    st.lists(VECTORS, max_size=3),
    st.one_of(st.none(), st.integers(1, 4)),
)
def test_rocchio_of_words_matches_vectors(query, relevant, nonrelevant, max_terms):
    def sparse(vector):
        words = np.array(sorted(vector), np.int32)
        return words, np.array([vector[word] for word in words.tolist()])

    def dense(vector):
        return [vector.get(word, 0.0) for word in range(10)]

    words, weights = moved_words(
        sparse(query),
        [*map(sparse, relevant)],
        [*map(sparse, nonrelevant)],
        FeedbackRound(max_terms=max_terms),
    )
    expected = rocchio(
        dense(query), [*map(dense, relevant)], [*map(dense, nonrelevant)], max_terms=max_terms
    )
    assert (np.diff(words) > 0).all()
    found = np.zeros(10)
    found[words] = weights
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (weights > 0).all()


# ---------------------------------------------------------------- queries of rankings

QUERIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
ROWS = st.lists(st.sampled_from([0, 1, 2, 3, 4, 5, 7, 8]), max_size=3, unique=True)


def vector_of(query, n_words):
    found = np.zeros(n_words)
    found[query.words] = query.weights
    return found


@cache
def documents(scorer):
    """Score all documents by adding the contribution of each word."""
    found = np.zeros((scorer.state.n_rows, scorer.state.n_words))
    for at, name in enumerate(scorer.state.words):
        alone = scorer.of_words({name: 1.0})
        for row in range(scorer.state.n_rows):
            found[row, at] = scorer.explain(alone, row).score
    return found


@settings(max_examples=30)
@given(QUERIES, ROWS, ROWS, st.sampled_from([None, 2, 50]))
@pytest.mark.parametrize("name", RANKINGS)
def test_feedback_scales_documents_to_the_query(
    searcher, name, text, relevant, nonrelevant, max_terms
):
    scorer = searcher.scorer(ranking_of(RANKINGS[name]))
    query = scorer.of_text(text)
    moved = scorer.moved(query, relevant, nonrelevant, FeedbackRound(max_terms=max_terms))
    start = vector_of(query, searcher.state.n_words)
    lengths = np.linalg.norm(documents(scorer), axis=1, keepdims=True)
    rows = np.linalg.norm(start) * documents(scorer) / np.where(lengths, lengths, 1)
    expected = rocchio(start, rows[relevant], rows[nonrelevant], max_terms=max_terms)
    if name in ("tfidf", "cosine") and expected.any():
        expected /= np.linalg.norm(expected)
    found = vector_of(moved, searcher.state.n_words)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_feedback_without_marks_changes_nothing(scorer):
    query = scorer.of_text("cat song song")
    before = scorer.best(query, 10)
    for _ in range(3):
        query = scorer.moved(query, [], [], FeedbackRound())
        after = scorer.best(query, 10)
        assert after.rows.tolist() == before.rows.tolist()
        np.testing.assert_allclose(after.scores, before.scores, rtol=1e-6)


def test_marked_document_rises_in_each_round(scorer):
    query = scorer.of_text("song")
    ranks = []
    for _ in range(4):
        rows = scorer.best(query, 10).rows.tolist()
        ranks.append(rows.index(5) if 5 in rows else 99)
        query = scorer.moved(query, [5], [], FeedbackRound())
    assert ranks[0] == 99  # it has no word of the query
    assert sorted(ranks, reverse=True) == ranks
    assert ranks[-1] < 99


def test_gamma_lowers_nonrelevant_documents(scorer):
    query = scorer.of_text("cat song bird dog")
    before = scorer.best(query, 10)
    marked = int(before.rows[0])
    scores = []
    for gamma in (0.0, 0.05, 0.1, 0.2):
        after = scorer.best(scorer.moved(query, [], [marked], FeedbackRound(gamma=gamma)), 10)
        found = dict(zip(after.rows.tolist(), after.scores.tolist(), strict=True))
        scores.append(found.get(marked, 0.0))
    assert scores[0] == pytest.approx(before.scores[0])
    assert all(second < first for first, second in pairwise(scores))


def test_pseudo_feedback_equals_feedback_with_top_hits(scorer):
    """Like `Hits.pseudo_feedback`: the first m are relevant, and none are nonrelevant."""
    query = scorer.of_text("cat song")
    top = scorer.best(query, 3).rows.tolist()
    one = scorer.moved(query, top, [], FeedbackRound(gamma=0))
    other = scorer.moved(query, top, [], FeedbackRound(gamma=0.15))
    np.testing.assert_array_equal(one.words, other.words)
    np.testing.assert_array_equal(one.weights, other.weights)


def test_feedback_limits_query_words(scorer):
    query = scorer.of_text("cat")
    moved = scorer.moved(query, [2, 5, 8], [], FeedbackRound(max_terms=3))
    assert len(moved.words) == 3
    words = scorer.words_of(moved)
    everything = scorer.words_of(scorer.moved(query, [2, 5, 8], [], FeedbackRound(max_terms=None)))
    assert list(words) == list(everything)[:3]


def test_words_of_a_refined_query_give_the_same_hits(scorer):
    moved = scorer.moved(scorer.of_text("cat song"), [2, 5], [0], FeedbackRound())
    again = scorer.of_words(scorer.words_of(moved))
    one, other = scorer.best(moved, 10), scorer.best(again, 10)
    assert one.rows.tolist() == other.rows.tolist()
    np.testing.assert_allclose(one.scores, other.scores)


def test_feedback_can_remove_all_words(scorer):
    query = scorer.of_text("tree")
    moved = scorer.moved(query, [], [2, 5], FeedbackRound(alpha=0.001, gamma=1))
    assert len(moved.words) == 0
    assert len(scorer.best(moved, 10).rows) == 0


def test_empty_query_becomes_the_documents(scorer):
    query = scorer.of_text("zebra")
    moved = scorer.moved(query, [5], [], FeedbackRound())
    assert set(scorer.words_of(moved)) == {"tree", "sky", "sea"}
    assert np.isfinite(moved.weights).all()
    assert scorer.best(moved, 1).rows.tolist() == [5]


def test_empty_document_changes_only_the_mean(scorer):
    query = scorer.of_text("cat")
    alone = scorer.moved(query, [4], [], FeedbackRound())
    assert scorer.best(alone, 9).rows.tolist() == scorer.best(query, 9).rows.tolist()


# ---------------------------------------------------------------- all rankings

EVERY = {
    **RANKINGS,
    "wmd": "wmd",
    "rwmd": "rwmd",
    "wcd": "wcd",
    "model": "lsi",
    "sum": WeightedSum({"bm25": 0.7, "wmd": 0.3}),
    "sum with a model": WeightedSum({"bm25": 0.5, "lsi": 0.5}, pool="union"),
    "fusion": RankFusion(["bm25", "wcd"]),
    "cascade": Cascade("bm25", "wmd"),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with Index.create(tmp_path_factory.mktemp("every") / "test.kin", language=None) as made:
        made.add(TEXTS)
        made.attach("lsi", LSI(3, random_state=0))
        yield made


@pytest.fixture(params=EVERY)
def by(request):
    return EVERY[request.param]


def test_hits_without_marks_are_unchanged(index, by):
    hits = index.search("cat song bird", ranking=by)
    again = hits.feedback().feedback([], [])
    assert again.ids == hits.ids
    np.testing.assert_allclose(again.scores, hits.scores)


def test_marked_hits_do_not_fall(index, by):
    """A document marked in every round does not lose ranks, and ends at the top."""
    hits = index.search("cat song bird", ranking=by)
    marked = hits.ids[min(2, len(hits) - 1)]
    place = hits.ids.index(marked)
    for _ in range(4):
        hits = hits.feedback([marked], beta=2.0)
    assert hits.ids.index(marked) <= place
    best = hits.scores[hits.ids.index(marked)]
    assert best == pytest.approx(hits.scores[0], rel=0.2)


def test_hits_pseudo_feedback_equals_feedback_with_top_hits(index, by):
    hits = index.search("cat song", ranking=by)
    one, other = hits.pseudo_feedback(2), hits.feedback(hits.ids[:2], gamma=0.0)
    assert one.ids == other.ids
    np.testing.assert_array_equal(one.scores, other.scores)


def test_scores_after_feedback_are_explained(index, by):
    hits = index.search("cat song", ranking=by).feedback(["5"], ["0"])
    for hit in hits:
        explained = hit.explain()
        told = getattr(explained, "distance", None)
        told = explained.score if told is None else told
        assert told == pytest.approx(hit.score, rel=1e-5, abs=1e-9)


def test_order_of_marks_is_ignored(index, by):
    hits = index.search("cat song", ranking=by)
    one = hits.feedback(["2", "5", "8"], ["0", "1"])
    other = hits.feedback(["8", "2", "5"], ["1", "0"])
    assert one.ids == other.ids
    np.testing.assert_allclose(one.scores, other.scores, rtol=1e-6)
