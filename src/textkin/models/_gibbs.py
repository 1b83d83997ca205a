"""Collapsed Gibbs sampling for LDA, in the core."""

import numpy as np
from numpy.random import RandomState

from textkin import _core
from textkin._typing import Bags, Float64Array, Int32Array
from textkin.models._em import entries_of, table_of
from textkin.models._topics import LdaFit, LdaSettings
from textkin.run import ProgressCallback, effective_jobs

__all__ = ["fit_gibbs", "infer_gibbs"]

_EVERY = 10  # sweeps between samples, which follow each other closely otherwise
_MOST_TOKENS = 2**31 - 1
_LEAST_PRIOR, _MOST_PRIOR = 1e-12, 1e12  # what the core draws from, in single precision
# Of a document whose words are fixed; its tokens forget their start within a few sweeps.
_FOLD_IN_BURN_IN, _FOLD_IN_SAMPLES, _FOLD_IN_SEED = 20, 80, 1


def fit_gibbs(
    bags: Bags, settings: LdaSettings, random: RandomState, progress: ProgressCallback | None
) -> LdaFit:
    """Draw topics for all tokens, `max_iter` times; the mean of samples after burn-in counts."""
    for name, prior in (("alpha", settings.alpha), ("beta", settings.beta)):
        if not _LEAST_PRIOR <= prior <= _MOST_PRIOR:
            raise ValueError(
                f"method='gibbs' takes {name} from {_LEAST_PRIOR:g} to {_MOST_PRIOR:g}; got "
                f"{prior:g}. Use method='variational' for others."
            )
    jobs, n_topics = effective_jobs(settings.n_jobs), settings.n_components
    sampler = _core.TopicSampler(
        bags.indptr.astype(np.int64),
        bags.indices.astype(np.int32),
        _whole(bags),
        bags.shape[1],
        n_topics,
        settings.alpha,
        settings.beta,
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
        words = np.add(sampler.word_counts(), settings.beta, dtype=np.float64)
        topics = np.add(sampler.document_counts(), settings.alpha, dtype=np.float64)
        topics /= (lengths + n_topics * settings.alpha)[:, np.newaxis]
        likelihoods.append(_log_likelihood(bags, topics, words, jobs) / lengths.sum())
        if done > settings.burn_in:
            samples += 1
            components += words.T
            shares += topics
        if progress is not None:
            progress(done, settings.max_iter)
    return LdaFit(components / samples, done, True, likelihoods, shares / samples)


def infer_gibbs(
    bags: Bags, components: Float64Array, settings: LdaSettings, progress: ProgressCallback | None
) -> Float64Array:
    """Return the topic shares of documents with the topics held fixed; rows do not interact."""
    used, columns = np.unique(bags.indices, return_inverse=True)
    weights = components[:, used] / components.sum(axis=1, keepdims=True)
    return np.asarray(
        _core.fold_in_by_sampling(
            bags.indptr.astype(np.int64),
            columns.astype(np.int32),
            _whole(bags),
            np.ascontiguousarray(weights.T, dtype=np.float32),
            settings.alpha,
            _FOLD_IN_BURN_IN,
            _FOLD_IN_SAMPLES,
            _FOLD_IN_SEED,
            effective_jobs(settings.n_jobs),
            progress,
        )
    )


def _whole(bags: Bags) -> Int32Array:
    """Return counts as whole numbers; other weights are refused."""
    wrong = np.flatnonzero(bags.data != np.floor(bags.data))
    if wrong.size:
        row = int(np.searchsorted(bags.indptr, wrong[0], side="right")) - 1
        raise ValueError(
            "method='gibbs' draws a topic for each token, so bags must hold whole numbers; row "
            f"{row} has {bags.data[wrong[0]]}. Use method='variational' for other weights."
        )
    total = bags.data.sum(dtype=np.float64)
    if total > _MOST_TOKENS:
        raise ValueError(
            f"method='gibbs' takes at most {_MOST_TOKENS:,} tokens; the bags have {total:,.0f}. "
            "Use method='variational' for more."
        )
    return bags.data.astype(np.int32)


def _log_likelihood(bags: Bags, topics: Float64Array, words: Float64Array, jobs: int) -> float:
    """Return sum n(d, w) log sum_k theta_dk phi_kw."""
    n_topics = topics.shape[1]
    thetas = table_of(topics, np.float64)
    phis = table_of(words, np.float64)
    scale = np.zeros(phis.shape[1])
    scale[:n_topics] = 1 / words.sum(axis=0)
    found, _ = _core.log_likelihood(*entries_of(bags, np.float64), thetas, phis, scale, jobs)
    return found
