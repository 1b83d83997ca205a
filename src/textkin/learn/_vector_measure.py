"""Distance measure of document vectors, by any metric of `pairwise_distances`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from textkin._base import BoolArray, Float64Array, Int64Array, describe_non_text
from textkin.corpus import RankedRows
from textkin.distance import nearest_rows, pairwise_distances, resolve_metric, rows_below
from textkin.exceptions import ParameterError
from textkin.explain import Contributions
from textkin.learn._distance_explanations import PARTS_OF, edit_reasons, vector_reasons
from textkin.learn._documents import are_numbers, csr_or_dense, one, part, size
from textkin.learn._equal_rows import keys_of_rows, keys_of_words
from textkin.learn._measure import Measure
from textkin.learn._representation import Representation, are_zero_rows
from textkin.models import Pooling
from textkin.run import ProgressCallback
from textkin.text import StopWords, text_of, tokenize
from textkin.transport import PairBlock

__all__ = ["VectorMeasure"]

_DIRECTIONAL = ("cosine", "hellinger")  # undefined for a row of zeros
_OF_COUNTS = ("hellinger", "jaccard", "weighted-jaccard")  # tf-idf would change their results


class VectorMeasure(Measure):
    """Document vectors compared by a metric, or word sequences compared by "edit".

    Parameters
    ----------
    metric : str
        Name of a metric of `pairwise_distances`.
    model, stop_words, n_jobs
        Parameters of `Representation`. Without a model, texts are weighted by tf-idf, or counted
        for "hellinger", "jaccard", and "weighted-jaccard".

    Attributes
    ----------
    vectors : sparse or dense array, or list of list of str
        Vectors of the fitted documents; their words for "edit".
    names : sequence of str or None
        Names of the columns of the input, for rows of numbers.
    """

    def __init__(
        self,
        metric: str,
        model: Any,  # noqa: ANN401
        stop_words: StopWords,
        *,
        n_jobs: int | None = None,
    ) -> None:
        self.metric = resolve_metric(metric)
        self.n_jobs = n_jobs
        self.parts_of = PARTS_OF.get(self.metric, self.parts_of)
        self.names: Sequence[str] | None = None
        self.representation = Representation(
            model, stop_words, weigh=self.metric not in _OF_COUNTS, n_jobs=n_jobs
        )
        if self.metric == "edit" and model is not None:
            raise ParameterError(
                "model",
                "None for metric='edit', which compares words in order",
                type(model).__name__,
            )

    def fit(self, X: Any) -> "VectorMeasure":  # noqa: ANN401
        """Store the documents, and fit and compute their vectors."""
        self.documents = X
        self.vectors, self.empty = self._read(X, self.representation.fit_transform)
        return self

    def _fitted_state(self) -> dict[str, Any]:
        if self.metric == "edit":
            return {}
        return {
            "vectors": csr_or_dense(self.vectors),
            "empty": self.empty,
            **self.representation.state(),
        }

    def _restore_fitted(self, state: dict[str, Any]) -> None:
        if self.metric == "edit":
            self.vectors, self.empty = _sequences_and_empty(self.documents)
            return
        vectors, empty = state["vectors"], state["empty"]
        values = vectors.data if isinstance(vectors, sparse.csr_array) else vectors
        if not (
            isinstance(values, np.ndarray)
            and values.dtype.kind in "fiub"
            and vectors.ndim == 2
            and bool(np.isfinite(values).all())
            and isinstance(empty, np.ndarray)
            and empty.dtype == np.bool_
            and empty.shape == (vectors.shape[0],)
        ):
            raise ValueError("there must be a row of finite numbers for each document")
        self.vectors, self.empty = vectors, empty
        self.representation.restore_state(
            state, vectors.shape[1], of_numbers=are_numbers(self.documents)
        )

    def vectors_of(self, X: Any) -> tuple[Any, BoolArray]:  # noqa: ANN401
        """Return the vectors of query documents, and a mask of the empty ones."""
        return self._read(X, self.representation.transform)

    def _queried(self, queries: Any) -> tuple[Any, BoolArray, Any]:  # noqa: ANN401
        """Return vectors of queries, a mask of empty ones, and the documents to compare with.

        Without queries, the documents are compared with each other: the third value is None.
        """
        if queries is None:
            return self.vectors, self.empty, None
        return *self.vectors_of(queries), self.vectors

    def _read(
        self,
        X: Any,  # noqa: ANN401
        transform: Callable[[Any], tuple[Any, BoolArray]],
    ) -> tuple[Any, BoolArray]:
        if self.metric == "edit":
            return _sequences_and_empty(X)
        vectors, empty = transform(X)
        if self.metric in _DIRECTIONAL:
            return vectors, empty | are_zero_rows(vectors)
        return vectors, empty | np.zeros(size(vectors), dtype=bool)

    def nearest(
        self,
        queries: Any,  # noqa: ANN401
        k: int,
        *,
        progress: ProgressCallback | None = None,
    ) -> RankedRows:
        """Return the `k` fitted documents nearest to each query, from all distances in blocks."""
        allowed = ~self.empty if self.empty.any() else None
        queried, empty, documents = self._queried(queries)
        if not len(empty):
            return RankedRows.of([])
        found = nearest_rows(
            queried,
            documents,
            self.metric,
            k,
            allowed=allowed,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        return _drop_empty(found, empty)

    def nearest_among(
        self,
        rows: Int64Array,
        k: int,
        *,
        progress: ProgressCallback | None = None,
    ) -> RankedRows:
        """Return for each fitted document in `rows` its `k` nearest others within `rows`."""
        some = part(self.vectors, rows)
        return nearest_rows(some, None, self.metric, k, n_jobs=self.n_jobs, progress=progress)

    def below(
        self,
        threshold: float,
        queries: Any = None,  # noqa: ANN401
        *,
        progress: ProgressCallback | None = None,
    ) -> Iterator[PairBlock]:
        """Yield blocks of pairs within `threshold`, from all distances in blocks."""
        queried, empty, documents = self._queried(queries)
        if not len(empty):
            return
        blocks = rows_below(
            queried, documents, self.metric, threshold, n_jobs=self.n_jobs, progress=progress
        )
        for begin, found in blocks:
            rows = np.repeat(np.arange(begin, begin + len(found)), np.diff(found.indptr))
            kept = ~(empty[rows] | self.empty[found.rows])
            if kept.any():
                yield PairBlock(rows[kept], found.rows[kept], found.scores[kept])

    def below_among(
        self,
        threshold: float,
        rows: Int64Array,
        columns: Int64Array | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Iterator[PairBlock]:
        """Yield blocks of pairs within `threshold` of the documents `rows` and `columns`."""
        found = rows if columns is None else columns
        if not len(rows) or not len(found):
            return
        blocks = rows_below(
            part(self.vectors, rows),
            None if columns is None else part(self.vectors, columns),
            self.metric,
            threshold,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        for begin, near in blocks:
            first = rows[np.repeat(np.arange(begin, begin + len(near)), np.diff(near.indptr))]
            second = found[near.rows]
            kept = ~(self.empty[first] | self.empty[second])
            if kept.any():
                yield PairBlock(first[kept], second[kept], near.scores[kept])

    def keys(self) -> list[bytes]:
        """Return a byte key of each document's vector, or of its word sequence for "edit"."""
        if self.metric == "edit":
            return keys_of_words(self.vectors)
        # A sparse row of zeros has an empty key, which would equal no other key.
        return [key or b"zeros" for key in keys_of_rows(self.vectors)]

    def between(
        self,
        rows: Int64Array,
        columns: Int64Array,
        *,
        progress: ProgressCallback | None = None,
    ) -> Float64Array:
        """Return the matrix of distances from the documents `rows` to the documents `columns`."""
        matrix = pairwise_distances(
            part(self.vectors, rows),
            part(self.vectors, columns),
            self.metric,  # type: ignore[arg-type]
            n_jobs=self.n_jobs,
            progress=progress,
        )
        matrix[self.empty[rows]] = np.inf
        matrix[:, self.empty[columns]] = np.inf
        return matrix

    def nearest_of(
        self,
        columns: Int64Array,
        queries: Any,  # noqa: ANN401
        *,
        progress: ProgressCallback | None = None,
    ) -> RankedRows:
        """Return the nearest of the fitted documents `columns` for each query."""
        queried, empty = self.vectors_of(queries)
        if not len(empty):
            return RankedRows.of([])
        some = part(self.vectors, columns)
        found = nearest_rows(queried, some, self.metric, 1, n_jobs=self.n_jobs, progress=progress)
        return _drop_empty(found, empty)

    def explain(self, query: Any, row: int) -> Contributions | None:  # noqa: ANN401
        """Split the distance from a query to the fitted document `row` into parts.

        Return None if either document is empty, or if two sequences are too long to align.
        """
        document: Any = one(self.documents, row)
        queried, empty = self.vectors_of(query if are_numbers(self.documents) else [query])
        if empty[0] or self.empty[row]:
            return None
        if self.metric == "edit":
            return edit_reasons(queried[0], self.vectors[row])
        model = self.representation.model_
        if self.metric == "cosine" and isinstance(model, Pooling):
            # `Pooling` explains a cosine by words.
            return model.explain(query, document)
        names = self.representation.names(self.names)  # once: models rebuild all names in each call
        return vector_reasons(
            self.metric,
            queried,
            one(self.vectors, row),
            lambda column: f"column {column}" if names is None else str(names[column]),
        )


def _sequences_and_empty(X: Any) -> tuple[list[list[str]], BoolArray]:  # noqa: ANN401
    """Return the word sequence of each document, and a mask of documents without words."""
    sequences = _sequences(X)
    return sequences, np.array([not words for words in sequences], dtype=bool)


def _sequences(X: Any) -> list[list[str]]:  # noqa: ANN401
    """Return each document as the list of its words in text order."""
    if are_numbers(X):
        raise TypeError("metric='edit' compares texts or lists of words; got rows of numbers.")
    sequences: list[list[str]] = []
    for at, text in enumerate(map(text_of, X)):
        if not isinstance(text, str | list | tuple):
            raise TypeError(
                f"X must hold texts or lists of words; position {at} holds "
                f"{describe_non_text(text)}."
            )
        sequences.append(tokenize(text) if isinstance(text, str) else list(text))
    return sequences


def _drop_empty(found: RankedRows, empty: BoolArray) -> RankedRows:
    """Return a search result without the neighbors of empty queries."""
    if not empty.any():
        return found
    nothing = np.empty(0, dtype=np.int64), np.empty(0)
    return RankedRows.of([nothing if empty[i] else found[i] for i in range(len(found))])
