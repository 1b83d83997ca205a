"""The benchmark of Fisher vectors: all make the same vectors, and numbers are what they say."""

import gzip
import json
import sys

import numpy as np
import pytest
from scipy import sparse

from support import load_script
from textkin import WordVectors

fisher_speed = load_script("benchmarks/fisher_speed.py")
fisher_vectors = load_script("benchmarks/fisher_vectors.py")
fisher_tables = load_script("benchmarks/fisher_tables.py")

TEXTS = [
    "cats and dogs play with cats",
    "dogs chase cats",
    "a dog, a cat and a horse",
    "horses and dogs eat",
    "cars need fuel and roads",
    "roads for buses and cars",
    "a bus, a car and fuel",
    "trains and buses need fuel",
] * 3


@pytest.fixture
def collection():
    rng = np.random.default_rng(0)
    labels = np.array((["animal"] * 4 + ["traffic"] * 4) * 3)
    return fisher_vectors.Collection(TEXTS, labels, rng.permutation(np.arange(24) % 4))


def test_all_make_the_same_vectors(monkeypatch):
    monkeypatch.setattr(fisher_speed, "N_COMPONENTS", 2)
    made, sizes = fisher_speed.contenders([*TEXTS, "", "qwertzish"], WordVectors.builtin())
    assert sizes["documents"] == 26
    assert set(fisher_speed.check_equal(made)) == {"textkin_2_threads", "numpy_loop", "numpy_lean"}
    made["products"]()
    made["numpy_lean"] = lambda: made["textkin"]() + 1
    with pytest.raises(SystemExit, match="numpy_lean: vectors differ by 1"):
        fisher_speed.check_equal(made)


def test_every_representation_has_length_one_or_zero(monkeypatch):
    monkeypatch.setattr(fisher_vectors, "N_COMPONENTS", 2)
    monkeypatch.setattr(fisher_vectors, "DIMENSION", 4)
    monkeypatch.setattr(fisher_vectors, "EPOCHS", 2)
    monkeypatch.setattr(fisher_vectors, "N_WORDS", 5)
    made = fisher_vectors.Representations([*TEXTS, ""])
    for name in fisher_vectors.METHODS:
        vectors = made.of(name)
        dense = vectors.toarray() if sparse.issparse(vectors) else vectors
        lengths = np.linalg.norm(dense, axis=1)
        assert dense.shape[0] == 25
        np.testing.assert_allclose(lengths, lengths.round(), atol=1e-5)
        assert lengths[:2].min() > 0.5  # others may have none of the few words, or lie at means
        # LDA knows nothing of an empty document, and says so by all topics alike.
        assert lengths[-1].round() == (name == "LDA")


def test_accuracies_are_of_folds(collection):
    told = (collection.labels == "animal").astype(float)[:, np.newaxis] * [1.0, -1.0]
    found = fisher_vectors.accuracies(told, collection)
    assert found == {"as_they_are": [100] * 4, "standardised": [100] * 4}
    assert set(fisher_vectors.accuracies(sparse.csr_array(told), collection)) == {"as_they_are"}


def test_the_indices_of_clusters():
    """METHODS 19.3: labels 000111, clusters 001111."""
    labels = np.array([0, 0, 0, 1, 1, 1])
    vectors = np.array([[0.0], [0.0], [9.0], [9.0], [9.0], [9.0]])
    found = fisher_vectors.clusterings(vectors, labels, starts=3)
    best = fisher_vectors.best_start(found)
    assert best["ari"] == pytest.approx(32.43243)
    assert best["nmi_arithmetic"] == pytest.approx(47.87040)
    assert best["nmi_geometric"] == pytest.approx(47.91388)
    assert best["sum_of_squares"] == 0


def test_the_start_with_the_least_squares_counts():
    found = {"ari": [1.0, 2.0, 3.0], "sum_of_squares": [5.0, 3.0, 4.0]}
    assert fisher_vectors.best_start(found) == {"ari": 2.0, "sum_of_squares": 3.0}


def test_t_tests():
    found = {
        "FV-moVMF, LSI": [90.0, 91, 92, 93],
        "FV-GMM, LSI": [80.0, 81, 82, 83.5],
        "mean, neural": [1.0, 2, 3, 4],
    }
    tested = fisher_vectors.tests(found, paired=True)
    assert list(tested) == ["FV-moVMF, LSI - FV-GMM, LSI"]
    assert tested["FV-moVMF, LSI - FV-GMM, LSI"]["difference"] == pytest.approx(9.875)
    assert tested["FV-moVMF, LSI - FV-GMM, LSI"]["p"] < 1e-4
    assert list(fisher_vectors.tests(found, paired=False)) == list(tested)


def test_the_whole_run_and_its_table(tmp_path, monkeypatch):
    folder = tmp_path / "classification"
    folder.mkdir()
    for name in ("subj", "20news"):
        rows = [
            {"text": text, "label": str(at % 8 < 4), **({"fold": at % 3} if name == "subj" else {})}
            for at, text in enumerate(TEXTS)
        ]
        lines = "\n".join(map(json.dumps, rows))
        (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    result = tmp_path / "result.json"
    monkeypatch.setattr(fisher_vectors, "N_COMPONENTS", 2)
    monkeypatch.setattr(fisher_vectors, "STARTS", 2)
    monkeypatch.setattr(fisher_speed, "N_COMPONENTS", 2)
    options = ["--data", str(tmp_path), "--result", str(result)]
    options += ["--methods", "BoW", "FV-GMM, built-in", "FV-moVMF, built-in"]
    for parts in (["subj", "20news"], ["speed"]):  # the second keeps what the first has found
        monkeypatch.setattr(sys, "argv", ["it", *options, "--parts", *parts])
        fisher_vectors.main()
    shown = fisher_tables.render(json.loads(result.read_text()))
    assert "| FV-moVMF, built-in | 200 |" in shown
    assert "89.5 / 74.3 / 9.2 / 29.7" in shown
    assert "Of 2 comparisons of FV-moVMF and FV-GMM on the same" in shown
    assert "times as long" in shown
