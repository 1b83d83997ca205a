"""WTMF over blocks: texts are solved for block by block, words in groups.

Half a sweep that finds the texts needs the words alone: they travel with the function, and the
texts of a block are left on the shelf. The other half needs, for each word, the products of all
texts that have it: K x K numbers, too many to send for every block and word. So they stay where
they are summed up: a task takes some neighbouring words, goes through the texts of all blocks, one
block after another, and returns the vectors of its words. What each block has of each word lies on
the shelf too, turned once by the first pass.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from textkin import _core
from textkin._typing import Float64Array, Int64Array
from textkin.distance._blocks import one_thread_of_blas
from textkin.models._em import entries_of, table_of
from textkin.models.blocks._bags import BagStatistics, Reading, survey
from textkin.models.blocks._passes import Passes, Shelf
from textkin.models.blocks._sources import Block
from textkin.models.wtmf import WTMF, dtype_for
from textkin.run import ProgressCallback, effective_jobs

__all__ = ["fit_wtmf", "groups_of"]

_LEAST_GROUPS = 16  # of words; workers beyond as many have nothing to do in that half
_PARTS = "starts", "texts", "weights"


def fit_wtmf(wtmf: WTMF, passes: Passes, memory: int, progress: ProgressCallback | None) -> None:
    """Fit WTMF by exact alternating least squares; see `WTMF.fit`."""
    found = survey(passes, wtmf)
    if not found.largest > 0:
        raise ValueError("X must have words with weights other than 0; got none.")
    wtmf._fit_sides(_BlockSides(wtmf, passes, found, memory), found.largest, progress)
    wtmf._warn(found.squares, found.words.n_documents, stacklevel=6)


def groups_of(frequencies: Int64Array, n_components: int, memory: int) -> list[tuple[int, int]]:
    """Return ranges of words of about equal work, whose sums fit into so many bytes."""
    n_words = len(frequencies)
    most = max(1, memory // (8 * n_components * (n_components + 1)))
    work = np.cumsum(frequencies + n_components)  # products of rows, and the solution of a system
    ends = np.searchsorted(work, work[-1] * np.arange(1, _LEAST_GROUPS) / _LEAST_GROUPS)
    cuts = sorted({0, n_words, *ends.tolist()})
    return [
        (start, min(start + most, end))
        for first, end in pairwise(cuts)
        for start in range(first, end, most)
    ]


class _BlockSides:
    """Both sides of a factorisation in the middle of its fit to blocks."""

    def __init__(self, wtmf: WTMF, passes: Passes, found: BagStatistics, memory: int) -> None:
        n_words, n = len(found.words.totals), wtmf.n_components
        dtype = dtype_for(
            np.dtype(np.float32 if found.single else np.float64), n * n_words, found.largest
        )
        self.passes = passes
        self.words: Any = wtmf._start(n_words, dtype)
        self.groups = groups_of(found.words.document_frequencies, n, memory)
        self.sweep = 0
        self.gram = np.zeros((n, n))
        self.frame = _Frame(
            passes.shelf,
            Reading.of(wtmf),
            dtype,
            n,
            float(wtmf.missing_weight),
            float(wtmf.regularization),
            effective_jobs(wtmf.n_jobs),
            len(passes.blocks),
        )
        for _ in passes.over(_Turn(self.frame)):
            pass

    def solve_texts(self) -> float:
        n = self.frame.n_components
        self.sweep += 1
        words = self.words[:, :n].copy()
        objective = self.frame.regularization * float((words.astype(np.float64) ** 2).sum())
        self.gram = np.zeros((n, n))
        for more, gram in self.passes.over(_Texts(self.frame, self.sweep, words)):
            objective += more
            self.gram += gram
        return objective

    def solve_words(self) -> float:
        n = self.frame.n_components
        objective = self.frame.regularization * float(np.trace(self.gram))
        work = _Words(self.frame, self.sweep, self.gram)
        for (start, end), (more, words) in zip(
            self.groups, self.passes.over(work, self.groups), strict=True
        ):
            objective += more
            self.words[start:end, :n] = words
        return objective


@dataclass(frozen=True, slots=True)
class _Frame:
    """What all passes of a fit know."""

    shelf: Shelf
    reading: Reading
    dtype: Any
    n_components: int
    missing_weight: float
    regularization: float
    jobs: int
    n_blocks: int


@dataclass(frozen=True, slots=True)
class _Turn:
    """Leaves what a block has of each word: where that begins, its texts and weights."""

    frame: _Frame

    def __call__(self, block: Block) -> None:
        bags = self.frame.reading.bags(block)
        parts = entries_of(bags.T.tocsr(), np.float64)
        for name, part in zip(_PARTS, parts, strict=True):
            self.frame.shelf.put(f"{name}-{block.number}", part)


@dataclass(frozen=True, slots=True)
class _Texts:
    """Finds the texts of a block; returns their part of the objective, and their products."""

    frame: _Frame
    sweep: int
    words: Any

    def __call__(self, block: Block) -> tuple[float, Float64Array]:
        frame, n = self.frame, self.frame.n_components
        bags = frame.reading.bags(block)
        words = table_of(self.words, frame.dtype)
        texts = table_of(np.zeros((bags.shape[0], n)), frame.dtype)
        kind: Any = _core.FactorSolver if frame.dtype == np.float32 else _core.FineFactorSolver
        solver = kind(words, n, frame.missing_weight, frame.regularization, frame.jobs)
        objective = solver.solve(*entries_of(bags, frame.dtype), texts, frame.jobs, None)
        penalty = solver.solve(*entries_of(bags[:0], frame.dtype), texts[:0], frame.jobs, None)
        upper = _core.gram_of(texts, n, frame.jobs)
        frame.shelf.put(f"solved-{self.sweep}-{block.number}", texts[:, :n])
        frame.shelf.drop(f"solved-{self.sweep - 1}-{block.number}")
        return objective - penalty, upper + np.triu(upper, 1).T


@dataclass(frozen=True, slots=True)
class _Words:
    """Finds some words; returns their part of the objective, and their vectors."""

    frame: _Frame
    sweep: int
    gram: Float64Array

    def __call__(self, group: tuple[int, int]) -> tuple[float, Float64Array]:
        frame, n = self.frame, self.frame.n_components
        first, end = group
        systems, sides = np.zeros((end - first, n, n)), np.zeros((end - first, n))
        squares = 0.0
        with one_thread_of_blas, np.errstate(over="ignore", invalid="ignore"):
            for number in range(frame.n_blocks):
                squares += self._add(number, group, systems, sides)
            systems *= 1 - frame.missing_weight
            systems += frame.missing_weight * self.gram + frame.regularization * np.eye(n)
            found = np.linalg.solve(systems, sides[:, :, np.newaxis])[:, :, 0]
            return squares - float((found * sides).sum()), found

    def _add(
        self, number: int, group: tuple[int, int], systems: Float64Array, sides: Float64Array
    ) -> float:
        """Add the texts of a block that have the words; return the sum of squared weights."""
        shelf = self.frame.shelf
        starts, places, weights = (shelf.map(f"{name}-{number}") for name in _PARTS)
        starts = starts[group[0] : group[1] + 1]
        if starts[0] == starts[-1]:
            return 0.0
        texts = shelf.get(f"solved-{self.sweep}-{number}").astype(np.float64)
        places, weights = (part[starts[0] : starts[-1]] for part in (places, weights))
        cuts = starts - starts[0]
        for word in np.flatnonzero(np.diff(cuts)):
            own = slice(cuts[word], cuts[word + 1])
            rows = texts[places[own]]
            systems[word] += rows.T @ rows
            sides[word] += weights[own] @ rows
        return float(np.square(weights).sum())
