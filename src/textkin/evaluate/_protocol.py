"""The papers' protocols: splits, choices on validation data, votes of neighbours."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from textkin._typing import Int64Array
from textkin.distance._near import NearRows
from textkin.learn._tuning import hold_out
from textkin.learn._voting import Ballot, VoteName, Voting, shares_of_classes

__all__ = [
    "best_of",
    "best_of_trials",
    "grid",
    "held_out",
    "mean_and_error",
    "votes",
]

_T = TypeVar("_T")

NEIGHBOURS = tuple(range(1, 20))
"""The numbers of neighbours to choose from (Kusner et al., section 5)."""


def mean_and_error(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error, s / sqrt(n); that of one number is 0.

    Examples
    --------
    >>> mean_and_error([3.0, 5.0])
    (4.0, 1.0)
    """
    if not numbers:
        raise ValueError("There must be at least one number to take the mean of.")
    mean = math.fsum(numbers) / len(numbers)
    if len(numbers) == 1:
        return mean, 0.0
    variance = math.fsum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1)
    return mean, math.sqrt(variance / len(numbers))


def held_out(labels: ArrayLike, seed: int = 0) -> tuple[Int64Array, Int64Array]:
    """Split rows for choices: four fifths to learn from, and a fifth held out, class by class.

    The same as `NearestNeighborClassifier(tune=True)` does.

    Examples
    --------
    >>> rest, held = held_out(["a"] * 5 + ["b"] * 10)
    >>> len(rest), len(held), (held < 5).sum().item()
    (12, 3, 1)
    """
    _, own = np.unique(np.asarray(labels), return_inverse=True)
    return hold_out(own.astype(np.int64), np.random.RandomState(seed))


def grid(**choices: Sequence[Any]) -> list[dict[str, Any]]:
    """Return all combinations of settings, the last ones changing fastest.

    Examples
    --------
    >>> grid(noise=[0.5, 0.8], layers=[1, 2])[1]
    {'noise': 0.5, 'layers': 2}
    """
    return [dict(zip(choices, each, strict=True)) for each in product(*choices.values())]


def best_of(settings: Iterable[_T], error: Callable[[_T], float]) -> tuple[_T, float]:
    """Return the setting with the least error on validation data, the first on ties; and that."""
    best: tuple[_T, float] | None = None
    for setting in settings:
        found = error(setting)
        if best is None or found < best[1]:
            best = setting, found
    if best is None:
        raise ValueError("There must be at least one setting to choose from.")
    return best


def best_of_trials(
    error: Callable[[Mapping[str, Any]], float],
    ranges: Mapping[str, tuple[float, float] | Sequence[Any]],
    n_trials: int,
    seed: int = 0,
) -> tuple[dict[str, Any], float]:
    """Choose settings by Bayesian optimisation, as the papers do; needs Optuna.

    Parameters
    ----------
    error : callable
        Of settings; that on validation data.
    ranges : mapping
        For each setting a pair (low, high) of numbers, whole ones if both are, or a list of
        choices.
    n_trials : int
        How many settings are tried.
    seed : int, default=0
        Of the search.

    Raises
    ------
    ImportError
        If Optuna is not installed.
    """
    try:
        optuna: Any = import_module("optuna")
    except ImportError as problem:
        raise ImportError(
            "Bayesian optimisation needs Optuna: pip install 'textkin[evaluate]'."
        ) from problem

    def suggested(trial: Any) -> dict[str, Any]:  # noqa: ANN401 (Optuna's)
        found: dict[str, Any] = {}
        for name, allowed in ranges.items():
            if not isinstance(allowed, tuple):
                found[name] = trial.suggest_categorical(name, list(allowed))
            elif all(isinstance(end, int) for end in allowed):
                found[name] = trial.suggest_int(name, *allowed)
            else:
                found[name] = trial.suggest_float(name, *allowed)
        return found

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(lambda trial: error(suggested(trial)), n_trials=n_trials)
    return dict(study.best_params), float(study.best_value)


def votes(
    near: NearRows, labels: ArrayLike, most: int, *, rule: VoteName = "fall-back"
) -> dict[int, Any]:
    """Return the labels that neighbours vote for, for each number of them from 1 to `most`.

    One search serves all numbers: the nearest five are the first five of the nearest nineteen.

    Parameters
    ----------
    near : NearRows
        The neighbours of every query, the nearest first.
    labels : array-like
        Of the rows that were searched.
    most : int
        The largest number of neighbours.
    rule : {"fall-back", "majority", "distance"}
        As for `NearestNeighborClassifier`; "fall-back" is the rule of the WMD paper's code.

    Returns
    -------
    dict of int to ndarray
        A label for every query; the most frequent one where a query found nothing.
    """
    kinds, own = np.unique(np.asarray(labels), return_inverse=True)
    ballot = Ballot.of(near, own.astype(np.int64))
    otherwise = np.bincount(own, minlength=len(kinds)) / len(own)
    voting = Voting(rule, gamma=1.0)
    found = {}
    for k in range(1, most + 1):
        some = ballot.first(k)
        shares = shares_of_classes(some, voting.weights(some, len(kinds)), otherwise)
        found[k] = kinds[shares.argmax(axis=1)]
    return found
