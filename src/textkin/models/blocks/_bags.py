"""What a fit knows of all bags before it begins: one pass, whose sums are those of the parts."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from textkin._typing import Bags
from textkin.models.blocks._passes import Passes
from textkin.run import ProgressCallback
from textkin.weighting import BM25, SIF, TfIdf
from textkin.weighting._statistics import WordStatistics

__all__ = ["BagStatistics", "learn_words", "survey"]


@dataclass(frozen=True, slots=True)
class BagStatistics:
    """Numbers of words, and the range of their weights."""

    words: WordStatistics
    least: float  # of the weights; infinite where there are none
    largest: float  # of their absolute values, 0 where there are none
    squares: float

    @classmethod
    def of(cls, bags: Bags) -> Self:
        with np.errstate(over="ignore", under="ignore"):
            squares = float(np.square(bags.data, dtype=np.float64).sum())
        return cls(
            WordStatistics.of(bags),
            float(bags.data.min(initial=np.inf)),
            float(np.abs(bags.data).max(initial=0)),
            squares,
        )

    def __add__(self, more: "BagStatistics") -> "BagStatistics":
        return BagStatistics(
            self.words + more.words,
            min(self.least, more.least),
            max(self.largest, more.largest),
            self.squares + more.squares,
        )


def survey(
    passes: Passes,
    estimator: Any,  # noqa: ANN401 (a TakesBags)
    progress: ProgressCallback | None = None,
) -> BagStatistics:
    """Return the statistics of all blocks; tell the estimator of their columns."""
    found = None
    for part in passes.first(BagStatistics.of, progress):
        found = part if found is None else found + part
    assert found is not None  # there is a block
    passes.tell_columns(estimator)
    return found


def learn_words(
    weighting: TfIdf | BM25 | SIF, passes: Passes, progress: ProgressCallback | None
) -> None:
    """Fit a weighting."""
    weighting._learn(survey(passes, weighting, progress).words)
