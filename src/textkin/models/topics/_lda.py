"""`LDA`: latent Dirichlet allocation, by variational Bayes or Gibbs sampling."""

import warnings
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from textkin._base import (
    Bags,
    BagsLike,
    Constraint,
    Float64Array,
    check_params,
    integer,
    one_of,
    positive,
    real,
    rollback_on_error,
)
from textkin.exceptions import ParameterError
from textkin.models._feature_names import HasTopics
from textkin.models._vector_model import BagModel, rounded_as
from textkin.models.topics._gibbs import fit_gibbs, infer_gibbs
from textkin.models.topics._variational_inference import (
    LDASettings,
    fit_variational,
    infer_variational,
)
from textkin.models.topics._variational_prior import (
    asymmetric_prior,
    fit_with_prior,
    infer_with_prior,
)
from textkin.run import ProgressCallback

__all__ = ["LDA"]

_PRIORS = Constraint(
    lambda value: _are_above_zero(value),
    "numbers above 0, one per topic",
    lambda value: not isinstance(value, list | tuple | np.ndarray | str),
)
# Functions that fit the topics, and functions that infer topic shares of documents.
_METHODS = {
    "variational": (fit_variational, infer_variational),
    "gibbs": (fit_gibbs, infer_gibbs),
}


def _are_above_zero(value: object) -> bool:
    if not isinstance(value, list | tuple | np.ndarray):
        return False
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return numbers.ndim == 1 and bool(np.all((numbers > 0) & np.isfinite(numbers)))


class LDA(HasTopics, BagModel):
    """Latent Dirichlet allocation: topic distributions of documents, by variational Bayes or Gibbs.

    Parameters
    ----------
    n_components : int, default=64
        Number of topics K.
    method : {"variational", "gibbs"}, default="variational"
        "variational": batch variational Bayes, by scikit-learn. "gibbs": collapsed Gibbs
        sampling, in the compiled core; requires integer counts.
    doc_topic_prior : float, array-like, {"asymmetric", "auto"} or None, default=None
        Prior of topics in a document, above 0. The smaller it is, the fewer topics a document
        has. If None, 1 / K for each topic. With "gibbs", a number from 1e-12 to 1e12. With
        "variational", also one number per topic; "asymmetric", numbers proportional to
        1 / (k + sqrt(K)), k = 0, 1, ..., that sum to 1; or "auto", one number per topic that is
        learned from the documents, starting with 1 / K. A learned prior lets a few topics hold
        the words of all documents.
    topic_word_prior : float, default=0.01
        Prior of words in a topic, above 0. The smaller it is, the fewer words a topic has. With
        "gibbs", from 1e-12 to 1e12.
    max_iter : int, default=100
        Maximum number of passes over all documents; Gibbs sampling always makes all of them.
    tol : float, default=1e-3
        Gain in the lower bound of the likelihood within five steps, in nats per word, below which
        the fit stops.
    burn_in : int or None, default=None
        Number of first Gibbs sweeps that are discarded, below `max_iter`. If None, half of
        `max_iter`.
    random_state : int, RandomState or None, default=None
        Random seed. The same integer gives the same topics in the same order.
    n_jobs : int or None, default=None
        Number of threads of the sampler; the topics do not depend on it. The variational method
        always uses one thread.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words), float64
        Number of times each word was assigned to each topic, plus `topic_word_prior`:
        pseudo-counts. For probabilities, see `topic_words_`.
    known_words_ : ndarray of shape (n_words,), uint8
        1 for words that occur in the documents of `fit`, 0 for words that `transform` ignores.
    doc_topic_prior_ : float, or ndarray of shape (n_components,)
        Value of the prior of topics in a document; one number per topic unless it is symmetric.
    n_iter_ : int
        Number of steps.
    converged_ : bool
        True if `tol` was reached. Always True for "gibbs", which has no stopping criterion.
    lower_bounds_ : list of float
        Lower bound of the likelihood after every fifth step, in nats per word; with "gibbs", the
        log-likelihood of the words under the current sample, after every tenth sweep.
    document_topics_ : ndarray of shape (n_documents, n_components), float64
        Topic shares of the documents of `fit`. With "gibbs", they come from the samples: for
        transductive use, fit on all available documents, and report it.

    See Also
    --------
    PLSA : Topic model without priors, fitted by maximum likelihood.
    LSI : Directions instead of topics.

    Notes
    -----
    With `doc_topic_prior` alpha and `topic_word_prior` beta, topics phi_k ~ Dir(beta) are
    distributions over words, and shares theta_d ~ Dir(alpha) are distributions over topics; each
    word of d samples a topic z ~ theta_d, then itself from phi_z. The variational method computes
    lambda and gamma, Dirichlet parameters of phi and theta, from ::

        phi_dwk ~ exp(E[log theta_dk] + E[log phi_kw]),
        gamma_dk = alpha + sum_w n(d, w) phi_dwk,    lambda_kw = beta + sum_d n(d, w) phi_dwk.

    Collapsed Gibbs sampling samples the topic of each token in turn, with counts n that exclude
    the token itself, from ::

        p(z = k) ~ (n_dk + alpha) (n_kw + beta) / (n_k + V beta).

    The result is the mean of every tenth sample after burn-in, of one chain. With at least 131,072
    tokens, 16 groups of documents and of words are sampled concurrently, with totals n_k that lack
    the concurrent changes of the other groups; smaller collections are sampled exactly.

    `transform` infers the shares of a new document with the topics fixed. It returns the
    normalized gamma, or the mean of (n_dk + alpha) / (n_d + K alpha) over sweeps of this document.
    With several numbers as prior, gamma_dk = alpha_k + ...; "auto" maximizes the lower bound over
    alpha in each step by Newton's method.

    The shares are a distribution; compare them by "hellinger". An empty document has equal shares
    of all topics. A word that `fit` never saw is ignored. The order of the topics is arbitrary,
    and changes with the random seed.

    References
    ----------
    Griffiths and Steyvers, "Finding Scientific Topics", PNAS 101, 2004 ("gibbs"). Yan, Xu and Qi,
    "Parallel Inference for Latent Dirichlet Allocation on Graphics Processing Units", NIPS 2009
    (the groups). Wallach, Mimno and McCallum, "Rethinking LDA: Why Priors Matter", NIPS 2009
    (asymmetric priors). Blei, Ng and Jordan, "Latent Dirichlet Allocation", Journal of Machine
    Learning Research 3, 2003. Hoffman, Blei and Bach, "Online Learning for Latent Dirichlet
    Allocation", NIPS 2010.

    Examples
    --------
    >>> bags = [[4, 3, 0, 0], [5, 4, 0, 0], [0, 0, 3, 4], [0, 0, 5, 4]]
    >>> lda = LDA(2, random_state=0).fit(bags)
    >>> shares = lda.transform([[6, 0, 0, 0], [0, 3, 0, 0], [0, 0, 2, 1]])
    >>> shares.argmax(axis=1)[0] == shares.argmax(axis=1)[1] != shares.argmax(axis=1)[2]
    np.True_
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1),
        "method": one_of(*_METHODS),
        "doc_topic_prior": one_of(None, "asymmetric", "auto") | positive() | _PRIORS,
        "topic_word_prior": positive(),
        "max_iter": integer(1),
        "tol": real(0),
        "burn_in": one_of(None) | integer(0),
        "n_jobs": one_of(None) | integer(),
    }

    def __init__(
        self,
        n_components: int = 64,
        *,
        method: Literal["variational", "gibbs"] = "variational",
        doc_topic_prior: float | ArrayLike | Literal["asymmetric", "auto"] | None = None,
        topic_word_prior: float = 0.01,
        max_iter: int = 100,
        tol: float = 1e-3,
        burn_in: int | None = None,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.max_iter = max_iter
        self.tol = tol
        self.burn_in = burn_in
        self.random_state = random_state
        self.n_jobs = n_jobs

    @rollback_on_error
    def fit(
        self, X: BagsLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Learn the word distribution of each topic from bags of words.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags: counts.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (steps done, `max_iter`). An exception raised in it stops the work.

        Returns
        -------
        LDA
            The estimator itself.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If `tol` was not reached in `max_iter` steps.
        """
        check_params(self)
        if self.burn_in is not None and self.burn_in >= self.max_iter:
            raise ParameterError(
                "burn_in",
                f"below max_iter, {self.max_iter}, to keep some samples",
                str(self.burn_in),
            )
        bags = self._bags_to_fit(X)
        if not bags.nnz:
            raise ValueError("X must have words to find topics in; all its documents are empty.")
        prior = self._prior()
        random = check_random_state(self.random_state)
        doc_topic_prior: float | Float64Array
        if isinstance(prior, np.ndarray):
            learned = isinstance(self.doc_topic_prior, str) and self.doc_topic_prior == "auto"
            settings = self._settings(1 / self.n_components)
            found, doc_topic_prior = fit_with_prior(
                bags, prior, learned, settings, random, progress
            )
        else:
            doc_topic_prior = prior
            found = _METHODS[self.method][0](bags, self._settings(prior), random, progress)
        shares = found.document_topics
        if shares is None:
            shares = self._infer(bags, found.components, doc_topic_prior, None)
        self.components_ = found.components
        self.known_words_ = (np.bincount(bags.indices, minlength=bags.shape[1]) > 0).astype(
            np.uint8
        )
        self.document_topics_ = shares
        self.doc_topic_prior_ = doc_topic_prior
        self.n_iter_ = found.n_iter
        self.converged_ = found.converged
        self.lower_bounds_ = found.lower_bounds
        if not found.converged:
            warnings.warn(
                f"LDA did not converge in {found.n_iter} steps. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def transform(self, X: BagsLike, *, progress: ProgressCallback | None = None) -> Float64Array:
        """Infer the topic distribution of each document with the fitted topics.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags: counts.
        progress : callable, optional
            Called with (documents done, total). An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Rows that sum to 1; float32, or float64 if `X` is float64.
        """
        bags = self._bags_to_transform(X)
        if not bags.shape[0]:
            return np.empty((0, self.n_components), dtype=bags.dtype)
        known = self._only_known_words(bags)
        shares = self._infer(known, self.components_, self.doc_topic_prior_, progress)
        return rounded_as(bags, shares)

    def _topics(self) -> tuple[Float64Array, Float64Array]:
        return self.topic_words_, self.components_.sum(axis=1) / self.components_.sum()

    @property
    def topic_words_(self) -> Float64Array:
        """Word distribution of each topic as an array (n_components, n_words)."""
        check_is_fitted(self)
        return np.asarray(self.components_ / self.components_.sum(axis=1, keepdims=True))

    def _prior(self) -> float | Float64Array:
        """Return the Dirichlet prior of topic shares: a number, or one number per topic."""
        given, n = self.doc_topic_prior, self.n_components
        if given is None:
            return 1 / n
        if real().accepts(given):
            return float(given)  # type: ignore[arg-type] # checked above
        if self.method == "gibbs":
            raise ParameterError(
                "doc_topic_prior",
                "None or a number with method='gibbs'",
                repr(given),
                "Asymmetric priors go with method='variational'.",
            )
        if isinstance(given, str):
            return np.full(n, 1 / n) if given == "auto" else asymmetric_prior(n)
        prior = np.asarray(given, dtype=np.float64)
        if prior.shape != (n,):
            raise ParameterError(
                "doc_topic_prior", f"one number for each of the {n} topics", f"{len(prior)}"
            )
        return prior

    def _infer(
        self,
        bags: Bags,
        components: Float64Array,
        prior: float | Float64Array,
        progress: ProgressCallback | None,
    ) -> Float64Array:
        if np.ndim(prior):
            return infer_with_prior(bags, components, np.asarray(prior), progress)
        infer = _METHODS[self.method][1]
        return infer(bags, components, self._settings(float(prior)), progress)

    def _settings(self, doc_topic_prior: float) -> LDASettings:
        burn_in = self.max_iter // 2 if self.burn_in is None else self.burn_in
        return LDASettings(
            self.n_components,
            doc_topic_prior,
            float(self.topic_word_prior),
            self.max_iter,
            self.tol,
            burn_in,
            self.n_jobs,
        )

    def _only_known_words(self, bags: Bags) -> Bags:
        """Remove words from bags that occurred in no document of `fit`."""
        known = self.known_words_ > 0
        if known.all():
            return bags
        kept = bags.copy()
        kept.data *= known[kept.indices]
        kept.eliminate_zeros()
        return kept

    def _check_loaded(self) -> None:
        self._check_shapes(
            components_=(self.n_components, self.n_features_in_),
            document_topics_=(len(self.document_topics_), self.n_components),
            doc_topic_prior_=(self.n_components,) if np.ndim(self.doc_topic_prior_) else (),
        )
        if self.components_.min() <= 0 or np.min(self.doc_topic_prior_) <= 0:
            raise ValueError("components_ and doc_topic_prior_ must be above 0")
        known = self.known_words_
        if getattr(known, "dtype", None) != np.uint8 or known.shape != (self.n_features_in_,):
            raise ValueError("known_words_ must have one byte per word")
