"""Voting rules of nearest-neighbor classification: vote weights and class shares."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from textkin._base import BoolArray, Float64Array, Int64Array
from textkin.corpus import RankedRows

__all__ = ["RULES", "Ballot", "VoteName", "Voting", "shares_of_classes"]

VoteName: TypeAlias = Literal["majority", "distance", "fall-back", "exponential"]
RULES: tuple[VoteName, ...] = ("majority", "distance", "fall-back", "exponential")


@dataclass(frozen=True, slots=True, eq=False)
class Ballot:
    """Class and distance of each neighbor of many documents, nearest first, as 2-D arrays.

    Attributes
    ----------
    labels : ndarray of shape (n_queries, k), int64
        Class of each neighbor; -1 past the last neighbor.
    distances : ndarray of shape (n_queries, k), float64
        Distance of each neighbor; infinity past the last neighbor.
    """

    labels: Int64Array
    distances: Float64Array

    @classmethod
    def of(cls, found: RankedRows, labels: Int64Array) -> "Ballot":
        """Create a ballot from a search result and the class of each searched document."""
        counts = np.diff(found.indptr)
        shape = len(found), int(counts.max(initial=0))
        there = np.arange(shape[1]) < counts[:, None]
        ballot = cls(np.full(shape, -1, dtype=np.int64), np.full(shape, np.inf))
        ballot.labels[there] = labels[found.rows]
        ballot.distances[there] = found.scores
        return ballot

    def first(self, k: int) -> "Ballot":
        """Return a ballot with only the `k` nearest neighbors of each document."""
        return Ballot(self.labels[:, :k], self.distances[:, :k])

    @property
    def there(self) -> BoolArray:
        """Mask of the entries that hold a neighbor, not padding."""
        return self.labels >= 0


@dataclass(frozen=True, slots=True)
class Voting:
    """Voting rule (such as majority or distance-weighted) with its parameter.

    Attributes
    ----------
    rule : {"majority", "distance", "fall-back", "exponential"}
        Rule, see `NearestNeighborClassifier`.
    gamma : float
        Scale of the distance, for "exponential" only.
    """

    rule: VoteName
    gamma: float

    def weights(self, ballot: Ballot, n_classes: int) -> Float64Array:
        """Return the weight of each neighbor's vote, at least 0; only ratios within a row matter.

        Each row with a neighbor has a positive weight. Past the last neighbor, weights are 0.
        """
        there = ballot.there
        if self.rule == "majority" or not there.any():
            return there.astype(np.float64)
        if self.rule == "fall-back":
            return _fall_back(ballot, n_classes)
        nearest = ballot.distances[:, :1]
        # Relative to the weight of the nearest neighbor: no overflow, and not all are 0.
        with np.errstate(invalid="ignore", over="ignore"):
            if self.rule == "distance":
                equal = np.where(there, ballot.distances == 0, False)
                weights = np.where(nearest == 0, equal, nearest / ballot.distances)
            else:
                weights = np.exp((nearest - ballot.distances) / self.gamma)
        return np.where(there, weights, 0.0)


def shares_of_classes(
    ballot: Ballot, weights: Float64Array, otherwise: Float64Array
) -> Float64Array:
    """Return the share of the vote weights that each class receives, per document.

    Parameters
    ----------
    ballot : Ballot
        Neighbors.
    weights : ndarray of shape (n_queries, k)
        Weights of their votes.
    otherwise : ndarray of shape (n_classes,)
        Shares for documents without neighbors.

    Returns
    -------
    ndarray of shape (n_queries, n_classes), float64
        Shares; rows sum to 1.
    """
    votes = _sum_votes(ballot, weights, len(otherwise))
    total = votes.sum(axis=1, keepdims=True)
    empty = total == 0
    return np.where(empty, otherwise, votes / np.where(empty, 1.0, total))


def _sum_votes(ballot: Ballot, weights: Any, n_classes: int) -> Float64Array:  # noqa: ANN401
    """Sum the vote weights of each class, in the order of the neighbors."""
    there = ballot.there
    rows = np.broadcast_to(np.arange(len(there))[:, None], there.shape)[there]
    cells = rows * n_classes + ballot.labels[there]
    summed = np.bincount(cells, weights[there], minlength=len(there) * n_classes)
    return np.asarray(summed, dtype=np.float64).reshape(len(there), n_classes)


def _fall_back(ballot: Ballot, n_classes: int) -> Float64Array:
    """Compute votes by dropping the two farthest neighbors until a class has at least half."""
    there = ballot.there
    k: Int64Array = there.sum(axis=1)
    while True:
        kept = np.arange(there.shape[1]) < k[:, None]
        most = _sum_votes(ballot, kept.astype(np.float64), n_classes).max(axis=1, initial=0)
        torn = 2 * most < k
        if not torn.any():
            weights: Float64Array = kept.astype(np.float64)
            return weights
        # The loop ends, because a class has at least half of the votes of 1 or 2 neighbors.
        k = np.where(torn, k - 2, k)
