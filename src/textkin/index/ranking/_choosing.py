"""From what a user asks for (`by`) to a ranking."""

from collections.abc import Callable, Container, Iterable
from typing import TypeAlias

from textkin.index.ranking._hybrids import usual_hybrid
from textkin.index.ranking._models import ModelRanking
from textkin.index.ranking._ranking import Ranking
from textkin.index.ranking._terms import TermRanking
from textkin.index.ranking._transport import TransportRanking
from textkin.transport import WordMover
from textkin.weighting import BM25, TfIdf

__all__ = ["NAMES", "By", "name_of", "ranking_of"]

By: TypeAlias = str | TfIdf | BM25 | WordMover | Ranking
"""A ranking by its name, a weighting of words, a distance of words, or a ranking itself."""

_NAMED: dict[str, Callable[[], Ranking]] = {
    "bm25": lambda: TermRanking(BM25()),
    "tfidf": lambda: TermRanking(TfIdf(), "cosine"),
    "cosine": lambda: TermRanking("counts", "cosine"),
    "inner": lambda: TermRanking("counts", "inner"),
    "binary": lambda: TermRanking("binary", "inner"),
    "wmd": lambda: TransportRanking("wmd"),
    "rwmd": lambda: TransportRanking("rwmd"),
    "wcd": lambda: TransportRanking("wcd"),
    "hybrid": usual_hybrid,
}
_OTHERS = "a TfIdf, a BM25, a WordMover or a ranking"
_made: dict[str, Ranking] = {}

NAMES = tuple(dict.fromkeys((*_NAMED, "hybrid")))
"""The rankings that every index has; no model can be called so."""


def ranking_of(by: By, models: Container[str] | None = None) -> Ranking:
    """Return the ranking that a user names.

    Parameters
    ----------
    by : str, TfIdf, BM25 or ranking
        What a user asks for.
    models : container of str, optional
        The names of the models that are attached to the index; where that is not known yet, any
        other name is taken for one, and refused when the ranking meets an index without it.

    Raises
    ------
    ValueError, TypeError
        If there is none.
    """
    if isinstance(by, Ranking):
        return by
    if isinstance(by, str) and by in _NAMED:
        if by not in _made:
            _made[by] = _NAMED[by]()
        return _made[by]
    if isinstance(by, BM25):
        return TermRanking(by)
    if isinstance(by, TfIdf):
        return TermRanking(by, "cosine")
    if isinstance(by, WordMover):
        return TransportRanking.of(by)
    if isinstance(by, str) and (models is None or by in models):
        return ModelRanking(by)
    attached: list[str] = sorted(models) if isinstance(models, Iterable) else []
    names = ", ".join(map(repr, [*_NAMED, *attached]))
    if isinstance(by, str):
        raise ValueError(f"by must be one of {names}, {_OTHERS}; got {by!r}.")
    raise TypeError(f"by must be one of {names}, {_OTHERS}; got {type(by).__name__}.")


def name_of(ranking: Ranking) -> str | None:
    """Return the name of a ranking, or None if it has none."""
    if isinstance(ranking, ModelRanking) and ranking == ModelRanking(ranking.name):
        return ranking.name
    return next((name for name in _NAMED if ranking_of(name) == ranking), None)
