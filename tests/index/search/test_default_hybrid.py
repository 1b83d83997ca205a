"""The ranking "hybrid", `Hybrid`, and weights learned from judged queries."""

import itertools
import math

import numpy as np
import pytest

from textkin import Hybrid, Index
from textkin.evaluate import average_precision
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.index import RankFusion, Rerank, SearchRequest, WeightedSum
from textkin.index.search import _tuning
from textkin.index.search._request import name_of, ranking_from_json, ranking_of
from textkin.index.search.rankings._latent_ranking import LatentRanking

TEXTS = [
    "a cat and a kitten purr at night",
    "the kitten sleeps and purrs",
    "dogs bark at the moon at night",
    "a puppy and dogs bark",
    "stocks fell as oil prices rose",
    "oil and gas prices",
    "",
    "the the the",
]
QUERIES = {"q1": "kitten purr", "q2": "dogs", "q3": "oil stocks", "q4": "night", "q5": "prices"}
QRELS = {
    "q1": ["0", "1"],
    "q2": {"2": 1, "3": 2, "0": 0},
    "q3": ["4", "5"],
    "q4": ["2", "0"],
    "q5": ["5"],
    "q6": ["1"],
}


@pytest.fixture
def filled(index: Index) -> Index:
    index.add(TEXTS)
    return index


class Encoder:
    """Encoder that counts characters."""

    def encode(self, texts):
        return np.array([[text.count(letter) + 0.5 for letter in "abcdefgh"] for text in texts])


def sum_of(part):
    return math.fsum(map(sum_of, part.parts)) if part.parts else part.value


def test_hybrid_without_models_combines_bm25_and_latent_semantics(filled):
    hits = filled.search("kitten night", ranking="hybrid")
    assert set(hits.ids) <= set(filled.search("kitten night").ids)
    same = WeightedSum({"bm25": 0.85, LatentRanking(): 0.15})
    assert hits.ids == filled.search("kitten night", ranking=same).ids
    for hit in hits:
        explained = hit.explain()
        assert explained.score == pytest.approx(hit.score, abs=1e-12)
        assert sum(part.value for part in explained.parts) == pytest.approx(hit.score, abs=1e-12)
        for part in explained.parts:
            assert sum_of(part) == pytest.approx(part.value, abs=1e-12)
        assert {part.name for part in explained.parts} == {"bm25", "latent semantics"}


def test_latent_scores_equal_a_slow_reference(filled):
    docs = [text.split() for text in TEXTS if text]
    words = sorted({word for doc in docs for word in doc})
    counts = np.array([[doc.count(word) for word in words] for doc in [*docs, []]], float)
    idf = np.log(len(counts) / (counts > 0).sum(axis=0))

    def weigh(row):
        weights = np.where(row > 0, 1 + np.log(np.maximum(row, 1)), 0) * idf
        return weights / (np.linalg.norm(weights) or 1)

    matrix = np.array([*map(weigh, counts)])
    _, values, right = np.linalg.svd(matrix)
    right = right[: len(values)][values > 1e-9 * values.max()]
    query = right @ weigh(np.array([["kitten", "night"].count(word) for word in words], float))
    found = filled.search("kitten night", ranking=LatentRanking(), k=9)
    ids = [str(at) for at, text in enumerate(TEXTS) if text]
    for hit in found:
        vector = right @ matrix[ids.index(hit.id)]
        cosine = vector @ query / np.linalg.norm(vector) / np.linalg.norm(query)
        assert hit.score == pytest.approx(cosine, abs=1e-9)
        assert hit.explain().score == hit.score
        assert sum(part.value for part in hit.explain().parts) == pytest.approx(hit.score)
    assert "6" not in found.ids  # the empty document


def test_latent_dimensions_follow_the_snapshot(tmp_path):
    with (
        Index.create(tmp_path / "one.kin") as filled,
        Index.create(tmp_path / "other.kin") as other,
    ):
        filled.add(TEXTS)
        filled.search("kitten", ranking="hybrid")
        filled.delete("0")
        filled.add(["a kitten and the moon"])
        other.add([*(TEXTS[1:]), "a kitten and the moon"])
        one = filled.search("kitten moon", ranking="hybrid")
        same = other.search("kitten moon", ranking="hybrid")
        assert one[0].text == same[0].text
        assert one.scores == pytest.approx(same.scores, abs=1e-9)


def test_large_indexes_use_a_sample(filled, monkeypatch):
    from textkin.index.search.rankings import _latent_ranking

    monkeypatch.setattr(_latent_ranking, "_SAMPLE", 3)
    scorer = filled._searcher().scorer(LatentRanking())
    assert scorer._sample().tolist() == [0, 4]
    assert len(filled.search("cat oil", ranking="hybrid")) > 0


@pytest.mark.parametrize("texts", [[], [""], ["one"], ["one", "one"], ["a b", "c d", ""]])
def test_small_indexes(index, texts):
    index.add(texts)
    for query in ("one", "a", "", "unknown"):
        hits = index.search(query, ranking="hybrid")
        assert hits.ids == index.search(query).ids
        assert np.isfinite(hits.scores).all()


def test_an_attached_encoder_is_part_of_the_hybrid(filled):
    before = filled.search("kitten", ranking="hybrid").ids
    filled.attach("letters", Encoder())
    hits = filled.search("kitten", ranking="hybrid")
    assert hits.ids == filled.search("kitten", ranking=Hybrid(["bm25", "letters"])).ids
    assert {part.name for part in hits[0].explain().parts} == {"bm25", "letters"}
    filled.detach("letters")
    assert filled.search("kitten", ranking="hybrid").ids == before


@pytest.mark.parametrize("fusion", ["scores", "rrf"])
def test_hybrid_equals_its_definition(filled, fusion):
    made = Hybrid(["bm25", "wmd"], [0.75, 0.25], fusion=fusion, candidates=5)
    hits = filled.search("kitten night", ranking=made, k=8)
    if fusion == "scores":
        same = WeightedSum({"bm25": 0.75, "wmd": 0.25}, candidates=5, pool="union")
        wanted = filled.search("kitten night", ranking=same, k=8)
        assert hits.ids == wanted.ids
        assert hits.scores.tolist() == wanted.scores.tolist()
    else:
        expected: dict[str, float] = {}
        for name, weight in (("bm25", 0.75), ("wmd", 0.25)):
            for rank, id in enumerate(filled.search("kitten night", 5, ranking=name).ids, 1):
                expected[id] = expected.get(id, 0) + weight / (60 + rank)
        assert dict(zip(hits.ids, hits.scores, strict=True)) == pytest.approx(expected)
        equal = Hybrid(["bm25", "wmd"], [1, 1], fusion="rrf", candidates=5)
        fused = RankFusion(["bm25", "wmd"], candidates=5)
        assert filled.search("dogs", ranking=equal).ids == filled.search("dogs", ranking=fused).ids
    for hit in hits:
        parts = hit.explain().parts
        assert sum(part.value for part in parts) == pytest.approx(hit.score, abs=1e-12)


def test_hybrids_are_values(filled):
    made = Hybrid(["bm25", "wmd"], [2, 1])
    assert made == Hybrid(["bm25", "wmd"], (2.0, 1.0))
    assert made != Hybrid(["bm25", "wmd"])
    assert repr(made) == "Hybrid(['bm25', 'wmd'], weights=[2, 1], fusion='scores', candidates=1000)"
    for ranking in (made, ranking_of("hybrid"), LatentRanking()):
        assert ranking_from_json(ranking.to_json()) == ranking
        assert len({ranking, ranking_from_json(ranking.to_json())}) == 1
    assert name_of(ranking_of("hybrid")) == "hybrid"
    request = SearchRequest("cat", ranking=made)
    assert SearchRequest.from_json(request.to_json()) == request
    assert len(filled.search("cat", ranking=Hybrid(["hybrid", "tfidf"]))) > 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("bm25",), ParameterTypeError, "rankings must be a list of rankings"),
        ((["bm25"],), ParameterError, "rankings must be at least two rankings"),
        ((["bm25", "bm25"],), ParameterError, "different rankings"),
        ((["bm25", "wmd"], [1]), ParameterError, "weights must be 2 numbers"),
        ((["bm25", "wmd"], [0, 0]), ParameterError, "above 0"),
        ((["bm25", "wmd"], [-1, 1]), ValueError, r"weights\[0\]"),
        ((["bm25", "wmd"], [math.nan, 1]), ValueError, r"weights\[0\]"),
        ((["bm25", "wmd"], "ab"), ParameterTypeError, "weights must be a list"),
        ((["bm25", "wmd"], 0.5), ParameterTypeError, "weights must be a list"),
    ],
)
def test_invalid_hybrids_raise(arguments, error, message):
    with pytest.raises(error, match=message):
        Hybrid(*arguments)
    with pytest.raises(ValueError, match="fusion"):
        Hybrid(["bm25", "wmd"], fusion="sum")


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize("fusion", ["scores", "rrf"])
@pytest.mark.parametrize("rankings", [["bm25", "wmd"], ["bm25", "tfidf", "wmd"]])
def test_tuning_finds_the_best_weights(filled, fusion, rankings, monkeypatch):
    monkeypatch.setattr(_tuning, "_STEPS", {2: 4, 3: 3})
    found = filled.tune(QUERIES, QRELS, rankings, fusion=fusion, n_folds=2)
    qrels = {
        query: {id: 1 for id in found if not isinstance(found, dict) or found[id] > 0}
        for query, found in QRELS.items()
        if query in QUERIES
    }

    def measured(ranking):
        run = {
            query: filled.search(text, 1000, ranking=ranking, syntax="plain").ids
            for query, text in QUERIES.items()
        }
        return average_precision(qrels, run).mean

    steps = 4 if len(rankings) == 2 else 3
    best = 0.0
    for counts in itertools.product(range(steps + 1), repeat=len(rankings)):
        if sum(counts) == steps:
            weights = [count / steps for count in counts]
            best = max(best, measured(Hybrid(rankings, weights, fusion=fusion)))
    best = max(best, measured(Hybrid(rankings, fusion=fusion)))
    assert measured(found.ranking) == pytest.approx(best)
    assert found.scores["equal weights"] == pytest.approx(measured(Hybrid(rankings, fusion=fusion)))
    for name in rankings:  # without documents that only another ranking finds
        assert found.scores[name] == pytest.approx(measured(name))
    assert found.scores["learned weights"] <= best + 1e-12
    assert len(found.fold_weights) == 2
    assert found.n_queries == 5
    assert sum(found.weights) == pytest.approx(1)


def test_tuning_report(filled):
    seen = []
    found = filled.tune(
        QUERIES, QRELS, ["bm25", "wmd"], n_folds=5, progress=lambda *done: seen.append(done)
    )
    assert seen[-1] == (5, 5)
    text = str(found)
    assert "Weights learned from 5 queries: bm25 " in text
    assert "5-fold cross-validation" in text
    assert [row["ranking"] for row in found.to_records()] == [
        "bm25",
        "wmd",
        "equal weights",
        "learned weights",
    ]
    assert found.gain == pytest.approx(
        found.scores["learned weights"] - max(found.scores["bm25"], found.scores["wmd"])
    )
    usual = filled.tune(QUERIES, QRELS)
    assert usual.labels == ("bm25", "latent semantics")
    assert filled.search("dogs", ranking=usual.ranking).ids


def test_tuning_distinguishes_rankings_of_one_name(filled):
    def tokens(texts):
        return [np.ones((len(text.split()), 2)) for text in texts]

    rankings = [Rerank("bm25", tokens), Rerank("bm25", lambda texts: tokens(texts))]
    rankings[1].tokens.__name__ = "tokens"
    found = filled.tune(QUERIES, QRELS, rankings, n_folds=2)
    first, second = found.labels
    assert second == f"{first} (2)"
    assert len(found.scores) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["q"], QRELS), "queries must be a mapping"),
        ((QUERIES, [1]), "qrels must be a mapping"),
        (({"q1": 1}, QRELS), "'q1'"),
        (({"q1": "a"}, {"q1": "0"}), "list of document IDs"),
        (({"q1": "a"}, {"q1": {"a": "1"}}), r"qrels\['q1'\]\['a'\] must be"),
        (({"q1": "a"}, {"q1": [1]}), "document IDs of type str; got int"),
        ((QUERIES, {id: ["zz", "\ud800"] for id in QUERIES}), "only IDs that the index does not"),
        (({"q1": "a"}, QRELS), "at least 5 queries"),
        ((QUERIES, QRELS, ["bm25"]), "2 to 4 rankings"),
        ((QUERIES, QRELS, "bm25"), "list of rankings"),
        ((QUERIES, QRELS, ["bm25", "nothing"]), "nothing"),
    ],
)
def test_invalid_judgments_raise(filled, arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        filled.tune(*arguments)
