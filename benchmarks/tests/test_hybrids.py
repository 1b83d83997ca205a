"""Evaluation of hybrids on collections created by hand."""

import pytest

from support import load_script
from textkin.index import Cascade, WeightedSum

hybrids = load_script("benchmarks/hybrids.py")


def test_quality_matches_hand_calculation():
    average, first = hybrids.quality(["a", "b", "c"], {"a", "c", "z"})
    assert average == pytest.approx((1 + 2 / 3) / 3)
    assert first == 0.2
    assert hybrids.quality([], {"a"}) == (0, 0)


def test_query_does_not_affect_its_weight():
    lists = {"a": {"even": ["x"], "odd": []}, "b": {"even": [], "odd": ["x"]}}
    queries = [("even", {"x"}), ("odd", {"x"})] * 2
    found = hybrids.evaluate(lambda text, by: by[text], lists, queries)
    assert found["chosen_on_the_other_half"] == ["b", "a"]
    assert found["average_precision"] == 0


def test_set_does_not_affect_its_shared_setting():
    values = {"a": {"x": 9.0, "y": 1.0}, "b": {"x": 1.0, "y": 2.0}}
    rows = [
        {"set": name, "ranking": "sum", "average_precision_by_weights": by}
        for name, by in values.items()
    ]
    found = hybrids.one_for_all([*rows, {"set": "a", "ranking": "bm25"}])
    assert [(f["chosen_on_the_other_sets"], f["average_precision"]) for f in found] == [
        ("sum: y", 1.0),
        ("sum: x", 1.0),
    ]


def test_tiny_collection_gives_a_table(tiny, capsys, monkeypatch):
    word_rankings = {
        "bm25": {"": hybrids.BM25},
        "cascade": {"": Cascade(hybrids.BM25, hybrids.TFIDF, candidates=1)},
        "sum": hybrids.weighted(hybrids.BM25, hybrids.TFIDF, 100),
    }
    monkeypatch.setattr(hybrids, "scorers", lambda: word_rankings)
    rows = hybrids.measure(tiny, ["med"])
    assert [row["ranking"] for row in rows] == list(word_rankings)
    assert len(rows[2]["average_precision_by_weights"]) == 9
    assert "| bm25 | " in hybrids.table(rows)
    capsys.readouterr()


def test_cached_rankings_equal_new_ones(tmp_path):
    from textkin import Index

    with Index.create(tmp_path / "test.kin", language=None) as index:
        index.add(["cat mat", "dog", "cat cat dog"])
        state = index._searcher().state
        for by in ("bm25", "tfidf"):
            remembered = index._searcher().scorer(hybrids.Remembered(by))
            for _ in range(2):
                found = remembered.best(remembered.of_text("cat"), 5)
                assert state.ids(found.rows) == index.search("cat", 5, ranking=by).ids
        plain = WeightedSum({"bm25": 0.5, "tfidf": 0.5})
        quick = WeightedSum({hybrids.BM25: 0.5, hybrids.TFIDF: 0.5})
        assert index.search("cat", ranking=plain).ids == index.search("cat", ranking=quick).ids
