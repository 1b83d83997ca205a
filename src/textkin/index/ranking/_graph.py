"""A graph of neighbours, for an approximate search; the extra ``ann``."""

import numpy as np

from textkin._typing import BoolArray, Float32Array, Float64Array, Int64Array
from textkin.text._extras import import_extra

__all__ = ["NeighbourGraph"]

_METRICS = {"cosine": "cos", "inner": "ip"}


class NeighbourGraph:
    """A graph (HNSW) over rows of a matrix, made by usearch on all cores.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, dimensions), float32
        Vectors.
    rows : ndarray of shape (n_rows,), bool
        Which of them are in it.
    metric : {"cosine", "inner"}
        How they are compared.

    Raises
    ------
    ImportError
        If usearch is not installed; it says which extra has it.
    """

    def __init__(self, matrix: Float32Array, rows: BoolArray, metric: str) -> None:
        usearch = import_extra("usearch.index", "usearch", "ann", "approximate=True")
        self._index = usearch.Index(ndim=matrix.shape[1], metric=_METRICS[metric], dtype="f32")
        places = np.flatnonzero(rows)
        if len(places):
            self._index.add(places.astype(np.uint64), matrix[places])

    def nearest(self, vector: Float64Array, count: int) -> Int64Array:
        """Return the rows that seem to be nearest to a vector; at most so many."""
        found = self._index.search(vector.astype(np.float32), count)
        return np.asarray(found.keys).astype(np.int64)
