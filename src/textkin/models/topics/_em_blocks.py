"""EM of PLSA over blocks of documents, in this process or on workers.

A step of a block opens its bags, reads P(z|d) of the previous step (or samples it, in the first
step), stores the next P(z|d), and returns the expected counts of the words in the block. The sum
over the blocks gives the next words, which are sent with the function of the next step.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy import sparse
from sklearn.utils import check_random_state

from textkin._base import Bags, BoolArray, Float64Array, Int32Array, row_indices
from textkin.exceptions import ParameterError
from textkin.models._arrays import table_of
from textkin.models._block_passes import BagStatistics, Block, Passes, Shelf, survey
from textkin.models._random_restarts import best_of_starts
from textkin.models.topics._em import (
    EMFit,
    EMProblem,
    EMSettings,
    check_weights,
    draw_document_topics,
    draw_words,
    log_of,
    maximize,
    normalized_words,
    words_in,
)
from textkin.models.topics._em_core import (
    core_model,
    log_likelihood,
    log_prior_of_topics,
    scaled_entries,
)
from textkin.models.topics._plsa import PLSA
from textkin.run import ProgressCallback

__all__ = ["BlockEM", "fit_plsa"]

TOPICS = "document_topics.npy"
_SKIPPED = 2**22  # numbers sampled at once to advance the generator to the next block


def fit_plsa(plsa: PLSA, passes: Passes, progress: ProgressCallback | None) -> None:
    """Fit PLSA to blocks of documents by EM, with the result of `PLSA.fit`."""
    if plsa.tempered:
        raise ParameterError(
            "tempered",
            "False over blocks, because held-out tokens are sampled in the order of all tokens",
            repr(plsa.tempered),
            "Pass `tempered=False`, or call `fit()`.",
        )
    kept = None if passes.folder is None else passes.folder / TOPICS
    if kept is not None and kept.exists():
        raise FileExistsError(
            f"{kept} exists already and is not overwritten. Remove it, or pass another folder=."
        )
    found = survey(passes, plsa)
    check_weights(bool(found.words.document_frequencies.any()), found.words.length)
    random = check_random_state(plsa.random_state)
    settings = plsa._settings()
    numbers = count()

    def fit(report: Callable[[], object]) -> _BlockFit:
        backend = BlockEM(passes, found, settings, random, next(numbers))
        return _BlockFit(maximize(backend, report), backend.topic_weights)

    best = best_of_starts(fit, n_init=plsa.n_init, max_iter=plsa.max_iter, progress=progress)
    plsa._keep(best.found, best.found.document_topics, best.topic_weights)
    plsa._warn_convergence(stacklevel=5)  # before the files are kept: a warning may be an error
    topics: Any = best.found.document_topics  # a file that is removed together with the shelf
    if kept is None:
        plsa.document_topics_ = np.array(topics)
    else:
        topics.flush()
        Path(topics.filename).replace(kept)
        plsa.document_topics_ = np.load(kept, mmap_mode="r")


@dataclass(frozen=True, slots=True)
class _BlockFit:
    """Fit of PLSA over blocks from one random initialization."""

    found: EMFit
    topic_weights: Float64Array

    @property
    def score(self) -> float:
        return self.found.score


class BlockEM:
    """EM back end for blocks of documents; P(z|d) is stored in files.

    Parameters
    ----------
    passes : Passes
        Blocks after the first pass.
    found : BagStatistics
        Statistics of that pass.
    settings : EMSettings
        Unscaled parameters.
    random : RandomState
        Generator of the initial model, which is the same as from `draw_start`.
    start : int, default=0
        Number of the initialization, for the names on the shelf.
    """

    def __init__(
        self,
        passes: Passes,
        found: BagStatistics,
        settings: EMSettings,
        random: RandomState,
        start: int = 0,
    ) -> None:
        words = found.words
        n_words, n_topics = len(words.totals), settings.n_components
        self.problem = problem = EMProblem.of(
            settings,
            (words.n_documents, n_words),
            least=found.least,
            largest=found.largest,
            total=words.length,
            single=passes.dtype == np.float32,
        )
        self._passes, self._length = passes, words.length
        self._seen = words.document_frequencies > 0
        # All documents are sampled first, then all words. A block receives the state of the
        # generator at its own first row.
        self._randoms = []
        for summary in passes.summaries:
            self._randoms.append(deepcopy(random))
            _skip(random, summary.rows * n_topics)
        self._words, self._scale = draw_words(random, self._seen, problem)
        self.topic_weights = np.zeros(n_topics)  # P(z), set by `log_likelihood`
        self._steps = 0
        self._frame = _EMPasses(passes.shelf, start, problem)
        self._topic_prior = 0.0  # logarithm of the prior of P(z|d)
        if problem.settings.doc_topic_prior > 0:
            self._topic_prior = sum(passes.over(_Prior(self._frame), self._items()))

    def step(self) -> float:
        """Run one EM step, and return the log-likelihood of the model before the step."""
        work = _Step(self._frame, self._steps + 1, self._words, self._scale)
        counts = np.zeros((len(self._seen), self.problem.settings.n_components))
        logarithm = self._topic_prior = 0.0
        for part in self._passes.over(work, self._items()):
            counts[part.words] += part.counts
            logarithm += part.logarithm
            self._topic_prior += part.topic_prior
        self._steps += 1
        # The core also sets smaller sums of a word to 0.
        counts[counts < self.problem.least] = 0
        counts += self.problem.settings.topic_word_prior
        counts[~self._seen] = 0
        totals = counts.sum(axis=0)
        self._scale = np.divide(1, totals, out=np.zeros(len(totals)), where=totals > 0)
        self._words = counts.astype(self.problem.dtype)
        return logarithm

    def log_likelihood(self) -> tuple[float, float]:
        """Return the log-likelihood of the documents, and how many tokens have P(w|d) = 0."""
        work = _Likelihood(self._frame, self._steps, self._words, self._scale)
        logarithm = impossible = 0.0
        shares = np.zeros(self.problem.settings.n_components)
        for more, more_impossible, more_shares in self._passes.over(work, self._items()):
            logarithm += more
            impossible += more_impossible
            shares += more_shares
        self.topic_weights = shares / self._length
        return logarithm, impossible

    def log_prior(self) -> float:
        """Return the log prior density of the current P(w|z) and P(z|d), up to a constant."""
        settings = self.problem.settings
        total = 0.0
        if settings.topic_word_prior > 0:
            words = self._words[self._seen] * self._scale
            total += settings.topic_word_prior * float(log_of(words).sum())
        return total + self._topic_prior

    def word_topics(self) -> Float64Array:
        """Return the word distribution P(w|z) of each topic, one row per topic."""
        return normalized_words(self._words, self._scale)

    def document_topics(self) -> Float64Array:
        """Return P(z|d) as a memory map of a file; call it once, after the fit."""
        shelf, frame = self._passes.shelf, self._frame
        file = shelf.file(f"document-topics-{frame.start}")
        shape = self.problem.n_documents, self.problem.settings.n_components
        topics = np.lib.format.open_memmap(file, mode="w+", dtype=np.float64, shape=shape)
        end = 0
        for (block, random), summary in zip(self._items(), self._passes.summaries, strict=True):
            own = slice(end, end + summary.rows)
            if random is None:
                topics[own] = shelf.get(frame.name(self._steps, block))
            else:
                n = self.problem.settings.n_components
                topics[own] = frame.topics(0, block, random, block.read())[:, :n]
            for step in (self._steps, self._steps - 1):
                shelf.drop(frame.name(step, block))
            end += summary.rows
        return topics

    def _items(self) -> list[tuple[Block, RandomState | None]]:
        """Return the blocks; before the first step, each with its random generator."""
        randoms = self._randoms if self._steps == 0 else [None] * len(self._randoms)
        return list(zip(self._passes.blocks, randoms, strict=True))


@dataclass(frozen=True, slots=True)
class _EMPasses:
    """Shared folder and problem, used by all tasks of a fit."""

    shelf: Shelf
    start: int
    problem: EMProblem

    def name(self, step: int, block: Block) -> str:
        """Return the file name of a block's P(z|d) after a step."""
        return f"topics-{self.start}-{step}-{block.number}"

    def topics(self, step: int, block: Block, random: RandomState | None, bags: Bags) -> Any:  # noqa: ANN401
        """Return the P(z|d) of a block after a step, or its random initial values."""
        if random is None:
            return table_of(self.shelf.get(self.name(step, block)), self.problem.dtype)
        n = self.problem.settings.n_components
        # A copy: threads share the caller's generator, and the block may run again.
        topics = draw_document_topics(deepcopy(random), bags.shape[0], n)
        topics[_empty(bags)] = 1 / n
        return table_of(topics, self.problem.dtype)


@dataclass(frozen=True, slots=True)
class _Expected:
    """Expected counts of words per topic from one block's EM step."""

    logarithm: float  # log-likelihood before the step
    topic_prior: float  # logarithm of the prior of P(z|d) after the step
    words: Int32Array  # words of the block
    counts: Any  # expected counts of these words, (n_words, n_topics)


@dataclass(frozen=True, slots=True)
class _Prior:
    """Task that returns the log prior density of a block's initial P(z|d)."""

    frame: _EMPasses

    def __call__(self, item: tuple[Block, RandomState]) -> float:
        block, random = item
        topics = self.frame.topics(0, block, random, block.read())
        return log_prior_of_topics(topics, self.frame.problem.settings)


@dataclass(frozen=True, slots=True)
class _Step:
    """Task that runs an EM step on a block, and stores its P(z|d); repeatable."""

    frame: _EMPasses
    step: int
    words: Any
    scale: Float64Array

    def __call__(self, item: tuple[Block, RandomState | None]) -> _Expected:
        block, random = item
        frame, problem = self.frame, self.frame.problem
        settings, n = problem.settings, problem.settings.n_components
        bags = block.read()
        topics = frame.topics(self.step - 1, block, random, bags)
        used, own = _own_words(bags)
        words = table_of(self.words[used], problem.dtype)
        after, logarithm = topics.copy(), 0.0
        if bags.nnz:
            core = core_model(own, scaled_entries(own, problem))
            after = table_of(np.zeros((bags.shape[0], n)), problem.dtype)
            # The prior of words and the least count apply to the sum over all blocks.
            logarithm = core.step(
                topics,
                after,
                words,
                self.scale.copy(),
                settings.doc_topic_prior,
                0,
                0,
                settings.jobs,
            )
            after[_empty(bags), :n] = 1 / n
        frame.shelf.put(frame.name(self.step, block), after[:, :n])
        frame.shelf.drop(frame.name(self.step - 2, block))
        prior = log_prior_of_topics(after, settings)
        return _Expected(logarithm, prior, used.astype(np.int32), words[:, :n].copy())


@dataclass(frozen=True, slots=True)
class _Likelihood:
    """Task that returns the log-likelihood of a block, and its tokens per topic."""

    frame: _EMPasses
    step: int
    words: Any
    scale: Float64Array

    def __call__(self, item: tuple[Block, RandomState | None]) -> tuple[float, float, Float64Array]:
        block, random = item
        frame, problem = self.frame, self.frame.problem
        n = problem.settings.n_components
        bags = block.read()
        topics = frame.topics(self.step, block, random, bags)
        lengths = np.bincount(row_indices(bags), bags.data, bags.shape[0])
        shares = (lengths[:, np.newaxis] * topics[:, :n]).sum(axis=0, dtype=np.float64)
        if not bags.nnz:
            return 0.0, 0.0, shares
        used, own = _own_words(bags)
        entries = scaled_entries(own, problem)
        words = table_of(self.words[used], problem.dtype)
        jobs = problem.settings.jobs
        return *log_likelihood(entries, topics, words, self.scale, jobs), shares


def _own_words(bags: Bags) -> tuple[Any, Any]:
    """Return the words that occur in bags, and the bags with only these columns."""
    has = words_in(bags)
    used = np.flatnonzero(has)
    columns = (np.cumsum(has) - 1).astype(np.int32)[bags.indices]
    own = sparse.csr_array((bags.data, columns, bags.indptr), shape=(bags.shape[0], len(used)))
    return used, own


def _empty(bags: Bags) -> BoolArray:
    return np.asarray(np.diff(bags.indptr) == 0)


def _skip(random: RandomState, numbers: int) -> None:
    """Advance a random generator by `numbers` exponential samples."""
    while numbers > 0:
        random.random_sample(min(numbers, _SKIPPED))
        numbers -= _SKIPPED
