"""How well scores of sentence pairs follow those of people: the measures of the STS tasks.

Scores may be on any scale; only their linear relation with the gold scores counts, and for
Spearman's correlation only their order. A correlation of a constant, or of fewer than two pairs,
is not defined; here it is 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from textkin._typing import Float64Array

__all__ = ["STSScores", "fitted", "pearson", "spearman", "sts_scores"]


@dataclass(frozen=True, slots=True)
class STSScores:
    """What the STS tasks report of a system.

    Attributes
    ----------
    sets : dict from str to float
        Pearson's correlation within each set, in the order in which the sets come.
    everything : float
        ALL: Pearson's correlation over the pairs of all sets together.
    normalised : float
        ALLnrm: the same after the scores of each set were fitted to its gold scores by least
        squares. A set in which the two run against each other counts as if they ran together.
    mean : float
        Mean: the mean of `sets`, each weighed by its number of pairs.
    """

    sets: dict[str, float]
    everything: float
    normalised: float
    mean: float

    def as_dict(self) -> dict[str, float]:
        """Return the sets and the three measures by their names in the tasks.

        Raises
        ------
        ValueError
            For a set that is called like one of the three.
        """
        whole = {"ALL": self.everything, "ALLnrm": self.normalised, "Mean": self.mean}
        if taken := self.sets.keys() & whole.keys():
            raise ValueError(
                f"no set may be called {', '.join(map(repr, whole))} here; got {min(taken)!r}. "
                "Rename it, or take `sets`, `everything`, `normalised` and `mean`."
            )
        return {**self.sets, **whole}


def sts_scores(sets: Sequence[str], gold: ArrayLike, scores: ArrayLike) -> STSScores:
    """Return the measures of the STS tasks of 2012 and later.

    Parameters
    ----------
    sets : sequence of str
        The set of each pair.
    gold, scores : array-like of shape (n_pairs,)
        What people said, and what the system says.

    Returns
    -------
    STSScores
        Correlations between -1 and 1; 1 is best.

    References
    ----------
    Agirre, Cer, Diab and Gonzalez-Agirre, "SemEval-2012 Task 6: A Pilot on Semantic Textual
    Similarity", *SEM 2012.

    Examples
    --------
    >>> from textkin.evaluate import sts_scores
    >>> found = sts_scores("aaabbb", [0, 2, 4, 1, 3, 5], [0.1, 0.2, 0.3, 0.7, 0.5, 0.9])
    >>> {name: round(value, 4) for name, value in found.as_dict().items()}
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
    """Return Pearson's correlation; 0 where one side is constant or empty.

    Parameters
    ----------
    gold, scores : array-like of shape (n_pairs,)
        The two sides.

    Returns
    -------
    float
        Between -1 and 1.
    """
    sides = [_centred(side) for side in _checked(gold, scores)]
    return float(np.clip(sides[0] @ sides[1], -1, 1))


def spearman(gold: ArrayLike, scores: ArrayLike) -> float:
    """Return Spearman's correlation: Pearson's of the ranks, equal values sharing theirs.

    Parameters
    ----------
    gold, scores : array-like of shape (n_pairs,)
        The two sides.

    Returns
    -------
    float
        Between -1 and 1.
    """
    from scipy.stats import rankdata  # a second to import

    ranks = [np.asarray(rankdata(side)) for side in _checked(gold, scores)]
    return pearson(*ranks)


def fitted(gold: ArrayLike, scores: ArrayLike) -> Float64Array:
    """Return a * scores + b with the a and b that come nearest `gold` by least squares.

    Parameters
    ----------
    gold, scores : array-like of shape (n_pairs,)
        The two sides. Constant scores become the mean of `gold`.

    Returns
    -------
    ndarray of shape (n_pairs,)
        The fitted scores.
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
            raise ValueError(f"{name} must be finite numbers; got {side[at]} for pair {at}.")
    return sides[0], sides[1]


def _centred(values: Float64Array) -> Float64Array:
    """Return the values less their mean as a unit vector; zeros for a constant."""
    if len(values) == 0 or values.min() == values.max():  # their mean need not equal them
        return np.zeros(len(values))
    # By a power of two, which rounds nothing, so that no square overflows or vanishes.
    apart = np.ldexp(values, -int(np.frexp(np.abs(values).max())[1]))
    apart -= apart.mean()
    unit: Float64Array = apart / np.linalg.norm(apart)
    return unit
