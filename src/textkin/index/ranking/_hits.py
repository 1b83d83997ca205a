"""What a search found: light, with documents fetched when they are looked at."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

from textkin._typing import BoolArray, Float64Array
from textkin.index.ranking._feedback import Rocchio
from textkin.index.ranking._ranking import Explanation, Ranked, Ranker, Ranking
from textkin.text import Document

__all__ = ["Asking", "Hit", "Hits", "Query"]


@dataclass(frozen=True, slots=True)
class Query:
    """What was looked for.

    Attributes
    ----------
    text : str or None
        What was asked; None for words with weights.
    words : mapping of str to float, or None
        The words of the ranking with their weights, the heaviest first; None for a ranking
        without words.
    """

    text: str | None
    words: Mapping[str, float] | None


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """All that a search depends on but for its query, so that it can be done again.

    Attributes
    ----------
    ranking, ranker : Ranking, Ranker
        How documents are ranked.
    k, offset : int
        How many hits, and how many better ones are passed over.
    threshold : float or None
        Of scores.
    rows : ndarray of bool or None
        Which rows may be found.
    text : str or None
        What a user wrote.
    """

    ranking: Ranking
    ranker: Ranker[Any]
    k: int
    offset: int = 0
    threshold: float | None = None
    rows: BoolArray | None = None
    text: str | None = None

    def with_text(self, text: str) -> "Asking":
        """Return the same with what a user wrote."""
        return replace(self, text=text)

    def find(self, query: Any) -> "Hits":  # noqa: ANN401 (of the ranker)
        """Find the best documents."""
        ranked = self.ranker.best(query, self.offset + self.k, self.threshold, self.rows)
        return Hits(self, query, ranked)


class Hits(Sequence["Hit"]):
    """The documents that a search found, the best first.

    Parameters
    ----------
    asking : Asking
        What was asked for.
    query : object
        In the form of its ranker.
    ranked : Ranked
        What was found, from the very best on.

    Attributes
    ----------
    scores : ndarray of float64
        The score of each hit.
    """

    def __init__(self, asking: Asking, query: Any, ranked: Ranked) -> None:  # noqa: ANN401
        self._asking = asking
        self._query = query
        self._ranked = ranked
        self._rows = ranked.rows[asking.offset :]
        self.scores: Float64Array = ranked.scores[asking.offset :]

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> "Hit": ...
    @overload
    def __getitem__(self, at: slice) -> "list[Hit]": ...
    def __getitem__(self, at: int | slice) -> "Hit | list[Hit]":
        if isinstance(at, slice):
            return [Hit(self, place) for place in range(*at.indices(len(self)))]
        place = at + len(self) if at < 0 else at
        if not 0 <= place < len(self):
            raise IndexError(f"there are {len(self)} hits; got position {at}")
        return Hit(self, place)

    def __iter__(self) -> Iterator["Hit"]:
        return (Hit(self, place) for place in range(len(self)))

    @cached_property
    def ids(self) -> list[str]:
        """The id of each hit."""
        return self._asking.ranker.view.ids(self._rows)

    @cached_property
    def query(self) -> Query:
        """What was looked for, to look at."""
        return Query(self._asking.text, self._asking.ranker.words_of(self._query))

    def next(self) -> "Hits":
        """Return the next page of hits."""
        asking = self._asking
        return replace(asking, offset=asking.offset + asking.k).find(self._query)

    def feedback(
        self,
        relevant: Sequence[str] = (),
        nonrelevant: Sequence[str] = (),
        *,
        alpha: float = 1.0,
        beta: float = 0.75,
        gamma: float = 0.15,
        n_terms: int | None = 50,
    ) -> "Hits":
        """Move the query towards relevant documents and away from others, and search again."""
        view, ranker = self._asking.ranker.view, self._asking.ranker
        rows = [[view.row_of(id) for id in ids] for ids in (relevant, nonrelevant)]
        moved = ranker.moved(self._query, *rows, Rocchio(alpha, beta, gamma, n_terms))
        return replace(self._asking, offset=0).find(moved)


class Hit:
    """A document that was found.

    Parameters
    ----------
    hits : Hits
        All of them.
    place : int
        Which one.
    """

    __slots__ = ("_hits", "_place")

    def __init__(self, hits: Hits, place: int) -> None:
        self._hits = hits
        self._place = place

    @property
    def score(self) -> float:
        """The score; of a distance, small is near."""
        return float(self._hits.scores[self._place])

    @property
    def id(self) -> str:
        """The id of the document."""
        return self._hits.ids[self._place]

    @property
    def document(self) -> Document:
        """The document, fetched from the index as it was when it was searched."""
        view = self._hits._asking.ranker.view
        return view.documents([int(self._hits._rows[self._place])])[0]

    def explain(self) -> Explanation:
        """Return the parts that sum to the score."""
        hits = self._hits
        asking, row = hits._asking, int(hits._rows[self._place])
        return asking.ranker.explain_among(hits._query, row, asking.rows)
