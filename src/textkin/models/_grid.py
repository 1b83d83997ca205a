"""Mixtures whose topics are windows of a grid of cells, fitted by expectation maximisation.

To the core a window is a topic like any other. What a step of EM leaves as expected counts of the
windows is shared out among their cells, and the next step begins from the means of those.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState

from textkin import _core
from textkin._typing import Bags, Float64Array
from textkin.models._em import EmSettings, Mixture, MixtureFit, log_of, table_of

__all__ = ["GridFit", "GridMixture", "Windows"]


@dataclass(frozen=True, slots=True)
class Windows:
    """Rows and columns of a torus of cells, and of the window that begins at each of them."""

    shape: tuple[int, int]
    window: tuple[int, int]

    @property
    def size(self) -> int:
        """How many cells there are, and windows."""
        return self.shape[0] * self.shape[1]


@dataclass(frozen=True, slots=True)
class GridFit:
    """A mixture of windows, the cells that they are made of, and the tokens of those."""

    mixture: MixtureFit
    cells: Float64Array  # (rows, columns, n_words)
    tokens: Float64Array  # (rows, columns), sums to 1

    @property
    def score(self) -> float:
        """What the best of several fits has the most of."""
        return self.mixture.score


class GridMixture(Mixture):
    """A mixture of windows in the middle of its fit; `cells` with `cell_scale` make its words."""

    def __init__(
        self, bags: Bags, settings: EmSettings, random: RandomState, windows: Windows
    ) -> None:
        super().__init__(bags, settings, random)
        self.windows = windows
        self.added_to_words = 0.0  # the prior is one of cells
        self.cells, self.cell_scale = self.words, self.scale
        self.tokens = np.zeros(windows.size)
        self.words = table_of(np.zeros((bags.shape[1], windows.size)), self.dtype)
        self._overlay()

    def step(self, power: float = 1.0) -> float:
        """Take a step of EM; return the log-likelihood before it."""
        found = super().step(power)
        s = self.settings
        _core.renew_cells(
            self.cells,
            self.cell_scale,
            self.words,
            self.tokens,
            self.windows.shape,
            self.windows.window,
            s.word_prior,
            self.least,
            s.jobs,
        )
        self._overlay()
        return found

    def log_prior(self) -> float:
        """Return what the priors add to the log-likelihood, less their constant."""
        n, s = self.settings.n_components, self.settings
        total = 0.0
        if s.word_prior > 0:
            cells = self.cells[self.seen, :n] * self.cell_scale
            total += s.word_prior * float(log_of(cells).sum())
        return total + self.log_topic_prior()

    def cell_probabilities(self) -> Float64Array:
        """Return the words of each cell, of shape (rows, columns, n_words)."""
        n = self.windows.size
        cells = np.ascontiguousarray((self.cells[:, :n] * self.cell_scale).T)
        return cells.reshape(*self.windows.shape, -1)

    def cell_tokens(self) -> Float64Array:
        """Return the part of all tokens that each cell has."""
        tokens = self.tokens / self.tokens.sum()
        return np.asarray(tokens.reshape(self.windows.shape))

    def _overlay(self) -> None:
        """Make words of cells."""
        self.scale = np.ones(self.windows.size)
        _core.window_means(
            self.cells,
            self.cell_scale,
            self.words,
            self.windows.shape,
            self.windows.window,
            self.settings.jobs,
        )
