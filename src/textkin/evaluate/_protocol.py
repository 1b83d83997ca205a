"""The papers' protocols: splits, choices on validation data, votes of neighbours, duplicates."""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from textkin._typing import BoolArray, Int64Array
from textkin.distance._near import NearRows

__all__ = [
    "best_of",
    "best_of_trials",
    "grid",
    "held_out",
    "mean_and_error",
    "repeated",
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


def held_out(labels: ArrayLike, share: float = 0.2, seed: int = 0) -> tuple[Int64Array, Int64Array]:
    """Split rows for choices: those to learn from, and those held out, in ascending order.

    Of every class about the same share is held out, also of one with few rows.

    Examples
    --------
    >>> rest, held = held_out(["a"] * 5 + ["b"] * 10)
    >>> len(rest), len(held), (held < 5).sum().item()
    (12, 3, 1)
    """
    labels = np.asarray(labels)
    if not 0 < share < 1:
        raise ValueError(f"share must be between 0 and 1; got {share!r}.")
    if len(labels) < 2:
        raise ValueError(f"There must be at least 2 rows to hold some out; got {len(labels)}.")
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    # Every fifth of rows in the order of classes: shares are equal up to one row.
    steps = np.floor((np.arange(len(labels)) + 0.5) * share)
    chosen = np.diff(steps, prepend=0) > 0
    if not chosen.any():
        chosen[-1] = True
    return np.sort(order[~chosen]), np.sort(order[chosen])


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
    near: NearRows, labels: ArrayLike, most: int, *, rule: str = "fall-back"
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
    rule : {"fall-back", "majority"}
        "majority": the most frequent label, of equally frequent ones the least. "fall-back" is
        the rule of the WMD paper's code: that label if half of the neighbours have it, else again
        without the last two.

    Returns
    -------
    dict of int to ndarray
        A label for every query; the most frequent one where a query found nothing.
    """
    kinds, own = np.unique(np.asarray(labels), return_inverse=True)
    n, width = len(near), max(most, 1)
    lengths = np.diff(near.starts)
    at = np.full((n, width), -1, dtype=np.int64)
    rows = np.repeat(np.arange(n), lengths)
    places = np.arange(len(near.rows)) - np.repeat(near.starts[:-1], lengths)
    kept = places < width
    at[rows[kept], places[kept]] = own[near.rows[kept]]
    usual = np.bincount(own, minlength=len(kinds)).argmax() if len(own) else 0

    counts = np.zeros((n, len(kinds)), dtype=np.int64)
    found: dict[int, Any] = {}
    for k in range(1, width + 1):
        voters = np.flatnonzero(at[:, k - 1] >= 0)
        counts[voters, at[voters, k - 1]] += 1
        winner = counts.argmax(axis=1)
        if rule == "fall-back" and k > 2:
            winner = np.where(2 * counts.max(axis=1) < k, found[k - 2], winner)
        if k > 1:
            winner = np.where(lengths < k, found[k - 1], winner)
        found[k] = np.where(lengths == 0, usual, winner)
    return {k: kinds[winner] for k, winner in found.items()}


def repeated(documents: Iterable[object]) -> BoolArray:
    """Tell which documents stand before already: texts, or rows of bags.

    Examples
    --------
    >>> repeated(["a b", "c", "a b"])
    array([False, False,  True])
    """
    seen: set[bytes] = set()
    found = []
    for document in documents:
        digest = hashlib.sha256(repr(document).encode()).digest()
        found.append(digest in seen)
        seen.add(digest)
    return np.array(found, dtype=bool)
