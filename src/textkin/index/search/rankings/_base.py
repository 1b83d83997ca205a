"""Interfaces `Ranking` (a value) and `Scorer` (a ranking bound to a snapshot).

A `Ranking` is a value: equal rankings give equal results, and each snapshot of an index prepares
their data once. A `Scorer` is a ranking bound to an `IndexState`. It makes queries in its own form,
finds the best rows, explains scores, and applies relevance feedback to queries.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, NoReturn, TypeAlias, TypeVar

import numpy as np

from textkin._base import BoolArray, Float64Array, Int64Array
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.explain import AlignedText, Explanation
from textkin.index.search._feedback import FeedbackRound
from textkin.index.search._state import IndexState

__all__ = ["ComparedWords", "EmptyScorer", "Ranking", "ScoredRows", "Scorer", "ScorerOf"]

Q = TypeVar("Q")
"""Query in the form of a scorer; immutable, so that it can be cached."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """Rows and scores of the found documents, best first, with notes and statistics.

    Attributes
    ----------
    rows : ndarray of int64
        Row numbers in the snapshot.
    scores : ndarray of float64
        Scores of the rows.
    stats : dict of str to number
        Counts of the work done, named by the ranking.
    notes : tuple of str
        Remarks about the result for the user, as sentences.
    """

    rows: Int64Array
    scores: Float64Array
    stats: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class ComparedWords(NamedTuple):
    """Words of a text that a transport ranking compares, and the words without a vector.

    Attributes
    ----------
    known : dict of str to float
        Words with a vector.
    unknown : dict of str to float
        Words without a vector. Stop words are in neither.
    """

    known: dict[str, float]
    unknown: dict[str, float]


class Scorer(ABC, Generic[Q]):
    """Base class of rankings bound to one snapshot; scores its documents for queries.

    Attributes
    ----------
    state : IndexState
        Snapshot of the index.
    ascending : bool
        True if scores are distances, so that the smallest is the best.
    """

    state: IndexState
    ascending: bool = False

    @abstractmethod
    def of_text(self, text: str) -> Q:
        """Convert a query text to the representation by which this ranking scores documents."""

    def of_embedding(self, vector: Float64Array, text: str | None) -> Q:
        """Convert a vector (for models) or a text (for other rankings) to a query.

        Raises
        ------
        ParameterError
            If the ranking needs a text, and there is none.
        """
        if text is None:
            raise ParameterError(
                "embedding",
                "passed with a query for a ranking by words",
                "an embedding alone",
                "Pass the text as well: `search(text, embedding=vector, ...)`.",
            )
        return self.of_text(text)

    @property
    def takes_embeddings(self) -> bool:
        """True if queries can be vectors of an attached model."""
        return False

    @property
    def reads_words(self) -> bool:
        """True if query words that are in no document are ignored."""
        return True

    @abstractmethod
    def of_row(self, row: int) -> Q:
        """Convert a document of the index to a query for similar documents."""

    @abstractmethod
    def of_words(self, weights: Mapping[str, float]) -> Q:
        """Convert words with weights to the representation by which this ranking scores.

        Raises
        ------
        ValueError
            If queries of this ranking have no words.
        """

    @abstractmethod
    def words_of(self, query: Q) -> Mapping[str, float] | None:
        """Return the words of a query with weights, largest first, or None."""

    @abstractmethod
    def best(
        self, query: Q, limit: int, threshold: float | None = None, rows: BoolArray | None = None
    ) -> ScoredRows:
        """Return the `limit` documents with the best scores for a query, best first.

        Parameters
        ----------
        query : object
            Query made by this scorer.
        limit : int
            Maximum number of documents, at least 1.
        threshold : float or None
            Minimum score, or maximum score if `ascending` (inclusive).
        rows : ndarray of bool or None
            Mask of the rows that may be found. Deleted documents are never found.

        Returns
        -------
        ScoredRows
            The same rows as if every document were scored. Documents that have nothing in common
            with the query, or nothing to compare, are not found.
        """

    def best_of_each(
        self,
        queries: Sequence[Q],
        limit: int,
        thresholds: Sequence[float | None],
        rows: BoolArray | None = None,
    ) -> list[ScoredRows]:
        """Return the best documents of each query, each with its own threshold.

        The result equals a call of `best` per query. Scorers override this method if they are
        faster on several queries.
        """
        return [
            self.best(query, limit, threshold, rows)
            for query, threshold in zip(queries, thresholds, strict=True)
        ]

    @abstractmethod
    def explain(self, query: Q, row: int) -> Explanation:
        """Explain the score of any document for a query as a sum of parts."""

    def explain_among(self, query: Q, row: int, rows: BoolArray | None) -> Explanation:
        """Explain the score of a document in a search that only some rows take part in.

        The result equals `explain`, except for hybrids, whose scores depend on other candidates.
        """
        return self.explain(query, row)

    def explain_text(self, query: Q, text: str) -> Explanation:
        """Explain the score that a text would have as a document of the index.

        Raises
        ------
        ParameterError
            If this ranking scores only documents of the index.
        """
        raise ParameterError(
            "ranking",
            "a ranking by words, by transport, or by a model, to score a text",
            type(self).__name__,
            "Pass `ranking='tfidf'`.",
        )

    def aligned(self, query: Q, row: int) -> AlignedText | None:
        """Return both texts with each word's transport distance, or None without transport."""
        return None

    def align(self, explanation: Explanation, source: str, target: str) -> AlignedText | None:
        """Return two texts with each word's transport distance from an explanation, or None."""
        return None

    def compared_words(self, query: Q) -> ComparedWords | None:
        """Return a query's words with and without vectors, or None without word vectors."""
        return None

    @abstractmethod
    def moved(
        self, query: Q, relevant: Sequence[int], nonrelevant: Sequence[int], how: FeedbackRound
    ) -> Q:
        """Return the query after Rocchio feedback: toward relevant, away from nonrelevant rows."""


class Ranking(ABC):
    """Base class of rankings: hashable values that say how documents are scored.

    Attributes
    ----------
    ascending : bool
        True if scores are distances, so that the smallest is the best.
    """

    ascending: bool = False

    @abstractmethod
    def bind(self, state: IndexState, scorer_of: "ScorerOf") -> Scorer[Any]:
        """Create the scorer that applies this ranking to a snapshot of an index.

        Parameters
        ----------
        state : IndexState
            Snapshot of the index.
        scorer_of : callable
            Function that returns the scorer of another ranking in the same snapshot, such as a
            part of a hybrid. Call it at once and do not store it, because its owner stores the
            scorers.
        """

    def to_json(self) -> dict[str, Any]:
        """Return the type and the parameters of the ranking as a dict of JSON types.

        Raises
        ------
        ParameterTypeError
            If JSON cannot represent the ranking.
        """
        raise ParameterTypeError(
            "ranking",
            "a name, or a ranking that can be written as JSON",
            repr(self),
            "Pass `ranking='bm25'`, or a ranking without arrays that runs in this process.",
        )


ScorerOf: TypeAlias = Callable[[Ranking], Scorer[Any]]
"""Function that returns the scorer of a ranking in one snapshot."""


class EmptyScorer(Scorer[None]):
    """Scorer of an index without documents or words; every search finds nothing.

    Parameters
    ----------
    state : IndexState
        Snapshot of the index.
    ranking : Ranking
        Ranking that the search requested.
    """

    def __init__(self, state: IndexState, ranking: Ranking) -> None:
        self.state = state
        self.ascending = ranking.ascending

    def of_text(self, text: str) -> None:
        """Return None, because an index without documents scores nothing."""

    def of_row(self, row: int) -> None:
        """Return None, because an index without documents scores nothing."""

    def of_words(self, weights: Mapping[str, float]) -> None:
        """Return None, because an index without documents scores nothing."""

    def words_of(self, query: None) -> Mapping[str, float] | None:
        """Return an empty dict, because the query has no words."""
        return {}

    def best(
        self,
        query: None,
        limit: int,
        threshold: float | None = None,
        rows: BoolArray | None = None,
    ) -> ScoredRows:
        """Return an empty result, because the index has no documents."""
        return ScoredRows(np.empty(0, np.int64), np.empty(0))

    def explain(self, query: None, row: int) -> NoReturn:
        """Raise LookupError, because there is no score to explain."""
        raise LookupError("the index must have words to explain a score; add documents first.")

    def moved(
        self, query: None, relevant: Sequence[int], nonrelevant: Sequence[int], how: FeedbackRound
    ) -> None:
        """Return None, because an index without documents scores nothing."""
