"""`CountingGrid`: topic model on a grid, in which each document is a mixture of windows."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from textkin import _core
from textkin._base import (
    Bags,
    BagsLike,
    Constraint,
    Float64Array,
    WordLookup,
    check_params,
    integer,
    one_of,
    real,
    rollback_on_error,
)
from textkin.explain import WordMap
from textkin.models._arrays import table_of
from textkin.models._feature_names import HasTopics, names_of_columns
from textkin.models._random_restarts import best_of_starts
from textkin.models._vector_model import BagModel, rounded_as
from textkin.models.topics._em import (
    EMFit,
    EMProblem,
    EMSettings,
    EMStart,
    document_lengths,
    draw_start,
    log_of,
    maximize,
    words_in,
)
from textkin.models.topics._em_core import CoreEM, fold_in
from textkin.run import ProgressCallback, effective_jobs, format_size, memory_in_bytes

__all__ = ["CountingGrid", "GridEM", "Windows"]

_SIDE = integer(1, 2**15)  # the number of cells must fit in 32 bits
_ALIKE = 0.05  # fraction of words by which collapsed windows may differ from their mean


def _is_pair(value: Any) -> bool:  # noqa: ANN401 (any parameter)
    return isinstance(value, tuple | list) and len(value) == 2


_SIDES = Constraint(
    lambda value: _SIDE.accepts(value) or (_is_pair(value) and all(map(_SIDE.accepts, value))),
    "(rows, columns), integers at least 1 and at most 32768, or one such integer for both",
    lambda value: _SIDE.wrong_type(value) and not isinstance(value, tuple | list),
)


class CountingGrid(HasTopics, BagModel):
    """Topic model on a torus of cells with word distributions; documents mix windows of cells.

    Parameters
    ----------
    shape : (int, int) or int, default=(16, 16)
        Rows and columns of the grid; a single integer is both. A document vector has one number
        per cell: 256 with the default.
    window : (int, int) or int, default=(5, 5)
        Rows and columns of a window, at most the rows and columns of the grid. The cells of the
        grid divided by the cells of a window are the number of topics without overlap.
    doc_topic_prior : float, default=1.0
        Parameter of a symmetric Dirichlet prior of the windows of a document, from 1 to 1e12. It
        adds (doc_topic_prior - 1) * cells tokens to each document. If that is close to the
        document's own number of tokens, all windows become the same.
    topic_word_prior : float, default=1.0
        Parameter of a symmetric Dirichlet prior of the words of a cell, from 1 to 1e12. 1 is
        maximum likelihood; 1.01 keeps every word in every cell.
    n_init : int, default=1
        Number of fits with different initializations; the fit with the highest likelihood
        (including priors) is kept.
    max_iter : int, default=200
        Maximum number of steps per fit.
    tol : float, default=1e-5
        Relative gain in the (penalized) log-likelihood below which a fit stops.
    fold_in_iter : int, default=100
        Maximum number of steps per document in `transform`.
    random_state : int, RandomState or None, default=None
        Seed of the initializations.
    memory : int or str, default="4GB"
        Maximum memory of `fit`, such as "512MB" or a number of bytes. If the fit needs more, it
        raises before allocating anything.
    n_jobs : int or None, default=None
        Number of threads. Results are bit-identical for any number.

    Attributes
    ----------
    grid_ : ndarray of shape (rows, columns, n_words), float64
        Word distribution of each cell. It sums to 1, or is zero if the cell has no tokens left.
    components_ : ndarray of shape (rows * columns, n_words), float64
        Topic of each window: the mean of its cells. A window has the number of its top left cell,
        counted row by row; it extends to the right and down, and wraps around the edges.
    document_topics_ : ndarray of shape (n_documents, rows * columns), float64
        Share of each window in the documents of `fit`.
    cell_weights_ : ndarray of shape (rows, columns), float64
        Share of all tokens in each cell.
    topic_weights_ : ndarray of shape (rows * columns,), float64
        Share of all tokens in each window.
    log_likelihoods_ : list of float
        sum n(d, w) log P(w|d) before the first step and after each step. It never falls, except
        for rounding, unless there are priors.
    objectives_ : list of float
        Log-likelihoods plus the logarithms of the priors. They never fall.
    n_iter_ : int
        Number of steps of the best fit.
    converged_ : bool
        True if the best fit stopped before `max_iter`.

    See Also
    --------
    PLSA : Topics without a neighborhood, like windows of one cell.

    Notes
    -----
    Cells i on a torus have distributions of words pi_i. The window W_l starts at l, and its topic
    is ``h_l = 1/|W| sum_{i in W_l} pi_i``; windows that overlap are therefore similar. A token of
    a document comes from a window l with probability theta_l, and from each of its cells with
    equal probability. An EM step computes, for nonzero counts only ::

        q(l|d,w) ~ theta_dl h_lw,    n_lw = sum_d n(d,w) q(l|d,w),
        theta_dl ~ sum_w n(d,w) q(l|d,w) + b - 1,
        pi_iw ~ pi_iw sum_{l: i in W_l} n_lw / (|W| h_lw) + a - 1

    with `topic_word_prior` a and `doc_topic_prior` b. EM starts from exponential noise: any part
    that all cells share, such as the distribution of the corpus, leaves q unchanged and has almost
    no effect. Sums over windows are computed from sums of 1, 2, 4, ... cells, in double precision.
    This is as fast as cumulative sums, but nothing is ever subtracted, so no digits are lost and
    no number falls below 0.

    Cost: a step costs as much as a step of `PLSA` with one topic per cell, plus some operations
    per cell and word. A fit needs memory for about (3 documents + 5 words) * cells numbers in
    float64, the fitted model for (documents + 2 words) * cells.

    `transform` infers theta of a new document by the same steps from equal theta, with the grid
    fixed. A word that `fit` never saw is ignored; an empty document, or a document without known
    words, gets equal shares of all windows. Precision and scale are as for `PLSA`.

    References
    ----------
    Perina, Jojic, Bicego and Truski, "Documents as Multiple Overlapping Windows into a Grid of
    Counts", NIPS 2013. Jojic and Perina, "Multidimensional Counting Grids", UAI 2011.

    Examples
    --------
    >>> bags = [[4, 3, 0, 0], [5, 4, 0, 0], [0, 0, 3, 4], [0, 0, 5, 4]]
    >>> grid = CountingGrid((4, 4), window=(2, 2), random_state=0).fit(bags)
    >>> places = grid.transform([[6, 0, 0, 0], [0, 3, 0, 0], [0, 0, 2, 1]])
    >>> places.shape
    (3, 16)
    >>> bool(places[0] @ places[1] > places[0] @ places[2])
    True
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "shape": _SIDES,
        "window": _SIDES,
        "doc_topic_prior": real(1, 1e12),
        "topic_word_prior": real(1, 1e12),
        "n_init": integer(1),
        "max_iter": integer(1),
        "tol": real(0),
        "fold_in_iter": integer(1, 2**31 - 1),
        "n_jobs": one_of(None) | integer(),
    }

    def __init__(
        self,
        shape: tuple[int, int] | int = (16, 16),
        *,
        window: tuple[int, int] | int = (5, 5),
        doc_topic_prior: float = 1.0,
        topic_word_prior: float = 1.0,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-5,
        fold_in_iter: int = 100,
        random_state: int | RandomState | None = None,
        memory: str | int = "4GB",
        n_jobs: int | None = None,
    ) -> None:
        self.shape = shape
        self.window = window
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.fold_in_iter = fold_in_iter
        self.random_state = random_state
        self.memory = memory
        self.n_jobs = n_jobs

    @rollback_on_error
    def fit(
        self, X: BagsLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Learn the word distribution of each cell by EM.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags: counts, or other weights, at least 0.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (steps done, maximum number of steps) after each step. An exception raised
            in it stops the work.

        Returns
        -------
        CountingGrid
            The estimator itself.

        Raises
        ------
        ValueError
            If the fit needs more than `memory`.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If the fit did not converge in `max_iter` steps.
        UserWarning
            If the priors are so strong that all windows have the same words.
        """
        check_params(self)
        windows = self._windows()
        bags = self._bags_to_fit(X)
        lengths = document_lengths(bags)
        self._check_memory(bags.shape, windows)
        random = check_random_state(self.random_state)
        settings = self._settings()

        def fit(report: Callable[[], object]) -> GridFit:
            problem = EMProblem.of_bags(settings, bags)
            backend = GridEM(bags, problem, draw_start(bags, problem, random), windows)
            found = maximize(backend, report)
            return GridFit(found, backend.cell_words(), backend.cell_tokens())

        best = best_of_starts(fit, n_init=self.n_init, max_iter=self.max_iter, progress=progress)
        found = best.found
        self.grid_ = best.cells
        self.components_ = found.word_topics
        self.document_topics_ = found.document_topics
        self.cell_weights_ = best.tokens
        self.topic_weights_ = lengths / lengths.sum() @ found.document_topics
        self.log_likelihoods_ = found.log_likelihoods
        self.objectives_ = found.objectives
        self.n_iter_ = found.n_iter
        self.converged_ = found.converged
        if self._has_collapsed():
            warnings.warn(
                "The map has collapsed: all windows have the same words, since "
                f"topic_word_prior={self.topic_word_prior:g} and "
                f"doc_topic_prior={self.doc_topic_prior:g} are too strong for these documents. "
                "Lower them; a prior of 1 has no effect.",
                UserWarning,
                stacklevel=3,
            )
        elif not found.converged:
            warnings.warn(
                f"CountingGrid did not converge in {found.n_iter} steps. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def transform(self, X: BagsLike, *, progress: ProgressCallback | None = None) -> Float64Array:
        """Infer the share of each window in a document, for each document independently.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags: counts, or other weights, at least 0.
        progress : callable, optional
            Called with (documents done, total). An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, rows * columns)
            Rows that sum to 1; float32, or float64 if `X` is float64.
        """
        bags = self._bags_to_transform(X)
        found = fold_in(
            bags,
            self.components_,
            1.0,
            self._settings(),
            steps=self.fold_in_iter,
            tolerance=1e-7,
            progress=progress,
        )
        return rounded_as(bags, found)

    def _topics(self) -> tuple[Float64Array, Float64Array]:
        return self.components_, self.topic_weights_

    def word_map(
        self,
        feature_names: WordLookup | Mapping[str, int] | Sequence[str] | None = None,
        *,
        n_words: int = 3,
    ) -> WordMap:
        """Return the grid as a `WordMap` with the most probable words of each cell.

        Parameters
        ----------
        feature_names : Vocabulary, vectorizer, mapping, sequence of str or None, default=None
            Word of each column, as for `topics`.
        n_words : int, default=3
            Number of words per cell.

        Returns
        -------
        WordMap
            Map with methods to draw it as text, SVG, or HTML.
        """
        names = names_of_columns(self, feature_names)
        return WordMap.of(self.grid_, names, weights=self.cell_weights_, n_words=n_words)

    def _windows(self) -> "Windows":
        windows = Windows(_both(self.shape), _both(self.window))
        for side, name in enumerate(("rows", "columns")):
            if windows.window[side] > windows.shape[side]:
                raise ValueError(
                    f"window must have at most the {windows.shape[side]} {name} of the grid; got "
                    f"{windows.window[side]}. Make the window smaller, or the shape larger."
                )
        return windows

    def _has_collapsed(self) -> bool:
        """Return True if the priors made the word distributions of all windows alike."""
        if max(self.topic_word_prior, self.doc_topic_prior) <= 1 or _both(self.window) == _both(
            self.shape
        ):
            return False
        mean = self.components_.mean(axis=0)
        # Row by row, since the components may fill most of the memory.
        return all(np.abs(row - mean).sum() < 2 * _ALIKE for row in self.components_)

    def _check_memory(self, shape: tuple[int, int], windows: "Windows") -> None:
        """Raise ValueError if arrays of the fit would exceed `memory`, before allocation."""
        n_documents, n_words = shape
        best = self.n_init > 1  # a second fit in memory: the best one until now
        needed = 8 * windows.size * ((3 + best) * n_documents + (5 + 2 * best) * n_words)
        if needed > memory_in_bytes(self.memory):
            rows, columns = windows.shape
            raise ValueError(
                f"{n_documents} documents of {n_words} words on a grid of {rows} x {columns} cells "
                f"need about {format_size(needed)}, more than memory={self.memory!r}. Make the "
                "shape smaller, drop rare words, or raise memory=."
            )

    def _settings(self) -> EMSettings:
        rows, columns = _both(self.shape)
        return EMSettings(
            rows * columns,
            float(self.topic_word_prior) - 1,
            float(self.doc_topic_prior) - 1,
            self.max_iter,
            float(self.tol),
            effective_jobs(self.n_jobs),
        )

    def _check_loaded(self) -> None:
        memory_in_bytes(self.memory)
        windows = self._windows()
        self._check_shapes(
            grid_=(*windows.shape, self.n_features_in_),
            components_=(windows.size, self.n_features_in_),
            document_topics_=(len(self.document_topics_), windows.size),
            cell_weights_=windows.shape,
            topic_weights_=(windows.size,),
        )
        least = min(
            array.min()
            for array in (self.grid_, self.components_, self.cell_weights_, self.topic_weights_)
        )
        if least < 0:
            raise ValueError("probabilities must not be negative")


def _both(sides: tuple[int, int] | int) -> tuple[int, int]:
    """Return (rows, columns) as integers; one integer stands for both."""
    rows, columns = sides if isinstance(sides, tuple | list) else (sides, sides)
    return int(rows), int(columns)


@dataclass(frozen=True, slots=True)
class Windows:
    """Shape of the torus of cells, and of the windows; a window starts at each cell."""

    shape: tuple[int, int]
    window: tuple[int, int]

    @property
    def size(self) -> int:
        """Number of cells, which is also the number of windows."""
        return self.shape[0] * self.shape[1]


@dataclass(frozen=True, slots=True)
class GridFit:
    """Result of a counting-grid fit: EM result, word distributions, and tokens of cells."""

    found: EMFit
    cells: Float64Array  # (rows, columns, n_words)
    tokens: Float64Array  # (rows, columns), sums to 1

    @property
    def score(self) -> float:
        """Score by which the best of several random initializations is chosen; higher is better."""
        return self.found.score


class GridEM:
    """EM back end of the counting grid, whose topics are windows of cells.

    To the core, a window is a topic. An EM step computes expected counts of the windows. They are
    divided among the cells, and the next step starts with the means of the cells of each window.
    """

    def __init__(self, bags: Bags, problem: EMProblem, start: EMStart, windows: Windows) -> None:
        self.problem, self._windows = problem, windows
        self._seen = words_in(bags)
        # The prior applies to the words of cells, not of windows.
        of_windows = replace(problem, settings=replace(problem.settings, topic_word_prior=0.0))
        self._core = CoreEM(bags, of_windows, start)
        self._cells, self._cell_scale = self._core.words, self._core.scale
        self._tokens = np.zeros(windows.size)
        self._core.words = table_of(np.zeros((bags.shape[1], windows.size)), problem.dtype)
        self._average_cells()

    def step(self) -> float:
        """Run one EM step, and return the log-likelihood of the model before the step."""
        found = self._core.step()
        settings = self.problem.settings
        _core.renew_cells(
            self._cells,
            self._cell_scale,
            self._core.words,
            self._tokens,
            self._windows.shape,
            self._windows.window,
            settings.topic_word_prior,
            self.problem.least,
            settings.jobs,
        )
        self._average_cells()
        return found

    def log_likelihood(self) -> tuple[float, float]:
        """Return the log-likelihood of the documents, and how many tokens have P(w|d) = 0."""
        return self._core.log_likelihood()

    def log_prior(self) -> float:
        """Return the log prior density of the current P(w|z) and P(z|d), up to a constant."""
        total, settings = 0.0, self.problem.settings
        if settings.topic_word_prior > 0:
            cells = self._cells[self._seen, : settings.n_components] * self._cell_scale
            total += settings.topic_word_prior * float(log_of(cells).sum())
        return total + self._core.log_prior()

    def word_topics(self) -> Float64Array:
        """Return the word distribution P(w|z) of each window."""
        return self._core.word_topics()

    def document_topics(self) -> Float64Array:
        """Return the share P(z|d) of each window in each document."""
        return self._core.document_topics()

    def cell_words(self) -> Float64Array:
        """Return the word distribution of each cell as an array (rows, columns, n_words)."""
        cells = np.ascontiguousarray((self._cells[:, : self._windows.size] * self._cell_scale).T)
        return cells.reshape(*self._windows.shape, -1)

    def cell_tokens(self) -> Float64Array:
        """Return each cell's share of all tokens as an array (rows, columns)."""
        tokens = self._tokens / self._tokens.sum()
        return np.asarray(tokens.reshape(self._windows.shape))

    def _average_cells(self) -> None:
        """Set the word distribution of each window to the mean of its cells."""
        self._core.scale = np.ones(self._windows.size)
        _core.window_means(
            self._cells,
            self._cell_scale,
            self._core.words,
            self._windows.shape,
            self._windows.window,
            self.problem.settings.jobs,
        )
