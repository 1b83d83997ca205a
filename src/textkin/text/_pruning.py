"""Selection of the vocabulary by limits on document frequency and size."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal

import numpy as np

from textkin import _core
from textkin._base import Constraint, Int32Array, Int64Array, integer
from textkin.exceptions import ParameterError

__all__ = ["TermPruning", "TermStatistics"]

_SHARE = Constraint(
    lambda value: isinstance(value, float | np.floating) and bool(0 <= value <= 1),
    "a share of them (float) from 0.0 to 1.0",
    lambda value: not isinstance(value, float | np.floating),
)
_DOCUMENTS = integer(1) | _SHARE


@dataclass(frozen=True, slots=True)
class TermPruning:
    """Limits on document frequency and size that select the terms of a vocabulary.

    Parameters
    ----------
    min_count : int
        Minimum number of occurrences in the corpus.
    min_df, max_df : int or float
        Minimum and maximum document frequency; a float is a fraction of all documents.
    max_features : int or None
        Maximum number of terms.
    by : {"count", "tfidf"}
        Weight that `max_features` ranks by: n(w), or n(w) log(N / df(w)).
    """

    min_count: int = 1
    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None
    by: Literal["count", "tfidf"] = "count"

    def check(self, *, given: bool) -> None:
        """Raise if a limit is invalid, or set together with a given vocabulary."""
        _DOCUMENTS.check("min_df", self.min_df)
        _DOCUMENTS.check("max_df", self.max_df)
        if not given:
            return
        for name in ("min_count", "min_df", "max_df", "max_features"):
            value, default = getattr(self, name), getattr(TermPruning(), name)
            same_kind = isinstance(value, float) == isinstance(
                default, float
            )  # distinguish 1 from 1.0
            if value != default or not same_kind:
                raise ParameterError(
                    name,
                    f"{default!r} when a vocabulary is given",
                    repr(value),
                    "It selects words of a learned vocabulary: omit one of the two.",
                )

    def select(
        self, order: Int32Array, totals: Int64Array, documents: Int64Array, n_documents: int
    ) -> Int32Array:
        """Return the IDs of the terms within the limits, in column order.

        Parameters
        ----------
        order : ndarray of shape (n_terms,), int32
            All terms in the order of their code points.
        totals, documents : ndarray of shape (n_terms,), int64
            Number of occurrences and document frequency of each term.
        n_documents : int
            Number of documents.
        """
        least = _document_limit(self.min_df, n_documents, ceil)
        most = _document_limit(self.max_df, n_documents, floor)
        if most < least:
            raise ValueError(
                f"max_df must allow at least as many documents as min_df requires; for "
                f"{n_documents} documents, max_df={self.max_df!r} allows {most} and "
                f"min_df={self.min_df!r} requires {least}."
            )
        met = documents >= max(least, 1)  # some known terms do not occur in the texts
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


class TermStatistics:
    """Total count and document frequency of each term, summed over blocks."""

    def __init__(self) -> None:
        self.n_documents = 0
        self.totals: Int64Array = np.zeros(0, np.int64)
        self.documents: Int64Array = np.zeros(0, np.int64)

    def add(self, block: _core.WordCounts, n_terms: int) -> None:
        """Add the term counts of a block of documents to the sums."""
        new = np.zeros(n_terms - len(self.totals), np.int64)
        self.totals = np.concatenate([self.totals, new])
        self.documents = np.concatenate([self.documents, new])
        block.add_statistics(self.totals, self.documents)
        self.n_documents += len(block)

    def select(self, choice: TermPruning, order: Int32Array) -> Int32Array:
        """Return the IDs of the terms within the limits of `choice`, in column order."""
        return choice.select(order, self.totals, self.documents, self.n_documents)


def _document_limit(limit: float, n_documents: int, round_limit: Callable[[float], int]) -> int:
    """Convert a document-frequency limit (a number or a fraction) to a number of documents."""
    if integer().accepts(limit):
        return int(limit)
    # Fractions such as 0.7 are inexact: 0.7 * 10 must be exactly 7.
    return round_limit(round(float(limit) * n_documents, 9))
