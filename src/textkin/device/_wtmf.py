"""Half a sweep of alternating least squares for weighted factorisation, in batches of rows.

What `FactorSolver` of the core does: with G = w_m F^T F + lambda I = L L^T and A the rows of
F L^-T that a row of the bags has, and x its weights, a row of n entries needs the n x n system
(I + (1 - w_m) A A^T) z = x, y = A^T z, or the K x K one (I + (1 - w_m) A^T A) y = A^T x where that
is smaller; and the row found is y L^-1. Rows of like length are solved together, padded by rows of
zeros, which change nothing; long ones are summed up piece by piece.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from textkin._typing import Int32Array, Int64Array
from textkin.device._place import at_once, sent, tensor_of
from textkin.device._segments import segment_sums
from textkin.device._torch import full_precision

__all__ = ["DeviceBags", "half_sweep"]

_PADS_TO = 4  # entries of short rows
PIECE = 128  # entries of long ones that are multiplied at once
_GRAM_ROWS = 2**16  # that are made double at a time
_MOST_BYTES = 2**30  # of a batch, beyond which it is no quicker


@dataclass(frozen=True, slots=True)
class _Short:
    """Rows of like length, padded to one."""

    rows: torch.Tensor  # (n,)
    columns: torch.Tensor  # (n, length): `n_factors` where there is no entry
    values: torch.Tensor  # (n, length): and 0 there


@dataclass(frozen=True, slots=True)
class _Long:
    """Rows that are longer than the systems, in pieces of one length."""

    rows: torch.Tensor  # (n,)
    starts: torch.Tensor  # (n + 1,): of their pieces
    columns: torch.Tensor  # (n_pieces, PIECE)
    values: torch.Tensor  # likewise


class DeviceBags:
    """Bags by rows, sorted for `half_sweep`; on a device for good if they fit.

    Parameters
    ----------
    indptr, indices, values : ndarray
        CSR: int64, int32, and what is computed in.
    n_factors : int
        Columns of the bags.
    n_components : int
        Dimensions K.
    place : torch.device
        Where systems are solved.
    memory : int
        Bytes that may be taken there.
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
        # Factors before and after L; rows before and after; sums in double for one block of them.
        fixed = (2 * n_factors + 2 * n_rows) * k * size + 2 * 8 * k * k
        padded = 2 * len(indices) + _PADS_TO * n_rows
        whole = padded * (8 + size)
        # A batch holds at least a long row: a piece of it, its product, and its system thrice.
        self._each = (PIECE * k + k * k) * size + 8 * 4 * k * k
        what = f"systems of {k} dimensions beside {n_factors + n_rows:,} vectors"
        at_once(memory, self._each, fixed, what)
        resident = fixed + whole + self._each <= memory
        self._left = min(memory - fixed - (whole if resident else 0), _MOST_BYTES)
        self.place, self.n_rows, self.n_factors, self.k = place, n_rows, n_factors, k
        home = place if resident else torch.device("cpu")
        self.resident = resident
        with np.errstate(over="ignore", under="ignore"):  # told by who asks for the sum
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
        """Yield short rows, their columns and their values, on the device."""
        size = self.long.values.element_size()
        for group in self.short:
            length = group.columns.shape[1]
            each = (length * (self.k + 3 * length + 8) + 4 * self.k) * size
            step = max(1, self._left // each)
            for start in range(0, len(group.rows), step):
                part = slice(start, start + step)
                yield (
                    sent(group.rows[part], self.place),
                    sent(group.columns[part], self.place),
                    sent(group.values[part], self.place),
                )

    def long_blocks(self) -> Iterator[slice]:
        """Yield ranges of long rows whose systems fit in half the memory."""
        step = max(1, self._left // 2 // (8 * 4 * self.k**2))
        for start in range(0, len(self.long.rows), step):
            yield slice(start, min(start + step, len(self.long.rows)))

    def pieces(self, rows: slice) -> Iterator[tuple[slice, torch.Tensor, torch.Tensor]]:
        """Yield the pieces of long rows, as many as fit in the other half."""
        size = self.long.values.element_size()
        step = max(1, self._left // 2 // (2 * (PIECE * self.k + self.k**2) * size))
        first, end = int(self.long.starts[rows.start]), int(self.long.starts[rows.stop])
        for start in range(first, end, step):
            part = slice(start, min(start + step, end))
            yield (
                part,
                sent(self.long.columns[part], self.place),
                sent(self.long.values[part], self.place),
            )


def _padded(
    at: Int64Array,
    sizes: Int64Array,
    length: int,
    indices: Int32Array,
    values: NDArray[Any],
    filler: int,
) -> tuple[Int64Array, NDArray[Any]]:
    """Return entries in rows of one length: those from `at` on, and fillers behind them."""
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
    """Return the rows that minimise the objective for fixed factors, and that objective.

    Parameters
    ----------
    factors : Tensor of shape (n_factors, K)
        On the device of the bags.
    bags : DeviceBags
        Rows over the factors.
    missing : float
        The weight w_m of columns that a row does not have.
    regularization : float
        lambda.
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
    """Return F^T F in double."""
    k = factors.shape[1]
    gram = torch.zeros((k, k), dtype=torch.float64, device=factors.device)
    for start in range(0, len(factors), _GRAM_ROWS):
        fine = factors[start : start + _GRAM_ROWS].double()
        gram += fine.T @ fine
    return gram


def _solved_short(
    rows: torch.Tensor, values: torch.Tensor, weight: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return y of rows with few entries, and A^T x."""
    systems = weight * (rows @ rows.mT)
    systems.diagonal(dim1=1, dim2=2).add_(1)
    z = _solved(systems, values)
    both = torch.stack([z, values], dim=1) @ rows
    return both[:, 0], both[:, 1]


def _solved_long(
    placed: torch.Tensor, bags: DeviceBags, block: slice, weight: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return y of rows with many entries, and A^T x; sums of pieces are added in double."""
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
    """Return the solutions of positive systems, NaN where one is not in the range of numbers."""
    lower, info = torch.linalg.cholesky_ex(systems)
    found = torch.cholesky_solve(sides[..., None], lower)[..., 0]
    found[info != 0] = float("nan")
    return found
