"""Choice of the number of neighbors by the error on a validation split."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from textkin._base import Float64Array, Int64Array, is_count
from textkin.learn._documents import part
from textkin.learn._measure import Measure
from textkin.learn._voting import Ballot, VoteName, Voting, shares_of_classes
from textkin.run import ProgressCallback

__all__ = ["GAMMAS", "MOST_NEIGHBORS", "Tuning", "hold_out", "tune_neighbors"]

MOST_NEIGHBORS = 19
GAMMAS: tuple[float, ...] = tuple(step / 200 for step in range(1, 21))  # 0.005, 0.010, ..., 0.1
_EACH = 5  # one of 5 documents is in the validation split


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tuning:
    """Validation error for each number of neighbors, and the best number.

    Attributes
    ----------
    n_neighbors : int
        Number of neighbors with the lowest error; ties go to the smallest number.
    gamma : float
        Value of `gamma` for this number.
    errors : ndarray of shape (19,), float64
        Error rate on the validation split for 1, 2, ..., 19 neighbors.
    gammas : ndarray of shape (19,), float64
        Value of `gamma` for each of these errors. With ``vote="exponential"``, the value with the
        lowest error (ties go to the smallest); otherwise the given value.
    n_training, n_validation : int
        Number of documents in the training split and in the validation split.
    """

    n_neighbors: int
    gamma: float
    errors: Float64Array
    gammas: Float64Array
    n_training: int
    n_validation: int

    def _saved_parts(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def _of_saved_parts(cls, parts: Mapping[str, Any]) -> "Tuning":
        made = cls(**parts)
        whole = made.n_neighbors, made.n_training, made.n_validation
        arrays = made.errors, made.gammas
        if not all(is_count(number) for number in whole) or not all(
            isinstance(array, np.ndarray)
            and array.dtype == np.float64
            and array.shape == (MOST_NEIGHBORS,)
            for array in arrays
        ):
            raise ValueError("tuning_ must hold counts, and an error for each number of neighbors")
        return made

    def __repr__(self) -> str:
        each = ", ".join(f"{k}: {100 * error:.2f}" for k, error in enumerate(self.errors, 1))
        return (
            f"Tuning: {self.n_neighbors} of 1 to {MOST_NEIGHBORS} neighbors, chosen on "
            f"{self.n_validation:,} documents of {self.n_training + self.n_validation:,}\n"
            f"  error in percent: {each}"
        )


def hold_out(labels: Int64Array, random: np.random.RandomState) -> tuple[Int64Array, Int64Array]:
    """Split documents 4:1 into training and validation positions, stratified by class.

    Documents are shuffled within their classes, and every fifth document of all classes in
    sequence is in the validation split: the share of a class is exact up to one document. The
    only document of a class stays in the training split. The validation split has at least one
    document.

    Returns
    -------
    training, validation : ndarray of int64
        Positions, in ascending order.

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
            "y must have a class with at least two documents for tune=True, which holds some out; "
            "each class has one. Pass n_neighbors instead."
        )
    held = splits[min(_EACH // 2, len(splits) - 1) :: _EACH]
    return np.setdiff1d(order, held), np.sort(held)


def tune_neighbors(
    make: Callable[[], Measure],
    documents: Any,  # noqa: ANN401 (what `listed` returned)
    labels: Int64Array,
    n_classes: int,
    vote: VoteName,
    gamma: float,
    random: np.random.RandomState,
    progress: ProgressCallback | None,
) -> Tuning:
    """Choose the number of neighbors that has the lowest error on a validation split.

    The search finds the largest number of neighbors; prefixes serve the smaller numbers.
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
    best = errors.argmin(axis=0)  # ties go to the first, also below
    of_each = errors[best, np.arange(MOST_NEIGHBORS)]
    gammas = np.asarray(choices)[best]
    at = int(of_each.argmin())
    return Tuning(at + 1, float(gammas[at]), of_each, gammas, len(training), len(validation))
