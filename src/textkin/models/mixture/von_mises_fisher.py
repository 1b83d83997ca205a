"""Mixtures of von Mises-Fisher distributions, the Gaussians of the sphere."""

from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

from textkin._typing import BoolArray, Float64Array, IntpArray
from textkin._validation import Constraint, integer, one_of, real
from textkin.models.mixture import _bessel
from textkin.models.mixture._em import AnyRows, Logits, Rows
from textkin.models.mixture._estimator import CONSTRAINTS, Init, RowMixture
from textkin.models.mixture._placed import PlacedRows
from textkin.models.mixture._spheres import SphereFamily, Spheres, drawn, logits_of, unit_rows

__all__ = ["VonMisesFisherMixture"]

_MOST_KAPPA = 1e10


class VonMisesFisherMixture(RowMixture):
    """Describe directions as drawn from several von Mises-Fisher distributions.

    Only the directions of rows count: each is divided by its length. Words with vectors, whose
    nearness is the cosine, are such rows.

    Parameters
    ----------
    n_components : int, default=15
        Distributions K.
    hard : bool, default=False
        Give each row to its best component, instead of parts of it to all.
    shared_kappa : bool, default=False
        One kappa for all components, which is stabler for few rows.
    max_kappa : float, default=1e5
        Largest kappa; of equal rows it would be infinite. From 1e-3 to 1e10.
    init : "k-means++" or array of shape (n_components, n_features), default="k-means++"
        Where the means start: at rows far from each other (among 131,072 at most, drawn from all)
        and with spherical k-means from there; or at given means. Each row then goes to its nearest
        mean, and the clusters give weights and kappas.
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
        alpha_i, above 0; they sum to 1.
    means_ : ndarray of shape (n_components, n_features), float64
        mu_i, of length 1.
    kappas_ : ndarray of shape (n_components,), float64
        kappa_i, from 1e-6 (uniform) to `max_kappa`; all the same if `shared_kappa`.
    log_likelihoods_ : list of float
        Mean log p(x) of the rows of `fit` before the first step and after each, in hard EM mean
        log(alpha_i f_i) of the best components. It never falls, but for rounding, unless a
        component was re-seeded.
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
    GaussianMixture : The same for rows whose length counts.

    Notes
    -----
    The model is p(x) = sum_i alpha_i C_d(kappa_i) exp(kappa_i mu_i . x) for rows of length 1, with
    C_d(kappa) = kappa^(d/2-1) / ((2 pi)^(d/2) I_{d/2-1}(kappa)). A step of EM computes, for rows
    x_t that count c_t times ::

        gamma_t(i) ~ alpha_i C_d(kappa_i) exp(kappa_i mu_i . x_t),    n_i = sum_t c_t gamma_t(i)
        s_i = sum_t c_t gamma_t(i) x_t,    alpha_i ~ n_i,    mu_i = s_i / |s_i|,
        A_d(kappa_i) = |s_i| / n_i,    or A_d(kappa) = sum_i |s_i| / sum_i n_i if it is shared

    with A_d = I_{d/2} / I_{d/2-1}; the root is found by Newton's method to the last digits, which
    is why the likelihood never falls. In hard EM gamma is 1 for the best component and 0 for
    others; with one kappa, growing without end, that is spherical k-means.

    `fit` leaves rows of zeros out, since they have no direction; their posteriors are the weights,
    and the likelihood refuses them. Rows of float32 are fitted in single precision, with sums in
    double, as long as logarithms are good to 1e-3 that way (kappa up to some 16,000); all else is
    in double precision. With a `max_kappa` above 1e5 rows are too: lengths of 1 that are rounded to
    float32 would be wrong by more than such components are wide. A component that has less than a
    tenth of a mean row is moved to the row that fits worst, five times at most; after that it keeps
    its place, with a weight near 0. Time is in two products of rows, features and components a
    step; memory for two copies of the rows.

    With `device`, rows are scaled and passed over by torch, with the same formulas in the same
    precision; those that do not fit in its memory go there block by block. Sums differ by rounding
    (some 1e-6 of the largest in float32, 1e-12 in float64), and so do fits from one start. Where
    rounding decides, as between rows that are equally far in k-means++, fits may differ like those
    of another `random_state`. What the fitted mixture says of rows is computed by the core.

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
        self.shared_kappa = shared_kappa
        self.max_kappa = max_kappa
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    @staticmethod
    def log_normalizer(d: int, kappa: ArrayLike) -> Float64Array:
        """Return log C_d(kappa), the logarithm of what makes the density integrate to 1.

        Parameters
        ----------
        d : int
            Dimensions, at least 2.
        kappa : float or array of float
            Concentrations from 0 (uniform) to 1e10.

        Returns
        -------
        ndarray of float64
            In the shape of `kappa`. The error is below 1e-10 of the value, or of 1 where the value
            is smaller than that, for all d up to 1,000 and kappa up to 1e5.

        Examples
        --------
        >>> float(VonMisesFisherMixture.log_normalizer(3, 2.0).round(6))
        -3.126244
        """
        return _bessel.log_normalizer(*_checked(d, kappa))

    @staticmethod
    def mean_length(d: int, kappa: ArrayLike) -> Float64Array:
        """Return A_d(kappa) = I_{d/2}(kappa) / I_{d/2-1}(kappa), the length of the mean of x.

        Parameters
        ----------
        d : int
            Dimensions, at least 2.
        kappa : float or array of float
            Concentrations from 0 (uniform) to 1e10.

        Returns
        -------
        ndarray of float64
            From 0 to 1, in the shape of `kappa`.

        Examples
        --------
        >>> float(VonMisesFisherMixture.mean_length(3, 2.0).round(6))
        0.537315
        """
        return _bessel.bessel_ratio(*_checked(d, kappa))

    def _family(self, values: NDArray[Any], weights: Float64Array) -> tuple[SphereFamily, AnyRows]:
        family = self._spheres(values.shape[1])
        if self.device is None:
            rows, directed = family.units_of(values)
        else:
            rows, directed = family.precise(values), np.asarray(values.any(axis=1))
        used = directed & (weights > 0)
        if not used.any():
            raise ValueError("X must have rows with a direction and weight; all of them are zero.")
        if not used.all():
            rows, weights = rows[used], weights[used]
        if self.device is None:
            return family, Rows(rows, weights)
        placed = PlacedRows(rows, weights, self.device, self.n_components)
        placed.there.to_units()
        return family, placed

    def _spheres(self, n_features: int) -> SphereFamily:
        _check_features(n_features)
        return SphereFamily(float(self.max_kappa), bool(self.shared_kappa))

    def _placed(self, means: Float64Array, family: SphereFamily) -> Float64Array:
        rows, directed = unit_rows(means)
        if not directed.all():
            raise ValueError("init must have means with a direction; some are zero.")
        return np.asarray(rows)

    def _keep(self, family: SphereFamily, model: Spheres) -> None:
        self.weights_ = model.weights
        self.means_ = model.means
        self.kappas_ = model.kappas

    def _logits_for(self, values: Float64Array) -> tuple[Float64Array, Logits, BoolArray]:
        model = Spheres(self.weights_, self.means_, self.kappas_)
        rows, directed = unit_rows(values)
        return rows, logits_of(model), directed

    def _drawn(self, components: IntpArray, random: RandomState) -> Float64Array:
        return drawn(self.means_[components], self.kappas_[components], random)

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
        raise ValueError(f"kappa must be from 0 to {_MOST_KAPPA:g}; got {kappa!r}.")
    return int(d), values


def _check_features(n_features: int) -> None:
    if n_features < 2:
        raise ValueError(
            f"X must have at least 2 columns, since directions in one dimension are but two; got "
            f"n_features = {n_features}."
        )
