"""k-means clustering of documents, represented by LSI or other vectors."""

from functools import cache
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from textkin._base import (
    Bags,
    BoolArray,
    Float64Array,
    Int64Array,
    SavedEstimator,
    rollback_on_error,
)
from textkin.corpus import RankedRows
from textkin.distance import nearest_rows, pairwise_distances
from textkin.learn._cluster_method import (
    ClusterMethod,
    ClusterSettings,
    Partition,
    largest_clusters,
    too_many_clusters,
)
from textkin.learn._documents import are_numbers
from textkin.learn._representation import Representation
from textkin.models import LSI
from textkin.run import Check, ProgressCallback, effective_jobs, run_blocks
from textkin.text import StopWords
from textkin.weighting import TfIdf

__all__ = ["KMeansMethod", "LatentWords", "count_distinct_rows", "unit_rows"]

_MIN_DIMENSIONS, _MAX_DIMENSIONS = 10, 100  # for LatentWords; see docs/clusters.md
_LEAST, _MOST = 1e-140, 1e140  # magnitudes with a finite, nonzero square
_DECIMALS = {4: 5, 8: 12}  # by item size: number of decimals to which equal rows agree


class KMeansMethod(ClusterMethod):
    """k-means clustering of documents by their vectors.

    Parameters
    ----------
    metric : {"cosine", "l2"}
        "cosine" L2-normalizes the rows first.
    model : transformer or None
        Transformer that makes the vectors. If None, `LatentWords` of texts, or the numbers.
    stop_words : str, None, path or collection of str
        Words of texts to ignore.
    n_jobs : int or None
        Number of threads.
    """

    def __init__(
        self,
        metric: str,
        model: Any,  # noqa: ANN401 (a transformer of anybody's)
        stop_words: StopWords,
        n_jobs: int | None,
    ) -> None:
        self._metric = metric
        self._model = model
        self._stop_words = stop_words
        self._n_jobs = n_jobs

    def find(
        self,
        documents: Any,  # noqa: ANN401
        settings: ClusterSettings,
        random: RandomState,
        progress: ProgressCallback | None,
    ) -> Partition:
        """Cluster document vectors by k-means; the document nearest to a mean is its center."""
        assert settings.n_clusters is not None
        model = self._model
        if model is None and not are_numbers(documents):
            seed = int(random.randint(2**31 - 1))
            model = LatentWords(settings.n_clusters, seed)
        self._representation = Representation(model, self._stop_words, n_jobs=self._n_jobs)
        rows, empty = self._prepare(*self._representation.fit_transform(documents))
        positions = settings.filled_positions(empty)
        rows = rows[positions]
        if settings.n_clusters > (distinct := count_distinct_rows(rows)):
            note = f"n_features={rows.shape[1]}" if are_numbers(documents) else ""
            raise too_many_clusters(settings.n_clusters, distinct, note)
        labels, means = _fit_k_means(
            rows,
            settings.n_clusters,
            n_init=settings.n_init,
            random=random,
            n_jobs=settings.n_jobs,
            progress=progress,
        )
        far = pairwise_distances(rows, means, "l2", n_jobs=settings.n_jobs)
        own = far[np.arange(len(positions)), labels]
        order = np.lexsort((own, labels))
        central = positions[order[np.searchsorted(labels[order], np.arange(len(means)))]]
        far = far[:, largest_clusters(labels, central)]
        return Partition(positions, labels, own, far, central, means=means)

    def nearest(
        self,
        documents: Any,  # noqa: ANN401
        central: Int64Array,  # unused: the centers are means
        means: Float64Array | None,
        progress: ProgressCallback | None,
    ) -> RankedRows:
        """Return for each new document the cluster with the nearest mean."""
        rows, empty = self._prepare(*self._representation.transform(documents))
        found = nearest_rows(rows, means, "l2", 1, n_jobs=self._n_jobs, progress=progress)
        kept = np.flatnonzero(~empty)
        starts = np.concatenate([[0], np.cumsum(~empty)]).astype(np.int64)
        return RankedRows(starts, found.rows[kept], found.scores[kept])

    def state(self) -> dict[str, Any]:
        """Return the fitted vocabulary and model of the document vectors, for `save`."""
        return self._representation.state()

    def restore(
        self,
        state: dict[str, Any],
        n_documents: int,  # unused: means replace the documents
        means: Float64Array | None,
        *,
        of_numbers: bool,
    ) -> None:
        """Restore the fitted vocabulary and model of the document vectors from `state`."""
        if not (
            isinstance(means, np.ndarray)
            and means.dtype == np.float64
            and means.ndim == 2
            and bool(np.isfinite(means).all())
        ):
            raise ValueError("cluster_centers_ must be rows of finite numbers")
        self._representation = Representation(self._model, self._stop_words, n_jobs=self._n_jobs)
        self._representation.restore_state(state, means.shape[1], of_numbers=of_numbers)

    def _prepare(self, rows: Any, empty: BoolArray) -> tuple[Any, BoolArray]:  # noqa: ANN401
        """Return vectors to cluster (L2-normalized for cosine), and a mask of empty documents."""
        if self._metric != "cosine":
            return rows, empty
        rows = unit_rows(rows)
        squares = rows * rows if isinstance(rows, np.ndarray) else rows.multiply(rows)
        return rows, empty | (np.asarray(squares.sum(axis=1)).ravel() < 0.5)


class LatentWords(SavedEstimator, TransformerMixin, BaseEstimator):
    """Latent semantic indexing (LSI) of tf-idf weights: the default vectors of k-means.

    Parameters
    ----------
    n_clusters : int
        Number of clusters. The number of dimensions is twice this number, from 10 to 100, and at
        most the number of documents or of words.
    random_state : int, RandomState or None, default=None
        Seed of the decomposition.
    """

    def __init__(self, n_clusters: int, random_state: int | RandomState | None = None) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state

    @rollback_on_error
    def fit(self, X: Bags, y: object = None) -> Self:
        """Fit the tf-idf weights and the LSI dimensions to bags of words."""
        self.tfidf_ = TfIdf(sublinear=True)
        weighed = self.tfidf_.fit_transform(X)
        if not weighed.nnz:  # all documents have the same words, and their idf is 0
            self.tfidf_ = TfIdf("sklearn", sublinear=True).fit(X)
            weighed = self.tfidf_.transform(X)
        wanted = min(max(2 * self.n_clusters, _MIN_DIMENSIONS), _MAX_DIMENSIONS)
        self.lsi_ = LSI(min(wanted, *weighed.shape), random_state=self.random_state)
        self.lsi_.fit(weighed)
        return self

    def _check_loaded(self) -> None:
        if not (isinstance(self.tfidf_, TfIdf) and isinstance(self.lsi_, LSI)):
            raise ValueError("tfidf_ must be a TfIdf, and lsi_ an LSI")
        for part in (self.tfidf_, self.lsi_):
            check_is_fitted(part)

    def transform(self, X: Bags) -> Any:  # noqa: ANN401 (an array)
        """Return the LSI vector of each bag of words."""
        return self.lsi_.transform(self.tfidf_.transform(X))


def _fit_k_means(
    rows: Any,  # noqa: ANN401 (dense or sparse)
    k: int,
    *,
    n_init: int,
    random: RandomState,
    n_jobs: int | None,
    progress: ProgressCallback | None = None,
) -> tuple[Int64Array, Float64Array]:
    """Run k-means `n_init` times; return the labels and the means of the best run.

    Initializations run concurrently, each on one thread. Sums then have one order, and the result
    is bit-identical for any number of threads.
    """
    values = rows if isinstance(rows, np.ndarray) else rows.data
    largest = float(np.abs(values).max(initial=0))
    if largest and not _LEAST < largest < _MOST:
        raise ValueError(
            f"The largest number of X must be between {_LEAST:g} and {_MOST:g}, so that sums of "
            f"squares are in range; got {largest:.3g}. Scale the numbers."
        )
    seeds = random.randint(2**31 - 1, size=n_init)
    found: dict[int, KMeans] = {}

    def work(block: slice, _check: Check) -> int:
        with _controller().limit(limits=1):  # the OpenMP limit is per thread
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
    """Return a cached controller of BLAS threads, because creating one is slow."""
    return ThreadpoolController()


def unit_rows(rows: Any) -> Any:  # noqa: ANN401 (dense or sparse)
    """L2-normalize the rows of a matrix; zero rows stay zero."""
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


def count_distinct_rows(rows: Any, *, normalize: bool = False) -> int:  # noqa: ANN401
    """Count the distinct rows of a matrix, up to rounding errors.

    Parameters
    ----------
    rows : ndarray or CSR array
        Rows.
    normalize : bool, default=False
        If True, L2-normalize the rows first.
    """
    if normalize:
        rows = unit_rows(rows)
    values = rows if isinstance(rows, np.ndarray) else rows.data
    largest = float(np.abs(values).max(initial=0)) or 1.0
    rounded = np.round(values / largest, _DECIMALS[values.dtype.itemsize]) + 0.0  # -0.0 becomes 0.0
    if isinstance(rows, np.ndarray):
        return len(np.unique(rounded, axis=0))
    parts = pairwise(rows.indptr)
    return len({(rows.indices[a:b].tobytes(), rounded[a:b].tobytes()) for a, b in parts})
