"""Latent Dirichlet allocation: documents as mixtures of topics, topics as mixtures of words."""

import warnings
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.random import RandomState
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from textkin._typing import Bags, Float64Array
from textkin._validation import Constraint, check_params, integer, one_of, real
from textkin.models._model import BagModel, BagsLike, rounded_as
from textkin.models._topics import LdaSettings
from textkin.models._variational import fit_variational, infer_variational
from textkin.run import ProgressCallback

__all__ = ["LDA"]

_ABOVE_ZERO = Constraint(
    lambda value: real(0).accepts(value) and value > 0,
    "a finite number above 0",
    real().wrong_type,
)
# How topics are found, and how documents are placed once they are.
_METHODS = {"variational": (fit_variational, infer_variational)}


class LDA(BagModel):
    """Place documents by the shares that topics have in them.

    Parameters
    ----------
    n_components : int, default=64
        Topics K.
    method : {"variational"}, default="variational"
        "variational": batch variational Bayes, by scikit-learn.
    alpha : float or None, default=None
        Prior of topics in a document, above 0: the smaller, the fewer topics a document has. None
        is 1 / K.
    beta : float, default=0.01
        Prior of words in a topic, above 0: the smaller, the fewer words a topic has.
    max_iter : int, default=100
        Most steps over all documents.
    tol : float, default=1e-3
        Stop when the lower bound of the likelihood rises by less than this in five steps, in nats
        a word.
    random_state : int, RandomState or None, default=None
        Where the search starts. The same number gives the same topics in the same order.
    n_jobs : int or None, default=None
        Threads. The variational method uses one, whatever is asked for.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words), float64
        How often each word was drawn from each topic, plus `beta`: pseudo-counts. `topic_words_`
        has them as probabilities.
    alpha_ : float
        The prior of topics in use.
    n_iter_ : int
        Steps taken.
    converged_ : bool
        Whether `tol` was reached.
    lower_bounds_ : list of float
        The lower bound of the likelihood after every fifth step, in nats a word.

    See Also
    --------
    PLSA : The same without priors, by maximum likelihood.
    LSI : Directions instead of topics.

    Notes
    -----
    Topics phi_k ~ Dir(beta) are distributions over words, shares theta_d ~ Dir(alpha) over topics;
    each word of d draws a topic z ~ theta_d, then itself from phi_z. The variational method finds
    lambda and gamma, Dirichlet parameters of phi and theta, from ::

        phi_dwk ~ exp(E[log theta_dk] + E[log phi_kw]),
        gamma_dk = alpha + sum_w n(d, w) phi_dwk,    lambda_kw = beta + sum_d n(d, w) phi_dwk.

    A new document is placed with the topics held fixed. `transform` gives gamma normalised, so a
    distribution: compare by "hellinger". An empty document has every topic alike. A word that
    `fit` never saw is ignored. Topics come in no order, and in another one from another start.

    References
    ----------
    Blei, Ng and Jordan, "Latent Dirichlet Allocation", Journal of Machine Learning Research 3,
    2003. Hoffman, Blei and Bach, "Online Learning for Latent Dirichlet Allocation", NIPS 2010.

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
        "alpha": one_of(None) | _ABOVE_ZERO,
        "beta": _ABOVE_ZERO,
        "max_iter": integer(1),
        "tol": real(0),
        "n_jobs": one_of(None) | integer(),
    }

    def __init__(
        self,
        n_components: int = 64,
        *,
        method: Literal["variational"] = "variational",
        alpha: float | None = None,
        beta: float = 0.01,
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.alpha = alpha
        self.beta = beta
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self, X: BagsLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Find the topics.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags: counts.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (steps done, `max_iter`); raising from it stops the work.

        Returns
        -------
        LDA
            The estimator itself.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If `max_iter` steps did not reach `tol`.
        """
        check_params(self)
        bags = self._bags_to_fit(X)
        if not bags.nnz:
            raise ValueError("X must have words to find topics in; all its documents are empty.")
        alpha = 1 / self.n_components if self.alpha is None else float(self.alpha)
        random = check_random_state(self.random_state)
        fit, _ = _METHODS[self.method]
        found = fit(bags, self._settings(alpha), random, progress)
        self.components_ = found.components
        self.alpha_ = alpha
        self.n_iter_ = found.n_iter
        self.converged_ = found.converged
        self.lower_bounds_ = found.lower_bounds
        if not found.converged:
            warnings.warn(
                f"LDA did not converge in {found.n_iter} steps; raise max_iter, or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def transform(self, X: BagsLike) -> Float64Array:
        """Return the shares that topics have in documents.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags: counts.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Rows that sum to 1. float32, or float64 if `X` is.
        """
        bags = self._bags_to_transform(X)
        if not bags.shape[0]:
            return np.empty((0, self.n_components), dtype=bags.dtype)
        _, infer = _METHODS[self.method]
        known = self._only_known_words(bags)
        return rounded_as(bags, infer(known, self.components_, self._settings(self.alpha_)))

    @property
    def topic_words_(self) -> Float64Array:
        """The probability of each word in each topic: (n_components, n_words), float64."""
        return np.asarray(self.components_ / self.components_.sum(axis=1, keepdims=True))

    def _settings(self, alpha: float) -> LdaSettings:
        return LdaSettings(
            self.n_components, alpha, float(self.beta), self.max_iter, self.tol, self.n_jobs
        )

    def _only_known_words(self, bags: Bags) -> Bags:
        """Leave out words that no document of `fit` had: their pseudo-counts are the priors."""
        known = self.components_.sum(axis=0) > self.n_components * self.beta * (1 + 1e-9)
        if known.all():
            return bags
        kept = bags.copy()
        kept.data *= known[kept.indices]
        kept.eliminate_zeros()
        return kept

    def _check_loaded(self) -> None:
        self._check_shapes(components_=(self.n_components, self.n_features_in_), alpha_=())
        if self.components_.min() <= 0 or self.alpha_ <= 0:
            raise ValueError("components_ and alpha_ must be above 0")
