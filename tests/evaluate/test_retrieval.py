"""Retrieval measures compared with METHODS 19.4, a reference implementation, and trec_eval."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from textkin.evaluate import (
    as_run,
    average_precision,
    interpolated_precision,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)

DOCUMENTS = ["1", "10", "2", "9", "b", "ä", "日"]
GRADES = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 3), min_size=1)
# Few distinct scores give ties; integers are exact in single precision.
SCORES = st.dictionaries(st.sampled_from([*DOCUMENTS, "zz"]), st.integers(0, 3).map(float))
QRELS = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), GRADES, min_size=1)
RUNS = st.dictionaries(st.sampled_from(["q1", "q2", "q3", "q4"]), SCORES)
BY_K = [precision_at_k, recall_at_k, ndcg_at_k]


def mean_or_none(measure, qrels, run, *args, **options):
    """Return the mean of a measure, or None if no query has a relevant document."""
    if any(grade >= 1 for judged in qrels.values() for grade in judged.values()):
        return measure(qrels, run, *args, **options).values
    with pytest.raises(ValueError, match="must have a relevant document for some query"):
        measure(qrels, run, *args, **options)
    return {}


@given(QRELS, RUNS)
def test_measures_equal_trec_eval(qrels, run):
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec-eval-terrier is not installed")
    names = ["map_cut.2,1000", "P.2,20", "recall.2", "ndcg_cut.2,10", "recip_rank"]
    wanted = pytrec_eval.RelevanceEvaluator(qrels, {*names, "iprec_at_recall"}).evaluate(run)
    for key, values in {
        "map_cut_1000": mean_or_none(average_precision, qrels, run),
        "map_cut_2": mean_or_none(average_precision, qrels, run, k=2),
        "P_2": mean_or_none(precision_at_k, qrels, run, 2),
        "P_20": mean_or_none(precision_at_k, qrels, run, 20),
        "recall_2": mean_or_none(recall_at_k, qrels, run, 2),
        "ndcg_cut_2": mean_or_none(ndcg_at_k, qrels, run, 2),
        "ndcg_cut_10": mean_or_none(ndcg_at_k, qrels, run, 10),
        "recip_rank": mean_or_none(reciprocal_rank, qrels, run),
        "iprec_at_recall_0.50": mean_or_none(interpolated_precision, qrels, run, levels=[0.5]),
        "iprec_at_recall_1.00": mean_or_none(interpolated_precision, qrels, run, levels=[1]),
    }.items():
        for query, value in values.items():
            # trec_eval returns no values, or NaN, for queries without an answer
            theirs = wanted[query][key] if run.get(query) else 0.0
            assert value == pytest.approx(theirs, abs=1e-9), (key, query)


@given(QRELS, RUNS, st.integers(1, 8), st.sampled_from([0, 1, 2]))
def test_measures_equal_their_definitions(qrels, run, k, level):
    if not any(grade >= level for judged in qrels.values() for grade in judged.values()):
        return
    found = average_precision(qrels, run, k=k, level=level, ties="ascending")
    recall = recall_at_k(qrels, run, k, level=level, ties="ascending")
    first = reciprocal_rank(qrels, run, k=k, level=level, ties="ascending")
    for query, judged in qrels.items():
        relevant = {document for document, grade in judged.items() if grade >= level}
        assert (query in found.left_out) == (not relevant)
        if not relevant:
            continue
        pairs = sorted((-score, document) for document, score in run.get(query, {}).items())
        ranks = [rank for rank, (_, document) in enumerate(pairs[:k], 1) if document in relevant]
        average = sum(hit / rank for hit, rank in enumerate(ranks, 1)) / len(relevant)
        assert found.values[query] == pytest.approx(average)
        assert recall.values[query] == pytest.approx(len(ranks) / len(relevant))
        assert first.values[query] == (1 / ranks[0] if ranks else 0)
    assert found.mean == pytest.approx(np.mean(list(found.values.values())))
    assert set(found.unjudged) == run.keys() - qrels.keys()


def test_worked_example():
    """METHODS 19.4: two relevant documents, at ranks 1 and 3."""
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}
    assert average_precision(qrels, run).mean == pytest.approx(0.8333333, abs=5e-8)
    assert precision_at_k(qrels, run, 20).mean == pytest.approx(0.1)


def test_missing_relevant_documents_lower_the_measures():
    assert average_precision({"q": {"a": 1, "b": 1}}, {"q": ["a"]}).mean == 0.5
    assert average_precision({"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]}, k=1).mean == 0


def test_unanswered_queries_count_and_queries_without_relevant_documents_do_not():
    qrels = {"one": {"a": 1}, "two": {"a": 1}, "none": {"a": 0}}
    found = precision_at_k(qrels, {"one": ["a"], "none": ["a"], "other": ["a"]}, 1)
    assert found.values == {"one": 1, "two": 0}
    assert (found.mean, found.left_out, found.unjudged) == (0.5, ("none",), ("other",))
    assert repr(found) == "QueryScores(P@1: mean 0.5000 of 2 queries, 1 left out, 1 unjudged)"
    assert np.asarray(found).tolist() == [1, 0]
    assert found.to_records() == [{"query": "one", "P@1": 1}, {"query": "two", "P@1": 0}]


def test_ties_are_ranked_by_id():
    qrels, run = {"q": {"9": 1}}, {"q": {"10": 1.0, "9": 1.0}}
    assert reciprocal_rank(qrels, run).mean == 1  # "9" is the larger string
    assert reciprocal_rank(qrels, run, ties="ascending").mean == 0.5
    assert reciprocal_rank(qrels, {"q": ["10", "9"]}).mean == 0.5


def test_ndcg_gain_is_the_grade():
    best, second = 3.0, 1 / math.log2(3)
    found = ndcg_at_k({"q": {"a": 1, "b": 3, "c": -1}}, {"q": ["c", "b", "x", "a"]}, 2)
    assert found.mean == pytest.approx(3 * second / (best + second))


def test_interpolated_precision_at_nine_recall_levels():
    """Ten relevant documents; the first three are found at ranks 1, 2, and 6."""
    qrels = {"q": {str(number): 1 for number in range(10)}}
    run = {"q": ["0", "1", "x", "y", "z", "2"]}
    wanted = (1 + 1 + 0.5) / 9
    assert interpolated_precision(qrels, run).mean == pytest.approx(wanted)
    assert interpolated_precision(qrels, run, levels=[0]).mean == 1
    thirty = {"q": {str(number): 1 for number in range(30)}}
    # 0.1 * 30 exceeds 3 in floating point
    assert interpolated_precision(thirty, {"q": ["0", "1", "2"]}, levels=[0.1]).mean == 1


@given(st.integers(1, 4), st.integers(1, 9), st.integers(0, 99))
def test_run_from_scores_ranks_like_its_dict(queries, documents, seed):
    scores = np.random.default_rng(seed).integers(3, size=(queries, documents)).astype(float)
    names, ids = [f"q{n}" for n in range(queries)], [str(n) for n in range(5, 5 + documents)]
    for ties in ("descending", "ascending"):
        run = as_run(names, ids, scores, k=4, ties=ties)
        for name, row in zip(names, scores, strict=True):
            whole = dict(zip(ids, row, strict=True))
            by_id = sorted(ids, reverse=ties == "descending")
            wanted = sorted(by_id, key=lambda document: -whole[document])[:4]
            assert list(run[name]) == wanted
            assert run[name] == {document: whole[document] for document in wanted}


@pytest.mark.parametrize(
    ("qrels", "run", "kind", "message"),
    [
        ([], {}, TypeError, "qrels must be {query: {document: grade}}; got list"),
        ({"q": ["a"]}, {}, TypeError, r"qrels\['q'\] must be {document: grade}; got list"),
        (
            {"q": {"a": "1"}},
            {},
            ValueError,
            r"qrels\['q'\]\['a'\] must be a finite number; got '1'",
        ),
        ({"q": {"a": math.nan}}, {}, ValueError, "must be a finite number; got nan"),
        ({"q": {"a": 1}}, [], TypeError, "run must be .*; got list"),
        ({"q": {"a": 1}}, {"q": "a"}, TypeError, r"run\['q'\] must be scores .*; got str"),
        ({"q": {"a": 1}}, {"q": [7]}, TypeError, "must hold the ids of documents, strings; got 7"),
        ({"q": {"a": 1}}, {"q": {7: 0.5}}, TypeError, r"run\['q'\] must hold .* strings; got 7"),
        ({"q": {"a": 1}}, {"q": {"a": 1, 7: 2}}, TypeError, "must hold the ids .*; got 7"),
        ({"q": {"a": 1}}, {7: {"a": 1}}, TypeError, "run must hold the ids of queries, .*; got 7"),
        ({"q": {7: 1}}, {"q": ["a"]}, TypeError, r"qrels\['q'\] must hold .* strings; got 7"),
        ({7: {"a": 1}}, {"7": ["a"]}, TypeError, "qrels must hold the ids of queries"),
        ({"q": {"a": 1}}, {"q": ["b", "a", "b"]}, ValueError, "'b' comes twice"),
        ({"q": {"a": 1}}, {"q": {"a": math.nan}}, ValueError, r"\['a'\] must be a number; got nan"),
        ({}, {}, ValueError, "none of 0 queries has"),
        ({"q": {}}, {"q": ["a"]}, ValueError, "none of 1 queries has"),
    ],
)
def test_invalid_judgments_or_rankings_raise(qrels, run, kind, message):
    with pytest.raises(kind, match=message):
        average_precision(qrels, run)


def test_parameters_out_of_range_raise():
    qrels, run = {"q": {"a": 1}}, {"q": ["a"]}
    for measure in BY_K:
        with pytest.raises(ValueError, match="k must be an integer at least 1; got 0"):
            measure(qrels, run, 0)
    with pytest.raises(ValueError, match="ties must be one of 'descending', 'ascending'"):
        precision_at_k(qrels, run, 1, ties="random")
    with pytest.raises(ValueError, match="levels must be at least one level"):
        interpolated_precision(qrels, run, levels=[])
    with pytest.raises(ValueError, match=r"each of levels must be .*; got 10"):
        interpolated_precision(qrels, run, levels=[10])
    with pytest.raises(ValueError, match=r"1 queries and a column .* got shape \(1, 1\)"):
        as_run(["q"], ["a", "b"], [[1]])
    with pytest.raises(ValueError, match="document_ids must be distinct; 1 of them are repeated"):
        as_run(["q"], ["a", "a"], [[1, 2]])
    with pytest.raises(ValueError, match="scores must be numbers; some of query 'q' are NaN"):
        as_run(["q"], ["a"], [[math.nan]])
    with pytest.raises(TypeError, match="scores must be numbers; got an array of <U1"):
        as_run(["q"], ["a"], [["1"]])
    with pytest.raises(TypeError, match=r"scores must be a dense array; .* scores\.toarray\(\)"):
        as_run(["q"], ["a"], csr_array([[1.0]]))
    with pytest.raises(TypeError, match=r"query_ids must hold strings; got 1\. Ids of files are"):
        as_run([1], ["a"], [[1]])
    with pytest.raises(TypeError, match="document_ids must hold strings; got 7"):
        as_run(["q"], ["a", 7], [[1, 2]])


def test_single_recall_level_has_a_singular_name():
    found = interpolated_precision({"q": {"a": 1}}, {"q": ["a"]}, levels=[0.5])
    assert found.measure == "interpolated P at 1 level"
