"""Measures of the semantic textual similarity (STS) tasks: correlations with human scores.

Scores may be on any scale: Pearson's correlation depends only on their linear relation with the
gold scores, and Spearman's only on their order. The undefined correlation of constant values, or
of fewer than two pairs, is returned as 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from textkin._base import Float64Array
from textkin.exceptions import ParameterError

__all__ = ["STSScores", "fitted", "pearson", "spearman", "sts_scores"]


@dataclass(frozen=True, slots=True)
class STSScores:
    """Correlations of one system on each set of an STS task, and their averages.

    Attributes
    ----------
    sets : dict from str to float
        Pearson's correlation within each set, in the order of first occurrence.
    everything : float
        ALL: Pearson's correlation over the pairs of all sets.
    normalized : float
        ALLnrm: ALL after the scores of each set are fitted to its gold scores by least squares.
        The fit reverses a negative correlation.
    mean : float
        Mean: mean of `sets`, weighted by the number of pairs.
    """

    sets: dict[str, float]
    everything: float
    normalized: float
    mean: float

    def to_dict(self) -> dict[str, float]:
        """Return the correlations per set and the three averages, by name.

        Raises
        ------
        ValueError
            If a set has the name of one of the three measures.
        """
        whole = {"ALL": self.everything, "ALLnrm": self.normalized, "Mean": self.mean}
        if taken := self.sets.keys() & whole.keys():
            raise ValueError(
                f"sets must not be named {', '.join(map(repr, whole))}; got {min(taken)!r}. "
                "Rename it, or use `sets`, `everything`, `normalized`, and `mean`."
            )
        return {**self.sets, **whole}


def sts_scores(sets: Sequence[str], gold: ArrayLike, scores: ArrayLike) -> STSScores:
    """Compute the measures of the STS tasks from human scores and similarity scores.

    Parameters
    ----------
    sets : sequence of str
        Set of each pair.
    gold, scores : array-like of shape (n_pairs,)
        Human scores, and scores of the system.

    Returns
    -------
    STSScores
        Correlations from -1 to 1; higher is better.

    References
    ----------
    Agirre, Cer, Diab and Gonzalez-Agirre, "SemEval-2012 Task 6: A Pilot on Semantic Textual
    Similarity", First Joint Conference on Lexical and Computational Semantics, 2012.

    Examples
    --------
    >>> from textkin.evaluate import sts_scores
    >>> found = sts_scores("aaabbb", [0, 2, 4, 1, 3, 5], [0.1, 0.2, 0.3, 0.7, 0.5, 0.9])
    >>> {name: round(value, 4) for name, value in found.to_dict().items()}
    {'a': 1.0, 'b': 0.5, 'ALL': 0.5376, 'ALLnrm': 0.8106, 'Mean': 0.75}
    """
    wanted, given = _checked(gold, scores)
    names = np.asarray(list(sets), dtype=object)
    if names.shape != wanted.shape:
        raise ValueError(f"sets must name {len(wanted)} pairs, as gold does; got {len(names)}.")
    of_sets: dict[str, float] = {}
    refitted = np.empty_like(given)
    mean = 0.0
    for name in dict.fromkeys(names):
        of_set = names == name
        of_sets[str(name)] = pearson(wanted[of_set], given[of_set])
        refitted[of_set] = fitted(wanted[of_set], given[of_set])
        mean += of_sets[str(name)] * float(of_set.mean())
    return STSScores(of_sets, pearson(wanted, given), pearson(wanted, refitted), mean)


def pearson(gold: ArrayLike, scores: ArrayLike) -> float:
    """Compute Pearson's correlation of two lists; 0 if one is constant or empty.

    Parameters
    ----------
    gold, scores : array-like of shape (n_pairs,)
        Human scores, and scores of the system.

    Returns
    -------
    float
        Correlation from -1 to 1.
    """
    sides = [_centred(side) for side in _checked(gold, scores)]
    return float(np.clip(sides[0] @ sides[1], -1, 1))


def spearman(gold: ArrayLike, scores: ArrayLike) -> float:
    """Compute Spearman's rank correlation of two lists; tied values get their mean rank.

    Parameters
    ----------
    gold, scores : array-like of shape (n_pairs,)
        Human scores, and scores of the system.

    Returns
    -------
    float
        Correlation from -1 to 1.
    """
    from scipy.stats import rankdata  # importing takes a second

    ranks = [np.asarray(rankdata(side)) for side in _checked(gold, scores)]
    return pearson(*ranks)


def fitted(gold: ArrayLike, scores: ArrayLike) -> Float64Array:
    """Return `scores` transformed linearly to fit `gold` by least squares.

    Parameters
    ----------
    gold, scores : array-like of shape (n_pairs,)
        Human scores, and scores of the system. Constant scores become the mean of `gold`.

    Returns
    -------
    ndarray of shape (n_pairs,)
        Fitted scores a * scores + b.
    """
    wanted, given = _checked(gold, scores)
    if not len(wanted):
        return wanted
    direction = _centred(given)
    middle = wanted.mean()
    near: Float64Array = middle + (direction @ (wanted - middle)) * direction
    return near


def _checked(gold: ArrayLike, scores: ArrayLike) -> tuple[Float64Array, Float64Array]:
    sides = [np.asarray(side, dtype=np.float64) for side in (gold, scores)]
    if sides[0].ndim != 1 or sides[0].shape != sides[1].shape:
        raise ValueError(
            f"gold and scores must be two lists of equal length; got shapes {sides[0].shape} and "
            f"{sides[1].shape}."
        )
    for name, side in zip(("gold", "scores"), sides, strict=True):
        if not np.isfinite(side).all():
            at = int(np.flatnonzero(~np.isfinite(side))[0])
            raise ParameterError(name, "finite numbers", f"{side[at]} for pair {at}")
    return sides[0], sides[1]


def _centred(values: Float64Array) -> Float64Array:
    """Subtract the mean, and divide by the L2 norm; constant values give zeros."""
    if len(values) == 0 or values.min() == values.max():  # rounding can separate the mean
        return np.zeros(len(values))
    # Scaling by a power of two is exact, and prevents overflow and underflow of squares.
    apart = np.ldexp(values, -int(np.frexp(np.abs(values).max())[1]))
    apart -= apart.mean()
    unit: Float64Array = apart / np.linalg.norm(apart)
    return unit
