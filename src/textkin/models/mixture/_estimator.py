"""Base class of both mixtures, with the interface of scikit-learn's mixtures."""

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from textkin._base import (
    DEVICE,
    BoolArray,
    Constraint,
    Float64Array,
    IntpArray,
    SavedEstimator,
    check_params,
    integer,
    one_of,
    real,
    rollback_on_error,
)
from textkin.device import memory_errors_on
from textkin.exceptions import ParameterError
from textkin.models._random_restarts import best_of_starts
from textkin.models.mixture._em import Family, Fit, Logits, MixtureBackend, maximize
from textkin.models.mixture._em_core import posteriors
from textkin.models.mixture._initialization import LLOYD_STEPS, choose_seeds, run_k_means
from textkin.run import ProgressCallback, effective_jobs, single_blas_thread

__all__ = ["CONSTRAINTS", "RowMixture"]

# A fixed memory order, because the bits of sums along rows depend on it.
_ROWS: dict[str, Any] = {"dtype": [np.float64, np.float32], "order": "C"}


CONSTRAINTS: dict[str, Constraint] = {
    "n_components": integer(1),
    "hard": one_of(True, False),
    "init_params": one_of("k-means++"),
    "means_init": one_of(None)
    | Constraint(lambda value: not isinstance(value, str), "an array of means"),
    "n_init": integer(1),
    "max_iter": integer(1),
    "tol": real(0),
    "n_jobs": one_of(None) | integer(),
    "device": DEVICE,
}


class RowMixture(SavedEstimator, DensityMixin, BaseEstimator):
    """Base class of mixture models over dense rows, with the methods of scikit-learn."""

    n_components: int
    hard: bool
    init_params: Literal["k-means++"]
    means_init: ArrayLike | None
    n_init: int
    max_iter: int
    tol: float
    random_state: int | RandomState | None
    n_jobs: int | None
    device: str | None
    weights_: Float64Array
    means_: Float64Array
    n_iter_: int
    converged_: bool

    @rollback_on_error
    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Self:
        """Fit the mixture to rows by EM.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Dense rows, such as word vectors.
        y : object, optional
            Ignored.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row, at least 0; a row of weight 2 counts like two rows. For a
            vocabulary, pass word counts to fit the mixture to the tokens.
        progress : callable, optional
            Called with (steps done, maximum number of steps) after each step. An exception raised
            in it stops the work.

        Returns
        -------
        estimator
            The estimator itself.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If the fit did not converge in `max_iter` steps.
        """
        self._fit(X, sample_weight, progress)
        self._warn_convergence(stacklevel=4)  # points to the caller of the decorated method
        return self

    @rollback_on_error
    def fit_predict(
        self,
        X: ArrayLike,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> IntpArray:
        """Fit the mixture, and return the most probable component of each row.

        Parameters
        ----------
        X, y, sample_weight, progress
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows,), int64
            Component of each row, as returned by `predict` after `fit`.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # issued below, for the caller
            self.fit(X, y, sample_weight, progress=progress)
        self._warn_convergence(stacklevel=4)
        return self.predict(X)

    def predict(self, X: ArrayLike, *, progress: ProgressCallback | None = None) -> IntpArray:
        """Return the most probable component of each row; ties go to the lowest index.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Dense rows.
        progress : callable, optional
            Called with (rows done, total). An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n_rows,), int64
            Index of a component for each row.
        """
        return np.asarray(self._posteriors(X, progress)[1].argmax(axis=1), dtype=np.intp)

    def predict_proba(
        self, X: ArrayLike, *, progress: ProgressCallback | None = None
    ) -> Float64Array:
        """Return the posterior probability of each component, per row.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Dense rows.
        progress : callable, optional
            Called with (rows done, total). An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n_rows, n_components), float64
            Rows sum to 1; they are soft even for hard EM. For a row of zeros in a mixture of
            directions, they are the weights of the components.
        """
        return self._posteriors(X, progress)[1]

    def score_samples(
        self, X: ArrayLike, *, progress: ProgressCallback | None = None
    ) -> Float64Array:
        """Return the log-likelihood of each row.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Dense rows.
        progress : callable, optional
            Called with (rows done, total). An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n_rows,), float64
            log p(x); higher is better.

        Raises
        ------
        ValueError
            If a row is zero and the mixture is over directions.
        """
        logs = self._posteriors(X, progress)[0]
        wrong = np.flatnonzero(np.isnan(logs))
        if wrong.size:
            raise ParameterError(
                "X", "rows with a direction", f"zeros in row {wrong[0]}", "Remove such rows."
            )
        return logs

    def score(
        self,
        X: ArrayLike,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> float:
        """Return the (weighted) mean log-likelihood of rows.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Dense rows, at least one.
        y : object, optional
            Ignored.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row.
        progress : callable, optional
            Called with (rows done, total). An exception raised in it stops the work.

        Returns
        -------
        float
            Mean log-likelihood; higher is better.
        """
        logs = self.score_samples(X, progress=progress)
        if not logs.size:
            raise ValueError("X must have at least one row; got none.")
        weights = _check_weights(sample_weight, len(logs))
        return float(np.average(logs, weights=weights))

    def aic(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return Akaike's information criterion for rows; lower is better.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Dense rows, at least one.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row.

        Returns
        -------
        float
            ``2 p - 2 log L`` with p free parameters; lower is better.

        References
        ----------
        H. Akaike. A New Look at the Statistical Model Identification. IEEE Transactions on
        Automatic Control 19, 1974.

        Examples
        --------
        >>> from textkin.models import DiagonalGaussianMixture
        >>> rows = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
        >>> fits = [DiagonalGaussianMixture(k, random_state=0).fit(rows) for k in (1, 2)]
        >>> fits[1].aic(rows) < fits[0].aic(rows)
        True
        """
        total, _ = self._log_likelihood(X, sample_weight)
        return 2 * self._n_parameters() - 2 * total

    def bic(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the Bayesian information criterion for rows; lower is better.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Dense rows, at least one.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row.

        Returns
        -------
        float
            ``p log n - 2 log L`` with p free parameters and n the sum of the weights; lower is
            better. The criterion penalizes parameters more than `aic` for n of at least 8.

        References
        ----------
        G. Schwarz. Estimating the Dimension of a Model. Annals of Statistics 6, 1978.
        """
        total, size = self._log_likelihood(X, sample_weight)
        return self._n_parameters() * math.log(size) - 2 * total

    def _log_likelihood(self, X: ArrayLike, sample_weight: ArrayLike | None) -> tuple[float, float]:
        """Return the weighted sum of the rows' log-likelihoods, and the sum of weights."""
        logs = self.score_samples(X)
        if not logs.size:
            raise ValueError("X must have at least one row; got none.")
        weights = np.ones(len(logs))
        if sample_weight is not None:
            _check_weights(sample_weight, len(logs))
            weights = np.asarray(sample_weight, dtype=np.float64)
        return float(logs @ weights), float(weights.sum())

    @abstractmethod
    def _n_parameters(self) -> int:
        """Return the number of free parameters of the mixture."""

    def sample(
        self, n_samples: int = 1, *, random_state: int | RandomState | None = None
    ) -> tuple[Float64Array, IntpArray]:
        """Sample random rows, and the component of each, from the fitted mixture.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        random_state : int, RandomState or None, default=None
            Random seed. If None, the `random_state` of the estimator; if that is an integer,
            every call returns the same rows.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features), float64
            Sampled rows, ordered by component, as in scikit-learn.
        components : ndarray of shape (n_samples,), int64
            Component of each row.
        """
        check_is_fitted(self)
        integer(1).check("n_samples", n_samples)
        random = check_random_state(self.random_state if random_state is None else random_state)
        sizes = random.multinomial(n_samples, self.weights_ / self.weights_.sum())
        components = np.repeat(np.arange(len(sizes)), sizes)
        return self._sample_components(components, random), components

    def _fit(
        self, X: ArrayLike, sample_weight: ArrayLike | None, progress: ProgressCallback | None
    ) -> None:
        check_params(self)
        values = validate_data(self, X, **_ROWS)
        weights = _check_weights(sample_weight, len(values))
        with memory_errors_on(self.device, "Free some"):
            self._fit_rows(*self._prepare_fit(values, weights), progress)

    def _fit_rows(
        self, family: Family[Any], rows: MixtureBackend, progress: ProgressCallback | None
    ) -> None:
        if self.n_components > rows.n_rows:
            raise ParameterError(
                "n_components",
                f"at most the number of rows with weight, n_samples = {rows.n_rows}",
                f"n_components = {self.n_components}",
            )
        random = check_random_state(self.random_state)
        threads = effective_jobs(self.n_jobs)
        means = None if self.means_init is None else self._given_means(self.means_init, family)

        def fit(report: Callable[[], object]) -> Fit:
            seeds = choose_seeds(rows, self.n_components, random) if means is None else means
            steps = LLOYD_STEPS if means is None else 0
            return maximize(
                family,
                run_k_means(family, seeds, rows, steps=steps, threads=threads),
                rows,
                hard=bool(self.hard),
                max_iter=self.max_iter,
                tol=float(self.tol),
                threads=threads,
                report=report,
            )

        starts = self.n_init if means is None else 1
        with single_blas_thread:
            best = best_of_starts(fit, n_init=starts, max_iter=self.max_iter, progress=progress)
        self._set_parameters(family, best.model)
        self.log_likelihoods_ = best.log_likelihoods
        self.lower_bound_ = best.log_likelihoods[-1]
        self.n_reseeded_ = best.n_reseeded
        self.n_iter_ = best.n_iter
        self.converged_ = best.converged

    def _warn_convergence(self, stacklevel: int) -> None:
        if not self.converged_:
            warnings.warn(
                f"{type(self).__name__} did not converge in {self.n_iter_} steps. Raise max_iter "
                "or tol.",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )

    def _given_means(self, given: ArrayLike, family: Any) -> Float64Array:  # noqa: ANN401
        shape = (self.n_components, self.n_features_in_)
        wanted = (
            f"means_init must be None or finite means of shape (n_components, n_features) = {shape}"
        )
        try:
            means = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{wanted}; got a {type(given).__name__} ({error}).") from error
        if means.shape != shape or not np.isfinite(means).all():
            raise ValueError(f"{wanted}; got an array of shape {means.shape}.")
        return self._transform_means(means, family)

    def _posteriors(
        self, X: ArrayLike, progress: ProgressCallback | None
    ) -> tuple[Float64Array, Float64Array]:
        check_is_fitted(self)
        values = validate_data(self, X, reset=False, ensure_min_samples=0, **_ROWS)
        placed, logits, known = self._prepare_rows(values.astype(np.float64))
        logs, found = posteriors(placed, logits, progress)
        logs[~known] = np.nan
        found[~known] = self.weights_
        return logs, found

    def _check_arrays(self, **shapes: tuple[int, ...]) -> None:
        """Raise if an array from a saved folder has a wrong shape, dtype, or value."""
        for name, shape in shapes.items():
            array = np.asarray(getattr(self, name))
            if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
                raise ValueError(f"{name} must hold finite numbers in the shape {shape}")
        if self.weights_.min() <= 0 or abs(self.weights_.sum() - 1) > 1e-6:
            raise ValueError("weights_ must be above 0 and sum to 1")

    @abstractmethod
    def _prepare_fit(
        self, values: NDArray[Any], weights: Float64Array
    ) -> tuple[Family[Any], MixtureBackend]:
        """Return the component family, and the rows converted to its coordinates."""

    @abstractmethod
    def _transform_means(self, means: Float64Array, family: Any) -> Float64Array:  # noqa: ANN401
        """Convert given initial means to the coordinates of the family."""

    @abstractmethod
    def _set_parameters(self, family: Any, model: Any) -> None:  # noqa: ANN401
        """Set the fitted attributes from the parameters that EM found."""

    @abstractmethod
    def _prepare_rows(self, values: Float64Array) -> tuple[Float64Array, Logits, BoolArray]:
        """Return converted rows, the fitted log-density coefficients, and a row mask.

        The third result is a mask of the rows that have a direction, or of all rows.
        """

    @abstractmethod
    def _sample_components(self, components: IntpArray, random: RandomState) -> Float64Array:
        """Sample a random row from each of the given components."""


def _check_weights(weights: ArrayLike | None, n_rows: int) -> Float64Array:
    """Return validated sample weights: finite, at least 0, and not all 0."""
    if weights is None:
        return np.ones(n_rows)
    checked = np.asarray(weights, dtype=np.float64)
    if checked.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one number for each of the {n_rows} rows; got an array of "
            f"shape {checked.shape}."
        )
    if not (np.isfinite(checked).all() and (checked >= 0).all() and (checked > 0).any()):
        raise ParameterError(
            "sample_weight",
            "finite and at least 0, and not zero for all rows",
            f"weights from {checked.min()} to {checked.max()}",
        )
    return np.asarray(checked / checked.max())
