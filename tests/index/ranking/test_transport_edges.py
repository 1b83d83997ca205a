"""Rankings of a store by transport: edges, what can be one, and states, threads and Ctrl-C."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from support import interrupted, load_script
from textkin import Index, WordMover, WordVectors
from textkin.exceptions import EmptyDocumentError
from textkin.index import Cascade
from textkin.index.ranking import TransportRanking
from textkin.index.ranking._choosing import ranking_of
from textkin.index.ranking._vector_columns import _Looked

stores = load_script("tests/index/ranking/transport_stores.py")
BUILT_IN, stored, check_explanation = stores.BUILT_IN, stores.stored, stores.check_explanation


# ---------------------------------------------------------------------- edges


@pytest.mark.parametrize("by", ["wmd", "rwmd", "wcd"])
class TestEdges:
    def test_an_empty_index_finds_nothing(self, index, by):
        assert list(index.search("cats", by=by)) == []
        assert list(index.search({"cat": 1.0}, by=by)) == []
        for ranking in (by, Cascade("bm25", by)):
            assert index.search("cats", by=ranking).ascending  # distances, if there were any
        assert not index.search("cats", by=Cascade(by, "bm25")).ascending
        index.add(["cats"])
        assert index.search("cats", by=by).scores.tolist() == [0]
        index.delete("0")
        assert list(index.search("cats", by=by)) == []

    @pytest.mark.parametrize(
        ("query", "known", "total"), [("", 0, 0), ("the", 0, 0), ("zzzq", 0, 1)]
    )
    def test_a_query_without_words_finds_nothing(self, animals, by, query, known, total):
        hits = animals.search(query, by=by)
        assert list(hits) == []
        assert hits.query.words == {}
        stats = hits.stats
        assert (stats["query_known"], stats["query_total"]) == (known, total)
        assert stats["solved"] == 0

    def test_coverage_of_a_query(self, animals, by):
        hits = animals.search("the cat sleeps zzzq zzzqx", by=by)
        assert set(hits.query.words) == {"cat", "sleeps"}
        stats = hits.stats
        assert (stats["query_known"], stats["query_total"]) == (2, 4)

    def test_documents_without_words_are_never_found(self, animals, by):
        hits = animals.search("cat", 1000, by=by)
        assert sorted(hits.ids) == ["0", "1", "2", "5", "6"]
        assert hits.stats["empty"] == 2
        assert hits.scores[hits.ids.index("0")] == hits.scores[hits.ids.index("6")]
        assert hits.ids.index("0") < hits.ids.index("6")  # a tie
        ranker = ranking_of(by).on(animals._view())
        with pytest.raises(EmptyDocumentError, match="document cannot be compared"):
            ranker.explain(ranker.of_text("cat"), 3)
        with pytest.raises(EmptyDocumentError, match="query cannot be compared"):
            ranker.explain(ranker.of_text("the"), 0)
        assert list(animals.similar("3", by=by)) == []

    def test_a_threshold_is_a_radius(self, animals, by):
        scores = animals.search("cat", by=by).scores
        for at in (scores[0], scores[2]):  # that far, and a little less
            for threshold in (float(at), float(np.nextafter(at, 0))):
                found = animals.search("cat", by=by, threshold=threshold)
                np.testing.assert_array_equal(found.scores, scores[scores <= threshold])
        assert len(animals.search("cat", by=by, threshold=0)) == 0
        assert len(animals.search("cat", by=by, threshold=-1)) == 0
        assert len(animals.search("cats purr", by=by, threshold=0)) == 1

    def test_pages(self, animals, by):
        scores = animals.search("cat", by=by).scores
        first = animals.search("cat", 2, by=by)
        assert [*first.scores, *first.next().scores, *first.next().next().scores] == [*scores]

    def test_words_that_no_document_has_count(self, animals, by):
        """The query is between its words: one that no document has moves it."""
        assert (
            animals.search("cats", by=by).scores[0] != animals.search("cats pope", by=by).scores[0]
        )

    def test_few_documents_of_many(self, animals, by):
        """What a filter leaves is searched by itself when it was asked for often enough."""
        ranker = ranking_of(by).on(animals._view())
        for rows in ([2], *[[1]] * 10, [], [2], [1]):
            mask = np.isin(np.arange(7), rows)
            found = ranker.best(ranker.of_text("cat"), 5, None, mask)
            assert found.rows.tolist() == rows
            assert found.stats["documents"] == 7

    def test_weights_of_words(self, animals, by):
        """Any positive weights are masses; stop words count where they are given."""
        small, large = {"cat": 0.1, "dog": 0.3}, {"cat": 1000, "dog": 3000, "zzzq": 5, "sun": 0}
        one, other = (animals.search(words, by=by) for words in (small, large))
        np.testing.assert_allclose(one.scores, other.scores, rtol=1e-9)
        assert one.query.words == pytest.approx({"dog": 0.75, "cat": 0.25})
        assert other.query.words == pytest.approx({"dog": 0.75, "cat": 0.25})
        assert list(animals.search({"the": 1.0}, by=by).query.words) == ["the"]
        assert list(animals.search({}, by=by)) == []
        for wrong in (-1.0, np.nan, np.inf):
            with pytest.raises(ValueError, match=r"weight.* 'dog'"):
                animals.search({"cat": 1.0, "dog": wrong}, by=by)
        for wrong in ({1: 1.0}, {"cat": "much"}, {"cat": None}):
            with pytest.raises(TypeError, match="must be"):
                animals.search(wrong, by=by)

    def test_feedback_moves_masses(self, animals, by):
        hits = animals.search("cats", by=by)
        moved = hits.feedback(["2"], ["1"], alpha=1, beta=0.5, gamma=0.5)
        # cats 1 + 0.5 / 2, purr 0.5 / 2; band, played and loud fall below 0
        assert moved.query.words == pytest.approx({"cats": 1.25 / 1.5, "purr": 0.25 / 1.5})
        assert sum(moved.query.words.values()) == pytest.approx(1)
        again = animals.search(moved.query.words, by=by)
        np.testing.assert_allclose(again.scores, moved.scores, rtol=1e-9)
        assert list(hits.feedback(["2"], n_terms=1).query.words) == ["cats"]
        nothing = hits.feedback([], ["2"], alpha=0)
        assert (list(nothing), nothing.query.words) == ([], {})


# ---------------------------------------------------------------------- choosing


def test_rankings_are_values():
    one, other = TransportRanking("rwmd"), TransportRanking("rwmd", stop_words="smart:1")
    assert (one, hash(one)) == (other, hash(other))
    assert one != TransportRanking()
    assert one != "rwmd"
    weights = np.ones(3)
    given = TransportRanking(masses=weights)
    assert given == TransportRanking(masses=np.ones(3))
    weights[0] = 2  # is not the ranking's
    assert given == TransportRanking(masses=np.ones(3))
    assert given != TransportRanking(masses=weights)
    assert repr(one) == "TransportRanking('rwmd')"
    assert repr(TransportRanking(unit=True, n_jobs=2, stop_words=None)) == (
        "TransportRanking('wmd', unit=True, stop_words=None, n_jobs=2)"
    )
    assert repr(given).startswith("TransportRanking('wmd', masses=array(")
    words = TransportRanking(stop_words=["Cat", "dog"])
    assert words == TransportRanking(stop_words={"dog", "cat"})


def test_a_mover_is_a_ranking():
    mover = WordMover(masses="tfidf", cost="cosine", n_jobs=2, memory="1GB", n_neighbors=9)
    same = TransportRanking("wmd", masses="tfidf", cost="cosine", n_jobs=2, memory="1GB")
    assert ranking_of(mover) == same
    for algorithm, method in (("brute", "wmd"), ("prefetch", "wmd"), ("wcd", "wcd")):
        assert ranking_of(WordMover(algorithm=algorithm)) == TransportRanking(method)
    assert ranking_of(WordMover(algorithm="rwmd-query")).method == "rwmd-query"
    for wrong, message in (
        (WordMover(BUILT_IN), "without vectors"),
        (WordMover(max_words_per_document=9), "max_words_per_document=None"),
        (WordMover(oov="error"), "oov='drop'"),
        (WordMover(cost="taxi"), "cost must be"),
    ):
        with pytest.raises(ValueError, match=message):
            ranking_of(wrong)


def test_what_cannot_be_a_ranking():
    for wrong in (
        {"method": "emd"},
        {"masses": "bm25"},
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
            index.search("a", by=TransportRanking(masses=np.ones(3)))
        with pytest.raises(ValueError, match="finite and at least 0; position 1"):
            index.search("a", by=TransportRanking(masses=np.array([1, -1.0])))
        with pytest.raises(ValueError, match="by must be one of 'bm25'"):
            index.search("a", by="emd")


# ---------------------------------------------------------------------- states, threads, Ctrl-C


def test_words_are_looked_up_once(animals, monkeypatch):
    """A state takes over what an earlier one looked up, for the numbers of words stay."""
    animals.search("cat", by="wmd")
    asked: list[str] = []
    lookup = WordVectors.lookup

    def counted(self, words):
        asked.extend(words)
        return lookup(self, words)

    monkeypatch.setattr(WordVectors, "lookup", counted)
    animals.add([{"id": "new", "text": "Kittens bark"}])
    before = animals.search("cat", by="wmd")
    assert asked == ["kittens", "cat"]
    # What is not of this folder is not taken over.
    (key,) = [key for key in animals._kept if key[0] == "vector rows"]
    known = animals._kept[key]
    animals._kept[key] = _Looked(3, 12345, known.rows[:3] * 0)
    animals.refresh()
    after = animals.search("cat", by="wmd")
    assert after.ids == before.ids
    np.testing.assert_array_equal(after.scores, before.scores)
    assert len(asked) > len(known.rows)


def test_a_state_stays_while_others_write(animals):
    with Index.open(animals.path) as reader:
        hits = reader.search("A kitten sleeps", by="wmd")
        animals.delete(hits.ids[0])
        animals.add([{"id": "near", "text": "A kitten sleeps"}])
        again = reader.search("A kitten sleeps", by="wmd")
        np.testing.assert_array_equal(hits.scores, again.scores)
        check_explanation(hits[0].explain(), hits[0].score)
        reader.refresh()
        assert reader.search("A kitten sleeps", by="wmd").ids[0] == "near"


@pytest.fixture
def work(tmp_path) -> Iterator[Index]:
    """Some seconds of work: documents of some hundred words."""
    rng = np.random.default_rng(20150706)
    words = [f"w{number}" for number in range(1500)]
    vectors = WordVectors(words, rng.normal(size=(1500, 40)).astype(np.float32))
    with Index.create(tmp_path / "work.kin", vectors=vectors) as index:
        index.add([" ".join(rng.choice(words, 250)) for _ in range(200)])
        yield index


def test_many_threads_find_the_same(work):
    queries = [" ".join(work[str(i)].text.split()[:20]) for i in range(12)]
    expected = [work.search(query, 5, by="wmd").scores for query in queries]
    with Index.open(work.path) as fresh, ThreadPoolExecutor(4) as pool:
        for by in (TransportRanking(), TransportRanking(n_jobs=2)):
            asked = [pool.submit(fresh.search, query, 5, by=by) for query in queries]
            found = [hits.result().scores for hits in asked]
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_leaves_all_usable(work, n_jobs):
    by = TransportRanking(n_jobs=n_jobs)
    text = work["0"].text
    before = work.search("w1 w2", by=by).scores
    assert interrupted(lambda: work.search(text, 200, by=by))
    np.testing.assert_array_equal(work.search("w1 w2", by=by).scores, before)
    work.add([{"id": "new", "text": "w1 w2"}])
    assert work.search("w1 w2", by=by).ids[0] == "new"
