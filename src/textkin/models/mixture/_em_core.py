"""EM for mixtures over rows in memory: float32 in the core, float64 in NumPy.

Rows are split into blocks of one shape. Neither the blocks nor the order of sums depends on the
number of threads.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from textkin import _core
from textkin._base import Float64Array, IntpArray
from textkin.models.mixture._em import Logits, Sums, checked_mean, needs_double
from textkin.models.mixture._initialization import choose_far_rows
from textkin.run import Check, ProgressCallback, row_slices, run_blocks, single_blas_thread

__all__ = ["CoreRows", "posteriors"]

ROWS = 384  # block size: a multiple of the tile size of every BLAS; x and x^2 stay in cache
_TILE = 8  # components per tile: products with 15 components take longer than with 16
_MOST_PARTS = 16  # parts with separate sums until all rows are done; the maximum of busy threads
_LEAST = -69.0  # logarithm of a posterior below rounding; avoids denormal numbers


class CoreRows:
    """Rows of a fit in memory, with weights of mean 1, padded to whole blocks."""

    def __init__(self, rows: NDArray[Any], weights: Float64Array) -> None:
        n_rows, n_features = rows.shape
        size = -(-n_rows // ROWS) * ROWS
        self.n_rows = n_rows
        self.values = np.zeros((size, n_features), dtype=rows.dtype)
        self.values[:n_rows] = rows
        self.weights = np.zeros(size)
        if n_rows:
            self.weights[:n_rows] = weights / weights.mean()

    @property
    def rows(self) -> NDArray[Any]:
        return self.values[: self.n_rows]

    def pass_over(self, logits: Logits, *, hard: bool, threads: int) -> Sums:
        """Run an E step over all rows; the caller limits BLAS to one thread."""
        single = self.values.dtype == np.float32 and not needs_double(logits)
        step = _single(logits, hard) if single else _Block(logits, hard)
        logs = np.empty(len(self.values))
        a_part = -(-len(self.values) // (ROWS * _MOST_PARTS)) * ROWS
        parts = row_slices(len(self.values), a_part)
        found: list[Any] = [None] * len(parts)

        def work(part: slice, check: Check) -> int:
            counts, first = np.zeros(len(logits.offset)), np.zeros(logits.linear.shape)
            second = None if logits.quadratic is None else np.zeros(logits.linear.shape)
            step.add(
                self.values[part], self.weights[part], logs[part], counts, first, second, check
            )
            found[part.start // a_part] = counts, first, second
            return 1

        for _ in run_blocks(parts, work, min(threads, len(parts))):
            pass
        counts, first, second = found[0]
        for more_counts, more_first, more_second in found[1:]:
            counts += more_counts
            first += more_first
            if second is not None:
                second += more_second
        # NumPy sums in a fixed order; a BLAS product would depend on its threads.
        mean = float((logs * self.weights).sum() / self.n_rows)
        return Sums(counts, first, second, checked_mean(mean), logs[: self.n_rows])

    def worst(
        self, sums: Sums, logits: Logits, size: int, *, hard: bool, threads: int
    ) -> NDArray[Any]:
        return self.rows[np.argsort(sums.logs, kind="stable")[:size]]

    def seeds(
        self, positions: IntpArray | None, n_components: int, random: RandomState
    ) -> NDArray[Any]:
        rows, weights = self.rows, self.weights[: self.n_rows]
        if positions is not None:
            rows, weights = rows[positions], weights[positions]
            weights = weights / weights.mean()
        return choose_far_rows(rows, weights, n_components, random)


def posteriors(
    values: Float64Array, logits: Logits, progress: ProgressCallback | None = None
) -> tuple[Float64Array, Float64Array]:
    """Compute the log-likelihood of each row, and its posterior component probabilities.

    In float64, and in blocks of one shape: a row is bit-identical individually and in a batch.
    """
    step = _Block(logits, False)
    room = step.room()
    logs, found = np.empty(len(values)), np.empty((len(values), len(logits.offset)))
    with single_blas_thread:
        for start in range(0, len(values), ROWS):
            block = values[start : start + ROWS]
            size = len(block)
            if size < ROWS:
                block = np.vstack([block, np.zeros((ROWS - size, values.shape[1]))])
            # Terms of the full block, since NumPy sums one column in a different order than many.
            terms = step.terms(block, room)[: step.size]
            top = terms.max(axis=0)
            np.exp(terms - top, out=terms)
            totals = terms.sum(axis=0)
            logs[start : start + size] = (step.base + top + np.log(totals))[:size]
            found[start : start + size] = (terms / totals).T[:size]
            if progress is not None:
                progress(start + size, len(values))
    return logs, found


def _single(logits: Logits, hard: bool) -> _core.MixtureStep:
    """Create the core's E step for float32 rows, with the interface of `_Block`."""
    quadratic = None if logits.quadratic is None else np.ascontiguousarray(logits.quadratic)
    return _core.MixtureStep(
        np.ascontiguousarray(logits.offset), np.ascontiguousarray(logits.linear), quadratic, hard
    )


@dataclass(frozen=True, slots=True)
class _Room:
    """Preallocated work arrays for the E step of one block."""

    squares: Float64Array  # (ROWS, n_features)
    terms: Float64Array  # (padded components, ROWS)
    more: Float64Array  # (padded components, ROWS)
    sums: Float64Array  # (padded components, n_features)


class _Block:
    """E step in float64 for blocks of `ROWS` rows."""

    def __init__(self, logits: Logits, hard: bool) -> None:
        # Posteriors need only differences of logarithms, which are smaller than the logarithms.
        self.base = float(logits.offset.max())
        self.size = len(logits.offset)
        self.offset = _pad_components(logits.offset - self.base, -np.inf)[:, np.newaxis]
        self.linear = _pad_components(logits.linear, 0)
        self.quadratic = None
        if logits.quadratic is not None:
            self.quadratic = _pad_components(logits.quadratic, 0)
        self.hard = hard
        self._rooms: list[_Room] = []  # reused, since allocation takes as long as the work

    def room(self) -> "_Room":
        """Allocate the work arrays of the E step for one block of rows."""
        size, n_features = self.linear.shape
        return _Room(
            np.empty((ROWS, n_features)),
            np.empty((size, ROWS)),
            np.empty((size, ROWS)),
            np.empty((size, n_features)),
        )

    def terms(self, values: Float64Array, room: "_Room") -> Float64Array:
        """Compute the log-densities of a block of rows, minus `base`, per component."""
        terms = np.matmul(self.linear, values.T, out=room.terms)
        if self.quadratic is not None:
            np.multiply(values, values, out=room.squares)
            terms += np.matmul(self.quadratic, room.squares.T, out=room.more)
        terms += self.offset
        return terms

    def add(
        self,
        values: NDArray[Any],
        weights: Float64Array,
        logs: Float64Array,
        counts: Float64Array,
        first: Float64Array,
        second: Float64Array | None,
        check: Check,
    ) -> None:
        """Run the E step on blocks: store each row's log-likelihood, and add to the sums."""
        try:
            room = self._rooms.pop()
        except IndexError:
            room = self.room()
        with np.errstate(over="ignore", invalid="ignore"):  # the caller checks for overflow
            for start in range(0, len(values), ROWS):
                block = slice(start, start + ROWS)
                if check is not None:
                    check(start, len(values))
                own = values[block].astype(np.float64, copy=False)
                self._add_block(own, weights[block], room, logs[block], counts, first, second)
        self._rooms.append(room)

    def _add_block(
        self,
        values: Float64Array,
        weights: Float64Array,
        room: "_Room",
        logs: Float64Array,
        counts: Float64Array,
        first: Float64Array,
        second: Float64Array | None,
    ) -> None:
        terms = self.terms(values, room)
        if self.hard:
            best = terms.argmax(axis=0)
            logs[:] = terms[best, np.arange(len(values))]
            terms.fill(0)
            terms[best, np.arange(len(values))] = weights
        else:
            top = terms.max(axis=0)
            terms -= top
            np.maximum(terms, _LEAST, out=terms)
            np.exp(terms, out=terms)
            totals = terms.sum(axis=0)
            logs[:] = top
            logs += np.log(totals)
            terms *= weights / totals
        logs += self.base
        counts += terms.sum(axis=1)[: self.size]
        first += np.matmul(terms, values, out=room.sums)[: self.size]
        if second is not None:
            second += np.matmul(terms, room.squares, out=room.sums)[: self.size]


def _pad_components(values: Float64Array, filler: float) -> Float64Array:
    """Pad an array of component values with `filler` to a multiple of the tile size."""
    size = -(-len(values) // _TILE) * _TILE
    found = np.full((size, *values.shape[1:]), float(filler))
    found[: len(values)] = values
    return found
