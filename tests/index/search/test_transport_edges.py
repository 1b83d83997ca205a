"""Transport rankings of an index: edge cases, parameters, snapshots, threads, and Ctrl-C."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from support import interrupted, load_script
from textkin import Index, WordMover, WordVectors
from textkin.exceptions import EmptyDocumentError
from textkin.index import Cascade, TransportRanking
from textkin.index.search._request import ranking_of
from textkin.index.search.rankings._vector_columns import _Looked

stores = load_script("tests/index/search/transport_stores.py")
BUILT_IN, stored, check_explanation = stores.BUILT_IN, stores.stored, stores.check_explanation


# ---------------------------------------------------------------------- edges


@pytest.mark.parametrize("by", ["wmd", "rwmd", "wcd"])
class TestEdges:
    def test_empty_index_finds_nothing(self, index, by):
        assert list(index.search("cats", ranking=by)) == []
        assert list(index.search({"cat": 1.0}, ranking=by)) == []
        for ranking in (by, Cascade("bm25", by)):
            assert index.search("cats", ranking=ranking).ascending  # distances, if there were any
        assert not index.search("cats", ranking=Cascade(by, "bm25")).ascending
        index.add(["cats"])
        assert index.search("cats", ranking=by).scores.tolist() == [0]
        index.delete("0")
        assert list(index.search("cats", ranking=by)) == []

    @pytest.mark.parametrize(
        ("query", "known", "total"), [("", 0, 0), ("the", 0, 0), ("zzzq", 0, 1)]
    )
    def test_query_without_words_finds_nothing(self, animals, by, query, known, total):
        hits = animals.search(query, ranking=by)
        assert list(hits) == []
        assert hits.query.words == {}
        stats = hits.stats
        assert (stats["query_known"], stats["query_total"]) == (known, total)
        assert stats["solved"] == 0

    def test_coverage_of_a_query(self, animals, by):
        hits = animals.search("the cat sleeps zzzq zzzqx", ranking=by)
        assert set(hits.query.words) == {"cat", "sleeps"}
        stats = hits.stats
        assert (stats["query_known"], stats["query_total"]) == (2, 4)

    def test_documents_without_words_are_not_found(self, animals, by):
        hits = animals.search("cat", 1000, ranking=by)
        assert sorted(hits.ids) == ["0", "1", "2", "5", "6"]
        assert hits.stats["empty"] == 2
        assert hits.scores[hits.ids.index("0")] == hits.scores[hits.ids.index("6")]
        assert hits.ids.index("0") < hits.ids.index("6")  # a tie
        scorer = animals._searcher().scorer(ranking_of(by))
        with pytest.raises(EmptyDocumentError, match="document cannot be compared"):
            scorer.explain(scorer.of_text("cat"), 3)
        with pytest.raises(EmptyDocumentError, match="query cannot be compared"):
            scorer.explain(scorer.of_text("the"), 0)
        assert list(animals.similar("3", ranking=by)) == []

    def test_threshold_is_a_radius(self, animals, by):
        scores = animals.search("cat", ranking=by).scores
        for at in (scores[0], scores[2]):  # exactly the distance, and slightly less
            for threshold in (float(at), float(np.nextafter(at, 0))):
                found = animals.search("cat", ranking=by, threshold=threshold)
                np.testing.assert_array_equal(found.scores, scores[scores <= threshold])
        assert len(animals.search("cat", ranking=by, threshold=0)) == 0
        assert len(animals.search("cat", ranking=by, threshold=-1)) == 0
        assert len(animals.search("cats purr", ranking=by, threshold=0)) == 1

    def test_pages(self, animals, by):
        scores = animals.search("cat", ranking=by).scores
        first = animals.search("cat", 2, ranking=by)
        assert [*first.scores, *first.next().scores, *first.next().next().scores] == [*scores]

    def test_unknown_words_of_the_query_count(self, animals, by):
        """An unknown word moves the centroid of the query."""
        assert (
            animals.search("cats", ranking=by).scores[0]
            != animals.search("cats pope", ranking=by).scores[0]
        )

    def test_filter_with_few_documents(self, animals, by):
        """Documents of a filter get a separate search after several requests."""
        scorer = animals._searcher().scorer(ranking_of(by))
        for rows in ([2], *[[1]] * 10, [], [2], [1]):
            mask = np.isin(np.arange(7), rows)
            found = scorer.best(scorer.of_text("cat"), 5, None, mask)
            assert found.rows.tolist() == rows
            assert found.stats["documents"] == 7

    def test_word_weights(self, animals, by):
        """Any positive weights are masses; given stop words count."""
        small, large = {"cat": 0.1, "dog": 0.3}, {"cat": 1000, "dog": 3000, "zzzq": 5, "sun": 0}
        one, other = (animals.search(words, ranking=by) for words in (small, large))
        np.testing.assert_allclose(one.scores, other.scores, rtol=1e-9)
        assert one.query.words == pytest.approx({"dog": 0.75, "cat": 0.25})
        assert other.query.words == pytest.approx({"dog": 0.75, "cat": 0.25})
        assert list(animals.search({"the": 1.0}, ranking=by).query.words) == ["the"]
        assert list(animals.search({}, ranking=by)) == []
        for wrong in (-1.0, np.nan, np.inf):
            with pytest.raises(ValueError, match=r"weight.* 'dog'"):
                animals.search({"cat": 1.0, "dog": wrong}, ranking=by)
        for wrong in ({1: 1.0}, {"cat": "much"}, {"cat": None}):
            with pytest.raises(TypeError, match="must be"):
                animals.search(wrong, ranking=by)

    def test_feedback_changes_masses(self, animals, by):
        hits = animals.search("cats", ranking=by)
        moved = hits.feedback(["2"], ["1"], alpha=1, beta=0.5, gamma=0.5)
        # cats 1 + 0.5 / 2, purr 0.5 / 2; band, played, and loud fall below 0
        assert moved.query.words == pytest.approx({"cats": 1.25 / 1.5, "purr": 0.25 / 1.5})
        assert sum(moved.query.words.values()) == pytest.approx(1)
        again = animals.search(moved.query.words, ranking=by)
        np.testing.assert_allclose(again.scores, moved.scores, rtol=1e-9)
        assert list(hits.feedback(["2"], max_terms=1).query.words) == ["cats"]
        nothing = hits.feedback([], ["2"], alpha=0)
        assert (list(nothing), nothing.query.words) == ([], {})


# ---------------------------------------------------------------------- ranking objects


def test_rankings_are_hashable():
    one, other = TransportRanking("rwmd"), TransportRanking("rwmd", stop_words="smart:1")
    assert (one, hash(one)) == (other, hash(other))
    assert one != TransportRanking()
    assert one != "rwmd"
    weights = np.ones(3)
    given = TransportRanking(word_weights=weights)
    assert given == TransportRanking(word_weights=np.ones(3))
    weights[0] = 2  # is not an attribute of the ranking
    assert given == TransportRanking(word_weights=np.ones(3))
    assert given != TransportRanking(word_weights=weights)
    assert repr(one) == "TransportRanking('rwmd')"
    assert repr(TransportRanking(unit=True, n_jobs=2, stop_words=None)) == (
        "TransportRanking('wmd', unit=True, stop_words=None, n_jobs=2)"
    )
    assert repr(given).startswith("TransportRanking('wmd', word_weights=array(")
    words = TransportRanking(stop_words=["Cat", "dog"])
    assert words == TransportRanking(stop_words={"dog", "cat"})


def test_word_mover_is_a_ranking():
    mover = WordMover(word_weights="tfidf", cost="cosine", n_jobs=2, memory="1GB", n_neighbors=9)
    same = TransportRanking("wmd", word_weights="tfidf", cost="cosine", n_jobs=2, memory="1GB")
    assert ranking_of(mover) == same
    for algorithm in ("brute", "prefetch"):
        assert ranking_of(WordMover(algorithm=algorithm)) == TransportRanking("wmd")
    assert ranking_of(WordMover(metric="wcd")) == TransportRanking("wcd")
    assert ranking_of(WordMover(metric="rwmd-query")).metric == "rwmd-query"
    for wrong, message in (
        (WordMover(BUILT_IN), "without vectors"),
        (WordMover(max_words_per_document=9), "max_words_per_document=None"),
        (WordMover(oov="error"), "oov='drop'"),
        (WordMover(cost="taxi"), "cost must be"),
    ):
        with pytest.raises(ValueError, match=message):
            ranking_of(wrong)


def test_invalid_rankings_raise():
    for wrong in (
        {"metric": "emd"},
        {"word_weights": "bm25"},
        {"cost": "taxi"},
        {"unit": 2},
        {"stop_words": "smurf"},
        {"memory": "much"},
        {"n_jobs": 0},
    ):
        with pytest.raises(ValueError, match=r"must|unit"):
            TransportRanking(**wrong)
    with stored(WordVectors(["a", "b"], np.eye(2))) as index:
        index.add(["a b"])
        with pytest.raises(ValueError, match="one number for each of the 2 words"):
            index.search("a", ranking=TransportRanking(word_weights=np.ones(3)))
        with pytest.raises(ValueError, match="finite and at least 0; position 1"):
            index.search("a", ranking=TransportRanking(word_weights=np.array([1, -1.0])))
        with pytest.raises(ValueError, match="ranking must be one of 'bm25'"):
            index.search("a", ranking="emd")


# ---------------------------------------------------------------------- snapshots, threads, Ctrl-C


def test_words_are_looked_up_once(animals, monkeypatch):
    """A snapshot reuses lookups of an earlier one, because word IDs are stable."""
    animals.search("cat", ranking="wmd")
    asked: list[str] = []
    lookup = WordVectors.lookup

    def counted(self, words):
        asked.extend(words)
        return lookup(self, words)

    monkeypatch.setattr(WordVectors, "lookup", counted)
    animals.add([{"id": "new", "text": "Kittens bark"}])
    before = animals.search("cat", ranking="wmd")
    assert asked == ["kittens", "cat"]
    # Lookups of another folder are not reused.
    (key,) = [key for key in animals._session.cache if key[0] == "vector rows"]
    known = animals._session.cache[key]
    animals._session.cache[key] = _Looked(3, 12345, known.rows[:3] * 0)
    animals.refresh()
    after = animals.search("cat", ranking="wmd")
    assert after.ids == before.ids
    np.testing.assert_array_equal(after.scores, before.scores)
    assert len(asked) > len(known.rows)


def test_snapshot_is_stable_during_writes(animals):
    with Index.open(animals.path) as reader:
        hits = reader.search("A kitten sleeps", ranking="wmd")
        animals.delete(hits.ids[0])
        animals.add([{"id": "near", "text": "A kitten sleeps"}])
        again = reader.search("A kitten sleeps", ranking="wmd")
        np.testing.assert_array_equal(hits.scores, again.scores)
        check_explanation(hits[0].explain(), hits[0].score)
        reader.refresh()
        assert reader.search("A kitten sleeps", ranking="wmd").ids[0] == "near"


@pytest.fixture
def work(tmp_path) -> Iterator[Index]:
    """Return documents of some hundred words, for some seconds of work."""
    rng = np.random.default_rng(20150706)
    words = [f"w{number}" for number in range(1500)]
    vectors = WordVectors(words, rng.normal(size=(1500, 40)).astype(np.float32))
    with Index.create(tmp_path / "work.kin", vectors=vectors, language=None) as index:
        index.add([" ".join(rng.choice(words, 250)) for _ in range(200)])
        yield index


def test_concurrent_threads_find_the_same(work):
    queries = [" ".join(work[str(i)].text.split()[:20]) for i in range(12)]
    expected = [work.search(query, 5, ranking="wmd").scores for query in queries]
    with Index.open(work.path) as fresh, ThreadPoolExecutor(4) as pool:
        for by in (TransportRanking(), TransportRanking(n_jobs=2)):
            asked = [pool.submit(fresh.search, query, 5, ranking=by) for query in queries]
            found = [hits.result().scores for hits in asked]
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_leaves_a_usable_index(work, n_jobs):
    by = TransportRanking(n_jobs=n_jobs)
    text = work["0"].text
    before = work.search("w1 w2", ranking=by).scores
    assert interrupted(lambda: work.search(text, 200, ranking=by))
    np.testing.assert_array_equal(work.search("w1 w2", ranking=by).scores, before)
    work.add([{"id": "new", "text": "w1 w2"}])
    assert work.search("w1 w2", ranking=by).ids[0] == "new"
