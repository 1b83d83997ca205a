"""Round trips of saved `WordMover` estimators: the loaded ones give equal bits."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

import textkin as tk
from textkin.vectors import WordVectors

TEXTS = [
    "Obama speaks to the media in Illinois",
    "The President greets the press in Chicago",
    "The band gave a concert in Japan",
    "Obama Obama press",
]
QUERIES = [*TEXTS, "media in Japan"]
VECTORS = WordVectors(
    ["obama", "media", "illinois", "president", "press", "band", "japan"],
    np.random.default_rng(0).random((7, 3), dtype=np.float32),
)
MATRIX = np.vstack([VECTORS.matrix, np.full((1, 3), np.nan)])
BAGS = np.eye(8)[:, :8] + np.eye(8, k=1)


def assert_same_answers(fitted, loaded, X):
    one, other = fitted.search(X, k=3), loaded.search(X, k=3)
    assert_array_equal(other.indices, one.indices)
    assert_array_equal(other.distances, one.distances)
    assert other.certificate(0).verify().exact == one.certificate(0).verify().exact
    assert_array_equal(loaded.pairwise(X), fitted.pairwise(X))
    assert loaded.distance(X[:1][0], X[1:2][0]) == fitted.distance(X[:1][0], X[1:2][0])


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"word_weights": "tfidf", "unit": True},
        {"word_weights": "sif", "cost": "cosine"},
        {"vectors": VECTORS, "word_weights": "sif", "empty": "inf"},
        {"vectors": "distilled", "stop_words": {"the", "in"}, "algorithm": "brute"},
        {"vectors": VECTORS, "metric": "rwmd", "memory": "1MB", "n_jobs": 2},
        {"vectors": VECTORS, "word_weights": np.arange(1.0, 8)},
    ],
    ids=lambda parameters: "-".join(parameters) or "default",
)
def test_loaded_word_mover_gives_the_same_answers(parameters, tmp_path):
    fitted = tk.WordMover(**parameters).fit(TEXTS)
    fitted.save(tmp_path / "it")
    for load in (tk.load, tk.WordMover.load):
        loaded = load(tmp_path / "it")
        assert type(loaded) is tk.WordMover
        if parameters.get("metric") == "rwmd":
            assert_array_equal(loaded.pairwise(QUERIES), fitted.pairwise(QUERIES))
        else:
            assert_same_answers(fitted, loaded, QUERIES)
        assert loaded.explain(*QUERIES[:2]).to_html() == fitted.explain(*QUERIES[:2]).to_html()
    loaded.save(tmp_path / "again")
    for file in (tmp_path / "it").iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


def test_loaded_word_mover_over_bags_gives_the_same_answers(tmp_path):
    fitted = tk.WordMover(MATRIX, empty="inf").fit(BAGS)
    fitted.save(tmp_path / "it")
    loaded = tk.load(tmp_path / "it")
    assert_array_equal(loaded.search(BAGS, k=3).distances, fitted.search(BAGS, k=3).distances)


def test_changed_parameters_require_a_fit_before_and_after_loading(tmp_path):
    fitted = tk.WordMover(VECTORS).fit(TEXTS).set_params(unit=True)
    fitted.save(tmp_path / "it")
    for mover in (fitted, tk.load(tmp_path / "it")):
        with pytest.raises(NotFittedError, match=r"call fit\(corpus\)"):
            mover.search(QUERIES)
    tk.load(tmp_path / "it").save(tmp_path / "again")


def test_only_a_fitted_word_mover_can_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        tk.WordMover(VECTORS).save(tmp_path / "it")


def test_word_vectors_are_loaded_by_the_same_function(tmp_path):
    VECTORS.save(tmp_path / "it")
    loaded = tk.load(tmp_path / "it")
    assert loaded.words == VECTORS.words
    assert_array_equal(loaded.matrix, VECTORS.matrix)


def test_load_of_anything_else_raises(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        tk.load(tmp_path / "missing")
    with pytest.raises(ValueError, match="a folder created by the save of an estimator"):
        tk.load(tmp_path)
    (tmp_path / "file").write_text("text")
    with pytest.raises(ValueError, match="it is a file"):
        tk.load(tmp_path / "file")
    for text in ("[]", "{", '{"format": "other"}'):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(ValueError, match=r"does not contain|is not valid JSON"):
            tk.load(tmp_path)
