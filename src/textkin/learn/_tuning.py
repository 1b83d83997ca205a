"""How many neighbours vote: chosen on documents that were held out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from textkin._typing import Float64Array, Int64Array
from textkin.learn._documents import part
from textkin.learn._measures import Measure
from textkin.learn._voting import Ballot, VoteName, Voting, shares_of_classes
from textkin.run import ProgressCallback

__all__ = ["GAMMAS", "MOST_NEIGHBORS", "Tuning", "hold_out", "tuned"]

MOST_NEIGHBORS = 19
GAMMAS: tuple[float, ...] = tuple(step / 200 for step in range(1, 21))  # 0.005, 0.010, ..., 0.1
_EACH = 5  # of so many documents one is held out


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tuning:
    """What the choice of the number of neighbours rests on.

    Attributes
    ----------
    n_neighbors : int
        The number with the smallest error, the smallest such number.
    gamma : float
        The `gamma` that goes with it.
    errors : ndarray of shape (19,), float64
        The error of 1, 2, ..., 19 neighbours on the documents that were held out, 0 to 1.
    gammas : ndarray of shape (19,), float64
        The `gamma` behind each of these errors: with ``vote="exponential"`` the one of the
        smallest error, the smallest such one; else as it was given.
    n_training, n_validation : int
        How many documents were searched, and how many were held out.
    """

    n_neighbors: int
    gamma: float
    errors: Float64Array
    gammas: Float64Array
    n_training: int
    n_validation: int

    def __repr__(self) -> str:
        each = ", ".join(f"{k}: {100 * error:.2f}" for k, error in enumerate(self.errors, 1))
        return (
            f"Tuning: {self.n_neighbors} of 1 to {MOST_NEIGHBORS} neighbours, chosen on "
            f"{self.n_validation:,} documents of {self.n_training + self.n_validation:,}\n"
            f"  error in percent: {each}"
        )


def hold_out(labels: Int64Array, random: np.random.RandomState) -> tuple[Int64Array, Int64Array]:
    """Return the positions of four fifths of the documents, and of a fifth, class by class.

    Documents are put in random order within their classes, one class after the other, and every
    fifth is held out: a class has its part of the fifth, give or take one document. A class of
    one document stays; of few documents in all at least one is held out.

    Raises
    ------
    ValueError
        If no class has two documents.
    """
    order = random.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    splits = order[np.bincount(labels)[labels[order]] > 1]
    if not len(splits):
        raise ValueError(
            "tune=True holds documents out, and needs a class with at least two; each class has "
            "one. Set n_neighbors instead."
        )
    held = splits[min(_EACH // 2, len(splits) - 1) :: _EACH]
    return np.setdiff1d(order, held), np.sort(held)


def tuned(
    make: Callable[[], Measure],
    documents: Any,  # noqa: ANN401 (what `listed` returned)
    labels: Int64Array,
    n_classes: int,
    vote: VoteName,
    gamma: float,
    random: np.random.RandomState,
    progress: ProgressCallback | None,
) -> Tuning:
    """Choose the number of neighbours, in one search for the documents that are held out.

    Its lists are as long as the largest number; their beginnings serve the smaller ones.
    """
    training, validation = hold_out(labels, random)
    measure = make().fit(part(documents, training))
    found = measure.nearest(part(documents, validation), MOST_NEIGHBORS, progress=progress)
    ballot = Ballot.of(found, labels[training])
    otherwise = np.bincount(labels[training], minlength=n_classes) / len(training)
    choices = GAMMAS if vote == "exponential" else (gamma,)
    errors = np.empty((len(choices), MOST_NEIGHBORS))
    for row, choice in enumerate(choices):
        voting = Voting(vote, choice)
        for k in range(1, MOST_NEIGHBORS + 1):
            some = ballot.first(k)
            shares = shares_of_classes(some, voting.weights(some, n_classes), otherwise)
            errors[row, k - 1] = np.mean(shares.argmax(axis=1) != labels[validation])
    best = errors.argmin(axis=0)  # the first of equal ones, here and below
    of_each = errors[best, np.arange(MOST_NEIGHBORS)]
    gammas = np.asarray(choices)[best]
    at = int(of_each.argmin())
    return Tuning(at + 1, float(gammas[at]), of_each, gammas, len(training), len(validation))
