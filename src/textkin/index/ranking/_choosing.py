"""From what a user asks for (`by`) to a ranking."""

from collections.abc import Callable, Container
from typing import TypeAlias

from textkin.index.ranking._models import ModelRanking
from textkin.index.ranking._ranking import Ranking
from textkin.index.ranking._terms import TermRanking
from textkin.weighting import BM25, TfIdf

__all__ = ["NAMES", "By", "ranking_of"]

By: TypeAlias = str | TfIdf | BM25 | Ranking
"""A ranking by its name, a weighting of words, or a ranking itself."""

_NAMED: dict[str, Callable[[], Ranking]] = {
    "bm25": lambda: TermRanking(BM25()),
    "tfidf": lambda: TermRanking(TfIdf(), "cosine"),
    "cosine": lambda: TermRanking("counts", "cosine"),
    "inner": lambda: TermRanking("counts", "inner"),
    "binary": lambda: TermRanking("binary", "inner"),
}
_made: dict[str, Ranking] = {}

NAMES = (*_NAMED, *(name for name in ("wmd", "rwmd", "wcd", "hybrid") if name not in _NAMED))
"""The rankings that every index has; no model can be called so."""


def ranking_of(by: By, models: Container[str] = ()) -> Ranking:
    """Return the ranking that a user names.

    Parameters
    ----------
    by : str, TfIdf, BM25 or ranking
        What a user asks for.
    models : container of str
        The names of the models that are attached to the index.

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
    if isinstance(by, str) and by in models:
        return ModelRanking(by)
    names = ", ".join(map(repr, _NAMED))
    if isinstance(by, str):
        raise ValueError(f"by must be one of {names}, a TfIdf, a BM25 or a ranking; got {by!r}.")
    raise TypeError(
        f"by must be one of {names}, a TfIdf, a BM25 or a ranking; got {type(by).__name__}."
    )
