"""EM for mixtures over rows in torch, for GPUs.

Products are in the dtype of the rows, or in float64 if that is too coarse; sums of blocks are in
float64.
"""

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

import numpy as np
import torch
from numpy.random import RandomState
from numpy.typing import NDArray

from textkin._base import Float64Array, IntpArray
from textkin.device import (
    full_precision,
    memory_of,
    rows_that_fit,
    tensor_of,
    to_device,
    torch_device,
)
from textkin.models.mixture._em import Logits, Sums, checked_mean, needs_double
from textkin.models.mixture._initialization import number_of_trials

__all__ = ["TorchRows", "block_sums"]

_MOST_ROWS = 2**16  # maximum block size; larger blocks are not faster, and sums are less accurate


def block_sums(
    values: torch.Tensor,
    weights: torch.Tensor,
    offset: torch.Tensor,
    linear: torch.Tensor,
    quadratic: torch.Tensor | None,
    *,
    hard: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """Run the E step on a block of rows: log-likelihoods, and sums for the M step.

    Parameters
    ----------
    values : Tensor of shape (n_rows, n_features)
        Rows.
    weights : Tensor of shape (n_rows,)
        Weight of each row.
    offset, linear, quadratic : Tensor
        Logits, (n_components,) and (n_components, n_features), in the dtype of the rows.
    hard : bool
        Assign each row to its best component; ties go to the lowest index.
    """
    squares = None if quadratic is None else values * values
    terms = torch.addmm(offset, values, linear.T)
    if squares is not None and quadratic is not None:
        terms.addmm_(squares, quadratic.T)
    top, best = terms.max(dim=1)
    if hard:
        logs = top
        terms.zero_()
        terms.scatter_(1, best[:, None], weights[:, None])
    else:
        terms.sub_(top[:, None]).exp_()
        totals = terms.sum(dim=1)
        logs = top.double() + totals.double().log()
        terms.mul_((weights / totals)[:, None])
    second = None if squares is None else terms.T @ squares
    return logs.double(), terms.sum(dim=0, dtype=torch.float64), terms.T @ values, second


class TorchRows:
    """Rows of a fit on a GPU, copied once if they fit, otherwise block by block.

    Rows are unchanged, standardized (`scale_by`), or of length 1 (`to_units`).

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_features), float32 or float64
        Rows.
    weights : ndarray of shape (n_rows,), float64
        Weights, at least 0; rows of weight 0 are omitted, and the others are normalized to mean 1.
    place : torch.device
        Device of the products.
    memory : int
        Number of bytes that may be used on the device.
    n_components : int
        Number of components of the mixture.
    """

    def __init__(
        self,
        values: NDArray[Any],
        weights: Float64Array,
        place: torch.device,
        memory: int,
        n_components: int,
    ) -> None:
        if not (weights > 0).all():
            values, weights = values[weights > 0], weights[weights > 0]
        self.n_rows, n_features = values.shape
        self._place = place
        # Bytes per row: the row in both precisions, its squares, the terms, and their parts.
        each = 8 * (3 * n_features + 3 * n_components + 8)
        fixed = 8 * 8 * n_components * n_features
        # k-means++ needs three distances of a row from each of its trials.
        whole = values.nbytes + 8 * (3 * number_of_trials(n_components) + 8) * self.n_rows
        what = f"a mixture of {n_components} components in {n_features} dimensions"
        # Rows stay on the device if they leave memory for a full block.
        full = min(_MOST_ROWS, self.n_rows) * each + fixed
        self.resident = whole + full <= memory
        left = memory - whole if self.resident else memory
        self._block = rows_that_fit(left, each, fixed, what, _MOST_ROWS)
        home = place if self.resident else torch.device("cpu")
        self._values = tensor_of(values, home)
        self._weights = tensor_of(weights / weights.mean(), home)
        self._transform: Callable[[torch.Tensor], torch.Tensor] | None = None
        self._logs: Any = None  # logarithms of all rows in the last pass; they stay on the device

    @classmethod
    def on(
        cls, device: str, values: NDArray[Any], weights: Float64Array, n_components: int
    ) -> "TorchRows":
        """Create the rows of a fit on a device; as many as fit are copied there."""
        place = torch_device(device)
        return cls(values, weights, place, memory_of(place), n_components)

    def _blocks(self) -> Iterator[tuple[slice, torch.Tensor, torch.Tensor]]:
        for start in range(0, self.n_rows, self._block):
            rows = slice(start, min(start + self._block, self.n_rows))
            yield (
                rows,
                self._transformed(self._values[rows]),
                to_device(self._weights[rows], self._place),
            )

    def _transformed(self, values: torch.Tensor) -> torch.Tensor:
        """Return rows on the device, standardized or L2-normalized as the fit needs."""
        values = to_device(values, self._place)
        return values if self._transform is None else self._transform(values)

    def moments(self) -> tuple[Float64Array, Float64Array]:
        """Return the mean of each column, and the moments about it for the variance."""
        n_features = self._values.shape[1]
        shift = torch.zeros(n_features, dtype=torch.float64, device=self._place)
        sums = torch.zeros((2, n_features), dtype=torch.float64, device=self._place)
        for _, values, weights in self._blocks():
            shift += weights / self.n_rows @ values.double()
        for _, values, weights in self._blocks():
            distances = values.double() - shift
            sums[0] += weights / self.n_rows @ distances
            sums[1] += weights / self.n_rows @ distances.square_()
        return np.asarray(shift.cpu().numpy()), np.asarray(sums.cpu().numpy())

    def scale_by(self, shift: Float64Array, size: Float64Array) -> None:
        """Set the transformation of rows to (x - shift) / size."""
        center, unit = tensor_of(shift, self._place), tensor_of(size, self._place)
        self._transform_rows(lambda values: ((values.double() - center) / unit).to(values.dtype))

    def to_units(self) -> None:
        """Set the transformation of rows to L2 normalization; no row may be zero."""

        def way(values: torch.Tensor) -> torch.Tensor:
            # The largest number becomes 1, so squares cannot overflow.
            rows = values / values.abs().amax(dim=1, keepdim=True)
            lengths = rows.double().square().sum(dim=1, keepdim=True).sqrt_()
            return rows / lengths.to(values.dtype)

        self._transform_rows(way)

    def _transform_rows(self, way: Callable[[torch.Tensor], torch.Tensor]) -> None:
        if not self.resident:
            self._transform = way
            return
        # On the CPU, the rows can share memory with the caller's array.
        placed = self._values if self._place.type == "cuda" else torch.empty_like(self._values)
        for rows, values, _ in self._blocks():
            placed[rows] = way(values)
        self._values = placed

    def pass_over(self, logits: Logits, *, hard: bool, threads: int = 1) -> Sums:
        """Run an E step over all rows; their log-likelihoods stay on the device."""
        dtype = torch.float64 if needs_double(logits) else self._values.dtype
        base = float(logits.offset.max())
        square = None
        if logits.quadratic is not None:
            square = tensor_of(logits.quadratic, self._place).to(dtype)
        offset = tensor_of(logits.offset - base, self._place).to(dtype)
        linear = tensor_of(logits.linear, self._place).to(dtype)
        n_components, d = logits.linear.shape
        totals = torch.zeros((1 + 2 * d, n_components), dtype=torch.float64, device=self._place)
        logs = torch.empty(self.n_rows, dtype=torch.float64, device=self._weights.device)
        with full_precision():
            for rows, values, weights in self._blocks():
                own, counts, first, second = block_sums(
                    values.to(dtype), weights.to(dtype), offset, linear, square, hard=hard
                )
                logs[rows] = own
                totals[0] += counts
                totals[1 : 1 + d] += first.T
                if second is not None:
                    totals[1 + d :] += second.T
        logs += base
        self._logs = logs
        mean = float((logs * self._weights).sum() / self.n_rows)
        found = totals.cpu().numpy()
        parts = found[1:].T
        return Sums(
            found[0].copy(),
            np.ascontiguousarray(parts[:, :d]),
            None if square is None else np.ascontiguousarray(parts[:, d:]),
            checked_mean(mean),
            np.empty(0),
        )

    def worst(
        self, sums: Sums, logits: Logits, size: int, *, hard: bool, threads: int
    ) -> NDArray[Any]:
        """Return the least likely rows of the last E step; ties go to the lowest index."""
        return self._rows_at(torch.argsort(self._logs, stable=True)[:size])

    def _rows_at(self, positions: torch.Tensor) -> NDArray[Any]:
        """Return the transformed rows at `positions` as a NumPy array."""
        return np.asarray(
            self._transformed(self._values[positions.to(self._values.device)]).cpu().numpy()
        )

    def seeds(
        self, positions: IntpArray | None, n_components: int, random: RandomState
    ) -> NDArray[Any]:
        """Choose initial means among the rows by greedy k-means++.

        If two rows are equally good up to rounding, either can be chosen.
        """
        rows = self if positions is None else self._part(positions)
        return rows._far(n_components, random)

    def _part(self, positions: IntpArray) -> "TorchRows":
        """Return the rows at `positions` with their weights as `TorchRows`."""
        part = copy(self)
        chosen = tensor_of(positions, self._values.device)
        part.n_rows, part._values = len(positions), self._values[chosen]
        weights = self._weights[chosen]
        part._weights = weights / weights.mean()
        return part

    def _far(self, n_components: int, random: RandomState) -> NDArray[Any]:
        home = self._weights.device
        sums, norms = (torch.empty(self.n_rows, dtype=torch.float64, device=home) for _ in "ab")
        for rows, values, _ in self._blocks():
            sums[rows] = values.double().sum(dim=1).to(home)
            norms[rows] = values.square().sum(dim=1).double().to(home)
        order = torch.argsort(sums, stable=True)
        trials = number_of_trials(n_components)
        chosen = order[_draw_positions(self._weights[order], random.uniform(size=1))]
        nearest = self._distances(norms, chosen)[0]
        while len(chosen) < n_components:
            chances = self._weights * nearest
            if not bool(chances.any()):  # all rows equal a chosen row
                chances = self._weights
            drawn = order[_draw_positions(chances[order], random.uniform(size=trials))]
            after = torch.minimum(self._distances(norms, drawn), nearest)
            best = int((after * self._weights).sum(dim=1).argmin())
            nearest = after[best]
            chosen = torch.cat([chosen, drawn[best : best + 1]])
        return self._rows_at(chosen)

    def _distances(self, norms: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """Compute squared distances of all rows from the chosen rows; negatives become 0."""
        some = self._transformed(self._values[chosen])
        found = torch.empty((len(chosen), self.n_rows), dtype=torch.float64, device=norms.device)
        with full_precision():
            for rows, values, _ in self._blocks():
                found[:, rows] = (some @ values.T).double().to(norms.device)
        sums = norms + norms[chosen][:, None]
        found = sums - 2 * found
        found[found < 8 * torch.finfo(self._values.dtype).eps * sums] = 0
        return found


def _draw_positions(chances: torch.Tensor, uniform: Float64Array) -> torch.Tensor:
    """Sample row positions with given probabilities, from uniform random numbers in [0, 1)."""
    ends = chances.double().cumsum(0)
    aims = torch.from_numpy(uniform).to(ends.device) * ends[-1]
    last = chances.nonzero()[-1]
    return torch.minimum(torch.searchsorted(ends, aims, right=True), last)
