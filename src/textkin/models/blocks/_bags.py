"""What a fit knows of all bags before it begins: one pass, whose sums are those of the parts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from textkin._typing import Bags
from textkin.models.blocks._passes import Passes
from textkin.models.blocks._sources import Block
from textkin.run import ProgressCallback
from textkin.weighting import BM25, SIF, TfIdf
from textkin.weighting._rows import TakesBags
from textkin.weighting._statistics import WordStatistics

__all__ = ["BagStatistics", "Reading", "learn_words", "same_columns", "survey", "take_columns"]


@dataclass(frozen=True, slots=True)
class Reading:
    """How an estimator reads bags."""

    takes_negative: bool
    keeps_zeros: bool

    @classmethod
    def of(cls, estimator: TakesBags) -> Self:
        return cls(estimator._takes_negative, estimator._keeps_zeros)

    def bags(self, block: Block) -> Bags:
        """Open a block."""
        return block.bags(takes_negative=self.takes_negative, keeps_zeros=self.keeps_zeros)


@dataclass(frozen=True, slots=True)
class BagStatistics:
    """Numbers of words, and the range of their weights."""

    words: WordStatistics
    rows: tuple[int, ...]  # of each block
    single: bool  # all in float32
    least: float  # of the weights; infinite where there are none
    largest: float  # of their absolute values, 0 where there are none
    squares: float

    @classmethod
    def of(cls, bags: Bags) -> Self:
        with np.errstate(over="ignore", under="ignore"):
            squares = float(np.square(bags.data, dtype=np.float64).sum())
        return cls(
            WordStatistics.of(bags),
            (bags.shape[0],),
            bags.dtype == np.float32,
            float(bags.data.min(initial=np.inf)),
            float(np.abs(bags.data).max(initial=0)),
            squares,
        )

    def __add__(self, more: "BagStatistics") -> "BagStatistics":
        return BagStatistics(
            self.words + more.words,
            self.rows + more.rows,
            self.single and more.single,
            min(self.least, more.least),
            max(self.largest, more.largest),
            self.squares + more.squares,
        )


@dataclass(frozen=True, slots=True)
class _Survey:
    reading: Reading

    def __call__(self, block: Block) -> BagStatistics:
        return BagStatistics.of(self.reading.bags(block))


def survey(
    passes: Passes,
    estimator: Any,  # noqa: ANN401 (a TakesBags)
    progress: ProgressCallback | None = None,
) -> BagStatistics:
    """Return the statistics of all blocks; tell the estimator how many columns they have."""
    found = None
    columns = []
    for part in passes.over(_Survey(Reading.of(estimator)), progress=progress):
        columns.append(len(part.words.totals))
        same_columns(columns)
        found = part if found is None else found + part
    assert found is not None  # there is a block
    take_columns(estimator, columns[0], found.words.n_documents)
    return found


def learn_words(
    weighting: TfIdf | BM25 | SIF, passes: Passes, progress: ProgressCallback | None
) -> None:
    """Fit a weighting."""
    weighting._learn(survey(passes, weighting, progress).words)


def same_columns(columns: Iterable[int]) -> None:
    """Refuse blocks that differ in their columns."""
    first, *others = columns
    for number, more in enumerate(others, 1):
        if more != first:
            raise ValueError(
                f"All blocks must have the same columns; block 0 has {first} and block {number} "
                f"has {more}."
            )


def take_columns(estimator: Any, columns: int, rows: int) -> None:  # noqa: ANN401
    """Do what `fit` does with the shape of its rows."""
    if rows < 1:
        raise ValueError("The blocks must have at least one row together; all of them are empty.")
    estimator.n_features_in_ = columns
    vars(estimator).pop("feature_names_in_", None)  # of a fit before: blocks have no names
