"""EM for mixtures over blocks of rows, in this process or on workers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from textkin._base import Float64Array, IntpArray
from textkin.models._block_passes import Block, Passes
from textkin.models.mixture._densities import (
    GaussianFamily,
    Scale,
    sum_of_rows,
    sums_about,
    variance_of,
)
from textkin.models.mixture._em import Logits, Sums
from textkin.models.mixture._em_core import CoreRows
from textkin.models.mixture._gaussian import DiagonalGaussianMixture
from textkin.models.mixture._von_mises_fisher import VonMisesFisherMixture
from textkin.run import ProgressCallback, single_blas_thread

__all__ = ["fit_mixture"]


def fit_mixture(
    mixture: DiagonalGaussianMixture | VonMisesFisherMixture,
    passes: Passes,
    progress: ProgressCallback | None,
) -> None:
    """Fit a mixture to blocks of rows of equal weight, with the result of its `fit`."""
    directed = tuple(passes.first(_directed))
    passes.set_columns(mixture)
    counts = tuple(summary.rows for summary in passes.summaries)
    if isinstance(mixture, DiagonalGaussianMixture):
        n_rows = sum(counts)
        shift = _sum_of(passes.over(_Moment(n_rows)))
        with np.errstate(over="ignore", invalid="ignore"):  # overflow raises in `Scale`
            variance = variance_of(_sum_of(passes.over(_Moment(n_rows, shift))))
        scale = Scale.of_moments(shift, variance)
        family: Any = GaussianFamily(scale, float(mixture.variance_floor))
    else:
        family = mixture._make_family(passes.summaries[0].columns)
        counts = directed
        if not any(counts):
            raise ValueError("X must have rows with a direction; all rows are zero.")
    mixture._fit_rows(family, BlockRows(passes, _RowFrame(family, passes.dtype), counts), progress)
    mixture._warn_convergence(stacklevel=5)


def _directed(values: NDArray[Any]) -> int:
    """Return the number of nonzero rows, because rows of zeros have no direction."""
    return int(np.count_nonzero(values.any(axis=1)))


@dataclass(frozen=True, slots=True)
class _Moment:
    """Task that computes a block's share of the mean, or of sums of differences from a point."""

    n_rows: int
    shift: Float64Array | None = None

    def __call__(self, block: Block) -> Float64Array:
        values = block.read()
        shares = np.full(len(values), 1 / self.n_rows)
        with single_blas_thread, np.errstate(over="ignore", invalid="ignore"):
            if self.shift is None:
                return sum_of_rows(values, shares)
            return sums_about(values, shares, self.shift)


@dataclass(frozen=True, slots=True)
class _RowFrame:
    """Conversion of rows to the components' coordinates (standardized or L2-normalized)."""

    family: Any
    dtype: Any  # common dtype of all blocks

    def rows(self, block: Block) -> CoreRows:
        values = self.family.rows_of(block.read().astype(self.dtype, copy=False))
        return CoreRows(values, np.ones(len(values)))


class BlockRows:
    """Rows of a fit in blocks, whose E-step sums are added in block order."""

    def __init__(self, passes: Passes, frame: _RowFrame, counts: tuple[int, ...]) -> None:
        self.passes, self.frame, self.counts = passes, frame, counts
        self.n_rows = sum(counts)

    def pass_over(self, logits: Logits, *, hard: bool, threads: int) -> Sums:
        counts, first = np.zeros(len(logits.offset)), np.zeros(logits.linear.shape)
        second = None if logits.quadratic is None else np.zeros(logits.linear.shape)
        total = 0.0
        for part in self.passes.over(_Sums(self.frame, logits, hard, threads)):
            if part is None:
                continue
            counts += part.counts
            first += part.first
            if second is not None and part.second is not None:
                second += part.second
            total += part.mean
        return Sums(counts, first, second, total / self.n_rows, np.empty(0))

    def worst(
        self, sums: Sums, logits: Logits, size: int, *, hard: bool, threads: int
    ) -> NDArray[Any]:
        logs, rows = [], []
        for more_logs, more_rows in self.passes.over(
            _Worst(self.frame, logits, hard, threads, size)
        ):
            logs.append(more_logs)
            rows.append(more_rows)
        best = np.argsort(np.concatenate(logs), kind="stable")[:size]
        return np.concatenate(rows)[best]

    def seeds(
        self, positions: IntpArray | None, n_components: int, random: RandomState
    ) -> NDArray[Any]:
        ends = np.cumsum((0, *self.counts))
        wanted: list[Any] = [None] * len(self.counts)
        if positions is not None:
            cuts = np.searchsorted(positions, ends)
            wanted = [
                positions[cuts[one] : cuts[one + 1]] - ends[one] for one in range(len(self.counts))
            ]
        items = list(zip(self.passes.blocks, wanted, strict=True))
        found = np.concatenate(list(self.passes.over(_At(self.frame), items)))
        return CoreRows(found, np.ones(len(found))).seeds(None, n_components, random)


@dataclass(frozen=True, slots=True)
class _Sums:
    """Task that returns the sums of the E step of a mixture over a block of rows; None if empty."""

    frame: _RowFrame
    logits: Logits
    hard: bool
    threads: int

    def __call__(self, block: Block) -> Sums | None:
        rows = self.frame.rows(block)
        if not rows.n_rows:
            return None
        with single_blas_thread:
            found = rows.pass_over(self.logits, hard=self.hard, threads=self.threads)
        total = float(found.logs.sum())
        return Sums(found.counts, found.first, found.second, total, np.empty(0))


@dataclass(frozen=True, slots=True)
class _Worst:
    """Task that returns the least likely rows of a block with their log-likelihoods."""

    frame: _RowFrame
    logits: Logits
    hard: bool
    threads: int
    size: int

    def __call__(self, block: Block) -> tuple[Float64Array, NDArray[Any]]:
        rows = self.frame.rows(block)
        if not rows.n_rows:
            return np.empty(0), rows.rows
        with single_blas_thread:
            found = rows.pass_over(self.logits, hard=self.hard, threads=self.threads)
        worst = np.argsort(found.logs, kind="stable")[: self.size]
        return found.logs[worst], rows.rows[worst]


@dataclass(frozen=True, slots=True)
class _At:
    """Task that returns the rows of a block at given positions, or all of them."""

    frame: _RowFrame

    def __call__(self, item: tuple[Block, IntpArray | None]) -> NDArray[Any]:
        block, positions = item
        rows = self.frame.rows(block).rows
        return rows if positions is None else rows[positions]


def _sum_of(parts: Iterable[Float64Array]) -> Float64Array:
    first, *others = parts
    total = first.copy()
    with np.errstate(over="ignore", invalid="ignore"):  # overflow raises in `Scale`
        for part in others:
            total += part
    return total
