"""Round trips of saved classifiers and clusterings: the loaded ones give equal bits."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.pipeline import make_pipeline

import textkin as tk
from support import change_manifest
from textkin.reading import Document
from textkin.vectors import WordVectors

TEXTS = [
    "Obama speaks to the media in Illinois",
    "The President greets the press in Chicago",
    "The band gave a concert in Japan",
    "Cats purr and sleep",
    "",
    "Stocks fell sharply today",
    "Kittens sleep all day",
]
LABELS = ["politics", "politics", "music", "pets", "none", "money", "pets"]
QUERIES = [*TEXTS, "A kitten purrs", "qwertzish"]
TOKENS = [text.lower().split() for text in TEXTS]
ROWS = np.random.default_rng(0).random((7, 5)) * (np.arange(7) != 4)[:, None]
DOCUMENTS = [Document(f"d{at}", text) for at, text in enumerate(TEXTS)]


def assert_same_predictions(one, other, X):
    shares = one.predict_proba(X)
    assert_array_equal(other.predict_proba(X), shares)
    assert other.predict(X).dtype == one.predict(X).dtype
    assert_array_equal(other.predict(X), one.predict(X))
    first, second = one.evidence(X), other.evidence(X)
    assert repr(first) == repr(second)
    for a, b in zip(first, second, strict=True):
        for rank in range(len(a.neighbors)):
            why = a.explain(rank)
            assert (why is None) == (b.explain(rank) is None)
            assert why is None or why.to_html() == b.explain(rank).to_html()


CLASSIFIERS = {
    "wmd": ({}, TEXTS, QUERIES),
    "documents": ({}, DOCUMENTS, QUERIES),
    "tokens": ({}, TOKENS, TOKENS),
    "rwmd": ({"metric": "rwmd", "vote": "distance"}, TEXTS, QUERIES),
    "cosine": ({"metric": "cosine"}, TEXTS, QUERIES),
    "jaccard": ({"metric": "jaccard", "stop_words": {"the", "in"}}, TEXTS, QUERIES),
    "edit": ({"metric": "edit"}, TEXTS, QUERIES),
    "tuned": ({"tune": True, "vote": "exponential", "random_state": 0}, TEXTS * 3, QUERIES),
    "model": ({"metric": "cosine", "model": tk.LSI(3, random_state=0)}, TEXTS, QUERIES),
    "pooling": ({"metric": "cosine", "model": tk.Pooling()}, TEXTS, QUERIES),
    "mover": ({"metric": tk.WordMover(word_weights="tfidf", cost="cosine")}, TEXTS, QUERIES),
    "rows": ({"metric": "euclidean"}, ROWS, ROWS[:3]),
    "sparse": ({"metric": "cosine"}, sparse.csr_matrix(ROWS), sparse.csr_array(ROWS[:3])),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_loaded_nearest_neighbor_classifier_gives_the_same_answers(name, tmp_path):
    parameters, X, queries = CLASSIFIERS[name]
    labels = LABELS * (len(X) // 7) if isinstance(X, list) else LABELS
    fitted = tk.NearestNeighborClassifier(n_neighbors=2, **parameters).fit(X, labels)
    fitted.save(tmp_path / "it")
    loaded = tk.load(tmp_path / "it")
    assert type(loaded) is tk.NearestNeighborClassifier
    assert_same_predictions(fitted, loaded, queries)
    assert repr(loaded.tuning_) == repr(fitted.tuning_)
    loaded.save(tmp_path / "again")
    for file in (tmp_path / "it").iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


def test_certificate_of_a_loaded_classifier_is_valid(tmp_path):
    tk.NearestNeighborClassifier(n_neighbors=1).fit(TEXTS, LABELS).save(tmp_path / "it")
    loaded = tk.NearestNeighborClassifier.load(tmp_path / "it")
    [evidence] = loaded.evidence(["A kitten sleeps"])
    assert evidence.certificate().verify().exact


@pytest.mark.parametrize(
    "labels", [[1, 1, 2, 3, 4, 5, 3], [1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 3.0], [True] * 7]
)
def test_labels_keep_their_type(labels, tmp_path):
    fitted = tk.NearestNeighborClassifier(n_neighbors=1).fit(TEXTS, labels[:7])
    fitted.save(tmp_path / "it")
    found = tk.load(tmp_path / "it").predict(QUERIES)
    assert found.dtype == fitted.predict(QUERIES).dtype
    assert_array_equal(found, fitted.predict(QUERIES))


def test_word_vectors_are_saved_once(tmp_path):
    vectors = WordVectors(["cats", "purr", "stocks", "fell"], np.eye(4, dtype=np.float32))
    fitted = tk.NearestNeighborClassifier(vectors=vectors, n_neighbors=1)
    fitted.fit(["cats purr", "stocks fell"], ["pets", "money"]).save(tmp_path / "it")
    size = int.from_bytes((tmp_path / "it" / "arrays.safetensors").read_bytes()[:8], "little")
    header = json.loads((tmp_path / "it" / "arrays.safetensors").read_bytes()[8 : 8 + size])
    assert [name for name in header if name.endswith("matrix")] == ["vectors.matrix"]
    loaded = tk.load(tmp_path / "it")
    assert_array_equal(loaded.predict(["purr", "fell"]), ["pets", "money"])


def test_pipelines_and_token_vectors_cannot_be_saved(tmp_path):
    model = make_pipeline(tk.TfIdf(), tk.LSI(2, random_state=0))
    fitted = tk.NearestNeighborClassifier("cosine", model=model, n_neighbors=1).fit(TEXTS, LABELS)
    with pytest.raises(TypeError, match="model cannot be saved: its type is Pipeline"):
        fitted.save(tmp_path / "it")
    documents = [tk.TokenVectors(ROWS[:2]), tk.TokenVectors(ROWS[2:4])]
    tokens = tk.NearestNeighborClassifier(tk.TokenMover(), n_neighbors=1).fit(documents, [0, 1])
    with pytest.raises(TypeError, match="the documents of fit cannot be saved: position 0"):
        tokens.save(tmp_path / "it")
    assert not list(tmp_path.iterdir())


CLUSTERINGS = {
    "kmeans": ({}, TEXTS, QUERIES),
    "euclidean": ({"metric": "euclidean"}, TEXTS, QUERIES),
    "kmedoids": ({"method": "kmedoids"}, TEXTS, QUERIES),
    "agglomerative": ({"method": "agglomerative"}, DOCUMENTS, QUERIES),
    "threshold": (
        {"n_clusters": None, "distance_threshold": 1.0, "method": "agglomerative"},
        TOKENS,
        TOKENS,
    ),
    "pooling": ({"model": tk.Pooling()}, TEXTS, QUERIES),
    "cosine": ({"method": "kmedoids", "metric": "cosine"}, TEXTS, QUERIES),
    "rows": ({"feature_names": tk.Vocabulary(list("abcde"))}, ROWS, ROWS[:3]),
    "sparse": ({"method": "kmedoids"}, sparse.csr_array(ROWS), ROWS[:3]),
}


@pytest.mark.parametrize("name", CLUSTERINGS)
def test_loaded_clustering_gives_the_same_answers(name, tmp_path):
    parameters, X, queries = CLUSTERINGS[name]
    fitted = tk.DocumentClustering(**{"n_clusters": 2, "random_state": 0, **parameters}).fit(X)
    fitted.save(tmp_path / "it")
    loaded = tk.load(tmp_path / "it")
    assert type(loaded) is tk.DocumentClustering
    assert_array_equal(loaded.labels_, fitted.labels_)
    assert_array_equal(loaded.predict(queries), fitted.predict(queries))
    assert loaded.to_html() == fitted.to_html()
    assert loaded.inertia_ == fitted.inertia_
    for one, other in zip(fitted.clusters_, loaded.clusters_, strict=True):
        assert repr(one) == repr(other)
        assert (one.words, one.snippet, one.spread) == (other.words, other.snippet, other.spread)
        assert_array_equal(one.members, other.members)
        assert_array_equal(one.distances, other.distances)
    loaded.save(tmp_path / "again")
    for file in (tmp_path / "it").iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


def saved(kind, tmp_path):
    if kind == "classifier":
        fitted = tk.NearestNeighborClassifier(n_neighbors=2).fit(DOCUMENTS, LABELS)
    elif kind == "vectors":
        fitted = tk.NearestNeighborClassifier("cosine", n_neighbors=2).fit(DOCUMENTS, LABELS)
    else:
        fitted = tk.DocumentClustering(2, random_state=0).fit(DOCUMENTS)
    fitted.save(tmp_path / "it")
    return tmp_path / "it"


def nodes_of(node):
    if isinstance(node, dict):
        for key in node:
            yield node, key
            yield from nodes_of(node[key])


@pytest.mark.parametrize("kind", ["classifier", "vectors", "clustering"])
def test_invalid_signed_state_raises(kind, tmp_path):
    """A state with any content raises an error that names the folder, or does no harm."""
    path = saved(kind, tmp_path)
    text = (path / "manifest.json").read_text()
    tensors = ["labels_", "class_prior_", "state.labels", "state.documents.ends"]
    values = [None, 1.5, "x", [0], {"map": {}}, *({"tensor": name} for name in tensors)]
    n_nodes = len([*nodes_of(json.loads(text)["state"])])
    refused = 0
    for at in range(n_nodes):
        for value in values:

            def replace(manifest, at=at, value=value):
                node, key = [*nodes_of(manifest["state"])][at]
                node[key] = value

            (path / "manifest.json").write_text(text)
            change_manifest(path, replace)
            try:
                loaded = tk.load(path)
            except ValueError as error:
                assert str(path) in str(error)  # noqa: PT017
                refused += 1
                continue
            try:
                loaded.predict(QUERIES)
            except Exception as error:
                error.add_note(f"{list(nodes_of(json.loads(text)['state']))[at][1]} = {value}")
                raise
    assert refused > 0.8 * n_nodes * len(values)
    (path / "manifest.json").write_text(text)
    change_manifest(path, lambda manifest: manifest.pop("state"))
    with pytest.raises(ValueError, match="is invalid"):
        tk.load(path)
