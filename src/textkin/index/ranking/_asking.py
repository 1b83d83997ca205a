"""A search that was asked for, so that its next page or its next round can be asked for too."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn, TypeAlias

import numpy as np

from textkin._typing import BoolArray
from textkin.index.ranking._feedback import Rocchio
from textkin.index.ranking._filters import Filter
from textkin.index.ranking._ranking import Ranked, Ranker, Ranking
from textkin.index.ranking._view import View

__all__ = ["Asking", "NothingToFind", "Scope", "SearchQuery"]

SearchQuery: TypeAlias = str | Mapping[str, float]
"""A text, or words with weights."""


class NothingToFind(Ranker[None]):
    """Any ranking of an index whose documents have no words, or that has none: nothing is found.

    Parameters
    ----------
    view : View
        The state.
    ranking : Ranking
        The one that would have been asked.
    """

    def __init__(self, view: View, ranking: Ranking) -> None:
        self.view = view
        self.ascending = ranking.ascending

    def of_text(self, text: str) -> None:
        """Return no query, as all methods that make one do."""

    def of_row(self, row: int) -> None:
        """Return no query."""

    def of_words(self, weights: Mapping[str, float]) -> None:
        """Return no query."""

    def words_of(self, query: None) -> Mapping[str, float] | None:
        """Return no words."""
        return {}

    def best(
        self,
        query: None,
        limit: int,
        threshold: float | None = None,
        rows: BoolArray | None = None,
    ) -> Ranked:
        """Find nothing."""
        return Ranked(np.empty(0, np.int64), np.empty(0))

    def explain(self, query: None, row: int) -> NoReturn:
        """Raise: there is nothing to explain."""
        raise LookupError("an index without words has no hits to explain.")

    def moved(
        self, query: None, relevant: Sequence[int], nonrelevant: Sequence[int], how: Rocchio
    ) -> None:
        """Return no query."""


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """Which documents may be found.

    Attributes
    ----------
    where : Filter or None
        What they must fulfil.
    rows : ndarray of bool or None
        Which rows that leaves; None: all.
    unknown_fields : tuple of str
        Fields of the filter that no document has.
    notes : tuple of str
        What a user should know about the filter, in sentences.
    """

    where: Filter | None = None
    rows: BoolArray | None = None
    unknown_fields: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Asking:
    """All that a search depends on, but for its query in the ranker's form.

    Attributes
    ----------
    by : object
        The ranking as the user named it.
    ranker : Ranker
        Ranks the documents.
    k, offset : int
        How many hits, and how many better ones are passed over.
    threshold : float or None
        Of scores.
    scope : Scope
        Which documents may be found.
    query : str, mapping or None
        What the user wrote: a text, or words with weights.
    like : str or None
        The id of the document that others shall be like.
    rounds : int
        How often feedback has moved the query.
    """

    by: object
    ranker: Ranker[Any]
    k: int
    offset: int = 0
    threshold: float | None = None
    scope: Scope = Scope()
    query: SearchQuery | None = None
    like: str | None = None
    rounds: int = 0

    @property
    def view(self) -> View:
        """The state of the index that is searched."""
        return self.ranker.view

    @property
    def text(self) -> str | None:
        """The text that the user wrote."""
        return self.query if isinstance(self.query, str) else None

    def of(self, query: SearchQuery) -> "Asking":
        """Return the same for another query."""
        kept = query if isinstance(query, str) else dict(query)  # the user's may change
        return replace(self, query=kept)

    @cached_property
    def words(self) -> dict[str, float]:
        """The words of what was asked for as the index counts them, with counts or weights."""
        if isinstance(self.query, str):
            return {word: float(n) for word, n in Counter(self.view.read(self.query)).items()}
        if self.query is not None:
            return dict(self.query)
        row = None if self.like is None else self.view.row_of(self.like)
        if row is None:
            return {}
        bag = self.view.bag_of_row(row)
        names = self.view.words
        counted = zip(bag.words.tolist(), bag.counts.tolist(), strict=True)
        return {names[word]: count for word, count in counted}

    def frequencies(self, words: Sequence[str]) -> list[int]:
        """Return in how many documents each word occurs."""
        numbers = self.view.snapshot.find(words)
        found = np.zeros(len(words), np.int64)
        known = numbers >= 0
        found[known] = self.view.frequencies[numbers[known]]
        return found.tolist()

    def searched(self) -> int:
        """Count the documents that may be found."""
        rows = self.scope.rows
        if rows is None:
            return self.view.n_documents
        return int(np.count_nonzero(self.view.live & rows))
