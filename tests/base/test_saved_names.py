"""Folders of older versions load and give the stored outputs.

Commit 36746ce wrote the folders of most classes, before renames. The next version wrote
folders of the classes that could not be saved before: `WordMover`, `BagOfWords`,
`NearestNeighborClassifier`, and `DocumentClustering`.

``saved/`` has a folder for each class, an index with attached models, and ``outputs.npz`` with the
inputs and outputs. Each class was saved with values of the parameters that were renamed later.
"""

import importlib
import json
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from support import change_manifest
from textkin._base import SavedEstimator, load_estimator
from textkin._base._saved_names import MODULES, OLD_NAMES, OldNames, present_names
from textkin.corpus import TokenVectors
from textkin.index import Index
from textkin.vectors import WordVectors

SAVED = Path(__file__).parent / "saved"
ESTIMATORS = sorted(
    path.parent.name for path in SAVED.glob("*/manifest.json") if path.parent.name != "word-vectors"
)
WORDS = [
    "obama",
    "speaks",
    "media",
    "illinois",
    "president",
    "greets",
    "press",
    "chicago",
    "band",
    "concert",
]


@pytest.fixture(scope="module")
def outputs():
    with np.load(SAVED / "outputs.npz") as arrays:
        return dict(arrays)


def texts_of(bags):
    return [
        " ".join(word for word, count in zip(WORDS, row, strict=True) for _ in range(int(count)))
        for row in bags
    ]


def output_of(estimator, outputs):
    name = type(estimator).__name__
    if name == "TokenMover":
        documents = [TokenVectors(outputs[f"tokens-{at}"]) for at in range(4)]
        return estimator.search(documents, k=2).distances
    if name == "TokenIdf":
        tokens = [["a", "b"], ["a", "c"]]
        documents = [TokenVectors(outputs[f"named-{at}"], tokens=tokens[at]) for at in range(2)]
        return np.concatenate([document.weights for document in estimator.transform(documents)])
    if name == "WordMover":
        return estimator.search(texts_of(outputs["bags"]), k=3).distances
    if name == "DocumentClustering":
        return estimator.predict(texts_of(outputs["bags"]))
    if name == "NearestNeighborClassifier":
        return estimator.predict_proba(texts_of(outputs["bags"]))
    if name.endswith("Mixture"):
        X = outputs["points"]
    elif estimator._takes_texts:
        X = texts_of(outputs["bags"])
    else:
        X = sparse.csr_array(outputs["bags"])
    for method in ("decision_function", "transform", "predict_proba"):
        if hasattr(estimator, method):
            found = getattr(estimator, method)(X)
            return found.toarray() if sparse.issparse(found) else found
    raise AssertionError(name)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_saved_estimator_gives_the_stored_output(name, outputs):
    estimator = load_estimator(SAVED / name)
    assert_allclose(output_of(estimator, outputs), outputs[f"{name} gives"], rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_class_of_a_saved_estimator_loads_it(name):
    kind = type(load_estimator(SAVED / name))
    assert isinstance(kind.load(SAVED / name), kind)


def test_saved_word_vectors_load():
    vectors = WordVectors.load(SAVED / "word-vectors")
    assert vectors.words == tuple(WORDS)
    assert vectors.matrix.shape == (10, 4)


VALUES = {  # strings of parameters and of private state
    "LatentWords",
    "Lemmatizer",
    "Stemmer",
    "Tuning",
    "Vocabulary",
    "WordNetLemmas",
    "WordVectors",
}
WRONG = [
    {"tuple": [1]},
    1.5,
    "x",
    [0],
    -1,
    None,
    1e-320,
    1000,
    True,
    "",
    0,
    [],
    {"float": "nan"},
    [["a"]],
    {"class": "PLSA", "parameters": {}, "fitted": {}},
]


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_wrong_values_with_valid_hash_raise_or_are_harmless(name, every, outputs, tmp_path):
    """A changed number may be valid; then the estimator works, or requires a fit."""
    load_estimator(SAVED / name).save(tmp_path / "it")
    path = tmp_path / "it" / "manifest.json"
    text = path.read_text()
    manifest = json.loads(text)
    keys = [(part, key) for part in ("parameters", "fitted") for key in manifest[part]]
    tried = refused = 0
    for at, (part, key) in enumerate(keys):
        for value in WRONG if every else [WRONG[at % 6]]:
            path.write_text(text)
            change_manifest(
                tmp_path / "it",
                lambda m, part=part, key=key, value=value: m[part].update({key: value}),
            )
            tried += 1
            try:
                estimator = load_estimator(tmp_path / "it")
            except ValueError as error:
                assert str(tmp_path / "it") in str(error)  # noqa: PT017
                refused += 1
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    output_of(estimator, outputs)
            except NotFittedError:
                pass
            except Exception as error:
                error.add_note(f"{key} = {value!r}")
                raise
    assert refused > tried / 3


@pytest.fixture
def index(tmp_path):
    with zipfile.ZipFile(SAVED / "index.zip") as files:
        files.extractall(tmp_path)
    with Index.open(tmp_path / "index") as index:
        yield index


@pytest.mark.parametrize("name", ["bm25", "wmd", "lda", "plsa", "pooled", "fisher"])
def test_saved_index_finds_the_stored_hits(index, outputs, name):
    hits = index.search(texts_of(outputs["bags"])[0], ranking=name, k=3)
    assert_array_equal([int(hit.id) for hit in hits], outputs[f"index {name} ids"])
    assert_allclose([hit.score for hit in hits], outputs[f"index {name}"], rtol=1e-5, atol=1e-7)


def test_every_saved_class_has_a_module_and_a_folder():
    found = set()
    for module in {module for module in MODULES.values() if "." not in module}:
        package = importlib.import_module(f"textkin.{module}")
        for name in package.__all__:
            kind = getattr(package, name)
            if isinstance(kind, type) and issubclass(kind, SavedEstimator):
                found.add(name)
                assert MODULES[name] == module
    assert found | VALUES == set(MODULES)
    assert {type(load_estimator(SAVED / name)).__name__ for name in ESTIMATORS} == found


@pytest.mark.parametrize("old", sorted(OLD_NAMES))
def test_old_names_lead_to_present_parameters(old):
    name = OLD_NAMES[old].name
    kind = getattr(importlib.import_module(f"textkin.{MODULES[name]}"), name)
    present = set(kind._get_param_names())
    replaced = {
        name
        for values in OLD_NAMES[old].values.values()
        for parameters in values.values()
        for name in parameters
    }
    assert set(OLD_NAMES[old].parameters.values()) | replaced <= present
    assert not set(OLD_NAMES[old].parameters) & present, "an old name must have no new meaning"


def test_names_of_a_node_are_translated(monkeypatch):
    names = OldNames(
        "New",
        parameters={"masses": "token_weights"},
        values={"algorithm": {"wcd": {"metric": "wcd"}}},
        fitted={"learnt_": "learned_"},
    )
    monkeypatch.setitem(OLD_NAMES, "Old", names)
    node = {
        "class": "Old",
        "parameters": {"masses": "norm", "algorithm": "wcd", "unit": True},
        "fitted": {"learnt_": 1},
    }
    assert present_names(node) == {
        "class": "New",
        "parameters": {"token_weights": "norm", "metric": "wcd", "unit": True},
        "fitted": {"learned_": 1},
    }
    other = {"algorithm": "brute", "masses": [1]}
    assert present_names({"class": "Old", "parameters": other, "fitted": {}})["parameters"] == {
        "algorithm": "brute",
        "token_weights": [1],
    }


def test_manifests_are_of_the_old_commit():
    manifest = json.loads((SAVED / "token-mover" / "manifest.json").read_text())
    assert manifest["parameters"]["masses"] == "norm"
    assert manifest["parameters"]["algorithm"] == "rwmd"


@pytest.mark.parametrize(
    ("old", "present"),
    [
        ({"model": "gmm", "mixture": None}, {"mixture": "gmm"}),
        ({"model": "vmf", "mixture": {"class": "X"}}, {"mixture": {"class": "X"}}),
        ({"normalisation": "paper"}, {"information": "paper"}),
    ],
)
def test_old_parameters_of_fisher_vectors_become_the_mixture(old, present):
    node = {"class": "FisherVector", "parameters": old, "fitted": {}}
    assert present_names(node)["parameters"] == present


@pytest.mark.parametrize("name", ["GaussianMixture", "VonMisesFisherMixture"])
def test_old_init_of_mixtures_becomes_a_method_or_means(name):
    def parameters(init):
        return present_names({"class": name, "parameters": {"init": init}, "fitted": {}})

    assert parameters("k-means++")["parameters"] == {"init_params": "k-means++"}
    assert parameters({"tensor": "init"})["parameters"] == {"means_init": {"tensor": "init"}}
