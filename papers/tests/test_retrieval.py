"""Experiment ``retrieval`` on tiny data; settings and sums checked by hand."""

import numpy as np
import pytest

from papers import rankings as _rankings
from papers.cells import Outcome
from papers.experiments import experiment
from papers.experiments.retrieval.report import against, findings
from papers.judged_collections import Judged
from papers.rankings import interpolated, measured, precisions, spread
from papers.report import write_results
from papers.results import Results
from papers.runner import run_experiment
from textkin.evaluate import RetrievalData, average_precision


@pytest.fixture(scope="module")
def found(tiny_data, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    retrieval = experiment("retrieval")
    results = run_experiment(retrieval, tiny_data, out, datasets=["med"], quick=True, n_jobs=1)
    return retrieval, results, write_results(retrieval, results, out)


def test_every_method_has_its_numbers(found):
    retrieval, results, _ = found
    assert [cell.missing for cell in results.cells] == [""] * len(retrieval.methods)
    for cell in results.cells:
        for measure in ("map", "p20", "ndcg10"):
            assert 0 <= cell.values[measure] <= 100, cell
        assert cell.values["queries"] == 2  # test queries with a relevant document, among 6
    assert results.mean("BM25", "med", "map") > 50


def test_report_has_published_rows_and_tests(found):
    retrieval, _, (page, *_) = found
    text = page.read_text()
    for name in retrieval.methods:
        assert f"\n| {name}" in text
    assert "| *– unrecorded tools* | *50.9* |" in text
    assert "Mean average precision minus the value of BM25" in text
    assert "| *0.46* | *0.41* |" in text  # 11.2 / 24.1 and 13.9 / 33.7 of the paper
    chosen = text.partition("**Settings chosen on other queries**")[2]
    assert "\n| BM25 + LSI |" in chosen
    assert "LSI-200" not in chosen  # its λ is given
    assert "Models with BM25: of 11 comparisons" in text


def small(n_queries=4, splits=None):
    """Queries with one relevant document of two, the first."""
    names = [f"q{at}" for at in range(n_queries)]
    return RetrievalData(
        ["a", "b"],
        ["", ""],
        ["x", "y"],
        dict.fromkeys(names, "x"),
        {name: {"a": 1, "b": 0} for name in names},
        splits or {},
    )


GOOD, BAD = [1.0, 0.0], [0.0, 1.0]


def test_query_does_not_affect_its_setting():
    settings = {
        "even": lambda: np.array([GOOD, BAD, GOOD, BAD]),
        "odd": lambda: np.array([BAD, GOOD, BAD, GOOD]),
    }
    found = measured(Judged.of(small()), settings)
    # "even" is perfect for the first half, which chooses it; it is used on the second half
    assert found["chosen"] == ["even", "odd"]
    assert found["map"] == 50
    assert found["p20"] == 5
    assert found["by_query"] == dict.fromkeys(["q0", "q1", "q2", "q3"], 50.0)


def test_training_queries_choose_for_test_queries():
    data = small(splits={"train": ("q0",), "test": ("q1", "q3")})
    settings = {
        "bad": lambda: np.array([BAD, GOOD, GOOD, GOOD]),
        "good": lambda: np.array([GOOD, BAD, GOOD, GOOD]),
    }
    found = measured(Judged.of(data), settings)
    assert found["chosen"] == ["good"]
    assert found["by_query"] == {"q1": 50.0, "q3": 100.0}  # q2 is not in the split


def test_unanswered_query_is_not_ranked():
    nothing = np.full((4, 2), -np.inf)
    assert measured(Judged.of(small()), {"": lambda: nothing})["map"] == 0


def test_average_precision_depends_only_on_ranks(monkeypatch):
    monkeypatch.setattr(_rankings, "CUT", 20)
    rng = np.random.default_rng(0)
    ids = [f"{at:03}" for at in range(40)]
    for _ in range(50):
        scores = rng.integers(0, 12, size=40).astype(float)  # with ties
        scores[rng.random(40) < 0.2] = -np.inf
        right = np.sort(rng.choice(40, rng.integers(1, 8), replace=False))
        order = [ids[at] for at in np.argsort(-scores, kind="stable") if scores[at] > -np.inf]
        qrels = {"q": {ids[at]: 1 for at in right}}
        expected = average_precision(qrels, {"q": order}, k=20).mean
        assert precisions(scores, right)[0] == pytest.approx(expected)


def test_interpolation_matches_the_reference():
    """METHODS 18."""
    words, model = np.array([[10.0, 6.0, 2.0]]), np.array([[0.2, 0.8, 0.4]])
    np.testing.assert_allclose(spread(model, np.ones((1, 3), bool)), [[0, 1, 1 / 3]])
    np.testing.assert_allclose(interpolated(words, model)(0.8), [[0.8, 0.6, 0.0666667]], atol=1e-7)


def test_document_missing_from_a_ranking_gets_no_score_from_it():
    none = -np.inf
    words, model = np.array([[4.0, 2.0, none, none]]), np.array([[none, 0.5, 1.5, none]])
    mixed = interpolated(words, model)(0.5)
    np.testing.assert_allclose(mixed, [[0.5, 0, 0.5, none]])
    same = interpolated(np.array([[3.0, 3.0]]), np.array([[1.0, 2.0]]))(0.5)
    np.testing.assert_allclose(same, [[0, 0.5]])


def test_only_the_best_of_each_ranking_are_combined(monkeypatch):
    monkeypatch.setattr(_rankings, "CUT", 1)
    mixed = interpolated(np.array([[3.0, 2.0, 1.0]]), np.array([[1.0, 2.0, 3.0]]))(0.5)
    np.testing.assert_allclose(mixed, [[0.5, -np.inf, 0.5]])


def test_tests_use_the_same_queries():
    def of(method, values):
        return Outcome("med", method, 0, {"map": 0, "by_query": values})

    first = {f"q{at}": 10.0 + at for at in range(8)}
    second = {f"q{at}": float(at) for at in range(1, 9)}
    results = Results("retrieval", (of("LSI", first), of("BM25", second)))
    test = against(results, "LSI", "BM25", "med")
    assert (test.difference, test.n) == (10, 7)
    assert test.p_value == 2 / 2**7
    assert against(results, "LDA", "BM25", "med") is None


def test_reason_for_better_lsi_is_reported_where_it_applies():
    def told(number):
        cells = (Outcome("med", m, 0, {"map": n}) for m, n in (("LSI", number), ("BM25", 50.0)))
        return findings(Results("retrieval", tuple(cells)))

    assert "LSI alone has 0.90 of BM25's MAP, in Zhang et al. 0.14: a few thousand" in told(45.0)
    assert "LSI alone has 0.10 of BM25's MAP, in Zhang et al. 0.14. The" in told(5.0)


def test_bm25_agrees_with_other_tools(shared_data, tmp_path):
    """Within two points of MAP, as their stop lists may differ."""
    retrieval = experiment("retrieval")
    names = ["BM25, whole words", "BM25"]
    found = run_experiment(
        retrieval, shared_data, tmp_path, datasets=["med"], methods=names, n_jobs=1
    )
    theirs = next(one for one in retrieval.references if one.measure == "map")
    for name in names:
        ours = found.mean(name, "med", "map")
        assert ours == pytest.approx(theirs.values[name]["med"], abs=2)
