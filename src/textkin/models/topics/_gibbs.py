"""Collapsed Gibbs sampling for LDA, in the compiled core."""

import numpy as np
from numpy.random import RandomState

from textkin import _core
from textkin._base import Bags, Float64Array, Int32Array
from textkin.exceptions import ParameterError
from textkin.models._arrays import entries_of, table_of
from textkin.models.topics._variational_inference import LDAFit, LDASettings
from textkin.run import ProgressCallback, effective_jobs

__all__ = ["fit_gibbs", "infer_gibbs"]

_EVERY = 10  # sweeps between samples, since consecutive samples are highly correlated
_MOST_TOKENS = 2**31 - 1
_LEAST_PRIOR, _MOST_PRIOR = 1e-12, 1e12  # range that the core can sample in single precision
# Sweeps for a document with fixed words; its tokens forget their start within a few sweeps.
_FOLD_IN_BURN_IN, _FOLD_IN_SAMPLES, _FOLD_IN_SEED = 20, 80, 1


def fit_gibbs(
    bags: Bags, settings: LDASettings, random: RandomState, progress: ProgressCallback | None
) -> LDAFit:
    """Fit LDA by collapsed Gibbs sampling, and average samples after burn-in."""
    priors = {
        "doc_topic_prior": settings.doc_topic_prior,
        "topic_word_prior": settings.topic_word_prior,
    }
    for name, prior in priors.items():
        if not _LEAST_PRIOR <= prior <= _MOST_PRIOR:
            raise ParameterError(
                name,
                f"from {_LEAST_PRIOR:g} to {_MOST_PRIOR:g} for method='gibbs'",
                f"{prior:g}",
                "Pass `method='variational'` for other priors.",
            )
    jobs, n_topics = effective_jobs(settings.n_jobs), settings.n_components
    sampler = _core.TopicSampler(
        bags.indptr.astype(np.int64),
        bags.indices.astype(np.int32),
        _whole(bags),
        bags.shape[1],
        n_topics,
        settings.doc_topic_prior,
        settings.topic_word_prior,
        random.randint(np.iinfo(np.int32).max),
    )
    lengths = np.asarray(bags.sum(axis=1, dtype=np.float64)).ravel()
    components = np.zeros((n_topics, bags.shape[1]))
    shares = np.zeros((bags.shape[0], n_topics))
    samples, likelihoods = 0, []
    done = 0
    while done < settings.max_iter:
        times = min(_EVERY - done % _EVERY, settings.max_iter - done)
        sampler.sweep(times, jobs, None)
        done += times
        words = np.add(sampler.word_counts(), settings.topic_word_prior, dtype=np.float64)
        topics = np.add(sampler.document_counts(), settings.doc_topic_prior, dtype=np.float64)
        topics /= (lengths + n_topics * settings.doc_topic_prior)[:, np.newaxis]
        likelihoods.append(_log_likelihood(bags, topics, words, jobs) / lengths.sum())
        if done > settings.burn_in:
            samples += 1
            components += words.T
            shares += topics
        if progress is not None:
            progress(done, settings.max_iter)
    return LDAFit(components / samples, done, True, likelihoods, shares / samples)


def infer_gibbs(
    bags: Bags, components: Float64Array, settings: LDASettings, progress: ProgressCallback | None
) -> Float64Array:
    """Infer the topic distribution of each document, independently, with fixed topics."""
    used, columns = np.unique(bags.indices, return_inverse=True)
    weights = components[:, used] / components.sum(axis=1, keepdims=True)
    return np.asarray(
        _core.fold_in_by_sampling(
            bags.indptr.astype(np.int64),
            columns.astype(np.int32),
            _whole(bags),
            np.ascontiguousarray(weights.T, dtype=np.float32),
            settings.doc_topic_prior,
            _FOLD_IN_BURN_IN,
            _FOLD_IN_SAMPLES,
            _FOLD_IN_SEED,
            effective_jobs(settings.n_jobs),
            progress,
        )
    )


def _whole(bags: Bags) -> Int32Array:
    """Convert counts to integers; raise ValueError if a count is not an integer."""
    wrong = np.flatnonzero(bags.data != np.floor(bags.data))
    if wrong.size:
        row = int(np.searchsorted(bags.indptr, wrong[0], side="right")) - 1
        raise ValueError(
            "X must have integer counts for method='gibbs', which samples a topic per token; row "
            f"{row} has {bags.data[wrong[0]]}. Pass method='variational' for other weights."
        )
    total = bags.data.sum(dtype=np.float64)
    if total > _MOST_TOKENS:
        raise ValueError(
            f"X must have at most {_MOST_TOKENS:,} tokens for method='gibbs'; got {total:,.0f}. "
            "Pass method='variational' for more."
        )
    return bags.data.astype(np.int32)


def _log_likelihood(bags: Bags, topics: Float64Array, words: Float64Array, jobs: int) -> float:
    """Compute the log-likelihood sum n(d, w) log sum_k theta_dk phi_kw."""
    n_topics = topics.shape[1]
    thetas = table_of(topics, np.float64)
    phis = table_of(words, np.float64)
    scale = np.zeros(phis.shape[1])
    scale[:n_topics] = 1 / words.sum(axis=0)
    found, _ = _core.log_likelihood(*entries_of(bags, np.float64), thetas, phis, scale, jobs)
    return found
