"""Voting rules compared with their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsClassifier

from textkin import NearestNeighborClassifier as KNN
from textkin.corpus import RankedRows
from textkin.learn._voting import RULES, Ballot, Voting, shares_of_classes
from voting_reference import reference_vote


def ballot_of(rows):
    """Return a ballot of lists of (label, distance)."""
    found = [
        (np.arange(len(row), dtype=np.int64) + start, np.array([d for _, d in row], dtype=float))
        for start, row in zip(np.cumsum([0, *map(len, rows)]), rows, strict=False)
    ]
    labels = np.array([label for row in rows for label, _ in row], dtype=np.int64)
    return Ballot.of(RankedRows.of(found), labels)


neighbours = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, 4.0])),
    min_size=1,
    max_size=9,
).map(lambda row: sorted(row, key=lambda each: each[1]))


@given(rows=st.lists(neighbours, min_size=1, max_size=6), rule=st.sampled_from(RULES))
def test_rules_equal_their_definitions(rows, rule):
    ballot = ballot_of(rows)
    weights = Voting(rule, 0.7).weights(ballot, 4)
    shares = shares_of_classes(ballot, weights, np.full(4, 0.25))
    assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    for row, found in zip(rows, shares, strict=True):
        answer = reference_vote(row, rule, 0.7)
        # Sums that differ only by rounding can go to either class.
        assert found.argmax() == answer or found.max() - found[answer] < 1e-12


def test_fall_back_matches_worked_example():
    """METHODS 4.2: two of five votes are too few, and one of three, so the nearest decides."""
    ballot = ballot_of([[(label, at) for at, label in enumerate([0, 1, 2, 1, 0])]])
    weights = Voting("fall-back", 1).weights(ballot, 3)
    assert weights.tolist() == [[1, 0, 0, 0, 0]]
    assert shares_of_classes(ballot, weights, np.ones(3) / 3).tolist() == [[1, 0, 0]]


def test_ties_go_to_the_first_class():
    X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), ["b", "a", "b", "a"]
    for vote in ("majority", "fall-back"):
        knn = KNN("l2", n_neighbors=4, vote=vote).fit(X, y)
        assert knn.predict([[0.0]]).tolist() == ["a"]
        assert knn.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize(("vote", "weights"), [("majority", "uniform"), ("distance", "distance")])
def test_distance_weights_equal_scikit_learn(vote, weights):
    random = np.random.default_rng(3)
    X, Q = random.normal(size=(60, 3)), random.normal(size=(40, 3))
    Q[:5] = X[:5]  # at distance 0
    y = random.integers(0, 4, size=60)
    ours = KNN("l2", n_neighbors=7, vote=vote).fit(X, y)
    theirs = KNeighborsClassifier(7, weights=weights, algorithm="brute").fit(X, y)
    assert_allclose(ours.predict_proba(Q), theirs.predict_proba(Q), atol=1e-9)
    assert_array_equal(ours.predict(Q), theirs.predict(Q))


@pytest.mark.parametrize("vote", RULES)
@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1.0, 1e150])
def test_votes_at_extreme_distances(vote, scale):
    X = np.array([[1.0], [2.0], [4.0]]) * scale
    shares = KNN("l1", n_neighbors=3, vote=vote, gamma=1e-3).fit(X, [1, 2, 2]).predict_proba([[0]])
    assert_allclose(shares.sum(axis=1), 1)
    if vote == "distance":
        assert_allclose(shares, [[4 / 7, 3 / 7]])
