"""Mixtures over blocks: sums of posteriors, of rows and of their squares, in float64."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textkin._typing import Float64Array, IntpArray
from textkin.distance._blocks import one_thread_of_blas
from textkin.models.blocks._passes import Passes
from textkin.models.blocks._sources import Block
from textkin.models.mixture import GaussianMixture, VonMisesFisherMixture
from textkin.models.mixture._em import Logits, Rows, Sums, pass_over
from textkin.models.mixture._gaussians import (
    GaussianFamily,
    Scale,
    sum_of_rows,
    sums_about,
    variance_of,
)
from textkin.run import ProgressCallback

__all__ = ["fit_mixture"]


def fit_mixture(
    mixture: GaussianMixture | VonMisesFisherMixture,
    passes: Passes,
    progress: ProgressCallback | None,
) -> None:
    """Fit a mixture to rows that all count once; see `GaussianMixture.fit`."""
    directed = tuple(passes.first(_directed))
    passes.tell_columns(mixture)
    counts = tuple(seen.rows for seen in passes.seen)
    if isinstance(mixture, GaussianMixture):
        n_rows = sum(counts)
        shift = _sum_of(passes.over(_Moment(n_rows)))
        with np.errstate(over="ignore", invalid="ignore"):  # told by the scale
            variance = variance_of(_sum_of(passes.over(_Moment(n_rows, shift))))
        scale = Scale.of_moments(shift, variance)
        family: Any = GaussianFamily(scale, float(mixture.variance_floor))
    else:
        family = mixture._spheres(passes.seen[0].columns)
        counts = directed
        if not any(counts):
            raise ValueError("X must have rows with a direction and weight; all of them are zero.")
    mixture._fit_rows(family, _BlockRows(passes, _Frame(family, passes.dtype), counts), progress)
    mixture._tell_convergence(stacklevel=6)


def _directed(values: NDArray[Any]) -> int:
    """Return how many rows are not zero."""
    return int(np.count_nonzero(values.any(axis=1)))


@dataclass(frozen=True, slots=True)
class _Moment:
    """The part of a block in the mean of all rows; or, given that, in the sums about it."""

    n_rows: int
    shift: Float64Array | None = None

    def __call__(self, block: Block) -> Float64Array:
        values = block.opened()
        shares = np.full(len(values), 1 / self.n_rows)
        with one_thread_of_blas, np.errstate(over="ignore", invalid="ignore"):
            if self.shift is None:
                return sum_of_rows(values, shares)
            return sums_about(values, shares, self.shift)


@dataclass(frozen=True, slots=True)
class _Frame:
    """How all passes of a fit place rows."""

    family: Any
    dtype: Any  # that all blocks have together

    def rows(self, block: Block) -> Rows:
        values = self.family.rows_of(block.opened().astype(self.dtype, copy=False))
        return Rows(values, np.ones(len(values)))


class _BlockRows:
    """Rows in blocks, as a fit by EM takes them."""

    def __init__(self, passes: Passes, frame: _Frame, counts: tuple[int, ...]) -> None:
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

    def at(self, positions: IntpArray | None) -> Rows:
        ends = np.cumsum((0, *self.counts))
        wanted: list[Any] = [None] * len(self.counts)
        if positions is not None:
            cuts = np.searchsorted(positions, ends)
            wanted = [
                positions[cuts[one] : cuts[one + 1]] - ends[one] for one in range(len(self.counts))
            ]
        items = list(zip(self.passes.blocks, wanted, strict=True))
        found = np.concatenate(list(self.passes.over(_At(self.frame), items)))
        return Rows(found, np.ones(len(found)))


@dataclass(frozen=True, slots=True)
class _Sums:
    """The sums of a block, `mean` being the sum of its logarithms; None where it has no rows."""

    frame: _Frame
    logits: Logits
    hard: bool
    threads: int

    def __call__(self, block: Block) -> Sums | None:
        rows = self.frame.rows(block)
        if not rows.n_rows:
            return None
        with one_thread_of_blas:
            found = pass_over(rows, self.logits, hard=self.hard, threads=self.threads)
        total = float(found.logs.sum())
        return Sums(found.counts, found.first, found.second, total, np.empty(0))


@dataclass(frozen=True, slots=True)
class _Worst:
    """The rows of a block that fit worst, and their logarithms."""

    frame: _Frame
    logits: Logits
    hard: bool
    threads: int
    size: int

    def __call__(self, block: Block) -> tuple[Float64Array, NDArray[Any]]:
        rows = self.frame.rows(block)
        if not rows.n_rows:
            return np.empty(0), rows.rows
        with one_thread_of_blas:
            found = pass_over(rows, self.logits, hard=self.hard, threads=self.threads)
        worst = np.argsort(found.logs, kind="stable")[: self.size]
        return found.logs[worst], rows.rows[worst]


@dataclass(frozen=True, slots=True)
class _At:
    """The rows of a block at some of its positions, or all."""

    frame: _Frame

    def __call__(self, item: tuple[Block, IntpArray | None]) -> NDArray[Any]:
        block, positions = item
        rows = self.frame.rows(block).rows
        return rows if positions is None else rows[positions]


def _sum_of(parts: Iterable[Float64Array]) -> Float64Array:
    first, *others = parts
    total = first.copy()
    with np.errstate(over="ignore", invalid="ignore"):  # told by the scale
        for part in others:
            total += part
    return total
