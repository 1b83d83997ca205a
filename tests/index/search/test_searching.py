"""`Index.search`: arguments, edge cases, batches, and concurrent writes."""

import threading
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

from textkin import BM25, Index, TfIdf

WORDS = ["cat", "dog", "bird", "mouse", "fish", "newt", "toad", "frog"]


def some_text(rng: Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randrange(12)))


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Return an index of sixty documents in several segments, some deleted; no test changes it."""
    rng = Random(3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textkin.index.store._writer._TAIL_DOCUMENTS", 12)
        with Index.create(tmp_path_factory.mktemp("zoo") / "test.kin", language=None) as index:
            for start in range(0, 60, 15):
                index.add(
                    {"id": f"d{n}", "text": some_text(rng), "n": n}
                    for n in range(start, start + 15)
                )
            index.delete([f"d{n}" for n in range(0, 60, 9)])
            yield index


class TestSearch:
    @pytest.mark.parametrize("by", ["bm25", "tfidf", "cosine", "inner", "binary"])
    def test_filters_and_thresholds_select_from_all_hits(self, zoo: Index, by: Any) -> None:
        every = zoo.search("cat dog dog", 100, ranking=by)
        assert len(every) > 20
        middle = float(np.median(every.scores))
        kept = [
            (hit.id, hit.score)
            for hit in every
            if hit.score >= middle and 10 <= hit.metadata["n"] < 40
        ]
        found = zoo.search(
            "cat dog dog", 100, ranking=by, where={"n": {">=": 10, "<": 40}}, threshold=middle
        )
        assert [(hit.id, hit.score) for hit in found] == kept
        assert kept

    def test_k_above_the_number_of_documents(self, zoo: Index) -> None:
        hits = zoo.search("cat", 10**6)
        assert len(hits) == sum("cat" in document.text.split() for document in zoo)
        assert zoo.search("cat", 5, offset=10**6).ids == []

    def test_word_weights_are_used_unchanged(self, zoo: Index) -> None:
        hits = zoo.search("cat dog dog", ranking="tfidf")
        again = zoo.search(hits.query.words, ranking="tfidf")
        assert again.ids == hits.ids
        assert again.scores == pytest.approx(hits.scores, rel=1e-12)
        assert (again.query.text, dict(again.query.words)) == (None, dict(hits.query.words))
        assert zoo.search({"cat": np.float32(1)}).ids == zoo.search({"cat": 1}).ids

    def test_estimators_are_rankings(self, zoo: Index) -> None:
        assert zoo.search("cat dog", ranking=BM25()).ids == zoo.search("cat dog").ids
        assert (
            zoo.search("cat dog", ranking=TfIdf()).ids == zoo.search("cat dog", ranking="tfidf").ids
        )
        assert "TfIdf" in zoo.search("cat", ranking=TfIdf()).to_dict()["ranking"]

    @pytest.mark.parametrize("query", ["", "  \n", "!?", "unheard of", {}, {"unheard": 1.0}])
    def test_queries_without_hits(self, zoo: Index, query: Any) -> None:
        hits = zoo.search(query)
        assert (hits.ids, hits.next().ids, hits.pseudo_feedback().ids) == ([], [], [])
        assert hits.notes
        assert str(hits).startswith("No hits.")

    def test_long_and_foreign_queries(self, index: Index) -> None:
        index.add(["東京都の天気", "Straße in Köln", "ภาษาไทย", "", "cat"])
        assert index.search("東京")[0].snippet(marks=("[", "]")) == "[東京]都の天気"
        assert index.search("STRASSE straße").ids == ["1"]
        assert index.search("ไทย").ids == ["2"]
        hits = index.search("cat unheard " * 100_000)
        assert (hits.ids, hits.unknown_words) == (["4"], ("unheard",))
        assert len(index.search(" ".join(f"w{n}" for n in range(50_000))).unknown_words) == 50_000

    @pytest.mark.parametrize(
        ("given", "error", "words"),
        [
            ({"query": 3}, TypeError, "query must be a str, or a mapping .* got int"),
            ({"query": None}, TypeError, "query must be a str"),
            ({"query": ["cat"]}, TypeError, "query must be a str"),
            ({"query": b"cat"}, TypeError, "query must be a str"),
            ({"query": "\ud800"}, ValueError, "unpaired surrogate"),
            ({"query": {3: 1.0}}, TypeError, r"the words of query must be strings; got 3 \(int"),
            ({"query": {"\ud800": 1.0}}, ValueError, "unpaired surrogate"),
            ({"query": {"cat": "1"}}, TypeError, "the weight of 'cat' in query must be a finite"),
            ({"query": {"cat": float("inf")}}, ValueError, "the weight of 'cat' in query"),
            ({"query": "cat", "k": 0}, ValueError, "k must be an integer at least 1; got 0"),
            ({"query": "cat", "k": 1.5}, TypeError, "k must be an integer"),
            ({"query": "cat", "k": True}, TypeError, "k must be an integer"),
            ({"query": "cat", "offset": -1}, ValueError, "offset must be an integer at least"),
            ({"query": "cat", "threshold": float("nan")}, ValueError, "threshold must be None or"),
            ({"query": "cat", "threshold": "x"}, (TypeError, ValueError), "threshold must be"),
            (
                {"query": "cat", "ranking": "bm52"},
                ValueError,
                "ranking must be one of .* got 'bm52'",
            ),
            ({"query": "cat", "ranking": 3}, TypeError, "ranking must be one of .* got int"),
            ({"query": "cat", "where": 3}, TypeError, "where must be a mapping"),
        ],
    )
    def test_invalid_arguments_raise(
        self, zoo: Index, given: dict[str, Any], error: Any, words: str
    ) -> None:
        with pytest.raises(error, match=words):
            zoo.search(**given)


class TestEmptyAndClosed:
    @pytest.mark.parametrize("by", ["bm25", "tfidf", "cosine", "inner", "binary"])
    def test_empty_index_finds_nothing(self, index: Index, by: Any) -> None:
        for _ in range(2):
            hits = index.search("cat", ranking=by, where={"year": 2015})
            assert (hits.ids, hits.notes) == ([], ("The index is empty.",))
            assert index.search({"cat": 1.0}, ranking=by).feedback().ids == []
            assert index.search_many(["cat"], ranking=by)[0].pseudo_feedback().ids == []
            with pytest.raises(KeyError, match="no document has the ID 'a'"):
                index.similar("a", ranking=by)
            index.add([{"id": "a", "text": "cat"}])  # an index that is emptied below
            index.delete("a")
        with pytest.raises(ValueError, match="ranking must be one of"):
            index.search("cat", ranking="bm52")

    def test_documents_without_words(self, index: Index) -> None:
        index.add(["", "!"])
        assert index.search("cat").ids == []
        assert index.similar("0").ids == []

    def test_closed_index_raises(self, index: Index) -> None:
        index.add(["cat"])
        index.close()
        for call in (
            lambda: index.search("cat"),
            lambda: index.similar("0"),
            lambda: index.search_many(["cat"]),
        ):
            with pytest.raises(ValueError, match="is closed; open it again with"):
                call()


class TestSimilar:
    @pytest.mark.parametrize("by", ["bm25", "tfidf", "cosine"])
    def test_similar_is_a_search_without_the_document(self, zoo: Index, by: Any) -> None:
        for id in ("d1", "d20", "d59"):
            every = zoo.search(zoo[id].text, 100, ranking=by)
            found = zoo.similar(id, 100, ranking=by)
            assert found.ids == [other for other in every.ids if other != id]
            assert found.query.like == id
            assert found.query.text is None
            assert zoo.similar(id, 3, ranking=by, offset=2).ids == found.ids[2:5]
            some = zoo.similar(id, 100, ranking=by, where={"n": {"<": 30}})
            assert some.ids == [other for other in found.ids if int(other[1:]) < 30]

    def test_unknown_ids_raise(self, zoo: Index) -> None:
        for id in ("nowhere", "d0", "", "\ud800"):
            with pytest.raises(KeyError, match="no document has the ID"):
                zoo.similar(id)
        with pytest.raises(TypeError, match="id must be a str; got int"):
            zoo.similar(3)  # type: ignore[arg-type]


class TestMany:
    @pytest.mark.parametrize("n_jobs", [None, 1, 3, -1])
    def test_search_many_equals_single_searches(self, zoo: Index, n_jobs: int | None) -> None:
        rng = Random(5)
        queries: list[Any] = [some_text(rng) for _ in range(20)]
        queries += ["", {"cat": 2.0, "dog": 1.0}]
        told: list[tuple[int, int]] = []
        where = {"n": {"<": 50}}
        found = zoo.search_many(
            iter(queries), 5, ranking="tfidf", where=where, threshold=0.1, n_jobs=n_jobs,
            progress=lambda done, total: told.append((done, total)),
        )  # fmt: skip
        assert len(found) == len(queries)
        for query, hits in zip(queries, found, strict=True):
            alone = zoo.search(query, 5, ranking="tfidf", where=where, threshold=0.1)
            assert hits.ids == alone.ids
            assert hits.scores.tolist() == alone.scores.tolist()
            assert hits.query == alone.query
        assert told == [(n, 22) for n in range(1, 23)]

    def test_search_many_without_queries(self, zoo: Index) -> None:
        assert zoo.search_many([]) == []
        assert zoo.search_many([], n_jobs=2) == []

    def test_search_many_checks_all_queries_first(self, zoo: Index) -> None:
        with pytest.raises(TypeError, match=r"queries must be an iterable .*index\.search\(query"):
            zoo.search_many("cat")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="queries must be an iterable"):
            zoo.search_many(3)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"queries\[1\] must be a str"):
            zoo.search_many(["cat", 3], progress=pytest.fail)  # type: ignore[list-item]
        with pytest.raises(ValueError, match="n_jobs must not be 0"):
            zoo.search_many(["cat"], n_jobs=0)

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_search_many_can_be_canceled(self, zoo: Index, n_jobs: int) -> None:
        def stop(done: int, _total: int) -> None:
            if done == 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            zoo.search_many(["cat"] * 1000, n_jobs=n_jobs, progress=stop)
        assert zoo.search("cat").ids


class TestWhileOthersWrite:
    def test_each_search_sees_one_snapshot(self, index: Index, small_segments: None) -> None:
        """A writer adds and removes pairs; a search never finds half of a pair."""
        index.add([{"id": "start", "text": "cat start", "n": -1}])
        wrong: list[object] = []
        done = threading.Event()

        def look() -> None:
            try:
                while not done.is_set():
                    hits = index.search("cat", 1000, where={"n": {">=": 0}})
                    found = [hit.metadata["n"] for hit in hits]
                    if any(found.count(n) != 2 for n in found):
                        wrong.append(found)
                    if hits.stats["documents"] != 1 + len(hits):
                        wrong.append((dict(hits.stats), found))
                    alike = index.similar("start", 1000)
                    if len(alike) + 1 != alike.stats["documents"]:
                        wrong.append((len(alike), dict(alike.stats)))
            except BaseException as error:  # raised by the test, not by the thread
                wrong.append(error)
                raise

        threads = [threading.Thread(target=look) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for n in range(25):
                pair = [{"id": f"{n}{side}", "text": f"cat {side}", "n": n} for side in "lr"]
                index.add(pair)
                if n % 3 == 2:
                    index.delete([f"{n - 1}l", f"{n - 1}r"])
        finally:
            done.set()
            for thread in threads:
                thread.join()
        assert wrong == []
