"""`PLSA`: probabilistic latent semantic analysis, fitted by (tempered) EM."""

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import ClassVar, Self

from numpy.random import RandomState
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from textkin._base import (
    DEVICE,
    Bags,
    BagsLike,
    Constraint,
    Float64Array,
    check_params,
    integer,
    one_of,
    real,
    rollback_on_error,
)
from textkin.device import memory_errors_on
from textkin.models._feature_names import HasTopics
from textkin.models._random_restarts import best_of_starts
from textkin.models._vector_model import BagModel, rounded_as
from textkin.models.topics._em import (
    EMFit,
    EMProblem,
    EMSettings,
    TemperedEMBackend,
    TokenSplit,
    document_lengths,
    draw_start,
    fit_tempered,
    maximize,
    split_tokens,
)
from textkin.models.topics._em_core import CoreEM, fold_in
from textkin.run import ProgressCallback, effective_jobs

__all__ = ["PLSA"]

_BETWEEN_0_AND_1 = Constraint(
    lambda value: real(0, 1).accepts(value) and 0 < value < 1,
    "a number above 0 and below 1",
    real().wrong_type,
)


class PLSA(HasTopics, BagModel):
    """Topic distributions of documents by probabilistic latent semantic analysis.

    Parameters
    ----------
    n_components : int, default=64
        Number of factors K.
    topic_word_prior : float, default=1.0
        Parameter a of a symmetric Dirichlet prior of P(w|z), from 1 to 1e12. 1 is maximum
        likelihood; 1.01 to 1.1 keeps every P(w|z) above 0.
    doc_topic_prior : float, default=1.0
        Parameter b of a symmetric Dirichlet prior of P(z|d), from 1 to 1e12.
    tempered : bool, default=False
        Use tempered EM: hold out some tokens, stop when their likelihood falls, and then lower the
        inverse temperature of the E step as long as that raises it.
    held_out : float, default=0.1
        Fraction of all tokens that a tempered fit holds out.
    cooling : float, default=0.9
        Factor by which a tempered fit multiplies the inverse temperature.
    n_init : int, default=1
        Number of fits with different initializations; the best is kept. The likelihood of the
        held-out tokens decides if there are any, otherwise likelihood and priors of the fit.
    max_iter : int, default=200
        Maximum number of steps per fit.
    tol : float, default=1e-5
        Relative gain in the (penalized) log-likelihood below which a fit stops.
    fold_in_iter : int, default=100
        Maximum number of steps per document in `transform`.
    random_state : int, RandomState or None, default=None
        Seed of the initializations and of the choice of held-out tokens.
    n_jobs : int or None, default=None
        Number of threads. Results are bit-identical for any number.
    device : None, "cpu" or "cuda", default=None
        Device of the steps of `fit`. None is the compiled core on the CPU; the others use torch
        (see Notes). Not saved with the model.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words), float64
        P(w|z). Rows sum to 1, except for rows of zeros: factors that have lost all tokens.
    document_topics_ : ndarray of shape (n_documents, n_components), float64
        P(z|d) of the documents of `fit`.
    topic_weights_ : ndarray of shape (n_components,), float64
        P(z), the share of all tokens in each factor.
    log_likelihoods_ : list of float
        sum n(d, w) log P(w|d) before the first step and after each step. It never falls, except
        for rounding, unless there are priors or the fit is tempered.
    objectives_ : list of float
        Log-likelihoods plus the logarithms of the priors. They never fall unless the fit is
        tempered.
    held_out_log_likelihoods_ : list of float
        Log-likelihood of the held-out tokens after each step; empty without held-out tokens.
    inverse_temperature_ : float
        Final inverse temperature of the E step; 1 unless tempered.
    n_iter_ : int
        Number of steps of the best fit.
    converged_ : bool
        True if the best fit stopped before `max_iter`.

    See Also
    --------
    FisherKernel : Similarity of documents that is derived from this model.
    LDA : Topic model that integrates over its priors.

    Notes
    -----
    The model is P(w|d) = sum_k P(w|z_k) P(z_k|d). An EM step computes, for nonzero counts only ::

        P(z_k|d,w) ~ [P(w|z_k) P(z_k|d)]^beta,
        P(w|z_k) ~ sum_d n(d,w) P(z_k|d,w) + a - 1,    P(z_k|d) ~ sum_w n(d,w) P(z_k|d,w) + b - 1

    with beta = 1 unless tempered. `transform` infers P(z|d) of a new document by the same steps
    from equal P(z|d), with P(w|z) fixed. A word that `fit` never saw has P(w|z) = 0 with any
    prior, and is ignored; an empty document, or a document without known words, gets equal shares
    of all factors. Models of up to a million numbers, and bags in float64, are fitted in double
    precision; large models of float32 bags in single precision, unless the sum of all weights is
    more than 1e15 times the smallest weight. Without priors, the scale of the weights does not
    matter; words whose weights are all below 1e-270 of the largest are treated as unseen.

    With `device`, torch computes the steps of `fit`, from the same initialization and in the same
    precision: likelihoods agree to about 1e-6 in float32 and to 1e-10 in float64. Bags and topics
    that do not fit in the memory of the device are copied block by block. `transform` uses the
    core.

    References
    ----------
    Hofmann, "Probabilistic Latent Semantic Analysis", UAI 1999 (tempering, inference). Hofmann,
    "Learning the Similarity of Documents", NIPS 1999, equations 1 to 3 and footnote 2.

    Examples
    --------
    >>> bags = [[4, 3, 0, 0], [5, 4, 0, 0], [0, 0, 3, 4], [0, 0, 5, 4]]
    >>> plsa = PLSA(2, random_state=0).fit(bags)
    >>> shares = plsa.transform([[6, 0, 0, 0], [0, 3, 0, 0], [0, 0, 2, 1]])
    >>> shares.argmax(axis=1)[0] == shares.argmax(axis=1)[1] != shares.argmax(axis=1)[2]
    np.True_
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1),
        "topic_word_prior": real(1, 1e12),
        "doc_topic_prior": real(1, 1e12),
        "tempered": one_of(True, False),
        "held_out": _BETWEEN_0_AND_1,
        "cooling": _BETWEEN_0_AND_1,
        "n_init": integer(1),
        "max_iter": integer(1),
        "tol": real(0),
        "fold_in_iter": integer(1, 2**31 - 1),
        "n_jobs": one_of(None) | integer(),
        "device": DEVICE,
    }

    def __init__(
        self,
        n_components: int = 64,
        *,
        topic_word_prior: float = 1.0,
        doc_topic_prior: float = 1.0,
        tempered: bool = False,
        held_out: float = 0.1,
        cooling: float = 0.9,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-5,
        fold_in_iter: int = 100,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.topic_word_prior = topic_word_prior
        self.doc_topic_prior = doc_topic_prior
        self.tempered = tempered
        self.held_out = held_out
        self.cooling = cooling
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.fold_in_iter = fold_in_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    @rollback_on_error
    def fit(
        self, X: BagsLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Learn P(w|z) and P(z|d) from bags of words by (tempered) EM.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags: counts, or other weights, at least 0.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (steps done, maximum number of steps) after each step. An exception raised
            in it stops the work.

        Returns
        -------
        PLSA
            The estimator itself.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If the fit did not converge in `max_iter` steps.
        """
        check_params(self)
        bags = self._bags_to_fit(X)
        totals = document_lengths(bags)
        random = check_random_state(self.random_state)
        settings = self._settings()
        split = split_tokens(bags, self.held_out, random) if self.tempered else None

        def fit(report: Callable[[], object]) -> EMFit:
            backend = self._backend(bags, split, settings, random)
            if split is None:
                return maximize(backend, report)
            return fit_tempered(backend, self.cooling, report)

        with memory_errors_on(self.device, "Free some") if self.device else nullcontext():
            best = best_of_starts(
                fit, n_init=self.n_init, max_iter=self.max_iter, progress=progress
            )
        topics = best.document_topics
        if split is not None:  # P(z|d) of all tokens, including the held-out ones
            topics = fold_in(
                bags, best.word_topics, best.power, settings, steps=100, tolerance=1e-6
            )
        topics[totals == 0] = 1 / self.n_components
        self._keep(best, topics, totals / totals.sum() @ topics)
        self._warn_convergence(stacklevel=4)  # points to the caller of the decorated method
        return self

    def _backend(
        self, bags: Bags, split: TokenSplit | None, settings: EMSettings, random: RandomState
    ) -> TemperedEMBackend:
        train, held = (bags, None) if split is None else (split.train, split.held)
        problem = EMProblem.of_bags(settings, train)
        start = draw_start(train, problem, random)
        if self.device is None:
            return CoreEM(train, problem, start, held)
        from textkin.models.topics._em_torch import TorchEM

        return TorchEM(train, problem, start, held, device=self.device)

    def _keep(
        self, best: EMFit, document_topics: Float64Array, topic_weights: Float64Array
    ) -> None:
        self.components_ = best.word_topics
        self.document_topics_ = document_topics
        self.topic_weights_ = topic_weights
        self.log_likelihoods_ = best.log_likelihoods
        self.objectives_ = best.objectives
        self.held_out_log_likelihoods_ = best.held_out
        self.inverse_temperature_ = best.power
        self.n_iter_ = best.n_iter
        self.converged_ = best.converged

    def _warn_convergence(self, stacklevel: int) -> None:
        if not self.converged_:
            warnings.warn(
                f"PLSA did not converge in {self.n_iter_} steps. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )

    def transform(self, X: BagsLike, *, progress: ProgressCallback | None = None) -> Float64Array:
        """Infer the topic distribution P(z|d) of each document independently.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags: counts, or other weights, at least 0.
        progress : callable, optional
            Called with (documents done, total). An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Rows that sum to 1; float32, or float64 if `X` is float64.
        """
        bags = self._bags_to_transform(X)
        found = fold_in(
            bags,
            self.components_,
            self.inverse_temperature_,
            self._settings(),
            steps=self.fold_in_iter,
            tolerance=1e-7,
            progress=progress,
        )
        return rounded_as(bags, found)

    def _topics(self) -> tuple[Float64Array, Float64Array]:
        return self.components_, self.topic_weights_

    def _settings(self) -> EMSettings:
        return EMSettings(
            self.n_components,
            float(self.topic_word_prior) - 1,
            float(self.doc_topic_prior) - 1,
            self.max_iter,
            float(self.tol),
            effective_jobs(self.n_jobs),
        )

    def _check_loaded(self) -> None:
        n_documents = len(self.document_topics_)
        self._check_shapes(
            components_=(self.n_components, self.n_features_in_),
            document_topics_=(n_documents, self.n_components),
            topic_weights_=(self.n_components,),
            inverse_temperature_=(),
        )
        if min(self.components_.min(), self.topic_weights_.min(), self.inverse_temperature_) < 0:
            raise ValueError("probabilities must not be negative")
