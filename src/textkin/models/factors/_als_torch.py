"""Alternating least squares for WTMF in torch, for GPUs.

The equations are the same as in `FactorSolver` of the core. Let G = w_m F^T F + lambda I = L L^T,
and for a row of the bags with n entries, let A be the rows of F L^-T at its entries, and x its
weights. The row needs the n x n system (I + (1 - w_m) A A^T) z = x, y = A^T z, or, if smaller, the
K x K system (I + (1 - w_m) A^T A) y = A^T x. The solution is y L^-1. Rows of similar length are
solved together, padded with rows of zeros, which change nothing; long rows are summed piece by
piece.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from textkin._base import Bags, Float64Array, Int32Array, Int64Array
from textkin.device import (
    full_precision,
    memory_of,
    rows_that_fit,
    segment_sums,
    tensor_of,
    to_device,
    torch_device,
)
from textkin.models._arrays import entries_of, table_of
from textkin.models.factors._als_core import ALSProblem

__all__ = ["DeviceBags", "TorchALS", "half_sweep"]

_PADS_TO = 4  # short rows are padded to a multiple of this number of entries
PIECE = 128  # entries of long rows that are multiplied at once
_GRAM_ROWS = 2**16  # rows that are converted to double at once
_MOST_BYTES = 2**30  # maximum batch size, in bytes; larger batches are not faster


@dataclass(frozen=True, slots=True)
class _Short:
    """Rows with few entries, padded to the same length for one batched solve."""

    rows: torch.Tensor  # (n,)
    columns: torch.Tensor  # (n, length): `n_factors` for padding
    values: torch.Tensor  # (n, length): 0 for padding


@dataclass(frozen=True, slots=True)
class _Long:
    """Rows with many entries, split into pieces of equal length."""

    rows: torch.Tensor  # (n,)
    starts: torch.Tensor  # (n + 1,): offsets of the pieces of each row
    columns: torch.Tensor  # (n_pieces, PIECE)
    values: torch.Tensor  # (n_pieces, PIECE)


class DeviceBags:
    """Rows of bags grouped by length for `half_sweep`, on the GPU if they fit.

    Parameters
    ----------
    indptr, indices, values : ndarray
        CSR arrays: int64, int32, and the precision of the computation.
    n_factors : int
        Number of columns of the bags.
    n_components : int
        Number of dimensions K.
    place : torch.device
        Device that solves the systems.
    memory : int
        Number of bytes that may be used on the device.
    """

    def __init__(
        self,
        indptr: Int64Array,
        indices: Int32Array,
        values: NDArray[Any],
        n_factors: int,
        n_components: int,
        place: torch.device,
        memory: int,
    ) -> None:
        size, k = values.itemsize, n_components
        n_rows = len(indptr) - 1
        # Factors before and after L; rows before and after; sums in double for one block of rows.
        fixed = (2 * n_factors + 2 * n_rows) * k * size + 2 * 8 * k * k
        padded = 2 * len(indices) + _PADS_TO * n_rows
        whole = padded * (8 + size)
        # A batch holds at least one long row: a piece, its product, and its system three times.
        self._each = (PIECE * k + k * k) * size + 8 * 4 * k * k
        what = f"systems of {k} dimensions and {n_factors + n_rows:,} vectors"
        rows_that_fit(memory, self._each, fixed, what)
        resident = fixed + whole + self._each <= memory
        self._left = min(memory - fixed - (whole if resident else 0), _MOST_BYTES)
        self.place, self.n_rows, self.n_factors, self.k = place, n_rows, n_factors, k
        home = place if resident else torch.device("cpu")
        self.resident = resident
        with np.errstate(over="ignore", under="ignore"):  # the caller checks the objective
            self.squares = float(np.square(values, dtype=np.float64).sum())
        lengths = np.diff(indptr)
        up = -(-lengths // _PADS_TO) * _PADS_TO
        self.short: list[_Short] = []
        for length in np.unique(up[(lengths > 0) & (lengths <= k)]).tolist():
            rows = np.flatnonzero((up == length) & (lengths <= k))
            parts = _padded(indptr[rows], lengths[rows], length, indices, values, n_factors)
            self.short.append(_Short(*(tensor_of(part, home) for part in (rows, *parts))))
        rows = np.flatnonzero(lengths > k)
        counts = -(-lengths[rows] // PIECE)
        owners = np.repeat(np.arange(len(rows)), counts)
        starts = np.concatenate([[0], np.cumsum(counts)])
        skipped = PIECE * (np.arange(len(owners)) - starts[:-1][owners])
        sizes = np.minimum(lengths[rows][owners] - skipped, PIECE)
        at = indptr[rows][owners] + skipped
        parts = _padded(at, sizes, PIECE, indices, values, n_factors)
        self.long = _Long(*(tensor_of(part, home) for part in (rows, starts, *parts)))

    def batches(self) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
        """Yield batches of short rows: row numbers, columns, and values, on the GPU."""
        size = self.long.values.element_size()
        for group in self.short:
            length = group.columns.shape[1]
            each = (length * (self.k + 3 * length + 8) + 4 * self.k) * size
            step = max(1, self._left // each)
            for start in range(0, len(group.rows), step):
                part = slice(start, start + step)
                yield (
                    to_device(group.rows[part], self.place),
                    to_device(group.columns[part], self.place),
                    to_device(group.values[part], self.place),
                )

    def long_blocks(self) -> Iterator[slice]:
        """Yield ranges of long rows whose linear systems fit in half of the GPU memory."""
        step = max(1, self._left // 2 // (8 * 4 * self.k**2))
        for start in range(0, len(self.long.rows), step):
            yield slice(start, min(start + step, len(self.long.rows)))

    def pieces(self, rows: slice) -> Iterator[tuple[slice, torch.Tensor, torch.Tensor]]:
        """Yield groups of pieces of long rows that fit in half of the GPU memory."""
        size = self.long.values.element_size()
        step = max(1, self._left // 2 // (2 * (PIECE * self.k + self.k**2) * size))
        first, end = int(self.long.starts[rows.start]), int(self.long.starts[rows.stop])
        for start in range(first, end, step):
            part = slice(start, min(start + step, end))
            yield (
                part,
                to_device(self.long.columns[part], self.place),
                to_device(self.long.values[part], self.place),
            )


def _padded(
    at: Int64Array,
    sizes: Int64Array,
    length: int,
    indices: Int32Array,
    values: NDArray[Any],
    filler: int,
) -> tuple[Int64Array, NDArray[Any]]:
    """Copy the entries of rows to tables with `length` columns, padded with `filler`."""
    steps = np.arange(length)
    real = steps < sizes[:, np.newaxis]
    places = np.where(real, at[:, np.newaxis] + steps, 0)
    if not len(indices):
        return np.zeros(places.shape, dtype=np.int64), np.zeros(places.shape, dtype=values.dtype)
    columns = np.where(real, indices[places], filler).astype(np.int64)
    return columns, np.where(real, values[places], values.dtype.type(0))


def half_sweep(
    factors: torch.Tensor, bags: DeviceBags, missing: float, regularization: float
) -> tuple[torch.Tensor, float]:
    """Update the vectors of all rows by least squares, with fixed factors; return the loss too.

    Parameters
    ----------
    factors : Tensor of shape (n_factors, K)
        Factors, on the device of the bags.
    bags : DeviceBags
        Rows over the factors.
    missing : float
        Weight w_m of missing columns.
    regularization : float
        lambda.

    Returns
    -------
    rows : Tensor of shape (n_rows, K)
        Solutions.
    objective : float
        Objective of the rows and factors.
    """
    with full_precision():
        gram = _gram_of(factors)
        penalty = regularization * float(gram.trace())
        gram = missing * gram + regularization * torch.eye(
            bags.k, dtype=torch.float64, device=bags.place
        )
        lower, info = torch.linalg.cholesky_ex(gram)
        if int(info):
            lower = torch.full_like(lower, float("nan"))
        unit = torch.eye(bags.k, dtype=torch.float64, device=bags.place)
        inverse = torch.linalg.solve_triangular(lower, unit, upper=False).to(factors.dtype)
        placed = torch.cat([factors @ inverse.T, factors.new_zeros((1, bags.k))])
        y = factors.new_zeros((bags.n_rows, bags.k))
        gained = torch.zeros((), dtype=torch.float64, device=bags.place)
        for rows, columns, values in bags.batches():
            found, aims = _solved_short(placed[columns], values, 1 - missing)
            y[rows] = found
            gained += (found.double() * aims).sum()
        for block in bags.long_blocks():
            found, aims = _solved_long(placed, bags, block, 1 - missing)
            y[bags.long.rows[block].to(bags.place)] = found
            gained += (found.double() * aims).sum()
        return y @ inverse, penalty + bags.squares - float(gained)


def _gram_of(factors: torch.Tensor) -> torch.Tensor:
    """Compute the Gram matrix F^T F of factors in float64."""
    k = factors.shape[1]
    gram = torch.zeros((k, k), dtype=torch.float64, device=factors.device)
    for start in range(0, len(factors), _GRAM_ROWS):
        fine = factors[start : start + _GRAM_ROWS].double()
        gram += fine.T @ fine
    return gram


def _solved_short(
    rows: torch.Tensor, values: torch.Tensor, weight: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Solve the least-squares systems of rows with few entries; return solutions and A^T x."""
    systems = weight * (rows @ rows.mT)
    systems.diagonal(dim1=1, dim2=2).add_(1)
    z = _solved(systems, values)
    both = torch.stack([z, values], dim=1) @ rows
    return both[:, 0], both[:, 1]


def _solved_long(
    placed: torch.Tensor, bags: DeviceBags, block: slice, weight: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Solve the systems of rows with many entries in float64; return solutions and A^T x."""
    size, k = block.stop - block.start, bags.k
    grams = torch.zeros((size, k * k), dtype=torch.float64, device=bags.place)
    aims = torch.zeros((size, k), dtype=torch.float64, device=bags.place)
    for part, columns, values in bags.pieces(block):
        rows = placed[columns]
        starts = bags.long.starts[block.start : block.stop + 1].to(bags.place)
        starts = (starts.clamp(part.start, part.stop) - part.start).contiguous()
        numbers = torch.arange(len(rows), device=bags.place)
        ones = torch.ones(len(rows), dtype=rows.dtype, device=bags.place)
        grams += segment_sums((rows.mT @ rows).flatten(1), numbers, ones, starts)
        aims += segment_sums((values[:, None] @ rows)[:, 0], numbers, ones, starts)
    systems = (weight * grams).to(placed.dtype).view(size, k, k)
    systems.diagonal(dim1=1, dim2=2).add_(1)
    sides = aims.to(placed.dtype)
    return _solved(systems, sides), sides


def _solved(systems: torch.Tensor, sides: torch.Tensor) -> torch.Tensor:
    """Solve a batch of positive definite systems; a system that overflows gives NaN."""
    lower, info = torch.linalg.cholesky_ex(systems)
    found = torch.cholesky_solve(sides[..., None], lower)[..., 0]
    found[info != 0] = float("nan")
    return found


class TorchALS:
    """Alternating least squares for WTMF in torch on a device; see `ALSBackend`.

    Parameters
    ----------
    bags : csr_array of shape (n_texts, n_words)
        Weighted bags.
    problem : ALSProblem
        Weights, size and precision.
    start : ndarray of shape (n_words, n_components)
        Initial vectors of the words.
    device : str
        Device that solves the systems.
    memory : int, optional
        Maximum number of bytes on the device. If None, most of the free memory.

    Attributes
    ----------
    words : table of shape (n_words, n_components)
        Vectors of the words; on the CPU between half sweeps.
    """

    def __init__(
        self,
        bags: Bags,
        problem: ALSProblem,
        start: Float64Array,
        *,
        device: str,
        memory: int | None = None,
    ) -> None:
        self.problem = problem
        self._place = torch_device(device)
        half = (memory_of(self._place) if memory is None else memory) // 2
        self.words = table_of(start, problem.dtype)
        n_texts, n_words = bags.shape
        k = problem.n_components
        by_text = entries_of(bags, problem.dtype)
        by_word = entries_of(sparse.csr_array(bags.T), problem.dtype)
        self._by_text = DeviceBags(*by_text, n_words, k, self._place, half)
        self._by_word = DeviceBags(*by_word, n_texts, k, self._place, half)
        self._texts: Any = None

    def solve_texts(self) -> float:
        """Update all text vectors by least squares, with fixed word vectors; return the loss."""
        words = tensor_of(self.words[:, : self.problem.n_components], self._place)
        self._texts, objective = self._half_sweep(words, self._by_text)
        return objective

    def solve_words(self) -> float:
        """Update all word vectors by least squares, with fixed text vectors; return the loss."""
        found, objective = self._half_sweep(self._texts, self._by_word)
        self.words = table_of(found.cpu().numpy(), self.problem.dtype)
        return objective

    def _half_sweep(self, factors: torch.Tensor, bags: DeviceBags) -> tuple[torch.Tensor, float]:
        return half_sweep(factors, bags, self.problem.missing_weight, self.problem.regularization)
