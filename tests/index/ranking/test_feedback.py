"""Relevance feedback: Rocchio's formula, and queries of rankings that move by it."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textkin import LSI, Index
from textkin.index import Cascade, RankFusion, WeightedSum, rocchio
from textkin.index.ranking import TermRanking
from textkin.index.ranking._choosing import ranking_of
from textkin.index.ranking._feedback import Rocchio, moved_words
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
def view(tmp_path_factory):
    with Index.create(tmp_path_factory.mktemp("feedback") / "test.kin") as index:
        index.add(TEXTS)
        yield index._view()


@pytest.fixture(params=RANKINGS)
def ranker(request, view):
    return ranking_of(RANKINGS[request.param]).on(view)


# ---------------------------------------------------------------- the formula


def test_the_numbers_of_the_reference():
    moved = rocchio([1, 0, 0], [[1, 1, 0], [0, 1, 0]], [[0, 0, 2]])
    np.testing.assert_allclose(moved, [1.375, 0.75, 0])


def test_without_documents_a_term_is_left_out():
    np.testing.assert_allclose(rocchio([1, 2], alpha=0.5), [0.5, 1])
    np.testing.assert_allclose(rocchio([1, 2], [[2, 0]]), [2.5, 2])
    np.testing.assert_allclose(rocchio([1, 2], [], [[2, 20]]), [0.7, 0])
    np.testing.assert_allclose(rocchio([1, 2], np.zeros((0, 2)), np.zeros((0, 2))), [1, 2])


def test_the_heaviest_entries_stay_and_of_equal_ones_the_first():
    np.testing.assert_allclose(rocchio([1, 3, 1, 2], n_terms=3), [1, 3, 0, 2])
    np.testing.assert_allclose(rocchio([1, 3, 1, 2], n_terms=9), [1, 3, 1, 2])


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
        (([1, 2],), {"n_terms": 0}, ValueError, "n_terms must be"),
        (([1, 2],), {"n_terms": 1.5}, ValueError, "n_terms must be"),
        (([1, 2],), {"alpha": 0, "beta": 0}, ValueError, "must not both be 0"),
    ],
)
def test_wrong_arguments_are_refused(arguments, options, error, match):
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
def test_words_move_as_vectors_do(query, relevant, nonrelevant, n_terms):
    def sparse(vector):
        words = np.array(sorted(vector), np.int32)
        return words, np.array([vector[word] for word in words.tolist()])

    def dense(vector):
        return [vector.get(word, 0.0) for word in range(10)]

    words, weights = moved_words(
        sparse(query),
        [*map(sparse, relevant)],
        [*map(sparse, nonrelevant)],
        Rocchio(n_terms=n_terms),
    )
    expected = rocchio(
        dense(query), [*map(dense, relevant)], [*map(dense, nonrelevant)], n_terms=n_terms
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
def documents(ranker):
    """All documents as they are scored: what each word alone would give."""
    found = np.zeros((ranker.view.n_rows, ranker.view.n_words))
    for at, name in enumerate(ranker.view.words):
        alone = ranker.of_words({name: 1.0})
        for row in range(ranker.view.n_rows):
            found[row, at] = ranker.explain(alone, row).score
    return found


@settings(max_examples=30)
@given(QUERIES, ROWS, ROWS, st.sampled_from([None, 2, 50]))
@pytest.mark.parametrize("name", RANKINGS)
def test_a_query_moves_towards_documents_of_its_own_length(
    view, name, text, relevant, nonrelevant, n_terms
):
    ranker = ranking_of(RANKINGS[name]).on(view)
    query = ranker.of_text(text)
    moved = ranker.moved(query, relevant, nonrelevant, Rocchio(n_terms=n_terms))
    start = vector_of(query, view.n_words)
    lengths = np.linalg.norm(documents(ranker), axis=1, keepdims=True)
    rows = np.linalg.norm(start) * documents(ranker) / np.where(lengths, lengths, 1)
    expected = rocchio(start, rows[relevant], rows[nonrelevant], n_terms=n_terms)
    if name in ("tfidf", "cosine") and expected.any():
        expected /= np.linalg.norm(expected)
    found = vector_of(moved, view.n_words)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_nothing_marked_changes_nothing(ranker):
    query = ranker.of_text("cat song song")
    before = ranker.best(query, 10)
    for _ in range(3):
        query = ranker.moved(query, [], [], Rocchio())
        after = ranker.best(query, 10)
        assert after.rows.tolist() == before.rows.tolist()
        np.testing.assert_allclose(after.scores, before.scores, rtol=1e-6)


def test_round_after_round_a_marked_document_rises(ranker):
    query = ranker.of_text("song")
    ranks = []
    for _ in range(4):
        rows = ranker.best(query, 10).rows.tolist()
        ranks.append(rows.index(5) if 5 in rows else 99)
        query = ranker.moved(query, [5], [], Rocchio())
    assert ranks[0] == 99  # it has no word of the query
    assert sorted(ranks, reverse=True) == ranks
    assert ranks[-1] < 99


def test_gamma_pushes_down(ranker):
    query = ranker.of_text("cat song bird dog")
    before = ranker.best(query, 10)
    marked = int(before.rows[0])
    scores = []
    for gamma in (0.0, 0.05, 0.1, 0.2):
        after = ranker.best(ranker.moved(query, [], [marked], Rocchio(gamma=gamma)), 10)
        found = dict(zip(after.rows.tolist(), after.scores.tolist(), strict=True))
        scores.append(found.get(marked, 0.0))
    assert scores[0] == pytest.approx(before.scores[0])
    assert all(second < first for first, second in pairwise(scores))


def test_pseudo_feedback_is_feedback_with_the_best(ranker):
    """As `Hits.pseudo_feedback` has it: the first m are taken for right, nothing for wrong."""
    query = ranker.of_text("cat song")
    top = ranker.best(query, 3).rows.tolist()
    one = ranker.moved(query, top, [], Rocchio(gamma=0))
    other = ranker.moved(query, top, [], Rocchio(gamma=0.15))
    np.testing.assert_array_equal(one.words, other.words)
    np.testing.assert_array_equal(one.weights, other.weights)


def test_the_query_stays_small(ranker):
    query = ranker.of_text("cat")
    moved = ranker.moved(query, [2, 5, 8], [], Rocchio(n_terms=3))
    assert len(moved.words) == 3
    words = ranker.words_of(moved)
    everything = ranker.words_of(ranker.moved(query, [2, 5, 8], [], Rocchio(n_terms=None)))
    assert list(words) == list(everything)[:3]


def test_the_words_of_a_moved_query_find_the_same(ranker):
    moved = ranker.moved(ranker.of_text("cat song"), [2, 5], [0], Rocchio())
    again = ranker.of_words(ranker.words_of(moved))
    one, other = ranker.best(moved, 10), ranker.best(again, 10)
    assert one.rows.tolist() == other.rows.tolist()
    np.testing.assert_allclose(one.scores, other.scores)


def test_all_words_can_leave(ranker):
    query = ranker.of_text("tree")
    moved = ranker.moved(query, [], [2, 5], Rocchio(alpha=0.001, gamma=1))
    assert len(moved.words) == 0
    assert len(ranker.best(moved, 10).rows) == 0


def test_without_a_word_the_query_is_that_of_the_documents(ranker):
    query = ranker.of_text("zebra")
    moved = ranker.moved(query, [5], [], Rocchio())
    assert set(ranker.words_of(moved)) == {"tree", "sky", "sea"}
    assert np.isfinite(moved.weights).all()
    assert ranker.best(moved, 1).rows.tolist() == [5]


def test_an_empty_document_moves_nothing_but_the_mean(ranker):
    query = ranker.of_text("cat")
    alone = ranker.moved(query, [4], [], Rocchio())
    assert ranker.best(alone, 9).rows.tolist() == ranker.best(query, 9).rows.tolist()


# ---------------------------------------------------------------- every ranking, through hits

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
    with Index.create(tmp_path_factory.mktemp("every") / "test.kin") as made:
        made.add(TEXTS)
        made.attach("lsi", LSI(3, random_state=0))
        yield made


@pytest.fixture(params=EVERY)
def by(request):
    return EVERY[request.param]


def test_hits_stay_where_nothing_is_marked(index, by):
    hits = index.search("cat song bird", by=by)
    again = hits.feedback().feedback([], [])
    assert again.ids == hits.ids
    np.testing.assert_allclose(again.scores, hits.scores)


def test_marked_hits_do_not_fall(index, by):
    """A document that is marked in every round ends no lower than it began, and at the top."""
    hits = index.search("cat song bird", by=by)
    marked = hits.ids[min(2, len(hits) - 1)]
    place = hits.ids.index(marked)
    for _ in range(4):
        hits = hits.feedback([marked], beta=2.0)
    assert hits.ids.index(marked) <= place
    best = hits.scores[hits.ids.index(marked)]
    assert best == pytest.approx(hits.scores[0], rel=0.2)


def test_pseudo_feedback_equals_feedback_with_the_best(index, by):
    hits = index.search("cat song", by=by)
    one, other = hits.pseudo_feedback(2), hits.feedback(hits.ids[:2], gamma=0.0)
    assert one.ids == other.ids
    np.testing.assert_array_equal(one.scores, other.scores)


def test_scores_after_feedback_are_explained(index, by):
    hits = index.search("cat song", by=by).feedback(["5"], ["0"])
    for hit in hits:
        explained = hit.explain()
        told = getattr(explained, "distance", None)
        told = explained.score if told is None else told
        assert told == pytest.approx(hit.score, rel=1e-5, abs=1e-9)


def test_the_order_of_marks_means_nothing(index, by):
    hits = index.search("cat song", by=by)
    one = hits.feedback(["2", "5", "8"], ["0", "1"])
    other = hits.feedback(["8", "2", "5"], ["1", "0"])
    assert one.ids == other.ids
    np.testing.assert_allclose(one.scores, other.scores, rtol=1e-6)
