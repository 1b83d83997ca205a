"""Variational inference for LDA, by scikit-learn."""

from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy.special import digamma
from sklearn import config_context
from sklearn.decomposition import LatentDirichletAllocation

from textkin._typing import Bags, Float64Array
from textkin.models._topics import LdaFit, LdaSettings
from textkin.run import ProgressCallback

__all__ = ["fit_variational", "infer_variational"]

_BLOCK = 256  # documents that are placed between two reports
_EVALUATE_EVERY = 5  # steps: a bound costs about as much as one


def fit_variational(
    bags: Bags, settings: LdaSettings, random: RandomState, progress: ProgressCallback | None
) -> LdaFit:
    """Find the topics; the lower bounds are of each evaluation, in nats a word."""
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
        if step % _EVALUATE_EVERY == 0 or step == settings.max_iter:
            with _any_prior():
                bounds.append(float(model.score(counts)) / max(n_tokens, 1))
            converged = len(bounds) > 1 and bounds[-1] - bounds[-2] < settings.tol
    return LdaFit(np.array(model.components_), step, converged, bounds)


def infer_variational(
    bags: Bags, components: Float64Array, settings: LdaSettings, progress: ProgressCallback | None
) -> Float64Array:
    """Return the topic shares of documents with the topics held fixed; rows do not interact."""
    model = _model(settings, len_documents=1, random=np.random.RandomState(0))
    # What a fit of scikit-learn leaves behind, all of it documented there.
    model.components_ = components
    totals = components.sum(axis=1, keepdims=True)
    model.exp_dirichlet_component_ = np.exp(digamma(components) - digamma(totals))
    model.doc_topic_prior_, model.topic_word_prior_ = settings.alpha, settings.beta
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


def _model(settings: LdaSettings, *, len_documents: int, random: RandomState) -> Any:  # noqa: ANN401
    # One batch of all documents that replaces the topics whole: the online update with a decay
    # of 0 is a step of batch EM, and can be watched and interrupted between steps.
    return LatentDirichletAllocation(
        settings.n_components,
        doc_topic_prior=settings.alpha,
        topic_word_prior=settings.beta,
        learning_decay=0.0,
        learning_offset=1.0,
        batch_size=len_documents,
        total_samples=len_documents,
        random_state=random,
    )


def _any_prior() -> Any:  # noqa: ANN401 (scikit-learn is untyped)
    """Let scikit-learn take priors above 1, which it refuses without need."""
    return config_context(skip_parameter_validation=True)
