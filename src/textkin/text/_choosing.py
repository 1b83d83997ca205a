"""Which of the terms of a corpus become its vocabulary."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal

import numpy as np

from textkin import _core
from textkin._typing import Int32Array, Int64Array
from textkin._validation import Constraint, integer

__all__ = ["Statistics", "TermChoice"]

_SHARE = Constraint(
    lambda value: isinstance(value, float | np.floating) and bool(0 <= value <= 1),
    "a share of them (float) from 0.0 to 1.0",
    lambda value: not isinstance(value, float | np.floating),
)
_DOCUMENTS = integer(1) | _SHARE


@dataclass(frozen=True, slots=True)
class TermChoice:
    """The rules by which terms are learnt; the defaults choose all.

    Parameters
    ----------
    min_count : int
        Occurrences in all documents together.
    min_df, max_df : int or float
        Documents that have the term; a float is a share of all documents.
    max_features : int or None
        How many terms at most.
    by : {"count", "tfidf"}
        What `max_features` ranks by: n(w), or n(w) log(N / df(w)).
    """

    min_count: int = 1
    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None
    by: Literal["count", "tfidf"] = "count"

    def check(self, *, given: bool) -> None:
        """Raise unless the rules hold together; with a given vocabulary there is no choice."""
        _DOCUMENTS.check("min_df", self.min_df)
        _DOCUMENTS.check("max_df", self.max_df)
        if not given:
            return
        for name in ("min_count", "min_df", "max_df", "max_features"):
            value, default = getattr(self, name), getattr(TermChoice(), name)
            same_kind = isinstance(value, float) == isinstance(default, float)  # 1 is not 1.0 here
            if value != default or not same_kind:
                raise ValueError(
                    f"{name} must be {default!r} when a vocabulary is given; got {value!r}. "
                    "It chooses the words of a learnt vocabulary: leave one of the two out."
                )

    def chosen(
        self, order: Int32Array, totals: Int64Array, documents: Int64Array, n_documents: int
    ) -> Int32Array:
        """Return the terms that are learnt, in the order of the columns.

        Parameters
        ----------
        order : ndarray of shape (n_terms,), int32
            All terms, in the order of their code points.
        totals, documents : ndarray of shape (n_terms,), int64
            How often each term occurs, and in how many documents.
        n_documents : int
            All documents.
        """
        least = _documents(self.min_df, n_documents, ceil)
        most = _documents(self.max_df, n_documents, floor)
        if most < least:
            raise ValueError(
                f"max_df must allow at least as many documents as min_df asks for; of "
                f"{n_documents} documents, max_df={self.max_df!r} allows {most} and "
                f"min_df={self.min_df!r} asks for {least}."
            )
        met = documents >= max(least, 1)  # a phrase or a form may never have occurred
        kept = met & (totals >= self.min_count) & (documents <= most)
        terms = order[kept[order]]
        if self.max_features is None or len(terms) <= self.max_features:
            return terms
        weights = totals[terms].astype(np.float64)
        if self.by == "tfidf":
            weights *= np.log(n_documents / documents[terms])
        best = np.argsort(-weights, kind="stable")[: self.max_features]
        return terms[np.sort(best)]

    def __str__(self) -> str:
        said = [f"min_count={self.min_count}", f"min_df={self.min_df}", f"max_df={self.max_df}"]
        return ", ".join(said)


class Statistics:
    """How often each term occurs, and in how many documents, summed up block by block."""

    def __init__(self) -> None:
        self.n_documents = 0
        self.totals: Int64Array = np.zeros(0, np.int64)
        self.documents: Int64Array = np.zeros(0, np.int64)

    def add(self, block: _core.WordCounts, n_terms: int) -> None:
        """Count the documents of one more block; there are `n_terms` terms by now."""
        new = np.zeros(n_terms - len(self.totals), np.int64)
        self.totals = np.concatenate([self.totals, new])
        self.documents = np.concatenate([self.documents, new])
        block.add_statistics(self.totals, self.documents)
        self.n_documents += len(block)

    def chosen(self, choice: TermChoice, order: Int32Array) -> Int32Array:
        """Return the terms that are learnt, in the order of the columns."""
        return choice.chosen(order, self.totals, self.documents, self.n_documents)


def _documents(limit: float, n_documents: int, rounded: Callable[[float], int]) -> int:
    """Return a limit as a number of documents."""
    if integer().accepts(limit):
        return int(limit)
    # Shares such as 0.7 are not exact: 0.7 * 10 must be 7, not a little more or less.
    return rounded(round(float(limit) * n_documents, 9))
