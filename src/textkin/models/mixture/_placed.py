"""Rows that a mixture is fitted to on a device."""

from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from textkin._typing import Float64Array, IntpArray
from textkin.models._devices import room_on
from textkin.models.mixture._em import Logits, Rows, Sums, checked_mean, too_coarse

__all__ = ["PlacedRows"]


class PlacedRows:
    """Rows whose passes are made on a device, by the same formulas and in the same dtype.

    Those without weight are left out.
    """

    def __init__(
        self, values: NDArray[Any], weights: Float64Array, device: str, n_components: int
    ) -> None:
        if not (weights > 0).all():
            values, weights = values[weights > 0], weights[weights > 0]
        module, place, memory = room_on(device, "_mixture")
        self.n_rows = len(values)
        self.there = module.MixtureRows(values, weights, place, memory, n_components)
        self._logs: Any = None

    def pass_over(self, logits: Logits, *, hard: bool, threads: int) -> Sums:
        counts, first, second, mean, self._logs = self.there.sums(
            logits.offset, logits.linear, logits.quadratic, hard=hard, double=too_coarse(logits)
        )
        return Sums(counts, first, second, checked_mean(mean), np.empty(0))

    def worst(
        self, sums: Sums, logits: Logits, size: int, *, hard: bool, threads: int
    ) -> NDArray[Any]:
        found: NDArray[Any] = self.there.worst(self._logs, size)
        return found

    def at(self, positions: IntpArray | None) -> Rows:
        rows = self.there if positions is None else self.there.at(positions)
        return Rows(*rows.here())

    def far(
        self, positions: IntpArray | None, n_components: int, random: RandomState
    ) -> NDArray[Any]:
        """Return rows among some, or all, by greedy k-means++; see `far_rows`."""
        rows = self.there if positions is None else self.there.at(positions)
        found: NDArray[Any] = rows.far(n_components, random)
        return found
