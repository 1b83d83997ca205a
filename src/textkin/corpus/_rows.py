"""CSR carriers: documents as rows of word counts, and ranked rows as results of searches."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textkin import _core
from textkin._base import BoolArray, Float32Array, Float64Array, Int32Array, Int64Array

__all__ = ["Coverage", "DocumentRows", "MaskArray", "RankedRows", "listed", "shares"]

MaskArray: TypeAlias = NDArray[np.uint8]
"""Array with 0 or 1 for each document, in the form of the core."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Share of a document's words that have vectors and are compared, and the words without one.

    Attributes
    ----------
    known : float
        Number of tokens (or weight of a bag) that take part.
    total : float
        Number of all tokens except stop words.
    unknown : mapping of str to float
        Words without a vector, with their counts.
    cut : mapping of str to float
        Words omitted because of `max_words_per_document`, with their counts.
    """

    known: float
    total: float
    unknown: Mapping[str, float]
    cut: Mapping[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """Number of tokens with a vector divided by all tokens, 0 to 1; 0 for an empty document."""
        return self.known / self.total if self.total > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the coverage (counts, share, and unknown words) as a dict of JSON types."""
        return {
            "share": self.share,
            "known": self.known,
            "total": self.total,
            "unknown": dict(self.unknown),
            "cut": dict(self.cut),
        }

    def __str__(self) -> str:
        share = f"{100 * self.share:.0f} %"
        parts = [
            f"{what}: {listed(words)}"
            for what, words in (("unknown", self.unknown), ("cut", self.cut))
            if words
        ]
        return f"{share} ({'; '.join(parts)})" if parts else share


@dataclass(frozen=True, slots=True, eq=False)
class DocumentRows:
    """Word counts of documents as a CSR matrix, whose columns are rows of a word-vector table.

    The rows share their arrays: a segment of an index is searched without copying. `compact`
    copies them.

    Attributes
    ----------
    indptr : ndarray of shape (n_documents + 1,), int64
        Offsets; document i has the entries ``indptr[i]:indptr[i + 1]``.
    indices : ndarray of shape (n_entries,), int32
        Column of each entry: a row of a `VectorTable`, or a word ID of an index.
    n_columns : int
        Number of columns.
    counts : ndarray of shape (n_entries,), float32 or float64
        Counts, or weights of a bag.
    weights : ndarray of shape (n_columns,), float64, or None, default=None
        Factor of the counts of each column. If None, 1. For columns of an index, the engine has
        the weights.
    points : ndarray of shape (n_entries, d), float32, or None, default=None
        Vectors of the entries, for documents with their own points. The entries are then numbered
        in order, after the last row of the table.
    live : ndarray of shape (n_documents,), uint8, or None, default=None
        1 for each document that is not deleted. If None, all are live.
    unknown : sequence of mappings, default=()
        Words without a vector, with their counts, for each document. Empty if every word has a
        vector.
    cut : sequence of mappings, default=()
        Words beyond a limit, with their counts, for each document. Empty if there are none.
        none.

    Raises
    ------
    ValueError
        If the shapes of the arrays disagree.

    See Also
    --------
    VectorTable : Vectors of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from textkin.corpus import DocumentRows
    >>> rows = DocumentRows(
    ...     np.array([0, 2, 3]), np.array([0, 4, 1], np.int32), 5, np.array([1.0, 3.0, 2.0])
    ... )
    >>> len(rows), rows.coverage(0).known, rows[1:2].indices
    (2, 4.0, array([1], dtype=int32))
    """

    indptr: Int64Array
    indices: Int32Array
    n_columns: int
    counts: Float32Array | Float64Array
    weights: Float64Array | None = None
    points: Float32Array | None = None
    live: MaskArray | None = None
    unknown: Sequence[Mapping[str, float]] = ()
    cut: Sequence[Mapping[str, float]] = ()

    def __post_init__(self) -> None:
        n_entries = len(self.indices)
        if len(self.counts) != n_entries or not len(self.indptr) or self.indptr[-1] > n_entries:
            raise ValueError(
                "indptr, indices, and counts must be the arrays of a CSR matrix; got "
                f"{len(self.indptr)} offsets, {n_entries} indices, and {len(self.counts)} counts."
            )
        if self.live is not None and len(self.live) != len(self):
            raise ValueError(
                f"live must have one value for each of the {len(self)} documents; got "
                f"{len(self.live)}."
            )
        if self.weights is not None and len(self.weights) != self.n_columns:
            raise ValueError(
                f"weights must have one number for each of the {self.n_columns} columns; got "
                f"{len(self.weights)}."
            )
        if self.points is not None and len(self.points) != n_entries:
            raise ValueError(
                f"points must have one vector for each of the {n_entries} entries; got "
                f"{len(self.points)}."
            )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, rows: slice) -> "DocumentRows":
        """Return a slice of consecutive documents as `DocumentRows` that shares memory."""
        begin, end, step = rows.indices(len(self))
        if step != 1:
            raise ValueError(f"A slice of documents must have step 1; got {step}.")
        end = max(begin, end)
        indptr = self.indptr[begin : end + 1]
        inside = slice(int(indptr[0]), int(indptr[-1]))
        points, indices, n_columns = self.points, self.indices[inside], self.n_columns
        if points is not None:  # entries are numbered after the last row of the table
            indices = self.indices[: len(indices)]
            n_columns += len(indices) - len(points)
            points = points[inside]
        return DocumentRows(
            indptr - indptr[0],
            indices,
            n_columns,
            self.counts[inside],
            self.weights,
            points,
            None if self.live is None else self.live[begin:end],
            self.unknown[begin:end],
            self.cut[begin:end],
        )

    def take(self, positions: Int64Array) -> "DocumentRows":
        """Return a copy with the documents at `positions` only, in the given order.

        Raises
        ------
        ValueError
            If the documents have their own points.
        """
        if self.points is not None:
            raise ValueError("take requires rows over a table; got rows with their own points.")
        starts = self.indptr[positions]
        lengths = self.indptr[positions + 1] - starts
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], lengths)
        chosen = positions.tolist() if self.unknown or self.cut else []
        return DocumentRows(
            indptr,
            self.indices[entries],
            self.n_columns,
            self.counts[entries],
            self.weights,
            None,
            None if self.live is None else self.live[positions],
            [self.unknown[at] for at in chosen] if self.unknown else (),
            [self.cut[at] for at in chosen] if self.cut else (),
        )

    def compact(self, name: str) -> "DocumentRows":
        """Validate the counts, and return a copy with float32 counts if this is exact.

        Counts become float32 if this changes none of them. The copy has no `unknown` and `cut`.

        Parameters
        ----------
        name : str
            Name of the documents in messages.

        Raises
        ------
        ValueError
            If a count is negative or not finite.
        """
        wrong = ~(np.isfinite(self.counts) & (self.counts >= 0))
        if wrong.any():
            at = int(wrong.argmax())
            row = int(np.searchsorted(self.indptr, at, side="right")) - 1
            raise ValueError(
                f"Word weights must be finite and not negative; row {row} of {name} has "
                f"{self.counts[at]} in column {self.indices[at]}."
            )
        with np.errstate(over="ignore", under="ignore"):
            narrow = self.counts.astype(np.float32)
        exact = np.array_equal(narrow, self.counts)
        return DocumentRows(
            self.indptr.copy(),
            self.indices.astype(np.int32),
            self.n_columns,
            narrow if exact else self.counts.copy(),
            self.weights,
            self.points,
            self.live,
        )

    # ------------------------------------------------------------------ word weights

    def weighted_counts(self) -> Float64Array:
        """Return the count of each entry, multiplied by the weight of its word, in float64."""
        counts = self.counts.astype(np.float64, copy=False)
        return counts if self.weights is None else counts * self.weights[self.indices]

    def documents(self) -> _core.Documents:
        """Convert the rows to the `Documents` type of the compiled core."""
        return _core.Documents(self.indptr, self.indices, self.weighted_counts(), self.n_columns)

    def are_empty(self) -> BoolArray:
        """Return a mask that is True for documents without a word of positive weight."""
        heavy = self.weighted_counts() > 0
        before = np.concatenate([[0], np.cumsum(heavy)])
        return np.asarray(before[self.indptr[1:]] == before[self.indptr[:-1]])

    def word_shares(self, row: int) -> tuple[Int32Array, Float64Array]:
        """Return the columns of one document's words, and weights of these words that sum to 1.

        Like the core, this skips words whose weight is negligible compared with the other words.
        """
        part = self if len(self) == 1 else self[row : row + 1]
        weights = part.weighted_counts()
        heavy = np.isin(part.indices, part.documents().words(0))
        if not heavy.any():
            return part.indices[:0], weights[:0]
        return part.indices[heavy], shares(weights[heavy])

    def shares_of(self, row: int, words: Int32Array) -> Float64Array:
        """Return the fraction of one document's total weight for each given word."""
        part = self if len(self) == 1 else self[row : row + 1]
        found = shares(part.weighted_counts())
        return np.asarray(found[np.searchsorted(part.indices, words)])

    def coverage(self, row: int) -> Coverage:
        """Return the `Coverage` of one document: the share of its words that have vectors."""
        unknown = self.unknown[row] if self.unknown else {}
        cut = self.cut[row] if self.cut else {}
        known = float(self.counts[self.indptr[row] : self.indptr[row + 1]].sum())
        total = known + sum(unknown.values()) + sum(cut.values())
        return Coverage(known, total, unknown, cut)


@dataclass(frozen=True, slots=True, eq=False)
class RankedRows:
    """Result of a search as a CSR matrix: one row per query, with found documents and scores.

    Attributes
    ----------
    indptr : ndarray of shape (n_queries + 1,), int64
        Offsets; query i found the rows ``rows[indptr[i]:indptr[i + 1]]``, best first.
    rows : ndarray of int64
        Positions of documents.
    scores : ndarray of float64
        Distances or similarities.
    ascending : bool, default=True
        True if the smallest scores are the best, as with distances.
    stats : mapping of str to ndarray, default={}
        Statistics of each search; the first axis of each array is the query. A transport search
        has "verdicts" (n_queries, 8), the number of documents with each of ``_core.VERDICTS``;
        "refined" (n_queries,), the number of documents whose bound was refined; and "seconds"
        (n_queries, 5), the time of each of ``_core.STAGES``.
    notes : tuple of str, default=()
        Remarks about the search, such as unknown words of the query.

    Raises
    ------
    ValueError
        If the shapes of the arrays disagree.

    Examples
    --------
    >>> import numpy as np
    >>> from textkin.corpus import RankedRows
    >>> found = RankedRows(np.array([0, 2, 2]), np.array([7, 3]), np.array([0.5, 1.5]))
    >>> found[0], len(found[1][0])
    ((array([7, 3]), array([0.5, 1.5])), 0)
    >>> found.filled(2)[0]
    array([[ 7,  3],
           [-1, -1]])
    """

    indptr: Int64Array
    rows: Int64Array
    scores: Float64Array
    ascending: bool = True
    stats: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.indptr) or not len(self.rows) == len(self.scores) == self.indptr[-1]:
            raise ValueError(
                "indptr, rows, and scores must be the arrays of a CSR matrix; got "
                f"{len(self.indptr)} offsets, {len(self.rows)} rows, and {len(self.scores)} scores."
            )
        for name, values in self.stats.items():
            if len(values) != len(self):
                raise ValueError(
                    f"stats must have one entry for each of the {len(self)} queries; "
                    f"{name} has {len(values)}."
                )

    @classmethod
    def of(
        cls, found: Sequence[tuple[Int64Array, Float64Array]], *, ascending: bool = True
    ) -> "RankedRows":
        """Create a `RankedRows` from a pair (positions of documents, scores) for each query."""
        indptr = np.cumsum([0, *(len(rows) for rows, _ in found)], dtype=np.int64)
        if not found:
            return cls(indptr, np.empty(0, np.int64), np.empty(0), ascending)
        rows, scores = zip(*found, strict=True)
        return cls(indptr, np.concatenate(rows), np.concatenate(scores), ascending)

    @classmethod
    def joined(cls, parts: Sequence["RankedRows"]) -> "RankedRows":
        """Concatenate search results of several batches of queries into one `RankedRows`."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        lengths = np.concatenate([np.diff(part.indptr) for part in parts])
        return cls(
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.scores for part in parts]),
            first.ascending,
            {name: np.concatenate([part.stats[name] for part in parts]) for name in first.stats},
            tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, query: int) -> tuple[Int64Array, Float64Array]:
        found = slice(self.indptr[query], self.indptr[query + 1])
        return self.rows[found], self.scores[found]

    def __iter__(self) -> Iterator[tuple[Int64Array, Float64Array]]:
        return (self[query] for query in range(len(self)))

    def of_query(self, query: int) -> "RankedRows":
        """Return the found documents and scores of one query as a `RankedRows` with one row."""
        rows, scores = self[query]
        stats = {name: values[query : query + 1] for name, values in self.stats.items()}
        indptr = np.array([0, len(rows)], np.int64)
        return RankedRows(indptr, rows, scores, self.ascending, stats, self.notes)

    def with_query(self, query: int, other: "RankedRows") -> "RankedRows":
        """Return a copy in which the result of one query is replaced by the one row of `other`."""
        before, after = slice(0, int(self.indptr[query])), slice(int(self.indptr[query + 1]), None)
        lengths = np.diff(self.indptr)
        lengths[query] = len(other.rows)
        stats = {}
        for name, values in self.stats.items():
            stats[name] = values.copy()
            stats[name][query] = other.stats[name][0]
        return RankedRows(
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([self.rows[before], other.rows, self.rows[after]]),
            np.concatenate([self.scores[before], other.scores, self.scores[after]]),
            self.ascending,
            stats,
            self.notes,
        )

    def by_position(self) -> "RankedRows":
        """Return a copy with the documents of each query in order of position, not of score."""
        queries = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        order = np.lexsort((self.rows, queries))
        rows, scores = self.rows[order], self.scores[order]
        return RankedRows(self.indptr, rows, scores, self.ascending, self.stats, self.notes)

    def filled(self, width: int) -> tuple[Int64Array, Float64Array]:
        """Return document positions and scores as dense arrays, padded to `width` columns.

        The width must be at least the largest number of rows. If a query found fewer, the rest is
        -1 with the worst score: infinity, or minus infinity if scores are not ascending.
        """
        present = np.arange(width) < np.diff(self.indptr)[:, np.newaxis]
        rows = np.full(present.shape, -1, dtype=np.int64)
        scores = np.full(present.shape, np.inf if self.ascending else -np.inf)
        rows[present] = self.rows
        scores[present] = self.scores
        return rows, scores


def listed(words: Iterable[str], limit: int = 5) -> str:
    """Format the first `limit` words as quoted, comma-separated text, with the number of others."""
    shown = [repr(word) for word in words]
    more = f" and {len(shown) - limit} more" if len(shown) > limit else ""
    return ", ".join(shown[:limit]) + more


def shares(weights: Float64Array) -> Float64Array:
    """Normalize weights to the sum 1, scaled by the maximum first to avoid overflow."""
    weights = weights / weights.max()
    return np.asarray(weights / weights.sum())
