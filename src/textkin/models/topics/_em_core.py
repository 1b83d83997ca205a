"""EM steps of topic models in the compiled core, and inference for new documents.

Tables of the core have a row per document or word and a column per topic, padded to 64 bytes. Words
hold expected counts; `scale` times these are P(w|z).
"""

from typing import Any

import numpy as np
from scipy import sparse

from textkin import _core
from textkin._base import Bags, Float64Array
from textkin.models._arrays import entries_of, scaled_rows, table_of
from textkin.models.topics._em import (
    EMProblem,
    EMSettings,
    EMStart,
    log_of,
    normalized_words,
    words_in,
)

__all__ = [
    "CoreEM",
    "core_model",
    "fold_in",
    "log_likelihood",
    "log_prior_of_topics",
    "scaled_entries",
]

_MANY_TOKENS = 2.0**100  # largest count of a word in a document that a prior can change


class CoreEM:
    """EM back end in the compiled core, for bags in memory.

    Parameters
    ----------
    bags : csr_array of shape (n_documents, n_words)
        Bags to fit to.
    problem : EMProblem
        Precision, scale and priors.
    start : EMStart
        Initial model.
    held : csr_array, optional
        Held-out tokens of the same documents.

    Attributes
    ----------
    words : table of shape (n_words, n_components)
        Expected counts of words; `CountingGrid` replaces them between steps.
    scale : ndarray of shape (n_components,)
        Factors that turn these counts into P(w|z).
    """

    def __init__(
        self, bags: Bags, problem: EMProblem, start: EMStart, held: Bags | None = None
    ) -> None:
        self.problem = problem
        dtype = problem.dtype
        self._entries = scaled_entries(bags, problem)
        self._core = core_model(bags, self._entries)
        self._held = None if held is None else entries_of(held, dtype)
        self._empty = np.diff(bags.indptr) == 0
        self._topics = table_of(start.document_topics, dtype)
        self._spare = np.zeros_like(self._topics)
        has_prior = problem.settings.topic_word_prior > 0
        self._seen = words_in(bags) if has_prior else None  # only `log_prior` reads it
        self.words, self.scale = table_of(start.words, dtype), start.scale.copy()

    def step(self, power: float = 1.0) -> float:
        """Run one EM step, and return the log-likelihood of the model before the step."""
        settings = self.problem.settings
        n = settings.n_components
        if power < 1:
            before, _ = self.log_likelihood()
            self._topics = table_of(self._topics[:, :n] ** power, self.problem.dtype)
            self.words = table_of((self.words[:, :n] * self.scale) ** power, self.problem.dtype)
            self.scale = np.ones(n)
        found = self._core.step(
            self._topics,
            self._spare,
            self.words,
            self.scale,
            settings.doc_topic_prior,
            settings.topic_word_prior,
            self.problem.least,
            settings.jobs,
        )
        self._topics, self._spare = self._spare, self._topics
        self._topics[self._empty, :n] = 1 / n  # the core leaves these rows tempered
        return before if power < 1 else float(found)

    def log_likelihood(self, *, held: bool = False) -> tuple[float, float]:
        """Return the log-likelihood of the documents, and how many tokens have P(w|d) = 0."""
        entries = self._held if held else self._entries
        assert entries is not None
        jobs = self.problem.settings.jobs
        return log_likelihood(entries, self._topics, self.words, self.scale, jobs)

    def log_prior(self) -> float:
        """Return the log prior density of the current P(w|z) and P(z|d), up to a constant."""
        settings = self.problem.settings
        total = 0.0
        if settings.topic_word_prior > 0:
            words = self.words[self._seen, : settings.n_components] * self.scale
            total += settings.topic_word_prior * float(log_of(words).sum())
        return total + log_prior_of_topics(self._topics, settings)

    def word_topics(self) -> Float64Array:
        """Return the word distribution P(w|z) of each topic, one row per topic."""
        return normalized_words(self.words[:, : self.problem.settings.n_components], self.scale)

    def document_topics(self) -> Float64Array:
        """Return the topic distribution P(z|d) of each document, one row per document."""
        topics = self._topics[:, : self.problem.settings.n_components]
        return np.array(topics, dtype=np.float64)

    def state(self) -> tuple[Any, Any, Any]:
        """Return the current P(w|z) and P(z|d) in a form that `restore` takes."""
        return self._topics.copy(), self.words.copy(), self.scale.copy()

    def restore(self, state: tuple[Any, Any, Any]) -> None:
        """Set P(w|z) and P(z|d) to the result of an earlier `state`."""
        self._topics, self.words, self.scale = (array.copy() for array in state)


def scaled_entries(bags: Bags, problem: EMProblem) -> tuple[Any, Any, Any]:
    """Return the CSR arrays of bags (row offsets, columns, scaled weights) for the core."""
    return bags.indptr.astype(np.int64), bags.indices.astype(np.int32), problem.scaled(bags)


def core_model(bags: Bags, entries: tuple[Any, Any, Any]) -> Any:  # noqa: ANN401 (of the core)
    """Create the core's object that runs EM steps on bags."""
    by_word = sparse.csr_array(
        (np.arange(bags.nnz, dtype=np.int64), bags.indices, bags.indptr), shape=bags.shape
    ).tocsc()
    kind: Any = _core.Mixture if entries[2].dtype == np.float32 else _core.FineMixture
    starts = by_word.indptr.astype(np.int64)
    return kind(*entries, starts, by_word.indices.astype(np.int32), by_word.data)


def log_likelihood(
    entries: tuple[Any, Any, Any],
    topics: Any,  # noqa: ANN401 (a table)
    words: Any,  # noqa: ANN401 (a table)
    scale: Float64Array,
    jobs: int,
) -> tuple[float, float]:
    """Return the log-likelihood of bags, and how many of their tokens have P(w|d) = 0."""
    padded = np.zeros(words.shape[1])
    padded[: scale.size] = scale
    return _core.log_likelihood(*entries, topics, words, padded, jobs)


def log_prior_of_topics(topics: Any, settings: EMSettings) -> float:  # noqa: ANN401 (a table)
    """Return the log prior density of P(z|d), up to a constant."""
    if settings.doc_topic_prior == 0:
        return 0.0
    shares = topics[:, : settings.n_components].astype(np.float64)
    return settings.doc_topic_prior * float(log_of(shares).sum())


def fold_in(
    bags: Bags,
    word_topics: Float64Array,
    power: float,
    settings: EMSettings,
    *,
    steps: int,
    tolerance: float,
    progress: Any = None,  # noqa: ANN401 (a callback, for the core)
) -> Float64Array:
    """Infer P(z|d) of each new document independently, with fixed P(w|z).

    Parameters
    ----------
    bags : csr_array of shape (n_documents, n_words)
        Documents.
    word_topics : ndarray of shape (n_components, n_words)
        P(w|z).
    power : float
        Inverse temperature of the E step.
    settings : EMSettings
        Unscaled prior of P(z|d), and threads.
    steps : int
        Maximum number of steps.
    tolerance : float
        A document stops when no P(z|d) changes by more.
    progress : callable, optional
        Called with (documents done, total).

    Returns
    -------
    ndarray of shape (n_documents, n_components), float64
        Rows that sum to 1.
    """
    n_topics = word_topics.shape[0]
    used, columns = np.unique(bags.indices, return_inverse=True)
    powers = word_topics[:, used].T ** power
    # Only the proportions of a word matter; scaling by a power of two is exact.
    _, exponents = np.frexp(powers.max(axis=1, initial=0.0))
    table = table_of(np.ldexp(powers, -exponents[:, np.newaxis]), np.float64)
    topics = table_of(np.full((bags.shape[0], n_topics), 1 / n_topics), np.float64)
    counts = scaled_rows(bags, above=0.0 if settings.doc_topic_prior == 0 else _MANY_TOKENS)
    _core.fold_in(
        bags.indptr.astype(np.int64),
        columns.astype(np.int32),
        counts,
        topics,
        table,
        n_topics,
        power,
        settings.doc_topic_prior,
        steps,
        tolerance,
        settings.jobs,
        progress,
    )
    return np.ascontiguousarray(topics[:, :n_topics])
