"""The experiments on bounds and on word vectors, quick, on tiny data."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textkin.distance._near import NearRows
from textkin.evaluate import Outcome, Results, experiment, run_experiment, write_results
from textkin.evaluate._cells import Cell, Keeper, Shared, Task
from textkin.evaluate.experiments._labelled import labelled
from textkin.evaluate.experiments._neighbours import sides
from textkin.evaluate.experiments._pruning_bounds import (
    refined_bound,
    search_of,
    sorted_curve,
    tightness,
)
from textkin.evaluate.experiments._pruning_report import (
    AUTO,
    BRUTE,
    REFINED,
    findings,
    prefetch_name,
)
from textkin.evaluate.experiments.embeddings import _of_this_set
from textkin.evaluate.experiments.pruning import _compare, _recall, _timed
from textkin.learn._candidates import taken
from textkin.transport import optimal_transport
from textkin.transport._corpus import Corpus


@pytest.fixture(scope="module")
def pruned(tiny_data, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    pruning = experiment("pruning")
    results = run_experiment(pruning, tiny_data, out, datasets=["r8"], quick=True, n_jobs=1)
    return pruning, results, write_results(pruning, results, out)


@pytest.fixture(scope="module")
def embedded(tiny_data, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    embeddings = experiment("embeddings")
    results = run_experiment(embeddings, tiny_data, out, datasets=["r8"], quick=True, n_jobs=1)
    return embeddings, results, write_results(embeddings, results, out)


# ------------------------------------------------------------------ pruning


def test_every_cell_of_pruning_is_there(pruned):
    pruning, results, _ = pruned
    assert [cell.missing for cell in results.cells] == [""] * len(pruning.methods)


def test_bounds_are_tighter_one_after_the_other(pruned):
    _, results, _ = pruned
    shares = {
        name: results.mean(name, "r8", "tightness")
        for name in ("WCD", "RWMD query side", "RWMD document side", "RWMD", REFINED)
    }
    assert 0 < shares["WCD"] < shares["RWMD"] < shares[REFINED] <= 1
    assert max(shares["RWMD query side"], shares["RWMD document side"]) < shares["RWMD"]


def test_prefetch_ends_in_the_exact_answer(pruned):
    _, results, _ = pruned
    names = [prefetch_name(factor) for factor in (1, 2, 4, 8, 16, 32, 64, 128, None)]
    found = [results.mean(name, "r8", "recall") for name in names]
    assert found == sorted(found)
    assert found[0] < found[-1] == 100
    cutoffs = [results.mean(name, "r8", "m") for name in names]
    assert cutoffs[0] == results.mean("WMD", "r8", "k")
    assert cutoffs[-1] == 30
    for name in (AUTO, names[-1]):
        assert results.mean(name, "r8", "error") == results.mean("WMD", "r8", "error")
    assert results.mean(BRUTE, "r8", "milliseconds") > 0
    assert results.mean(AUTO, "r8", "solved") < results.mean(names[-1], "r8", "solved") < 100


def test_the_page_on_pruning(pruned):
    pruning, results, (page, _, *figures) = pruned
    text = page.read_text()
    for name in pruning.methods:
        assert f"\n| {name} |" in text
    assert "| *0.96* |" in text  # tightness of the paper's RWMD
    assert "From m = k to m = 2 k" in text
    assert f"k: {results.mean('WMD', 'r8', 'k'):.0f} of r8. One thread." in text
    assert "C1 stands beside the query side" in text
    assert [path.name for path in figures] == [
        f"pruning-quick-{name}.svg"
        for name in (
            "tightness",
            "error",
            "distances-r8",
            "search-error",
            "search-found",
            "search-speed",
        )
    ]


def test_an_error_that_rises_is_not_said_to_fall():
    names = [prefetch_name(factor) for factor in (1, 2, None)]
    errors = zip(names, (30.0, 31.0, 30.5), strict=True)
    cells = (Outcome("twitter", name, 0, {"error": error}) for name, error in errors)
    told = findings(Results("pruning", tuple(cells)))
    assert (
        "the error changes by +1.0 points on average, from there to all documents by -0.5" in told
    )


def task_of(data, out, dataset="r8"):
    key = {"experiment": "test", "dataset": dataset}
    return Task(Cell(dataset, "m"), data, True, 1, Shared(), Keeper(out), key)


def test_values_are_those_of_the_mover(tiny_data, tmp_path):
    task = task_of(tiny_data, tmp_path)
    search = search_of(task)
    rows = np.array([3, 1]), np.array([2, 0, 5])
    some = labelled(task)
    queries, documents = (
        [part.texts[i] for i in each]
        for part, each in zip((some.test, some.train), rows, strict=True)
    )
    near = search.values("brute", *rows)
    np.testing.assert_array_equal(near, search.measure.mover.pairwise(queries, documents))
    for algorithm in ("wcd", "rwmd-query", "rwmd-document", "rwmd"):
        assert np.all(search.values(algorithm, *rows) <= near * (1 + 1e-6)), algorithm
    refined = search.refined(*rows)
    assert np.all(refined <= near * (1 + 1e-6))
    assert np.all(refined >= search.values("rwmd", *rows) - 1e-6)


@given(st.integers(0, 2**32 - 1))
def test_the_refined_bound_is_one(seed):
    """Words on a plane, some in both documents; beside the exact solver."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(9, 2))
    documents = []
    for size in rng.integers(1, 7, 2):
        words = np.sort(rng.permutation(9)[:size]).astype(np.int32)
        documents.append((words, rng.dirichlet(np.ones(size))))
    (a, x), (b, y) = documents
    costs = np.linalg.norm(places[a][:, np.newaxis] - places[b], axis=2)
    exact = optimal_transport(x, y, costs).cost
    relaxed = max(x @ costs.min(axis=1), y @ costs.min(axis=0))
    found = refined_bound(costs, (a, x), (b, y))
    assert relaxed - 1e-9 <= found <= exact + 1e-9


def test_shares_of_the_distance():
    distances = np.array([[0.0, 1.0, 2.0]])
    found = tightness(distances, np.array([[0.0, 0.5, 2.0]]))
    assert found["tightness"] == 0.75
    for wrong in ([0.0, 1.001, 1.0], [0.1, 0.5, 1.0]):
        with pytest.raises(ValueError, match="no lower bound"):
            tightness(distances, np.array([wrong]))


def test_a_curve_is_in_the_order_of_the_distances():
    distances = np.arange(40.0)[::-1]
    assert sorted_curve(distances, -distances)[:2] == [(2, -0.5), (4, -2.5)]
    assert sorted_curve(np.array([2.0, 1.0]), np.array([5.0, 4.0])) == [(1, 4.0), (2, 5.0)]


def test_neighbours_that_are_missed_and_exact_searches_that_differ():
    exact = NearRows.of([(np.array([4, 2, 1]), np.array([0.1, 0.2, 0.3]))])
    other = NearRows.of([(np.array([4, 1]), np.array([0.1, 0.3]))])
    assert _recall(other, exact, 2) == 0.5
    _compare(exact, exact, 3)
    with pytest.raises(ValueError, match="Query 0 finds others"):
        _compare(other, exact, 2)


def test_no_search_is_timed_that_was_asked_the_same_before(tiny_data, tmp_path, monkeypatch):
    """It keeps costs of the words of its queries, so a second one of them takes less."""
    search = search_of(task_of(tiny_data, tmp_path))
    whole, asked = Corpus.search, []

    def watched(corpus, queries, options, **others):
        asked.append((corpus, options.algorithm))
        return whole(corpus, queries, options, **others)

    monkeypatch.setattr(Corpus, "search", watched)
    options = search.options(2, algorithm="auto")
    task = replace(task_of(tiny_data, tmp_path), quick=False)
    _, found = _timed(task, search, options, np.array([0, 2]))
    timed = [corpus for corpus, algorithm in asked if algorithm == "auto"]
    assert len({id(corpus) for corpus in timed}) == len(timed) == 5
    assert search.corpus not in timed
    exact = whole(search.corpus, taken(search.asked, np.array([0, 2])), options)
    np.testing.assert_array_equal(found.rows, exact.rows)


# ------------------------------------------------------------------ embeddings


def test_every_origin_of_vectors_gives_an_error(embedded):
    embeddings, results, (page, _, figure) = embedded
    assert [cell.missing for cell in results.cells] == [""] * len(embeddings.methods)
    for name in embeddings.methods:
        assert 0 <= results.mean(name, "r8", "error") <= 100
        assert f"\n| {name} " in page.read_text()
    assert results.mean("GloVe, built in", "r8", "error") == 0  # topics without common words
    assert "| *NEWS w2v* |" in page.read_text()
    assert figure.name == "embeddings-quick-errors.svg"


def test_words_of_test_documents_with_vectors(embedded):
    """All words of the tiny data have vectors in its files; GloVe has them too."""
    _, results, _ = embedded
    for name in ("GloVe, built in", "GoogleNews, 26,423 words", "word2vec, Brown"):
        assert results.mean(name, "r8", "coverage") == 100, name
    assert results.mean("GoogleNews, 26,423 words", "r8", "words") == 42
    assert results.mean("GoogleNews, 26,423 words", "r8", "dimension") == 12


def test_sets_have_the_splits_that_they_have_in_knn(tiny_data):
    splits = [experiment(name).splits for name in ("embeddings", "knn")]
    for dataset, n in (("twitter", 5), ("classic", 5), ("r8", 1)):
        assert [count(tiny_data, dataset, False) for count in splits] == [n, n]


def test_vectors_of_a_set_know_the_words_to_learn_from_alone(tiny_data, tmp_path):
    task = task_of(tiny_data, tmp_path)
    learn, _ = sides(task)
    few = learn.taken(np.array([0, 1]))
    for side in (few, learn):
        found = _of_this_set(task, side, {"epochs": 20, "min_count": 5})
        assert set(found.words) == {word for text in side.part.texts for word in text.split()}


def test_without_vectors_only_their_row_is_missing(tiny_data, tmp_path):
    data = tmp_path / "data"
    (data / "classification").mkdir(parents=True)
    file = "classification/r8.jsonl.gz"
    (data / file).write_bytes((tiny_data / file).read_bytes())
    names = ["GloVe, built in", "GoogleNews, 26,423 words"]
    found = run_experiment(
        experiment("embeddings"), data, tmp_path, methods=names, datasets=["r8"], quick=True
    )
    assert found.mean(names[0], "r8", "error") is not None
    [cell] = found.outcomes(names[1], "r8")
    assert cell.missing == "vectors/googlenews-300d-26k.npz is not in the data folder."
