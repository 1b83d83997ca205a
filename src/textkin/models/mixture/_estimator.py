"""What both mixtures share: the face of scikit-learn's mixtures, over one fit by EM."""

import warnings
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from textkin._saving import SavedEstimator
from textkin._typing import BoolArray, Float64Array, IntpArray
from textkin._validation import Constraint, check_params, integer, one_of, real
from textkin.distance._blocks import one_thread_of_blas
from textkin.models._devices import DEVICE, working_on
from textkin.models._starts import best_of_starts
from textkin.models.mixture._em import AnyRows, Family, Fit, Logits, maximise, posteriors
from textkin.models.mixture._starts import LLOYD_STEPS, far_rows, started
from textkin.run import ProgressCallback, effective_jobs

__all__ = ["CONSTRAINTS", "Init", "RowMixture"]

Init: TypeAlias = str | ArrayLike

# In one order, since the bits of sums along rows depend on it.
_ROWS: dict[str, Any] = {"dtype": [np.float64, np.float32], "order": "C"}


CONSTRAINTS: dict[str, Constraint] = {
    "n_components": integer(1),
    "hard": one_of(True, False),
    "init": one_of("k-means++")
    | Constraint(lambda value: not isinstance(value, str), "an array of means"),
    "n_init": integer(1),
    "max_iter": integer(1),
    "tol": real(0),
    "n_jobs": one_of(None) | integer(),
    "device": DEVICE,
}


class RowMixture(SavedEstimator, DensityMixin, BaseEstimator):
    """A mixture over dense rows; a subclass brings the family of its components."""

    n_components: int
    hard: bool
    init: Init
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

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Self:
        """Find the components.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Dense rows, such as the vectors of words.
        y : object, optional
            Ignored.
        sample_weight : array of shape (n_rows,), optional
            How much each row counts, at least 0; a row of weight 2 counts like two rows. The
            number of times that words occur weighs a vocabulary like its tokens.
        progress : callable, optional
            Called with (steps done, most steps) after each; raising from it stops the work.

        Returns
        -------
        estimator
            The estimator itself.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If `max_iter` steps were not enough.
        """
        self._fit(X, sample_weight, progress)
        self._tell_convergence(stacklevel=4)  # beyond what makes a fit whole or nothing
        return self

    def fit_predict(
        self,
        X: ArrayLike,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> IntpArray:
        """Find the components, and return the one of each row.

        Parameters
        ----------
        X, y, sample_weight, progress
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows,), int64
            As `predict` gives them after `fit`.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # told below, to the caller
            self.fit(X, y, sample_weight, progress=progress)
        self._tell_convergence(stacklevel=3)
        return self.predict(X)

    def predict(self, X: ArrayLike) -> IntpArray:
        """Return the component of each row that has most of it, the first of equals.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Dense rows.

        Returns
        -------
        ndarray of shape (n_rows,), int64
            Numbers of components.
        """
        return np.asarray(self._posteriors(X)[1].argmax(axis=1), dtype=np.intp)

    def predict_proba(self, X: ArrayLike) -> Float64Array:
        """Return the part of each row that each component has: the posteriors gamma.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Dense rows.

        Returns
        -------
        ndarray of shape (n_rows, n_components), float64
            Rows sum to 1; soft for hard EM too. Of a row that tells nothing (zeros, where only
            directions count) they are the weights of the components.
        """
        return self._posteriors(X)[1]

    def score_samples(self, X: ArrayLike) -> Float64Array:
        """Return the log-likelihood of each row.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Dense rows.

        Returns
        -------
        ndarray of shape (n_rows,), float64
            log p(x); larger fits better.

        Raises
        ------
        ValueError
            If a row tells nothing (zeros, where only directions count).
        """
        logs = self._posteriors(X)[0]
        wrong = np.flatnonzero(np.isnan(logs))
        if wrong.size:
            raise ValueError(
                f"X must have rows with a direction; row {wrong[0]} is zero. Leave such rows out."
            )
        return logs

    def score(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the mean log-likelihood of rows.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Dense rows, at least one.
        y : object, optional
            Ignored.
        sample_weight : array of shape (n_rows,), optional
            How much each row counts.

        Returns
        -------
        float
            Larger fits better.
        """
        logs = self.score_samples(X)
        if not logs.size:
            raise ValueError("X must have at least one row; got none.")
        weights = _checked_weights(sample_weight, len(logs))
        return float(np.average(logs, weights=weights))

    def sample(
        self, n_samples: int = 1, *, random_state: int | RandomState | None = None
    ) -> tuple[Float64Array, IntpArray]:
        """Draw rows from the mixture.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, RandomState or None, default=None
            By default that of the estimator: a number there draws the same rows at every call.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features), float64
            Those of the first component first, as scikit-learn gives them.
        components : ndarray of shape (n_samples,), int64
            Which component each is of.
        """
        check_is_fitted(self)
        integer(1).check("n_samples", n_samples)
        random = check_random_state(self.random_state if random_state is None else random_state)
        sizes = random.multinomial(n_samples, self.weights_ / self.weights_.sum())
        components = np.repeat(np.arange(len(sizes)), sizes)
        return self._drawn(components, random), components

    def _fit(
        self, X: ArrayLike, sample_weight: ArrayLike | None, progress: ProgressCallback | None
    ) -> None:
        check_params(self)
        values = validate_data(self, X, **_ROWS)
        weights = _checked_weights(sample_weight, len(values))
        with working_on(self.device):
            self._fit_rows(*self._family(values, weights), progress)

    def _fit_rows(
        self, family: Family[Any], rows: AnyRows, progress: ProgressCallback | None
    ) -> None:
        if self.n_components > rows.n_rows:
            raise ValueError(
                f"n_components must be at most the number of rows with weight, n_samples = "
                f"{rows.n_rows}; got n_components = {self.n_components}."
            )
        random = check_random_state(self.random_state)
        threads = effective_jobs(self.n_jobs)
        means = None if isinstance(self.init, str) else self._means_to_start(family)

        def fit(report: Callable[[], object]) -> Fit:
            seeds = far_rows(rows, self.n_components, random) if means is None else means
            steps = LLOYD_STEPS if means is None else 0
            return maximise(
                family,
                started(family, seeds, rows, steps=steps, threads=threads),
                rows,
                hard=bool(self.hard),
                max_iter=self.max_iter,
                tol=float(self.tol),
                threads=threads,
                report=report,
            )

        starts = self.n_init if means is None else 1
        with one_thread_of_blas:
            best = best_of_starts(fit, n_init=starts, max_iter=self.max_iter, progress=progress)
        self._keep(family, best.model)
        self.log_likelihoods_ = best.log_likelihoods
        self.lower_bound_ = best.log_likelihoods[-1]
        self.n_reseeded_ = best.n_reseeded
        self.n_iter_ = best.n_iter
        self.converged_ = best.converged

    def _tell_convergence(self, stacklevel: int) -> None:
        if not self.converged_:
            warnings.warn(
                f"{type(self).__name__} did not converge in {self.n_iter_} steps; raise max_iter, "
                "or tol.",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )

    def _means_to_start(self, family: Any) -> Float64Array:  # noqa: ANN401
        shape = (self.n_components, self.n_features_in_)
        wanted = (
            f"init must be 'k-means++' or finite means in the shape (n_components, n_features) = "
            f"{shape}"
        )
        try:
            means = np.asarray(self.init, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{wanted}; got a {type(self.init).__name__} ({error}).") from error
        if means.shape != shape or not np.isfinite(means).all():
            raise ValueError(f"{wanted}; got an array of shape {means.shape}.")
        return self._placed(means, family)

    def _posteriors(self, X: ArrayLike) -> tuple[Float64Array, Float64Array]:
        check_is_fitted(self)
        values = validate_data(self, X, reset=False, ensure_min_samples=0, **_ROWS)
        placed, logits, known = self._logits_for(values.astype(np.float64))
        logs, found = posteriors(placed, logits)
        logs[~known] = np.nan
        found[~known] = self.weights_
        return logs, found

    def _check_arrays(self, **shapes: tuple[int, ...]) -> None:
        """Refuse loaded arrays of other shapes, or that hold anything but finite numbers."""
        for name, shape in shapes.items():
            array = np.asarray(getattr(self, name))
            if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
                raise ValueError(f"{name} must hold finite numbers in the shape {shape}")
        if self.weights_.min() <= 0 or abs(self.weights_.sum() - 1) > 1e-6:
            raise ValueError("weights_ must be above 0 and sum to 1")

    @abstractmethod
    def _family(self, values: NDArray[Any], weights: Float64Array) -> tuple[Family[Any], AnyRows]:
        """Return what knows the components, and the rows with weight as it takes them."""

    @abstractmethod
    def _placed(self, means: Float64Array, family: Any) -> Float64Array:  # noqa: ANN401
        """Return means as the family takes them."""

    @abstractmethod
    def _keep(self, family: Any, model: Any) -> None:  # noqa: ANN401
        """Keep the parameters that were found."""

    @abstractmethod
    def _logits_for(self, values: Float64Array) -> tuple[Float64Array, Logits, BoolArray]:
        """Return rows and logarithms of densities in the same coordinates, by what was kept.

        And which rows tell anything.
        """

    @abstractmethod
    def _drawn(self, components: IntpArray, random: RandomState) -> Float64Array:
        """Return a row of each of the given components."""


def _checked_weights(weights: ArrayLike | None, n_rows: int) -> Float64Array:
    """Return finite weights of at least 0, one for each row, not all of them 0."""
    if weights is None:
        return np.ones(n_rows)
    checked = np.asarray(weights, dtype=np.float64)
    if checked.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one number for each of the {n_rows} rows; got an array of "
            f"shape {checked.shape}."
        )
    if not (np.isfinite(checked).all() and (checked >= 0).all() and (checked > 0).any()):
        raise ValueError(
            "sample_weight must be finite and at least 0, and not zero for all rows; got weights "
            f"from {checked.min()} to {checked.max()}."
        )
    return np.asarray(checked / checked.max())
