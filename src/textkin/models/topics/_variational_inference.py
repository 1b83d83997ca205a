"""Variational inference for LDA, by scikit-learn's implementation."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy.special import digamma
from sklearn import config_context
from sklearn.decomposition import LatentDirichletAllocation

from textkin._base import Bags, Float64Array
from textkin.run import ProgressCallback

__all__ = ["EVALUATE_EVERY", "LDAFit", "LDASettings", "fit_variational", "infer_variational"]

_BLOCK = 256  # block size of inference between two progress reports, in documents
EVALUATE_EVERY = 5  # steps between bounds, since a bound costs about as much as a step


@dataclass(frozen=True, slots=True)
class LDASettings:
    """Parameters of LDA, with defaults replaced by numbers."""

    n_components: int
    doc_topic_prior: float
    topic_word_prior: float
    max_iter: int
    tol: float
    burn_in: int
    n_jobs: int | None


@dataclass(frozen=True, slots=True)
class LDAFit:
    """Result of an LDA fit: topics as pseudo-counts, and the history of the fit."""

    components: Float64Array
    n_iter: int
    converged: bool
    lower_bounds: list[float]
    document_topics: Float64Array | None = None  # if the method computes them


def fit_variational(
    bags: Bags, settings: LDASettings, random: RandomState, progress: ProgressCallback | None
) -> LDAFit:
    """Fit the topics of LDA by variational Bayes, with a symmetric prior."""
    counts = bags.astype(np.float64)
    model = _model(settings, len_documents=counts.shape[0], random=random)
    n_tokens = counts.data.sum()
    bounds: list[float] = []
    converged, step = False, 0
    while step < settings.max_iter and not converged:
        with _any_prior():
            model.partial_fit(counts)
        step += 1
        if progress is not None:
            progress(step, settings.max_iter)
        if step % EVALUATE_EVERY == 0 or step == settings.max_iter:
            with _any_prior():
                bounds.append(float(model.score(counts)) / max(n_tokens, 1))
            converged = len(bounds) > 1 and bounds[-1] - bounds[-2] < settings.tol
    return LDAFit(np.array(model.components_), step, converged, bounds)


def infer_variational(
    bags: Bags, components: Float64Array, settings: LDASettings, progress: ProgressCallback | None
) -> Float64Array:
    """Infer the topic distribution of each document, independently, with fixed topics."""
    model = _model(settings, len_documents=1, random=np.random.RandomState(0))
    # These are the documented fitted attributes of scikit-learn.
    model.components_ = components
    totals = components.sum(axis=1, keepdims=True)
    model.exp_dirichlet_component_ = np.exp(digamma(components) - digamma(totals))
    model.doc_topic_prior_, model.topic_word_prior_ = (
        settings.doc_topic_prior,
        settings.topic_word_prior,
    )
    model.n_features_in_ = components.shape[1]
    model.random_state_, model.n_batch_iter_, model.n_iter_ = None, 1, 1
    n_documents = bags.shape[0]
    shares = np.empty((n_documents, components.shape[0]))
    for start in range(0, n_documents, _BLOCK):
        end = min(start + _BLOCK, n_documents)
        with _any_prior():
            shares[start:end] = model.transform(bags[start:end].astype(np.float64))
        if progress is not None:
            progress(end, n_documents)
    return shares


def _model(settings: LDASettings, *, len_documents: int, random: RandomState) -> Any:  # noqa: ANN401
    # Each step is one batch of all documents that replaces the topics: an online update with decay
    # 0 is a step of batch EM, and can be observed and interrupted between steps.
    return LatentDirichletAllocation(
        settings.n_components,
        doc_topic_prior=settings.doc_topic_prior,
        topic_word_prior=settings.topic_word_prior,
        learning_decay=0.0,
        learning_offset=1.0,
        batch_size=len_documents,
        total_samples=len_documents,
        random_state=random,
    )


def _any_prior() -> Any:  # noqa: ANN401 (scikit-learn is untyped)
    """Return a context manager in which scikit-learn accepts Dirichlet priors above 1."""
    return config_context(skip_parameter_validation=True)
