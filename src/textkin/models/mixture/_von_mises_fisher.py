"""`VonMisesFisherMixture`: mixture of distributions over directions (unit vectors)."""

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

from textkin._base import BoolArray, Constraint, Float64Array, IntpArray, integer, one_of, real
from textkin.exceptions import ParameterError
from textkin.models.mixture import _bessel
from textkin.models.mixture._densities import (
    VonMisesFisherFamily,
    VonMisesFisherParameters,
    sample_sphere,
    unit_rows,
    von_mises_fisher_logits,
)
from textkin.models.mixture._em import Logits, MixtureBackend
from textkin.models.mixture._em_core import CoreRows
from textkin.models.mixture._estimator import CONSTRAINTS, RowMixture

__all__ = ["VonMisesFisherMixture"]

_MOST_KAPPA = 1e10


class VonMisesFisherMixture(RowMixture):
    """Mixture of von Mises-Fisher distributions over directions, fitted by EM.

    Only the directions of rows matter: each row is L2-normalized. Word vectors, which are compared
    by cosine, are such rows.

    Parameters
    ----------
    n_components : int, default=15
        Number of components K.
    hard : bool, default=False
        Assign each row to its best component only, instead of a share to each component.
    shared_kappa : bool, default=False
        Use one kappa for all components, which is more stable with few rows.
    max_kappa : float, default=1e5
        Maximum kappa, from 1e-3 to 1e10. Without a maximum, equal rows would have an infinite one.
    init_params : {"k-means++"}, default="k-means++"
        Initialization of the means: k-means++ (among at most 131,072 rows, sampled from all),
        then spherical k-means. Each row is then assigned to its nearest mean, and the clusters
        give the initial weights and kappas.
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
        Weights alpha_i, above 0; they sum to 1.
    means_ : ndarray of shape (n_components, n_features), float64
        Mean directions mu_i, of length 1.
    kappas_ : ndarray of shape (n_components,), float64
        Concentrations kappa_i, from 1e-6 (uniform) to `max_kappa`; all equal if `shared_kappa`.
    log_likelihoods_ : list of float
        Mean log p(x) of the rows of `fit` before the first step and after each step; in hard EM,
        mean log(alpha_i f_i) of the best components. It never falls, except for rounding, unless
        a component was reseeded.
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
    DiagonalGaussianMixture : Mixture for rows whose length matters.

    Notes
    -----
    The model is p(x) = sum_i alpha_i C_d(kappa_i) exp(kappa_i mu_i . x) for rows of length 1, with
    C_d(kappa) = kappa^(d/2-1) / ((2 pi)^(d/2) I_{d/2-1}(kappa)). An EM step computes, for rows
    x_t with sample weights c_t ::

        gamma_t(i) ~ alpha_i C_d(kappa_i) exp(kappa_i mu_i . x_t),    n_i = sum_t c_t gamma_t(i)
        s_i = sum_t c_t gamma_t(i) x_t,    alpha_i ~ n_i,    mu_i = s_i / |s_i|,
        A_d(kappa_i) = |s_i| / n_i,    or A_d(kappa) = sum_i |s_i| / sum_i n_i if it is shared

    with A_d = I_{d/2} / I_{d/2-1}. Newton's method finds the root to full precision, so that the
    likelihood never falls. In hard EM, gamma is 1 for the best component and 0 for the others; with
    one kappa that grows without limit, this is spherical k-means.

    `fit` ignores rows of zeros, which have no direction. Their posteriors are the weights, and
    `score_samples` raises for them. Rows of float32 are fitted in single precision, with sums in
    double, as long as logarithms are accurate to 1e-3 (kappa up to about 16,000); everything else
    is in double precision. With a `max_kappa` above 1e5, rows are in double precision, too: the
    rounding of a unit vector to float32 would exceed the width of such components. A component
    with less than a tenth of a mean row is moved to the row with the lowest likelihood, at most
    five times; after that it stays, with a weight close to 0. The time per step is dominated by
    two products of rows, features, and components; the memory is two copies of the rows.

    With `device`, torch scales the rows and computes the sums, by the same formulas in the same
    precision; rows that do not fit in the memory of the device are copied block by block. Sums
    differ by rounding (about 1e-6 of the largest in float32, 1e-12 in float64), and so do fits from
    the same initialization. If rounding decides, such as between equally distant rows in k-means++,
    fits can differ as with another `random_state`. Methods of the fitted mixture use the core.

    References
    ----------
    Banerjee, Dhillon, Ghosh and Sra, "Clustering on the Unit Hypersphere using von Mises-Fisher
    Distributions", JMLR 6, 2005. Sra, "A short note on parameter approximation for von
    Mises-Fisher distributions", Computational Statistics 27, 2012. Wood, "Simulation of the von
    Mises Fisher distribution", Communications in Statistics 23, 1994.

    Examples
    --------
    >>> rows = [[1.0, 0.1], [3.0, 0.0], [1.0, -0.1], [0.1, 2.0], [-0.1, 1.0]]
    >>> mixture = VonMisesFisherMixture(2, random_state=0).fit(rows)
    >>> mixture.weights_.round(2).tolist() in ([0.6, 0.4], [0.4, 0.6])
    True
    >>> bool(mixture.predict([[10, 1]]) == mixture.predict([[0.3, 0.1]]))
    True
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        **CONSTRAINTS,
        "shared_kappa": one_of(True, False),
        "max_kappa": real(1e-3, _MOST_KAPPA),
    }

    def __init__(
        self,
        n_components: int = 15,
        *,
        hard: bool = False,
        shared_kappa: bool = False,
        max_kappa: float = 1e5,
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
        self.shared_kappa = shared_kappa
        self.max_kappa = max_kappa
        self.init_params = init_params
        self.means_init = means_init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    @staticmethod
    def log_normalizer(d: int, kappa: ArrayLike) -> Float64Array:
        """Return log C_d(kappa), the log normalizing constant of the density.

        Parameters
        ----------
        d : int
            Number of dimensions, at least 2.
        kappa : float or array of float
            Concentrations from 0 (uniform) to 1e10.

        Returns
        -------
        ndarray of float64
            Logarithms, in the shape of `kappa`. The error is below 1e-10, relative to the value
            or to 1 if the value is smaller, for all d up to 1,000 and kappa up to 1e5.

        Examples
        --------
        >>> float(VonMisesFisherMixture.log_normalizer(3, 2.0).round(6))
        -3.126244
        """
        return _bessel.log_normalizer(*_checked(d, kappa))

    @staticmethod
    def mean_length(d: int, kappa: ArrayLike) -> Float64Array:
        """Return A_d(kappa), the length of the mean of a von Mises-Fisher distribution.

        Parameters
        ----------
        d : int
            Number of dimensions, at least 2.
        kappa : float or array of float
            Concentrations from 0 (uniform) to 1e10.

        Returns
        -------
        ndarray of float64
            Lengths from 0 to 1, in the shape of `kappa`.

        Examples
        --------
        >>> float(VonMisesFisherMixture.mean_length(3, 2.0).round(6))
        0.537315
        """
        return _bessel.bessel_ratio(*_checked(d, kappa))

    def _prepare_fit(
        self, values: NDArray[Any], weights: Float64Array
    ) -> tuple[VonMisesFisherFamily, MixtureBackend]:
        family = self._make_family(values.shape[1])
        if self.device is None:
            rows, directed = family.units_of(values)
        else:
            rows, directed = family.precise(values), np.asarray(values.any(axis=1))
        used = directed & (weights > 0)
        if not used.any():
            raise ValueError(
                "X must have a row with a direction and a weight above 0; all rows are zero."
            )
        if not used.all():
            rows, weights = rows[used], weights[used]
        if self.device is None:
            return family, CoreRows(rows, weights)
        # Imported here, because it loads torch.
        from textkin.models.mixture._em_torch import TorchRows

        placed = TorchRows.on(self.device, rows, weights, self.n_components)
        placed.to_units()
        return family, placed

    def _make_family(self, n_features: int) -> VonMisesFisherFamily:
        _check_features(n_features)
        return VonMisesFisherFamily(float(self.max_kappa), bool(self.shared_kappa))

    def _transform_means(self, means: Float64Array, family: VonMisesFisherFamily) -> Float64Array:
        rows, directed = unit_rows(means)
        if not directed.all():
            raise ParameterError("means_init", "means with a direction", "some means of length 0")
        return np.asarray(rows)

    def _set_parameters(
        self, family: VonMisesFisherFamily, model: VonMisesFisherParameters
    ) -> None:
        self.weights_ = model.weights
        self.means_ = model.means
        self.kappas_ = model.kappas

    def _prepare_rows(self, values: Float64Array) -> tuple[Float64Array, Logits, BoolArray]:
        model = VonMisesFisherParameters(self.weights_, self.means_, self.kappas_)
        rows, directed = unit_rows(values)
        return rows, von_mises_fisher_logits(model), directed

    def _sample_components(self, components: IntpArray, random: RandomState) -> Float64Array:
        return sample_sphere(self.means_[components], self.kappas_[components], random)

    def _n_parameters(self) -> int:
        n_components, n_features = self.means_.shape
        n_kappas = 1 if self.shared_kappa else n_components
        return int(n_components * (n_features - 1) + n_kappas + n_components - 1)

    def _check_loaded(self) -> None:
        _check_features(self.n_features_in_)
        shape = (self.n_components, self.n_features_in_)
        self._check_arrays(weights_=shape[:1], means_=shape, kappas_=shape[:1])
        if self.kappas_.min() < 0 or self.kappas_.max() > _MOST_KAPPA:
            raise ValueError(f"kappas_ must be from 0 to {_MOST_KAPPA:g}")
        if (np.abs(np.linalg.norm(self.means_, axis=1) - 1) > 1e-6).any():
            raise ValueError("means_ must have rows of length 1")


def _checked(d: int, kappa: ArrayLike) -> tuple[int, Float64Array]:
    integer(2).check("d", d)
    values = np.asarray(kappa, dtype=np.float64)
    if not ((values >= 0) & (values <= _MOST_KAPPA)).all():
        raise ParameterError("kappa", f"from 0 to {_MOST_KAPPA:g}", repr(kappa))
    return int(d), values


def _check_features(n_features: int) -> None:
    if n_features < 2:
        raise ParameterError(
            "X",
            "at least 2 columns wide, since one dimension has only two directions",
            f"n_features = {n_features}",
        )
