"""k-means on vectors of documents, by scikit-learn; and the vectors that texts have by default."""

from functools import cache
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import KMeans
from threadpoolctl import ThreadpoolController

from textkin._typing import Bags, Float64Array, Int64Array
from textkin.distance._blocks import Check, run_blocks
from textkin.models import LSI
from textkin.run import ProgressCallback, effective_jobs
from textkin.weighting import TfIdf

__all__ = ["LatentWords", "k_means", "n_distinct", "unit_rows"]

_FEWEST, _FULLEST = 10, 100  # latent dimensions; see docs/clusters.md
_LEAST, _MOST = 1e-140, 1e140  # numbers whose squares are numbers
_DIGITS = {4: 5, 8: 12}  # by which rows differ, of float32 and float64


class LatentWords(TransformerMixin, BaseEstimator):
    """Counted words, weighed by tf-idf (of 1 + ln n), in the first latent dimensions.

    Parameters
    ----------
    n_clusters : int
        There are twice as many dimensions, from 10 to 100, but no more than documents or words.
    random_state : int, RandomState or None, default=None
        Where the decomposition starts.
    """

    def __init__(self, n_clusters: int, random_state: int | RandomState | None = None) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X: Bags, y: object = None) -> Self:
        """Learn the weights of the words, and the dimensions."""
        self.tfidf_ = TfIdf(sublinear=True)
        weighed = self.tfidf_.fit_transform(X)
        if not weighed.nnz:  # a few documents with the same words: what all have weighs nothing
            self.tfidf_ = TfIdf("sklearn", sublinear=True).fit(X)
            weighed = self.tfidf_.transform(X)
        wanted = min(max(2 * self.n_clusters, _FEWEST), _FULLEST)
        self.lsi_ = LSI(min(wanted, *weighed.shape), random_state=self.random_state)
        self.lsi_.fit(weighed)
        return self

    def transform(self, X: Bags) -> Any:  # noqa: ANN401 (an array)
        """Place documents."""
        return self.lsi_.transform(self.tfidf_.transform(X))


def unit_rows(rows: Any) -> Any:  # noqa: ANN401 (dense or sparse)
    """Return rows at length one, those of zeros as they are."""
    if not isinstance(rows, np.ndarray):
        rows = rows.copy()
        lines = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        largest = np.zeros(rows.shape[0], dtype=rows.dtype)
        np.maximum.at(largest, lines, np.abs(rows.data))
        rows.data = rows.data / largest[lines]
        lengths = np.sqrt(np.bincount(lines, rows.data**2, minlength=rows.shape[0]))
        rows.data = (rows.data / lengths[lines]).astype(rows.dtype, copy=False)
        return rows
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0)
    rows = rows / np.where(largest > 0, largest, 1)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def n_distinct(rows: Any) -> int:  # noqa: ANN401 (dense or sparse)
    """Return how many rows differ, by more than rounding of their largest number."""
    values = rows if isinstance(rows, np.ndarray) else rows.data
    largest = float(np.abs(values).max(initial=0)) or 1.0
    rounded = np.round(values / largest, _DIGITS[values.dtype.itemsize]) + 0.0  # no minus zero
    if isinstance(rows, np.ndarray):
        return len(np.unique(rounded, axis=0))
    parts = pairwise(rows.indptr)
    return len({(rows.indices[a:b].tobytes(), rounded[a:b].tobytes()) for a, b in parts})


def k_means(
    rows: Any,  # noqa: ANN401 (dense or sparse)
    k: int,
    *,
    n_init: int,
    random: RandomState,
    n_jobs: int | None,
    progress: ProgressCallback | None = None,
) -> tuple[Int64Array, Float64Array]:
    """Return the cluster of each row, and the means; the best of several starts.

    Starts run side by side, each on one thread, so that sums have one order: the same bits for any
    number of threads.
    """
    values = rows if isinstance(rows, np.ndarray) else rows.data
    largest = float(np.abs(values).max(initial=0))
    if largest and not _LEAST < largest < _MOST:
        raise ValueError(
            f"The largest number of X must be between {_LEAST:g} and {_MOST:g}, so that squares "
            f"can be summed up; got {largest:.3g}. Scale them."
        )
    seeds = random.randint(2**31 - 1, size=n_init)
    found: dict[int, KMeans] = {}

    def work(block: slice, _check: Check) -> int:
        with _controller().limit(limits=1):  # OpenMP has a limit for each of our threads
            kmeans = KMeans(k, n_init=1, random_state=int(seeds[block.start]))
            found[block.start] = kmeans.fit(rows)
        return 1

    starts = [slice(at, at + 1) for at in range(n_init)]
    for done, _ in enumerate(run_blocks(starts, work, min(effective_jobs(n_jobs), n_init)), 1):
        if progress is not None:
            progress(done, n_init)
    best = min(found, key=lambda at: (found[at].inertia_, at))
    labels = found[best].labels_.astype(np.int64)
    return labels, found[best].cluster_centers_.astype(np.float64)


@cache
def _controller() -> ThreadpoolController:
    """Look through the libraries of the process, once."""
    return ThreadpoolController()
