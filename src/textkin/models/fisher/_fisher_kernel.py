"""`FisherKernel`: Hofmann's Fisher kernel, a document similarity from PLSA models."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from textkin._base import (
    Bags,
    BagsLike,
    Constraint,
    Float64Array,
    check_params,
    instance_of,
    integer,
    narrow_indices,
    normalize_rows,
    one_of,
    real,
    rollback_on_error,
    row_indices,
)
from textkin.models._arrays import scaled_rows
from textkin.models._vector_model import BagModel
from textkin.models.topics._plsa import PLSA
from textkin.run import ProgressCallback

__all__ = ["N_COMPONENTS", "FisherKernel"]

_BLOCK = 2**23  # maximum number of features in memory at once
_COUNT = integer(1)
_SEVERAL = Sequence, np.ndarray
N_COMPONENTS: Constraint = Constraint(
    lambda value: (
        _COUNT.accepts(value)
        or (
            isinstance(value, _SEVERAL)
            and np.shape(value) not in ((), (0,))
            and all(map(_COUNT.accepts, value))
        )
    ),
    "an integer at least 1, or a list of such integers",
    lambda value: not isinstance(value, _SEVERAL) and _COUNT.wrong_type(value),
)


class FisherKernel(BagModel, auto_wrap_output_keys=None):
    """Document similarity by Hofmann's Fisher kernel of PLSA topic models.

    Two documents are similar if they would change the parameters of the mixture in the same way.

    Parameters
    ----------
    n_components : int, or list or array of int, default=64
        Number of factors of the model. With several numbers, one model is fitted for each, and
        the kernels are added.
    topic_model : PLSA or None, default=None
        Estimator whose parameters the models copy, except for `n_components`, `random_state`, and
        `n_jobs`, which come from this estimator. If None, ``PLSA()``.
    topic_weight, word_weight : float, default=1.0
        Weights of K1 and K2 below; 0 omits the kernel.
    exact : bool, default=False
        Use the exact score of the topics in K1, not the simplified one. They are equal if P(z|d)
        is the maximum-likelihood estimate.
    information : {"identity", "diagonal"}, default="identity"
        Approximation of the Fisher information. "identity": the identity in the square-root
        parametrization, as in Hofmann. "diagonal": the mean square of each coordinate over the
        documents of `fit`, plus a thousandth of the mean of these (of those above 0), so that rare
        words do not dominate.
    normalize : bool or "each", default=False
        Normalization, so that a document has similarity 1 with itself. True divides by the norm
        of the full vector. "each" divides K1 and K2 of every model by their own norms, and adds
        them by their weights. Otherwise the part with the largest values, often K2 of few
        factors, dominates; choose "each" for classifiers.
    vector_space : float, default=0.0
        Weight of the cosine of the bags, which is added for retrieval.
    random_state : int, RandomState or None, default=None
        Seed of the models.
    n_jobs : int or None, default=None
        Number of threads of the models. Results are bit-identical for any number.

    Attributes
    ----------
    models_ : list of PLSA
        Fitted models, one for each number of factors.
    n_iter_ : int
        Largest number of steps of a model.
    converged_ : bool
        True if all models converged.
    information_ : list of ndarray
        With ``information="diagonal"``, the mean squares of the coordinates of each model;
        otherwise empty.

    See Also
    --------
    PLSA : The topic mixture.

    Notes
    -----
    The length-normalized log-likelihood of a document, l(d) = sum_j Pe(w_j|d) log P(w_j|d) with
    Pe(w|d) = n(d,w) / n(d), has the gradient, with respect to 2 sqrt(P), ::

        u_k(d) = P(z_k|d) / sqrt(P(z_k))                               (simplified; exact: times
                 sum_j Pe(w_j|d) P(w_j|z_k) / P(w_j|d))
        u_jk(d) = Pe(w_j|d) P(z_k|d) sqrt(P(w_j|z_k)) / P(w_j|d)

    and the kernel is K = K1 + K2 with ::

        K1(d,d') = sum_k u_k(d) u_k(d')      (equation 6: topics in common, with or without words)
        K2(d,d') = sum_jk u_jk(d) u_jk(d')   (equation 7: words in common, in the same sense)

    With ``normalize="each"`` it is instead, over the models m, with topic and word weights a, b ::

        K(d,d') = sum_m [a cos(u1_m(d), u1_m(d')) + b cos(u2_m(d), u2_m(d'))] / (number of m (a+b))

    where u1 are all u_k and u2 all u_jk of a model.

    `transform` returns u itself, sparse, so that a linear classifier can use the kernel:
    K = ``transform(X) @ transform(Y).T``. Models learn from labeled and unlabeled texts, the
    classifier from the labels. A document has about K numbers per word; only the result of
    `similarity` has the size of documents times documents. A document without words that `fit` saw
    has no features, and similarity 0 with all documents.

    References
    ----------
    Hofmann, "Learning the Similarity of Documents: An Information-Geometric Approach to Document
    Retrieval and Categorization", NIPS 1999. Chappelier and Eckard, "PLSI: The True Fisher Kernel
    and beyond", ECML 2009 (the diagonal).

    Examples
    --------
    >>> bags = [[4, 3, 0, 0], [5, 4, 0, 0], [0, 0, 3, 4], [0, 0, 5, 4]]
    >>> kernel = FisherKernel(2, normalize=True, random_state=0).fit(bags)
    >>> kernel.similarity([[1, 0, 0, 0]], [[0, 1, 0, 0], [0, 0, 0, 1]]).round(2)
    array([[0.5, 0. ]])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": N_COMPONENTS,
        "topic_model": one_of(None) | instance_of(PLSA, "a PLSA"),
        "topic_weight": real(0),
        "word_weight": real(0),
        "exact": one_of(True, False),
        "information": one_of("identity", "diagonal"),
        "normalize": one_of(True, False, "each"),
        "vector_space": real(0),
        "n_jobs": one_of(None) | integer(),
    }

    def __init__(
        self,
        n_components: int | Sequence[int] | NDArray[np.integer[Any]] = 64,
        *,
        topic_model: PLSA | None = None,
        topic_weight: float = 1.0,
        word_weight: float = 1.0,
        exact: bool = False,
        information: Literal["identity", "diagonal"] = "identity",
        normalize: bool | Literal["each"] = False,
        vector_space: float = 0.0,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.topic_model = topic_model
        self.topic_weight = topic_weight
        self.word_weight = word_weight
        self.exact = exact
        self.information = information
        self.normalize = normalize
        self.vector_space = vector_space
        self.random_state = random_state
        self.n_jobs = n_jobs

    @rollback_on_error
    def fit(
        self, X: BagsLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Fit the PLSA models from which the kernel is computed.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags of all available texts, labeled and unlabeled.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (steps done, maximum number of steps of all models). An exception raised in
            it stops the work.

        Returns
        -------
        FisherKernel
            The estimator itself.
        """
        check_params(self)
        bags = self._bags_to_fit(X)
        random = check_random_state(self.random_state)
        numbers = self._numbers()
        prototype = PLSA() if self.topic_model is None else self.topic_model
        models = []
        for at, number in enumerate(numbers):
            model = clone(prototype).set_params(
                n_components=number,
                random_state=random.randint(np.iinfo(np.int32).max),
                n_jobs=self.n_jobs,
            )
            steps = model.n_init * model.max_iter
            models.append(model.fit(bags, progress=_share(progress, at * steps, len(numbers))))
        information = []
        if self.information == "diagonal":
            information = [self._mean_squares(model, bags) for model in models]
        self.models_ = models
        self.information_ = information
        return self

    def transform(self, X: BagsLike, *, progress: ProgressCallback | None = None) -> Bags:
        """Return feature vectors of documents whose inner products are the kernel.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags.
        progress : callable, optional
            Called with (documents done, total) repeatedly. An exception raised in it stops the
            work.

        Returns
        -------
        csr_array of shape (n_documents, n_features)
            For each model, its factors, then each word with each factor; with `vector_space`, the
            words at the end. float32, or float64 if `X` is float64.
        """
        bags = self._bags_to_transform(X)
        parts = []
        for rows in self._blocks(bags, self.models_):
            parts.append(self._features(bags[rows]))
            if progress is not None:
                progress(rows.stop, bags.shape[0])
        if not parts:
            parts = [sparse.csr_array((0, self._n_features_out))]
        whole: Bags = sparse.vstack(parts, format="csr", dtype=bags.dtype)
        narrow_indices(whole)  # classifiers require int32
        return whole

    def similarity(
        self,
        X: BagsLike,
        Y: "BagsLike | None" = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Float64Array:
        """Return the matrix of kernel values between documents of `X` and of `Y`.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags, such as queries.
        Y : sparse or dense array of shape (n_others, n_words), optional
            Bags. If None, `X` itself.
        progress : callable, optional
            Called with (pairs done, total) repeatedly. An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, n_others), float64
            Similarities, at least 0; higher is more similar. At most 1 with `normalize` and without
            `vector_space`.
        """
        left = self._bags_to_transform(X)
        right = left if Y is None else self._bags_to_transform(Y)
        found = np.zeros((left.shape[0], right.shape[0]))
        done = 0
        for rows in self._blocks(left, self.models_):
            some = self._features(left[rows])
            for others in self._blocks(right, self.models_):
                product = some @ self._features(right[others]).T
                found[rows, others] = product.toarray()
                done += product.shape[0] * product.shape[1]
                if progress is not None:
                    progress(done, found.size)
        return found

    @property
    def n_iter_(self) -> int:
        """Largest number of EM steps that one of the PLSA models took."""
        check_is_fitted(self)
        return max(int(model.n_iter_) for model in self.models_)

    @property
    def converged_(self) -> bool:
        """True if EM converged for all PLSA models."""
        check_is_fitted(self)
        return all(bool(model.converged_) for model in self.models_)

    @property
    def _n_features_out(self) -> int:
        words = int(self.n_features_in_)
        return sum(len(model.components_) * (1 + words) for model in self.models_) + (
            words if self.vector_space > 0 else 0
        )

    def _numbers(self) -> list[int]:
        given = self.n_components
        return [int(n) for n in given] if isinstance(given, _SEVERAL) else [int(given)]

    def _blocks(self, bags: Bags, models: list[PLSA]) -> Iterator[slice]:
        """Yield ranges of documents whose features fit in limited memory."""
        each = sum(len(model.components_) for model in models) + 1
        ends = bags.indptr.astype(np.int64) * each + np.arange(bags.shape[0] + 1) * each
        start = 0
        while start < bags.shape[0]:
            end = int(np.searchsorted(ends, ends[start] + _BLOCK, side="right")) - 1
            yield slice(start, max(end, start + 1))
            start = max(end, start + 1)

    def _features(self, bags: Bags) -> Any:  # noqa: ANN401 (a csr_array of float64)
        parts = []
        weights = np.sqrt(self._part_weights())
        for at, model in enumerate(self.models_):
            own = self._scores(model, bags)
            if self.information_:
                own.data *= _inverse_roots(self.information_[at])[own.indices]
            number = len(model.components_)
            if self.normalize == "each":
                own.data = _normalize_parts(own, number)
            own.data *= np.where(own.indices < number, *weights)
            parts.append(own)
        whole = sparse.hstack(parts, format="csr")
        if self.normalize and self.normalize != "each":
            whole.data = normalize_rows(whole, whole.data, "l2")
        if self.vector_space > 0:
            cosine: Any = bags.astype(np.float64)
            cosine.data = np.sqrt(self.vector_space) * normalize_rows(bags, cosine.data, "l2")
            whole = sparse.hstack([whole, cosine], format="csr")
        whole.eliminate_zeros()
        return whole

    def _part_weights(self) -> Float64Array:
        """Return the weights of the kernel's parts K1 and K2, per model."""
        weights = np.array([self.topic_weight, self.word_weight], dtype=np.float64)
        if self.normalize == "each" and weights.any():
            weights /= weights.max()  # the sum of the unscaled weights may overflow
            weights /= weights.sum() * len(self.models_)
        return weights

    def _scores(self, model: PLSA, bags: Any) -> Any:  # noqa: ANN401
        """Return the log-likelihood gradients of documents by the parameters of a PLSA model."""
        number, n_documents = len(model.components_), bags.shape[0]
        bags = bags.astype(np.float64)
        rows, columns = row_indices(bags), bags.indices
        topics = model.transform(bags)
        words = model.components_[:, columns].T  # (entries, factors)
        products = np.einsum("jk,jk->j", topics[rows], words)
        counts = scaled_rows(bags)
        lengths = np.bincount(rows, counts, n_documents)
        empirical = counts / lengths[rows]
        ratios = np.divide(empirical, products, out=np.zeros_like(products), where=products > 0)
        known = np.bincount(rows, ratios, n_documents) > 0
        weights = model.topic_weights_
        roots = np.divide(1, np.sqrt(weights), out=np.zeros(number), where=weights > 0)
        first = topics * roots * known[:, None]
        if self.exact:
            per_document = sparse.csr_array((ratios, columns, bags.indptr), shape=bags.shape)
            first *= per_document @ model.components_.T
        second = ratios[:, None] * topics[rows] * np.sqrt(words)
        # The factors of each document come before its words, all in ascending order of columns.
        counts = (np.diff(bags.indptr).astype(np.int64) + 1) * number
        indptr = np.concatenate([[0], np.cumsum(counts)])
        in_front = np.zeros(indptr[-1], dtype=bool)
        in_front[(indptr[:-1, None] + np.arange(number)).ravel()] = True
        data = np.empty(indptr[-1])
        data[in_front], data[~in_front] = first.ravel(), second.ravel()
        indices = np.empty(indptr[-1], dtype=np.int64)
        indices[in_front] = np.tile(np.arange(number), n_documents)
        after = (columns.astype(np.int64) + 1)[:, None] * number + np.arange(number)
        indices[~in_front] = after.ravel()
        shape = (n_documents, number * (1 + bags.shape[1]))
        return sparse.csr_array((data, indices, indptr), shape=shape)

    def _mean_squares(self, model: PLSA, bags: Bags) -> Float64Array:
        total = np.zeros(len(model.components_) * (1 + bags.shape[1]))
        for rows in self._blocks(bags, [model]):
            scores = self._scores(model, bags[rows])
            total += np.bincount(scores.indices, scores.data**2, total.size)
        return total / bags.shape[0]

    def _check_loaded(self) -> None:
        numbers, words = self._numbers(), self.n_features_in_
        wanted = len(numbers) if self.information == "diagonal" else 0
        if len(self.models_) != len(numbers) or len(self.information_) != wanted:
            raise ValueError(
                "models_ and information_ must match the list of numbers of components"
            )
        for number, model in zip(numbers, self.models_, strict=True):
            if not isinstance(model, PLSA) or model.components_.shape != (number, words):
                raise ValueError(f"models_ must have {number} components over {words} words")
        for number, squares in zip(numbers, self.information_, strict=False):
            if squares.shape != (number * (1 + words),) or not np.isfinite(squares).all():
                raise ValueError("information_ must have one number per feature")


def _inverse_roots(information: Float64Array) -> Float64Array:
    """Compute 1 / sqrt(I + eps) of the Fisher information I; 0 where I is 0."""
    known = information > 0
    epsilon = 1e-3 * information[known].mean() if known.any() else 1.0
    return np.where(known, 1 / np.sqrt(information + epsilon), 0.0)


def _normalize_parts(scores: Any, number: int) -> Float64Array:  # noqa: ANN401
    """L2-normalize the first `number` entries of each row, and separately its other entries."""
    starts, ends = scores.indptr[:-1], scores.indptr[1:]
    indptr = np.concatenate([np.stack([starts, starts + number], axis=1).ravel(), ends[-1:]])
    halves = sparse.csr_array(
        (scores.data, scores.indices, indptr), shape=(2 * scores.shape[0], scores.shape[1])
    )
    return normalize_rows(halves, halves.data, "l2")


def _share(progress: ProgressCallback | None, before: int, models: int) -> ProgressCallback | None:
    if progress is None:
        return None
    return lambda done, total: progress(before + done, models * total)
