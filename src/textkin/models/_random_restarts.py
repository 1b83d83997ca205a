"""Choice of the best of several fits from random initializations."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from textkin.run import ProgressCallback

__all__ = ["StepCounter", "best_of_starts"]


class _Scored(Protocol):
    @property
    def score(self) -> float: ...


_Fit = TypeVar("_Fit", bound=_Scored)

_SAME = 1e-6  # relative difference of scores that rounding to float32 may cause


def best_of_starts(
    fit: Callable[[Callable[[], object]], _Fit],
    *,
    n_init: int,
    max_iter: int,
    progress: ProgressCallback | None,
) -> _Fit:
    """Run a fit `n_init` times, and return the fit with the highest score.

    Fits often end at the same optimum, with topics or components in another order. Scores that
    differ by rounding only are therefore ties.

    Parameters
    ----------
    fit : callable
        Fits once. Its argument is a function to call after each step.
    n_init : int
        Number of fits.
    max_iter : int
        Maximum number of steps of a fit.
    progress : callable or None
        Called with (steps done, maximum number of steps of all fits).
    """
    total = n_init * max_iter
    best = fit(StepCounter(progress, 0, total))
    for start in range(1, n_init):
        found = fit(StepCounter(progress, start * max_iter, total))
        if found.score - best.score > _SAME * abs(best.score):
            best = found
    return best


class StepCounter:
    """Function that counts steps, and reports each of them to a progress callback.

    Parameters
    ----------
    progress : callable or None
        Called with (steps done, total).
    done : int
        Number of steps done before, such as those of earlier fits.
    total : int
        Maximum number of steps.
    """

    def __init__(self, progress: ProgressCallback | None, done: int, total: int) -> None:
        self.progress, self.done, self.total = progress, done, total

    def __call__(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total)
