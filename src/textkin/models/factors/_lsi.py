"""`LSI`: document vectors from a truncated singular value decomposition of bags."""

from typing import ClassVar, Literal, Self

import numpy as np
from numpy.random import RandomState
from sklearn.decomposition import TruncatedSVD
from sklearn.utils.extmath import randomized_svd

from textkin._base import (
    Bags,
    BagsLike,
    Constraint,
    Float64Array,
    check_params,
    integer,
    one_of,
    rollback_on_error,
)
from textkin.exceptions import ParameterError
from textkin.models._feature_names import HasWordVectors
from textkin.models._vector_model import BagModel, rounded_as
from textkin.run import ProgressCallback

__all__ = ["LSI"]


class LSI(HasWordVectors, BagModel):
    """Latent semantic indexing: document vectors by a truncated SVD of bags of words.

    Words that occur in the same documents share directions, so documents can be similar without a
    common word. Also called latent semantic analysis.

    Parameters
    ----------
    n_components : int, default=100
        Number of dimensions k, at most the number of documents and of words. 100 to 300 is
        common for retrieval.
    algorithm : {"randomized", "arpack"}, default="randomized"
        "randomized" is fast and approximate; "arpack" (Lanczos) is exact, and requires
        `n_components` below the number of documents and of words.
    n_iter : int, default=5
        Number of power iterations of "randomized". More iterations are more accurate if singular
        values decrease slowly.
    n_oversamples : int, default=10
        Number of additional directions that "randomized" computes and drops.
    random_state : int, RandomState or None, default=None
        Seed of the random start of "randomized" and "arpack".

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words), float64
        Rows of U_k^T: the weight of each word in each dimension.
    singular_values_ : ndarray of shape (n_components,), float64
        Singular values, in descending order.

    See Also
    --------
    LDA, PLSA : Topics that are distributions over words.
    TfIdf : Common weighting of the bags before the decomposition.

    Notes
    -----
    Let A be the term-document matrix (words x documents) of the bags. ::

        A ~ U_k S_k V_k^T,    document a  ->  a^T U_k,    word w  ->  row w of U_k S_k.

    The same formula applies to the documents of `fit`, which become the rows of V_k S_k, and to
    new documents, so the two are comparable; nothing is divided by singular values. A is not
    centered. The sign of each dimension makes its largest word weight positive; among weights
    that are equal to 1e-6, the first one decides. Dimensions beyond the rank of A are 0 for every
    document.

    An empty document is the zero vector. A word that `fit` never saw adds nothing. `fit` costs
    O(nnz k) per power iteration; the result is the same to about 1e-6 with any BLAS. There is no
    ``n_iter_`` or ``converged_``: the number of power iterations is fixed, and ARPACK raises if it
    does not converge.

    References
    ----------
    Deerwester, Dumais, Furnas, Landauer and Harshman, "Indexing by Latent Semantic Analysis",
    Journal of the American Society for Information Science 41, 1990. Halko, Martinsson and Tropp,
    "Finding Structure with Randomness", SIAM Review 53, 2011 ("randomized").

    Examples
    --------
    >>> lsi = LSI(2, random_state=0).fit([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> lsi.singular_values_.round(6)
    array([2., 1.])

    A document with only the first word has the same direction as documents with both words:

    >>> lsi.transform([[1, 0, 0], [1, 1, 0]]).round(4) + 0.0
    array([[0.7071, 0.    ],
           [1.4142, 0.    ]], dtype=float32)
    """

    _takes_negative: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1),
        "algorithm": one_of("randomized", "arpack"),
        "n_iter": integer(0),
        "n_oversamples": integer(0),
    }

    def __init__(
        self,
        n_components: int = 100,
        *,
        algorithm: Literal["randomized", "arpack"] = "randomized",
        n_iter: int = 5,
        n_oversamples: int = 10,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.random_state = random_state

    @rollback_on_error
    def fit(
        self, X: BagsLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Compute the largest singular values and vectors of the bags.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags, weighted or not.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (0, 1) before the decomposition and with (1, 1) after it, which scikit-learn
            does in one call. An exception raised in it stops the work.

        Returns
        -------
        LSI
            The estimator itself.

        Notes
        -----
        Ctrl-C takes effect between two products of the bags with a block of vectors ("randomized")
        or with one vector ("arpack"); the factorization of a block is not interrupted. The
        estimator then keeps its previous fit.
        """
        check_params(self)
        bags = self._bags_to_fit(X)
        n_documents, n_words = bags.shape
        most = min(bags.shape) - (self.algorithm == "arpack")
        if most < 1:
            raise ParameterError(
                "X",
                "at least 2 documents and 2 words for algorithm='arpack'",
                f"n_samples = {n_documents} and n_features = {n_words}",
                "Pass `algorithm='randomized'`.",
            )
        if self.n_components > most:
            raise ParameterError(
                "n_components",
                f"at most {most} for algorithm={self.algorithm!r} with n_samples = {n_documents} "
                f"documents and n_features = {n_words} words",
                str(self.n_components),
            )
        if progress is not None:
            progress(0, 1)
        found = self._decomposed(bags)
        self.components_, self.singular_values_ = _settled(*found, max(bags.shape))
        if progress is not None:
            progress(1, 1)
        return self

    def _decomposed(self, bags: Bags) -> tuple[Float64Array, Float64Array]:
        if not bags.nnz:  # ARPACK cannot start from a zero matrix
            return np.zeros((self.n_components, bags.shape[1])), np.zeros(self.n_components)
        if bags.shape[1] == 1:  # TruncatedSVD rejects a single column
            values = bags.data.astype(np.float64)
            largest = np.abs(values).max()
            return np.ones((1, 1)), np.array([largest * np.linalg.norm(values / largest)])
        weights = bags.astype(np.float64)
        if self.algorithm == "randomized":
            # TruncatedSVD rejects the normalizer "QR" up to scikit-learn 1.8.0.
            _, singular_values, components = randomized_svd(
                weights,
                self.n_components,
                n_iter=self.n_iter,
                n_oversamples=self.n_oversamples,
                power_iteration_normalizer="QR",
                random_state=self.random_state,
            )
            return components, singular_values
        svd = TruncatedSVD(
            self.n_components, algorithm=self.algorithm, random_state=self.random_state
        )
        with np.errstate(divide="ignore", invalid="ignore"):  # a variance of 0 gives 0 / 0
            svd.fit(weights)
        return svd.components_, svd.singular_values_

    def transform(self, X: BagsLike, *, progress: ProgressCallback | None = None) -> Float64Array:
        """Return the projection a^T U_k of each bag a on the word singular vectors.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags, weighted like the bags of `fit`.
        progress : callable, optional
            Called once with (documents, documents) after the product of all documents.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Vectors to compare by cosine; float32, or float64 if `X` is float64.
        """
        bags = self._bags_to_transform(X)
        vectors = rounded_as(bags, np.asarray(bags.astype(np.float64) @ self.components_.T))
        if progress is not None:
            progress(bags.shape[0], bags.shape[0])
        return vectors

    def _word_places(self) -> Float64Array:
        return np.asarray(self.components_.T * self.singular_values_)

    def _check_loaded(self) -> None:
        self._check_shapes(
            components_=(self.n_components, self.n_features_in_),
            singular_values_=(self.n_components,),
        )


def _settled(
    components: Float64Array, singular_values: Float64Array, largest_side: int
) -> tuple[Float64Array, Float64Array]:
    """Sort singular vectors by singular value, fix signs, and set vectors beyond the rank to 0."""
    order = np.argsort(-singular_values, kind="stable")
    components, singular_values = components[order], singular_values[order]
    noise = singular_values[0] * largest_side * np.finfo(np.float64).eps
    lost = singular_values <= noise
    rows = np.arange(len(components))
    sizes = np.abs(components)
    # Rounding must not choose among words with equal weights.
    first = (sizes >= (1 - 1e-6) * sizes.max(axis=1, keepdims=True)).argmax(axis=1)
    signs = np.sign(components[rows, first])
    components = np.where(lost[:, None], 0.0, components * signs[:, None])
    return components, np.where(lost, 0.0, singular_values)
