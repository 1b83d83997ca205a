"""Regression tests for defects found by reviewers."""

import gc
import threading

import numpy as np
import pytest

import textkin as tk
from textkin.index.search._request import ranking_of
from textkin.index.search._searcher import _MOST_SCORERS


@pytest.fixture
def index(tmp_path):
    with tk.Index.create(tmp_path / "i.kin", language=None) as made:
        yield made


def added(index, texts, **metadata):
    index.add([{"id": str(at), "text": text, **metadata} for at, text in enumerate(texts)])
    return index


class TestWords:
    def test_many_equal_documents_are_found_in_order_by_each_ranking(self, index):
        added(index, ["error in module", "error in line", "all is well"] * 2000)
        scorer = index._searcher().scorer(ranking_of("bm25"))
        query = scorer.of_text("error module")
        found = {how: scorer.best(query, 10, algorithm=how) for how in ("auto", "pruned", "dense")}
        assert found["auto"].rows.tolist() == list(range(0, 30, 3))
        for other in ("pruned", "dense"):
            assert found[other].rows.tolist() == found["auto"].rows.tolist()
            assert found[other].scores.tolist() == found["auto"].scores.tolist()
        # All bounds are equal here, but not all 2,000 equal documents are scored separately.
        assert found["pruned"].stats["scored"] >= 2000
        for one in found.values():
            assert one.stats["touched"] <= one.stats["postings"]

    def test_postings_of_deleted_documents_are_not_counted_as_visited(self, index):
        added(index, ["cat dog"] * 50)
        index.delete([str(at) for at in range(25)])
        stats = index.search("cat", 40).stats
        assert stats["touched"] <= stats["postings"] == 25

    def test_unknown_word_of_a_mapping_is_reported(self, index):
        added(index, ["foo cat", "dog"])
        index.delete("0")
        hits = index.search({"foo": 1.0, "dog": 2.0})
        assert hits.query.words == {"dog": 2.0}
        assert hits.notes == ("No document has the word 'foo'.",)

    def test_word_of_all_documents_is_reported(self, index):
        added(index, ["cat a", "cat b"])
        assert index.search("cat", ranking="tfidf").notes == (
            "No word of the query has a weight in this ranking.",
        )

    @pytest.mark.parametrize("by", ["bm25", "wmd", "hybrid"])
    def test_huge_k_returns_all_hits(self, index, by):
        added(index, ["cats purr", "dogs bark"])
        every = index.search("cats dogs", 10**20, ranking=by)
        assert len(every) == 2
        assert list(index.search("cats dogs", offset=10**20, ranking=by)) == []
        assert len(every.pseudo_feedback(10**20)) == 2

    @pytest.mark.parametrize("wrong", [10**400, -(10**400)])
    def test_numbers_beyond_floats_raise(self, index, wrong):
        added(index, ["cat"])
        with pytest.raises(ValueError, match="threshold must be"):
            index.search("cat", threshold=wrong)
        with pytest.raises(ValueError, match="k1 must be"):
            index.search("cat", ranking=tk.BM25(k1=wrong))

    @pytest.mark.parametrize("scale", [1e200, 1e-200])
    def test_feedback_with_huge_and_tiny_weights(self, index, scale):
        added(index, ["cat purr", "cat dog dog", "dog bird"])
        plain = index.search({"cat": 1.0}).feedback(["1"]).query.words
        scaled = index.search({"cat": scale}).feedback(["1"]).query.words
        assert scaled == pytest.approx({word: scale * weight for word, weight in plain.items()})


class TestFilters:
    def test_number_compared_with_strings_is_reported(self, index):
        index.add([{"id": "1", "text": "cat", "date": "2015-06-01"}])
        hits = index.search("cat", where="date >= 2015")
        assert list(hits) == []
        assert hits.notes[0].endswith("as in date >= '2015'.")
        assert index.search("cat", where="date >= '2015'").ids == ["1"]
        assert index.search("cat", where="date >= '2015'").notes == ()

    def test_string_compared_with_numbers_is_reported(self, index):
        index.add([{"id": "1", "text": "cat", "year": 2015}])
        assert "numbers" in index.search("cat", where="year = '2015'").notes[0]

    @pytest.mark.parametrize("where", ["id = 7", "id in (6, 7)", {"id": 7}, {"id": [7]}])
    def test_ids_may_look_like_numbers(self, index, where):
        index.add([{"id": "7", "text": "cat"}, {"id": "8", "text": "cat"}])
        assert index.search("cat", where=where).ids == ["7"]


class TestTransport:
    def test_words_without_vector_are_reported(self, index):
        added(index, ["cats qqxxyyzz", "dogs"])
        (note,) = index.search("cats qqxxyyzz", ranking="wmd").notes
        assert note == "The word vectors do not contain the word 'qqxxyyzz'."
        assert index.search("cats", ranking="wmd").notes == ()


class TestStates:
    def test_only_latest_scorers_are_cached(self, index):
        added(index, ["cat", "dog"])
        for at in range(_MOST_SCORERS + 10):
            assert index.search("cat", ranking=tk.BM25(b=at / 100)).ids == ["0"]
        assert len(index._searcher()._scorers) <= _MOST_SCORERS

    def test_late_scorer_of_an_old_snapshot_is_released(self, index):
        added(index, ["cat", "dog"])
        gc.collect()
        gc.disable()
        try:
            closed = []
            for at in range(3):
                hits = index.search("cat bird", where={"x": 1})
                closed.append(hits._state.snapshot.close)
                index.add([{"id": f"new{at}", "text": "cat"}])
                assert hits.notes
                assert [hit.snippet() for hit in hits] == []
                str(hits)
            del hits
            assert not any(finalizer.alive for finalizer in closed)
        finally:
            gc.enable()

    def test_threads_with_different_rankings_do_not_wait_for_each_other(self, index):
        added(index, ["oil price", "oil market", "cat dog"], n=1)
        index.attach("lsi", tk.LSI(2, random_state=0))
        for _ in range(30):
            index.refresh()
            found = []
            calls = [
                lambda: index.search("oil", ranking="lsi"),
                lambda: index.search("oil", where="n = 1"),
                lambda: index.bags(),
            ]
            threads = [
                threading.Thread(target=lambda call, to: to.append(call()), args=(call, found))
                for call in calls
            ]
            for thread in threads:
                thread.daemon = True  # otherwise, a deadlock would block the whole suite
                thread.start()
            for thread in threads:
                thread.join(60)
            assert len(found) == len(calls)


def test_hybrid_shows_all_candidates(index):
    added(index, ["cat " + "dog " * at for at in range(12)])
    by = tk.index.WeightedSum({"bm25": 0.5, "tfidf": 0.5}, candidates=5)
    hits, seen = index.search("cat dog", 2, ranking=by), []
    while hits:
        seen += hits.ids
        hits = hits.next()
    assert len(seen) == 5
    assert np.unique(seen).size == 5
