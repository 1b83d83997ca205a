"""What is asked of an index, as a value: made of options, changed by an interactive search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textkin.index import Hits, Index
    from textkin.index.ranking._choosing import By
    from textkin.index.ranking._filters import Filter

__all__ = ["Request", "Round", "filter_of", "ranking_of_options"]


@dataclass(frozen=True, slots=True)
class Round:
    """Documents that were marked together.

    Attributes
    ----------
    relevant, nonrelevant : tuple of str
        Their ids.
    """

    relevant: tuple[str, ...] = ()
    nonrelevant: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """All that a search depends on.

    Attributes
    ----------
    text, id : str or None
        What to look for: a text, or a document of the index.
    by : str
        The name of the ranking.
    ranking : By or None
        The ranking itself, where it has parameters of its own.
    k, page : int
        How many hits, and which of the pages of so many; the first is 1.
    threshold : float or None
        Of the score.
    where : tuple of str
        Conditions, all of which must hold.
    feedback_top : int or None
        How many of the first hits the query is moved towards, before anything is shown.
    rounds : tuple of Round
        What was marked since.
    """

    text: str | None = None
    id: str | None = None
    by: str = "bm25"
    ranking: "By | None" = None
    k: int = 10
    page: int = 1
    threshold: float | None = None
    where: tuple[str, ...] = ()
    feedback_top: int | None = None
    rounds: tuple[Round, ...] = ()

    def find(self, index: "Index") -> "Hits":
        """Search, move the query by each round, and turn to the page."""
        moved = bool(self.rounds) or self.feedback_top is not None
        options: dict[str, Any] = {
            "k": self.k,
            "by": self.by if self.ranking is None else self.ranking,
            "threshold": self.threshold,
            "offset": 0 if moved else (self.page - 1) * self.k,
            "where": filter_of(self.where),
        }
        if self.id is not None:
            hits = index.similar(self.id, **options)
        else:
            hits = index.search(self.text or "", **options)
        if self.feedback_top is not None:
            hits = hits.pseudo_feedback(self.feedback_top)
        for marked in self.rounds:
            hits = hits.feedback(relevant=marked.relevant, nonrelevant=marked.nonrelevant)
        return _paged(hits, self.page) if moved and self.page > 1 else hits


def _paged(hits: "Hits", page: int) -> "Hits":
    """Return a page of what a first page is of, in one search however many are before it."""
    from textkin.index.ranking._hits import find

    asking = hits._asking
    return find(replace(asking, offset=(page - 1) * asking.k), hits._query)


def ranking_of_options(
    by: str,
    *,
    variant: str | None = None,
    k1: float | None = None,
    b: float | None = None,
    idf: str | None = None,
) -> "By | None":
    """Return the ranking with these parameters; None if there are none.

    Raises
    ------
    ValueError
        If the ranking has no such parameter, or not this value of it.
    """
    from textkin.weighting import BM25, TfIdf

    values = {"variant": variant, "k1": k1, "b": b, "idf": idf}
    given: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    if not given:
        return None
    owners: dict[str, tuple[Callable[..., By], set[str]]] = {
        "bm25": (BM25, {"k1", "b", "idf"}),
        "tfidf": (TfIdf, {"variant", "idf"}),
    }
    for name in given:
        if by not in owners or name not in owners[by][1]:
            takers = [f"--by {owner}" for owner, (_, names) in owners.items() if name in names]
            raise ValueError(f"--{name} goes with {' and '.join(takers)}; got --by {by}.")
    return owners[by][0](**given)


def filter_of(conditions: Sequence[str]) -> "Filter | None":
    """Return the filter of conditions that must all hold; None if there are none."""
    if not conditions:
        return None
    from textkin.index.ranking._filter_text import parse_filter
    from textkin.index.ranking._filters import group

    try:
        return group("and", [parse_filter(condition) for condition in conditions])
    except TypeError as error:  # in JSON
        raise ValueError(str(error)) from error
