"""`DiagonalGaussianMixture`: Gaussian mixture with diagonal covariance matrices."""

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

from textkin._base import BoolArray, Constraint, Float64Array, IntpArray, real
from textkin.exceptions import ParameterError
from textkin.models.mixture._densities import (
    GaussianFamily,
    GaussianParameters,
    Scale,
    gaussian_logits,
    variance_of,
)
from textkin.models.mixture._em import Logits, MixtureBackend
from textkin.models.mixture._em_core import CoreRows
from textkin.models.mixture._estimator import CONSTRAINTS, RowMixture

__all__ = ["DiagonalGaussianMixture", "standardize_rows"]

_FARTHEST = 1e100  # largest distance in standard deviations of the mixture; its square is in range
_NARROWEST = 1e-90  # smallest relative variance, by which such a square can be divided in range


class DiagonalGaussianMixture(RowMixture):
    """Mixture of Gaussians with diagonal covariance matrices, fitted by EM.

    Parameters
    ----------
    n_components : int, default=15
        Number of Gaussians K.
    hard : bool, default=False
        Assign each row to its best component only, instead of a share to each component.
    variance_floor : float, default=1e-3
        Minimum variance of a component, as a fraction of the variance of the column over all
        rows; from 1e-9 to 1.
    init_params : {"k-means++"}, default="k-means++"
        Initialization of the means: k-means++ (among at most 131,072 rows, sampled from all),
        then k-means, on standardized columns. Each row is then assigned to its nearest mean, and
        the clusters give the initial weights and covariances.
    means_init : array of shape (n_components, n_features) or None, default=None
        Initial means, used instead of `init_params`.
    n_init : int, default=1
        Number of fits with different initializations; the most likely fit is kept. With
        `means_init`, there is one fit.
    max_iter : int, default=200
        Maximum number of steps per fit.
    tol : float, default=1e-4
        Gain in the mean log-likelihood per row below which a fit stops.
    random_state : int, RandomState or None, default=None
        Seed of the initializations and of `sample`.
    n_jobs : int or None, default=None
        Number of threads of `fit`. Results are bit-identical for any number.
    device : None, "cpu" or "cuda", default=None
        Device of `fit`. None is the compiled core on the CPU; the others use torch (see Notes).
        Not saved with the model.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,), float64
        Weights w_i, above 0; they sum to 1.
    means_ : ndarray of shape (n_components, n_features), float64
        Means mu_i.
    covariances_ : ndarray of shape (n_components, n_features), float64
        Variances sigma_i^2.
    log_likelihoods_ : list of float
        Mean log p(x) of the rows of `fit` before the first step and after each step; in hard EM,
        mean log(w_i N_i) of the best components. It never falls, except for rounding, unless a
        component was reseeded.
    lower_bound_ : float
        Last entry of `log_likelihoods_`.
    n_reseeded_ : int
        Number of times that an empty component was moved to the row with the lowest likelihood.
    n_iter_ : int
        Number of steps of the best fit.
    converged_ : bool
        True if the best fit stopped before `max_iter`.

    See Also
    --------
    VonMisesFisherMixture : Mixture over directions.

    Notes
    -----
    The model is p(x) = sum_i w_i N(x; mu_i, diag sigma_i^2). An EM step computes, for rows x_t
    with sample weights c_t ::

        gamma_t(i) ~ w_i N(x_t; mu_i, sigma_i^2),       n_i = sum_t c_t gamma_t(i)
        w_i ~ n_i,    mu_i = sum_t c_t gamma_t(i) x_t / n_i,
        sigma_i^2 = max(sum_t c_t gamma_t(i) x_t^2 / n_i - mu_i^2, floor)

    where hard EM uses gamma 1 for the best component and 0 for the others. Rows of float32 are
    fitted in single precision, with columns of mean 0 and variance 1 and sums in double, as long as
    logarithms are accurate to 1e-3; everything else is in double precision. A component with less
    than a tenth of a mean row is moved to the row with the lowest likelihood, at most five times;
    after that it stays, with a weight close to 0. For the floor, a constant column has the mean
    variance of the other columns instead of 0 (1 if all are constant), and at least the square of
    the rounding error of its mean. The time per step is dominated by four products of rows,
    features, and components; the memory is two copies of the rows.

    With `device`, torch scales the rows and computes the sums, by the same formulas in the same
    precision; rows that do not fit in the memory of the device are copied block by block. Sums
    differ by rounding (about 1e-6 of the largest in float32, 1e-12 in float64), and so do fits from
    the same initialization. If rounding decides, such as between equally distant rows in k-means++,
    fits can differ as with another `random_state`. Methods of the fitted mixture use the core.

    References
    ----------
    Dempster, Laird and Rubin, "Maximum Likelihood from Incomplete Data via the EM Algorithm",
    1977. Arthur and Vassilvitskii, "k-means++: The Advantages of Careful Seeding", SODA 2007.

    Examples
    --------
    >>> rows = [[0.0, 0.1], [0.1, 0.0], [0.0, 0.0], [5.0, 5.1], [5.1, 4.9]]
    >>> mixture = DiagonalGaussianMixture(2, random_state=0).fit(rows)
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
        init_params: Literal["k-means++"] = "k-means++",
        means_init: ArrayLike | None = None,
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
        self.init_params = init_params
        self.means_init = means_init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    def _prepare_fit(
        self, values: NDArray[Any], weights: Float64Array
    ) -> tuple[GaussianFamily, MixtureBackend]:
        rows: MixtureBackend
        if self.device is None:
            scale, rows = standardize_rows(values, weights)
        else:
            # Imported here, because it loads torch.
            from textkin.models.mixture._em_torch import TorchRows

            rows = TorchRows.on(self.device, values, weights, self.n_components)
            shift, sums = rows.moments()
            scale = Scale.of_moments(shift, variance_of(sums))
            rows.scale_by(scale.shift, scale.size)
        return GaussianFamily(scale, float(self.variance_floor)), rows

    def _transform_means(self, means: Float64Array, family: GaussianFamily) -> Float64Array:
        return family.scale.to(means)

    def _set_parameters(self, family: GaussianFamily, model: GaussianParameters) -> None:
        kept = family.scale.model_from(model)
        self.weights_ = kept.weights
        self.means_ = kept.means
        self.covariances_ = kept.covariances

    def _prepare_rows(self, values: Float64Array) -> tuple[Float64Array, Logits, BoolArray]:
        model = GaussianParameters(self.weights_, self.means_, self.covariances_)
        scale = Scale.of_mixture(model)
        with np.errstate(over="ignore"):
            placed = scale.to(values)
        far = np.flatnonzero(~(np.abs(placed) <= _FARTHEST).all(axis=1))
        if far.size:
            raise ParameterError(
                "X",
                f"within {_FARTHEST:g} standard deviations of the mixture",
                f"a more distant row {far[0]}",
                "Remove it, or fit on rows of this size.",
            )
        known = np.ones(len(placed), dtype=np.bool_)
        return placed, gaussian_logits(scale.model_to(model), scale), known

    def _sample_components(self, components: IntpArray, random: RandomState) -> Float64Array:
        noise = random.standard_normal((len(components), self.means_.shape[1]))
        return self.means_[components] + np.sqrt(self.covariances_)[components] * noise

    def _n_parameters(self) -> int:
        return 2 * self.means_.size + len(self.weights_) - 1

    def _check_loaded(self) -> None:
        shape = (self.n_components, self.n_features_in_)
        self._check_arrays(weights_=shape[:1], means_=shape, covariances_=shape)
        if self.covariances_.min() <= 0:
            raise ValueError("covariances_ must be above 0")
        model = GaussianParameters(self.weights_, self.means_, self.covariances_)
        with np.errstate(over="ignore", invalid="ignore"):
            scale = Scale.of_mixture(model)
            narrowest = scale.model_to(model).covariances.min()
        if not (np.isfinite(scale.size).all() and narrowest >= _NARROWEST):
            raise ValueError(
                "means_ and covariances_ must give the mixture finite variances, of which each "
                f"component has at least {_NARROWEST:g}"
            )


def standardize_rows(values: NDArray[Any], weights: Float64Array) -> tuple[Scale, CoreRows]:
    """Return the column scale of the rows with positive weight, and these rows standardized."""
    if not (weights > 0).all():
        values, weights = values[weights > 0], weights[weights > 0]
    scale = Scale.of_rows(values, weights)
    return scale, CoreRows(scale.to(values), weights)
