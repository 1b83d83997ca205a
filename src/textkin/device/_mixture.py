"""A step of EM for mixtures, in blocks of rows; and where a mixture begins.

What `textkin.models.mixture._em` does with NumPy and the core, by the same formulas: the logarithm
of weight times density is ``offset + linear . x + quadratic . x^2``, and the next parameters follow
from sums over rows. Products are in the dtype asked for, sums of blocks in float64.
"""

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

import numpy as np
import torch
from numpy.random import RandomState
from numpy.typing import NDArray

from textkin._typing import Float64Array, IntpArray
from textkin.device._place import at_once, sent, tensor_of
from textkin.device._torch import full_precision

__all__ = ["MixtureRows", "block_sums"]

_MOST_ROWS = 2**16  # of a block: with more, products are no quicker, and sums are coarser


def block_sums(
    values: torch.Tensor,
    weights: torch.Tensor,
    offset: torch.Tensor,
    linear: torch.Tensor,
    quadratic: torch.Tensor | None,
    *,
    hard: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """Return log p(x) of rows, and the sums of posteriors, of their rows and of their squares.

    Parameters
    ----------
    values : Tensor of shape (n_rows, n_features)
        The rows.
    weights : Tensor of shape (n_rows,)
        How much each counts.
    offset, linear, quadratic : Tensor
        Of all components, (n_components,) and (n_components, n_features); in the dtype of rows.
    hard : bool
        Give each row to its best component, the first of equals.
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


class MixtureRows:
    """Rows and weights for fits on a device: there for good if they fit, else block by block.

    Rows are as they are given, or in units of a scale (`scale_by`), or of length 1 (`to_units`).

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_features), float32 or float64
        The rows.
    weights : ndarray of shape (n_rows,), float64
        Above 0; their mean is made 1.
    place : torch.device
        Where products are computed.
    memory : int
        Bytes that may be taken there.
    n_components : int
        Of the mixture.
    """

    def __init__(
        self,
        values: NDArray[Any],
        weights: Float64Array,
        place: torch.device,
        memory: int,
        n_components: int,
    ) -> None:
        self.n_rows, n_features = values.shape
        self._place = place
        # Of a row: itself in both precisions and its squares; terms, and what they are made of.
        each = 8 * (3 * n_features + 3 * n_components + 8)
        fixed = 8 * 8 * n_components * n_features
        # k-means++ has three distances of a row from each of its draws.
        whole = values.nbytes + 8 * (3 * _trials(n_components) + 8) * self.n_rows
        what = f"a mixture of {n_components} components in {n_features} dimensions"
        # Rows stay if they leave room for a full block.
        full = min(_MOST_ROWS, self.n_rows) * each + fixed
        self.resident = whole + full <= memory
        left = memory - whole if self.resident else memory
        self._block = at_once(left, each, fixed, what, _MOST_ROWS)
        home = place if self.resident else torch.device("cpu")
        self._values = tensor_of(values, home)
        self._weights = tensor_of(weights / weights.mean(), home)
        self._way: Callable[[torch.Tensor], torch.Tensor] | None = None

    def _blocks(self) -> Iterator[tuple[slice, torch.Tensor, torch.Tensor]]:
        for start in range(0, self.n_rows, self._block):
            rows = slice(start, min(start + self._block, self.n_rows))
            yield rows, self._found(self._values[rows]), sent(self._weights[rows], self._place)

    def _found(self, values: torch.Tensor) -> torch.Tensor:
        """Return rows on the device, as the fit takes them."""
        values = sent(values, self._place)
        return values if self._way is None else self._way(values)

    def moments(self) -> tuple[Float64Array, Float64Array]:
        """Return the means of all columns, and the means of distances from them and of squares."""
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
        """Take rows less a shift, in units of a size, from now on."""
        centre, unit = tensor_of(shift, self._place), tensor_of(size, self._place)
        self._go(lambda values: ((values.double() - centre) / unit).to(values.dtype))

    def to_units(self) -> None:
        """Take rows at length 1 from now on; none of them is zero."""

        def way(values: torch.Tensor) -> torch.Tensor:
            rows = values / values.abs().amax(dim=1, keepdim=True)  # whose squares are in range
            lengths = rows.double().square().sum(dim=1, keepdim=True).sqrt_()
            return rows / lengths.to(values.dtype)

        self._go(way)

    def _go(self, way: Callable[[torch.Tensor], torch.Tensor]) -> None:
        if not self.resident:
            self._way = way
            return
        # On the processor the rows may be the caller's own.
        placed = self._values if self._place.type == "cuda" else torch.empty_like(self._values)
        for rows, values, _ in self._blocks():
            placed[rows] = way(values)
        self._values = placed

    def sums(
        self,
        offset: Float64Array,
        linear: Float64Array,
        quadratic: Float64Array | None,
        *,
        hard: bool,
        double: bool,
    ) -> tuple[Float64Array, Float64Array, Float64Array | None, float, torch.Tensor]:
        """Return the sums over all rows, the mean logarithm, and the logarithms of all rows.

        The last stay on the device; `worst` takes them.
        """
        dtype = torch.float64 if double else self._values.dtype
        base = float(offset.max())
        given = [offset - base, linear] + ([] if quadratic is None else [quadratic])
        tables = [tensor_of(table, self._place).to(dtype) for table in given]
        square = tables[2] if quadratic is not None else None
        shape = linear.shape
        totals = torch.zeros((1 + 2 * shape[1], shape[0]), dtype=torch.float64, device=self._place)
        logs = torch.empty(self.n_rows, dtype=torch.float64, device=self._weights.device)
        with full_precision():
            for rows, values, weights in self._blocks():
                own, counts, first, second = block_sums(
                    values.to(dtype), weights.to(dtype), tables[0], tables[1], square, hard=hard
                )
                logs[rows] = own
                totals[0] += counts
                totals[1 : 1 + shape[1]] += first.T
                if second is not None:
                    totals[1 + shape[1] :] += second.T
        logs += base
        mean = float((logs * self._weights).sum() / self.n_rows)
        found = totals.cpu().numpy()
        parts = found[1:].T
        after = np.ascontiguousarray(parts[:, shape[1] :]) if quadratic is not None else None
        return found[0].copy(), np.ascontiguousarray(parts[:, : shape[1]]), after, mean, logs

    def worst(self, logs: torch.Tensor, size: int) -> NDArray[Any]:
        """Return the rows that fit worst, the first of equals."""
        return self.take(torch.argsort(logs, stable=True)[:size])

    def take(self, positions: torch.Tensor) -> NDArray[Any]:
        """Return some rows."""
        return np.asarray(
            self._found(self._values[positions.to(self._values.device)]).cpu().numpy()
        )

    def here(self) -> tuple[NDArray[Any], Float64Array]:
        """Return all rows and their weights, in the memory of the machine."""
        every = torch.arange(self.n_rows)
        return self.take(every), np.asarray(self._weights.cpu().numpy())

    def at(self, positions: IntpArray) -> "MixtureRows":
        """Return some of the rows, as they are taken now."""
        part = copy(self)
        chosen = tensor_of(positions, self._values.device)
        part.n_rows, part._values = len(positions), self._values[chosen]
        weights = self._weights[chosen]
        part._weights = weights / weights.mean()
        return part

    def far(self, n_components: int, random: RandomState) -> NDArray[Any]:
        """Return rows by greedy k-means++, as `textkin.models.mixture._starts.far_rows` draws them.

        The same draws decide; but where two rows are as good up to rounding, either may be taken.
        """
        home = self._weights.device
        sums, norms = (torch.empty(self.n_rows, dtype=torch.float64, device=home) for _ in "ab")
        for rows, values, _ in self._blocks():
            sums[rows] = values.double().sum(dim=1).to(home)
            norms[rows] = values.square().sum(dim=1).double().to(home)
        order = torch.argsort(sums, stable=True)
        trials = _trials(n_components)
        chosen = order[_drawn_by(self._weights[order], random.uniform(size=1))]
        nearest = self._distances(norms, chosen)[0]
        while len(chosen) < n_components:
            chances = self._weights * nearest
            if not bool(chances.any()):  # all rows are among those chosen
                chances = self._weights
            drawn = order[_drawn_by(chances[order], random.uniform(size=trials))]
            after = torch.minimum(self._distances(norms, drawn), nearest)
            best = int((after * self._weights).sum(dim=1).argmin())
            nearest = after[best]
            chosen = torch.cat([chosen, drawn[best : best + 1]])
        return self.take(chosen)

    def _distances(self, norms: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """Return squared distances of all rows from some, 0 where they are but rounding."""
        some = self._found(self._values[chosen])
        found = torch.empty((len(chosen), self.n_rows), dtype=torch.float64, device=norms.device)
        with full_precision():
            for rows, values, _ in self._blocks():
                found[:, rows] = (some @ values.T).double().to(norms.device)
        sums = norms + norms[chosen][:, None]
        found = sums - 2 * found
        found[found < 8 * torch.finfo(self._values.dtype).eps * sums] = 0
        return found


def _trials(n_components: int) -> int:
    return 2 + int(np.log(n_components))


def _drawn_by(chances: torch.Tensor, uniform: Float64Array) -> torch.Tensor:
    """Return positions drawn by chances, for numbers between 0 and 1."""
    ends = chances.double().cumsum(0)
    aims = torch.from_numpy(uniform).to(ends.device) * ends[-1]
    last = chances.nonzero()[-1]
    return torch.minimum(torch.searchsorted(ends, aims, right=True), last)
