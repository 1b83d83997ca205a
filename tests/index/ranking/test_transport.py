"""Rankings of a store by transport find what a `WordMover` finds among the same words."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search_oracle import COSTS
from support import load_script
from textkin import Index, WordMover, WordVectors
from textkin.explain import Flow, flow_html, flow_svg, flow_text
from textkin.index.ranking import TransportRanking
from textkin.text import remove_stop_words, stop_word_set, tokenize

stores = load_script("tests/index/ranking/transport_stores.py")
BUILT_IN, stored, check_explanation = stores.BUILT_IN, stores.stored, stores.check_explanation

METHODS = ("wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd")
ALGORITHMS = dict(zip(METHODS, ("brute", *METHODS[1:]), strict=True))
# Several words of the index are one row: possessives, and words in title case.
KNOWN = ("cat", "Dog", "mat", "sun", "rain's", "sea")
WORDS = ("cat", "Cat's", "dog", "dog's", "Dog", "mat", "sun", "SUN'S", "rain's", "sea")
OTHERS = ("the", "of", "zebu", "yak")  # stop words, and words without a vector

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
