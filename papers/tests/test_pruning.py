"""Experiments on bounds and on word vectors, on tiny data."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.cells import Cell, Keeper, Outcome, Shared, Task
from papers.experiments import experiment
from papers.experiments.embeddings import _of_this_set
from papers.experiments.pruning import _compare, _recall, _timed
from papers.experiments.pruning.bounds import refined_bound, search_of, sorted_curve, tightness
from papers.experiments.pruning.report import AUTO, BRUTE, REFINED, findings, prefetch_name
from papers.labeled_texts import labelled
from papers.neighbors import sides
from papers.report import write_results
from papers.results import Results
from papers.runner import run_experiment
from textkin.corpus import RankedRows
from textkin.transport import TransportEngine, optimal_transport


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


def test_every_cell_of_pruning_exists(pruned):
    pruning, results, _ = pruned
    assert [cell.missing for cell in results.cells] == [""] * len(pruning.methods)


def test_bounds_become_tighter_in_order(pruned):
    _, results, _ = pruned
    shares = {
        name: results.mean(name, "r8", "tightness")
        for name in ("WCD", "RWMD query side", "RWMD document side", "RWMD", REFINED)
    }
    assert 0 < shares["WCD"] < shares["RWMD"] < shares[REFINED] <= 1
    assert max(shares["RWMD query side"], shares["RWMD document side"]) < shares["RWMD"]


def test_prefetch_ends_with_the_exact_result(pruned):
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


def test_report_on_pruning(pruned):
    pruning, results, (page, _, *figures) = pruned
    text = page.read_text()
    for name in pruning.methods:
        assert f"\n| {name} |" in text
    assert "| *0.96* |" in text  # tightness of the paper's RWMD
    assert "From m = k to m = 2 k" in text
    assert f"k: {results.mean('WMD', 'r8', 'k'):.0f} of r8. One thread." in text
    assert "C1 of Kusner et al. is shown next to the query side" in text
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


def test_rising_error_is_not_reported_as_falling():
    names = [prefetch_name(factor) for factor in (1, 2, None)]
    errors = zip(names, (30.0, 31.0, 30.5), strict=True)
    cells = (Outcome("twitter", name, 0, {"error": error}) for name, error in errors)
    told = findings(Results("pruning", tuple(cells)))
    assert "changes by +1.0 points on average, and from there to all documents by -0.5" in told


def task_of(data, out, dataset="r8"):
    key = {"experiment": "test", "dataset": dataset}
    return Task(Cell(dataset, "m"), data, True, 1, Shared(), Keeper(out), key)


def test_values_match_the_mover(tiny_data, tmp_path):
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
def test_refined_bound_is_a_lower_bound(seed):
    """Two-dimensional words, some in both documents; compared with the exact solver."""
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
        with pytest.raises(ValueError, match="not a lower bound"):
            tightness(distances, np.array([wrong]))


def test_curve_is_in_the_order_of_the_distances():
    distances = np.arange(40.0)[::-1]
    assert sorted_curve(distances, -distances)[:2] == [(2, -0.5), (4, -2.5)]
    assert sorted_curve(np.array([2.0, 1.0]), np.array([5.0, 4.0])) == [(1, 4.0), (2, 5.0)]


def test_missed_neighbors_and_different_exact_searches():
    exact = RankedRows.of([(np.array([4, 2, 1]), np.array([0.1, 0.2, 0.3]))])
    other = RankedRows.of([(np.array([4, 1]), np.array([0.1, 0.3]))])
    assert _recall(other, exact, 2) == 0.5
    _compare(exact, exact, 3)
    with pytest.raises(ValueError, match="Query 0 finds other documents"):
        _compare(other, exact, 2)


def test_repeated_search_is_not_timed(tiny_data, tmp_path, monkeypatch):
    """A search caches costs of its query words, so that a second search is faster."""
    search = search_of(task_of(tiny_data, tmp_path))
    whole, asked = TransportEngine.search, []

    def watched(corpus, queries, options, **others):
        asked.append((corpus, options.plan))
        return whole(corpus, queries, options, **others)

    monkeypatch.setattr(TransportEngine, "search", watched)
    options = search.options(2, algorithm="auto")
    task = replace(task_of(tiny_data, tmp_path), quick=False)
    _, found = _timed(task, search, options, np.array([0, 2]))
    timed = [corpus for corpus, algorithm in asked if algorithm == "auto"]
    assert len({id(corpus) for corpus in timed}) == len(timed) == 5
    assert search.corpus not in timed
    exact = whole(search.corpus, search.asked.take(np.array([0, 2])), options)
    np.testing.assert_array_equal(found.rows, exact.rows)


# ------------------------------------------------------------------ embeddings


def test_every_source_of_vectors_has_an_error(embedded):
    embeddings, results, (page, _, figure) = embedded
    assert [cell.missing for cell in results.cells] == [""] * len(embeddings.methods)
    for name in embeddings.methods:
        assert 0 <= results.mean(name, "r8", "error") <= 100
        assert f"\n| {name} " in page.read_text()
    assert results.mean("GloVe, built in", "r8", "error") == 0  # topics without common words
    assert "| *NEWS w2v* |" in page.read_text()
    assert figure.name == "embeddings-quick-errors.svg"


def test_words_of_test_documents_with_vectors(embedded):
    """All words of the tiny data have vectors in its files, and in GloVe."""
    _, results, _ = embedded
    for name in ("GloVe, built in", "GoogleNews, 26,423 words", "word2vec, Brown"):
        assert results.mean(name, "r8", "coverage") == 100, name
    assert results.mean("GoogleNews, 26,423 words", "r8", "words") == 42
    assert results.mean("GoogleNews, 26,423 words", "r8", "dimension") == 12


def test_splits_match_the_knn_experiment(tiny_data):
    splits = [experiment(name).splits for name in ("embeddings", "knn")]
    for dataset, n in (("twitter", 5), ("classic", 5), ("r8", 1)):
        assert [count(tiny_data, dataset, False) for count in splits] == [n, n]


def test_vectors_of_a_set_use_only_training_words(tiny_data, tmp_path):
    task = task_of(tiny_data, tmp_path)
    learn, _ = sides(task)
    few = learn.taken(np.array([0, 1]))
    for side in (few, learn):
        found = _of_this_set(task, side, {"epochs": 20, "min_count": 5})
        assert set(found.words) == {word for text in side.part.texts for word in text.split()}


def test_missing_vectors_omit_only_their_row(tiny_data, tmp_path):
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
