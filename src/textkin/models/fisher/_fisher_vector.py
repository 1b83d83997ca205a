"""`FisherVector`: document vectors from gradients of a mixture over word vectors."""

import warnings
from collections.abc import Sequence
from copy import deepcopy
from operator import attrgetter
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.random import RandomState
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

from textkin._base import (
    Constraint,
    Float32Array,
    check_params,
    instance_of,
    integer,
    one_of,
    positive,
    rollback_on_error,
)
from textkin.corpus import WORD_VECTOR_PARAMETERS, Documents, Vectors, VectorTable
from textkin.exceptions import ParameterError
from textkin.models._vector_model import VectorModel
from textkin.models.fisher._scores import (
    INFORMATION,
    PARTS,
    Finish,
    Mixture,
    ScoreTables,
    WordShares,
    encode_documents,
    make_score_tables,
)
from textkin.models.mixture._gaussian import DiagonalGaussianMixture
from textkin.models.mixture._von_mises_fisher import VonMisesFisherMixture
from textkin.run import ProgressCallback, effective_jobs
from textkin.text import StopWords, prepare

__all__ = ["FisherVector"]

_KINDS: dict[str, type[Mixture]] = {"vmf": VonMisesFisherMixture, "gmm": DiagonalGaussianMixture}
_PARTS = PARTS[DiagonalGaussianMixture]
_POWER = positive(1)


def _are_parts(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and all(isinstance(part, str) for part in value)
        and 0 < len(value) == len({*value} & {*_PARTS})
    )


class FisherVector(VectorModel):
    r"""Document vectors from log-likelihood gradients of a mixture over word vectors.

    A mixture is fitted to word vectors. The vector of a document is the gradient of its
    log-likelihood with respect to the parameters of the mixture: the direction in which its words
    move each component. A new document only needs a sum over its words.

    Parameters
    ----------
    n_components : int, default=15
        Number of components K of the mixture.
    vectors : WordVectors, str, ndarray of shape (n_columns, d) or None, default=None
        Word vectors; "glove" and "distilled" name the built-in ones. If None, "glove". Pass
        `WordVectors` for texts, or a matrix with one row per column of the bags; a row of NaN
        marks a word without a vector. If you set other vectors after `fit`, they must be of the
        same space, such as more words of the same training: the mixture does not change.
    mixture : {"vmf", "gmm"}, VonMisesFisherMixture or DiagonalGaussianMixture, default="vmf"
        Mixture to fit: "vmf" is von Mises-Fisher distributions over directions, "gmm" is Gaussians
        with diagonal covariances. An estimator replaces `n_components`, `random_state`, and
        `n_jobs`: a fitted one is used unchanged, otherwise a copy is fitted. scikit-learn's
        `clone`, which parameter searches call, returns an unfitted copy.
    parts : tuple of {"means", "variances", "weights"}, default=("means",)
        Parameters of the mixture whose gradients are computed, and their order in the vectors.
        "vmf" has no variances.
    information : str or None, default=None
        Approximation of the Fisher information, see Notes. For "vmf" one of "tangent", "diagonal",
        "isotropic", "paper", "none"; for "gmm" "diagonal" or "none". If None, the first of these,
        which is the recommended one.
    divide_by_length : bool, default=True
        If True, compute the mean over tokens: repeating a document does not change its vector.
        If False, compute the sum ("paper" and "none"), or the sum over the square root of the
        length (the others). With `norm`, this parameter has no effect.
    power : float or None, default=None
        Exponent of ``sign(z) |z|^power``, applied to each number; 0.5 is common with Gaussians. If
        None, no exponent.
    norm : {"l2", None}, default="l2"
        Divide vectors by their norms at the end. Zero vectors stay zero. If all words are at the
        means of their components, the vector is only rounding, and is normalized, too.
    hard : bool, default=False
        Assign each word to its most probable component only.
    fit_on : {"vocabulary", "tokens"}, default="vocabulary"
        "vocabulary": fit the mixture to the distinct words of the documents of `fit`, with equal
        weights. "tokens": weight each word by its number of occurrences.
    unit : bool, default=False
        L2-normalize the word vectors first. "vmf" always does.
    empty : {"zero", "error"}, default="zero"
        Vector of a document without any word that has a vector: zeros, or raise
        `EmptyDocumentError`.
    oov : {"drop", "error"}, default="drop"
        Skip words without a vector (see `coverage`), or raise an error.
    stop_words : str, None, path or collection of str, default="smart"
        Words to remove from texts: the name of a list (see `textkin.text.stop_lists`), None, a
        file (a `pathlib.Path`), or your own words. Token lists and bags keep all words.
    max_words_per_document : int or None, default=None
        Maximum number of distinct words per text or token list; the most frequent ones are kept.
        If None, no limit.
    random_state : int, RandomState or None, default=None
        Seed of the initialization of the mixture.
    n_jobs : int or None, default=None
        Number of threads. Results are bit-identical for any number.

    Attributes
    ----------
    mixture_ : VonMisesFisherMixture or DiagonalGaussianMixture
        Fitted mixture.
    n_iter_ : int
        Number of steps of the fit of the mixture.
    converged_ : bool
        True if this fit converged.

    See Also
    --------
    FisherKernel : Hofmann's kernel, for a mixture of topics over bags.

    Notes
    -----
    Take a document with the tokens x_1 ... x_T, and posteriors gamma_t(i) of components with
    weights w_i, and let S_i = sum_t gamma_t(i) x_t. A mixture of von Mises-Fisher distributions,
    with mean directions mu_i, concentrations kappa_i, and A_i = A_d(kappa_i), has the vectors ::

        "tangent"    sqrt(kappa_i / (T w_i A_i)) [S_i - (mu_i . S_i) mu_i]
        "diagonal"   kappa_i S_ij / sqrt(T f_ij),
                     f_ij = w_i kappa_i [A_i + (kappa_i - d A_i) mu_ij^2]
        "isotropic"  sqrt(d / (T w_i)) S_i
        "paper"      d / (w_i kappa_i) S_i
        "none"       kappa_i S_i

    "tangent" is the default: means have length 1, so only the part orthogonal to mu_i is a
    gradient. It has the mean 0 for tokens sampled from the mixture, as a score must; all others
    have a common offset along mu_i. "paper" is equation 12 of Zhang et al. They derive it as
    F^(-1/2) G, but its square root is missing, and rare components dominate the others.

    A mixture of Gaussians has, with "diagonal", ::

        means        1/sqrt(T w_i)   sum_t gamma_t(i) (x_t - mu_i) / sigma_i
        variances    1/sqrt(2 T w_i) sum_t gamma_t(i) [((x_t - mu_i) / sigma_i)^2 - 1]
        weights      1/sqrt(T w_i)   sum_t [gamma_t(i) - w_i]

    and with "none", the gradients with respect to mu_i, sigma_i, and the softmax of the weights.
    Gradients of weights are the same for "vmf" (with "paper", without the factor 1/sqrt(T)). If
    the components match the topics of documents, the gradients of means contain little
    information about the topic; the gradients of weights contain it. With `divide_by_length`,
    1/T replaces 1/sqrt(T), and formulas without it are divided by T.

    T is the number of tokens, or the sum of the weights of a bag; tokens without a vector do not
    count. A document without other tokens has a vector of zeros. Posteriors below 1e-8 are set to
    0. Words are summed in float32, relative to the mean of the mixture. For a Gaussian of width
    sigma at a distance m from this mean, the gradients of the variances have an error of about
    1e-7 m^2 / sigma^2, the gradients of the mean of 1e-7 m / sigma (variances at a floor of 1e-3
    are accurate to 1e-3). Vectors are float32; the means of all components come first, d numbers
    each. The gradient does not define how to compare documents: cosines and Euclidean distances of
    Fisher vectors are common.

    References
    ----------
    Zhang, Guo, Lan, Xu and Cheng, "Aggregating Neural Word Embeddings for Document
    Representation", ECIR 2018 (von Mises-Fisher). Perronnin, Sanchez and Mensink, "Improving the
    Fisher Kernel for Large-Scale Image Classification", ECCV 2010 (Gaussians, power and length).
    Clinchant and Perronnin, "Aggregating Continuous Word Embeddings for Information Retrieval",
    2013 (Gaussians over word vectors of LSI).

    Examples
    --------
    >>> from textkin import FisherVector
    >>> texts = ["The president speaks to the press", "A minister answers reporters",
    ...          "The band played a concert", "Guitars and drums and a singer"]
    >>> fisher = FisherVector(n_components=2, random_state=0).fit(texts)
    >>> vectors = fisher.transform(["A senator met journalists", "Music by a choir", ""])
    >>> vectors.shape, float(abs(vectors[2]).max())
    ((3, 200), 0.0)
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        **WORD_VECTOR_PARAMETERS,
        "n_components": integer(1),
        "parts": Constraint(
            _are_parts,
            f"a tuple of some of {', '.join(map(repr, _PARTS))}",
            lambda value: not isinstance(value, list | tuple),
        ),
        "information": one_of(None, *INFORMATION[VonMisesFisherMixture]),
        "divide_by_length": one_of(True, False),
        "power": one_of(None) | _POWER,
        "norm": one_of("l2", None),
        "hard": one_of(True, False),
        "fit_on": one_of("vocabulary", "tokens"),
        "mixture": one_of(*_KINDS)
        | instance_of(
            (VonMisesFisherMixture, DiagonalGaussianMixture),
            "a VonMisesFisherMixture or a DiagonalGaussianMixture",
        ),
        "empty": one_of("zero", "error"),
        "n_jobs": one_of(None) | integer(),
    }
    # "vmf" uses unit vectors, regardless of `unit`.
    _table_depends_on: ClassVar["attrgetter[tuple[object, ...]]"] = attrgetter(
        *WORD_VECTOR_PARAMETERS, "mixture"
    )

    def __init__(
        self,
        n_components: int = 15,
        *,
        vectors: Vectors = None,
        mixture: Literal["vmf", "gmm"] | Mixture = "vmf",
        parts: Sequence[str] = ("means",),
        information: Literal["tangent", "diagonal", "isotropic", "paper", "none"] | None = None,
        divide_by_length: bool = True,
        power: float | None = None,
        norm: Literal["l2"] | None = "l2",
        hard: bool = False,
        fit_on: Literal["vocabulary", "tokens"] = "vocabulary",
        unit: bool = False,
        empty: Literal["zero", "error"] = "zero",
        oov: Literal["drop", "error"] = "drop",
        stop_words: StopWords = "smart",
        max_words_per_document: int | None = None,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.vectors = vectors
        self.n_components = n_components
        self.mixture = mixture
        self.parts = parts
        self.information = information
        self.divide_by_length = divide_by_length
        self.power = power
        self.norm = norm
        self.hard = hard
        self.fit_on = fit_on
        self.unit = unit
        self.empty = empty
        self.oov = oov
        self.stop_words = stop_words
        self.max_words_per_document = max_words_per_document
        self.random_state = random_state
        self.n_jobs = n_jobs

    @rollback_on_error
    def fit(
        self, X: Documents, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Fit the mixture to the word vectors of the documents' words.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            Documents; bags may have weights.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (steps done, maximum number of steps) after each step. An exception raised
            in it stops the work.

        Returns
        -------
        FisherVector
            The estimator itself.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If the mixture did not converge.
        """
        check_params(self)
        self._information()
        table, documents = self._read(X)
        counts = np.bincount(documents.indices, documents.counts, len(table.vectors))
        words = np.flatnonzero(counts)
        given = not isinstance(self.mixture, str) and _is_fitted(self.mixture)
        if not isinstance(self.mixture, str) and given:
            _check_dimension(self.mixture, table)
            self.mixture_ = deepcopy(self.mixture)  # a later fit of the argument must not change it
        else:
            self.mixture_ = self._mixture_to_fit(words.size)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # issued below, for the caller
                self.mixture_.fit(
                    table.vectors[words],
                    sample_weight=counts[words] if self.fit_on == "tokens" else None,
                    progress=progress,
                )
        self.n_iter_ = self.mixture_.n_iter_
        self.converged_ = self.mixture_.converged_
        if not self.converged_ and not given:
            warnings.warn(
                f"The mixture of FisherVector did not converge in {self.n_iter_} steps. Pass "
                f"mixture={type(self.mixture_).__name__}(...) with a higher max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def transform(self, X: Documents, *, progress: ProgressCallback | None = None) -> Float32Array:
        """Return the Fisher vector of each document.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            Documents; bags may have weights.
        progress : callable, optional
            Called with (documents done, total). An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, n_numbers), float32
            K d numbers for the means, K d for the variances, K for the weights. Zeros for a
            document without any word that has a vector.

        Raises
        ------
        EmptyDocumentError
            If a document is empty and `empty` is "error".
        """
        check_is_fitted(self)
        check_params(self)
        shares, scores = self._shares_and_tables()
        table, documents = self._read(X)
        if self.empty == "error":
            rows = np.repeat(np.arange(len(documents)), np.diff(documents.indptr))
            filled = np.bincount(rows, documents.counts > 0, len(documents)) > 0
            self._check_empty(documents, filled, "X")
        return encode_documents(
            documents,
            table,
            shares,
            scores,
            self._finish(),
            threads=effective_jobs(self.n_jobs),
            progress=progress,
        )

    def _kind(self) -> type[Mixture]:
        if isinstance(self.mixture, str):
            return _KINDS[self.mixture]
        return next(kind for kind in _KINDS.values() if isinstance(self.mixture, kind))

    def _wants_unit_vectors(self) -> bool:
        return self.unit or self._kind() is VonMisesFisherMixture

    def _information(self) -> str:
        """Return the validated kind of Fisher information, or its default for the mixture."""
        kind = self._kind()
        offered = INFORMATION[kind]
        if self.information not in (None, *offered):
            raise ParameterError(
                "information",
                f"one of {', '.join(map(repr, offered))} or None for a {kind.__name__}",
                repr(self.information),
            )
        if not {*self.parts} <= {*PARTS[kind]}:
            raise ParameterError(
                "parts",
                f"some of {', '.join(map(repr, PARTS[kind]))} for a {kind.__name__}",
                repr(self.parts),
                "Pass `mixture='gmm'` for variances.",
            )
        return self.information or offered[0]

    def _mixture_to_fit(self, n_words: int) -> Mixture:
        made: Mixture
        if not isinstance(self.mixture, str):
            made = clone(self.mixture)
        else:
            made = self._kind()(
                self.n_components, random_state=self.random_state, n_jobs=self.n_jobs
            )
        if n_words == 0:
            raise ValueError("X must have words with vectors, to fit a mixture to them; got none.")
        if n_words < made.n_components:
            raise ParameterError(
                "n_components",
                f"at most {n_words}, the number of distinct words with vectors in X",
                str(made.n_components),
            )
        return made

    def _shares_and_tables(self) -> tuple[WordShares, ScoreTables]:
        """Return the cached posteriors of words, and the tables for the core."""
        table, mixture = self._vector_table(), self.mixture_
        if not isinstance(mixture, self._kind()):
            raise ParameterError(
                "mixture",
                f"the type that fit used, {type(mixture).__name__}",
                self._kind().__name__,
                "Fit again.",
            )
        _check_dimension(mixture, table)
        kept = self.__dict__.get("_cached_shares")
        if kept is None or kept[0] is not table or kept[1] is not mixture or kept[2] != self.hard:
            kept = (table, mixture, self.hard, WordShares(table, mixture, hard=self.hard))
            self._cached_shares = kept
        return kept[3], make_score_tables(mixture, self._information(), tuple(self.parts))

    def _finish(self) -> Finish:
        length_power = 0.0
        if not self.divide_by_length:
            length_power = 1.0 if self._information() in ("paper", "none") else 0.5
        return Finish(length_power, float(self.power or 1), self.norm == "l2")

    @property
    def _n_features_out(self) -> int:
        return make_score_tables(self.mixture_, self._information(), tuple(self.parts)).size

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_cached_shares", None)
        return state

    def _check_loaded(self) -> None:
        prepare(stop_words=self.stop_words)  # raises for invalid stop words
        if not isinstance(self.mixture_, self._kind()):
            raise ValueError(f"mixture_ must be a {self._kind().__name__}")
        check_is_fitted(self.mixture_)
        self._information()
        _check_dimension(self.mixture_, self._vector_table())


def _is_fitted(mixture: Mixture) -> bool:
    try:
        check_is_fitted(mixture)
    except NotFittedError:
        return False
    return True


def _check_dimension(mixture: Mixture, table: VectorTable) -> None:
    wanted, found = mixture.means_.shape[1], table.vectors.shape[1]
    if wanted != found:
        raise ParameterError(
            "vectors",
            f"of {wanted} dimensions, like the mixture",
            f"{found} dimensions",
        )
