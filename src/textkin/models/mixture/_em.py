"""Expectation maximisation for mixtures whose densities are products with x and x^2.

Of a Gaussian with a diagonal matrix and of a von Mises-Fisher distribution alike, the logarithm
of weight times density is ``offset + linear . x + quadratic . x^2`` (`Logits`), and the next
parameters follow from three sums over rows (`Sums`). Rows of float32 are the work of the core;
those of float64 are matrix products over blocks of one shape. How rows are cut never depends on the
number of threads, nor do sums.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from textkin import _core
from textkin._typing import Float64Array, IntpArray
from textkin.distance._blocks import Check, one_thread_of_blas, run_blocks

__all__ = [
    "AnyRows",
    "Family",
    "Fit",
    "Logits",
    "Rows",
    "Sums",
    "checked_mean",
    "maximise",
    "pass_over",
    "posteriors",
    "too_coarse",
]

ROWS = 384  # of a block: a whole number of tiles of every BLAS; x and x^2 stay in cache
_TILE = 8  # components of one: products with 15 take longer than those with 16
_MOST_PARTS = 16  # whose sums are kept apart until all rows are done; no more threads have work
_LEAST = -69.0  # logarithms of posteriors below rounding, of which no denormal numbers come
_ROUGH = 1e-3  # error of a logarithm, by which float32 is too coarse
_FEW = 0.1  # mean rows, of an empty component
_RESEEDS = 5  # of one component; after that many it stays as it is


@dataclass(frozen=True, slots=True)
class Logits:
    """The logarithm of weight times density, for all components."""

    offset: Float64Array  # (n_components,)
    linear: Float64Array  # (n_components, n_features)
    quadratic: Float64Array | None  # likewise, or None where there is no such part


@dataclass(frozen=True, slots=True)
class Sums:
    """What the next parameters follow from, and how well the ones before fitted."""

    counts: Float64Array  # (n_components,): sum w gamma
    first: Float64Array  # (n_components, n_features): sum w gamma x
    second: Float64Array | None  # sum w gamma x^2
    mean: float  # of the logarithms of the rows, by weights
    # (n_rows,): log p(x), or the largest term of it in hard EM; none of rows that lie elsewhere
    logs: Float64Array


class AnyRows(Protocol):
    """Rows that a mixture is fitted to, wherever they lie."""

    n_rows: int

    def pass_over(self, logits: Logits, *, hard: bool, threads: int) -> Sums:
        """Return the sums over all rows of their posteriors, or of their best components."""
        ...

    def worst(
        self, sums: Sums, logits: Logits, size: int, *, hard: bool, threads: int
    ) -> NDArray[Any]:
        """Return the rows of the smallest logarithms, by the pass that gave these sums."""
        ...

    def at(self, positions: IntpArray | None) -> "Rows":
        """Return the rows at ascending positions, or all of them, in the memory of this process."""
        ...


class Rows:
    """Rows and their weights above 0, whose mean is made 1; padded to whole blocks by no weight."""

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
        return pass_over(self, logits, hard=hard, threads=threads)

    def worst(
        self, sums: Sums, logits: Logits, size: int, *, hard: bool, threads: int
    ) -> NDArray[Any]:
        return self.rows[np.argsort(sums.logs, kind="stable")[:size]]

    def at(self, positions: IntpArray | None) -> "Rows":
        if positions is None:
            return self
        return Rows(self.rows[positions], self.weights[positions])


_Model = TypeVar("_Model")


class Family(Protocol[_Model]):
    """What a kind of mixture knows: its densities, and the parameters of most likelihood."""

    def logits(self, model: _Model) -> Logits:
        """Return what the densities of a model are products with."""
        ...

    def estimate(self, sums: Sums, before: _Model) -> _Model:
        """Return the most likely parameters; of an empty component those before."""
        ...

    def nearest(self, means: NDArray[Any]) -> Logits:
        """Return what is largest for the nearest of some means, without squares."""
        ...

    def middles(self, sums: Sums, before: NDArray[Any]) -> Float64Array:
        """Return the means of clusters, of empty ones those before."""
        ...

    def around(self, means: NDArray[Any]) -> _Model:
        """Return components of one weight and one width, for which the nearest mean is the best."""
        ...

    def with_seeds(self, model: _Model, components: IntpArray, rows: NDArray[Any]) -> _Model:
        """Return the model with components moved to rows, as wide as others are in the mean."""
        ...


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted model, and how it was found."""

    model: Any
    log_likelihoods: list[float]
    n_reseeded: int
    n_iter: int
    converged: bool

    @property
    def score(self) -> float:
        """What the best of several fits has the most of."""
        return self.log_likelihoods[-1]


def maximise(
    family: Family[_Model],
    model: _Model,
    rows: AnyRows,
    *,
    hard: bool,
    max_iter: int,
    tol: float,
    threads: int,
    report: Callable[[], object],
) -> Fit:
    """Take steps of EM until the mean log-likelihood rises by less than `tol`.

    A component of less than a tenth of a mean row goes to the row that fits worst; the step after
    which that happens may lower the likelihood, and never counts as converged.
    """
    logits = family.logits(model)
    sums = rows.pass_over(logits, hard=hard, threads=threads)
    found = [sums.mean]
    reseeded = np.zeros(len(sums.counts), dtype=np.intp)
    converged = False
    while not converged and len(found) <= max_iter:
        model = family.estimate(sums, model)
        few = sums.counts < _FEW
        empty = np.flatnonzero(few & (reseeded < _RESEEDS))
        if empty.size:
            reseeded[empty] += 1
            seeds = rows.worst(sums, logits, empty.size, hard=hard, threads=threads)
            model = family.with_seeds(model, empty, seeds)
        logits = family.logits(model)
        sums = rows.pass_over(logits, hard=hard, threads=threads)
        found.append(sums.mean)
        converged = not empty.size and found[-1] - found[-2] < tol
        report()
    return Fit(model, found, int(reseeded.sum()), len(found) - 1, converged)


def pass_over(rows: Rows, logits: Logits, *, hard: bool, threads: int) -> Sums:
    """Return the sums over all rows of their posteriors, or of their best components if `hard`.

    The caller has BLAS on one thread.
    """
    single = rows.values.dtype == np.float32 and not too_coarse(logits)
    step = _single(logits, hard) if single else _Block(logits, hard)
    logs = np.empty(len(rows.values))
    a_part = -(-len(rows.values) // (ROWS * _MOST_PARTS)) * ROWS
    parts = [
        slice(start, min(start + a_part, len(rows.values)))
        for start in range(0, len(rows.values), a_part)
    ]
    found: list[Any] = [None] * len(parts)

    def work(part: slice, check: Check) -> int:
        counts, first = np.zeros(len(logits.offset)), np.zeros(logits.linear.shape)
        second = None if logits.quadratic is None else np.zeros(logits.linear.shape)
        step.add(rows.values[part], rows.weights[part], logs[part], counts, first, second, check)
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
    # Row by row in pairs, as NumPy sums; a product with BLAS would depend on its threads.
    mean = float((logs * rows.weights).sum() / rows.n_rows)
    return Sums(counts, first, second, checked_mean(mean), logs[: rows.n_rows])


def checked_mean(mean: float) -> float:
    """Return a mean logarithm, if all rows have one."""
    if not np.isfinite(mean):
        raise ValueError(
            "X must have rows whose distances from others have finite squares; rows of hardly any "
            "weight lie too far away. Leave them out."
        )
    return mean


def posteriors(values: Float64Array, logits: Logits) -> tuple[Float64Array, Float64Array]:
    """Return log p(x) of rows, and the posteriors of the components, (n_rows, n_components).

    In float64, and in blocks of one shape: a row alone has the bits that it has among others.
    """
    step = _Block(logits, False)
    room = step.room()
    logs, found = np.empty(len(values)), np.empty((len(values), len(logits.offset)))
    with one_thread_of_blas:
        for start in range(0, len(values), ROWS):
            block = values[start : start + ROWS]
            size = len(block)
            if size < ROWS:
                block = np.vstack([block, np.zeros((ROWS - size, values.shape[1]))])
            # All of the block, since NumPy sums one column in another order than many.
            terms = step.terms(block, room)[: step.size]
            top = terms.max(axis=0)
            np.exp(terms - top, out=terms)
            totals = terms.sum(axis=0)
            logs[start : start + size] = (step.base + top + np.log(totals))[:size]
            found[start : start + size] = (terms / totals).T[:size]
    return logs, found


def _single(logits: Logits, hard: bool) -> _core.MixtureStep:
    """Return both steps of EM in the core, for rows of float32; `add` is that of `_Block`."""
    quadratic = None if logits.quadratic is None else np.ascontiguousarray(logits.quadratic)
    return _core.MixtureStep(
        np.ascontiguousarray(logits.offset), np.ascontiguousarray(logits.linear), quadratic, hard
    )


@dataclass(frozen=True, slots=True)
class _Room:
    """Memory that the work on one block takes."""

    squares: Float64Array  # (ROWS, n_features)
    terms: Float64Array  # (padded components, ROWS)
    more: Float64Array  # likewise
    sums: Float64Array  # (padded components, n_features)


class _Block:
    """Both steps of EM for blocks of `ROWS` rows, in float64."""

    def __init__(self, logits: Logits, hard: bool) -> None:
        # Posteriors need differences only, which are smaller than what they differ from.
        self.base = float(logits.offset.max())
        self.size = len(logits.offset)
        self.offset = _padded(logits.offset - self.base, -np.inf)[:, np.newaxis]
        self.linear = _padded(logits.linear, 0)
        self.quadratic = None
        if logits.quadratic is not None:
            self.quadratic = _padded(logits.quadratic, 0)
        self.hard = hard
        self._rooms: list[_Room] = []  # of threads that are done: new memory costs as much as work

    def room(self) -> "_Room":
        """Return memory for one block at a time."""
        size, n_features = self.linear.shape
        return _Room(
            np.empty((ROWS, n_features)),
            np.empty((size, ROWS)),
            np.empty((size, ROWS)),
            np.empty((size, n_features)),
        )

    def terms(self, values: Float64Array, room: "_Room") -> Float64Array:
        """Return logarithms less `base`, (padded components, ROWS); leave squares in the room."""
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
        """Write the logarithms of whole blocks of rows, and add their parts to the sums."""
        try:
            room = self._rooms.pop()
        except IndexError:
            room = self.room()
        with np.errstate(over="ignore", invalid="ignore"):  # told by the caller
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


def _padded(values: Float64Array, filler: float) -> Float64Array:
    """Return values of components, with components to fill the last tile."""
    size = -(-len(values) // _TILE) * _TILE
    found = np.full((size, *values.shape[1:]), float(filler))
    found[: len(values)] = values
    return found


def too_coarse(logits: Logits) -> bool:
    """Tell whether products in float32, with values of about 1 or of unit rows, would be rough."""
    if logits.quadratic is None:
        sizes = np.linalg.norm(logits.linear, axis=1)
    else:
        sizes = np.abs(logits.linear).sum(axis=1) + np.abs(logits.quadratic).sum(axis=1)
    return bool(np.finfo(np.float32).eps / 2 * sizes.max() > _ROUGH)
