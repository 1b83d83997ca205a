"""What a ranking is: a description that can be bound to a state of an index, and then asks it.

A `Ranking` is a value: two that are equal give the same answers, and what one of them needs is
made once for each state of an index. A `Ranker` is a ranking bound to a `View`. It makes queries in
a form of its own, finds the best rows, explains, and moves a query towards documents.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from textkin._typing import BoolArray, Float64Array, Int64Array
from textkin.explain import AlignedText, Explanation
from textkin.index.ranking._feedback import Rocchio
from textkin.index.ranking._view import View

__all__ = ["Ranked", "Ranker", "Ranking"]

Q = TypeVar("Q")
"""A query in the form that a ranker wants it; never changed, so that it can be kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Rows that were found, the best first, equal ones in the order of rows.

    Attributes
    ----------
    rows : ndarray of int64
        Rows of the view.
    scores : ndarray of float64
        Their scores.
    stats : dict of str to number
        What it took, by names of the ranking.
    notes : tuple of str
        What a user should know about this answer, in sentences.
    """

    rows: Int64Array
    scores: Float64Array
    stats: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Ranker(ABC, Generic[Q]):
    """A ranking bound to one state of an index; safe to be used by several threads.

    Attributes
    ----------
    view : View
        The state.
    ascending : bool
        Whether small scores are near, as with distances.
    """

    view: View
    ascending: bool = False

    @abstractmethod
    def of_text(self, text: str) -> Q:
        """Return the query that a text is."""

    @abstractmethod
    def of_row(self, row: int) -> Q:
        """Return the query that a document of the index is."""

    @abstractmethod
    def of_words(self, weights: Mapping[str, float]) -> Q:
        """Return the query of words with weights, taken as they are: what `words_of` shows.

        Raises
        ------
        ValueError
            If this ranking has no words.
        """

    @abstractmethod
    def words_of(self, query: Q) -> Mapping[str, float] | None:
        """Return the words of a query with weights, the heaviest first; None if it has none."""

    @abstractmethod
    def best(
        self, query: Q, limit: int, threshold: float | None = None, rows: BoolArray | None = None
    ) -> Ranked:
        """Find the best documents.

        Parameters
        ----------
        query : object
            Made by this ranker.
        limit : int
            How many at most, at least 1.
        threshold : float or None
            The score that they must have at least (at most, if `ascending`).
        rows : ndarray of bool or None
            Which rows may be found; deleted ones never are, whatever this says.

        Returns
        -------
        Ranked
            The same as scoring every document would give; documents that have nothing in common
            with the query, or nothing to compare, are not found.
        """

    def best_of_each(
        self,
        queries: Sequence[Q],
        limit: int,
        thresholds: Sequence[float | None],
        rows: BoolArray | None = None,
    ) -> list[Ranked]:
        """Find the best documents of several queries, each with a threshold of its own.

        As `best` for one after another; rankers that can do better together do.
        """
        return [
            self.best(query, limit, threshold, rows)
            for query, threshold in zip(queries, thresholds, strict=True)
        ]

    @abstractmethod
    def explain(self, query: Q, row: int) -> Explanation:
        """Return the parts that sum to the score of a document, found or not."""

    def explain_among(self, query: Q, row: int, rows: BoolArray | None) -> Explanation:
        """Explain the score that a document has where only some rows may be found.

        As `explain`, but for hybrids: their scores depend on the other candidates.
        """
        return self.explain(query, row)

    def aligned(self, query: Q, row: int) -> AlignedText | None:
        """Return query and document as two texts whose words travel; None if none does."""
        return None

    @abstractmethod
    def moved(
        self, query: Q, relevant: Sequence[int], nonrelevant: Sequence[int], how: Rocchio
    ) -> Q:
        """Move a query towards some rows and away from others."""


class Ranking(ABC):
    """How documents are ranked: a value that can be hashed and compared.

    Attributes
    ----------
    ascending : bool
        Whether small scores are near, as with distances.
    """

    ascending: bool = False

    @abstractmethod
    def bind(self, view: View) -> Ranker[Any]:
        """Make what is needed to rank the documents of a view."""

    def on(self, view: View) -> Ranker[Any]:
        """Return the ranker of a view, made once."""
        return view.ranker(self, lambda: self.bind(view))
