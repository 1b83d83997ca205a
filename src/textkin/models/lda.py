"""Latent Dirichlet allocation: documents as mixtures of topics, topics as mixtures of words."""

import warnings
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.random import RandomState
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from textkin._typing import Bags, Float64Array
from textkin._validation import Constraint, check_params, integer, one_of, real
from textkin.models._gibbs import fit_gibbs, infer_gibbs
from textkin.models._model import BagModel, BagsLike, rounded_as
from textkin.models._topics import LdaSettings
from textkin.models._variational import fit_variational, infer_variational
from textkin.models._words import HasTopics
from textkin.run import ProgressCallback

__all__ = ["LDA"]

_ABOVE_ZERO = Constraint(
    lambda value: real(0).accepts(value) and value > 0,
    "a finite number above 0",
    real().wrong_type,
)
# How topics are found, and how documents are placed once they are.
_METHODS = {
    "variational": (fit_variational, infer_variational),
    "gibbs": (fit_gibbs, infer_gibbs),
}


class LDA(HasTopics, BagModel):
    """Place documents by the shares that topics have in them.

    Parameters
    ----------
    n_components : int, default=64
        Topics K.
    method : {"variational", "gibbs"}, default="variational"
        "variational": batch variational Bayes, by scikit-learn. "gibbs": collapsed Gibbs
        sampling, in the compiled core; needs whole counts.
    alpha : float or None, default=None
        Prior of topics in a document, above 0: the smaller, the fewer topics a document has. None
        is 1 / K. With "gibbs" from 1e-12 to 1e12.
    beta : float, default=0.01
        Prior of words in a topic, above 0: the smaller, the fewer words a topic has. With "gibbs"
        from 1e-12 to 1e12.
    max_iter : int, default=100
        Most steps over all documents; sampling takes them all.
    tol : float, default=1e-3
        Stop when the lower bound of the likelihood rises by less than this in five steps, in nats
        a word.
    burn_in : int or None, default=None
        Sweeps of the sampler before its topics count, fewer than `max_iter`. None is half of
        `max_iter`.
    random_state : int, RandomState or None, default=None
        Where the search starts. The same number gives the same topics in the same order.
    n_jobs : int or None, default=None
        Threads of the sampler; any number gives the same topics. The variational method uses
        one, whatever is asked for.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words), float64
        How often each word was drawn from each topic, plus `beta`: pseudo-counts. `topic_words_`
        has them as probabilities.
    known_words_ : ndarray of shape (n_words,), uint8
        1 for words that documents of `fit` had, 0 for others, which `transform` ignores.
    alpha_ : float
        The prior of topics in use.
    n_iter_ : int
        Steps taken.
    converged_ : bool
        Whether `tol` was reached. A sampler has no end of its own: always True there.
    lower_bounds_ : list of float
        The lower bound of the likelihood after every fifth step, in nats a word; with "gibbs" the
        log-likelihood of the words under the current sample, after every tenth sweep.
    document_topics_ : ndarray of shape (n_documents, n_components), float64
        Shares of the topics in the documents of `fit`. With "gibbs" they come from the samples
        themselves: for transductive use, fit on all documents there are, and say so.

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

    Collapsed Gibbs sampling draws the topic of each token in turn, with counts n that leave the
    token itself out, from ::

        p(z = k) ~ (n_dk + alpha) (n_kw + beta) / (n_k + V beta),

    and the mean of every tenth sample after burn-in counts, of one chain. From 131,072 tokens on,
    16 groups of documents and of words are drawn side by side, with totals n_k that lack what the
    other groups do meanwhile; smaller collections are drawn exactly.

    A new document is placed with the topics held fixed. `transform` gives gamma normalised, or the
    mean of (n_dk + alpha) / (n_d + K alpha) over sweeps of the document alone, so a distribution:
    compare by "hellinger". An empty document has every topic alike. A word that
    `fit` never saw is ignored. Topics come in no order, and in another one from another start.

    References
    ----------
    Griffiths and Steyvers, "Finding Scientific Topics", PNAS 101, 2004 ("gibbs"). Yan, Xu and Qi,
    "Parallel Inference for Latent Dirichlet Allocation on Graphics Processing Units", NIPS 2009
    (the groups). Blei, Ng and Jordan, "Latent Dirichlet Allocation", Journal of Machine Learning
    Research 3, 2003. Hoffman, Blei and Bach, "Online Learning for Latent Dirichlet Allocation",
    NIPS 2010.

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
        "burn_in": one_of(None) | integer(0),
        "n_jobs": one_of(None) | integer(),
    }

    def __init__(
        self,
        n_components: int = 64,
        *,
        method: Literal["variational", "gibbs"] = "variational",
        alpha: float | None = None,
        beta: float = 0.01,
        max_iter: int = 100,
        tol: float = 1e-3,
        burn_in: int | None = None,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.alpha = alpha
        self.beta = beta
        self.max_iter = max_iter
        self.tol = tol
        self.burn_in = burn_in
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
        if self.burn_in is not None and self.burn_in >= self.max_iter:
            raise ValueError(
                f"burn_in must be below max_iter, {self.max_iter}, so that samples are left; got "
                f"{self.burn_in}."
            )
        bags = self._bags_to_fit(X)
        if not bags.nnz:
            raise ValueError("X must have words to find topics in; all its documents are empty.")
        alpha = 1 / self.n_components if self.alpha is None else float(self.alpha)
        random = check_random_state(self.random_state)
        fit, infer = _METHODS[self.method]
        settings = self._settings(alpha)
        found = fit(bags, settings, random, progress)
        shares = found.document_topics
        if shares is None:
            shares = infer(bags, found.components, settings, None)
        self.components_ = found.components
        self.known_words_ = (np.bincount(bags.indices, minlength=bags.shape[1]) > 0).astype(
            np.uint8
        )
        self.document_topics_ = shares
        self.alpha_ = alpha
        self.n_iter_ = found.n_iter
        self.converged_ = found.converged
        self.lower_bounds_ = found.lower_bounds
        if not found.converged:
            warnings.warn(
                f"LDA did not converge in {found.n_iter} steps; raise max_iter, or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def transform(self, X: BagsLike, *, progress: ProgressCallback | None = None) -> Float64Array:
        """Return the shares that topics have in documents.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags: counts.
        progress : callable, optional
            Called with (documents done, all); raising from it stops the work.

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
        settings = self._settings(self.alpha_)
        return rounded_as(bags, infer(known, self.components_, settings, progress))

    def _topics(self) -> tuple[Float64Array, Float64Array]:
        return self.topic_words_, self.components_.sum(axis=1) / self.components_.sum()

    @property
    def topic_words_(self) -> Float64Array:
        """The probability of each word in each topic: (n_components, n_words), float64."""
        check_is_fitted(self)
        return np.asarray(self.components_ / self.components_.sum(axis=1, keepdims=True))

    def _settings(self, alpha: float) -> LdaSettings:
        burn_in = self.max_iter // 2 if self.burn_in is None else self.burn_in
        return LdaSettings(
            self.n_components,
            alpha,
            float(self.beta),
            self.max_iter,
            self.tol,
            burn_in,
            self.n_jobs,
        )

    def _only_known_words(self, bags: Bags) -> Bags:
        """Leave out words that no document of `fit` had: nothing but the prior speaks of them."""
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
            alpha_=(),
        )
        if self.components_.min() <= 0 or self.alpha_ <= 0:
            raise ValueError("components_ and alpha_ must be above 0")
        known = self.known_words_
        if getattr(known, "dtype", None) != np.uint8 or known.shape != (self.n_features_in_,):
            raise ValueError("known_words_ must have a byte for each word")
