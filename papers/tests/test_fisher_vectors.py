"""Experiment ``fisher-vectors`` on tiny data, with parts checked by hand."""

import numpy as np
import pytest
from scipy import sparse

from papers import document_vectors as _document_vectors
from papers.cells import Outcome
from papers.document_vectors import QUICK, DocumentVectors
from papers.experiments import experiment
from papers.experiments.fisher_vectors import accuracies, clusters
from papers.experiments.fisher_vectors.report import findings, t_tests
from papers.report import write_results
from papers.results import Results
from papers.runner import run_experiment
from textkin.models import ParagraphVector, train_word_vectors
from textkin.run import effective_jobs

TEXTS = ["cats and dogs play with cats", "cats play", "bread and butter", "butter on bread"] * 6


@pytest.fixture(scope="module")
def found(tiny_data, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    fisher = experiment("fisher-vectors")
    sets = ["subj", "20news"]
    results = run_experiment(fisher, tiny_data, out, datasets=sets, quick=True, n_jobs=1)
    return fisher, results, write_results(fisher, results, out)


def test_every_method_has_its_numbers(found):
    fisher, results, _ = found
    assert [cell.missing for cell in results.cells] == [""] * (2 * len(fisher.methods))
    for cell in results.cells:
        measure = "accuracy" if cell.dataset == "subj" else "nmi"
        assert 0 <= cell.values[measure] <= 100, cell
        assert cell.values["repeated"] == 1  # conftest writes one bag twice
    assert results.mean("FV-GMM, built-in", "subj", "numbers") == QUICK.n_components * 100
    assert results.mean("BoW", "subj", "accuracy") == 100


def test_report_has_both_tables_of_the_paper(found):
    fisher, _, (page, *_) = found
    text = page.read_text()
    for name in fisher.methods:
        assert f"\n| {name}" in text
    assert "| *– Zhang et al.* | *89.5* |" in text
    assert "| *– Zhang et al.* | *44.1* |" in text
    assert "In 3 comparisons of FV-moVMF and FV-GMM on the same word vectors" in text
    assert "1 of 45 of subj" in text


def test_every_vector_has_length_one_or_zero():
    made = DocumentVectors([*TEXTS, ""], QUICK, 1)
    for name in experiment("fisher-vectors").methods:
        vectors = made.of(name)
        dense = vectors.toarray() if sparse.issparse(vectors) else vectors
        lengths = np.linalg.norm(dense, axis=1)
        assert dense.shape[0] == len(TEXTS) + 1
        np.testing.assert_allclose(lengths, lengths.round(), atol=1e-5)
        # LDA returns equal topic shares for an empty document.
        assert lengths[-1].round() == (name == "LDA"), name


def test_vectors_are_trained_with_one_thread(monkeypatch):
    """Several threads are not reproducible, and threads must not change numbers."""
    threads = []

    def watched(whole):
        def call(*args, n_jobs=None, **others):
            threads.append(effective_jobs(n_jobs))
            return whole(*args, n_jobs=n_jobs, **others)

        return call

    monkeypatch.setattr(_document_vectors, "train_word_vectors", watched(train_word_vectors))
    monkeypatch.setattr(_document_vectors, "ParagraphVector", watched(ParagraphVector))
    made = DocumentVectors(TEXTS, QUICK, 2)
    for name in ("mean, neural", "PV-DBOW", "PV-DM"):
        made.of(name)
    assert threads == [1, 1, 1]


def test_accuracy_uses_the_test_documents():
    labels = np.array(["a", "b"] * 10)
    told = np.where(labels == "a", 1.0, -1.0)[:, np.newaxis] * [1.0, 2.0]
    told[0] *= -1  # a document that is certainly wrong
    rows = np.arange(20)
    assert accuracies(told, labels, rows[4:], rows[:4]) == {"accuracy": 75, "standardised": 75}
    sparse_ones = accuracies(sparse.csr_array(told), labels, rows[4:], rows[:4])
    assert sparse_ones == {"accuracy": 75}


def test_cluster_indices():
    """METHODS 19.3: labels 000111, clusters 001111."""
    labels = np.array([0, 0, 0, 1, 1, 1])
    vectors = np.array([[0.0], [0.0], [9.0], [9.0], [9.0], [9.0]])
    best = clusters(vectors, labels, 3)
    assert best["ari"] == pytest.approx(32.43243)
    assert best["nmi"] == pytest.approx(47.87040)
    assert best["nmi_geometric"] == pytest.approx(47.91388)
    assert best["sum_of_squares"] == 0
    assert len(best["starts"]) == 3


def test_initialization_with_the_least_squares_is_used():
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 6
    vectors = rng.normal(size=(60, 3)) + 4 * np.eye(6, 3)[labels]
    best = clusters(vectors, labels, 6)
    least = min(best["starts"], key=lambda start: start["sum_of_squares"])
    assert {name: best[name] for name in least} == least
    assert len({start["sum_of_squares"] for start in best["starts"]}) > 1


def folds(method, numbers):
    return [Outcome("subj", method, at, {"accuracy": n}) for at, n in enumerate(numbers)]


def test_t_tests_are_paired_by_folds():
    cells = [
        *folds("FV-moVMF, LSI", [90.0, 91, 92, 93]),
        *folds("FV-GMM, LSI", [80.0, 81, 82, 83.5]),
        *folds("mean, neural", [1.0, 2, 3, 4]),
    ]
    [(pair, by_set)] = t_tests(Results("fisher-vectors", tuple(cells))).items()
    assert pair == ("FV-moVMF, LSI", "FV-GMM, LSI")
    assert by_set["subj"].difference == pytest.approx(9.875)
    assert by_set["subj"].p_value < 1e-4
    # a fold that is missing for one method is not a pair
    [left] = t_tests(Results("fisher-vectors", tuple(cells[1:]))).values()
    assert left["subj"].difference == pytest.approx((10 + 10 + 9.5) / 3)


def test_t_tests_of_initializations():
    def of(method, numbers):
        starts = [{"nmi": number} for number in numbers]
        return Outcome("20news", method, 0, {"nmi": numbers[0], "starts": starts})

    pair = "FV-moVMF, LSI", "FV-GMM, LSI"
    for ours, theirs, p in (([50.0, 50], [40.0, 40], 0), ([50.0, 50], [50.0, 50], 1)):
        cells = of(pair[0], ours), of(pair[1], theirs)
        tested = t_tests(Results("fisher-vectors", cells))[pair]["20news"]
        assert tested == (ours[0] - theirs[0], p)
    found = findings(Results("fisher-vectors", (of(pair[0], [1.0, 1]), of(pair[1], [2.0, 2]))))
    assert "better in 0 and significantly worse in 1" in found
    assert "Tf-idf of" not in found  # unmeasured methods are not reported


def test_numbers_of_the_paper_above_textkin():
    cells = [*folds("PV-DM", [90.0]), *folds("LSI", [85.5]), *folds("BoW", [80.0])]
    found = findings(Results("fisher-vectors", tuple(cells)))
    assert "2 of 3 numbers of Zhang et al. are above ours; among the 1 numbers of" in found
    assert "(neural, PV), 1." in found
    cells += folds("BoW with stop words", [70.0])
    found = findings(Results("fisher-vectors", tuple(cells)))
    assert "Tf-idf of subj has 70.0 % with stop words and 80.0 % without." in found
