"""Hits: lazy documents, paging, feedback, and safe display."""

import copy
import json
import pickle
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from textkin import Index
from textkin.explain import Contribution, Contributions
from textkin.index import Hits, Query, SearchRequest
from textkin.index.search._columns import Passed
from textkin.index.search._hits import find_hits
from textkin.index.search._state import IndexState
from textkin.index.search.rankings._base import ScoredRows, Scorer

RECORDS = [
    {"id": "a", "text": "the cat sat on the mat", "label": "pets", "year": 2015},
    {"id": "b", "text": "the dog sat on the cat", "year": 2016},
    {"id": "c", "text": "a bird in the hand", "year": 2017},
    {"id": "d", "text": "cat cat cat and a mouse", "tags": ["x", None]},
    {"id": "e", "text": ""},
]


@pytest.fixture(scope="module")
def pets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Return an index of five documents that no test changes."""
    with Index.create(tmp_path_factory.mktemp("hits") / "test.kin", language=None) as index:
        index.add(RECORDS)
        yield index


class ByHand(Scorer[None]):
    """Scorer with invented distances."""

    ascending = True

    def __init__(self, state: IndexState) -> None:
        self.state = state

    of_text = of_row = of_words = words_of = moved = lambda self, *given: None

    def best(self, query: Any, limit: int, threshold: Any = None, rows: Any = None) -> ScoredRows:
        return ScoredRows(np.array([3, 0])[:limit], np.array([0.25, 0.5])[:limit], {"solved": 2})

    def explain(self, query: Any, row: int) -> Contributions:
        return Contributions.of([Contribution("thought up", 0.25)])


def distances(index: Index, **more: Any) -> Hits:
    request = SearchRequest(**({"query": ""} | more if "like" not in more else more))
    return find_hits(request, ByHand(index._searcher().state), None, Passed())


class TestASequence:
    def test_hits_sequence_protocol(self, pets: Index) -> None:
        hits = pets.search("cat mat")
        assert len(hits) == 3
        assert hits.ids == [hit.id for hit in hits] == ["a", "d", "b"]
        assert [hit.score for hit in hits] == hits.scores.tolist() == sorted(hits.scores)[::-1]
        assert hits[0] == hits[-3] == next(iter(hits))
        assert hits[1:] == [hits[1], hits[2]]
        assert hits[np.int64(1)].id == "d"
        assert hits[0] in hits
        assert hits.index(hits[1]) == 1
        assert [hit.id for hit in reversed(hits)] == ["b", "d", "a"]
        assert len({hits[0], hits[0], hits[1]}) == 2
        assert hits[0] != pets.search("cat mat")[0]
        assert hits[0] != "a"
        with pytest.raises(IndexError, match="position must be below 3, the number of hits; got 3"):
            hits[3]
        with pytest.raises(TypeError):
            hits["a"]  # type: ignore[call-overload]

    def test_hit_has_its_document(self, pets: Index) -> None:
        hit = pets.search("mouse")[0]
        assert hit.document == pets["d"]
        assert (hit.id, hit.text, hit.label, hit.rank) == ("d", RECORDS[3]["text"], None, 1)
        assert hit.metadata == {"tags": ["x", None]}
        assert hit.document is hit.document

    def test_explanations_sum_to_the_score(self, pets: Index) -> None:
        for hit in pets.search("cat mat"):
            assert hit.explain().score == pytest.approx(hit.score, abs=1e-9)

    def test_no_hits(self, pets: Index) -> None:
        hits = pets.search("unheard-of")
        assert (len(hits), hits.ids, list(hits), hits.scores.shape) == (0, [], [], (0,))
        assert not hits


class TestDistances:
    def test_distance_is_the_score_of_transport(self, pets: Index) -> None:
        hits = distances(pets, query="cat")
        assert hits.ascending
        assert hits[0].distance == hits[0].score == 0.25
        assert hits.query == Query("cat", None)
        assert hits.stats["solved"] == 2
        assert "distance" in str(hits).splitlines()[0]
        assert hits[0].snippet(marks=("[", "]")) == "[cat] [cat] [cat] and a mouse"
        assert hits[0].explain().score == 0.25

    def test_other_rankings_have_no_distance(self, pets: Index) -> None:
        hits = pets.search("cat")
        assert not hits.ascending
        assert not hasattr(hits[0], "distance")
        with pytest.raises(
            AttributeError, match=r"hit.distance requires .* got 'bm25'.*hit\.score"
        ):
            _ = hits[0].distance

    def test_snippet_marks_document_words_without_query_words(self, pets: Index) -> None:
        assert distances(pets, like="c")[0].snippet(marks=("[", "]")) == (
            "cat cat cat and [a] mouse"
        )
        assert distances(pets)[0].snippet(marks=("[", "]")) == "cat cat cat and a mouse"


class TestLightness:
    def test_documents_are_fetched_on_access(
        self, pets: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pets.search("cat")  # creates the scorer
        asked: list[tuple[str, int]] = []
        for name in ("ids", "documents"):
            original = getattr(IndexState, name)

            def told(
                self: IndexState, rows: Any, name: str = name, original: Any = original
            ) -> Any:
                asked.append((name, len(rows)))
                return original(self, rows)

            monkeypatch.setattr(IndexState, name, told)
        hits = pets.search("cat")
        repr(hits), len(hits), hits.scores, hits.stats, hits[0], hits.next(), hits[0].explain()
        assert asked == []
        assert [hit.id for hit in hits] == hits.ids
        assert asked == [("ids", 3)]
        assert [hit.document.id for hit in hits] == hits.ids
        assert asked == [("ids", 3), ("documents", 3)]

    def test_documents_are_fetched_in_pages(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        index.add([{"id": f"{n}", "text": "x"} for n in range(150)])
        hits = index.search("x", 150)
        fetched: list[int] = []
        original = IndexState.documents
        monkeypatch.setattr(
            IndexState,
            "documents",
            lambda self, rows: (fetched.append(len(rows)), original(self, rows))[1],
        )
        assert hits[149].document.id == "149"
        assert hits[0].document.id == "0"
        assert [hit.document.id for hit in hits] == hits.ids
        assert fetched == [22, 64, 64]


class TestLasting:
    def test_hits_are_immutable(self, index: Index) -> None:
        index.add(RECORDS)
        hits = index.search("cat mat")
        before = index["a"]
        index.delete(["a", "b"])
        index.update([{"id": "d", "text": "no more"}])
        assert hits.ids == ["a", "d", "b"]
        assert hits[0].document == before
        assert hits[1].text == RECORDS[3]["text"]
        assert hits.feedback(["a"]).ids[0] == "a"
        assert index.search("cat mat").ids == []

    def test_hits_outlive_the_index(self, index: Index) -> None:
        index.add(RECORDS)
        hits, looked = index.search("cat mat"), index.search("mouse")
        assert looked[0].document.id == "d"
        index.close()
        assert hits[0].text == RECORDS[0]["text"]
        assert looked[0].document.id == "d"
        assert hits.next().ids == []
        assert "dog" in hits.feedback(["b"]).query.words
        assert "cat" in str(hits)

    def test_hits_cannot_be_pickled(self, pets: Index) -> None:
        hits = pets.search("cat")
        for work in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=r"cannot be pickled or copied.*to_dict"):
                work(hits)  # type: ignore[operator]


class TestPages:
    def test_pages_are_parts_of_the_whole(self, pets: Index) -> None:
        every = pets.search("the cat sat a", 10)
        page, ids, ranks = pets.search("the cat sat a", 2), [], []
        for _ in range(3):
            ids += page.ids
            ranks += [hit.rank for hit in page]
            page = page.next()
        assert (ids, ranks) == (every.ids, [1, 2, 3, 4])
        assert (page.ids, page.offset) == ([], 6)
        assert pets.search("the cat sat a", 2, offset=2).ids == every.ids[2:4]
        assert repr(pets.search("the cat sat a", 2, offset=1)) == "Hits(2 after 1 by 'bm25')"

    def test_pages_keep_filter_and_threshold(self, pets: Index) -> None:
        where = {"year": {">": 2000}}
        every = pets.search("the cat", 10, where=where, threshold=0.1)
        assert pets.search("the cat", 1, where=where, threshold=0.1).next().ids == every.ids[1:2]
        assert "d" not in every.ids


class TestFeedback:
    def test_feedback_refines_the_query(self, pets: Index) -> None:
        first = pets.search("cat")
        second = first.feedback(relevant=["a"], nonrelevant=["d"])
        assert second.ids[0] == "a"
        assert set(first.query.words) == {"cat"}
        assert {"mat", "sat", "cat"} <= set(second.query.words)
        third = second.feedback(["b"])
        assert (second.query.rounds, third.query.rounds) == (1, 2)
        assert first.query.text == second.query.text == third.query.text == "cat"
        again = pets.search(third.query.words)
        assert again.ids == third.ids
        assert again.scores == pytest.approx(third.scores, rel=1e-12)

    def test_feedback_accepts_hits_and_ids(self, pets: Index) -> None:
        hits = pets.search("cat")
        assert hits.feedback([hits[0]]).query == hits.feedback([hits.ids[0]]).query
        assert hits.feedback(id for id in ["a", "a", "b"]).query == hits.feedback(["a", "b"]).query

    def test_feedback_accepts_documents_that_are_not_hits(self, pets: Index) -> None:
        assert "c" in pets.search("cat").feedback(["c"]).ids

    def test_feedback_without_marks_keeps_the_query(self, pets: Index) -> None:
        hits = pets.search("cat mat", 2)
        assert hits.next().feedback().ids == hits.ids
        assert hits.feedback().query.words == hits.query.words

    def test_feedback_keeps_page_filter_and_threshold(self, pets: Index) -> None:
        hits = pets.search("cat", 1, where={"year": {"exists": True}}, threshold=0.01)
        moved = hits.feedback(["d"])
        assert (len(moved), moved.ids[0] in ("a", "b")) == (1, True)
        assert moved.where == hits.where
        like = pets.similar("a").feedback(["a"])
        assert "a" not in like.ids
        assert like.query.like == "a"

    def test_feedback_limits_words(self, pets: Index) -> None:
        hits = pets.search("cat")
        assert len(hits.feedback(["a"], max_terms=2).query.words) == 2
        assert len(hits.feedback(["a"], max_terms=None).query.words) == 5
        assert hits.feedback(["c"], alpha=0.0).ids[0] == "c"

    def test_pseudo_feedback_uses_top_hits(self, pets: Index) -> None:
        hits = pets.search("cat", 1)
        best = pets.search("cat", 10).ids
        for m in (1, 2, 3, 100):
            moved = hits.pseudo_feedback(m, beta=0.5, max_terms=4)
            expected = hits.feedback(best[:m], beta=0.5, gamma=0.0, max_terms=4)
            assert moved.query == expected.query
            assert moved.ids == expected.ids
            assert hits.next().pseudo_feedback(m, beta=0.5, max_terms=4).ids == expected.ids
        assert pets.search("unheard").pseudo_feedback().ids == []

    @pytest.mark.parametrize(
        ("given", "error", "words"),
        [
            ({"relevant": "a"}, TypeError, "relevant must be a list of IDs.*Pass a list"),
            ({"nonrelevant": "a"}, TypeError, "nonrelevant must be a list of IDs"),
            ({"relevant": {"a": 1}}, TypeError, "relevant must be a list of IDs"),
            ({"relevant": 3}, TypeError, "relevant must be a list of IDs"),
            (
                {"relevant": [3]},
                TypeError,
                r"relevant must contain IDs \(str\) or hits; got 3 \(int",
            ),
            ({"relevant": ["a", "x", "y"]}, KeyError, "no document has the ID 'x', 'y'"),
            ({"nonrelevant": ["\ud800"]}, KeyError, "no document has the ID"),
            (
                {"relevant": ["a"], "nonrelevant": ["a"]},
                ValueError,
                "must not share documents; got 'a' in both",
            ),
            ({"relevant": ["a"], "alpha": -1}, ValueError, "alpha must be .* at least 0; got -1"),
            ({"relevant": ["a"], "beta": float("nan")}, ValueError, "beta must be a finite number"),
            ({"relevant": ["a"], "gamma": "1"}, TypeError, "gamma must be a finite number"),
            (
                {"relevant": ["a"], "alpha": 0, "beta": 0},
                ValueError,
                "alpha and beta must not both",
            ),
            ({"relevant": ["a"], "max_terms": 0}, ValueError, "max_terms must be"),
            ({"relevant": ["a"], "max_terms": 1.5}, (TypeError, ValueError), "max_terms must be"),
        ],
    )
    def test_invalid_feedback_raises(
        self, pets: Index, given: dict[str, Any], error: Any, words: str
    ) -> None:
        with pytest.raises(error, match=words):
            pets.search("cat").feedback(**given)

    def test_invalid_pseudo_feedback_raises(self, pets: Index) -> None:
        hits = pets.search("cat")
        with pytest.raises(ValueError, match="k must be an integer at least 1; got 0"):
            hits.pseudo_feedback(0)
        with pytest.raises(ValueError, match="beta must be"):
            hits.pseudo_feedback(beta=-1)


class TestWhatIsTold:
    def test_stats(self, pets: Index) -> None:
        stats = pets.search("cat", where="year >= 2016").stats
        assert (stats["documents"], stats["searched"]) == (5, 2)
        assert stats["seconds"] >= 0
        assert pets.similar("a").stats["searched"] == 4

    def test_unknown_words_keep_their_spelling(self, index: Index) -> None:
        index.add(RECORDS)
        hits = index.search("Cat Fishes the fishes, gopher")
        assert hits.unknown_words == ("fishes", "gopher")
        assert hits.notes == ("No document has the words 'fishes', 'gopher'.",)
        assert index.search({"cat": 1.0, "newt": 2.0}).unknown_words == ("newt",)
        assert index.search("the cat").notes == ()
        index.delete("c")
        assert index.search("bird").unknown_words == ("bird",)

    def test_unknown_words_keep_their_spelling_with_stems_and_ngrams(self, tmp_path: Any) -> None:
        settings: Any = {"normalizer": "stem", "ngram_range": (1, 2), "stop_words": ["the"]}
        with Index.create(tmp_path / "test.kin", **settings) as index:
            index.add(RECORDS)
            assert index.search("the running cats sat").unknown_words == ("running",)
        with Index.create(tmp_path / "runs.kin", ngram_range=(2, 2)) as index:
            index.add(RECORDS)
            assert index.search("the cat ran").unknown_words == ("cat ran",)

    def test_many_unknown_words_are_truncated(self, pets: Index) -> None:
        note = pets.search(" ".join(f"w{n}" for n in range(30))).notes[0]
        assert note.endswith("'w7' and 22 more.")

    def test_queries_without_words(self, pets: Index) -> None:
        assert pets.search("").notes == ("The query has no words that can be scored.",)
        assert pets.search("… !").notes == ("The query has no words that can be scored.",)
        assert pets.search({}).notes == ("The query has no words that can be scored.",)
        assert pets.similar("e").notes == ("The document has no words that can be scored.",)


class Strict(HTMLParser):
    """Collect the tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


class TestShown:
    def test_to_text(self, pets: Index) -> None:
        hits = pets.search("cat mat")
        assert repr(hits) == "Hits(3 by 'bm25')"
        assert repr(hits[0]) == f"Hit(rank=1, id='a', score={hits[0].score:.6g})"
        first, second, third, *rest = hits.to_text(60, marks=("[", "]")).splitlines()
        assert first.split() == ["score", "id"]
        assert second.endswith("a   pets")
        assert third == " " * second.index("pets") + "the [cat] sat on the [mat]"
        assert len(rest) == 2  # documents without a label have one line
        assert str(pets.search("bird unheard")).splitlines()[-1] == (
            "No document has the word 'unheard'."
        )
        assert str(pets.search("unheard")) == "No hits.\nNo document has the word 'unheard'."

    def test_to_text_fits_the_width(self, pets: Index, monkeypatch: pytest.MonkeyPatch) -> None:
        hits = pets.search("cat the a")
        for width in (40, 50, 200):
            assert max(map(len, hits.to_text(width).splitlines())) <= width
        monkeypatch.setenv("COLUMNS", "45")
        assert str(hits) == hits.to_text(45)
        monkeypatch.setenv("COLUMNS", "3")
        assert str(hits) == hits.to_text(40)
        for wrong in (39, "80"):
            with pytest.raises((TypeError, ValueError), match="width must be"):
                hits.to_text(wrong)  # type: ignore[arg-type]

    def test_hostile_documents_are_escaped(self, index: Index) -> None:
        evil = "\x1b[2J\x07<script>alert('cat')</script>\r\n\u202e & \"cat\""
        index.add([{"id": f"{evil}{'é' * 500}", "text": f"cat {evil}", "field": 1}])
        hits = index.search(f"cat {evil} gopher\x1b", where={"field": 1})
        text = hits.to_text(100)
        assert all(line.isprintable() for line in text.splitlines())
        assert len(text.splitlines()) == 3
        page = Strict()
        page.feed(hits._repr_html_())
        page.close()
        table = {"table", "thead", "tbody", "tr", "th", "td", "mark", "p"}
        why = {"details", "summary", "svg", "title", "desc", "style", "rect", "text", "line"}
        assert set(page.tags) <= table | why
        assert "<script>alert('cat')</script>" in page.text
        assert repr(hits).isprintable()
        assert repr(hits[0]).isprintable()
        unknown = index.search("cat", where={"\x1b<b>": 1})
        assert all(line.isprintable() for line in str(unknown).splitlines())
        assert "<b>" not in unknown._repr_html_()

    def test_html_marks_words(self, pets: Index) -> None:
        assert "<mark>cat</mark> <mark>cat</mark>" in pets.search("cat")._repr_html_()
        assert pets.search("unheard")._repr_html_().startswith("<p>No hits.</p>")

    def test_to_dict(self, pets: Index) -> None:
        hits = pets.search("cat mat zzz", np.int64(2), where={"label": "pets"})
        found = json.loads(json.dumps(hits.to_dict(), allow_nan=False))
        assert found["query"] == {
            "text": "cat mat zzz", "like": None, "words": {"mat": 1.0, "cat": 1.0}, "rounds": 0,
            "required": [], "excluded": [], "where": None,
        }  # fmt: skip
        assert (found["ranking"], found["where"], found["ascending"]) == (
            "bm25",
            "label = pets",
            False,
        )
        assert found["hits"] == [
            {
                "rank": 1,
                "score": hits[0].score,
                "id": "a",
                "label": "pets",
                "metadata": {"year": 2015},
                "snippet": "the cat sat on the mat",
            }
        ]
        assert found["stats"]["searched"] == 1
        assert found["notes"] == ["No document has the word 'zzz'."]
        assert json.dumps(distances(pets).to_dict())
