"""Evaluation of the rankings of an existing index, and queries that count as 0."""

import json

import numpy as np
import pandas as pd
import pytest

import textkin as tk
from textkin.evaluate import (
    JudgedQueries,
    average_precision,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)

TEXTS = {"d1": "Cats purr", "d2": "Dogs bark at night", "d3": "Stocks fell", "d4": "A kitten purrs"}
QUERIES = {"q1": "dogs bark", "q2": "cats", "q3": "nothing judged"}
QRELS = {"q1": {"d2": 1}, "q2": {"d1": 2, "d4": 1}, "q3": {"d3": 0}}


@pytest.fixture
def index(tmp_path):
    with tk.Index.create(tmp_path / "index.kin", language=None) as index:
        index.add([{"id": name, "text": text} for name, text in TEXTS.items()])
        yield index


def test_rankings_of_an_index_are_measured(index):
    found = tk.evaluate_search(index, QUERIES, QRELS, rankings=["bm25", "wmd"])
    assert [each.method for each in found.results] == ["bm25", "wmd"]
    runs = {
        query: [hit.id for hit in index.search(text, 1000, ranking="wmd")]
        for query, text in QUERIES.items()
        if query != "q3"
    }
    assert found.runs["wmd"] == runs
    assert found["wmd"].scores["map"] == average_precision(QRELS, runs).mean
    assert isinstance(found.data, JudgedQueries)
    assert str(found).startswith("4 documents, 2 judged queries\n")
    assert found.notes == ("1 query has no relevant document and is excluded.",)


@pytest.mark.parametrize(
    ("rankings", "told"),
    [({}, "at least one name"), ({1: "bm25"}, "got int"), ([], "at least one")],
)
def test_invalid_rankings_raise(index, rankings, told):
    with pytest.raises((ValueError, TypeError), match=told):
        tk.evaluate_search(index, QUERIES, QRELS, rankings=rankings)


def frame(**columns):
    return pd.DataFrame(columns)


def queries_file(folder, kind):
    if kind == "jsonl":
        rows = (json.dumps({"_id": name, "text": text}) for name, text in QUERIES.items())
        (folder / "queries.jsonl").write_text("\n".join(rows))
        return folder / "queries.jsonl"
    if kind == "tsv":
        rows = (f"{name}\t{text}" for name, text in QUERIES.items())
        (folder / "queries.tsv").write_text("\n".join(rows))
        return folder / "queries.tsv"
    if kind == "table":
        rows = ["id\ttext", *(f"{name}\t{text}" for name, text in QUERIES.items())]
        (folder / "queries.tsv").write_text("\n".join(rows))
        return folder / "queries.tsv"
    topics = (
        f"<top>\n<num> Number: {name}\n<title> {text}\n<desc> Description:\nmore\n</top>\n"
        for name, text in QUERIES.items()
    )
    (folder / "topics.txt").write_text("\n".join(topics))
    return folder / "topics.txt"


@pytest.mark.parametrize("kind", ["jsonl", "tsv", "table", "topics"])
def test_queries_and_judgments_from_files(index, tmp_path, kind):
    judged = (f"{q} 0 {d} {grade}" for q, row in QRELS.items() for d, grade in row.items())
    (tmp_path / "qrels.txt").write_text("\n".join(judged))
    found = tk.evaluate_search(
        index, queries_file(tmp_path, kind), tmp_path / "qrels.txt", rankings="bm25"
    )
    expected = tk.evaluate_search(index, QUERIES, QRELS, rankings="bm25")
    assert found.data.queries == QUERIES
    assert found["bm25"].scores == expected["bm25"].scores


def test_queries_and_judgments_from_data_frames(index):
    queries = frame(query_id=list(QUERIES), query=list(QUERIES.values()))
    rows = [(q, d, grade) for q, row in QRELS.items() for d, grade in row.items()]
    qrels = pd.DataFrame(rows, columns=["query-id", "corpus-id", "score"])
    found = tk.evaluate_search(index, queries, qrels, rankings="bm25")
    expected = tk.evaluate_search(index, QUERIES, QRELS, rankings="bm25")
    assert found["bm25"].scores == expected["bm25"].scores


def test_lists_of_relevant_documents_have_grade_1(index):
    found = tk.evaluate_search(index, QUERIES, {"q1": ["d2"], "q2": "d1"}, rankings="bm25")
    assert found.data.qrels == {"q1": {"d2": 1}, "q2": {"d1": 1}}


def test_names_of_attached_models_are_rankings(index):
    index.attach("pooled", tk.Pooling())
    found = tk.evaluate_search(index, QUERIES, QRELS, rankings=["bm25", "pooled"])
    assert [each.method for each in found.results] == ["bm25", "pooled"]


def test_the_result_is_a_table_and_a_picture(index, tmp_path):
    found = tk.evaluate_search(index, QUERIES, QRELS, rankings=["bm25", "wmd"])
    table = found.to_frame()
    assert list(table.columns[:5]) == ["method", "map", "ndcg@10", "recall@100", "mrr"]
    assert table["map"].tolist() == [found[name].scores["map"] for name in ("bm25", "wmd")]
    assert found.to_csv().splitlines()[0].startswith("method,map,ndcg@10")
    assert '<th scope="row">wmd</th>' in found._repr_html_()
    assert found._repr_svg_().startswith("<svg")
    for name in ("x.svg", "x.html", "x.txt"):
        found.save(tmp_path / name)
    assert (tmp_path / "x.txt").read_text() == f"{found}\n"
    per_query = found.queries["bm25"]["map"].to_frame()
    assert per_query["query"].tolist() == ["q1", "q2"]


def test_queries_without_relevant_documents_count_as_0_on_request(index):
    found = tk.evaluate_search(index, QUERIES, QRELS, rankings=["bm25"], without_relevant="zero")
    plain = tk.evaluate_search(index, QUERIES, QRELS, rankings=["bm25"])
    for measure, value in found["bm25"].scores.items():
        assert value == pytest.approx(plain["bm25"].scores[measure] * 2 / 3)
    assert found.notes == ("1 query has no relevant document and counts as 0.",)


@pytest.mark.parametrize(
    "measure",
    [
        average_precision,
        reciprocal_rank,
        lambda *given, **how: ndcg_at_k(*given, 10, **how),
        lambda *given, **how: precision_at_k(*given, 5, **how),
        lambda *given, **how: recall_at_k(*given, 5, **how),
    ],
)
def test_measures_count_empty_queries_on_request(measure):
    run = {"q1": ["d2"], "q2": ["d1"], "q3": ["d3"]}
    excluded, zero = measure(QRELS, run), measure(QRELS, run, without_relevant="zero")
    assert excluded.left_out == ("q3",)
    assert zero.left_out == ()
    assert zero.values == {**excluded.values, "q3": 0.0}
    assert np.asarray(zero).mean() == pytest.approx(np.asarray(excluded).sum() / 3)
    with pytest.raises(ValueError, match="without_relevant must be one of 'exclude', 'zero'"):
        measure(QRELS, run, without_relevant="ignore")


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ((None, QRELS), {}, "queries must be given with an index"),
        ((QUERIES, None), {}, "qrels must be given with an index"),
        (({}, QRELS), {}, "queries must hold at least one query"),
        ((QUERIES, {"q1": {"d9": 1}}), {}, "judgment"),
        ((QUERIES, QRELS), {"rankings": "magic"}, "magic"),
        ((QUERIES, QRELS), {"part": "test"}, "part must be None with an index"),
        ((QUERIES, QRELS), {"stop_words": "smart"}, "stop_words must be None with an index"),
        ((QUERIES, {"q1": {"d2": 0}}), {}, "must have a relevant document"),
    ],
)
def test_invalid_input_raises(index, given, options, message):
    with pytest.raises(ValueError, match=message):
        tk.evaluate_search(index, *given, **options)


def test_wrong_types_raise(index, tmp_path):
    with pytest.raises(TypeError, match="queries must map IDs"):
        tk.evaluate_search(index, {1: "x"}, QRELS)
    with pytest.raises(TypeError, match="queries must be a mapping, a DataFrame"):
        tk.evaluate_search(index, 3, QRELS)
    with pytest.raises(ValueError, match="a DataFrame with a column '_id' or"):
        tk.evaluate_search(index, frame(a=["x"]), QRELS)
    with pytest.raises(TypeError, match="queries must be a path unless data is an index"):
        tk.evaluate_search(tmp_path, QUERIES, QRELS)


def test_rankings_in_a_list_can_be_objects(index):
    short, both = tk.BM25(b=0.4), tk.Hybrid(["bm25", "wmd"])
    found = tk.evaluate_search(index, QUERIES, QRELS, rankings=["bm25", short, both])
    assert [one.method for one in found.results] == ["bm25", "BM25(b=0.4)", repr(both)]
    named = tk.evaluate_search(index, QUERIES, QRELS, rankings={"a": short, "b": both})
    assert found["BM25(b=0.4)"].scores == named["a"].scores
    assert found[repr(both)].scores == named["b"].scores
    alone = tk.evaluate_search(index, QUERIES, QRELS, rankings=both)
    assert alone[repr(both)].scores == named["b"].scores
    with pytest.raises(TypeError, match="ranking must be"):
        tk.evaluate_search(index, QUERIES, QRELS, rankings=["bm25", 3])


def test_folder_of_an_index_is_opened(tmp_path, index):
    expected = tk.evaluate_search(index, QUERIES, QRELS, rankings="bm25")
    copy = tmp_path / "copy.kin"
    index.copy(copy)
    for path in (copy, str(copy)):
        found = tk.evaluate_search(path, QUERIES, QRELS, rankings="bm25")
        assert found["bm25"].scores == expected["bm25"].scores


def test_queries_as_a_series(index):
    queries = pd.Series(QUERIES)
    found = tk.evaluate_search(index, queries, QRELS, rankings="bm25")
    assert found.runs == tk.evaluate_search(index, QUERIES, QRELS, rankings="bm25").runs


def test_query_with_no_judgments_counts_as_0_on_request(index):
    queries, qrels = {"a": "cats", "b": "nothing"}, {"a": {"d1": 1}, "b": {}}
    found = tk.evaluate_search(index, queries, qrels, rankings="bm25", without_relevant="zero")
    plain = tk.evaluate_search(index, queries, qrels, rankings="bm25")
    assert found["bm25"].scores["map"] == plain["bm25"].scores["map"] / 2
    assert found.notes == ("1 query has no relevant document and counts as 0.",)
    assert plain.notes == ("1 query has no relevant document and is excluded.",)
