"""Rankings of a store by transport find what a `WordMover` finds among the same words."""

import gzip
import json
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search_oracle import COSTS
from support import interrupted
from textkin import Index, WordMover, WordVectors
from textkin.exceptions import EmptyDocumentError
from textkin.explain import Contributions, Flow, flow_html, flow_svg, flow_text
from textkin.index import Cascade
from textkin.index.ranking import TransportRanking
from textkin.index.ranking._choosing import ranking_of
from textkin.index.ranking._vector_columns import _Looked
from textkin.text import remove_stop_words, stop_word_set, tokenize
from textkin.transport import Comparison

METHODS = ("wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd")
ALGORITHMS = dict(zip(METHODS, ("brute", *METHODS[1:]), strict=True))
# Several words of the index are one row: possessives, and words in title case.
KNOWN = ("cat", "Dog", "mat", "sun", "rain's", "sea")
WORDS = ("cat", "Cat's", "dog", "dog's", "Dog", "mat", "sun", "SUN'S", "rain's", "sea")
OTHERS = ("the", "of", "zebu", "yak")  # stop words, and words without a vector
SHARED_MEMORY = Path("/dev/shm")  # does not wait for the disk
BUILT_IN = WordVectors.builtin()

texts = st.lists(st.sampled_from(WORDS + OTHERS), max_size=6).map(" ".join)


@st.composite
def vectors(draw):
    """Give vectors on a small lattice, on which many distances are equal."""
    entries = st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=3, max_size=3)
    rows = np.array([draw(entries) for _ in KNOWN], np.float32)
    rows[~rows.any(axis=1)] = 1
    return WordVectors(KNOWN, rows)


@st.composite
def histories(draw):
    """Give batches of changes: texts by id that are added or replaced, and ids that go."""
    steps = []
    for _ in range(draw(st.integers(1, 4))):
        numbers = st.integers(0, 11).map(str)
        steps.append(
            (draw(st.dictionaries(numbers, texts, max_size=8)), draw(st.lists(numbers, max_size=3)))
        )
    return steps


@st.composite
def rankings(draw):
    masses = draw(st.sampled_from(["nbow", "nbow", "tfidf", "sif", "own"]))
    return TransportRanking(
        draw(st.sampled_from(METHODS)),
        masses=np.array([1, 0.1, 0, 2.5, 1 / 3, 1]) if masses == "own" else masses,
        cost=draw(st.sampled_from(COSTS)),
        unit=draw(st.booleans()),
        n_jobs=draw(st.sampled_from([None, 2])),
    )


@contextmanager
def stored(vectors: WordVectors | None = None, **settings: object) -> Iterator[Index]:
    quick = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None
    with (
        tempfile.TemporaryDirectory(dir=quick) as folder,
        Index.create(Path(folder) / "test.kin", vectors=vectors, **settings) as index,
    ):
        yield index


@pytest.fixture
def animals() -> Iterator[Index]:
    with stored() as index:
        index.add(
            [
                "Dogs bark at night",
                "The band played loud",
                "Cats purr",
                "the",
                "zzzq",
                "Loud dogs sleep",
                "Dogs bark at night",
            ]
        )
        yield index


def words_of(text: str) -> list[str]:
    """Read a text as an index does, and leave the stop words out."""
    return remove_stop_words(tokenize(text), stop_word_set("smart"))


def mover_of(index: Index, ranking: TransportRanking) -> WordMover:
    """Return a mover over the words of the live documents, in their order."""
    mover = WordMover(
        index.vectors, masses=ranking.masses, cost=ranking.cost, unit=ranking.unit, stop_words=None
    )
    return mover.fit([words_of(document.text) for document in index])


def rows_of(index: Index) -> np.ndarray:
    return np.flatnonzero(index._view().live)


# ---------------------------------------------------------------------- the same as in memory


@given(vectors(), histories(), rankings(), texts, st.data())
@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@pytest.mark.usefixtures("small_segments")
def test_a_store_finds_what_a_mover_finds(vectors, history, ranking, query, data):
    """After every change: segments, deletions, updates, filters, radii, threads, ties."""
    k = data.draw(st.sampled_from([1, 2, 3, 50]))
    with stored(vectors) as index:
        for changed, deleted in history:
            index.update([{"id": id, "text": text} for id, text in changed.items()])
            index.delete(sorted({id for id in deleted if id in index}))
            ranker = ranking.on(index._view())
            if not len(index):
                assert len(index.search(query, k, by=ranking)) == 0
                continue
            mover = mover_of(index, ranking)
            algorithm = ALGORITHMS[ranking.method]
            found = mover.search([words_of(query)], k, algorithm=algorithm)[0]
            hits = index.search(query, k, by=ranking)
            live = np.array(index.ids())
            assert hits.ids == live[found[0]].tolist()
            np.testing.assert_array_equal(hits.scores, found[1])
            # Some documents only, and some distance, one that a document has.
            allowed = np.array(data.draw(st.lists(st.booleans(), min_size=12, max_size=12)))
            allowed = np.resize(allowed, len(live))
            radius = float(found[1][-1]) if len(found[1]) else 1.0
            mask = np.zeros(index._view().n_rows, np.bool_)
            mask[rows_of(index)[allowed]] = True
            expected = mover.search(
                [words_of(query)], k, algorithm=algorithm, radius=radius, mask=allowed
            )
            best = ranker.best(ranker.of_text(query), k, radius, mask)
            np.testing.assert_array_equal(best.rows, rows_of(index)[expected[0][0]])
            np.testing.assert_array_equal(best.scores, expected[0][1])
            stats = best.stats
            assert stats["documents"] == len(index)
            assert stats["documents"] == sum(
                stats[name]
                for name in (
                    "empty",
                    "left_out",
                    "removed_document_side",
                    "removed_refined",
                    "solved",
                )
            )


@given(vectors(), st.lists(texts, min_size=1, max_size=12), rankings(), st.data())
@settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@pytest.mark.usefixtures("small_segments")
def test_similar_documents_batches_and_words(vectors, documents, ranking, data):
    """A document as a query; several at once; a query by its own words with masses."""
    with stored(vectors) as index:
        index.add(documents)
        gone = data.draw(st.sampled_from([[], ["0"]])) if len(documents) > 1 else []
        index.delete(gone)
        view = index._view()
        ranker = ranking.on(view)
        distances = mover_of(index, ranking)
        rows = rows_of(index)
        queries = [ranker.of_row(int(row)) for row in rows]
        texts = [document.text for document in index]
        together = index.search_many(texts, 4, by=ranking, n_jobs=2)
        for at, (query, batch) in enumerate(zip(queries, together, strict=True)):
            id = index.ids()[at]
            alone = ranker.best(query, 4)
            assert batch.ids == index._view().ids(alone.rows)
            np.testing.assert_array_equal(batch.scores, alone.scores)
            others = np.delete(np.arange(len(rows)), at)
            found = distances.search(
                [words_of(index[id].text)],
                4,
                algorithm=ALGORITHMS[ranking.method],
                mask=np.isin(np.arange(len(rows)), others),
            )[0]
            hits = index.similar(id, 4, by=ranking)
            np.testing.assert_array_equal(hits.scores, found[1])
            assert hits.ids == np.array(index.ids())[found[0]].tolist()
            masses = ranker.words_of(query)
            assert list(masses.values()) == sorted(masses.values(), reverse=True)
            if masses:
                assert sum(masses.values()) == pytest.approx(1)
            again = ranker.best(ranker.of_words(masses), 4)
            np.testing.assert_allclose(again.scores, alone.scores, rtol=1e-9, atol=1e-9)
            for row in alone.rows.tolist():
                score = alone.scores[alone.rows.tolist().index(row)]
                check_explanation(ranker.explain(query, row), score)


def check_explanation(found, score):
    assert found.score == score
    if isinstance(found, Comparison):
        found.verify()
        found = found.flow
    if isinstance(found, Flow):
        parts = sum(move.contribution for move in found.moves)
        for column, at in ((found.sources, "source_at"), (found.targets, "target_at")):
            moved = np.bincount(
                [getattr(move, at) for move in found.moves], [move.mass for move in found.moves]
            )
            np.testing.assert_allclose(moved, [mass for _, mass in column], atol=1e-9)
            assert moved.sum() == pytest.approx(1)
    else:
        assert isinstance(found, Contributions)
        parts = sum(part.value for part in found.parts)
    assert parts == pytest.approx(score, rel=1e-6, abs=1e-9)


def test_real_texts_with_the_settings_as_they_are(shared_data, tmp_path):
    """Texts as written go to the mover; built-in vectors are in lower case, as the index is."""
    path = shared_data / "classification" / "r8.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        documents = [json.loads(line)["text"] for line, _ in zip(lines, range(320), strict=False)]
    queries, documents = documents[:20], documents[20:]
    mover = WordMover().fit(documents)
    with Index.create(tmp_path / "r8.kin") as index:
        index.add(documents)
        for by, algorithm in (("wmd", "auto"), ("rwmd", "rwmd"), ("wcd", "wcd")):
            found = mover.search(queries, 10, algorithm=algorithm)
            for at, query in enumerate(queries):
                hits = index.search(query, by=by)
                assert hits.ids == [str(i) for i in found[at][0]]
                np.testing.assert_array_equal(hits.scores, found[at][1])


@pytest.mark.parametrize("masses", ["nbow", "sif", "tfidf"])
def test_words_of_one_vector_are_one_word(masses):
    """Counts are added before they are weighed: not even the last bit tells them apart."""
    rng = np.random.default_rng(8)
    words = [f"{a}{b}" for a in "bcdfg" for b in "aeiou"]
    vectors = WordVectors(words, rng.normal(size=(25, 4)).astype(np.float32))
    spelled = [f"{word}{ending}" for word in words for ending in ("", "'s", "\u2019s")]
    texts = [" ".join(rng.choice(spelled, rng.integers(3, 40))) for _ in range(60)]
    with stored(vectors) as index:
        index.add(texts)
        by = TransportRanking("wmd", masses=masses, stop_words=None)
        mover = WordMover(vectors, masses=masses, stop_words=None).fit(texts)
        for query in texts[:10]:
            found = mover.search(query)[0]
            hits = index.search(query, by=by)
            assert hits.ids == [str(i) for i in found[0]]
            np.testing.assert_array_equal(hits.scores, found[1])


def test_the_index_compares_the_words_that_it_counted():
    """Vectors that tell US from us: a lower-cased index does not, one that keeps case does."""
    vectors = WordVectors(["US", "us", "them"], [[3, 0], [0, 4], [0, 1]])
    texts = ["US", "us", "them"]
    mover = WordMover(vectors, stop_words=None).fit(texts)
    assert mover.search("US", 3).indices[0].tolist() == [0, 2, 1]
    by = TransportRanking(stop_words=None)
    with stored(vectors) as index:
        index.add(texts)
        hits = index.search("US", by=by)
        assert hits.query.words == {"us": 1.0}
        assert hits.ids == ["0", "1", "2"]
        assert hits.scores.tolist() == [0, 0, 3]
        assert len(index.search("US", by="wmd")) == 0  # a SMART stop word in any case
    with stored(vectors, lowercase=False) as index:
        index.add(texts)
        assert index.search("US", by=by).ids == ["0", "2", "1"]


def test_runs_of_words_have_no_vectors_of_their_own():
    vectors = WordVectors(["red", "sea"], [[1, 0], [0, 1]])
    with stored(vectors, ngram_range=(1, 2)) as index:
        index.add(["red sea", "sea", "red red"])
        hits = index.search("red sea", by="wmd")
        assert hits.ids == ["0", "1", "2"]
        assert hits.query.words == {"red": 0.5, "sea": 0.5}


# ---------------------------------------------------------------------- known numbers


@pytest.mark.parametrize(
    ("points", "query", "document", "expected"),
    [
        (
            {"a": (0, 0), "b": (4, 0), "c": (0, 3), "d": (4, 3)},
            "a b",
            "c d",
            {"wmd": 3, "rwmd": 3, "wcd": 3},
        ),
        (
            {"o": (0,), "i": (1,), "v": (5,), "s": (6,)},
            "o i v",
            "o s",
            {"wmd": 4 / 3, "rwmd": 2 / 3, "rwmd-query": 2 / 3, "rwmd-document": 0.5, "wcd": 1},
        ),
        ({"m": (-1,), "p": (1,), "o": (0,)}, "m p", "o", {"wmd": 1, "rwmd": 1, "wcd": 0}),
        (
            {"o": (0,), "b": (2,), "c": (3,)},
            "o o o b",
            "o c c c",
            {"wmd": 1.75, "rwmd": 0.75, "rwmd-query": 0.25, "wcd": 1.75},
        ),
    ],
)
def test_numbers_that_a_hand_can_check(points, query, document, expected):
    """Section 10.7 of the reference; a vector of zeros is none, so the origin lies elsewhere."""
    matrix = np.array([[10, *point] for point in points.values()], np.float32)
    with stored(WordVectors(list(points), matrix)) as index:
        index.add([document])
        for method, distance in expected.items():
            by = TransportRanking(method, stop_words=None)
            (hit,) = index.search(query, by=by)
            assert hit.score == pytest.approx(distance, abs=1e-6)
            check_explanation(hit.explain(), hit.score)
            there = dict.fromkeys(query.split(), 0)
            for word in query.split():
                there[word] += 7  # any unit of weight
            (same,) = index.search(there, by=by)
            assert same.score == pytest.approx(distance, abs=1e-6)


def test_the_flow_of_the_second_example():
    line = WordVectors(["o", "i", "v", "s"], [[10, 0], [10, 1], [10, 5], [10, 6]])
    with stored(line) as index:
        index.add(["o s"])
        found = index.search("o i v", by=TransportRanking(stop_words=None))[0].explain()
        moves = {(move.source, move.target): move.mass for move in found.moves}
        assert moves == pytest.approx(
            {("o", "o"): 1 / 3, ("i", "o"): 1 / 6, ("i", "s"): 1 / 6, ("v", "s"): 1 / 3}
        )
        relaxed = index.search("o i v", by=TransportRanking("rwmd", stop_words=None))[0].explain()
        assert isinstance(relaxed, Flow)
        assert {(move.source, move.target) for move in relaxed.moves} == {
            ("o", "o"),
            ("i", "o"),
            ("v", "s"),
        }
        other = TransportRanking("rwmd-document", stop_words=None)
        backwards = index.search("o i v", by=other)[0].explain()
        assert dict(backwards.sources) == {"o": 0.5, "v": 0.5}
        assert dict(backwards.targets) == {"o": 0.5, "s": 0.5}
        for flow in (relaxed, backwards):  # can be drawn
            assert repr(flow) == f"Flow: score {flow.score:.4g}\n{flow_text(flow)}"
            assert flow.to_svg() == flow._repr_html_() == flow_svg(flow, title=flow._title)
            assert flow.to_html(title="x") == flow_html(flow, title="x")
            told = flow.to_dict()
            assert told["score"] == flow.score
            assert sum(move["share"] for move in told["flow"]) == pytest.approx(1)


@pytest.mark.parametrize("cost", COSTS)
def test_what_words_add_to_the_distance_of_centroids(animals, cost):
    by = TransportRanking("wcd", cost=cost)
    for hit in animals.search("A loud kitten sleeps", by=by):
        found = hit.explain()
        check_explanation(found, hit.score)
        assert {part.name for part in found.parts} >= {"loud", "kitten", "sleeps"}
    same = animals.search("bark night dogs", by=by)[0]
    assert same.score == pytest.approx(0, abs=1e-7)
    assert all(part.value == 0 for part in same.explain().parts)


def test_a_comparison_knows_texts_and_proof(animals):
    found = animals.search("A kitten sleeps", by="wmd")[0].explain()
    assert (found.source_text, found.target_text) == ("A kitten sleeps", "Cats purr")
    assert found.verify().gap < 1e-6
    assert "kitten" in found.to_text()
    assert "<svg" in found.to_svg()


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
        with pytest.raises(ValueError, match="one weight for each of the 2 words"):
            index.search("a", by=TransportRanking(masses=np.ones(3)))
        with pytest.raises(ValueError, match="finite and not negative"):
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
