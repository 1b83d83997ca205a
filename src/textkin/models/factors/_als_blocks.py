"""WTMF on blocks of texts: alternating least squares as tasks on workers.

The half sweep over texts needs only the words: they are sent with the function, and the texts of a
block are stored on the shelf. The half sweep over words needs, for each word, the products of all
texts that contain it: K x K numbers, too many to send for every block and word. These sums
therefore stay where they are computed: a task takes a group of neighboring words, reads the texts
of all blocks, one block after another, and returns the vectors of its words. For a word in at most
K texts it keeps the texts instead, which are fewer numbers and a smaller system. The shelf also has
the transpose of each block, from one pass before the first sweep.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from textkin import _core
from textkin._base import Float64Array, Int64Array
from textkin.models._arrays import entries_of, table_of
from textkin.models._block_passes import Block, Passes, Shelf, survey
from textkin.models.factors._als_core import ALSProblem, precision_for
from textkin.models.factors._wtmf import WTMF
from textkin.run import ProgressCallback, single_blas_thread

__all__ = ["BlockALS", "fit_wtmf", "groups_of"]

_GROUPS = 16  # minimum number of groups of words; more workers than groups would idle
_LEAST_WORK = 1e7  # minimum multiplications per group; fewer do not justify reading the texts
_PARTS = "starts", "texts", "weights"


def fit_wtmf(wtmf: WTMF, passes: Passes, memory: int, progress: ProgressCallback | None) -> None:
    """Fit WTMF to blocks of texts by alternating least squares, with the result of `WTMF.fit`."""
    found = survey(passes, wtmf)
    if not found.largest > 0:
        raise ValueError("X must have words with weights other than 0; got none.")
    words = found.words.document_frequencies
    problem = wtmf._problem(
        precision_for(passes.dtype, wtmf.n_components * len(words), found.largest)
    )
    backend = BlockALS(passes, words, problem, wtmf._start(len(words)), memory)
    wtmf._fit_backend(backend, found.largest, progress)
    wtmf._warn(found.squares, found.words.n_documents, stacklevel=5)


def groups_of(frequencies: Int64Array, n_components: int, memory: int) -> list[tuple[int, int]]:
    """Split the words into ranges of equal work, each within `memory` bytes of sums."""
    n_words = len(frequencies)
    width = -(-n_components // 8) * 8  # row length in a table of the core
    most = max(1, memory // (16 * width * (n_components + 1)))  # rows are copied once
    # Multiplications for the products of rows, and for the solution of a system.
    work = np.cumsum(frequencies + n_components) * float(n_components) ** 2
    groups = min(_GROUPS, int(work[-1] / _LEAST_WORK) + 1)
    ends = np.searchsorted(work, work[-1] * np.arange(1, groups) / groups)
    cuts = sorted({0, n_words, *ends.tolist()})
    return [
        (start, min(start + most, end))
        for first, end in pairwise(cuts)
        for start in range(first, end, most)
    ]


class BlockALS:
    """Alternating least squares for WTMF over blocks of texts; see `ALSBackend`.

    Parameters
    ----------
    passes : Passes
        Blocks after the first pass.
    frequencies : ndarray of shape (n_words,)
        Number of texts that have each word.
    problem : ALSProblem
        Weights, size and precision.
    start : ndarray of shape (n_words, n_components)
        Initial vectors of the words.
    memory : int
        Maximum number of bytes for the sums of a group of words.
    """

    def __init__(
        self,
        passes: Passes,
        frequencies: Int64Array,
        problem: ALSProblem,
        start: Float64Array,
        memory: int,
    ) -> None:
        n = problem.n_components
        self.problem = problem
        self.words = table_of(start, problem.dtype)
        self._passes = passes
        self._groups = groups_of(frequencies, n, memory)
        self._sweep = 0
        self._gram = np.zeros((n, n))
        self._frame = _ALSPasses(passes.shelf, problem, len(passes.blocks))
        for _ in passes.over(_Transpose(self._frame)):
            pass

    def solve_texts(self) -> float:
        """Update all text vectors by least squares, with fixed word vectors; return the loss."""
        n = self.problem.n_components
        self._sweep += 1
        words = self.words[:, :n].copy()
        objective = self.problem.regularization * float((words.astype(np.float64) ** 2).sum())
        self._gram = np.zeros((n, n))
        for more, gram in self._passes.over(_Texts(self._frame, self._sweep, words)):
            objective += more
            self._gram += gram
        return objective

    def solve_words(self) -> float:
        """Update all word vectors by least squares, with fixed text vectors; return the loss."""
        n = self.problem.n_components
        objective = self.problem.regularization * float(np.trace(self._gram))
        work = _Words(self._frame, self._sweep, self._gram)
        for (start, end), (more, words) in zip(
            self._groups, self._passes.over(work, self._groups), strict=True
        ):
            objective += more
            self.words[start:end, :n] = words
        return objective


@dataclass(frozen=True, slots=True)
class _ALSPasses:
    """Shared folder and factorization problem, used by all tasks of a fit."""

    shelf: Shelf
    problem: ALSProblem
    n_blocks: int


@dataclass(frozen=True, slots=True)
class _Transpose:
    """Task that transposes a block of texts (to texts by word), and stores it."""

    frame: _ALSPasses

    def __call__(self, block: Block) -> None:
        bags = block.read()
        parts = entries_of(bags.T.tocsr(), np.float64)
        for name, part in zip(_PARTS, parts, strict=True):
            self.frame.shelf.put(f"{name}-{block.number}", part)


@dataclass(frozen=True, slots=True)
class _Texts:
    """Task that updates the text vectors of a block, and returns its share of the loss."""

    frame: _ALSPasses
    sweep: int
    words: Any

    def __call__(self, block: Block) -> tuple[float, Float64Array]:
        frame, problem = self.frame, self.frame.problem
        n, dtype, jobs = problem.n_components, problem.dtype, problem.jobs
        bags = block.read()
        texts = table_of(np.zeros((bags.shape[0], n)), dtype)
        solver = problem.solver(table_of(self.words, dtype))
        objective = solver.solve(*entries_of(bags, dtype), texts, jobs, None)
        penalty = solver.solve(*entries_of(bags[:0], dtype), texts[:0], jobs, None)
        upper = _core.gram_of(texts, n, jobs)
        frame.shelf.put(f"solved-{self.sweep}-{block.number}", texts[:, :n])
        frame.shelf.drop(f"solved-{self.sweep - 1}-{block.number}")
        return objective - penalty, upper + np.triu(upper, 1).T


@dataclass(frozen=True, slots=True)
class _Words:
    """Task that updates the vectors of a range of words, and returns its share of the loss."""

    frame: _ALSPasses
    sweep: int
    gram: Float64Array

    def __call__(self, group: tuple[int, int]) -> tuple[float, Float64Array]:
        frame, n = self.frame, self.frame.problem.n_components
        sums = _WordSums(self._entries_of_words(group), n, frame.problem.dtype)
        with single_blas_thread, np.errstate(over="ignore", invalid="ignore"):
            for number in range(frame.n_blocks):
                starts, places, weights = self._entries(number, group)
                if len(places):
                    texts = frame.shelf.get(f"solved-{self.sweep}-{number}")
                    sums.add(starts, places, weights, texts)
            found = np.zeros((group[1] - group[0], n))
            objective = self._solve_rare(sums, found) + self._solve_frequent(sums, found)
        return objective, found

    def _entries(self, number: int, group: tuple[int, int]) -> list[Any]:
        """Return the entries of a range of words in one block: offsets, texts, and weights."""
        starts, places, weights = (self.frame.shelf.map(f"{name}-{number}") for name in _PARTS)
        starts = np.array(starts[group[0] : group[1] + 1])
        own = slice(starts[0], starts[-1])
        return [starts - starts[0], places[own], weights[own]]

    def _entries_of_words(self, group: tuple[int, int]) -> Int64Array:
        """Count the texts that contain each word of the range, over all blocks."""
        counts = np.zeros(group[1] - group[0], dtype=np.int64)
        for number in range(self.frame.n_blocks):
            starts = self.frame.shelf.map(f"starts-{number}")
            counts += np.diff(starts[group[0] : group[1] + 1])
        return counts

    def _solve_rare(self, sums: "_WordSums", found: Float64Array) -> float:
        """Update the vectors of rare words from their texts; return their share of the loss."""
        if not len(sums.rows):
            return 0.0
        problem, n = self.frame.problem, self.frame.problem.n_components
        solver = problem.solver(sums.rows, self.gram)
        starts = np.append(0, np.cumsum(sums.counts[sums.rare]))
        everything = np.arange(len(sums.rows), dtype=np.int32)
        out = table_of(np.zeros((len(starts) - 1, n)), problem.dtype)
        objective = solver.solve(starts, everything, sums.weights, out, problem.jobs, None)
        found[sums.rare] = out[:, :n]
        return float(objective - problem.regularization * np.trace(self.gram))

    def _solve_frequent(self, sums: "_WordSums", found: Float64Array) -> float:
        problem, n = self.frame.problem, self.frame.problem.n_components
        systems = sums.systems
        systems *= 1 - problem.missing_weight
        systems += problem.missing_weight * self.gram + problem.regularization * np.eye(n)
        try:
            vectors: Any = np.linalg.solve(systems, sums.sides[:, :, np.newaxis])
        except np.linalg.LinAlgError:
            return float("nan")  # like the core, for systems that it cannot solve
        solved = np.asarray(vectors[:, :, 0], np.float64)
        found[~sums.rare] = solved
        return sums.squares - float((solved * sums.sides).sum())


class _WordSums:
    """Inputs of the word update: texts of rare words, and summed products of frequent words."""

    def __init__(self, counts: Int64Array, n_components: int, dtype: Any) -> None:  # noqa: ANN401
        self.counts, self.n = counts, n_components
        self.rare = counts <= n_components
        frequent = int(np.count_nonzero(~self.rare))
        self.systems = np.zeros((frequent, self.n, self.n))
        self.sides = np.zeros((frequent, self.n))
        self.squares = 0.0  # sum of the squared weights of frequent words
        self.numbers = np.cumsum(~self.rare) - 1  # index of each frequent word among frequent words
        kept = np.where(self.rare, counts, 0)
        self.ends = np.cumsum(kept) - kept  # end of the rows of each rare word added until now
        self.rows = table_of(np.zeros((int(kept.sum()), self.n)), dtype)
        self.weights = np.zeros(len(self.rows), dtype=dtype)

    def add(self, starts: Int64Array, places: Any, weights: Any, texts: Any) -> None:  # noqa: ANN401
        """Add the texts of one block to the inputs of the word update."""
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
