"""Reference implementation of EM for both mixtures in NumPy.

Fits do not call these functions; the back ends in `_em_core`, `_em_torch`, and `_em_blocks` are
tested against them. Rows x_t have sample weights c_t; component i has the weight w_i and the
density p_i.
"""

from typing import TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from textkin._base import Float64Array
from textkin.models.mixture._bessel import LEAST_KAPPA, bessel_ratio, log_normalizer
from textkin.models.mixture._densities import (
    GaussianFamily,
    GaussianParameters,
    VonMisesFisherFamily,
    VonMisesFisherParameters,
)

__all__ = ["e_step", "log_densities", "log_likelihood", "m_step"]

Parameters: TypeAlias = GaussianParameters | VonMisesFisherParameters


def log_densities(X: Float64Array, model: Parameters) -> Float64Array:
    """Compute the joint log-density log(w_i p_i(x_t)) for each row and component.

    A diagonal Gaussian and a von Mises-Fisher distribution have the densities ::

        N(x; mu_i, diag sigma_i^2) = prod_j exp(-(x_j - mu_ij)^2 / (2 sigma_ij^2))
                                            / sqrt(2 pi sigma_ij^2)
        f(x; mu_i, kappa_i) = C_d(kappa_i) exp(kappa_i mu_i . x),    |x| = |mu_i| = 1

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), float64
        Rows; of length 1 for von Mises-Fisher distributions.
    model : GaussianParameters or VonMisesFisherParameters
        Parameters of the mixture.

    Returns
    -------
    ndarray of shape (n_rows, n_components), float64
        Logarithms of weight times density.

    References
    ----------
    Banerjee, Dhillon, Ghosh and Sra, "Clustering on the Unit Hypersphere using von Mises-Fisher
    Distributions", JMLR 6, 2005.
    """
    if isinstance(model, GaussianParameters):
        squares = (X[:, np.newaxis] - model.means) ** 2 / model.covariances
        logs = -0.5 * (squares + np.log(2 * np.pi * model.covariances)).sum(axis=2)
    else:
        logs = log_normalizer(X.shape[1], model.kappas) + model.kappas * (X @ model.means.T)
    return np.asarray(np.log(model.weights) + logs)


def e_step(X: Float64Array, model: Parameters, *, hard: bool = False) -> Float64Array:
    """Compute the posterior component probabilities of each row (E step).

    ::

        gamma_t(i) = w_i p_i(x_t) / sum_j w_j p_j(x_t)

    or, in hard EM, 1 for the component with the largest w_i p_i(x_t), and 0 for the others.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), float64
        Rows.
    model : GaussianParameters or VonMisesFisherParameters
        Parameters of the mixture.
    hard : bool, default=False
        Whether EM is hard. Ties go to the lowest index.

    Returns
    -------
    ndarray of shape (n_rows, n_components), float64
        Posteriors; rows sum to 1.

    References
    ----------
    Dempster, Laird and Rubin, "Maximum Likelihood from Incomplete Data via the EM Algorithm", 1977.
    Banerjee et al., JMLR 6, 2005 (soft and hard assignments).
    """
    logs = log_densities(X, model)
    if hard:
        return np.asarray(np.eye(logs.shape[1])[logs.argmax(axis=1)])
    return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))


def m_step(
    X: Float64Array,
    sample_weight: Float64Array,
    posteriors: Float64Array,
    family: GaussianFamily | VonMisesFisherFamily,
) -> Parameters:
    """Compute the maximum-likelihood parameters for given posteriors (M step).

    With n_i = sum_t c_t gamma_t(i) and s_i = sum_t c_t gamma_t(i) x_t, all weights are
    w_i = n_i / sum_j n_j. Gaussians, and von Mises-Fisher distributions, have ::

        mu_i = s_i / n_i,    sigma_i^2 = max(sum_t c_t gamma_t(i) (x_t - mu_i)^2 / n_i, floor)

        mu_i = s_i / |s_i|,  A_d(kappa_i) = |s_i| / n_i,   A_d = I_{d/2} / I_{d/2-1}

    or A_d(kappa) = sum_i |s_i| / sum_i n_i for all components if kappa is shared.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), float64
        Rows.
    sample_weight : ndarray of shape (n_rows,), float64
        Weight c_t of each row.
    posteriors : ndarray of shape (n_rows, n_components), float64
        Posteriors of `e_step`; no component is empty.
    family : GaussianFamily or VonMisesFisherFamily
        Kind of components, with the floor of covariances, or the largest kappa and whether it is
        shared.

    Returns
    -------
    GaussianParameters or VonMisesFisherParameters
        Parameters of the mixture.

    References
    ----------
    Banerjee et al., JMLR 6, 2005. Sra, "A short note on parameter
    approximation for von Mises-Fisher distributions", Computational Statistics 27, 2012.
    """
    gamma = sample_weight[:, np.newaxis] * posteriors
    n = gamma.sum(axis=0)
    s = gamma.T @ X
    weights = n / n.sum()
    if isinstance(family, GaussianFamily):
        means = s / n[:, np.newaxis]
        squares = (X[:, np.newaxis] - means) ** 2
        covariances = np.einsum("ti,tij->ij", gamma, squares) / n[:, np.newaxis]
        return GaussianParameters(weights, means, np.maximum(covariances, family.floor))
    lengths = np.linalg.norm(s, axis=1)
    ratios = np.full(len(n), lengths.sum() / n.sum()) if family.shared_kappa else lengths / n
    kappas = np.array([_kappa_of(X.shape[1], r, family.max_kappa) for r in ratios])
    return VonMisesFisherParameters(weights, s / lengths[:, np.newaxis], kappas)


def log_likelihood(
    X: Float64Array, sample_weight: Float64Array, model: Parameters, *, hard: bool = False
) -> float:
    """Compute the weighted mean log-likelihood of rows under a mixture.

    ::

        L = sum_t c_t log(sum_i w_i p_i(x_t)) / sum_t c_t

    or, in hard EM, with the largest w_i p_i(x_t) in place of their sum.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), float64
        Rows.
    sample_weight : ndarray of shape (n_rows,), float64
        Weight c_t of each row.
    model : GaussianParameters or VonMisesFisherParameters
        Parameters of the mixture.
    hard : bool, default=False
        Whether EM is hard.

    Returns
    -------
    float
        Mean log-likelihood. An EM step never lowers it.
    """
    logs = log_densities(X, model)
    per_row = logs.max(axis=1) if hard else logsumexp(logs, axis=1)
    return float(np.average(per_row, weights=sample_weight))


def _kappa_of(d: int, ratio: float, max_kappa: float) -> float:
    """Solve A_d(kappa) = ratio by Brent's method, up to `max_kappa`."""
    if ratio >= bessel_ratio(d, max_kappa):
        return max_kappa
    if ratio <= bessel_ratio(d, LEAST_KAPPA):
        return LEAST_KAPPA

    def difference(kappa: float) -> float:
        return float(bessel_ratio(d, kappa)) - ratio

    return float(brentq(difference, LEAST_KAPPA, max_kappa, xtol=1e-12))
