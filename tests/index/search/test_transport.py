"""Transport rankings of an index, compared with `WordMover` over the same words."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search_reference import COSTS
from support import load_script
from textkin import Index, WordMover, WordVectors
from textkin.explain import Flow, flow_html, flow_svg, flow_text
from textkin.index import TransportRanking
from textkin.text import remove_stop_words, stop_word_set, tokenize

stores = load_script("tests/index/search/transport_stores.py")
BUILT_IN, stored, check_explanation = stores.BUILT_IN, stores.stored, stores.check_explanation

METHODS = ("wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd")
# Several words of the index share one row: possessives, and words in title case.
KNOWN = ("cat", "Dog", "mat", "sun", "rain's", "sea")
WORDS = ("cat", "Cat's", "dog", "dog's", "Dog", "mat", "sun", "SUN'S", "rain's", "sea")
OTHERS = ("the", "of", "zebu", "yak")  # stop words, and words without a vector

texts = st.lists(st.sampled_from(WORDS + OTHERS), max_size=6).map(" ".join)


@st.composite
def vectors(draw):
    """Return vectors on a small grid, on which many distances are equal."""
    entries = st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=3, max_size=3)
    rows = np.array([draw(entries) for _ in KNOWN], np.float32)
    rows[~rows.any(axis=1)] = 1
    return WordVectors(KNOWN, rows)


@st.composite
def histories(draw):
    """Generate batches of changes: texts by ID to add or replace, and IDs to delete."""
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
        word_weights=np.array([1, 0.1, 0, 2.5, 1 / 3, 1]) if masses == "own" else masses,
        cost=draw(st.sampled_from(COSTS)),
        unit=draw(st.booleans()),
        n_jobs=draw(st.sampled_from([None, 2])),
    )


def words_of(text: str) -> list[str]:
    """Tokenize a text as an index does, without stop words."""
    return remove_stop_words(tokenize(text), stop_word_set("smart"))


def mover_of(index: Index, ranking: TransportRanking) -> WordMover:
    """Return a mover over the words of the live documents, in their order."""
    mover = WordMover(
        index.vectors,
        word_weights=ranking.word_weights,
        cost=ranking.cost,
        unit=ranking.unit,
        stop_words=None,
    )
    return mover.fit([words_of(document.text) for document in index])


def rows_of(index: Index) -> np.ndarray:
    return np.flatnonzero(index._searcher().state.live)


# ---------------------------------------------------------------------- comparison with WordMover


@given(vectors(), histories(), rankings(), texts, st.data())
@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@pytest.mark.usefixtures("small_segments")
def test_index_matches_word_mover(vectors, history, ranking, query, data):
    """After every change: segments, deletions, updates, filters, radii, threads, ties."""
    k = data.draw(st.sampled_from([1, 2, 3, 50]))
    with stored(vectors) as index:
        for changed, deleted in history:
            index.update([{"id": id, "text": text} for id, text in changed.items()])
            index.delete(sorted({id for id in deleted if id in index}))
            scorer = index._searcher().scorer(ranking)
            if not len(index):
                assert len(index.search(query, k, ranking=ranking)) == 0
                continue
            mover = mover_of(index, ranking)
            found = mover.search([words_of(query)], k, metric=ranking.metric)[0]
            hits = index.search(query, k, ranking=ranking)
            live = np.array(index.ids)
            assert hits.ids == live[found.indices].tolist()
            np.testing.assert_array_equal(hits.scores, found.distances)
            # A subset of the documents, and the distance of a document as the radius.
            allowed = np.array(data.draw(st.lists(st.booleans(), min_size=12, max_size=12)))
            allowed = np.resize(allowed, len(live))
            radius = float(found.distances[-1]) if len(found.distances) else 1.0
            mask = np.zeros(index._searcher().state.n_rows, np.bool_)
            mask[rows_of(index)[allowed]] = True
            expected = mover.search(
                [words_of(query)], k, metric=ranking.metric, radius=radius, mask=allowed
            )
            best = scorer.best(scorer.of_text(query), k, radius, mask)
            np.testing.assert_array_equal(best.rows, rows_of(index)[expected[0].indices])
            np.testing.assert_array_equal(best.scores, expected[0].distances)
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
def test_similar_batches_and_word_weights_match_word_mover(vectors, documents, ranking, data):
    """A document as a query; several queries; a query by weighted words."""
    with stored(vectors) as index:
        index.add(documents)
        gone = data.draw(st.sampled_from([[], ["0"]])) if len(documents) > 1 else []
        index.delete(gone)
        scorer = index._searcher().scorer(ranking)
        distances = mover_of(index, ranking)
        rows = rows_of(index)
        queries = [scorer.of_row(int(row)) for row in rows]
        texts = [document.text for document in index]
        together = index.search_many(texts, 4, ranking=ranking, n_jobs=2)
        for at, (query, batch) in enumerate(zip(queries, together, strict=True)):
            id = index.ids[at]
            alone = scorer.best(query, 4)
            assert batch.ids == index._searcher().state.ids(alone.rows)
            np.testing.assert_array_equal(batch.scores, alone.scores)
            others = np.delete(np.arange(len(rows)), at)
            found = distances.search(
                [words_of(index[id].text)],
                4,
                metric=ranking.metric,
                mask=np.isin(np.arange(len(rows)), others),
            )[0]
            hits = index.similar(id, 4, ranking=ranking)
            np.testing.assert_array_equal(hits.scores, found.distances)
            assert hits.ids == np.array(index.ids)[found.indices].tolist()
            masses = scorer.words_of(query)
            assert list(masses.values()) == sorted(masses.values(), reverse=True)
            if masses:
                assert sum(masses.values()) == pytest.approx(1)
            again = scorer.best(scorer.of_words(masses), 4)
            np.testing.assert_allclose(again.scores, alone.scores, rtol=1e-9, atol=1e-9)
            for row in alone.rows.tolist():
                score = alone.scores[alone.rows.tolist().index(row)]
                check_explanation(scorer.explain(query, row), score)


def test_real_texts_with_default_settings(shared_data, tmp_path):
    """The mover gets the texts unchanged; built-in vectors are lowercase, as is the index."""
    path = shared_data / "classification" / "r8.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        documents = [json.loads(line)["text"] for line, _ in zip(lines, range(320), strict=False)]
    queries, documents = documents[:20], documents[20:]
    mover = WordMover().fit(documents)
    with Index.create(tmp_path / "r8.kin", language=None) as index:
        index.add(documents)
        for by in ("wmd", "rwmd", "wcd"):
            found = mover.search(queries, 10, metric=by)
            for at, query in enumerate(queries):
                hits = index.search(query, ranking=by)
                assert hits.ids == [str(i) for i in found[at].indices]
                np.testing.assert_array_equal(hits.scores, found[at].distances)


@pytest.mark.parametrize("masses", ["nbow", "sif", "tfidf"])
def test_words_with_the_same_vector_are_one_word(masses):
    """Counts are added before weighting, so that distances are bit-identical."""
    rng = np.random.default_rng(8)
    words = [f"{a}{b}" for a in "bcdfg" for b in "aeiou"]
    vectors = WordVectors(words, rng.normal(size=(25, 4)).astype(np.float32))
    spelled = [f"{word}{ending}" for word in words for ending in ("", "'s", "\u2019s")]
    texts = [" ".join(rng.choice(spelled, rng.integers(3, 40))) for _ in range(60)]
    with stored(vectors) as index:
        index.add(texts)
        by = TransportRanking("wmd", word_weights=masses, stop_words=None)
        mover = WordMover(vectors, word_weights=masses, stop_words=None).fit(texts)
        for query in texts[:10]:
            found = mover.search(query)[0]
            hits = index.search(query, ranking=by)
            assert hits.ids == [str(i) for i in found.indices]
            np.testing.assert_array_equal(hits.scores, found.distances)


def test_index_compares_its_counted_words():
    """Vectors distinguish US from us: a lowercase index does not, a case-sensitive one does."""
    vectors = WordVectors(["US", "us", "them"], [[3, 0], [0, 4], [0, 1]])
    texts = ["US", "us", "them"]
    mover = WordMover(vectors, stop_words=None).fit(texts)
    assert mover.search("US", 3).indices[0].tolist() == [0, 2, 1]
    by = TransportRanking(stop_words=None)
    with stored(vectors) as index:
        index.add(texts)
        hits = index.search("US", ranking=by)
        assert hits.query.words == {"us": 1.0}
        assert hits.ids == ["0", "1", "2"]
        assert hits.scores.tolist() == [0, 0, 3]
        assert len(index.search("US", ranking="wmd")) == 0  # a SMART stop word in any case
    with stored(vectors, lowercase=False) as index:
        index.add(texts)
        assert index.search("US", ranking=by).ids == ["0", "2", "1"]


def test_ngrams_have_no_vectors():
    vectors = WordVectors(["red", "sea"], [[1, 0], [0, 1]])
    with stored(vectors, ngram_range=(1, 2)) as index:
        index.add(["red sea", "sea", "red red"])
        hits = index.search("red sea", ranking="wmd")
        assert hits.ids == ["0", "1", "2"]
        assert hits.query.words == {"red": 0.5, "sea": 0.5}


# ---------------------------------------------------------------------- worked examples


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
def test_distances_match_hand_calculation(points, query, document, expected):
    """Section 10.7 of the reference; zero vectors are invalid, so the origin is elsewhere."""
    matrix = np.array([[10, *point] for point in points.values()], np.float32)
    with stored(WordVectors(list(points), matrix)) as index:
        index.add([document])
        for method, distance in expected.items():
            by = TransportRanking(method, stop_words=None)
            (hit,) = index.search(query, ranking=by)
            assert hit.score == pytest.approx(distance, abs=1e-6)
            check_explanation(hit.explain(), hit.score)
            there = dict.fromkeys(query.split(), 0)
            for word in query.split():
                there[word] += 7  # any unit of weight
            (same,) = index.search(there, ranking=by)
            assert same.score == pytest.approx(distance, abs=1e-6)


def test_flow_of_the_second_example():
    line = WordVectors(["o", "i", "v", "s"], [[10, 0], [10, 1], [10, 5], [10, 6]])
    with stored(line) as index:
        index.add(["o s"])
        found = index.search("o i v", ranking=TransportRanking(stop_words=None))[0].explain()
        moves = {(move.source, move.target): move.mass for move in found.moves}
        assert moves == pytest.approx(
            {("o", "o"): 1 / 3, ("i", "o"): 1 / 6, ("i", "s"): 1 / 6, ("v", "s"): 1 / 3}
        )
        relaxed = index.search("o i v", ranking=TransportRanking("rwmd", stop_words=None))[
            0
        ].explain()
        assert isinstance(relaxed, Flow)
        assert {(move.source, move.target) for move in relaxed.moves} == {
            ("o", "o"),
            ("i", "o"),
            ("v", "s"),
        }
        other = TransportRanking("rwmd-document", stop_words=None)
        backwards = index.search("o i v", ranking=other)[0].explain()
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
def test_contributions_to_the_centroid_distance(animals, cost):
    by = TransportRanking("wcd", cost=cost)
    for hit in animals.search("A loud kitten sleeps", ranking=by):
        found = hit.explain()
        check_explanation(found, hit.score)
        assert {part.name for part in found.parts} >= {"loud", "kitten", "sleeps"}
    same = animals.search("bark night dogs", ranking=by)[0]
    assert same.score == pytest.approx(0, abs=1e-7)
    assert all(part.value == 0 for part in same.explain().parts)


def test_comparison_has_texts_and_certificate(animals):
    found = animals.search("A kitten sleeps", ranking="wmd")[0].explain()
    assert (found.source_text, found.target_text) == ("A kitten sleeps", "Cats purr")
    assert found.verify().gap < 1e-6
    assert "kitten" in found.to_text()
    assert "<svg" in found.to_svg()
