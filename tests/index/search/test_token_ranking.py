"""Ranking of the best documents of a ranking by contextual tokens."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import textkin as tk
from textkin import Index, TokenMover, TokenVectors
from textkin.exceptions import EmptyDocumentError, ParameterError, ParameterTypeError
from textkin.index import Cascade, RankFusion, Rerank, SearchRequest
from textkin.transport import max_sim

TEXTS = [
    "the bank raised its rates",
    "he sat on the bank of the river",
    "the bank gave a loan to the bank",
    "a cat sleeps on the sofa",
    "",
    "the river is green near the bank",
]
WORDS = sorted({word for text in TEXTS for word in text.split()} | {"credit"})
TABLE = np.random.default_rng(5).normal(size=(len(WORDS), 8)).astype(np.float32)
calls: list[int] = []


def tokens(texts: list[str]) -> list[TokenVectors]:
    """Encode words with a share of their neighbors' vectors, as a contextual encoder does."""
    calls.append(len(texts))
    found = []
    for text in texts:
        words = [word for word in text.split() if word in WORDS]
        rows = TABLE[[WORDS.index(word) for word in words]].reshape(-1, 8)
        mixed = rows + 0.2 * rows.mean(axis=0, keepdims=True) if len(rows) else rows
        found.append(TokenVectors(mixed, tokens=words))
    return found


@pytest.fixture
def index(tmp_path) -> Iterator[Index]:
    with Index.create(tmp_path / "t.kin") as made:
        made.add(TEXTS)
        yield made


QUERY = "the bank gave credit"


@pytest.mark.parametrize("metric", ["wmd", "maxsim"])
class TestRerank:
    def expected(self, metric: str, ids: list[str]) -> dict[str, float]:
        query, documents = tokens([QUERY]), tokens([TEXTS[int(id)] for id in ids])
        if metric == "wmd":
            scores = TokenMover().pairwise(query, documents)[0]
        else:
            scores = max_sim(query, documents)[0]
        return dict(zip(ids, scores.tolist(), strict=True))

    def test_scores_are_of_the_tokens(self, index: Index, metric: Any) -> None:
        first = index.search(QUERY, k=10)
        hits = index.search(QUERY, ranking=Rerank("bm25", tokens, metric=metric), k=10)
        expected = self.expected(metric, first.ids)
        assert dict(zip(hits.ids, hits.scores.tolist(), strict=True)) == pytest.approx(expected)
        sign = 1 if metric == "wmd" else -1
        assert hits.ids == sorted(expected, key=lambda id: (sign * expected[id], int(id)))
        assert hits.ascending == (metric == "wmd")
        assert hits.stats["candidates"] == len(first)

    def test_only_the_best_are_ranked(self, index: Index, metric: Any) -> None:
        best = index.search(QUERY, k=2).ids
        hits = index.search(QUERY, ranking=Rerank("bm25", tokens, metric=metric, k=2), k=10)
        assert set(hits.ids) == set(best)
        assert "only its 2 candidates" in hits.notes[-1]
        some = index.search(QUERY, ranking=Rerank("bm25", tokens, metric=metric), where="id = 1")
        assert some.ids == ["1"]

    def test_explanation_sums_to_the_score(self, index: Index, metric: Any) -> None:
        for hit in index.search(QUERY, ranking=Rerank("bm25", tokens, metric=metric)):
            told = hit.explain()
            assert told.score == pytest.approx(hit.score, abs=1e-12)
            total = sum(part.value for part in told.parts)
            assert total == pytest.approx(hit.score, abs=1e-6)
            assert " to " in told.parts[0].name
            assert told.to_svg()
        ranking = Rerank("bm25", tokens, metric=metric)
        text = index.reader().compare(QUERY, TEXTS[0], ranking)
        assert text.score == pytest.approx(self.expected(metric, ["0"])["0"])

    def test_similar_documents_and_pages(self, index: Index, metric: Any) -> None:
        ranking = Rerank("bm25", tokens, metric=metric)
        hits = index.similar("0", ranking=ranking, k=1)
        assert hits.ids != ["0"]
        assert hits.ids + hits.next().ids == index.similar("0", ranking=ranking, k=2).ids
        limit = float(hits.scores[0])
        assert index.similar("0", ranking=ranking, threshold=limit).ids == hits.ids
        assert hits.feedback(relevant=["1"]).ids

    def test_tokens_are_encoded_once(self, index: Index, metric: Any) -> None:
        ranking = Rerank("bm25", tokens, metric=metric)
        index.search(QUERY, ranking=ranking)
        calls.clear()
        index.search(QUERY, ranking=ranking)
        assert calls == [1]  # only the query

    def test_inside_other_hybrids(self, index: Index, metric: Any) -> None:
        ranking = Rerank("bm25", tokens, metric=metric)
        assert index.search(QUERY, ranking=RankFusion(["bm25", ranking])).ids
        assert index.search(QUERY, ranking=Rerank(Cascade("bm25", "tfidf"), tokens)).ids


def test_value_semantics() -> None:
    assert Rerank("bm25", tokens) == Rerank("bm25", tokens, k=100)
    assert hash(Rerank("bm25", tokens)) == hash(Rerank("bm25", tokens))
    assert Rerank("bm25", tokens) != Rerank("bm25", tokens, mover=TokenMover("euclidean"))
    assert repr(Rerank("bm25", tokens)) == "Rerank('bm25', tokens=tokens, metric='wmd', k=100)"
    with pytest.raises(ParameterTypeError, match="can be written as JSON"):
        SearchRequest("a", ranking=Rerank("bm25", tokens)).to_json()


def test_tokens_may_be_an_object_without_hash(index: Index) -> None:
    class Encoder(list):
        def __call__(self, texts: list[str]) -> list[TokenVectors]:
            return tokens(texts)

    encoder = Encoder()
    assert Rerank("bm25", encoder) == Rerank("bm25", encoder)
    assert Rerank("bm25", encoder) != Rerank("bm25", Encoder())
    assert index.search(QUERY, ranking=Rerank("bm25", encoder)).ids


def test_embedding_selects_and_text_reranks(index: Index) -> None:
    index.attach("own", embeddings=np.eye(6))
    ranking = Rerank("own", tokens, k=2)
    hits = index.search(QUERY, embedding=[1, 0, 0.9, 0, 0, 0], ranking=ranking)
    assert set(hits.ids) == {"0", "2"}
    assert json.dumps(hits.to_dict())
    with pytest.raises(ParameterError, match="with a query for a ranking by tokens"):
        index.search(embedding=[1, 0, 0, 0, 0, 0], ranking=ranking)
    with pytest.raises(ParameterError, match="a text for a ranking by tokens"):
        index.search({"bank": 1.0}, ranking=Rerank("bm25", tokens))


def test_nothing_to_compare(index: Index) -> None:
    ranking = Rerank("bm25", tokens)
    empty = index.search("zzz", ranking=ranking)
    assert len(empty) == 0
    assert "The query has no tokens to compare." in empty.notes
    index.attach("own", embeddings=np.eye(6))
    hits = index.search("bank", embedding=[0, 0, 0, 0.1, 1, 0], ranking=Rerank("own", tokens, k=3))
    assert "4" not in hits.ids
    with pytest.raises(EmptyDocumentError, match="The document has no tokens"):
        index.reader().explain("4", SearchRequest("bank", ranking=ranking))
    with Index.create(index.path.with_name("empty.kin")) as other:
        assert len(other.search("bank", ranking=ranking)) == 0


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"tokens": 3}, ParameterTypeError, "a function from texts"),
        ({"tokens": TokenMover}, ParameterTypeError, "a function from texts"),
        ({"tokens": tokens, "metric": "rwmd"}, ParameterError, "metric must be"),
        ({"tokens": tokens, "k": 0}, ParameterError, "k must be"),
        ({"tokens": tokens, "mover": 3}, ParameterTypeError, "a TokenMover or None"),
        (
            {"tokens": tokens, "mover": TokenMover(metric="rwmd")},
            ParameterError,
            "mover must be a TokenMover with metric='wmd'; got one with metric='rwmd'",
        ),
        (
            {"tokens": tokens, "mover": TokenMover(), "metric": "maxsim"},
            ParameterError,
            "mover must be None",
        ),
        ({"tokens": tokens, "first": "zz9"}, ValueError, "attached model"),
    ],
)
def test_bad_parameters_raise(
    index: Index, given: dict[str, Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        index.search("bank", ranking=Rerank(**{"first": "bm25", **given}))


@pytest.mark.parametrize(
    ("encode", "error", "told"),
    [
        (lambda texts: None, TypeError, "returns the tokens of each text"),
        (lambda texts: [], ValueError, "of each of 1 texts; got 0"),
        (lambda texts: [np.ones((1, 2))] * 9, ValueError, "of each of 1 texts; got more"),
        (lambda texts: [np.full((1, 2), np.nan)] * len(texts), ValueError, "finite"),
        (lambda texts: [np.ones(3)] * len(texts), ValueError, "shape"),
    ],
)
def test_bad_encoders_raise(index: Index, encode: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        index.search("bank", ranking=Rerank("bm25", encode))


def test_public_name() -> None:
    assert tk.index.Rerank is Rerank
