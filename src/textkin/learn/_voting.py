"""How the nearest documents vote: each rule is a weight of every neighbour."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from textkin._typing import BoolArray, Float64Array, Int64Array
from textkin.distance._near import NearRows

__all__ = ["RULES", "Ballot", "VoteName", "Voting", "shares_of_classes"]

VoteName: TypeAlias = Literal["majority", "distance", "fall-back", "exponential"]
RULES: tuple[VoteName, ...] = ("majority", "distance", "fall-back", "exponential")


@dataclass(frozen=True, slots=True, eq=False)
class Ballot:
    """The neighbours of many documents as two tables, the nearest first.

    Attributes
    ----------
    labels : ndarray of shape (n_queries, k), int64
        The class of each neighbour; -1 where fewer were found.
    distances : ndarray of the same shape, float64
        How far it is; infinity where fewer were found.
    """

    labels: Int64Array
    distances: Float64Array

    @classmethod
    def of(cls, found: NearRows, labels: Int64Array) -> "Ballot":
        """Give neighbours their labels; `labels` has one for each document of the corpus."""
        counts = np.diff(found.starts)
        shape = len(found), int(counts.max(initial=0))
        there = np.arange(shape[1]) < counts[:, None]
        ballot = cls(np.full(shape, -1, dtype=np.int64), np.full(shape, np.inf))
        ballot.labels[there] = labels[found.rows]
        ballot.distances[there] = found.distances
        return ballot

    def first(self, k: int) -> "Ballot":
        """Return the `k` nearest of each document."""
        return Ballot(self.labels[:, :k], self.distances[:, :k])

    @property
    def there(self) -> BoolArray:
        """Where a neighbour was found."""
        return self.labels >= 0


@dataclass(frozen=True, slots=True)
class Voting:
    """A rule, and what it is set to.

    Attributes
    ----------
    rule : {"majority", "distance", "fall-back", "exponential"}
        See `NearestNeighborClassifier`.
    gamma : float
        How quickly votes fall with the distance; only "exponential" has a use for it.
    """

    rule: VoteName
    gamma: float

    def weights(self, ballot: Ballot, n_classes: int) -> Float64Array:
        """Return what each neighbour's vote counts, of any scale in a row, at least 0.

        Each row with a neighbour has a weight above 0; where none was found it is 0.
        """
        there = ballot.there
        if self.rule == "majority" or not there.any():
            return there.astype(np.float64)
        if self.rule == "fall-back":
            return _fallen_back(ballot, n_classes)
        nearest = ballot.distances[:, :1]
        # As parts of the weight of the nearest, so that none overflows and not all vanish.
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
    """Return what share of the votes each class has, for each document.

    Parameters
    ----------
    ballot : Ballot
        The neighbours.
    weights : ndarray of the same shape
        What their votes count.
    otherwise : ndarray of shape (n_classes,)
        The shares where there is no neighbour.

    Returns
    -------
    ndarray of shape (n_queries, n_classes), float64
        Rows sum to 1.
    """
    votes = _votes(ballot, weights, len(otherwise))
    total = votes.sum(axis=1, keepdims=True)
    empty = total == 0
    return np.where(empty, otherwise, votes / np.where(empty, 1.0, total))


def _votes(ballot: Ballot, weights: Any, n_classes: int) -> Float64Array:  # noqa: ANN401
    """Sum the weights by class, in the order of the neighbours."""
    there = ballot.there
    rows = np.broadcast_to(np.arange(len(there))[:, None], there.shape)[there]
    cells = rows * n_classes + ballot.labels[there]
    summed = np.bincount(cells, weights[there], minlength=len(there) * n_classes)
    return np.asarray(summed, dtype=np.float64).reshape(len(there), n_classes)


def _fallen_back(ballot: Ballot, n_classes: int) -> Float64Array:
    """Drop the two farthest as long as the most frequent class has less than half of the votes."""
    there = ballot.there
    k: Int64Array = there.sum(axis=1)
    while True:
        kept = np.arange(there.shape[1]) < k[:, None]
        most = _votes(ballot, kept.astype(np.float64), n_classes).max(axis=1, initial=0)
        torn = 2 * most < k
        if not torn.any():
            weights: Float64Array = kept.astype(np.float64)
            return weights
        k = np.where(torn, k - 2, k)  # of two or one neighbours a class always has half
