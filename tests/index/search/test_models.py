"""Rankings by attached models, compared with scoring every document."""

import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

import textkin as tk
from textkin import LDA, LSI, Index, TfIdf
from textkin.index import ModelRanking
from textkin.index.search._feedback import FeedbackRound
from textkin.index.search.rankings import _models
from textkin.index.search.rankings._models import ModelScorer, ModelVectors
from textkin.index.store import ModelRecord, StoredVectors, VectorBlock, row_lengths

WORDS = ["oil", "price", "barrel", "crude", "market", "cup", "final", "goal", "team", "match"]
ONES = [f"{number}" for number in range(40)]


def texts(seed: int, number: int) -> list[str]:
    rng = Random(seed)
    halves = WORDS[:5], WORDS[5:]
    return [" ".join(rng.choices(rng.choice(halves), k=rng.randrange(1, 9))) for _ in range(number)]


TEXTS = [*texts(1, 38), "", "oil cup"]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Return an index with segments, deleted rows, and two models."""
    from textkin.index.store import _writer

    path = tmp_path_factory.mktemp("models") / "test.kin"
    with pytest.MonkeyPatch.context() as patch, Index.create(path, language=None) as made:
        patch.setattr(_writer, "_TAIL_DOCUMENTS", 12)
        made.add([{"id": id, "text": text} for id, text in zip(ONES[:30], TEXTS[:30], strict=True)])
        made.delete(["4", "17"])
        made.attach("lsi", make_pipeline(TfIdf(), LSI(4, random_state=0)))
        made.attach("dot", LSI(4, random_state=0), metric="inner")
        made.attach("lda", LDA(3, random_state=0, max_iter=20, tol=1e-2))
        made.attach("length", lambda given: np.array([[len(t), 1.0, -t.count("o")] for t in given]))
        made.add([{"id": id, "text": text} for id, text in zip(ONES[30:], TEXTS[30:], strict=True)])
        yield made


def scorer(index: Index, name: str, **how: Any) -> ModelScorer:
    return index._searcher().scorer(ModelRanking(name, **how))


def kept(index: Index, name: str) -> np.ndarray:
    found = scorer(index, name)
    return found.vectors.of_rows(np.flatnonzero(found.state.live)).astype(np.float64)


def expected(index: Index, name: str, query: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Score every document by another subpackage."""
    documents = kept(index, name)
    metric = "inner" if name == "dot" else "cosine"
    scores = tk.pairwise_similarities(query[None].astype(np.float64), documents, metric)[0]
    found = np.flatnonzero(documents.any(axis=1))
    order = found[np.argsort(-scores[found].round(12), kind="stable")]
    return [index.ids[at] for at in order], scores[order]


@pytest.mark.parametrize("name", ["lsi", "dot", "lda", "length"])
class TestEveryModel:
    @pytest.mark.parametrize("k", [1, 5, 100])
    def test_search_matches_scoring_every_document(self, index: Index, name: str, k: int) -> None:
        for text in ("crude oil", "a goal of the team", "oil cup cup"):
            query = scorer(index, name).of_text(text)
            ids, scores = expected(index, name, query.vector)
            hits = index.search(text, k=k, ranking=name)
            np.testing.assert_allclose(hits.scores, scores[:k], rtol=1e-9, atol=1e-12)
            assert sorted(hits.ids) == sorted(ids[:k]) or k < len(ids)
            assert len(hits) == min(k, len(ids))
            again = dict(zip(ids, scores, strict=True))
            theirs = [again[id] for id in hits.ids]
            np.testing.assert_allclose(hits.scores, theirs, rtol=1e-9, atol=1e-12)

    def test_similar(self, index: Index, name: str) -> None:
        hits = index.similar("3", k=50, ranking=name)
        assert "3" not in hits.ids
        row = index.ids.index("3")
        ids, scores = expected(index, name, kept(index, name)[row])
        left = [score for id, score in zip(ids, scores, strict=True) if id != "3"]
        np.testing.assert_allclose(hits.scores, left, rtol=1e-9, atol=1e-12)

    def test_text_of_a_document_finds_the_document(self, index: Index, name: str) -> None:
        found = scorer(index, name)
        for id in ("3", "35"):
            of_text = found.of_text(index[id].text)
            of_row = found.of_row(found.state.row_of(id))
            assert np.array_equal(of_text.vector, of_row.vector)

    def test_thresholds_filters_and_pages(self, index: Index, name: str) -> None:
        found = scorer(index, name)
        query = found.of_text("crude oil price")
        every = found.best(query, 1000)
        middle = float(every.scores[len(every.scores) // 2])
        above = found.best(query, 1000, threshold=middle)
        assert np.array_equal(above.rows, every.rows[every.scores >= middle])
        mask = np.zeros(found.state.n_rows, np.bool_)
        mask[::3] = True
        some = found.best(query, 4, rows=mask)
        assert np.array_equal(some.rows, every.rows[mask[every.rows]][:4])
        pages = index.search("crude oil price", k=7, ranking=name)
        assert (
            pages.ids + pages.next().ids == index.search("crude oil price", k=14, ranking=name).ids
        )

    def test_explanation_sums_to_the_score(self, index: Index, name: str) -> None:
        for hit in index.search("crude oil cup", k=5, ranking=name):
            told = hit.explain()
            assert told.score == hit.score
            assert sum(part.value for part in told.parts) == pytest.approx(hit.score, abs=1e-9)

    def test_feedback_changes_the_vector(self, index: Index, name: str) -> None:
        found = scorer(index, name)
        query = found.of_text("crude oil cup")
        moved = found.moved(query, [3, 5], [7], FeedbackRound(max_terms=2))

        def scaled(row: int) -> np.ndarray:
            vector = found.vectors.of_rows([row])[0].astype(np.float64)
            return vector / np.linalg.norm(vector) * np.linalg.norm(query.vector)

        means = (scaled(3) + scaled(5)) / 2, scaled(7)
        np.testing.assert_allclose(
            moved.vector, query.vector + 0.75 * means[0] - 0.15 * means[1], rtol=1e-12
        )
        alone = found.moved(query, [], [], FeedbackRound())
        assert np.array_equal(alone.vector, query.vector)
        hits = index.search("crude oil cup", ranking=name).feedback(relevant=["3"])
        assert len(hits) == 10
        assert hits.query.words is None

    def test_deleted_and_empty_documents_are_not_found(self, index: Index, name: str) -> None:
        ids = index.search("crude oil cup", k=100, ranking=name).ids
        assert not {"4", "17"} & set(ids)
        assert len(ids) == len(set(ids))
        if name != "length":  # a model of texts may compute a vector of an empty text
            assert "38" not in ids
            assert len(index.similar("38", ranking=name)) == 0


def test_query_without_known_words_finds_nothing(index: Index) -> None:
    for name in ("lsi", "dot", "lda"):
        assert index.search("unheard of", ranking=name).ids == []
        assert index.search("", ranking=name).ids == []
        assert index.search({}, ranking=name).ids == []


def test_word_weights_are_counts(index: Index) -> None:
    for name in ("lsi", "dot", "lda"):
        weighted = index.search({"oil": 2.0, "cup": 1.0, "unheard": 3.0}, ranking=name)
        counted = index.search("oil cup oil", ranking=name)
        assert weighted.ids == counted.ids
        assert np.array_equal(weighted.scores, counted.scores)
    half = scorer(index, "dot").of_words({"oil": 0.5, "goal": 0.0}).vector
    np.testing.assert_allclose(2 * half, scorer(index, "dot").of_text("oil").vector, rtol=1e-6)
    with pytest.raises(ValueError, match="takes texts; got words with weights"):
        index.search({"oil": 1.0}, ranking="length")


def test_factors_are_named_by_their_words(index: Index) -> None:
    parts = index.search("crude oil", ranking="lda")[0].explain().parts
    name, words = parts[0].name.split(": ")
    assert name.startswith("factor ")
    assert set(words.split()) <= set(WORDS[:5])
    for part in index.search("crude cup", ranking="lsi")[0].explain().parts:
        assert {word.lstrip("-") for word in part.name.split(": ")[1].split()} <= set(WORDS)
    parts = index.search("x", ranking="length")[0].explain().parts
    assert not any(part.name.startswith("factor") for part in parts)


def test_negative_scores_are_found(index: Index) -> None:
    hits = index.search("goal", k=100, ranking="lsi")
    assert hits.scores[-1] < 0
    assert len(hits) == len(index) - 1
    assert min(index.search("goal", k=100, ranking="lsi", threshold=0.0).scores) >= 0


def test_equal_documents_have_equal_scores_in_order_of_insertion(tmp_path) -> None:
    with Index.create(tmp_path / "x.kin", language=None) as index:
        index.add(["oil price", "cup", "oil price", "team goal", "oil price"])
        index.attach("lsi", LSI(2, random_state=0))
        index.add(["oil price"])
        hits = index.search("oil", k=4, ranking="lsi")
        assert hits.ids == ["0", "2", "4", "5"]
        assert len(set(hits.scores.tolist())) == 1


def test_unattached_model_raises(index: Index) -> None:
    with pytest.raises(
        ValueError, match=r"must name an attached model; got 'x', attached.*'lsi', 'dot'"
    ):
        index.search("oil", ranking=ModelRanking("x"))
    with pytest.raises(ValueError, match="ranking must be"):
        index.search("oil", ranking="x")
    assert (
        index.search("oil", ranking=ModelRanking("lsi")).ids
        == index.search("oil", ranking="lsi").ids
    )


def test_ranking_is_hashable() -> None:
    assert ModelRanking("a") == ModelRanking("a", candidates=100)
    assert len({ModelRanking("a"), ModelRanking("a"), ModelRanking("a", approximate=True)}) == 2
    for wrong in ({"candidates": 0}, {"approximate": "yes"}):
        with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
            ModelRanking("a", **wrong)
    with pytest.raises(TypeError, match="name must be a str"):
        ModelRanking(1)  # type: ignore[arg-type]


# ------------------------------------------------------------------ vectors


def bare(matrix: np.ndarray, metric: str) -> ModelVectors:
    """Return vectors without an index."""
    found = matrix.astype(np.float32)
    rows = np.arange(len(found))
    block = VectorBlock(rows, found, row_lengths(found))
    record = ModelRecord(1, "x", "texts", metric, 0, found.shape[1], 0, "", "")
    return ModelVectors(StoredVectors(record, [block], [rows], len(found)), metric)


def best(vectors: ModelVectors, query: np.ndarray, limit: int, allowed: np.ndarray) -> list[int]:
    asked = _models._query(query)
    if not asked.length and vectors._metric != "euclidean":
        return []
    rows = vectors.candidates(asked, limit, allowed)
    scores = vectors.scores(asked, rows)
    sign = 1 if vectors._metric == "euclidean" else -1
    return rows[np.argsort(sign * scores, kind="stable")[:limit]].tolist()


def slow(vectors: ModelVectors, query: np.ndarray, limit: int, allowed: np.ndarray) -> list[int]:
    """Score every row separately, with Python's sort order."""
    asked = _models._query(query)
    if not asked.length and vectors._metric != "euclidean":
        return []
    scores = {
        int(row): float(vectors.scores(asked, np.array([row]))[0])
        for row in np.flatnonzero(allowed)
    }
    sign = 1 if vectors._metric == "euclidean" else -1
    return sorted(scores, key=lambda row: (sign * scores[row], row))[:limit]


NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 1 / 3, 1e-3, 7.7, 1e-30, 1e-44, 3e38, -2e20, 1 + 2**-23])


@settings(max_examples=150, deadline=None)
@given(
    data=st.data(),
    shape=st.tuples(st.integers(1, 40), st.integers(1, 9)),
    metric=st.sampled_from(["cosine", "inner", "euclidean"]),
    limit=st.integers(1, 12),
)
def test_coarse_scores_lose_no_hits(data, shape, metric, limit) -> None:
    rows = data.draw(
        st.lists(
            st.lists(NUMBERS, min_size=shape[1], max_size=shape[1]),
            min_size=shape[0],
            max_size=shape[0],
        )
    )
    query = np.array(data.draw(st.lists(NUMBERS, min_size=shape[1], max_size=shape[1])))
    vectors = bare(np.array(rows), metric)
    allowed = vectors.found & np.array(
        data.draw(st.lists(st.booleans(), min_size=shape[0], max_size=shape[0]))
    )
    assert best(vectors, query, limit, allowed) == slow(vectors, query, limit, allowed)


@pytest.mark.parametrize("metric", ["cosine", "inner", "euclidean"])
@pytest.mark.parametrize("dimensions", [1, 7, 100, 384])
def test_near_ties_in_a_large_matrix(metric: str, dimensions: int) -> None:
    rng = np.random.default_rng(dimensions)
    start = rng.normal(size=dimensions)
    matrix = start + 1e-6 * rng.normal(size=(3000, dimensions))
    matrix[1000:1500] = matrix[500]
    vectors = bare(matrix, metric)
    query = start + 1e-7 * rng.normal(size=dimensions)
    asked = _models._query(query)
    scores = vectors.scores(asked, np.arange(3000))
    assert len(set(scores[1000:1500].tolist())) == 1
    alone = [vectors.scores(asked, np.array([row]))[0] for row in range(0, 3000, 50)]
    assert np.array_equal(scores[::50], alone)
    order = np.argsort(scores if metric == "euclidean" else -scores, kind="stable")[:20]
    assert best(vectors, query, 20, vectors.found) == order.tolist()


def test_coarse_scores_leave_few_candidates() -> None:
    rng = np.random.default_rng(0)
    vectors = bare(rng.normal(size=(20_000, 50)), "cosine")
    asked = _models._query(rng.normal(size=50))
    assert len(vectors.candidates(asked, 10, vectors.found)) < 20


# ------------------------------------------------------------------ approximate search


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Return some thousand documents with random vectors."""
    table: dict[str, np.ndarray] = {}

    def encode(given: list[str]) -> np.ndarray:
        for text in given:
            if text not in table:
                table[text] = np.random.default_rng(int(text)).normal(size=8)
        return np.stack([table[text] for text in given])

    with Index.create(tmp_path_factory.mktemp("large") / "x.kin", language=None) as made:
        made.add([str(number) for number in range(3000)])
        made.attach("near", encode)
        made.attach("dot", encode, metric="inner")
        made.delete(["0", "7"])
        yield made


class TestApproximately:
    @pytest.fixture(autouse=True)
    def usearch(self) -> None:
        pytest.importorskip("usearch")

    def test_candidates_are_scored_exactly_and_recall_is_reported(self, large: Index) -> None:
        quick = scorer(large, "near", approximate=True, candidates=200)
        exact = scorer(large, "near")
        query = exact.of_text("5000")
        near, true = quick.best(query, 10), exact.best(query, 10)
        assert near.stats["scored"] == 200
        assert 0.9 < near.stats["recall"] <= 1.0
        scores = dict(zip(true.rows.tolist(), true.scores.tolist(), strict=True))
        both = [
            (row, score) for row, score in zip(near.rows, near.scores, strict=True) if row in scores
        ]
        assert len(both) >= 8
        assert all(scores[row] == score for row, score in both)
        assert near.scores.tolist() == sorted(near.scores, reverse=True)

    def test_recall_is_measured_against_exact_search(
        self, large: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from textkin.index.search.rankings._ann_graph import NeighbourGraph

        half = ModelScorer(ModelRanking("near", True, 199), large._searcher().state)
        every = NeighbourGraph.nearest
        monkeypatch.setattr(
            NeighbourGraph, "nearest", lambda self, vector, count: every(self, vector, count)[1::2]
        )
        assert half.recall == pytest.approx(0.5, abs=0.05)

    def test_filters(self, large: Index) -> None:
        quick = scorer(large, "near", approximate=True, candidates=50)
        exact = scorer(large, "near")
        query = exact.of_row(17)
        few, many = np.zeros((2, quick.state.n_rows), np.bool_)
        few[100:110] = True
        many[::2] = True
        found = quick.best(query, 5, rows=few)
        assert np.array_equal(found.rows, exact.best(query, 5, rows=few).rows)
        found = quick.best(query, 5, rows=many)
        assert not (found.rows % 2).any()
        assert len(set(found.rows) & set(exact.best(query, 5, rows=many).rows)) >= 4
        assert quick.best(query, 5, rows=np.zeros_like(few)).rows.tolist() == []

    def test_k_may_include_all_documents(self, large: Index) -> None:
        for name in ("near", "dot"):
            hits = large.search("5000", k=5000, ranking=ModelRanking(name, approximate=True))
            assert hits.ids == large.search("5000", k=5000, ranking=name).ids

    def test_graph_grows_with_the_index(self, tmp_path: Path) -> None:
        def encode(given: list[str]) -> np.ndarray:
            return np.stack([np.random.default_rng(int(text)).normal(size=4) for text in given])

        ranking = ModelRanking("near", approximate=True, candidates=100)
        with Index.create(tmp_path / "x.kin", language=None) as index:
            index.add([str(number) for number in range(1000)])
            index.attach("near", encode)
            first = index.search("5000", ranking=ranking)
            graph = index._searcher().scorer(ranking)._graph
            index.delete([*first.ids[:3]])
            index.add(["5000", "6000"])
            hits = index.search("5000", ranking=ranking)
            assert index._searcher().scorer(ranking)._graph is graph
            assert hits.ids[0] == "1000"
            assert not set(first.ids[:3]) & set(hits.ids)
            assert len(set(hits.ids) & set(index.search("5000", ranking="near").ids)) >= 9
            assert hits.stats["scored"] >= 100 - 3
            index.delete(index.ids[:700])
            assert index.search("6000", ranking=ranking).ids[0] == "1001"
            assert index._searcher().scorer(ranking)._graph is not graph

    def test_one_thread_builds_a_reproducible_graph(self) -> None:
        """It also misses the same documents, and it does miss some."""
        from textkin.index.search.rankings._ann_graph import NeighbourGraph

        vectors = np.random.default_rng(0).normal(size=(5000, 32))
        queries = np.random.default_rng(1).normal(size=(50, 32))
        found = []
        for _ in range(3):
            graph = NeighbourGraph(32, "inner")
            for half in (2500, 5000):
                some = vectors[:half].astype(np.float32)
                graph.extend(np.arange(half), some.__getitem__, 1)
            found.append([set(graph.nearest(query, 10).tolist()) for query in queries])
        assert found[0] == found[1] == found[2]
        assert found[0] != [set(row) for row in np.argsort(-queries @ vectors.T)[:, :10].tolist()]

    def test_number_of_threads(self, large: Index) -> None:
        quick = large.search("5000", ranking=ModelRanking("near", approximate=True, n_jobs=2))
        assert len(set(quick.ids) & set(large.search("5000", ranking="near").ids)) >= 5
        with pytest.raises(ValueError, match="n_jobs must not be 0"):
            ModelRanking("near", approximate=True, n_jobs=0)

    def test_inner_products(self, large: Index) -> None:
        quick = large.search("5000", ranking=ModelRanking("dot", approximate=True, candidates=300))
        assert len(set(quick.ids) & set(large.search("5000", ranking="dot").ids)) >= 6

    def test_small_index_is_searched_exactly(self, index: Index) -> None:
        quick = index.search("oil", ranking=ModelRanking("lsi", approximate=True))
        assert quick.ids == index.search("oil", ranking="lsi").ids


def test_missing_usearch_names_the_extra(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usearch", None)
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    ranking = ModelRanking("dot", approximate=True, candidates=7)
    with pytest.raises(ImportError, match=r"pip install 'textkin\[ann\]'"):
        index.search("oil", ranking=ranking)
