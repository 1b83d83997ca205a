"""What the weightings learn from bags: sums, which those of parts add up to."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from textkin._typing import Bags, Float64Array, Int64Array

__all__ = ["WordStatistics"]


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """How many documents there are and have each word, and how much there is of it."""

    n_documents: int
    document_frequencies: Int64Array  # (n_words,)
    totals: Float64Array  # (n_words,): sums of counts
    length: float  # the sum of all counts; infinite where it is too large

    @classmethod
    def of(cls, bags: Bags) -> Self:
        """Return the statistics of checked bags, in which no zero is stored."""
        n_documents, n_words = bags.shape
        with np.errstate(over="ignore"):  # told by those who need it
            return cls(
                n_documents,
                np.bincount(bags.indices, minlength=n_words),
                np.asarray(np.bincount(bags.indices, bags.data, n_words), dtype=np.float64),
                float(bags.data.sum(dtype=np.float64)),
            )

    def __add__(self, more: "WordStatistics") -> "WordStatistics":
        with np.errstate(over="ignore"):
            return WordStatistics(
                self.n_documents + more.n_documents,
                self.document_frequencies + more.document_frequencies,
                self.totals + more.totals,
                self.length + more.length,
            )
