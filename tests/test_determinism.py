"""The same seed gives the same bits, on one thread and on two, with each instruction set."""

import importlib
import inspect

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from textkin import (
    BagOfWords,
    DocumentClustering,
    NearestNeighborClassifier,
    Pooling,
    TokenMover,
    TokenVectors,
    WordMover,
    _core,
)
from textkin.learn import FisherKernelClassifier, RocchioClassifier
from textkin.models import (
    LDA,
    LSI,
    MSDA,
    PLSA,
    WTMF,
    CountingGrid,
    DiagonalGaussianMixture,
    FisherKernel,
    FisherVector,
    ParagraphVector,
    VonMisesFisherMixture,
)
from textkin.vectors import WordVectors
from textkin.weighting import BM25, SIF, TfIdf, TokenIdf

RNG = np.random.default_rng(0)
WORDS = [f"word{chr(97 + number)}" for number in range(20)]
TEXTS = [" ".join(RNG.choice(WORDS, size=RNG.integers(4, 12))) for _ in range(24)]
LABELS = ["ab"[number % 2] for number in range(len(TEXTS))]
BAGS = sparse.csr_array(RNG.poisson(0.8, size=(24, 20)) + np.eye(24, 20))
ROWS = RNG.normal(size=(60, 5)) + np.repeat([[4, 0, 0, 0, 0], [0, 4, 0, 0, 0]], 30, 0)
VECTORS = WordVectors(WORDS, RNG.normal(size=(20, 5)).astype(np.float32))
TOKENS = [TokenVectors(RNG.normal(size=(4, 5)), tokens=list("abcd")) for _ in range(8)]


def transformed(fitted, given):
    return fitted.transform(given)


def decided(fitted, given):
    return fitted.decision_function(given)


def probable(fitted, given):
    return fitted.predict_proba(given)


def weights(fitted, given):
    return tuple(each.weights for each in fitted.transform(given))


def neighbors(fitted, given):
    found = fitted.search(given, k=3)
    return found.distances, found.indices


def grouped(fitted, _given):
    return fitted.labels_


# Name: estimator, data, and the results to compare.
CASES = {
    "BagOfWords": (BagOfWords(), TEXTS, transformed),
    "BM25": (BM25(), BAGS, transformed),
    "SIF": (SIF(), BAGS, transformed),
    "TfIdf": (TfIdf(), BAGS, transformed),
    "TokenIdf": (TokenIdf(), TOKENS, weights),
    "LSI": (LSI(3), BAGS, transformed),
    "PLSA": (PLSA(3, max_iter=5), BAGS, transformed),
    "PLSA tempered": (PLSA(3, tempered=True, max_iter=5), BAGS, transformed),
    "LDA": (LDA(3, max_iter=3), BAGS, transformed),
    "LDA gibbs": (LDA(3, method="gibbs", max_iter=5), BAGS, transformed),
    "CountingGrid": (CountingGrid((4, 4), window=2, max_iter=3), BAGS, transformed),
    "WTMF": (WTMF(3, regularization=0.1, max_iter=3), BAGS, transformed),
    "MSDA": (MSDA(n_layers=2), BAGS, transformed),
    "FisherKernel": (FisherKernel(3), BAGS, transformed),
    "FisherVector": (FisherVector(2, vectors=VECTORS), TEXTS, transformed),
    "Pooling": (Pooling(VECTORS, word_weights="sif", remove_components=1), TEXTS, transformed),
    "ParagraphVector": (
        ParagraphVector(4, epochs=2, min_count=1, n_jobs=1),
        TEXTS,
        transformed,
    ),
    "DiagonalGaussianMixture": (DiagonalGaussianMixture(2, max_iter=5), ROWS, probable),
    "VonMisesFisherMixture": (VonMisesFisherMixture(2, max_iter=5), ROWS, probable),
    "NearestNeighborClassifier": (NearestNeighborClassifier(vectors=VECTORS), TEXTS, probable),
    "RocchioClassifier": (RocchioClassifier(), TEXTS, decided),
    "FisherKernelClassifier": (FisherKernelClassifier((1, 2)), TEXTS, decided),
    "DocumentClustering": (DocumentClustering(2, n_init=2), TEXTS, grouped),
    "DocumentClustering wmd": (
        DocumentClustering(2, method="kmedoids", metric="wmd", vectors=VECTORS),
        TEXTS,
        grouped,
    ),
    "WordMover": (WordMover(VECTORS), TEXTS, neighbors),
    "TokenMover": (TokenMover(), TOKENS, neighbors),
}
# Training on several threads without locks gives other bits each time; documentation says so.
ONE_THREAD = {"ParagraphVector"}


@pytest.fixture(autouse=True)
def restore_instruction_set():
    usual = _core.instruction_set()
    yield
    _core.use_instruction_set(usual)


def arrays(result):
    for one in result if isinstance(result, tuple) else (result,):
        yield one.toarray() if sparse.issparse(one) else np.asarray(one)


def run(name, n_jobs):
    estimator, given, results = CASES[name]
    made = clone(estimator)
    parameters = made.get_params()
    if "random_state" in parameters:
        made.set_params(random_state=3)
    if "n_jobs" in parameters and name not in ONE_THREAD:
        made.set_params(n_jobs=n_jobs)
    fitted = made.fit(given, LABELS) if "Classifier" in name else made.fit(given)
    if name in ONE_THREAD:
        fitted.set_params(n_jobs=n_jobs)
    return list(arrays(results(fitted, given)))


@pytest.mark.filterwarnings("ignore:.*did not converge")  # a few steps suffice
@pytest.mark.parametrize("name", CASES)
def test_same_seed_gives_the_same_bits_on_one_and_two_threads(name):
    for instruction_set in _core.instruction_sets():
        _core.use_instruction_set(instruction_set)
        first = run(name, 1)
        for n_jobs in (1, 2):
            for one, other in zip(first, run(name, n_jobs), strict=True):
                assert one.dtype == other.dtype
                assert_array_equal(one, other, err_msg=f"{instruction_set}, {n_jobs} threads")


def test_every_estimator_is_tested():
    public = {
        found.__name__
        for module in ("textkin", "textkin.models", "textkin.weighting", "textkin.learn")
        for name in importlib.import_module(module).__all__
        if inspect.isclass(found := getattr(importlib.import_module(module), name))
        and issubclass(found, BaseEstimator)
    }
    assert public == {type(estimator).__name__ for estimator, _, _ in CASES.values()}
