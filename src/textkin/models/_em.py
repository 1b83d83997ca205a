"""Mixtures of topics fitted by expectation maximisation, over the entries that are not zero.

The tables of the core have a row for each document or word and a column for each topic, padded to
64 bytes. Words hold expected counts, which `scale` makes probabilities of.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy import sparse

from textkin import _core
from textkin._typing import Bags, BoolArray, Float64Array

__all__ = [
    "AnyMixture",
    "EmSettings",
    "Extent",
    "Mixture",
    "MixtureFit",
    "core_of",
    "drawn_topics",
    "entries_of",
    "fold_in",
    "log_likelihood",
    "log_of",
    "log_prior_of",
    "maximise",
    "scaled_rows",
    "table_of",
]

_SMALL = 2**20  # numbers of a model that is fitted in double, which costs nothing then
# All weights by the least; with more, products of probabilities may leave the range of float.
_LARGEST_FLOAT = 1e15
_LEAST_DOUBLE = 1e-270  # expected counts by the largest; below, those of double
_MANY_TOKENS = 2.0**100  # of a word in a document, beside which a prior is nothing


@dataclass(frozen=True, slots=True)
class EmSettings:
    """How a mixture is fitted; priors as pseudo-counts, that is Dirichlet parameters less 1."""

    n_components: int
    word_prior: float
    topic_prior: float
    max_iter: int
    tol: float
    jobs: int


@dataclass(frozen=True, slots=True)
class MixtureFit:
    """P(w|z), P(z|d), and how they were found."""

    words: Float64Array  # (n_components, n_words)
    topics: Float64Array  # (n_documents, n_components)
    log_likelihoods: list[float]
    objectives: list[float]  # with the logarithms of the priors
    held_out: list[float]
    power: float
    n_iter: int
    converged: bool

    @property
    def score(self) -> float:
        """What the best of several fits has the most of."""
        return max(self.held_out) if self.held_out else self.objectives[-1]


@dataclass(frozen=True, slots=True)
class Extent:
    """What a fit has to know of all bags before it begins."""

    n_documents: int
    n_words: int
    least: float  # of the weights
    largest: float
    total: float
    single: bool  # whether they are in float32


class AnyMixture(ABC):
    """A model in the middle of its fit, wherever its documents lie.

    Weights and priors are scaled alike, by a power of two, so that the largest is about 1: steps
    are the same to the bit, and in range whatever the weights are. Likelihoods of the entries, and
    logarithms of the priors, are scaled too; `unit` makes them what they are of the bags.
    """

    words: Any  # a table of the core
    scale: Float64Array
    seen: BoolArray

    def __init__(self, extent: Extent, settings: EmSettings) -> None:
        n_topics = settings.n_components
        small = (extent.n_documents + extent.n_words) * n_topics <= _SMALL
        priors = np.array([settings.word_prior, settings.topic_prior])
        _, exponent = np.frexp(max(extent.largest, *priors))
        self.exponent = int(exponent)
        word_prior, topic_prior = np.ldexp(priors, -exponent)
        self.settings = replace(
            settings, word_prior=float(word_prior), topic_prior=float(topic_prior)
        )
        self.unit = float(np.ldexp(1.0, exponent))
        self.total = float(np.ldexp(extent.total, -exponent))
        least = float(np.ldexp(extent.least, -exponent))
        whole = self.total + self.settings.word_prior * extent.n_words
        single = extent.single and not small and whole < _LARGEST_FLOAT * least
        self.dtype: Any = np.float32 if single else np.float64
        # Words are kept apart from 0 by the least weight: one that occurs has a topic.
        self.least = max(1e-15 * least, _LEAST_DOUBLE)

    @abstractmethod
    def step(self) -> float:
        """Take a step of EM; return the log-likelihood before it."""

    @abstractmethod
    def likelihood(self) -> float:
        """Return the log-likelihood of what the model is fitted to."""

    @abstractmethod
    def log_topic_prior(self) -> float:
        """Return what the prior of the topics of documents adds to it, less its constant."""

    @abstractmethod
    def topic_probabilities(self) -> Float64Array:
        """Return P(z|d) of all documents."""

    def draw_words(self, n_words: int, random: RandomState) -> None:
        """Begin with words of Dirichlet(1), those that are in some document."""
        n = self.settings.n_components
        self.words = table_of(random.standard_exponential((n_words, n)), self.dtype)
        self.words[~self.seen] = 0
        self.scale = 1 / self.words[:, :n].sum(axis=0, dtype=np.float64)

    def log_prior(self) -> float:
        """Return what the priors add to the log-likelihood, less their constant."""
        n, s = self.settings.n_components, self.settings
        total = 0.0
        if s.word_prior > 0:
            total += s.word_prior * float(log_of(self.words[self.seen, :n] * self.scale).sum())
        return total + self.log_topic_prior()

    def word_probabilities(self) -> Float64Array:
        n = self.settings.n_components
        words = np.ascontiguousarray((self.words[:, :n] * self.scale).T)
        if not np.isfinite(words).all():
            raise ValueError(
                "X must have weights that are closer together: from the smallest to the largest, "
                "they leave the range of numbers."
            )
        return words


class Mixture(AnyMixture):
    """A model in the middle of its fit to bags that are here.

    Where topics are made of something else, the words of the core are what a step begins from and
    leaves as expected counts; see `GridMixture`.
    """

    def __init__(self, bags: Bags, settings: EmSettings, random: RandomState) -> None:
        n_documents, n_words = bags.shape
        n_topics = settings.n_components
        extent = Extent(
            n_documents,
            n_words,
            float(bags.data.min()),
            float(bags.data.max()),
            float(bags.data.sum(dtype=np.float64)),
            bags.dtype == np.float32,
        )
        super().__init__(extent, settings)
        self.added_to_words = self.settings.word_prior  # by the core
        self.entries, by_word, self.core = self._core_of(bags)
        self.empty = np.diff(bags.indptr) == 0
        # Dirichlet(1) of both; all topics alike would be a fixed point.
        self.topics = table_of(drawn_topics(random, n_documents, n_topics), self.dtype)
        self.topics[self.empty, :n_topics] = 1 / n_topics
        self.seen = np.diff(by_word) > 0
        self.draw_words(n_words, random)
        self.spare = np.zeros_like(self.topics)

    def _core_of(self, bags: Bags) -> tuple[Any, Any, Any]:
        return core_of(bags, self.exponent, self.dtype)

    def step(self, power: float = 1.0) -> float:
        """Take a step of (tempered) EM; return the log-likelihood before it."""
        n, s = self.settings.n_components, self.settings
        if power < 1:
            before, _ = self.log_likelihood(self.entries)
            self.topics = table_of(self.topics[:, :n] ** power, self.dtype)
            self.words = table_of((self.words[:, :n] * self.scale) ** power, self.dtype)
            self.scale = np.ones(n)
        found = self.core.step(
            self.topics,
            self.spare,
            self.words,
            self.scale,
            s.topic_prior,
            self.added_to_words,
            self.least,
            s.jobs,
        )
        self.topics, self.spare = self.spare, self.topics
        self.topics[self.empty, :n] = 1 / n  # which the core leaves as they were, tempered
        return before if power < 1 else float(found)

    def log_likelihood(self, entries: tuple[Any, Any, Any]) -> tuple[float, float]:
        """Return the log-likelihood of bags, and how many of their tokens it leaves out."""
        return log_likelihood(entries, self.topics, self.words, self.scale, self.settings.jobs)

    def likelihood(self) -> float:
        return self.log_likelihood(self.entries)[0]

    def log_topic_prior(self) -> float:
        return log_prior_of(self.topics, self.settings)

    def state(self) -> tuple[Any, Any, Any]:
        return self.topics.copy(), self.words.copy(), self.scale.copy()

    def go_back(self, state: tuple[Any, Any, Any]) -> None:
        self.topics, self.words, self.scale = (array.copy() for array in state)

    def topic_probabilities(self) -> Float64Array:
        return np.array(self.topics[:, : self.settings.n_components], dtype=np.float64)


def maximise(mixture: AnyMixture, report: Callable[[], object]) -> MixtureFit:
    """Take steps of plain EM until the objective rises by less than `tol`, relatively."""
    settings = mixture.settings
    likelihoods: list[float] = []
    objectives: list[float] = []
    converged = False
    while not converged and len(likelihoods) < settings.max_iter:
        prior = mixture.log_prior()
        likelihoods.append(mixture.step())
        objectives.append(likelihoods[-1] + prior)
        converged = len(objectives) > 1 and _gained(objectives[-2:], mixture.total) < settings.tol
        report()
    n_iter = len(likelihoods)
    likelihoods.append(mixture.likelihood())
    objectives.append(likelihoods[-1] + mixture.log_prior())
    return MixtureFit(
        mixture.word_probabilities(),
        mixture.topic_probabilities(),
        [mixture.unit * value for value in likelihoods],
        [mixture.unit * value for value in objectives],
        [],
        1.0,
        n_iter,
        converged,
    )


def fold_in(
    bags: Bags,
    words: Float64Array,
    power: float,
    settings: EmSettings,
    *,
    steps: int,
    tolerance: float,
    progress: Any = None,  # noqa: ANN401 (a callback, for the core)
) -> Float64Array:
    """Return P(z|d) of documents under fixed P(w|z), from equal parts; rows do not interact."""
    n_topics = words.shape[0]
    used, columns = np.unique(bags.indices, return_inverse=True)
    powers = words[:, used].T ** power
    # Of a word only the proportions count; powers of two change no bit of them.
    _, exponents = np.frexp(powers.max(axis=1, initial=0.0))
    table = table_of(np.ldexp(powers, -exponents[:, np.newaxis]), np.float64)
    topics = table_of(np.full((bags.shape[0], n_topics), 1 / n_topics), np.float64)
    indptr, _, _ = entries_of(bags, np.float64)
    counts = scaled_rows(bags, above=0.0 if settings.topic_prior == 0 else _MANY_TOKENS)
    _core.fold_in(
        indptr,
        columns.astype(np.int32),
        counts,
        topics,
        table,
        n_topics,
        power,
        settings.topic_prior,
        steps,
        tolerance,
        settings.jobs,
        progress,
    )
    return np.ascontiguousarray(topics[:, :n_topics])


def entries_of(bags: Bags, dtype: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401
    """Return where rows begin, columns and values, as the core takes them."""
    return (
        bags.indptr.astype(np.int64),
        bags.indices.astype(np.int32),
        bags.data.astype(dtype),
    )


def scaled_rows(bags: Bags, *, above: float = 0.0) -> Float64Array:
    """Return the values in float64; rows with larger ones than `above` by a power of two.

    Their largest is then about 1, or about `above`.
    """
    counts = bags.data.astype(np.float64)
    rows = np.repeat(np.arange(bags.shape[0]), np.diff(bags.indptr))
    largest = np.zeros(bags.shape[0])
    np.maximum.at(largest, rows, counts)
    _, exponents = np.frexp(largest)
    if above > 0:
        exponents = np.maximum(exponents - np.frexp(above)[1], 0)
    return np.asarray(np.ldexp(counts, -exponents[rows]))


def table_of(values: Float64Array, dtype: Any) -> Any:  # noqa: ANN401
    """Return a table of the core: rows that begin at multiples of 64 bytes, padded with zeros."""
    rows, n_topics = values.shape
    size = np.dtype(dtype).itemsize
    width = -(-n_topics * size // 64) * 64 // size
    memory = np.zeros(rows * width * size + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 64
    table = memory[start : start + rows * width * size].view(dtype).reshape(rows, width)
    table[:, :n_topics] = values
    return table


def core_of(bags: Bags, exponent: int, dtype: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401
    """Return scaled entries, where those of each word begin, and what the core steps over."""
    counts = np.ldexp(bags.data.astype(np.float64), -exponent)
    indptr, indices, _ = entries_of(bags, dtype)
    entries = indptr, indices, counts.astype(dtype)
    by_word = sparse.csr_array(
        (np.arange(bags.nnz, dtype=np.int64), bags.indices, bags.indptr), shape=bags.shape
    ).tocsc()
    kind: Any = _core.Mixture if dtype == np.float32 else _core.FineMixture
    starts = by_word.indptr.astype(np.int64)
    return entries, starts, kind(*entries, starts, by_word.indices.astype(np.int32), by_word.data)


def log_likelihood(
    entries: tuple[Any, Any, Any],
    topics: Any,  # noqa: ANN401 (tables)
    words: Any,  # noqa: ANN401
    scale: Float64Array,
    jobs: int,
) -> tuple[float, float]:
    """Return the log-likelihood of entries, and how many of their tokens it leaves out."""
    padded = np.zeros(words.shape[1])
    padded[: scale.size] = scale
    return _core.log_likelihood(*entries, topics, words, padded, jobs)


def log_prior_of(topics: Any, settings: EmSettings) -> float:  # noqa: ANN401 (a table)
    """Return what the prior of P(z|d) adds to the log-likelihood, less its constant."""
    if settings.topic_prior == 0:
        return 0.0
    shares = topics[:, : settings.n_components].astype(np.float64)
    return settings.topic_prior * float(log_of(shares).sum())


def drawn_topics(random: RandomState, rows: int, columns: int) -> Float64Array:
    """Return P(z|d) of Dirichlet(1): one uniform number of the generator for each."""
    drawn = random.standard_exponential((rows, columns))
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


def log_of(values: Float64Array) -> Float64Array:
    """Return logarithms; what was too small to be kept counts as the smallest number."""
    return np.asarray(np.log(np.maximum(values, np.finfo(np.float64).tiny)))


def _gained(objectives: list[float], total: float) -> float:
    """Return the gain of a step, relatively; what a token counts sets where that is nothing."""
    before, after = objectives
    return (after - before) / max(abs(after), 1e-9 * total)
