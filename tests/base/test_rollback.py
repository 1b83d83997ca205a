"""Each `fit` of a public estimator is decorated, and a failed `fit` changes nothing."""

import importlib
import pkgutil
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

import textkin
from base.test_saved_names import SAVED, WORDS, texts_of
from textkin._base import load_estimator, rollback_on_error
from textkin.corpus import TokenVectors
from textkin.learn import DocumentClustering, NearestNeighborClassifier
from textkin.text import BagOfWords
from textkin.transport import WordMover
from textkin.vectors import WordVectors

# Methods that only call `fit`.
DELEGATES = {("ParagraphVector", "fit_transform"), ("DocumentClustering", "fit_predict")}


def is_decorated(method):
    """Return True if a method is decorated, perhaps within the wrapper of `set_output`."""
    code = rollback_on_error(lambda estimator: None).__code__
    while method is not None and method.__code__ is not code:
        method = getattr(method, "__wrapped__", None)
    return method is not None


def public_estimators():
    """Return the estimators among the public names of the package and of its subpackages."""
    found = {}
    modules = [textkin]
    for info in pkgutil.iter_modules(textkin.__path__):
        if info.ispkg and not info.name.startswith("_"):
            modules.append(importlib.import_module(f"textkin.{info.name}"))
    for module in modules:
        for name in module.__all__:
            kind = getattr(module, name)
            if isinstance(kind, type) and issubclass(kind, BaseEstimator):
                found[kind.__name__] = kind
    return found


ESTIMATORS = public_estimators()


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_other_training_methods_are_decorated(name):
    own = {}
    for base in reversed(ESTIMATORS[name].__mro__):
        if base.__module__.startswith("textkin."):
            own |= vars(base)
    learning = {key for key in own if key.startswith(("fit", "partial_fit"))}
    assert "fit" in learning
    for method in learning:
        if (name, method) not in DELEGATES:
            assert is_decorated(own[method]), f"decorate {method} with rollback_on_error"


class Interruption(BaseException):
    """Exception that is not an Exception subclass, like KeyboardInterrupt."""


def with_failing_attributes(estimator, fails_at):
    """Raise in the estimator after a number of set attributes."""
    kind = type(estimator)
    names = []

    def set_attribute(self, name, value):
        object.__setattr__(self, name, value)
        names.append(name)
        if len(names) == fails_at:
            raise Interruption(name)

    estimator.__class__ = type(kind.__name__, (kind,), {"__setattr__": set_attribute})
    return names


BAGS = np.random.default_rng(0).poisson(1.0, (12, 10)) + np.eye(12, 10, dtype=int)
LABELS = ["a", "b"] * 6


def arguments_of(estimator):
    """Return arguments for `fit` that differ from the arguments of the first fit."""
    rng = np.random.default_rng(1)
    name = type(estimator).__name__
    if name in ("TokenMover", "TokenIdf"):
        tokens = [["a", "b"], ["a", "c"], ["c"]]
        return ([TokenVectors(rng.normal(size=(len(t), 4)), tokens=t) for t in tokens],)
    if name.endswith("Mixture"):
        return (rng.normal(size=(20, 3)),)
    takes_texts = getattr(estimator, "_takes_texts", True)
    X = texts_of(BAGS) if takes_texts else sparse.csr_array(BAGS.astype(np.float64))
    return (X, LABELS) if name.endswith("Classifier") else (X,)


def saved(name):
    return lambda: load_estimator(SAVED / name)


def refitted(make, n_documents=9):
    """Return a function that creates an estimator and fits it to some documents."""

    def made():
        estimator = make()
        X, *labels = arguments_of(estimator)
        return estimator.fit(X[:n_documents], *(y[:n_documents] for y in labels))

    return made


def word_mover():
    return WordMover(WordVectors(WORDS, np.random.default_rng(0).normal(size=(10, 4))))


OF_TEXTS = "bag-of-words", "document-clustering", "nearest-neighbor-classifier", "word-mover"
MAKERS = {
    path.parent.name: saved(path.parent.name)
    for path in sorted(Path(SAVED).glob("*/manifest.json"))
    if path.parent.name not in ("word-vectors", *OF_TEXTS)
} | {
    "bag-of-words": refitted(BagOfWords),
    "neighbors": refitted(lambda: NearestNeighborClassifier("cosine", n_neighbors=1)),
    "clusters": refitted(lambda: DocumentClustering(2, random_state=0)),
    "word-mover": refitted(word_mover),
}


def test_every_public_estimator_is_tested():
    assert {type(make()).__name__ for make in MAKERS.values()} == set(ESTIMATORS)


@pytest.mark.parametrize("name", sorted(MAKERS))
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_interrupted_fit_leaves_the_estimator_unchanged(name, last):
    make = MAKERS[name]
    kind = type(make())
    methods = {"fit", "fit_transform", "fit_predict"}
    for method in (one for one in methods if is_decorated(getattr(kind, one, None))):
        n_set = 1
        if last:
            counted = make()
            names = with_failing_attributes(counted, 0)
            getattr(counted, method)(*arguments_of(counted))
            n_set = len(names)
        estimator = make()
        before = vars(estimator).copy()
        with_failing_attributes(estimator, n_set)
        with pytest.raises(Interruption):
            getattr(estimator, method)(*arguments_of(estimator))
        after = vars(estimator)
        assert list(after) == list(before)
        assert all(after[key] is value for key, value in before.items())
