"""Tests of the choice of the number of neighbors on a validation split."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone

from textkin import NearestNeighborClassifier as KNN
from textkin import TfIdf, WordMover
from textkin.learn._tuning import GAMMAS, hold_out
from voting_reference import reference_vote


@given(counts=st.lists(st.integers(1, 40), min_size=1, max_size=6), seed=st.integers(0, 2**32 - 1))
def test_validation_split_is_stratified(counts, seed):
    labels = np.repeat(np.arange(len(counts)), counts)
    if max(counts) == 1:
        with pytest.raises(ValueError, match="each class has one"):
            hold_out(labels, np.random.RandomState(seed))
        return
    training, validation = hold_out(labels, np.random.RandomState(seed))
    assert_array_equal(np.sort(np.concatenate([training, validation])), np.arange(len(labels)))
    splits = sum(count for count in counts if count > 1)
    assert len(validation) >= 1
    assert abs(len(validation) - splits / 5) <= 1
    held = np.bincount(labels[validation], minlength=len(counts))
    for count, out in zip(counts, held, strict=True):
        assert abs(out - count / 5) < 1 if count > 1 else out == 0
        assert out < count


def noisy(n=90):
    random = np.random.default_rng(5)
    y = random.integers(0, 3, size=n)
    return random.normal(size=(n, 2)) + y[:, None], y


@pytest.mark.parametrize("vote", ["majority", "distance", "fall-back", "exponential"])
def test_choice_equals_separate_fits(vote):
    X, y = noisy()
    knn = KNN("l2", vote=vote, tune=True, random_state=4).fit(X, y)
    training, validation = hold_out(y, np.random.RandomState(4))
    gammas = GAMMAS if vote == "exponential" else (0.05,)
    apart = cdist(X[validation], X[training])
    near = [[(y[training[at]], row[at]) for at in np.argsort(row, kind="stable")] for row in apart]
    errors = {
        (k, gamma): np.mean(
            [
                reference_vote(row[:k], vote, gamma) != label
                for row, label in zip(near, y[validation], strict=True)
            ]
        )
        for k in range(1, 20)
        for gamma in gammas
    }
    best = min(errors, key=lambda each: (round(errors[each], 9), each))
    assert (knn.n_neighbors_, knn.gamma_) == best
    for k in range(1, 20):
        expected = min(errors[k, gamma] for gamma in gammas)
        assert knn.tuning_.errors[k - 1] == pytest.approx(expected)
        assert errors[k, knn.tuning_.gammas[k - 1]] == pytest.approx(expected)
    assert (knn.tuning_.n_training, knn.tuning_.n_validation) == (len(training), len(validation))
    # Afterward, the classifier is fitted to all documents.
    whole = KNN("l2", vote=vote, n_neighbors=knn.n_neighbors_, gamma=knn.gamma_).fit(X, y)
    assert_array_equal(knn.predict_proba(X[:20]), whole.predict_proba(X[:20]))


def test_ties_go_to_the_smallest_number():
    X = np.repeat([[0.0], [9.0]], 30, axis=0)
    knn = KNN("l2", tune=True, random_state=0).fit(X, np.repeat(["a", "b"], 30))
    assert knn.n_neighbors_ == 1
    assert knn.tuning_.errors.tolist() == [0] * 19


def test_measure_is_fitted_to_the_training_split_only():
    seen = []

    class Spy(TfIdf):
        def fit(self, X, y=None):
            seen.append(X.shape[0])
            return super().fit(X, y)

        def fit_transform(self, X, y=None):
            return self.fit(X, y).transform(X)

    bags = np.random.default_rng(0).poisson(1, size=(50, 6))
    KNN("cosine", model=Spy(), tune=True, random_state=0).fit(bags, noisy(50)[1])
    assert seen == [40, 50]


def test_tuning_of_texts_searches_once():
    colours = ("red", "blue", "green", "black", "white", "brown")
    texts = [f"{theme} {colour}" for theme in ("cat dog", "bank stock") for colour in colours]
    labels = ["pets"] * 6 + ["money"] * 6
    told = []
    knn = KNN(WordMover(word_weights="tfidf"), tune=True, random_state=0)
    knn.fit(texts, labels, progress=lambda *done: told.append(done))
    assert told[-1] == (2, 2)
    assert knn.n_neighbors_ == 1
    assert "1 of 1 to 19 neighbors, chosen on 2 documents of 12" in repr(knn.tuning_)
    again = clone(knn).fit(texts, labels)
    assert_array_equal(again.tuning_.errors, knn.tuning_.errors)


def test_tiny_sets():
    knn = KNN("l2", tune=True, random_state=0).fit([[1.0], [2.0]], [7, 7])
    assert (knn.n_neighbors_, knn.tuning_.n_training, knn.tuning_.n_validation) == (1, 1, 1)
    # The only document of a class stays in the training split.
    knn = KNN("l2", tune=True, random_state=0).fit([[1.0], [2.0], [9.0]], [7, 7, 8])
    assert knn.predict([[9.0]]).tolist() == [8]
    assert knn.tuning_.n_validation == 1
    with pytest.raises(ValueError, match="Pass n_neighbors instead"):
        KNN("l2", tune=True).fit([[1.0], [2.0]], [7, 8])
