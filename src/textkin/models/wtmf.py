"""Weighted textual matrix factorisation: short texts placed by the words they lack, too."""

import warnings
from typing import Any, ClassVar, Protocol, Self, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.random import RandomState
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from textkin import _core
from textkin._typing import Bags, Float64Array
from textkin._validation import Constraint, check_params, integer, one_of, real
from textkin.distance import similarities
from textkin.models._devices import DEVICE, working_on
from textkin.models._em import entries_of, table_of
from textkin.models._model import BagModel, BagsLike, rounded_as
from textkin.models._placed import PlacedSides
from textkin.models._words import HasWordVectors
from textkin.run import ProgressCallback, effective_jobs

__all__ = ["WTMF", "AnySides", "dtype_for"]

_SMALL = 2**20  # numbers of a model that is fitted in double, which costs little then
_LARGEST_FLOAT = 1e12  # whose square, summed up over all entries, stays in the range of float
_NOTHING = 1e-6  # a part of the objective that is no gain
_VANISHING = 1e-3  # of the squared length of the longest dimension
_WAY_OUT = {True: ", or pass float64", False: ""}

_Entries: TypeAlias = tuple[Any, Any, Any]  # where rows begin, columns, values


class WTMF(HasWordVectors, BagModel):
    """Place short texts by a factorisation in which missing words count a little.

    A sentence has too few words to say what it is about; the many words that it does not have
    say what it is not about.

    Parameters
    ----------
    n_components : int, default=100
        Dimensions K.
    missing_weight : float, default=0.01
        The weight w_m of words that a text does not have, from 0 to 1; those that it has weigh 1.
    regularization : float, default=20.0
        The weight lambda of the squared lengths of all vectors, above 0. It goes with the scale
        of the weights: 20 is for tf-idf without a norm (``TfIdf("wtmf", norm=None)``), rows of
        length 1 need about 0.1 to 1.
    orthogonality : float, default=0.0
        The step alpha by which the dimensions of the words are made orthogonal and equally long
        after each sweep (OrMF); 1e-4 in the source. 0 is plain WTMF.
    max_iter : int, default=20
        Most sweeps; a sweep finds all texts, then all words.
    tol : float, default=0.0
        Stop when a sweep changes the objective by less than this part of it. 0 takes all sweeps,
        as the source does.
    random_state : int, RandomState or None, default=None
        Where the words start.
    n_jobs : int or None, default=None
        Threads; any number gives the same bits.
    device : None, "cpu" or "cuda", default=None
        Where `fit` takes its sweeps: None is the core of textkin on the processor, others are
        torch, on a GPU or on tensors of the processor (see Notes). Not saved with the model.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words), float64
        P: a column for each word. One that `fit` never saw is 0.
    objectives_ : list of float
        The objective after every half sweep: texts, words, texts, and so on. It never rises, but
        for rounding, unless `orthogonality` is above 0.
    n_iter_ : int
        Sweeps.
    converged_ : bool
        Whether the last sweep changed the objective by less than `tol` of it; never with 0.

    See Also
    --------
    LSI : All words of the vocabulary count alike, present or missing.
    TfIdf : The weights to give it; ``variant="wtmf"`` is the source's.

    Notes
    -----
    With X the weights of words i in texts j, it minimises (equation 1 of Guo and Diab) ::

        sum_ij W_ij (P_i . Q_j - X_ij)^2 + lambda ||P||^2 + lambda ||Q||^2

    where W_ij is 1 if the text has the word and w_m otherwise, by solving for all Q, then for all
    P (equation 2), exactly ::

        Q_j = (w_m P P^T + (1 - w_m) P_o P_o^T + lambda I)^-1 P_o x_o

    with o the words of text j. P P^T is computed once a half sweep. With L L^T = w_m P P^T +
    lambda I and A = L^-1 P_o, a text of n < K words needs only the n x n system
    Q_j = L^-T A (I + (1 - w_m) A^T A)^-1 x_o.

    **A text has the words that are stored.** A zero that a sparse `X` stores is an observed word
    that weighs 0, as one with an idf of 0 (``TfIdf(keep_zeros=True)`` keeps those; so does the BSR
    format with those of its blocks); in a dense array every zero is a missing word.

    A new text is placed by one such solve. Words that `fit` never saw add nothing; an empty text
    is the zero vector, whose similarity with any is 0. Compare by cosine.

    OrMF follows each sweep by P <- P - alpha (P P^T - c I) P with c = tr(P P^T) / K. The source
    takes alpha as it is; here it is at most 1 / (2 e) in each sweep, with e the largest absolute
    eigenvalue of P P^T - c I, so that no direction is turned round, or grows by more than half.

    Models of up to a million numbers, and bags in float64, are computed in double precision, large
    ones of float32 bags in single precision.

    With `device`, the sweeps of `fit` are solved by torch, from the same start, in the same
    precision: objectives agree to about 1e-6 in float32 and to 1e-10 in float64. Bags that do not
    fit in its memory go there block by block. New texts are placed by the core.

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
        "regularization": Constraint(
            lambda value: real(0).accepts(value) and value > 0,
            "a finite number above 0",
            real().wrong_type,
        ),
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

    def fit(
        self, X: BagsLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Find the vectors of the words.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Weighted bags; stored zeros of a sparse one are observed words.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (sweeps done, most sweeps) after each; raising from it stops the work.

        Returns
        -------
        WTMF
            The estimator itself.

        Warns
        -----
        UserWarning
            If `regularization` is so strong that most dimensions vanish, or all.
        sklearn.exceptions.ConvergenceWarning
            If `tol` was given, and `max_iter` sweeps were not enough.
        """
        check_params(self)
        bags = self._bags_to_fit(X)
        squares = _sum_of_squares(bags)
        dtype = dtype_for(bags.dtype, self.n_components * bags.shape[1], bags.data)
        with working_on(self.device):
            self._fit_sides(self._sides(bags, dtype), float(np.abs(bags.data).max()), progress)
        self._warn(squares, bags.shape[0], stacklevel=4)
        return self

    def _sides(self, bags: Bags, dtype: Any) -> "AnySides":  # noqa: ANN401
        if self.device is None:
            return _Sides(self, bags, dtype)
        return PlacedSides(
            bags,
            self._start(bags.shape[1], dtype),
            self.n_components,
            self.missing_weight,
            self.regularization,
            self.device,
        )

    def _start(self, n_words: int, dtype: Any) -> Any:  # noqa: ANN401 (a table of the core)
        random = check_random_state(self.random_state)
        return table_of(random.standard_normal((n_words, self.n_components)), dtype)

    def _fit_sides(
        self, sides: "AnySides", largest: float, progress: ProgressCallback | None
    ) -> None:
        objectives: list[float] = []
        converged = False
        while not converged and len(objectives) < 2 * self.max_iter:
            objectives.append(sides.solve_texts())
            objectives.append(sides.solve_words())
            if not np.isfinite(objectives[-1]):
                raise ValueError(
                    f"The systems cannot be solved in the range of numbers: the largest weight of "
                    f"X is {largest:g}, regularization={self.regularization:g}. "
                    f"Scale X down, or raise regularization"
                    f"{_WAY_OUT[sides.words.dtype == np.float32]}."
                )
            if self.orthogonality > 0:
                self._make_orthogonal(sides.words)
            if len(objectives) > 2:
                gained = objectives[-3] - objectives[-1]
                # It may rise, by rounding or by the orthogonal step, and that is no convergence.
                converged = abs(gained) < self.tol * abs(objectives[-3])
            if progress is not None:
                progress(len(objectives) // 2, self.max_iter)
        self.components_ = np.ascontiguousarray(
            sides.words[:, : self.n_components].T, dtype=np.float64
        )
        self.objectives_ = objectives
        self.n_iter_ = len(objectives) // 2
        self.converged_ = bool(converged)

    def transform(self, X: BagsLike, *, progress: ProgressCallback | None = None) -> Float64Array:
        """Place texts, each by one solve with the vectors of the words fixed.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags, weighted like those of `fit`.
        progress : callable, optional
            Called with (texts done, all) from time to time; raising from it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            float32, or float64 if `X` is. Compare them by cosine.
        """
        bags = self._bags_to_transform(X)
        solver, dtype = self._solver(bags.dtype)
        n_components = len(self.components_)
        found = table_of(np.zeros((bags.shape[0], n_components)), dtype)
        jobs = effective_jobs(self.n_jobs)
        solver.solve(*entries_of(bags, dtype), found, jobs, progress)
        with np.errstate(over="ignore"):  # told below
            vectors = rounded_as(bags, np.ascontiguousarray(found[:, :n_components]))
        wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if wrong.size:
            largest = np.abs(bags[[wrong[0]]].data).max(initial=0)
            raise ValueError(
                f"Row {wrong[0]} cannot be placed in the range of numbers: its largest weight is "
                f"{largest:g}, regularization={self.regularization:g}. Scale its weights as those "
                f"of fit{_WAY_OUT[bags.dtype == np.float32]}."
            )
        return vectors

    def similarity(
        self,
        X: BagsLike,
        Y: "BagsLike | None" = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Float64Array:
        """Return the cosine of all pairs of two collections.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags, weighted like those of `fit`.
        Y : sparse or dense array of shape (n_others, n_words), optional
            Bags; `X` itself if left out.
        progress : callable, optional
            Called with (rows done, all); raising from it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, n_others), float64
            From -1 to 1; 0 with an empty text.
        """
        left = self.transform(X)
        right = None if Y is None else self.transform(Y)
        return similarities(left, right, "cosine", n_jobs=self.n_jobs, progress=progress)

    def paired(self, X: BagsLike, Y: BagsLike) -> Float64Array:
        """Return the cosine of each text with the one in the same row of another collection.

        Parameters
        ----------
        X, Y : sparse or dense array of shape (n_documents, n_words)
            Bags, weighted like those of `fit`, as many of one as of the other.

        Returns
        -------
        ndarray of shape (n_documents,), float64
            From -1 to 1; 0 with an empty text.

        Examples
        --------
        >>> bags = [[5, 4, 0, 0], [4, 0, 0, 0], [0, 5, 0, 0], [0, 0, 4, 5], [0, 0, 0, 5]]
        >>> wtmf = WTMF(2, regularization=0.5, random_state=0).fit(bags)
        >>> wtmf.paired([[3, 0, 0, 0], [0, 0, 3, 0]], [[0, 3, 0, 0], [0, 3, 0, 0]]).round(1)
        array([ 1. , -0.1])
        """
        sides = [self.transform(bags).astype(np.float64) for bags in (X, Y)]
        if len(sides[0]) != len(sides[1]):
            raise ValueError(
                f"X and Y must have as many rows, one for each pair; got {len(sides[0])} and "
                f"{len(sides[1])}. similarity() compares all rows with all."
            )
        one, other = (_of_unit_length(vectors) for vectors in sides)
        return np.asarray(np.clip(np.einsum("ij,ij->i", one, other), -1, 1))

    def _word_places(self) -> Float64Array:
        return self.components_.T

    def _solver_of(self, factors: Any, n_components: int) -> Any:  # noqa: ANN401 (of the core)
        single = factors.dtype == np.float32
        kind: Any = _core.FactorSolver if single else _core.FineFactorSolver
        return kind(
            factors,
            n_components,
            float(self.missing_weight),
            float(self.regularization),
            effective_jobs(self.n_jobs),
        )

    def _solver(self, dtype: Any) -> tuple[Any, Any]:  # noqa: ANN401 (that of bags)
        """Return the solver for new texts and its dtype, made once for a model and its settings.

        Words alone decide the dtype: a text is placed alike in any company.
        """
        words = self.components_
        settings = self.missing_weight, self.regularization, dtype
        made = _SOLVERS.get(self)
        if made is None or made[0] is not words or made[1] != settings:
            kind = dtype_for(dtype, words.size, words)
            made = words, settings, (self._solver_of(table_of(words.T, kind), len(words)), kind)
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
                f"WTMF keeps {kept} of {n_components} dimensions, all others vanish: "
                f"regularization={self.regularization:g} is too strong for rows of the length "
                f"{np.sqrt(squares / n_documents):.3g}, or X has no more. Lower it (0.1 to 1 for "
                'rows of length 1), or weigh words by TfIdf("wtmf", norm=None).',
                UserWarning,
                stacklevel=stacklevel,
            )
        elif self.tol > 0 and not self.converged_:
            warnings.warn(
                f"WTMF did not converge in {self.n_iter_} sweeps; raise max_iter, or tol.",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )

    def _check_loaded(self) -> None:
        self._check_shapes(components_=(self.n_components, self.n_features_in_))


class AnySides(Protocol):
    """Both sides of a factorisation in the middle of its fit, wherever the texts lie."""

    words: Any  # a table of the core

    def solve_texts(self) -> float:
        """Find all texts while the words stay; return the objective."""
        ...

    def solve_words(self) -> float:
        """Find all words while the texts stay; return the objective."""
        ...


class _Sides:
    """Both sides, of bags that are here."""

    def __init__(self, model: WTMF, bags: Bags, dtype: Any) -> None:  # noqa: ANN401
        self.model, self.jobs = model, effective_jobs(model.n_jobs)
        self.by_text, self.by_word = entries_of(bags, dtype), entries_of(bags.T.tocsr(), dtype)
        self.words = model._start(bags.shape[1], dtype)
        self.texts = table_of(np.zeros((bags.shape[0], model.n_components)), dtype)

    def solve_texts(self) -> float:
        return self._solved(self.words, self.by_text, self.texts)

    def solve_words(self) -> float:
        return self._solved(self.texts, self.by_word, self.words)

    def _solved(self, factors: Any, entries: _Entries, out: Any) -> float:  # noqa: ANN401
        solver = self.model._solver_of(factors, self.model.n_components)
        return float(solver.solve(*entries, out, self.jobs, None))


def dtype_for(dtype: Any, size: int, values: Any) -> Any:  # noqa: ANN401 (float32 or float64)
    """Return what a model of so many numbers is computed in, if these are to be squared."""
    single = dtype == np.float32 and size > _SMALL
    in_range = single and np.abs(values).max(initial=0) <= _LARGEST_FLOAT
    return np.float32 if in_range else np.float64


def _dimensions_of(components: Float64Array) -> int:
    """Return how many dimensions words differ in; those that vanish are not 0 at once."""
    lengths = np.linalg.eigvalsh(components @ components.T)
    return int(np.count_nonzero(lengths > _VANISHING * lengths[-1]))


def _of_unit_length(vectors: Float64Array) -> Float64Array:
    """Return vectors divided by their lengths; those of 0 stay."""
    largest = np.abs(vectors).max(axis=1, initial=0, keepdims=True)
    scaled = vectors / np.where(largest > 0, largest, 1)  # whose squares are in range
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(lengths > 0, lengths, 1))


def _sum_of_squares(bags: Bags) -> float:
    """Return what the objective is of vectors that are all 0; refuses texts without weights."""
    with np.errstate(over="ignore", under="ignore"):
        squares = float(np.square(bags.data, dtype=np.float64).sum())
    if not bags.data.any():
        raise ValueError("X must have words with weights other than 0; got none.")
    return squares


# Beside the estimators, which using them does not change: the words, the settings, the solver.
_SOLVERS: "WeakKeyDictionary[WTMF, tuple[Any, Any, Any]]" = WeakKeyDictionary()
