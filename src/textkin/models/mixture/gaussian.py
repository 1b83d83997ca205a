"""Mixtures of Gaussians with diagonal matrices of covariance."""

from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from textkin._typing import BoolArray, Float64Array, IntpArray
from textkin._validation import Constraint, real
from textkin.models.mixture._em import AnyRows, Logits
from textkin.models.mixture._estimator import CONSTRAINTS, Init, RowMixture
from textkin.models.mixture._gaussians import (
    GaussianFamily,
    Gaussians,
    Scale,
    as_rows,
    logits_of,
    variance_of,
)
from textkin.models.mixture._placed import PlacedRows

__all__ = ["GaussianMixture"]

_FARTHEST = 1e100  # standard deviations of the mixture, whose square is in range
_NARROWEST = 1e-90  # variance in parts of that of the mixture; such squares divided by it are too


class GaussianMixture(RowMixture):
    """Describe rows as drawn from several Gaussians, each with variances of its own.

    Parameters
    ----------
    n_components : int, default=15
        Gaussians K.
    hard : bool, default=False
        Give each row to its best component, instead of parts of it to all.
    variance_floor : float, default=1e-3
        Least variance of a component, in parts of the variance of the column in all rows; from
        1e-9 to 1.
    init : "k-means++" or array of shape (n_components, n_features), default="k-means++"
        Where the means start: at rows far from each other (among 131,072 at most, drawn from all)
        and with k-means from there, on columns of one scale; or at given means. Each row then goes
        to its nearest mean, and the clusters give weights and variances.
    n_init : int, default=1
        Fits from different starts, of which the most likely is kept; given means start once.
    max_iter : int, default=200
        Most steps of a fit.
    tol : float, default=1e-4
        Stop when a step gains less than this in the mean log-likelihood of a row.
    random_state : int, RandomState or None, default=None
        Where the fits start, and what `sample` draws.
    n_jobs : int or None, default=None
        Threads of `fit`; any number gives the same bits.
    device : None, "cpu" or "cuda", default=None
        Where `fit` works: None is the core of textkin on the processor, others are torch, on a GPU
        or on tensors of the processor (see Notes). Not saved with the model.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,), float64
        w_i, above 0; they sum to 1.
    means_ : ndarray of shape (n_components, n_features), float64
        mu_i.
    variances_ : ndarray of shape (n_components, n_features), float64
        sigma_i^2.
    log_likelihoods_ : list of float
        Mean log p(x) of the rows of `fit` before the first step and after each, in hard EM mean
        log(w_i N_i) of the best components. It never falls, but for rounding, unless a component
        was re-seeded.
    lower_bound_ : float
        The last of them.
    n_reseeded_ : int
        How often an empty component was moved to the row that fitted worst.
    n_iter_ : int
        Steps of the fit that was kept.
    converged_ : bool
        Whether it stopped by itself.

    See Also
    --------
    VonMisesFisherMixture : The same for directions.

    Notes
    -----
    The model is p(x) = sum_i w_i N(x; mu_i, diag sigma_i^2). A step of EM computes, for rows x_t
    that count c_t times ::

        gamma_t(i) ~ w_i N(x_t; mu_i, sigma_i^2),       n_i = sum_t c_t gamma_t(i)
        w_i ~ n_i,    mu_i = sum_t c_t gamma_t(i) x_t / n_i,
        sigma_i^2 = max(sum_t c_t gamma_t(i) x_t^2 / n_i - mu_i^2, floor)

    in hard EM with gamma 1 for the best component and 0 for others. Rows of float32 are fitted in
    single precision, with columns of mean 0 and variance 1 and sums in double, as long as
    logarithms are good to 1e-3 that way; all else is in double precision. A component that has less
    than a tenth of a mean row is moved to the row that fits worst, five times at most; after that
    it keeps its place, with a weight near 0. A constant column has the mean variance of the others
    instead of 0 (1 if all are constant), for the floor, and at least what rounding makes of its
    mean. Time is in four products of rows, features and components a step; memory for two copies of
    the rows.

    With `device`, rows are scaled and passed over by torch, with the same formulas in the same
    precision; those that do not fit in its memory go there block by block. Sums differ by rounding
    (some 1e-6 of the largest in float32, 1e-12 in float64), and so do fits from one start. Where
    rounding decides, as between rows that are equally far in k-means++, fits may differ like those
    of another `random_state`. What the fitted mixture says of rows is computed by the core.

    References
    ----------
    Dempster, Laird and Rubin, "Maximum Likelihood from Incomplete Data via the EM Algorithm",
    1977. Arthur and Vassilvitskii, "k-means++: The Advantages of Careful Seeding", SODA 2007.

    Examples
    --------
    >>> rows = [[0.0, 0.1], [0.1, 0.0], [0.0, 0.0], [5.0, 5.1], [5.1, 4.9]]
    >>> mixture = GaussianMixture(2, random_state=0).fit(rows)
    >>> mixture.weights_.round(2).tolist() in ([0.6, 0.4], [0.4, 0.6])
    True
    >>> mixture.predict_proba([[0.2, 0.1]]).max().round(2)
    np.float64(1.0)
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        **CONSTRAINTS,
        "variance_floor": real(1e-9, 1),
    }

    def __init__(
        self,
        n_components: int = 15,
        *,
        hard: bool = False,
        variance_floor: float = 1e-3,
        init: Init = "k-means++",
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.hard = hard
        self.variance_floor = variance_floor
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    def _family(
        self, values: NDArray[Any], weights: Float64Array
    ) -> tuple[GaussianFamily, AnyRows]:
        rows: AnyRows
        if self.device is None:
            scale, rows = as_rows(values, weights)
        else:
            rows = PlacedRows(values, weights, self.device, self.n_components)
            shift, sums = rows.there.moments()
            scale = Scale.of_moments(shift, variance_of(sums))
            rows.there.scale_by(scale.shift, scale.size)
        return GaussianFamily(scale, float(self.variance_floor)), rows

    def _placed(self, means: Float64Array, family: GaussianFamily) -> Float64Array:
        return family.scale.to(means)

    def _keep(self, family: GaussianFamily, model: Gaussians) -> None:
        kept = family.scale.model_from(model)
        self.weights_ = kept.weights
        self.means_ = kept.means
        self.variances_ = kept.variances

    def _logits_for(self, values: Float64Array) -> tuple[Float64Array, Logits, BoolArray]:
        model = Gaussians(self.weights_, self.means_, self.variances_)
        scale = Scale.of_mixture(model)
        with np.errstate(over="ignore"):
            placed = scale.to(values)
        far = np.flatnonzero(~(np.abs(placed) <= _FARTHEST).all(axis=1))
        if far.size:
            raise ValueError(
                f"X must have rows within {_FARTHEST:g} standard deviations of the mixture; row "
                f"{far[0]} is not."
            )
        known = np.ones(len(placed), dtype=np.bool_)
        return placed, logits_of(scale.model_to(model), scale), known

    def _drawn(self, components: IntpArray, random: RandomState) -> Float64Array:
        noise = random.standard_normal((len(components), self.means_.shape[1]))
        return self.means_[components] + np.sqrt(self.variances_)[components] * noise

    def _check_loaded(self) -> None:
        shape = (self.n_components, self.n_features_in_)
        self._check_arrays(weights_=shape[:1], means_=shape, variances_=shape)
        if self.variances_.min() <= 0:
            raise ValueError("variances_ must be above 0")
        model = Gaussians(self.weights_, self.means_, self.variances_)
        with np.errstate(over="ignore", invalid="ignore"):
            scale = Scale.of_mixture(model)
            narrowest = scale.model_to(model).variances.min()
        if not (np.isfinite(scale.size).all() and narrowest >= _NARROWEST):
            raise ValueError(
                "means_ and variances_ must be such that the mixture as a whole has finite "
                f"variances, and components have at least {_NARROWEST:g} of these"
            )
