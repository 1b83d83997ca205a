"""Tests of explanations of distances: contributions sum to the score and have names."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import textkin as tk
from textkin.distance import edit_distance
from textkin.learn._distance_explanations import edit_reasons, vector_reasons
from textkin.learn._documents import listed
from textkin.learn._measure import make_measure

METRICS = ["cosine", "l1", "l2", "squared-l2", "hellinger", "jaccard", "weighted-jaccard"]
OF_DISTANCES = {"l1": 1, "l2": 2, "squared-l2": 1}  # contributions sum to this power
TEXTS = ["cats purr loudly", "dogs bark at cats", "stocks fell", ""]


def score(x, y, metric):
    if metric in OF_DISTANCES:
        return float(tk.pairwise_distances(x, y, metric)[0, 0]) ** OF_DISTANCES[metric]
    return float(tk.pairwise_similarities(x, y, metric)[0, 0])


rows = st.lists(st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0, 1e-3, 7.25]), min_size=5, max_size=5)


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=40)
@given(x=rows, y=rows, is_sparse=st.booleans())
def test_contributions_sum_to_the_score(metric, x, y, is_sparse):
    x, y = np.array([x]), np.array([y])
    expected = score(x, y, metric)
    if is_sparse:
        x, y = sparse.csr_array(x), sparse.csr_array(y)
    found = vector_reasons(metric, x, y, str)
    assert sum(part.value for part in found.parts) == pytest.approx(expected, abs=1e-12)
    assert found.score == pytest.approx(expected, abs=1e-12)
    assert all(part.value != 0 for part in found.parts)


def test_cosine_of_extreme_values():
    for scale in (1e-200, 1e200):
        x, y = np.array([[3.0, 4.0]]) * scale, np.array([[4.0, -3.0]]) * scale
        found = vector_reasons("cosine", x, y, str)
        assert [part.value for part in found.parts] == pytest.approx([0.48, -0.48])


words = st.lists(st.sampled_from("abcd"), max_size=7)


@given(a=words, b=words)
def test_number_of_edits_equals_the_edit_distance(a, b):
    found = edit_reasons(a, b)
    assert found.score == len(found.parts) == edit_distance(a, b)


def test_edits_have_descriptions():
    found = edit_reasons(["the", "cat", "sat"], ["a", "cat", "sat", "down"])
    assert sorted(part.name for part in found.parts) == ["the → a", "with down"]
    assert edit_reasons(["x"] * 3000, ["y"] * 3000) is None


@pytest.mark.parametrize("metric", [*METRICS, "edit"])
def test_texts_are_explained_by_words(metric):
    measure = make_measure(metric).fit(TEXTS)
    found = measure.explain("cats bark", 1)
    distance = measure.nearest(["cats bark"], 4)
    distance = dict(zip(distance[0][0].tolist(), distance[0][1].tolist(), strict=True))[1]
    known = {"cats", "bark", "dogs"}
    if metric == "edit":
        assert found.score == distance
    elif metric in OF_DISTANCES:
        assert found.score == pytest.approx(distance ** OF_DISTANCES[metric])
        assert {part.name for part in found.parts} <= known
    else:
        similarity = 1 - distance**2 if metric == "hellinger" else 1 - distance
        assert found.score == pytest.approx(similarity)
        assert {part.name for part in found.parts} == {"cats", "bark"}
    assert measure.explain("cats bark", 3) is None
    assert measure.explain("", 1) is None


def test_models_name_their_outputs():
    pooled = make_measure("cosine", model=tk.Pooling()).fit(TEXTS)
    found = pooled.explain("a kitten purrs loudly", 0)
    assert found.score == pytest.approx(1 - pooled.nearest(["a kitten purrs loudly"], 1)[0][1][0])
    assert {part.name for part in found.parts} <= {"kitten", "loudly", "purrs"}
    lsi = make_measure("cosine", model=tk.LSI(2, random_state=0)).fit(TEXTS)
    assert {part.name for part in lsi.explain("cats bark", 1).parts} <= {"lsi0", "lsi1"}
    # The number of factors equals the number of words, but factors are not words.
    square = make_measure("l1", model=tk.LSI(3, random_state=0)).fit(["cat", "dog", "cat dog bank"])
    assert {part.name[:3] for part in square.explain("dog", 0).parts} == {"lsi"}
    weighed = make_pipeline(tk.TfIdf(), tk.TfIdf(idf="one"))
    found = make_measure("cosine", model=weighed).fit(TEXTS).explain("cats bark", 1)
    assert {part.name for part in found.parts} == {"cats", "bark"}
    nameless = FunctionTransformer(lambda bags: bags, accept_sparse=True)
    nameless = make_measure("l1", model=make_pipeline(tk.LSI(2, random_state=0), nameless))
    found = nameless.fit(TEXTS).explain("cats bark", 2)
    assert {part.name for part in found.parts} == {"column 0", "column 1"}


def test_rows_of_numbers_are_explained_by_columns():
    measure = make_measure("l2").fit(listed([[1, 2], [3, 4]]))
    found = measure.explain(np.array([[0, 2]]), 1)
    assert {part.name: part.value for part in found.parts} == {"column 0": 9, "column 1": 4}


def test_transport_is_explained_by_flows_of_all_document_kinds():
    documents = tk.read([{"id": "a", "text": "cats purr"}, {"id": "b", "text": ""}])
    measure = make_measure("wmd").fit(listed(documents))
    found = measure.explain(next(iter(documents)), 0)
    assert found.distance == 0
    assert found.source_text == found.target_text == "cats purr"
    assert measure.explain("cats", 1) is None
    assert measure.explain("", 0) is None
    bags = np.array([[1, 1], [0, 2]])
    measure = make_measure("wmd", vectors=np.array([[0.0, 1.0], [3.0, 1.0]])).fit(listed(bags))
    assert measure.explain(bags[[0]], 1).distance == pytest.approx(1.5)
    tokens = [np.eye(2), np.ones((3, 2))]
    measure = make_measure(tk.TokenMover()).fit(listed(tokens))
    assert measure.explain(np.eye(2), 0).distance == 0
