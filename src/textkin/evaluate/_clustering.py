"""How well clusters follow classes: the adjusted Rand index, normalised mutual information."""

from typing import Literal

import numpy as np

from textkin._typing import Float64Array, Int64Array
from textkin._validation import one_of
from textkin.evaluate._labels import LabelsLike, coded, contingency

__all__ = ["ari", "nmi"]

_NAMES = ("labels", "clusters")


def ari(labels: LabelsLike, clusters: LabelsLike) -> float:
    r"""Return the adjusted Rand index of two partitions.

    The share of pairs of documents on which the partitions agree, less what chance would give.

    Parameters
    ----------
    labels, clusters : iterable of labels
        The class and the cluster of each document; what they are called does not matter.

    Returns
    -------
    float
        1 for equal partitions (also where both are trivial), about 0 for unrelated ones; may be
        below 0.

    Notes
    -----
    .. math::

        \frac{S_{ij} - S_a S_b / \binom{n}{2}}
             {\frac{1}{2}(S_a + S_b) - S_a S_b / \binom{n}{2}}

    with S the sums of :math:`\binom{m}{2}` over the cells, rows and columns of the table of counts.

    References
    ----------
    Hubert and Arabie, "Comparing Partitions", Journal of Classification 2, 1985.

    Examples
    --------
    >>> from textkin.evaluate import ari
    >>> round(ari([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]), 7)
    0.3243243
    """
    _, (first, second) = coded(labels, clusters, _NAMES)
    cells, rows, columns = (_pairs(counts) for counts in _counts(contingency(first, second)))
    # Whole numbers of Python: products of two such sums need more than 64 bits.
    total = len(first) * (len(first) - 1) // 2
    above = 2 * (cells * total - rows * columns)
    below = (rows + columns) * total - 2 * rows * columns
    return above / below if below else 1.0


def nmi(
    labels: LabelsLike,
    clusters: LabelsLike,
    *,
    mean: Literal["arithmetic", "geometric"] = "arithmetic",
) -> float:
    r"""Return the normalised mutual information of two partitions.

    Parameters
    ----------
    labels, clusters : iterable of labels
        The class and the cluster of each document; what they are called does not matter.
    mean : {"arithmetic", "geometric"}, default="arithmetic"
        Of the two entropies. Papers from before 2019 mostly have the geometric one, which was the
        default of scikit-learn until version 0.22.

    Returns
    -------
    float
        From 0 to 1. 1 where both put all documents into one cluster, 0 where only one does.

    Notes
    -----
    :math:`I(U; V) / \text{mean}(H(U), H(V))` with
    :math:`I = \sum_{ij} p_{ij} \log \frac{p_{ij}}{p_i p_j}`.

    References
    ----------
    Strehl and Ghosh, "Cluster Ensembles", JMLR 3, 2002 (the geometric mean).

    Examples
    --------
    >>> from textkin.evaluate import nmi
    >>> round(nmi([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]), 7)
    0.478704
    >>> round(nmi([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], mean="geometric"), 7)
    0.4791388
    """
    one_of("arithmetic", "geometric").check("mean", mean)
    _, (first, second) = coded(labels, clusters, _NAMES)
    table = contingency(first, second)
    cells, rows, columns = _counts(table)
    if len(rows) == 1 or len(columns) == 1:
        return 1.0 if len(rows) == len(columns) else 0.0
    n = len(first)
    of_rows, of_columns = _entropy(rows / n), _entropy(columns / n)
    # I = H(U) + H(V) - H(U, V); rounding may leave it a little outside of its range
    shared = of_rows + of_columns - _entropy(cells / n)
    scale = (of_rows + of_columns) / 2 if mean == "arithmetic" else (of_rows * of_columns) ** 0.5
    return float(np.clip(shared / scale, 0.0, 1.0))


def _counts(table: Int64Array) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Return the counts of the cells, the rows and the columns, none of them 0."""
    rows, columns, cells = table
    sums = [np.bincount(side, weights=cells).astype(np.int64) for side in (rows, columns)]
    return cells, sums[0][sums[0] > 0], sums[1][sums[1] > 0]


def _pairs(counts: Int64Array) -> int:
    return int((counts * (counts - 1) // 2).sum())


def _entropy(shares: Float64Array) -> float:
    return float(-(shares * np.log(shares)).sum())
