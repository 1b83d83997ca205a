"""Protocols of the papers: splits, choices on validation data, and votes of neighbors."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from textkin._base import Int64Array
from textkin.corpus import RankedRows
from textkin.learn import Ballot, VoteName, Voting, hold_out, shares_of_classes

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
"""Candidate numbers of neighbors (Kusner et al., section 5)."""


def mean_and_error(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error, s / sqrt(n); the error of one number is 0.

    Examples
    --------
    >>> mean_and_error([3.0, 5.0])
    (4.0, 1.0)
    """
    if not numbers:
        raise ValueError("numbers must have at least one number; got none.")
    mean = math.fsum(numbers) / len(numbers)
    if len(numbers) == 1:
        return mean, 0.0
    variance = math.fsum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1)
    return mean, math.sqrt(variance / len(numbers))


def held_out(labels: ArrayLike, seed: int = 0) -> tuple[Int64Array, Int64Array]:
    """Split rows into four fifths for training and a stratified fifth for validation.

    The split is the same as in `NearestNeighborClassifier(tune=True)`.

    Examples
    --------
    >>> rest, held = held_out(["a"] * 5 + ["b"] * 10)
    >>> len(rest), len(held), (held < 5).sum().item()
    (12, 3, 1)
    """
    _, own = np.unique(np.asarray(labels), return_inverse=True)
    return hold_out(own.astype(np.int64), np.random.RandomState(seed))


def grid(**choices: Sequence[Any]) -> list[dict[str, Any]]:
    """Return all combinations of settings; the last setting changes fastest.

    Examples
    --------
    >>> grid(noise=[0.5, 0.8], layers=[1, 2])[1]
    {'noise': 0.5, 'layers': 2}
    """
    return [dict(zip(choices, each, strict=True)) for each in product(*choices.values())]


def best_of(settings: Iterable[_T], error: Callable[[_T], float]) -> tuple[_T, float]:
    """Return the setting with the lowest validation error, and that error; ties go to the first."""
    best: tuple[_T, float] | None = None
    for setting in settings:
        found = error(setting)
        if best is None or found < best[1]:
            best = setting, found
    if best is None:
        raise ValueError("settings must have at least one setting; got none.")
    return best


def best_of_trials(
    error: Callable[[Mapping[str, Any]], float],
    ranges: Mapping[str, tuple[float, float] | Sequence[Any]],
    n_trials: int,
    seed: int = 0,
) -> tuple[dict[str, Any], float]:
    """Choose settings by Bayesian optimization, as in the papers; requires Optuna.

    Parameters
    ----------
    error : callable
        Function of settings that returns the validation error.
    ranges : mapping
        For each setting, a pair (low, high) of numbers or a list of choices. If both numbers are
        integers, the setting is an integer.
    n_trials : int
        Number of trials.
    seed : int, default=0
        Random seed of the search.

    Raises
    ------
    ImportError
        If Optuna is not installed.
    """
    try:
        optuna: Any = import_module("optuna")
    except ImportError as problem:
        raise ImportError(
            "Bayesian optimization requires Optuna: pip install 'textkin[evaluate]'."
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
    near: RankedRows, labels: ArrayLike, most: int, *, rule: VoteName = "fall-back"
) -> dict[int, Any]:
    """Return the labels chosen by the votes of k neighbors, for each k from 1 to `most`.

    One search serves all k: the five nearest are the first five of the 19 nearest.

    Parameters
    ----------
    near : RankedRows
        Neighbors of every query, nearest first.
    labels : array-like
        Labels of the searched rows.
    most : int
        Largest number of neighbors.
    rule : {"fall-back", "majority", "distance"}
        Voting rule of `NearestNeighborClassifier`; "fall-back" is the rule of Kusner et al.

    Returns
    -------
    dict of int to ndarray
        Label of every query, by k. A query without neighbors has the most frequent label.
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
