"""Latent semantic indexing: documents and words in the space of the largest singular vectors."""

from typing import ClassVar, Literal, Self

import numpy as np
from numpy.random import RandomState
from sklearn.decomposition import TruncatedSVD

from textkin._typing import Bags, Float64Array
from textkin._validation import Constraint, check_params, integer, one_of
from textkin.models._model import BagModel, BagsLike, rounded_as
from textkin.models._words import HasWordVectors
from textkin.run import ProgressCallback

__all__ = ["LSI"]


class LSI(HasWordVectors, BagModel):
    """Place documents by a truncated singular value decomposition of their bags.

    Words that occur in the same documents share directions, so that documents can be near without
    a common word. Also called latent semantic analysis.

    Parameters
    ----------
    n_components : int, default=100
        Dimensions k, at most the number of documents and of words. 100 to 300 is usual for
        retrieval.
    algorithm : {"randomized", "arpack"}, default="randomized"
        "randomized" is quick and near the exact answer; "arpack" (Lanczos) is exact, and
        `n_components` must be below the number of documents and of words.
    n_iter : int, default=5
        Power iterations of "randomized": more are nearer where singular values fall slowly.
    n_oversamples : int, default=10
        Further directions that "randomized" works with and drops.
    random_state : int, RandomState or None, default=None
        Where "randomized" and "arpack" start. The same number gives the same answer.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words), float64
        The rows of U_k^T: for each dimension the weight of each word.
    singular_values_ : ndarray of shape (n_components,), float64
        From the largest to the smallest.

    See Also
    --------
    LDA, PLSA : Topics that are distributions over words.
    TfIdf : What bags are usually weighted with before.

    Notes
    -----
    With the term-document matrix A (words x documents) of the bags, ::

        A ~ U_k S_k V_k^T,    document a  ->  a^T U_k,    word w  ->  row w of U_k S_k.

    This one convention holds for the documents of `fit`, which become the rows of V_k S_k, and
    for new ones, so that the two are comparable; there is no division by singular values. A is
    not centred. Each dimension has the sign that makes its largest word weight positive; of
    weights as large to 1e-6, the first one counts. Dimensions beyond the rank of A are 0 for
    every document.

    An empty document is the zero vector. A word that `fit` never saw adds nothing. `fit` costs
    O(nnz k) a power iteration; the answer is the same to about 1e-6 whatever the BLAS. The number
    of power iterations is fixed and ARPACK raises where it does not converge, so that there is
    nothing for an ``n_iter_`` or ``converged_`` to tell.

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

    A document with the first word only is where those with both words are:

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

    def fit(
        self, X: BagsLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Find the singular vectors.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags, weighted or not.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (0, 1) before the decomposition and with (1, 1) after it: scikit-learn does
            it in one call, which tells nothing meanwhile. Raising from it stops the work.

        Returns
        -------
        LSI
            The estimator itself.

        Notes
        -----
        Ctrl-C is seen between two products of the bags with a block of vectors ("randomized") or
        with one vector ("arpack"); a factorisation of a block is not interrupted. What the
        estimator had learned before is kept then.
        """
        check_params(self)
        bags = self._bags_to_fit(X)
        n_documents, n_words = bags.shape
        most = min(bags.shape) - (self.algorithm == "arpack")
        if most < 1:
            raise ValueError(
                f"algorithm='arpack' needs 2 documents and 2 words at least; got n_samples = "
                f"{n_documents} and n_features = {n_words}. Use algorithm='randomized'."
            )
        if self.n_components > most:
            raise ValueError(
                f"n_components must be at most {most} for algorithm={self.algorithm!r} with "
                f"n_samples = {n_documents} documents and n_features = {n_words} words; got "
                f"{self.n_components}."
            )
        if progress is not None:
            progress(0, 1)
        found = self._decomposed(bags)
        self.components_, self.singular_values_ = _settled(*found, max(bags.shape))
        if progress is not None:
            progress(1, 1)
        return self

    def _decomposed(self, bags: Bags) -> tuple[Float64Array, Float64Array]:
        if not bags.nnz:  # which ARPACK cannot start from
            return np.zeros((self.n_components, bags.shape[1])), np.zeros(self.n_components)
        if bags.shape[1] == 1:  # which TruncatedSVD refuses
            values = bags.data.astype(np.float64)
            largest = np.abs(values).max()
            return np.ones((1, 1)), np.array([largest * np.linalg.norm(values / largest)])
        svd = TruncatedSVD(
            self.n_components,
            algorithm=self.algorithm,
            n_iter=self.n_iter,
            n_oversamples=self.n_oversamples,
            power_iteration_normalizer="QR",
            random_state=self.random_state,
        )
        with np.errstate(divide="ignore", invalid="ignore"):  # a share of no variance
            svd.fit(bags.astype(np.float64))
        return svd.components_, svd.singular_values_

    def transform(self, X: BagsLike) -> Float64Array:
        """Place documents: a^T U_k for each.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags, weighted like those of `fit`.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            float32, or float64 if `X` is. Compare them by cosine.
        """
        bags = self._bags_to_transform(X)
        return rounded_as(bags, np.asarray(bags.astype(np.float64) @ self.components_.T))

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
    """Order dimensions, fix their signs, and make those beyond the rank 0."""
    order = np.argsort(-singular_values, kind="stable")
    components, singular_values = components[order], singular_values[order]
    noise = singular_values[0] * largest_side * np.finfo(np.float64).eps
    lost = singular_values <= noise
    rows = np.arange(len(components))
    sizes = np.abs(components)
    # Rounding must not choose between words that weigh the same.
    first = (sizes >= (1 - 1e-6) * sizes.max(axis=1, keepdims=True)).argmax(axis=1)
    signs = np.sign(components[rows, first])
    components = np.where(lost[:, None], 0.0, components * signs[:, None])
    return components, np.where(lost, 0.0, singular_values)
