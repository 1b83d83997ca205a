"""Clusters around means of vectors."""

from typing import Any

import numpy as np
from numpy.random import RandomState

from textkin._typing import BoolArray, Float64Array, Int64Array
from textkin.distance import distances
from textkin.distance._near import NearRows, nearest_rows
from textkin.learn._documents import are_numbers
from textkin.learn._kmeans import LatentWords, k_means, n_distinct, unit_rows
from textkin.learn._partition import Asked, Grouping, Partition, mapped, too_many
from textkin.learn._vectors import Representation
from textkin.run import ProgressCallback
from textkin.text._stop_words import StopWords

__all__ = ["ByMeans"]


class ByMeans(Grouping):
    """k-means on any representation.

    Parameters
    ----------
    metric : {"cosine", "l2"}
        By "cosine" rows are brought to length one.
    model : transformer or None
        Makes the vectors; None for `LatentWords` of texts, and for numbers as they are.
    stop_words : str, None, path or collection of str
        Words of texts that are left out.
    n_jobs : int or None
        Threads.
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
        asked: Asked,
        random: RandomState,
        progress: ProgressCallback | None,
    ) -> Partition:
        """Find means; the documents nearest to them are the central ones."""
        assert asked.n_clusters is not None
        model = self._model
        if model is None and not are_numbers(documents):
            seed = int(random.randint(2**31 - 1))
            model = LatentWords(asked.n_clusters, seed)
        self._representation = Representation(model, self._stop_words, n_jobs=self._n_jobs)
        rows, empty = self._compared(*self._representation.fit_transform(documents))
        positions = asked.filled(empty)
        rows = rows[positions]
        if asked.n_clusters > (distinct := n_distinct(rows)):
            note = f"n_features={rows.shape[1]}" if are_numbers(documents) else ""
            raise too_many(asked.n_clusters, distinct, note)
        labels, means = k_means(
            rows,
            asked.n_clusters,
            n_init=asked.n_init,
            random=random,
            n_jobs=asked.n_jobs,
            progress=progress,
        )
        far = distances(rows, means, "l2", n_jobs=asked.n_jobs)
        own = far[np.arange(len(positions)), labels]
        order = np.lexsort((own, labels))
        central = positions[order[np.searchsorted(labels[order], np.arange(len(means)))]]
        far = far[:, mapped(labels, central)]
        return Partition(positions, labels, own, far, central, means=means)

    def nearest(
        self,
        documents: Any,  # noqa: ANN401
        central: Int64Array,  # of clusters that have no means
        means: Float64Array | None,
        progress: ProgressCallback | None,
    ) -> NearRows:
        """Compare documents with the means."""
        rows, empty = self._compared(*self._representation.transform(documents))
        found = nearest_rows(rows, means, "l2", 1, n_jobs=self._n_jobs, progress=progress)
        kept = np.flatnonzero(~empty)
        starts = np.concatenate([[0], np.cumsum(~empty)]).astype(np.int64)
        return NearRows(starts, found.rows[kept], found.distances[kept])

    def _compared(self, rows: Any, empty: BoolArray) -> tuple[Any, BoolArray]:  # noqa: ANN401
        """Return rows as k-means takes them, and which of them it leaves out."""
        if self._metric != "cosine":
            return rows, empty
        rows = unit_rows(rows)
        squares = rows * rows if isinstance(rows, np.ndarray) else rows.multiply(rows)
        return rows, empty | (np.asarray(squares.sum(axis=1)).ravel() < 0.5)
