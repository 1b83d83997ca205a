"""Base class `Measure`: distances between fitted documents, and from queries to them.

Classification, clustering, and duplicate search use documents only through `Measure`. There are
two kinds: transport between words, whose exact search skips most distances, and vectors, which are
compared block by block.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, TypeAlias

from sklearn.base import BaseEstimator

from textkin._base import BoolArray, Constraint, Float64Array, Int64Array
from textkin.corpus import RankedRows, Vectors
from textkin.distance import VECTOR_DISTANCES, resolve_metric
from textkin.exceptions import ParameterError
from textkin.explain import Contributions
from textkin.learn._documents import restored_documents, saved_documents, size
from textkin.run import ProgressCallback
from textkin.text import StopWords
from textkin.transport import (
    TRANSPORT_METRICS,
    Comparison,
    PairBlock,
    SearchCertificate,
    TokenMover,
    WordMover,
)

__all__ = ["METRIC", "Measure", "MetricLike", "is_transport", "make_measure"]

MetricLike: TypeAlias = str | WordMover | TokenMover
"""A metric's name, or a transport estimator with its own settings."""


class Measure(ABC):
    """Fitted documents with a distance, for the classifier, clustering, and duplicates.

    Attributes
    ----------
    documents : list, or rows of numbers
        Fitted documents, as `textkin.learn._documents.listed` returns them.
    empty : ndarray of bool of shape (n_documents,)
        True for documents with nothing to compare; no search finds them.
    parts_of : str
        Name of the quantity that the parts of an explanation sum to.
    """

    documents: Any
    empty: BoolArray
    parts_of: str = "the distance"

    def __len__(self) -> int:
        return len(self.empty)

    @abstractmethod
    def fit(self, X: Any) -> "Measure":  # noqa: ANN401 (what `listed` returned)
        """Store the documents, and fit word weights or the vector model to them."""

    def state(self) -> dict[str, Any]:
        """Return the documents and fitted values, for `save`."""
        return {"documents": saved_documents(self.documents), **self._fitted_state()}

    def restore(self, state: dict[str, Any], n_documents: int) -> None:
        """Restore the result of `state` from an untrusted file, after validation."""
        self.documents = restored_documents(state["documents"])
        self._restore_fitted(state)
        if not len(self) == size(self.documents) == n_documents:
            raise ValueError(f"there must be {n_documents} documents, each with its words")

    @abstractmethod
    def _fitted_state(self) -> dict[str, Any]:
        """Return the fitted values of the measure without the documents, for `save`."""

    @abstractmethod
    def _restore_fitted(self, state: dict[str, Any]) -> None:
        """Restore the fitted values of the measure; the documents are already restored."""

    @abstractmethod
    def nearest(
        self,
        queries: Any,  # noqa: ANN401 (what `listed` returned, or None)
        k: int,
        *,
        progress: ProgressCallback | None = None,
    ) -> RankedRows:
        """Return the `k` fitted documents nearest to each query; ties go to the lowest position.

        With fewer documents, each query finds all of them. An empty query finds none. If `queries`
        is None, every fitted document is a query and does not find itself.
        """

    @abstractmethod
    def nearest_among(
        self,
        rows: Int64Array,
        k: int,
        *,
        progress: ProgressCallback | None = None,
    ) -> RankedRows:
        """Return for each fitted document in `rows` its `k` nearest others within `rows`.

        No document of `rows` may be empty. The result holds indices into `rows`; no document finds
        itself.
        """

    @abstractmethod
    def below(
        self,
        threshold: float,
        queries: Any = None,  # noqa: ANN401 (what `listed` returned, or None)
        *,
        progress: ProgressCallback | None = None,
    ) -> Iterator[PairBlock]:
        """Yield blocks of pairs of a query and a fitted document within `threshold`.

        `rows` are positions of queries, `columns` are positions of documents. If `queries` is None,
        yield each pair of fitted documents once (row < column). Empty documents are in no pair.
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
        """Yield blocks of pairs within `threshold` between the documents `rows` and `columns`.

        If `columns` is None, compare the documents `rows`, which ascend, with each other.
        """

    @abstractmethod
    def keys(self) -> list[bytes]:
        """Return a byte key per fitted document; equal keys mean equal distances to all others."""

    @abstractmethod
    def between(
        self,
        rows: Int64Array,
        columns: Int64Array,
        *,
        progress: ProgressCallback | None = None,
    ) -> Float64Array:
        """Return the matrix of distances from the documents `rows` to the documents `columns`.

        The distance of an empty document is infinity, also from itself.
        """

    @abstractmethod
    def nearest_of(
        self,
        columns: Int64Array,
        queries: Any,  # noqa: ANN401 (what `listed` returned)
        *,
        progress: ProgressCallback | None = None,
    ) -> RankedRows:
        """Return the nearest of the fitted documents `columns` for each query.

        The result holds indices into `columns`; ties go to the lowest index. An empty query finds
        nothing.
        """

    @abstractmethod
    def explain(self, query: Any, row: int) -> Comparison | Contributions | None:  # noqa: ANN401
        """Explain the distance from a query to the fitted document `row` by its parts.

        `query` is one document: a text, a list of tokens, or one row of numbers. Return None if
        there is no explanation, for example for an empty document.
        """

    def certificate(
        self,
        query: Any,  # noqa: ANN401 (one document, as for `explain`)
        k: int,
        found: tuple[Int64Array, Float64Array],
    ) -> SearchCertificate | None:
        """Return a certificate that a query's `k` nearest documents are right, or None.

        `found` holds the positions and distances from `nearest`. Return None if the measure has no
        proofs.
        """
        return None


def is_transport(metric: MetricLike) -> bool:
    """Return True if a metric is a transport distance: a name such as "wmd", or an estimator."""
    return isinstance(metric, WordMover | TokenMover) or metric in TRANSPORT_METRICS


def make_measure(
    metric: MetricLike,
    *,
    model: Any = None,  # noqa: ANN401 (a transformer of anybody's)
    vectors: Vectors = None,
    stop_words: StopWords = "smart",
    n_jobs: int | None = None,
) -> Measure:
    """Create the unfitted `Measure` for a metric and the parameters of an estimator.

    Parameters
    ----------
    metric : str, WordMover or TokenMover
        "wmd", "rwmd", "rwmd-query", "rwmd-document" or "wcd" for transport with default settings,
        an estimator for transport with its own settings, or a metric of `pairwise_distances`.
    model : transformer or None
        Transformer that makes the vectors for a metric of `pairwise_distances`.
    vectors : WordVectors, ndarray or None
        Word vectors, for transport by name.
    stop_words : str, None, path or collection of str
        Words of texts to ignore; an estimator has its own.
    n_jobs : int or None
        Number of threads; an estimator has its own.

    Raises
    ------
    ValueError
        If the metric does not use a parameter that is given.
    """
    # Here, because both modules import `Measure` from this one.
    from textkin.learn._transport_measure import TransportMeasure
    from textkin.learn._vector_measure import VectorMeasure

    if isinstance(metric, WordMover | TokenMover):
        for name, given in (("model", model), ("vectors", vectors)):
            if given is not None:
                raise ParameterError(
                    name,
                    f"None with a {type(metric).__name__} as metric, which has its own settings",
                    repr(given) if isinstance(given, str) else type(given).__name__,
                )
        return TransportMeasure(metric)
    if metric in TRANSPORT_METRICS:
        if model is not None:
            raise ParameterError(
                "metric",
                message=f"metric {metric!r} compares words and takes no model;",
                hint="choose a metric of vectors, such as `metric='cosine'`, or omit the model.",
            )
        mover = WordMover(
            vectors,
            stop_words=stop_words,
            metric=metric,
            n_jobs=n_jobs,
        )
        return TransportMeasure(mover)
    if vectors is not None:
        raise ParameterError(
            "vectors",
            message=f"vectors are for transport, and metric {metric!r} compares vectors of "
            "documents;",
            hint="pass `metric='wmd'`, or `model=Pooling(vectors)`.",
        )
    return VectorMeasure(metric, model, stop_words, n_jobs=n_jobs)


def _is_metric(value: object) -> bool:
    if isinstance(value, WordMover | TokenMover):
        return True
    if not isinstance(value, str):
        return False
    if value in TRANSPORT_METRICS:
        return True
    try:
        resolve_metric(value)
    except ValueError:
        return False
    return True


_METRICS = (*TRANSPORT_METRICS, *VECTOR_DISTANCES, "edit")
METRIC = Constraint(
    _is_metric,
    f"one of {', '.join(map(repr, _METRICS))}, a WordMover or a TokenMover",
    lambda value: not isinstance(value, str | BaseEstimator),
    _METRICS,
)
"""Constraint on the parameter `metric`."""
