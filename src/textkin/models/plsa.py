"""Probabilistic latent semantic analysis: documents as mixtures of factors, by likelihood alone."""

import warnings
from collections.abc import Callable
from typing import ClassVar, Self

from numpy.random import RandomState
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from textkin._typing import Bags, Float64Array
from textkin._validation import Constraint, check_params, integer, one_of, real
from textkin.models._devices import DEVICE, working_on
from textkin.models._em import EmSettings, Mixture, MixtureFit, fold_in, maximise
from textkin.models._model import BagModel, BagsLike, rounded_as
from textkin.models._placed import PlacedMixture
from textkin.models._starts import best_of_starts, lengths_of
from textkin.models._tempered import Held, fit_held_out, hold_out
from textkin.models._words import HasTopics
from textkin.run import ProgressCallback, effective_jobs

__all__ = ["PLSA"]

_BETWEEN_0_AND_1 = Constraint(
    lambda value: real(0, 1).accepts(value) and 0 < value < 1,
    "a number above 0 and below 1",
    real().wrong_type,
)


class PLSA(HasTopics, BagModel):
    """Place documents by the parts that factors have in them (the aspect model).

    Parameters
    ----------
    n_components : int, default=64
        Factors K.
    word_prior : float, default=1.0
        Parameter a of a symmetric Dirichlet prior of P(w|z), from 1 to 1e12. 1 is maximum
        likelihood; 1.01 to 1.1 keeps every P(w|z) above 0.
    topic_prior : float, default=1.0
        Parameter b of a symmetric Dirichlet prior of P(z|d), from 1 to 1e12.
    tempered : bool, default=False
        Hold tokens out, stop when their likelihood falls, and cool the E step down as long as
        that raises it.
    held_out : float, default=0.1
        The part of all tokens that a tempered fit holds out.
    cooling : float, default=0.9
        What a tempered fit multiplies the inverse temperature with.
    n_init : int, default=1
        Fits from different starts, of which the best is kept: by the held-out tokens if there
        are any, otherwise by likelihood and priors.
    max_iter : int, default=200
        Most steps of a fit.
    tol : float, default=1e-5
        Stop when a step gains less than this part of the (penalised) log-likelihood.
    fold_in_iter : int, default=100
        Most steps for the place of a document in `transform`.
    random_state : int, RandomState or None, default=None
        Where the fits start, and which tokens are held out.
    n_jobs : int or None, default=None
        Threads; any number gives the same bits.
    device : None, "cpu" or "cuda", default=None
        Where `fit` takes its steps: None is the core of textkin on the processor, others are torch,
        on a GPU or on tensors of the processor (see Notes). Not saved with the model.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words), float64
        P(w|z). Rows sum to 1; one of zeros is a factor that no token is left in.
    document_topics_ : ndarray of shape (n_documents, n_components), float64
        P(z|d) of the documents of `fit`.
    topic_weights_ : ndarray of shape (n_components,), float64
        P(z), the part of all tokens that a factor has.
    log_likelihoods_ : list of float
        sum n(d, w) log P(w|d) before the first step and after each. It never falls, but for
        rounding, unless there are priors or the fit is tempered.
    objectives_ : list of float
        The same with the logarithms of the priors, which never falls unless tempered.
    held_out_log_likelihoods_ : list of float
        That of the held-out tokens after each step; empty if none are held out.
    inverse_temperature_ : float
        Of the E step in the end; 1 unless tempered.
    n_iter_ : int
        Steps of the fit that was kept.
    converged_ : bool
        Whether it stopped by itself.

    See Also
    --------
    FisherKernel : A similarity of documents that follows from the model.
    LDA : The same with priors that are integrated over.

    Notes
    -----
    The model is P(w|d) = sum_k P(w|z_k) P(z_k|d). A step of EM computes, for nonzero counts only ::

        P(z_k|d,w) ~ [P(w|z_k) P(z_k|d)]^beta,
        P(w|z_k) ~ sum_d n(d,w) P(z_k|d,w) + a - 1,    P(z_k|d) ~ sum_w n(d,w) P(z_k|d,w) + b - 1

    with beta = 1 unless tempered. A new document is folded in: P(w|z) stays, and P(z|d) is found
    from equal parts by the same steps. A word that `fit` never saw has P(w|z) = 0, whatever the
    prior, and is ignored; an empty document, or one without known words, has all factors in equal
    parts. Models of up to a million numbers, and bags in float64, are fitted in double precision,
    large ones of float32 bags in single precision, unless all weights together are 1e15 times the
    least. The scale of the weights changes nothing without priors; words whose weights are all
    below 1e-270 of the largest are as unseen.

    With `device`, the steps of `fit` are those of torch, from the same start, in the same
    precision: likelihoods agree to about 1e-6 in float32 and to 1e-10 in float64. Bags and topics
    that do not fit in its memory go there block by block. Folding in is the work of the core.

    References
    ----------
    Hofmann, "Probabilistic Latent Semantic Analysis", UAI 1999 (tempering, folding in). Hofmann,
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
        "word_prior": real(1, 1e12),
        "topic_prior": real(1, 1e12),
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
        word_prior: float = 1.0,
        topic_prior: float = 1.0,
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
        self.word_prior = word_prior
        self.topic_prior = topic_prior
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

    def fit(
        self, X: BagsLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Find the factors.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags: counts, or other weights of at least 0.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (steps done, most steps) after each; raising from it stops the work.

        Returns
        -------
        PLSA
            The estimator itself.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If `max_iter` steps were not enough.
        """
        check_params(self)
        bags = self._bags_to_fit(X)
        totals = lengths_of(bags)
        random = check_random_state(self.random_state)
        settings = self._settings()
        parts = None
        if self.tempered:
            parts = Held(*hold_out(bags, self.held_out, random), self.cooling)

        def fit(report: Callable[[], object]) -> MixtureFit:
            if parts is None:
                return maximise(self._mixture(bags, settings, random), report)
            return fit_held_out(
                self._mixture(parts.train, settings, random), parts, bags, settings, report
            )

        with working_on(self.device):
            best = best_of_starts(
                fit, n_init=self.n_init, max_iter=self.max_iter, progress=progress
            )
        best.topics[totals == 0] = 1 / self.n_components
        self._keep(best, totals / totals.sum() @ best.topics)
        self._tell_convergence(stacklevel=4)  # beyond what makes a fit whole or nothing
        return self

    def _mixture(self, bags: Bags, settings: EmSettings, random: RandomState) -> Mixture:
        if self.device is None:
            return Mixture(bags, settings, random)
        return PlacedMixture(bags, settings, random, self.device)

    def _keep(self, best: MixtureFit, topic_weights: Float64Array) -> None:
        self.components_ = best.words
        self.document_topics_ = best.topics
        self.topic_weights_ = topic_weights
        self.log_likelihoods_ = best.log_likelihoods
        self.objectives_ = best.objectives
        self.held_out_log_likelihoods_ = best.held_out
        self.inverse_temperature_ = best.power
        self.n_iter_ = best.n_iter
        self.converged_ = best.converged

    def _tell_convergence(self, stacklevel: int) -> None:
        if not self.converged_:
            warnings.warn(
                f"PLSA did not converge in {self.n_iter_} steps; raise max_iter, or tol.",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )

    def transform(self, X: BagsLike, *, progress: ProgressCallback | None = None) -> Float64Array:
        """Return P(z|d) of documents, which are folded in one by one.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags: counts, or other weights of at least 0.
        progress : callable, optional
            Called with (documents done, all); raising from it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Rows that sum to 1. float32, or float64 if `X` is.
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

    def _settings(self) -> EmSettings:
        return EmSettings(
            self.n_components,
            float(self.word_prior) - 1,
            float(self.topic_prior) - 1,
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
