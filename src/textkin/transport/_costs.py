"""The cost of moving one word to another, in float64 and plain NumPy.

The core has the fast version; this one is what certificates are checked with.
"""

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from textkin._typing import Float64Array
from textkin._validation import one_of
from textkin.run import stop_check

__all__ = ["COSTS", "CostName", "reference_costs"]

CostName: TypeAlias = Literal["euclidean", "cosine", "sqeuclidean"]
COSTS: tuple[CostName, ...] = get_args(CostName)


def reference_costs(x: ArrayLike, y: ArrayLike, cost: CostName) -> Float64Array:
    """Return the costs between the rows of `x` and of `y`, from differences in float64.

    Parameters
    ----------
    x, y : array-like of shape (n, d) and (m, d)
        Word vectors; of unit length for the cosine cost.
    cost : {"euclidean", "cosine", "sqeuclidean"}
        ``|x - y|``, ``1 - cos(x, y)`` or ``|x - y|**2``.

    Returns
    -------
    ndarray of shape (n, m), float64
        At least 0, and exactly 0 for equal rows.

    Examples
    --------
    >>> reference_costs([[0, 0], [4, 0]], [[0, 3]], "euclidean")
    array([[3.],
           [5.]])
    """
    one_of(*COSTS).check("cost", cost)
    rows = np.asarray(x, dtype=np.float64)
    columns = np.asarray(y, dtype=np.float64)
    squares = np.empty((len(rows), len(columns)))
    stop = stop_check()
    for i, row in enumerate(rows):
        if stop is not None:
            stop(i, len(rows))
        np.sum((columns - row) ** 2, axis=1, out=squares[i])
    if cost == "euclidean":
        return np.sqrt(squares)
    return squares / 2 if cost == "cosine" else squares
