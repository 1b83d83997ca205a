"""A graph of neighbours, for an approximate search; the extra ``ann``."""

import threading

import numpy as np

from textkin._typing import Float32Array, Float64Array, Int64Array
from textkin.text._extras import import_extra

__all__ = ["NeighbourGraph"]

_METRICS = {"cosine": "cos", "inner": "ip"}
_BLOCK = 2048  # vectors that are added at a time; Ctrl-C is seen in between


class NeighbourGraph:
    """A graph (HNSW) of vectors by their positions, made by usearch.

    Positions are never used again, so that one graph serves the states of an index one after the
    other: what was added since is added to it, and what was deleted is passed over by the caller.

    Parameters
    ----------
    dimensions : int
        Of the vectors.
    metric : {"cosine", "inner"}
        How they are compared.

    Attributes
    ----------
    recalls : dict of int to (int, float)
        For numbers of candidates, the share of the true nearest that was found, and the number of
        documents when that was measured.

    Raises
    ------
    ImportError
        If usearch is not installed; it says which extra has it.
    """

    def __init__(self, dimensions: int, metric: str) -> None:
        usearch = import_extra("usearch.index", "usearch", "ann", "approximate=True")
        self._index = usearch.Index(ndim=dimensions, metric=_METRICS[metric], dtype="f32")
        self._last = -1
        self._mutex = threading.Lock()
        self.recalls: dict[int, tuple[int, float]] = {}

    def __len__(self) -> int:
        return len(self._index)

    def extend(self, positions: Int64Array, vectors: Float32Array, threads: int) -> None:
        """Add the vectors of positions behind the last that was added; all ascend.

        One thread makes the same graph of the same vectors each time, several do not.
        """
        with self._mutex:
            start = int(np.searchsorted(positions, self._last, side="right"))
            for first in range(start, len(positions), _BLOCK):
                some = positions[first : first + _BLOCK]
                block = vectors[first : first + _BLOCK]
                self._index.add(some.astype(np.uint64), block, threads=threads)
                self._last = int(some[-1])

    def nearest(self, vector: Float64Array, count: int) -> Int64Array:
        """Return the positions that seem to be nearest to a vector; at most so many."""
        with self._mutex:  # a search must not meet a graph that makes room for more
            found = self._index.search(vector.astype(np.float32), count)
        return np.asarray(found.keys).astype(np.int64)
