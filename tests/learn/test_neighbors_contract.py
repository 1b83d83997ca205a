"""scikit-learn's checks of the nearest-neighbor classifier, for texts and vectors."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import textkin as tk
from support import run_scikit_learn_checks
from textkin import NearestNeighborClassifier as KNN

TEXTS = [
    "Cats purr on the mat",
    "A kitten sleeps on the sofa",
    "The dog barks at the cat",
    "Puppies and kittens play",
    "Stocks fell sharply on Monday",
    "The market lost five percent",
    "Investors sold their shares",
    "The bank raised interest rates",
]
LABELS = ["pets"] * 4 + ["money"] * 4
QUERIES = ["my kitten purrs", "shares of the bank", "the", "a dog in the stock market"]
KINDS = {
    "wmd": {},
    "rwmd": {"metric": "rwmd", "vote": "fall-back"},
    "mover": {"metric": tk.WordMover(word_weights="tfidf"), "vote": "distance"},
    "tf-idf": {"metric": "cosine", "vote": "exponential"},
    "pooling": {"metric": "cosine", "model": tk.Pooling(word_weights="sif"), "vote": "distance"},
    "lsi": {"metric": "l2", "model": tk.LSI(3, random_state=0)},
    "jaccard": {"metric": "jaccard"},
    "edit": {"metric": "edit"},
}


@pytest.mark.parametrize(
    "estimator", [KNN("euclidean"), KNN("cosine", vote="distance", n_neighbors=3)], ids=str
)
def test_scikit_learn_checks(estimator):
    run_scikit_learn_checks(estimator)


@pytest.fixture(params=KINDS.values(), ids=KINDS.keys())
def fitted(request):
    return KNN(**{"n_neighbors": 3, **request.param}).fit(TEXTS, LABELS)


def same(one, other):
    assert_array_equal(one.predict_proba(QUERIES), other.predict_proba(QUERIES))
    assert_array_equal(one.predict(QUERIES), other.predict(QUERIES))


def test_classifier_separates_two_topics(fitted):
    one = clone(fitted).set_params(n_neighbors=1).fit(TEXTS, LABELS)
    assert one.score(TEXTS, LABELS) == 1
    # The texts share words: otherwise, LSI directions tie and rounding decides.
    texts = [
        "Cats and kittens play",
        "Kittens purr and cats play",
        "Cats purr and kittens play",
        "The bank raised interest rates",
        "Interest rates of the bank fell",
        "Interest rates fell",
    ]
    one = clone(one).fit(texts, ["pets"] * 3 + ["money"] * 3)
    assert one.predict(["kittens play", "interest rates"]).tolist() == ["pets", "money"]


def test_batches_equal_single_documents(fitted):
    many = fitted.predict_proba(QUERIES)
    assert_array_equal(np.vstack([fitted.predict_proba([query]) for query in QUERIES]), many)
    assert fitted.predict_proba([]).shape == (0, 2)
    assert len(fitted.predict([])) == len(fitted.evidence([])) == 0


def test_clone_and_pickle_give_the_same(fitted):
    same(pickle.loads(pickle.dumps(fitted)), fitted)
    same(clone(fitted).fit(TEXTS[::-1], LABELS[::-1]).fit(TEXTS, LABELS), fitted)
    same(clone(fitted).fit(iter(TEXTS), np.array(LABELS, dtype=object)), fitted)
    assert {**clone(fitted).get_params(deep=False), "metric": 0, "model": 0} == {
        **fitted.get_params(deep=False),
        "metric": 0,
        "model": 0,
    }


def test_threads_give_the_same(fitted):
    if "metric__n_jobs" in fitted.get_params():
        other = clone(fitted).set_params(metric__n_jobs=2)
    else:
        other = clone(fitted).set_params(n_jobs=2)
    same(other.fit(TEXTS, LABELS), fitted)


def test_failed_fit_leaves_the_estimator_unchanged(fitted):
    before = {name: id(value) for name, value in vars(fitted).items()}
    with pytest.raises(ValueError, match="one label for each"):
        fitted.fit(TEXTS, LABELS[:3])
    with pytest.raises(TypeError, match="got one text"):
        fitted.fit("a text", LABELS)

    def stop(done, total):
        raise KeyboardInterrupt

    fitted.tune = True
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(TEXTS, LABELS, progress=stop)
    fitted.tune = False
    assert {name: id(value) for name, value in vars(fitted).items()} == before


def test_progress_ends_with_the_number_of_documents(fitted):
    for call in (fitted.predict, fitted.predict_proba, fitted.evidence):
        told = []
        call(QUERIES, progress=lambda *done, told=told: told.append(done))
        assert told[-1] == (len(QUERIES), len(QUERIES))


def test_pipelines_and_grid_search():
    knn = KNN(tk.WordMover(), n_neighbors=1)
    grid = {"metric__word_weights": ["nbow", "tfidf"], "n_neighbors": [1, 3], "vote": ["fall-back"]}
    search = GridSearchCV(knn, grid, cv=2, error_score="raise").fit(TEXTS, LABELS)
    assert search.best_score_ == 1
    assert search.predict(QUERIES[:2]).tolist() == ["pets", "money"]
    grid = {"metric": ["wcd", "cosine"], "stop_words": ["smart", None]}
    assert GridSearchCV(KNN(), grid, cv=2, error_score="raise").fit(TEXTS, LABELS).best_score_ > 0
    bags = make_pipeline(tk.BagOfWords(), tk.TfIdf(), KNN("cosine", n_neighbors=1))
    assert bags.fit(TEXTS, LABELS).predict(["cats and puppies"]).tolist() == ["pets"]
    assert len(cross_val_score(KNN("rwmd"), TEXTS, LABELS, cv=2)) == 2
