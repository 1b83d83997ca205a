"""Rows that a mixture is fitted to on a device."""

from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from textkin._typing import IntpArray
from textkin.models._devices import room_on
from textkin.models.mixture._em import Logits, Rows, Sums, checked_mean, too_coarse

__all__ = ["PlacedRows"]


class PlacedRows(Rows):
    """Rows whose passes are made on a device, by the same formulas and in the same dtype."""

    def __init__(self, rows: Rows, device: str, n_components: int) -> None:
        self.n_rows, self.values, self.weights = rows.n_rows, rows.values, rows.weights
        self._device, self._n_components = device, n_components
        module, place, memory = room_on(device, "_mixture")
        weights = self.weights[: self.n_rows]
        self._there = module.MixtureRows(self.rows, weights, place, memory, n_components)
        self._logs: Any = None

    def pass_over(self, logits: Logits, *, hard: bool, threads: int) -> Sums:
        counts, first, second, mean, self._logs = self._there.sums(
            logits.offset, logits.linear, logits.quadratic, hard=hard, double=too_coarse(logits)
        )
        return Sums(counts, first, second, checked_mean(mean), np.empty(0))

    def worst(
        self, sums: Sums, logits: Logits, size: int, *, hard: bool, threads: int
    ) -> NDArray[Any]:
        found: NDArray[Any] = self._there.worst(self._logs, size)
        return found

    def at(self, positions: IntpArray | None) -> "Rows":
        if positions is None:
            return self
        return PlacedRows(super().at(positions), self._device, self._n_components)

    def far(self, n_components: int, random: RandomState) -> NDArray[Any]:
        """Return rows by greedy k-means++; see `far_rows`."""
        found: NDArray[Any] = self._there.far(n_components, random)
        return found
