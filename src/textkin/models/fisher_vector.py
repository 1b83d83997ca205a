"""Fisher vectors: documents by how they would change a mixture that word vectors are drawn from."""

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

from textkin._typing import Float32Array
from textkin._validation import Constraint, check_params, instance_of, integer, one_of, real
from textkin.models._fisher import (
    NORMALISATIONS,
    PARTS,
    Finish,
    Mixture,
    Scores,
    WordShares,
    encode,
    scores_of,
)
from textkin.models._model import VectorModel
from textkin.models.mixture import GaussianMixture, VonMisesFisherMixture
from textkin.run import ProgressCallback, effective_jobs
from textkin.text._stop_words import StopWords
from textkin.vectors._documents import OVER_VECTORS, Documents, Vectors
from textkin.vectors._space import Space

__all__ = ["FisherVector"]

_KINDS: dict[str, type[Mixture]] = {"vmf": VonMisesFisherMixture, "gmm": GaussianMixture}
_PARTS = PARTS[GaussianMixture]
_POWER = Constraint(
    lambda value: real(0, 1).accepts(value) and value > 0,
    "a number above 0 and at most 1",
    real().wrong_type,
)


def _are_parts(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and all(isinstance(part, str) for part in value)
        and 0 < len(value) == len({*value} & {*_PARTS})
    )


class FisherVector(VectorModel):
    r"""Make vectors of documents that are bags of word vectors, by the Fisher kernel of a mixture.

    A mixture is fitted to the vectors of words; a document becomes the gradient of its likelihood
    with respect to the parameters of the mixture: in which direction its words pull each
    component. New documents need only a sum over their words.

    Parameters
    ----------
    vectors : WordVectors, ndarray of shape (n_columns, d) or None, default=None
        Where words lie. None: the built-in vectors. `WordVectors` go with texts; a matrix goes
        with bags, one row a column, and a row of NaN says that a word has no vector. Others that
        are set after `fit` must be of the same space, such as more words of one training: the
        mixture stays.
    n_components : int, default=15
        Components K of the mixture.
    model : {"vmf", "gmm"}, default="vmf"
        Von Mises-Fisher distributions over directions, or Gaussians with diagonal covariances.
    parts : tuple of {"means", "variances", "weights"}, default=("means",)
        Whose gradients are taken; "vmf" has no variances. Vectors hold them in this order.
    normalisation : str or None, default=None
        What stands for the Fisher information, see Notes. Of "vmf" one of "tangent", "diagonal",
        "isotropic", "paper", "none"; of "gmm" "diagonal" or "none". None is the first of these,
        which is the sound one.
    divide_by_length : bool, default=True
        Take the mean over tokens, so that a document twice after itself has the same vector;
        otherwise the sum (of "paper" and "none"), or the sum over the root of the length. Nothing
        of this is left with `norm`.
    power : float or None, default=None
        Take sign(z) |z|^power of every number; 0.5 is usual with Gaussians.
    norm : {"l2", None}, default="l2"
        Divide vectors by their lengths in the end. A vector of zeros stays, and one that is but
        rounding becomes one: that of words which lie at the means of their components.
    hard : bool, default=False
        Let a word count for its most probable component alone.
    fit_on : {"vocabulary", "tokens"}, default="vocabulary"
        Fit the mixture to the words that the documents of `fit` have, all alike, or as often as
        they occur.
    mixture : VonMisesFisherMixture, GaussianMixture or None, default=None
        The mixture to use in place of `model`, `n_components`, `random_state` and `n_jobs`: one
        that is fitted is taken as it is, of another a copy is fitted. A copy by scikit-learn's
        `clone`, as searches make them, is not fitted.
    unit : bool, default=False
        Bring vectors to length one first. "vmf" always does.
    oov : {"drop", "error"}, default="drop"
        What to do with words without a vector: leave them out (see `coverage`), or raise.
    stop_words : str, None, path or collection of str, default="smart"
        Words of texts to leave out: a list by name (see `textkin.text.stop_lists`), none, a file
        (a `pathlib.Path`) or your own. Tokens and bags are taken as they are.
    max_words_per_document : int or None, default=None
        Keep only the most frequent words of each text or list of tokens.
    random_state : int, RandomState or None, default=None
        Where the mixture starts.
    n_jobs : int or None, default=None
        Threads; any number gives the same bits.

    Attributes
    ----------
    mixture_ : VonMisesFisherMixture or GaussianMixture
        The fitted mixture.
    n_iter_ : int
        Steps of its fit.
    converged_ : bool
        Whether that stopped by itself.

    See Also
    --------
    FisherKernel : The kernel of Hofmann, of a mixture of topics over bags.

    Notes
    -----
    Of a document with the tokens x_1 ... x_T, and posteriors gamma_t(i) of components with weights
    w_i, let S_i = sum_t gamma_t(i) x_t. A mixture of von Mises-Fisher distributions, with mean
    directions mu_i, concentrations kappa_i and A_i = A_d(kappa_i), has the vectors ::

        "tangent"    sqrt(kappa_i / (T w_i A_i)) [S_i - (mu_i . S_i) mu_i]
        "diagonal"   kappa_i S_ij / sqrt(T f_ij),
                     f_ij = w_i kappa_i [A_i + (kappa_i - d A_i) mu_ij^2]
        "isotropic"  sqrt(d / (T w_i)) S_i
        "paper"      d / (w_i kappa_i) S_i
        "none"       kappa_i S_i

    "tangent" is the default: means have length 1, so only what is orthogonal to mu_i is a gradient.
    It has the mean 0 for tokens drawn from the mixture, as a score must; all others have a common
    offset along mu_i. "paper" is equation 12 of the paper, which is not the F^(-1/2) G that the
    paper derives it as: its square root is missing, and rare components outweigh others.

    A mixture of Gaussians has, with "diagonal", ::

        means        1/sqrt(T w_i)   sum_t gamma_t(i) (x_t - mu_i) / sigma_i
        variances    1/sqrt(2 T w_i) sum_t gamma_t(i) [((x_t - mu_i) / sigma_i)^2 - 1]
        weights      1/sqrt(T w_i)   sum_t [gamma_t(i) - w_i]

    and with "none" the gradients with respect to mu_i, sigma_i and the softmax of the weights. The
    last are the same for "vmf" (with "paper" not over sqrt(T)). Where components are the topics of
    documents, the gradients of means say little of which topic it is: those of the weights do.
    With `divide_by_length`, 1/T stands for 1/sqrt(T), and the others are divided by T, or by
    sqrt(T) where that is in them.

    T counts tokens, or is the sum of the weights of a bag; tokens without a vector do not count.
    A document without any has a vector of zeros. Posteriors below 1e-8 are taken as 0. Words are
    summed up in float32, about the mean of the mixture: gradients of the variances of a Gaussian
    that is narrow beside its distance m from there have an error of about 1e-7 m^2 / sigma^2, those
    of its mean of 1e-7 m / sigma (variances at a floor of 1e-3 are good to 1e-3). Vectors are
    float32; they hold all components of the means first, d numbers each. The gradient says nothing
    of how documents compare: cosines and Euclidean distances of Fisher vectors are used.

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
        **OVER_VECTORS,
        "n_components": integer(1),
        "model": one_of(*_KINDS),
        "parts": Constraint(
            _are_parts,
            f"a tuple of some of {', '.join(map(repr, _PARTS))}",
            lambda value: not isinstance(value, list | tuple),
        ),
        "normalisation": one_of(None, *NORMALISATIONS[VonMisesFisherMixture]),
        "divide_by_length": one_of(True, False),
        "power": one_of(None) | _POWER,
        "norm": one_of("l2", None),
        "hard": one_of(True, False),
        "fit_on": one_of("vocabulary", "tokens"),
        "mixture": one_of(None)
        | instance_of(
            (VonMisesFisherMixture, GaussianMixture),
            "a VonMisesFisherMixture or a GaussianMixture",
        ),
        "n_jobs": one_of(None) | integer(),
    }
    # "vmf" has unit vectors, whatever `unit` says.
    _space_depends_on: ClassVar["attrgetter[tuple[object, ...]]"] = attrgetter(
        *OVER_VECTORS, "model", "mixture"
    )

    def __init__(
        self,
        vectors: Vectors = None,
        n_components: int = 15,
        *,
        model: Literal["vmf", "gmm"] = "vmf",
        parts: Sequence[str] = ("means",),
        normalisation: Literal["tangent", "diagonal", "isotropic", "paper", "none"] | None = None,
        divide_by_length: bool = True,
        power: float | None = None,
        norm: Literal["l2"] | None = "l2",
        hard: bool = False,
        fit_on: Literal["vocabulary", "tokens"] = "vocabulary",
        mixture: Mixture | None = None,
        unit: bool = False,
        oov: Literal["drop", "error"] = "drop",
        stop_words: StopWords = "smart",
        max_words_per_document: int | None = None,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.vectors = vectors
        self.n_components = n_components
        self.model = model
        self.parts = parts
        self.normalisation = normalisation
        self.divide_by_length = divide_by_length
        self.power = power
        self.norm = norm
        self.hard = hard
        self.fit_on = fit_on
        self.mixture = mixture
        self.unit = unit
        self.oov = oov
        self.stop_words = stop_words
        self.max_words_per_document = max_words_per_document
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self, X: Documents, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Fit the mixture to the words of documents.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            The documents; bags may hold weights.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (steps done, most steps) after each; raising from it stops the work.

        Returns
        -------
        FisherVector
            The estimator itself.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If the steps of the mixture were not enough.
        """
        check_params(self)
        self._normalisation()
        space, documents = self._read(X)
        counts = np.bincount(documents.indices, documents.counts, len(space))
        words = np.flatnonzero(counts)
        given = self.mixture is not None and _is_fitted(self.mixture)
        if self.mixture is not None and given:
            _check_dimension(self.mixture, space)
            self.mixture_ = deepcopy(self.mixture)  # a later fit of it must not reach this one
        else:
            self.mixture_ = self._mixture_to_fit(words.size)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # told below, to the caller
                self.mixture_.fit(
                    space.table[words],
                    sample_weight=counts[words] if self.fit_on == "tokens" else None,
                    progress=progress,
                )
        self.n_iter_ = self.mixture_.n_iter_
        self.converged_ = self.mixture_.converged_
        if not self.converged_ and not given:
            warnings.warn(
                f"The mixture of FisherVector did not converge in {self.n_iter_} steps; pass a "
                f"mixture={type(self.mixture_).__name__}(...) with a higher max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def transform(self, X: Documents, *, progress: ProgressCallback | None = None) -> Float32Array:
        """Return the Fisher vectors of documents.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            The documents; bags may hold weights.
        progress : callable, optional
            Called with (documents done, all); raising from it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, n_numbers), float32
            K d numbers for the means, as many for the variances, K for the weights. Zeros for a
            document without any word that has a vector.
        """
        check_is_fitted(self)
        check_params(self)
        shares, scores = self._prepared()
        space, documents = self._read(X)
        return encode(
            documents,
            space,
            shares,
            scores,
            self._finish(),
            threads=effective_jobs(self.n_jobs),
            progress=progress,
        )

    def _kind(self) -> type[Mixture]:
        if self.mixture is None:
            return _KINDS[self.model]
        return next(kind for kind in _KINDS.values() if isinstance(self.mixture, kind))

    def _wants_unit_vectors(self) -> bool:
        return self.unit or self._kind() is VonMisesFisherMixture

    def _normalisation(self) -> str:
        """Return the one that is meant, if it and the parts are those of the mixture."""
        kind = self._kind()
        offered = NORMALISATIONS[kind]
        if self.normalisation not in (None, *offered):
            raise ValueError(
                f"normalisation must be one of {', '.join(map(repr, offered))} or None for a "
                f"{kind.__name__}; got {self.normalisation!r}."
            )
        if not {*self.parts} <= {*PARTS[kind]}:
            raise ValueError(
                f"parts must be some of {', '.join(map(repr, PARTS[kind]))} for a {kind.__name__}; "
                f"got {self.parts!r}. Gaussians, model='gmm', have variances."
            )
        return self.normalisation or offered[0]

    def _mixture_to_fit(self, n_words: int) -> Mixture:
        made: Mixture
        if self.mixture is not None:
            made = clone(self.mixture)
        else:
            made = self._kind()(
                self.n_components, random_state=self.random_state, n_jobs=self.n_jobs
            )
        if n_words == 0:
            raise ValueError("X must have words with vectors, to fit a mixture to; it has none.")
        if n_words < made.n_components:
            raise ValueError(
                f"n_components must be at most {n_words}, the number of different words with "
                f"vectors in X; got {made.n_components}."
            )
        return made

    def _prepared(self) -> tuple[WordShares, Scores]:
        """Return what vectors are made by, kept for the parameters as they are now."""
        space, mixture = self._space(), self.mixture_
        if not isinstance(mixture, self._kind()):
            raise ValueError(
                f"The mixture must be a {self._kind().__name__} by the parameters as they are now, "
                f"but fit has found a {type(mixture).__name__}: fit again."
            )
        _check_dimension(mixture, space)
        kept = self.__dict__.get("_cached_shares")
        if kept is None or kept[0] is not space or kept[1] is not mixture or kept[2] != self.hard:
            kept = (space, mixture, self.hard, WordShares(space, mixture, hard=self.hard))
            self._cached_shares = kept
        return kept[3], scores_of(mixture, self._normalisation(), tuple(self.parts))

    def _finish(self) -> Finish:
        length_power = 0.0
        if not self.divide_by_length:
            length_power = 1.0 if self._normalisation() in ("paper", "none") else 0.5
        return Finish(length_power, float(self.power or 1), self.norm == "l2")

    @property
    def _n_features_out(self) -> int:
        return scores_of(self.mixture_, self._normalisation(), tuple(self.parts)).size

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_cached_shares", None)
        return state

    def _check_loaded(self) -> None:
        if not isinstance(self.mixture_, self._kind()):
            raise ValueError(f"mixture_ must be a {self._kind().__name__}")
        check_is_fitted(self.mixture_)
        self._normalisation()
        _check_dimension(self.mixture_, self._space())


def _is_fitted(mixture: Mixture) -> bool:
    try:
        check_is_fitted(mixture)
    except NotFittedError:
        return False
    return True


def _check_dimension(mixture: Mixture, space: Space) -> None:
    wanted, found = mixture.means_.shape[1], space.table.shape[1]
    if wanted != found:
        raise ValueError(
            f"vectors must have {wanted} dimensions, those of the mixture; they have {found}."
        )
