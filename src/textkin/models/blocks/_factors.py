"""WTMF over blocks: texts are solved for block by block, words in groups.

Half a sweep that finds the texts needs the words alone: they travel with the function, and the
texts of a block are left on the shelf. The other half needs, for each word, the products of all
texts that have it: K x K numbers, too many to send for every block and word. So they stay where
they are summed up: a task takes some neighbouring words, goes through the texts of all blocks, one
block after another, and returns the vectors of its words. Of a word that is in at most K texts it
keeps these instead, which are fewer numbers and a smaller system. What each block has of each word
lies on the shelf too, turned once by the first pass.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from textkin import _core
from textkin._typing import Float64Array, Int64Array
from textkin.distance._blocks import one_thread_of_blas
from textkin.models._em import entries_of, table_of
from textkin.models.blocks._bags import BagStatistics, survey
from textkin.models.blocks._passes import Passes, Shelf
from textkin.models.blocks._sources import Block
from textkin.models.wtmf import WTMF, dtype_for
from textkin.run import ProgressCallback, effective_jobs

__all__ = ["fit_wtmf", "groups_of"]

_GROUPS = 16  # of words, at least; workers beyond as many have nothing to do in that half
_LEAST_WORK = 1e7  # of a group, in multiplications; with less it is not worth reading the texts
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
    width = -(-n_components // 8) * 8  # of a row in a table of the core
    most = max(1, memory // (16 * width * (n_components + 1)))  # rows are copied once
    # Products of rows, and the solution of a system.
    work = np.cumsum(frequencies + n_components) * float(n_components) ** 2
    groups = min(_GROUPS, int(work[-1] / _LEAST_WORK) + 1)
    ends = np.searchsorted(work, work[-1] * np.arange(1, groups) / groups)
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
        dtype = dtype_for(passes.dtype, n * n_words, found.largest)
        self.passes = passes
        self.words: Any = wtmf._start(n_words, dtype)
        self.groups = groups_of(found.words.document_frequencies, n, memory)
        self.sweep = 0
        self.gram = np.zeros((n, n))
        self.frame = _Frame(
            passes.shelf,
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
    dtype: Any
    n_components: int
    missing_weight: float
    regularization: float
    jobs: int
    n_blocks: int

    def solver(self, factors: Any, gram: Float64Array | None = None) -> Any:  # noqa: ANN401
        """Return what solves for one side; `gram` is of all factors, where these are some."""
        kind: Any = _core.FactorSolver if self.dtype == np.float32 else _core.FineFactorSolver
        return kind(
            factors, self.n_components, self.missing_weight, self.regularization, self.jobs, gram
        )


@dataclass(frozen=True, slots=True)
class _Turn:
    """Leaves what a block has of each word: where that begins, its texts and weights."""

    frame: _Frame

    def __call__(self, block: Block) -> None:
        bags = block.opened()
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
        bags = block.opened()
        words = table_of(self.words, frame.dtype)
        texts = table_of(np.zeros((bags.shape[0], n)), frame.dtype)
        solver = frame.solver(words)
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
        sums = _WordSums(self._entries_of_words(group), n, frame.dtype)
        with one_thread_of_blas, np.errstate(over="ignore", invalid="ignore"):
            for number in range(frame.n_blocks):
                starts, places, weights = self._entries(number, group)
                if len(places):
                    texts = frame.shelf.get(f"solved-{self.sweep}-{number}")
                    sums.add(starts, places, weights, texts)
            found = np.zeros((group[1] - group[0], n))
            objective = self._solve_rare(sums, found) + self._solve_frequent(sums, found)
        return objective, found

    def _entries(self, number: int, group: tuple[int, int]) -> list[Any]:
        """Return what a block has of the words: where each begins, texts and weights."""
        starts, places, weights = (self.frame.shelf.map(f"{name}-{number}") for name in _PARTS)
        starts = np.array(starts[group[0] : group[1] + 1])
        own = slice(starts[0], starts[-1])
        return [starts - starts[0], places[own], weights[own]]

    def _entries_of_words(self, group: tuple[int, int]) -> Int64Array:
        """Return in how many texts each word is."""
        counts = np.zeros(group[1] - group[0], dtype=np.int64)
        for number in range(self.frame.n_blocks):
            starts = self.frame.shelf.map(f"starts-{number}")
            counts += np.diff(starts[group[0] : group[1] + 1])
        return counts

    def _solve_rare(self, sums: "_WordSums", found: Float64Array) -> float:
        """Solve for the words whose texts were kept, as one machine does; return the objective."""
        if not len(sums.rows):
            return 0.0
        frame, n = self.frame, self.frame.n_components
        solver = frame.solver(sums.rows, self.gram)
        starts = np.append(0, np.cumsum(sums.counts[sums.rare]))
        everything = np.arange(len(sums.rows), dtype=np.int32)
        out = table_of(np.zeros((len(starts) - 1, n)), frame.dtype)
        objective = solver.solve(starts, everything, sums.weights, out, frame.jobs, None)
        found[sums.rare] = out[:, :n]
        return float(objective - frame.regularization * np.trace(self.gram))

    def _solve_frequent(self, sums: "_WordSums", found: Float64Array) -> float:
        frame, n = self.frame, self.frame.n_components
        systems = sums.systems
        systems *= 1 - frame.missing_weight
        systems += frame.missing_weight * self.gram + frame.regularization * np.eye(n)
        try:
            vectors: Any = np.linalg.solve(systems, sums.sides[:, :, np.newaxis])
        except np.linalg.LinAlgError:
            return float("nan")  # as the core tells of systems that it cannot solve
        solved = np.asarray(vectors[:, :, 0], np.float64)
        found[~sums.rare] = solved
        return sums.squares - float((solved * sums.sides).sum())


class _WordSums:
    """What the vectors of some words follow from: the texts of rare ones, products for others."""

    def __init__(self, counts: Int64Array, n_components: int, dtype: Any) -> None:  # noqa: ANN401
        self.counts, self.n = counts, n_components
        self.rare = counts <= n_components
        frequent = int(np.count_nonzero(~self.rare))
        self.systems = np.zeros((frequent, self.n, self.n))
        self.sides = np.zeros((frequent, self.n))
        self.squares = 0.0  # of the weights of frequent words
        self.numbers = np.cumsum(~self.rare) - 1  # of frequent words among their own
        kept = np.where(self.rare, counts, 0)
        self.ends = np.cumsum(kept) - kept  # of the rows of rare words, so far
        self.rows = table_of(np.zeros((int(kept.sum()), self.n)), dtype)
        self.weights = np.zeros(len(self.rows), dtype=dtype)

    def add(self, starts: Int64Array, places: Any, weights: Any, texts: Any) -> None:  # noqa: ANN401
        """Add the texts of a block."""
        sizes = np.diff(starts)
        words = np.repeat(np.arange(len(sizes)), sizes)
        entries = np.flatnonzero(self.rare[words])
        own = words[entries]
        at = self.ends[own] + entries - starts[own]
        self.rows[at, : self.n] = texts[places[entries]]
        self.weights[at] = weights[entries]
        self.ends += sizes
        for word in np.flatnonzero(~self.rare & (sizes > 0)):
            one = slice(starts[word], starts[word + 1])
            rows, values = texts[places[one]].astype(np.float64), weights[one]
            number = self.numbers[word]
            self.systems[number] += rows.T @ rows
            self.sides[number] += values @ rows
            self.squares += float(values @ values)
