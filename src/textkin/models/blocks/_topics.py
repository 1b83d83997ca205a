"""PLSA over blocks: P(z|d) stays with its block on the shelf, expected counts of words are summed.

A step of a block opens its bags, takes P(z|d) that the step before left (or draws it, at the first
one), leaves the next, and returns the expected counts of the words that the block has. The sum over
blocks gives the next words, which travel with the function of the next step.
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

from textkin._typing import Bags, BoolArray, Float64Array, Int32Array
from textkin.models._em import (
    AnyMixture,
    EmSettings,
    Extent,
    MixtureFit,
    core_of,
    drawn_topics,
    log_likelihood,
    log_prior_of,
    maximise,
    table_of,
)
from textkin.models._starts import best_of_starts, check_weights
from textkin.models.blocks._bags import BagStatistics, survey
from textkin.models.blocks._passes import Passes, Shelf
from textkin.models.blocks._sources import Block
from textkin.models.plsa import PLSA
from textkin.run import ProgressCallback
from textkin.weighting._rows import rows_of

__all__ = ["fit_plsa"]

TOPICS = "document_topics.npy"
_SKIPPED = 2**22  # numbers that are drawn at once, to get to where the next block begins


def fit_plsa(plsa: PLSA, passes: Passes, progress: ProgressCallback | None) -> None:
    """Fit PLSA by plain EM; see `PLSA.fit`."""
    if plsa.tempered:
        raise ValueError(
            "tempered must be False over blocks: which tokens are held out is drawn in the order "
            "of all of them. Use tempered=False, or fit()."
        )
    kept = None if passes.folder is None else passes.folder / TOPICS
    if kept is not None and kept.exists():
        raise FileExistsError(
            f"{kept} exists already and is kept; remove it first, or give another folder."
        )
    found = survey(passes, plsa)
    check_weights(bool(found.words.document_frequencies.any()), found.words.length)
    random = check_random_state(plsa.random_state)
    settings = plsa._settings()
    numbers = count()

    def fit(report: Callable[[], object]) -> _Fit:
        mixture = _BlockMixture(passes, found, settings, random, next(numbers))
        return _Fit(maximise(mixture, report), mixture.topic_weights)

    best = best_of_starts(fit, n_init=plsa.n_init, max_iter=plsa.max_iter, progress=progress)
    plsa._keep(best.found, best.topic_weights)
    plsa._tell_convergence(stacklevel=6)  # which may raise, and must then leave no file
    topics: Any = best.found.topics  # a memory map of a file that goes with the shelf
    if kept is None:
        plsa.document_topics_ = np.array(topics)
    else:
        topics.flush()
        Path(topics.filename).replace(kept)
        plsa.document_topics_ = np.load(kept, mmap_mode="r")


@dataclass(frozen=True, slots=True)
class _Fit:
    """A fit from one start."""

    found: MixtureFit
    topic_weights: Float64Array

    @property
    def score(self) -> float:
        return self.found.score


class _BlockMixture(AnyMixture):
    """A model in the middle of its fit to blocks."""

    def __init__(
        self,
        passes: Passes,
        found: BagStatistics,
        settings: EmSettings,
        random: RandomState,
        start: int,
    ) -> None:
        words = found.words
        n_words, n_topics = len(words.totals), settings.n_components
        super().__init__(
            Extent(
                words.n_documents,
                n_words,
                found.least,
                found.largest,
                words.length,
                passes.dtype == np.float32,
            ),
            settings,
        )
        self.passes, self.length = passes, words.length
        self.seen = words.document_frequencies > 0
        # As `fit` draws them: all documents, then all words. A block gets the generator in the
        # state in which its own rows begin.
        self.randoms = []
        for seen in passes.seen:
            self.randoms.append(deepcopy(random))
            _skip(random, seen.rows * n_topics)
        self.draw_words(n_words, random)
        self.topic_weights = np.zeros(n_topics)
        self.steps = 0
        self.frame = _Frame(passes.shelf, start, self.exponent, self.dtype, self.settings)
        self.prior_of_topics = 0.0
        if self.settings.topic_prior > 0:
            self.prior_of_topics = sum(passes.over(_Prior(self.frame), self._items()))

    def step(self) -> float:
        """Take a step of EM; return the log-likelihood before it."""
        n = self.settings.n_components
        work = _Step(self.frame, self.steps + 1, self.words[:, :n].copy(), self.scale)
        counts = np.zeros((len(self.seen), n))
        logarithm = self.prior_of_topics = 0.0
        for part in self.passes.over(work, self._items()):
            counts[part.words] += part.counts
            logarithm += part.logarithm
            self.prior_of_topics += part.prior_of_topics
        self.steps += 1
        # What the core does with the sums of a word.
        counts[counts < self.least] = 0
        counts += self.settings.word_prior
        counts[~self.seen] = 0
        totals = counts.sum(axis=0)
        self.scale = np.divide(1, totals, out=np.zeros(n), where=totals > 0)
        self.words = table_of(counts, self.dtype)
        return logarithm

    def likelihood(self) -> float:
        n = self.settings.n_components
        work = _Likelihood(self.frame, self.steps, self.words[:, :n].copy(), self.scale)
        logarithm, shares = 0.0, np.zeros(n)
        for more, more_shares in self.passes.over(work, self._items()):
            logarithm += more
            shares += more_shares
        self.topic_weights = shares / self.length
        return logarithm

    def log_topic_prior(self) -> float:
        return self.prior_of_topics

    def topic_probabilities(self) -> Float64Array:
        """Return a memory map of a file on the shelf."""
        shelf = self.passes.shelf
        file = shelf.file(f"document-topics-{self.frame.start}")
        shape = sum(seen.rows for seen in self.passes.seen), self.settings.n_components
        topics = np.lib.format.open_memmap(file, mode="w+", dtype=np.float64, shape=shape)
        end = 0
        for block, seen in zip(self.passes.blocks, self.passes.seen, strict=True):
            topics[end : end + seen.rows] = shelf.get(self.frame.name(self.steps, block))
            for step in (self.steps, self.steps - 1):
                shelf.drop(self.frame.name(step, block))
            end += seen.rows
        return topics

    def _items(self) -> list[tuple[Block, RandomState | None]]:
        """Return the blocks, before the first step with the generators that they draw with."""
        randoms = self.randoms if self.steps == 0 else [None] * len(self.randoms)
        return list(zip(self.passes.blocks, randoms, strict=True))


@dataclass(frozen=True, slots=True)
class _Frame:
    """What all steps of a fit know."""

    shelf: Shelf
    start: int
    exponent: int
    dtype: Any
    settings: EmSettings

    def name(self, step: int, block: Block) -> str:
        """Return the name of P(z|d) of a block after a step."""
        return f"topics-{self.start}-{step}-{block.number}"

    def topics(self, step: int, block: Block, random: RandomState | None, bags: Bags) -> Any:  # noqa: ANN401
        """Return a table of P(z|d) after a step, or as they begin."""
        if random is None:
            return table_of(self.shelf.get(self.name(step, block)), self.dtype)
        n = self.settings.n_components
        # The generator is that of the caller, on threads, and the block may be run again.
        topics = table_of(drawn_topics(deepcopy(random), bags.shape[0], n), self.dtype)
        topics[_empty(bags), :n] = 1 / n
        return topics


@dataclass(frozen=True, slots=True)
class _Expected:
    """What a step of a block gives."""

    logarithm: float  # the log-likelihood before the step
    prior_of_topics: float  # after it
    words: Int32Array  # those that the block has
    counts: Any  # expected ones of each, (n_words, n_topics)


@dataclass(frozen=True, slots=True)
class _Prior:
    """The logarithm of the prior of the topics that a fit begins with."""

    frame: _Frame

    def __call__(self, item: tuple[Block, RandomState]) -> float:
        block, random = item
        topics = self.frame.topics(0, block, random, block.opened())
        return log_prior_of(topics, self.frame.settings)


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of EM for one block; as often as it is taken, it leaves the same."""

    frame: _Frame
    step: int
    words: Any
    scale: Float64Array

    def __call__(self, item: tuple[Block, RandomState | None]) -> _Expected:
        block, random = item
        frame, settings = self.frame, self.frame.settings
        n = settings.n_components
        bags = block.opened()
        topics = frame.topics(self.step - 1, block, random, bags)
        used, own = _own_words(bags)
        words = table_of(self.words[used], frame.dtype)
        after, logarithm = topics.copy(), 0.0
        if bags.nnz:
            _, _, core = core_of(own, frame.exponent, frame.dtype)
            after = table_of(np.zeros((bags.shape[0], n)), frame.dtype)
            # Priors, and what is too small to keep, are a matter of all blocks together.
            logarithm = core.step(
                topics, after, words, self.scale.copy(), settings.topic_prior, 0, 0, settings.jobs
            )
            after[_empty(bags), :n] = 1 / n
        frame.shelf.put(frame.name(self.step, block), after[:, :n])
        frame.shelf.drop(frame.name(self.step - 2, block))
        prior = log_prior_of(after, settings)
        return _Expected(logarithm, prior, used.astype(np.int32), words[:, :n].copy())


@dataclass(frozen=True, slots=True)
class _Likelihood:
    """The log-likelihood of a block, and how much of it each topic has."""

    frame: _Frame
    step: int
    words: Any
    scale: Float64Array

    def __call__(self, item: tuple[Block, RandomState | None]) -> tuple[float, Float64Array]:
        block, random = item
        frame, n = self.frame, self.frame.settings.n_components
        bags = block.opened()
        topics = frame.topics(self.step, block, random, bags)
        lengths = np.bincount(rows_of(bags), bags.data, bags.shape[0])
        shares = (lengths[:, np.newaxis] * topics[:, :n]).sum(axis=0, dtype=np.float64)
        if not bags.nnz:
            return 0.0, shares
        used, own = _own_words(bags)
        entries, _, _ = core_of(own, frame.exponent, frame.dtype)
        words = table_of(self.words[used], frame.dtype)
        return log_likelihood(entries, topics, words, self.scale, frame.settings.jobs)[0], shares


def _own_words(bags: Bags) -> tuple[Any, Any]:
    """Return the words that bags have, and the bags over these alone."""
    has = np.bincount(bags.indices, minlength=bags.shape[1]) > 0
    used = np.flatnonzero(has)
    columns = (np.cumsum(has) - 1).astype(np.int32)[bags.indices]
    own = sparse.csr_array((bags.data, columns, bags.indptr), shape=(bags.shape[0], len(used)))
    return used, own


def _empty(bags: Bags) -> BoolArray:
    return np.asarray(np.diff(bags.indptr) == 0)


def _skip(random: RandomState, numbers: int) -> None:
    """Leave out so many numbers; an exponential one is made of one uniform number."""
    while numbers > 0:
        random.random_sample(min(numbers, _SKIPPED))
        numbers -= _SKIPPED
