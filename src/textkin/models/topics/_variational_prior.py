"""Variational inference for LDA with an asymmetric topic prior, fixed or learned.

Scikit-learn takes one number for this prior; the equations are the same with one number per topic
(Blei et al. 2003, appendix A). All documents are updated at once, and a document that has converged
is not changed by the others.
"""

from typing import Any, cast

import numpy as np
from numpy.random import RandomState
from scipy import sparse
from scipy.special import digamma, gammaln, polygamma

from textkin._base import Bags, Float64Array, IntpArray, row_indices
from textkin.models.topics._variational_inference import EVALUATE_EVERY, LDAFit, LDASettings
from textkin.run import ProgressCallback

__all__ = ["asymmetric_prior", "fit_with_prior", "infer_with_prior", "learn_prior"]

_MAX_UPDATES = 100  # updates of a document in one step
_SMALL_CHANGE = 1e-3  # mean change of the pseudo-counts of a converged document
_BLOCK = 2**21  # numbers of a block of entries x topics: 16 MB
_LEAST, _MOST = 1e-6, 1e6  # range of a learned prior
_NEWTON_STEPS = 100


def asymmetric_prior(n_components: int) -> Float64Array:
    """Return a topic prior proportional to 1 / (k + sqrt(K)), k = 0, 1, ..., with sum 1."""
    weights = 1 / (np.arange(n_components) + np.sqrt(n_components))
    return np.asarray(weights / weights.sum())


def fit_with_prior(
    bags: Bags,
    prior: Float64Array,
    learned: bool,
    settings: LDASettings,
    random: RandomState,
    progress: ProgressCallback | None,
) -> tuple[LDAFit, Float64Array]:
    """Fit the topics of LDA, and the topic prior if `learned`; return both."""
    counts: Bags = cast(Any, bags.astype(np.float64))  # the type of bags has float32 only
    n_topics, beta = settings.n_components, settings.topic_word_prior
    components = random.gamma(100.0, 0.01, (n_topics, counts.shape[1]))
    n_tokens = max(float(counts.data.sum()), 1.0)
    bounds: list[float] = []
    converged, step = False, 0
    while step < settings.max_iter and not converged:
        words = _expectations(components)
        # Without new random numbers, the first steps stay close to equal shares.
        start = random.gamma(100.0, 0.01, (counts.shape[0], n_topics))
        gamma, sums = _update_documents(counts, np.exp(words), prior, start)
        step += 1
        if learned:
            prior = learn_prior(prior, _expectations(gamma).sum(axis=0), len(gamma))
        evaluated = step % EVALUATE_EVERY == 0 or step == settings.max_iter
        if evaluated:
            bounds.append(_bound(counts, gamma, components, prior, beta) / n_tokens)
            converged = len(bounds) > 1 and bounds[-1] - bounds[-2] < settings.tol
        components = beta + np.exp(words) * sums
        if progress is not None:
            progress(step, settings.max_iter)
    return LDAFit(components, step, converged, bounds), prior


def infer_with_prior(
    bags: Bags, components: Float64Array, prior: Float64Array, progress: ProgressCallback | None
) -> Float64Array:
    """Infer the topic distribution of each document, independently, with fixed topics."""
    counts: Bags = cast(Any, bags.astype(np.float64))
    gamma, _ = _update_documents(counts, np.exp(_expectations(components)), prior, None)
    if progress is not None:
        progress(bags.shape[0], bags.shape[0])
    return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))


def learn_prior(prior: Float64Array, log_shares: Float64Array, n_documents: int) -> Float64Array:
    """Return the topic prior that maximizes the variational bound, by Newton's method.

    Parameters
    ----------
    prior : ndarray of shape (n_components,)
        Start.
    log_shares : ndarray of shape (n_components,)
        Sum over documents of E[log theta_dk].
    n_documents : int
        Number of documents.

    References
    ----------
    T. Minka. Estimating a Dirichlet Distribution. Technical report, MIT, 2000, equations 15 to 18.
    """
    for _ in range(_NEWTON_STEPS):
        gradient = n_documents * (digamma(prior.sum()) - digamma(prior)) + log_shares
        diagonal = -n_documents * polygamma(1, prior)
        shared = n_documents * polygamma(1, prior.sum())
        offset = (gradient / diagonal).sum() / (1 / shared + (1 / diagonal).sum())
        step = (gradient - offset) / diagonal
        while (prior - step <= prior / 10).any():
            # Halve the step until no prior falls below a tenth.
            step /= 2
        changed = np.clip(prior - step, _LEAST, _MOST)
        done = np.abs(changed - prior).max() <= 1e-8 * prior.max()
        prior = changed
        if done:
            break
    return prior


def _expectations(parameters: Float64Array) -> Float64Array:
    """Return E[log p] under the Dirichlet distribution with the parameters of each row."""
    return np.asarray(digamma(parameters) - digamma(parameters.sum(axis=1, keepdims=True)))


def _update_documents(
    counts: Bags, words: Float64Array, prior: Float64Array, start: Float64Array | None
) -> tuple[Float64Array, Float64Array]:
    """Update the documents' topic parameters gamma; return them with the sums for topics."""
    n_documents, n_topics = counts.shape[0], len(prior)
    gamma = np.ones((n_documents, n_topics)) if start is None else start.copy()
    by_word = np.ascontiguousarray(words.T)
    rows = row_indices(counts)
    active = np.arange(n_documents)
    some, their_rows = counts, rows
    for _ in range(_MAX_UPDATES):
        shares = np.exp(_expectations(gamma[active]))
        changed = prior + shares * (_ratios(some, their_rows, shares, by_word) @ by_word)
        moved = np.abs(changed - gamma[active]).mean(axis=1) >= _SMALL_CHANGE
        gamma[active] = changed
        if not moved.any():
            break
        if not moved.all():
            active = active[moved]
            some = counts[active]
            their_rows = row_indices(some)
    shares = np.exp(_expectations(gamma))
    sums = (_ratios(counts, rows, shares, by_word).T @ shares).T
    return gamma, np.asarray(sums)


def _ratios(
    counts: Bags, rows: IntpArray, shares: Float64Array, by_word: Float64Array
) -> sparse.csr_array:
    """Divide each count by its normalizer sum_k exp(E[log theta_dk] + E[log phi_kw])."""
    norms = _norms(counts, rows, shares, by_word)
    data = counts.data / np.maximum(norms, np.finfo(np.float64).tiny)
    return sparse.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)


def _norms(
    counts: Bags, rows: IntpArray, shares: Float64Array, by_word: Float64Array
) -> Float64Array:
    norms = np.empty(counts.nnz)
    step = max(1, _BLOCK // shares.shape[1])
    for start in range(0, counts.nnz, step):
        part = slice(start, start + step)
        norms[part] = np.einsum("ek,ek->e", shares[rows[part]], by_word[counts.indices[part]])
    return norms


def _bound(
    counts: Bags, gamma: Float64Array, components: Float64Array, prior: Float64Array, beta: float
) -> float:
    """Compute the variational lower bound of the log-likelihood (Blei et al. 2003, eq. 15)."""
    shares, words = _expectations(gamma), _expectations(components)
    norms = _norms(
        counts, row_indices(counts), np.exp(shares), np.ascontiguousarray(np.exp(words).T)
    )
    bound = float(counts.data @ np.log(np.maximum(norms, np.finfo(np.float64).tiny)))
    bound += _dirichlet_bound(prior, gamma, shares)
    return bound + _dirichlet_bound(np.full(components.shape[1], beta), components, words)


def _dirichlet_bound(
    prior: Float64Array, parameters: Float64Array, expectations: Float64Array
) -> float:
    """Return the sum over rows of E[log p(x | prior) - log q(x | parameters)]."""
    found = ((prior - parameters) * expectations).sum()
    found += (gammaln(parameters) - gammaln(prior)).sum()
    found += len(parameters) * gammaln(prior.sum()) - gammaln(parameters.sum(axis=1)).sum()
    return float(found)
