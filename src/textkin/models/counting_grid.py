"""The componential counting grid: a map of words, with documents spread over windows of it."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from textkin._typing import Float64Array, WordLookup
from textkin._validation import Constraint, check_params, integer, one_of, real
from textkin.explain import WordMap
from textkin.models._em import EmSettings, fold_in, maximise
from textkin.models._grid import GridFit, GridMixture, Windows
from textkin.models._model import BagModel, BagsLike, rounded_as
from textkin.models._starts import best_of_starts, lengths_of
from textkin.models._words import HasTopics, words_of_columns
from textkin.run import ProgressCallback, effective_jobs, memory_in_bytes
from textkin.run._memory import size_in_words

__all__ = ["CountingGrid"]

_SIDE = integer(1, 2**15)  # so that the cells of a grid can be numbered
_ALIKE = 0.05  # the part of its words in which a window differs from the mean of all


def _is_pair(value: Any) -> bool:  # noqa: ANN401 (whatever a parameter may be)
    return isinstance(value, tuple | list) and len(value) == 2


_SIDES = Constraint(
    lambda value: _SIDE.accepts(value) or (_is_pair(value) and all(map(_SIDE.accepts, value))),
    "(rows, columns), whole numbers at least 1 and at most 32768, or one such number for both",
    lambda value: _SIDE.wrong_type(value) and not isinstance(value, tuple | list),
)


class CountingGrid(HasTopics, BagModel):
    """Spread documents over a map of words, where what is alike lies close together.

    Parameters
    ----------
    shape : (int, int) or int, default=(16, 16)
        Rows and columns of the grid; one number is a square of so many by so many. Documents get
        a number for each cell: 256 with the default.
    window : (int, int) or int, default=(5, 5)
        Rows and columns of a window, at most those of the grid. The cells of the grid divided by
        those of a window are the number of topics that have room beside each other.
    topic_prior : float, default=1.0
        Parameter of a symmetric Dirichlet prior of the windows of a document, from 1 to 1e12. It
        adds (topic_prior - 1) * cells tokens to each; where that comes near to its own tokens, all
        windows become alike.
    word_prior : float, default=1.0
        Parameter of a symmetric Dirichlet prior of the words of a cell, from 1 to 1e12. 1 is
        maximum likelihood; 1.01 keeps every word in every cell.
    n_init : int, default=1
        Fits from different starts, of which that with the highest likelihood (and priors) is kept.
    max_iter : int, default=200
        Most steps of a fit.
    tol : float, default=1e-5
        Stop when a step gains less than this part of the (penalised) log-likelihood.
    fold_in_iter : int, default=100
        Most steps for the place of a document in `transform`.
    random_state : int, RandomState or None, default=None
        Where the fits start.
    memory : int or str, default="4GB"
        Most memory that `fit` may take, such as "512MB" or a number of bytes; what needs more is
        refused before any of it is taken.
    n_jobs : int or None, default=None
        Threads; any number gives the same bits.

    Attributes
    ----------
    grid_ : ndarray of shape (rows, columns, n_words), float64
        The distribution of words of each cell. It sums to 1; one of zeros is a cell that no token
        is left in.
    components_ : ndarray of shape (rows * columns, n_words), float64
        The topic of each window, which is the mean of its cells. Windows are numbered by the cell
        that they begin at, row by row, and go on to the right and down, over the edges.
    document_topics_ : ndarray of shape (n_documents, rows * columns), float64
        The part of each window in the documents of `fit`.
    cell_weights_ : ndarray of shape (rows, columns), float64
        The part of all tokens that a cell has.
    topic_weights_ : ndarray of shape (rows * columns,), float64
        The part of all tokens that a window has.
    log_likelihoods_ : list of float
        sum n(d, w) log P(w|d) before the first step and after each. It never falls, but for
        rounding, unless there are priors.
    objectives_ : list of float
        The same with the logarithms of the priors, which never falls.
    n_iter_ : int
        Steps of the fit that was kept.
    converged_ : bool
        Whether it stopped by itself.

    See Also
    --------
    PLSA : The same with topics that know nothing of each other: windows of one cell.

    Notes
    -----
    Cells i on a torus have distributions of words pi_i. The window W_l begins at l, and its topic
    is h_l = 1/|W| sum_{i in W_l} pi_i; so windows that overlap are alike. A token of a document
    comes from a window l with probability theta_l, and from any of its cells. A step of EM
    computes, for nonzero counts only ::

        q(l|d,w) ~ theta_dl h_lw,    n_lw = sum_d n(d,w) q(l|d,w),
        theta_dl ~ sum_w n(d,w) q(l|d,w) + b - 1,
        pi_iw ~ pi_iw sum_{l: i in W_l} n_lw / (|W| h_lw) + a - 1

    with `word_prior` a and `topic_prior` b. It starts from exponential noise: whatever all cells
    have in common, such as the distribution of the corpus, changes no q and little else. The sums
    over windows are made of sums of 1, 2, 4, ... cells, in double precision: as quick as cumulative
    sums, but no number is ever subtracted, so none is lost and none falls below 0.

    Cost: a step is one of `PLSA` with as many topics as cells, and some operations for each cell
    and word. A fit takes memory for about (3 documents + 5 words) * cells numbers in float64, the
    fitted model for (documents + 2 words) * cells.

    A new document is folded in: the grid stays, and theta is found from equal parts by the same
    steps. A word that `fit` never saw is ignored; an empty document, or one without known words,
    has all windows in equal parts. Precision and scale are as for `PLSA`.

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
        "topic_prior": real(1, 1e12),
        "word_prior": real(1, 1e12),
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
        topic_prior: float = 1.0,
        word_prior: float = 1.0,
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
        self.topic_prior = topic_prior
        self.word_prior = word_prior
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.fold_in_iter = fold_in_iter
        self.random_state = random_state
        self.memory = memory
        self.n_jobs = n_jobs

    def fit(
        self, X: BagsLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Find the words of the cells.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags: counts, or other weights of at least 0.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (steps done, most steps) after each; raising from it stops the work.

        Returns
        -------
        CountingGrid
            The estimator itself.

        Raises
        ------
        ValueError
            If it would take more than `memory`.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If `max_iter` steps were not enough.
        UserWarning
            If the priors are so strong that all windows have the same words.
        """
        check_params(self)
        windows = self._windows()
        bags = self._bags_to_fit(X)
        lengths = lengths_of(bags)
        self._check_memory(bags.shape, windows)
        random = check_random_state(self.random_state)
        settings = self._settings()

        def fit(report: Callable[[], object]) -> GridFit:
            mixture = GridMixture(bags, settings, random, windows)
            found = maximise(mixture, report)
            return GridFit(found, mixture.cell_probabilities(), mixture.cell_tokens())

        best = best_of_starts(fit, n_init=self.n_init, max_iter=self.max_iter, progress=progress)
        found = best.mixture
        self.grid_ = best.cells
        self.components_ = found.words
        self.document_topics_ = found.topics
        self.cell_weights_ = best.tokens
        self.topic_weights_ = lengths / lengths.sum() @ found.topics
        self.log_likelihoods_ = found.log_likelihoods
        self.objectives_ = found.objectives
        self.n_iter_ = found.n_iter
        self.converged_ = found.converged
        if self._has_collapsed():
            warnings.warn(
                f"The map has collapsed: all windows have the same words, since word_prior="
                f"{self.word_prior:g} and topic_prior={self.topic_prior:g} are too strong for "
                "these documents. Lower them; 1 is none.",
                UserWarning,
                stacklevel=3,
            )
        elif not found.converged:
            warnings.warn(
                f"CountingGrid did not converge in {found.n_iter} steps; raise max_iter, or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def transform(self, X: BagsLike, *, progress: ProgressCallback | None = None) -> Float64Array:
        """Return the part of each window in documents, which are folded in one by one.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags: counts, or other weights of at least 0.
        progress : callable, optional
            Called with (documents done, all); raising from it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, rows * columns)
            Rows that sum to 1. float32, or float64 if `X` is.
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
        words: WordLookup | Mapping[str, int] | Sequence[str] | None = None,
        *,
        n_words: int = 3,
    ) -> WordMap:
        """Return the grid as a map: the most probable words of each cell.

        Parameters
        ----------
        words : Vocabulary, vectoriser, mapping, sequence of str or None, default=None
            The word of each column, as for `topics`.
        n_words : int, default=3
            Words of each cell.

        Returns
        -------
        WordMap
            Draws itself as text, SVG or HTML.
        """
        names = words_of_columns(self, words)
        return WordMap.of(self.grid_, names, weights=self.cell_weights_, n_words=n_words)

    def _windows(self) -> Windows:
        windows = Windows(_both(self.shape), _both(self.window))
        for side, name in enumerate(("rows", "columns")):
            if windows.window[side] > windows.shape[side]:
                raise ValueError(
                    f"window must have at most the {windows.shape[side]} {name} of the grid; got "
                    f"{windows.window[side]}. Make the window smaller, or the shape larger."
                )
        return windows

    def _has_collapsed(self) -> bool:
        """Whether priors have made all windows alike, in all but a few of their words."""
        if max(self.word_prior, self.topic_prior) <= 1 or _both(self.window) == _both(self.shape):
            return False
        mean = self.components_.mean(axis=0)
        # Row by row: there may be as many as memory holds.
        return all(np.abs(row - mean).sum() < 2 * _ALIKE for row in self.components_)

    def _check_memory(self, shape: tuple[int, int], windows: Windows) -> None:
        """Refuse a fit whose tables would not fit, before there are any."""
        n_documents, n_words = shape
        best = self.n_init > 1  # which is kept beside the fit in hand
        needed = 8 * windows.size * ((3 + best) * n_documents + (5 + 2 * best) * n_words)
        if needed > memory_in_bytes(self.memory):
            rows, columns = windows.shape
            raise ValueError(
                f"{n_documents} documents of {n_words} words on a grid of {rows} x {columns} cells "
                f"take about {size_in_words(needed)}, more than memory={self.memory!r}. Make the "
                "shape smaller, drop rare words, or raise memory=."
            )

    def _settings(self) -> EmSettings:
        rows, columns = _both(self.shape)
        return EmSettings(
            rows * columns,
            float(self.word_prior) - 1,
            float(self.topic_prior) - 1,
            self.max_iter,
            float(self.tol),
            effective_jobs(self.n_jobs),
        )

    def _check_loaded(self) -> None:
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
    """Return rows and columns, of which one number stands for both."""
    rows, columns = sides if isinstance(sides, tuple | list) else (sides, sides)
    return int(rows), int(columns)
