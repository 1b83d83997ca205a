"""What the fits of mixtures begin with: tokens to fit to, and several starts to choose from."""

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from textkin._typing import Bags, Float64Array
from textkin.run import ProgressCallback
from textkin.weighting._rows import rows_of

__all__ = ["best_of_starts", "check_weights", "lengths_of"]


class _Scored(Protocol):
    @property
    def score(self) -> float: ...


_Fit = TypeVar("_Fit", bound=_Scored)

_SAME = 1e-6  # of a score, by which float32 may change it


def lengths_of(bags: Bags) -> Float64Array:
    """Return the sum of each document; refuse bags that have nothing, or too much, to fit to."""
    lengths: Float64Array = np.asarray(
        np.bincount(rows_of(bags), bags.data, bags.shape[0]), dtype=np.float64
    )
    with np.errstate(over="ignore"):
        check_weights(bags.nnz > 0, float(lengths.sum()))
    return lengths


def check_weights(has_words: bool, total: float) -> None:
    """Refuse weights that have nothing, or too much, to fit to."""
    if not has_words:
        raise ValueError("X must have words to find factors in; all its documents are empty.")
    with np.errstate(over="ignore"):
        likelihood = np.float64(1e3) * total  # of all words that are as rare as numbers can say
    if not np.isfinite(likelihood):
        raise ValueError("X must have weights with a finite sum; scale them down.")


def best_of_starts(
    fit: Callable[[Callable[[], object]], _Fit],
    *,
    n_init: int,
    max_iter: int,
    progress: ProgressCallback | None,
) -> _Fit:
    """Call `fit` so often and return what has the highest score, the first of equals.

    Starts often end at the same place, with topics or components in another order; rounding must
    not choose between them.

    It is given a function to call after each of at most `max_iter` steps.
    """
    total = n_init * max_iter
    best = fit(_Report(progress, 0, total))
    for start in range(1, n_init):
        found = fit(_Report(progress, start * max_iter, total))
        if found.score - best.score > _SAME * abs(best.score):
            best = found
    return best


class _Report:
    """Counts the steps of one fit among those of all."""

    def __init__(self, progress: ProgressCallback | None, done: int, total: int) -> None:
        self.progress, self.done, self.total = progress, done, total

    def __call__(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total)
