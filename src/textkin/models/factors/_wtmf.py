"""`WTMF`: weighted textual matrix factorization of short texts."""

import warnings
from dataclasses import replace
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.random import RandomState
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from textkin import _core
from textkin._base import (
    DEVICE,
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
from textkin.device import memory_errors_on
from textkin.distance import pairwise_similarities
from textkin.models._arrays import entries_of, table_of
from textkin.models._feature_names import HasWordVectors
from textkin.models._vector_model import BagModel, rounded_as
from textkin.models.factors._als_core import ALSBackend, ALSProblem, CoreALS, precision_for
from textkin.run import ProgressCallback, effective_jobs, part_of

__all__ = ["WTMF"]

_NOTHING = 1e-6  # relative decrease of the objective below which all dimensions have vanished
_VANISHING = 1e-3  # relative squared length below which a dimension has vanished
_FLOAT64_HINT = {True: ", or pass float64", False: ""}


class WTMF(HasWordVectors, BagModel):
    """Vectors of short texts by a weighted factorization that also models missing words.

    The few words of a sentence hardly determine its topic. The many words that it does not contain
    add information: they say what the sentence is not about.

    Parameters
    ----------
    n_components : int, default=100
        Number of dimensions K.
    missing_weight : float, default=0.01
        Weight w_m of words that a text does not contain, from 0 to 1. Words of the text have
        weight 1.
    regularization : float, default=20.0
        Weight lambda of the squared norms of all vectors, above 0. Choose it by the scale of the
        word weights: 20 suits tf-idf without a norm (``TfIdf("wtmf", norm=None)``); rows of
        length 1 need about 0.1 to 1.
    orthogonality : float, default=0.0
        Step size alpha of the step after each sweep that makes the dimensions of the words
        orthogonal and equally long (OrMF); Guo et al. use 1e-4. 0 is plain WTMF.
    max_iter : int, default=20
        Maximum number of sweeps. A sweep solves for all texts, then for all words.
    tol : float, default=0.0
        Relative change of the objective in a sweep below which the fit stops. 0 runs all sweeps,
        as Guo and Diab do.
    random_state : int, RandomState or None, default=None
        Seed of the initial vectors of the words.
    n_jobs : int or None, default=None
        Number of threads. Results are bit-identical for any number.
    device : None, "cpu" or "cuda", default=None
        Device of the sweeps of `fit`. None is the compiled core on the CPU; the others use torch
        (see Notes). Not saved with the model.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words), float64
        Matrix P, with one column per word. Columns of words that `fit` never saw are 0.
    objectives_ : list of float
        Objective after every half sweep: texts, words, texts, and so on. It never rises, except
        for rounding, unless `orthogonality` is above 0.
    n_iter_ : int
        Number of sweeps.
    converged_ : bool
        True if the last sweep changed the objective by less than `tol`, relatively; never with 0.

    See Also
    --------
    LSI : Factorization that weights all words of the vocabulary equally, present or missing.
    TfIdf : Suitable weights; ``variant="wtmf"`` is the variant of Guo and Diab.

    Notes
    -----
    Let X be the weights of words i in texts j. The fit minimizes (equation 1 of Guo and Diab) ::

        sum_ij W_ij (P_i . Q_j - X_ij)^2 + lambda ||P||^2 + lambda ||Q||^2

    where W_ij is 1 if the text contains the word and w_m otherwise. It alternates between solving
    for all Q and for all P (equation 2), exactly ::

        Q_j = (w_m P P^T + (1 - w_m) P_o P_o^T + lambda I)^-1 P_o x_o

    where o are the words of text j. P P^T is computed once per half sweep. With L L^T = w_m P P^T
    + lambda I and A = L^-1 P_o, a text of n < K words needs only the n x n system
    Q_j = L^-T A (I + (1 - w_m) A^T A)^-1 x_o.

    **Stored zeros count as words.** A zero that a sparse `X` stores is an observed word with
    weight 0, such as a word with an idf of 0 (``TfIdf(keep_zeros=True)`` keeps them; the BSR
    format stores the zeros of its blocks, too). In a dense array, every zero is a missing word.

    A new text gets its vector from one such solve. Words that `fit` never saw add nothing; an
    empty text is the zero vector, with similarity 0 to any text. Compare vectors by cosine.

    OrMF follows each sweep by P <- P - alpha (P P^T - c I) P with c = tr(P P^T) / K. Guo et al.
    use alpha unchanged. Here alpha is at most 1 / (2 e) in each sweep, where e is the largest
    absolute eigenvalue of P P^T - c I: no direction is reversed or grows by more than half.

    Models of up to a million numbers, and bags in float64, are computed in double precision; large
    models of float32 bags in single precision.

    With `device`, torch solves the sweeps of `fit`, from the same initialization and in the same
    precision: objectives agree to about 1e-6 in float32 and to 1e-10 in float64. Bags that do not
    fit in the memory of the device are copied block by block. `transform` uses the core.

    References
    ----------
    Guo and Diab, "Modeling Sentences in the Latent Space", ACL 2012. Guo and Diab, "Weiwei: A
    Simple Unsupervised Latent Semantics based Approach for Sentence Similarity", SemEval 2012.
    Hu, Koren and Volinsky, "Collaborative Filtering for Implicit Feedback Datasets", ICDM 2008
    (the shared product). Guo, Liu and Diab, "Fast Tweet Retrieval with Compact Binary Codes",
    COLING 2014 (OrMF).

    Examples
    --------
    >>> bags = [[5, 4, 0, 0], [4, 0, 0, 0], [0, 5, 0, 0], [0, 0, 4, 5], [0, 0, 0, 5]]
    >>> wtmf = WTMF(2, regularization=0.5, random_state=0).fit(bags)
    >>> wtmf.similarity([[3, 0, 0, 0]], [[0, 3, 0, 0], [0, 0, 3, 0]]).round(1)
    array([[1. , 0.1]])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1),
        "missing_weight": real(0, 1),
        "regularization": positive(),
        "orthogonality": real(0),
        "max_iter": integer(1),
        "tol": real(0),
        "n_jobs": one_of(None) | integer(),
        "device": DEVICE,
    }
    _takes_negative: ClassVar[bool] = True
    _keeps_zeros: ClassVar[bool] = True

    def __init__(
        self,
        n_components: int = 100,
        *,
        missing_weight: float = 0.01,
        regularization: float = 20.0,
        orthogonality: float = 0.0,
        max_iter: int = 20,
        tol: float = 0.0,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.missing_weight = missing_weight
        self.regularization = regularization
        self.orthogonality = orthogonality
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    @rollback_on_error
    def fit(
        self, X: BagsLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Learn the word vectors by alternating least squares.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Weighted bags; stored zeros of a sparse array are observed words.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (sweeps done, `max_iter`) after each sweep. An exception raised in it stops
            the work.

        Returns
        -------
        WTMF
            The estimator itself.

        Warns
        -----
        UserWarning
            If `regularization` is so strong that most or all dimensions vanish.
        sklearn.exceptions.ConvergenceWarning
            If `tol` is above 0 and was not reached in `max_iter` sweeps.
        """
        check_params(self)
        bags = self._bags_to_fit(X)
        squares = _sum_of_squares(bags)
        dtype = precision_for(bags.dtype, self.n_components * bags.shape[1], bags.data)
        with memory_errors_on(self.device, "Free some"):
            self._fit_backend(self._backend(bags, dtype), float(np.abs(bags.data).max()), progress)
        self._warn(squares, bags.shape[0], stacklevel=4)
        return self

    def _backend(self, bags: Bags, dtype: Any) -> ALSBackend:  # noqa: ANN401
        problem, start = self._problem(dtype), self._start(bags.shape[1])
        if self.device is None:
            return CoreALS(bags, problem, start)
        from textkin.models.factors._als_torch import TorchALS

        return TorchALS(bags, problem, start, device=self.device)

    def _problem(self, dtype: Any) -> ALSProblem:  # noqa: ANN401
        return ALSProblem(
            self.n_components,
            float(self.missing_weight),
            float(self.regularization),
            effective_jobs(self.n_jobs),
            dtype,
        )

    def _start(self, n_words: int) -> Float64Array:
        """Return random initial word vectors, one row per word."""
        random = check_random_state(self.random_state)
        return np.asarray(random.standard_normal((n_words, self.n_components)))

    def _fit_backend(
        self, backend: ALSBackend, largest: float, progress: ProgressCallback | None
    ) -> None:
        """Run sweeps of least squares until the loss converges; set the fitted attributes."""
        objectives: list[float] = []
        converged = False
        while not converged and len(objectives) < 2 * self.max_iter:
            objectives.append(backend.solve_texts())
            objectives.append(backend.solve_words())
            if not np.isfinite(objectives[-1]):
                raise ValueError(
                    f"The systems have no finite solution: the largest weight of X is {largest:g}, "
                    f"regularization={self.regularization:g}. "
                    f"Scale X down, or raise regularization"
                    f"{_FLOAT64_HINT[backend.words.dtype == np.float32]}."
                )
            if self.orthogonality > 0:
                self._make_orthogonal(backend.words)
            if len(objectives) > 2:
                gained = objectives[-3] - objectives[-1]
                # A rise, by rounding or by the orthogonal step, is not convergence.
                converged = abs(gained) < self.tol * abs(objectives[-3])
            if progress is not None:
                progress(len(objectives) // 2, self.max_iter)
        self.components_ = np.ascontiguousarray(
            backend.words[:, : self.n_components].T, dtype=np.float64
        )
        self.objectives_ = objectives
        self.n_iter_ = len(objectives) // 2
        self.converged_ = bool(converged)

    def transform(self, X: BagsLike, *, progress: ProgressCallback | None = None) -> Float64Array:
        """Compute the least-squares vector of each text, with the fitted word vectors.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags, weighted like the bags of `fit`.
        progress : callable, optional
            Called with (texts done, total) repeatedly. An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Vectors to compare by cosine; float32, or float64 if `X` is float64.
        """
        bags = self._bags_to_transform(X)
        solver, dtype = self._solver(bags.dtype)
        n_components = len(self.components_)
        found = table_of(np.zeros((bags.shape[0], n_components)), dtype)
        jobs = effective_jobs(self.n_jobs)
        solver.solve(*entries_of(bags, dtype), found, jobs, progress)
        with np.errstate(over="ignore"):  # overflow raises below
            vectors = rounded_as(bags, np.ascontiguousarray(found[:, :n_components]))
        wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if wrong.size:
            largest = np.abs(bags[[wrong[0]]].data).max(initial=0)
            raise ValueError(
                f"The system of row {wrong[0]} has no finite solution: its largest weight is "
                f"{largest:g}, regularization={self.regularization:g}. Scale its weights like the "
                f"weights of fit{_FLOAT64_HINT[bags.dtype == np.float32]}."
            )
        return vectors

    def similarity(
        self,
        X: BagsLike,
        Y: "BagsLike | None" = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Float64Array:
        """Return the matrix of cosines between the text vectors of `X` and of `Y`.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags, weighted like the bags of `fit`.
        Y : sparse or dense array of shape (n_others, n_words), optional
            Bags. If None, `X` itself.
        progress : callable, optional
            Called with (rows done, total). An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, n_others), float64
            Cosines from -1 to 1; 0 with an empty text.
        """
        left = self.transform(X)
        right = None if Y is None else self.transform(Y)
        return pairwise_similarities(left, right, "cosine", n_jobs=self.n_jobs, progress=progress)

    def paired(
        self, X: BagsLike, Y: BagsLike, *, progress: ProgressCallback | None = None
    ) -> Float64Array:
        """Return the cosine between text i of `X` and text i of `Y`, for each i.

        Parameters
        ----------
        X, Y : sparse or dense array of shape (n_documents, n_words)
            Bags with the same number of rows, weighted like the bags of `fit`.
        progress : callable, optional
            Called with (percent done, 100). An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n_documents,), float64
            Cosines from -1 to 1; 0 with an empty text.

        Examples
        --------
        >>> bags = [[5, 4, 0, 0], [4, 0, 0, 0], [0, 5, 0, 0], [0, 0, 4, 5], [0, 0, 0, 5]]
        >>> wtmf = WTMF(2, regularization=0.5, random_state=0).fit(bags)
        >>> wtmf.paired([[3, 0, 0, 0], [0, 0, 3, 0]], [[0, 3, 0, 0], [0, 3, 0, 0]]).round(1)
        array([ 1. , -0.1])
        """
        sides = [
            self.transform(bags, progress=part_of(progress, start, start + 50)).astype(np.float64)
            for bags, start in ((X, 0), (Y, 50))
        ]
        if len(sides[0]) != len(sides[1]):
            raise ValueError(
                f"X and Y must have the same number of rows, one per pair; got {len(sides[0])} and "
                f"{len(sides[1])}. To compare all rows with all, call similarity()."
            )
        one, other = (_of_unit_length(vectors) for vectors in sides)
        return np.asarray(np.clip(np.einsum("ij,ij->i", one, other), -1, 1))

    def _word_places(self) -> Float64Array:
        return self.components_.T

    def _solver(self, dtype: Any) -> tuple[Any, Any]:  # noqa: ANN401 (that of bags)
        """Return the cached least-squares solver for new texts, and its dtype.

        Only the words determine the dtype: the vector of a text does not depend on its batch.
        """
        words = self.components_
        settings = self.missing_weight, self.regularization, dtype
        made = _SOLVERS.get(self)
        if made is None or made[0] is not words or made[1] != settings:
            kind = precision_for(dtype, words.size, words)
            problem = replace(self._problem(kind), n_components=len(words))
            solver = problem.solver(table_of(words.T, kind))
            made = words, settings, (solver, kind)
            _SOLVERS[self] = made
        found: tuple[Any, Any] = made[2]
        return found

    def _make_orthogonal(self, words: Any) -> None:  # noqa: ANN401 (a table of the core)
        jobs = effective_jobs(self.n_jobs)
        upper = _core.gram_of(words, self.n_components, jobs)
        gram = upper + np.triu(upper, 1).T
        excess = gram - np.trace(gram) / self.n_components * np.eye(self.n_components)
        largest = float(np.abs(np.linalg.eigvalsh(excess)).max())
        step = min(float(self.orthogonality), 0.5 / largest) if largest > 0 else 0.0
        matrix = np.eye(self.n_components) - step * excess
        _core.multiply_rows(words, table_of(matrix, words.dtype), jobs)

    def _warn(self, squares: float, n_documents: int, stacklevel: int) -> None:
        n_components, n_words = self.components_.shape
        vanished = self.objectives_[-1] >= (1 - _NOTHING) * squares
        kept = 0 if vanished else _dimensions_of(self.components_)
        if 2 * kept < min(n_components, n_documents, n_words):
            warnings.warn(
                f"WTMF keeps {kept} of {n_components} dimensions; the others vanish: "
                f"regularization={self.regularization:g} is too strong for rows of length "
                f"{np.sqrt(squares / n_documents):.3g}, or X has a lower rank. Lower it (0.1 to 1 "
                'for rows of length 1), or weight words by TfIdf("wtmf", norm=None).',
                UserWarning,
                stacklevel=stacklevel,
            )
        elif self.tol > 0 and not self.converged_:
            warnings.warn(
                f"WTMF did not converge in {self.n_iter_} sweeps. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )

    def _check_loaded(self) -> None:
        self._check_shapes(components_=(self.n_components, self.n_features_in_))


def _dimensions_of(components: Float64Array) -> int:
    """Return the number of dimensions in which word vectors differ noticeably."""
    lengths = np.linalg.eigvalsh(components @ components.T)
    return int(np.count_nonzero(lengths > _VANISHING * lengths[-1]))


def _of_unit_length(vectors: Float64Array) -> Float64Array:
    """L2-normalize rows; zero rows stay zero."""
    largest = np.abs(vectors).max(axis=1, initial=0, keepdims=True)
    # The largest number becomes 1, so squares cannot overflow.
    scaled = vectors / np.where(largest > 0, largest, 1)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(lengths > 0, lengths, 1))


def _sum_of_squares(bags: Bags) -> float:
    """Return the WTMF loss of all-zero vectors; raise if the bags have no weights."""
    with np.errstate(over="ignore", under="ignore"):
        squares = float(np.square(bags.data, dtype=np.float64).sum())
    if not bags.data.any():
        raise ValueError("X must have words with weights other than 0; got none.")
    return squares


# Solvers are stored outside the estimators, because `transform` must not change an estimator.
_SOLVERS: "WeakKeyDictionary[WTMF, tuple[Any, Any, Any]]" = WeakKeyDictionary()
