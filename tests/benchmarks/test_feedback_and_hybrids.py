"""The evaluation of feedback and of hybrids: what is measured, on collections made by hand."""

import numpy as np
import pytest
from scipy import sparse

from support import load_script
from textkin.index import Cascade, WeightedSum

feedback, hybrids = (load_script(f"benchmarks/{name}.py") for name in ("feedback", "hybrids"))


def test_documents_that_were_shown_keep_their_ranks(monkeypatch):
    monkeypatch.setattr(feedback, "SHOWN", 2)
    documents = sparse.csr_array(np.array([[3.0, 0], [2, 0], [1, 1], [0, 4], [0, 1]]))
    searcher = feedback.Searcher(documents, feedback.Setting(length="as scored"))
    query = np.array([1.0, 0.0])
    first, second = searcher.marked(query, frozenset({1, 3}))
    assert np.argsort(-first, kind="stable")[:2].tolist() == [0, 1]
    assert np.argsort(-second, kind="stable")[:2].tolist() == [0, 1]
    assert set(np.argsort(-second, kind="stable")[2:4].tolist()) == {2, 3}


def test_documents_come_to_the_length_of_the_query():
    rows = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(feedback.as_long_as(np.array([0.0, 2]), rows), [[1.2, 1.6], [0, 0]])


def test_a_tiny_collection_gives_a_table_of_feedback(tiny, capsys):
    rows = feedback.measure(tiny, ("med",))
    assert len(rows) == 7 + 4
    assert {row["queries"] for row in rows} == {3}
    assert rows[0]["before"] == 100
    assert "| med | bm25 | as the query | 0.75 | 50 | 100.0 |" in feedback.table(rows)
    capsys.readouterr()


def test_quality_by_hand():
    average, first = hybrids.quality(["a", "b", "c"], {"a", "c", "z"})
    assert average == pytest.approx((1 + 2 / 3) / 3)
    assert first == 0.2
    assert hybrids.quality([], {"a"}) == (0, 0)


def test_a_query_has_no_part_in_its_weight():
    lists = {"a": {"even": ["x"], "odd": []}, "b": {"even": [], "odd": ["x"]}}
    queries = [("even", {"x"}), ("odd", {"x"})] * 2
    found = hybrids.evaluate(lambda text, by: by[text], lists, queries)
    assert found["chosen_on_the_other_half"] == ["b", "a"]
    assert found["average_precision"] == 0


def test_a_set_has_no_part_in_the_setting_for_all():
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


def test_a_tiny_collection_gives_a_table_of_hybrids(tiny, capsys, monkeypatch):
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


def test_what_is_remembered_is_what_is_found(tmp_path):
    from textkin import Index

    with Index.create(tmp_path / "test.kin") as index:
        index.add(["cat mat", "dog", "cat cat dog"])
        view = index._view()
        for by in ("bm25", "tfidf"):
            remembered = hybrids.Remembered(by).on(view)
            for _ in range(2):
                found = remembered.best(remembered.of_text("cat"), 5)
                assert view.ids(found.rows) == index.search("cat", 5, by=by).ids
        plain = WeightedSum({"bm25": 0.5, "tfidf": 0.5})
        quick = WeightedSum({hybrids.BM25: 0.5, hybrids.TFIDF: 0.5})
        assert index.search("cat", by=plain).ids == index.search("cat", by=quick).ids
