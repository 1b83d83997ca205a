"""Approximate nearest-neighbor graph (HNSW, by usearch); requires the extra ``ann``."""

import threading
from collections.abc import Callable

import numpy as np

from textkin._base import Float32Array, Float64Array, Int64Array, import_extra

__all__ = ["NeighbourGraph"]

_METRICS = {"cosine": "cos", "inner": "ip", "euclidean": "l2sq"}
_BLOCK = 2048  # vectors added at a time; KeyboardInterrupt is handled in between


class NeighbourGraph:
    """HNSW graph of document vectors for approximate nearest-neighbor search.

    Vectors are identified by document positions, which are never reused. Therefore one graph serves
    successive snapshots of an index: new documents are added to it, and the caller skips deleted
    ones.

    Parameters
    ----------
    dimensions : int
        Number of dimensions of the vectors.
    metric : {"cosine", "inner", "euclidean"}
        Similarity or distance of vectors.
    generation : int, default=0
        Number of times that vectors of existing documents were set.

    Attributes
    ----------
    recalls : dict of int to (int, float)
        For each number of candidates, the number of documents at the time of measurement, and the
        measured recall: the share of the true nearest neighbors that was found.

    Raises
    ------
    ImportError
        If usearch is not installed; the message names the extra that installs it.
    """

    def __init__(self, dimensions: int, metric: str, generation: int = 0) -> None:
        usearch = import_extra("usearch.index", "usearch", "ann", "approximate=True")
        self._index = usearch.Index(ndim=dimensions, metric=_METRICS[metric], dtype="f32")
        self.generation = generation
        self._last = -1
        self._mutex = threading.Lock()
        self.recalls: dict[int, tuple[int, float]] = {}

    def __len__(self) -> int:
        return len(self._index)

    def extend(
        self, positions: Int64Array, vectors: Callable[[slice], Float32Array], threads: int
    ) -> None:
        """Add the vectors of documents at new positions, which must ascend.

        One thread always makes the same graph from the same vectors; several threads do not.
        """
        with self._mutex:
            start = int(np.searchsorted(positions, self._last, side="right"))
            for first in range(start, len(positions), _BLOCK):
                some = positions[first : first + _BLOCK]
                block = vectors(slice(first, first + _BLOCK))
                self._index.add(some.astype(np.uint64), block, threads=threads)
                self._last = int(some[-1])

    def nearest(self, vector: Float64Array, count: int) -> Int64Array:
        """Return the positions of about the `count` nearest documents to a vector."""
        with self._mutex:  # a search must not run while the graph grows
            found = self._index.search(vector.astype(np.float32), count)
        return np.asarray(found.keys).astype(np.int64)
