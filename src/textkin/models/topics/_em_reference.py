"""Reference implementation of EM for PLSA in NumPy and float64.

The model is P(w|d) = sum_k P(w|z_k) P(z_k|d). Tests compare every back end with these functions;
nothing else uses them.

References
----------
Hofmann, "Probabilistic Latent Semantic Analysis", UAI 1999 (tempering). Hofmann, "Learning the
Similarity of Documents", NIPS 1999, equations 1 to 3 and footnote 2 (priors).
"""

from typing import Any

import numpy as np

from textkin._base import Bags, Float64Array, row_indices
from textkin.models.topics._em import EMProblem, EMStart, log_of, words_in

__all__ = ["ReferenceEM", "e_step", "log_likelihood", "m_step"]


def e_step(
    bags: Bags, word_topics: Float64Array, document_topics: Float64Array, power: float = 1.0
) -> Float64Array:
    """Compute the posterior P(z|d,w) for each nonzero entry of the bags (E step).

    ::

        P(z_k|d,w) = [P(w|z_k) P(z_k|d)]^beta / sum_l [P(w|z_l) P(z_l|d)]^beta

    Parameters
    ----------
    bags : csr_array of shape (n_documents, n_words)
        Counts n(d,w).
    word_topics : ndarray of shape (n_components, n_words)
        P(w|z).
    document_topics : ndarray of shape (n_documents, n_components)
        P(z|d).
    power : float, default=1.0
        Inverse temperature beta.

    Returns
    -------
    ndarray of shape (n_nonzero, n_components)
        P(z|d,w) in the order of `bags.data`; 0 if P(w|d) = 0.
    """
    joint = (document_topics[row_indices(bags)] * word_topics.T[bags.indices]) ** power
    totals = joint.sum(axis=1, keepdims=True)
    posterior: Float64Array = np.divide(joint, totals, out=np.zeros_like(joint), where=totals > 0)
    return posterior


def m_step(
    bags: Bags,
    posterior: Float64Array,
    document_topics: Float64Array,
    topic_word_prior: float = 0.0,
    doc_topic_prior: float = 0.0,
) -> tuple[Float64Array, Float64Array]:
    """Compute P(w|z) and P(z|d) from the posterior P(z|d,w) (M step).

    ::

        P(w|z_k) ~ sum_d n(d,w) P(z_k|d,w) + a - 1,    P(z_k|d) ~ sum_w n(d,w) P(z_k|d,w) + b - 1

    Parameters
    ----------
    bags : csr_array of shape (n_documents, n_words)
        Counts n(d,w).
    posterior : ndarray of shape (n_nonzero, n_components)
        P(z|d,w), see `e_step`.
    document_topics : ndarray of shape (n_documents, n_components)
        P(z|d) before the step, which a document keeps if all its P(w|d) are 0.
    topic_word_prior, doc_topic_prior : float, default=0.0
        Pseudo-counts a - 1 and b - 1. Words that occur in no document get none.

    Returns
    -------
    word_topics : ndarray of shape (n_components, n_words)
        P(w|z); 0 for a topic without tokens.
    document_topics : ndarray of shape (n_documents, n_components)
        P(z|d); 1 / n_components for an empty document.
    """
    n_components = posterior.shape[1]
    expected = bags.data[:, np.newaxis] * posterior  # n(d,w) P(z|d,w)
    of_words = np.zeros((bags.shape[1], n_components))
    of_documents = np.zeros((bags.shape[0], n_components))
    np.add.at(of_words, bags.indices, expected)
    np.add.at(of_documents, row_indices(bags), expected)
    of_words[words_in(bags)] += topic_word_prior
    of_documents += doc_topic_prior
    totals = of_documents.sum(axis=1, keepdims=True)
    topics = np.divide(of_documents, totals, out=document_topics.copy(), where=totals > 0)
    topics[np.diff(bags.indptr) == 0] = 1 / n_components
    totals = of_words.sum(axis=0)
    words = np.divide(of_words, totals, out=np.zeros_like(of_words), where=totals > 0)
    return words.T, topics


def log_likelihood(
    bags: Bags, word_topics: Float64Array, document_topics: Float64Array
) -> tuple[float, float]:
    """Compute L = sum_d sum_w n(d,w) log P(w|d) over the tokens with P(w|d) > 0.

    Parameters
    ----------
    bags : csr_array of shape (n_documents, n_words)
        Counts n(d,w).
    word_topics : ndarray of shape (n_components, n_words)
        P(w|z).
    document_topics : ndarray of shape (n_documents, n_components)
        P(z|d).

    Returns
    -------
    log_likelihood : float
        L.
    impossible : float
        Number of tokens with P(w|d) = 0.
    """
    found = (document_topics[row_indices(bags)] * word_topics.T[bags.indices]).sum(axis=1)
    possible = found > 0
    logs = bags.data[possible] @ np.log(found[possible])
    return float(logs), float(bags.data[~possible].sum())


class ReferenceEM:
    """EM back end that calls the NumPy reference functions.

    Parameters
    ----------
    bags : csr_array of shape (n_documents, n_words)
        Bags to fit to.
    problem : EMProblem
        Scale and priors.
    start : EMStart
        Initial model.
    held : csr_array, optional
        Held-out tokens of the same documents.
    """

    def __init__(
        self, bags: Bags, problem: EMProblem, start: EMStart, held: Bags | None = None
    ) -> None:
        self.problem = problem
        self._bags: Any = bags.astype(np.float64)
        self._bags.data = np.ldexp(self._bags.data, -problem.exponent)
        self._held: Any = held
        self._words = (start.words.astype(np.float64) * start.scale).T
        self._topics = start.document_topics.copy()

    def step(self, power: float = 1.0) -> float:
        """Run one EM step, and return the log-likelihood of the model before the step."""
        before, _ = self.log_likelihood()
        settings = self.problem.settings
        posterior = e_step(self._bags, self._words, self._topics, power)
        self._words, self._topics = m_step(
            self._bags,
            posterior,
            self._topics,
            settings.topic_word_prior,
            settings.doc_topic_prior,
        )
        return before

    def log_likelihood(self, *, held: bool = False) -> tuple[float, float]:
        """Return the log-likelihood of the documents, and how many tokens have P(w|d) = 0."""
        return log_likelihood(self._held if held else self._bags, self._words, self._topics)

    def log_prior(self) -> float:
        """Return the log prior: (a - 1) sum log P(w|z) + (b - 1) sum log P(z|d)."""
        settings = self.problem.settings
        total = 0.0
        if settings.topic_word_prior > 0:
            of_words = log_of(self._words.T[words_in(self._bags)]).sum()
            total += settings.topic_word_prior * float(of_words)
        if settings.doc_topic_prior > 0:
            total += settings.doc_topic_prior * float(log_of(self._topics).sum())
        return total

    def word_topics(self) -> Float64Array:
        """Return the word distribution P(w|z) of each topic, one row per topic."""
        return self._words.copy()

    def document_topics(self) -> Float64Array:
        """Return the topic distribution P(z|d) of each document, one row per document."""
        return self._topics.copy()

    def state(self) -> tuple[Any, Any]:
        """Return the current P(w|z) and P(z|d) in a form that `restore` takes."""
        return self._words, self._topics

    def restore(self, state: tuple[Any, Any]) -> None:
        """Set P(w|z) and P(z|d) to the result of an earlier `state`."""
        self._words, self._topics = state
