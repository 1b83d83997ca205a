"""A measure: documents of a corpus, and how far others are from them, whatever says so.

Classification, clusters and duplicates know documents by this alone. There are two kinds:
transport between words, which searches exactly without computing most distances, and vectors,
which are compared block by block.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from textkin._typing import BoolArray, Float64Array, Int64Array
from textkin._validation import Constraint
from textkin.distance._measures import VECTOR_DISTANCES
from textkin.distance._near import NearRows
from textkin.distance._pairwise import known_distance
from textkin.explain import Contributions
from textkin.run import ProgressCallback
from textkin.transport import Comparison, PairBlock, TokenMover, WordMover
from textkin.transport._blocks import Algorithm

__all__ = ["METRIC", "TRANSPORT", "Measure", "MetricLike", "is_transport"]

MetricLike: TypeAlias = str | WordMover | TokenMover
"""A name, or an estimator of transport with settings of its own."""

TRANSPORT: dict[str, Algorithm] = {
    "wmd": "auto",
    "rwmd": "rwmd",
    "rwmd-query": "rwmd-query",
    "rwmd-document": "rwmd-document",
    "wcd": "wcd",
}
"""Measures of transport by name, and the algorithm of `WordMover` behind each."""


class Measure(ABC):
    """Documents that were given to `fit`, and how far others are from them.

    Attributes
    ----------
    documents : list, or rows of numbers
        What `fit` was given, see `textkin.learn._documents.listed`.
    empty : ndarray of bool of shape (n_documents,)
        Which documents have nothing to compare: they are never found.
    parts_of : str
        What the parts of an explanation sum to, in words.
    """

    documents: Any
    empty: BoolArray
    parts_of: str = "the distance"

    def __len__(self) -> int:
        return len(self.empty)

    @abstractmethod
    def fit(self, X: Any) -> "Measure":  # noqa: ANN401 (what `listed` returned)
        """Keep documents, and learn from them what the measure needs, if anything."""

    @abstractmethod
    def nearest(
        self,
        queries: Any,  # noqa: ANN401 (what `listed` returned, or None)
        k: int,
        *,
        progress: ProgressCallback | None = None,
    ) -> NearRows:
        """Return the `k` nearest documents of each query, ties by position.

        Fewer where there are fewer; an empty query finds nothing. Without queries (None) the
        documents themselves are asked, and none finds itself.
        """

    @abstractmethod
    def nearest_among(
        self,
        rows: Int64Array,
        k: int,
        *,
        progress: ProgressCallback | None = None,
    ) -> NearRows:
        """Return the `k` nearest of some documents, none of them empty, for each of these.

        `rows` of the answer are places in `rows`; none finds itself.
        """

    @abstractmethod
    def below(
        self,
        threshold: float,
        queries: Any = None,  # noqa: ANN401 (what `listed` returned, or None)
        *,
        progress: ProgressCallback | None = None,
    ) -> Iterator[PairBlock]:
        """Yield pairs that are at most so far apart, block by block: rows ascend.

        `rows` are positions of queries, `columns` of documents. Without queries the documents
        are compared with each other, each pair once (row < column). What is empty is near none.
        """

    @abstractmethod
    def below_among(
        self,
        threshold: float,
        rows: Int64Array,
        columns: Int64Array | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Iterator[PairBlock]:
        """Yield pairs as `below` does, of some documents with others, by their positions.

        Without columns the rows, which ascend, are compared with each other.
        """

    @abstractmethod
    def keys(self) -> list[bytes]:
        """Return bytes for each document: where they are the same, so are all distances."""

    @abstractmethod
    def between(
        self,
        rows: Int64Array,
        columns: Int64Array,
        *,
        progress: ProgressCallback | None = None,
    ) -> Float64Array:
        """Return the matrix of distances between some documents and others.

        Infinity where one of the two is empty, for documents with themselves too.
        """

    @abstractmethod
    def nearest_of(
        self,
        columns: Int64Array,
        queries: Any,  # noqa: ANN401 (what `listed` returned)
        *,
        progress: ProgressCallback | None = None,
    ) -> NearRows:
        """Return the nearest one of some documents for each query, ties by their order.

        `rows` are places in `columns`; an empty query finds nothing.
        """

    @abstractmethod
    def explain(self, query: Any, row: int) -> Comparison | Contributions | None:  # noqa: ANN401
        """Return why one query is as far from a document as it is; None if nothing says so.

        `query` is one document: a text, a list of tokens, or one row of numbers.
        """


def is_transport(metric: MetricLike) -> bool:
    """Tell transport from measures of vectors."""
    return isinstance(metric, WordMover | TokenMover) or metric in TRANSPORT


def _is_metric(value: object) -> bool:
    if isinstance(value, WordMover | TokenMover):
        return True
    if not isinstance(value, str):
        return False
    if value in TRANSPORT:
        return True
    try:
        known_distance(value)
    except ValueError:
        return False
    return True


METRIC = Constraint(
    _is_metric,
    "one of "
    + ", ".join(map(repr, [*TRANSPORT, *VECTOR_DISTANCES, "edit"]))
    + ", a WordMover or a TokenMover",
    lambda value: not isinstance(value, str | BaseEstimator),
)
"""What `metric` may be."""


def infinite_where(matrix: Float64Array, rows: BoolArray, columns: BoolArray) -> Float64Array:
    """Put infinity where a row or a column is empty."""
    matrix[rows] = np.inf
    matrix[:, columns] = np.inf
    return matrix
