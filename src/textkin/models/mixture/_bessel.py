"""Ratios and logarithms of modified Bessel functions, for von Mises-Fisher distributions.

With v = d/2 - 1, all results follow from three functions that stay in range for any kappa::

    log(I_v(x) / x^v),    I_{v+1}(x) / I_v(x) = A_d(x),    and the inverse of A_d

The uniform (Debye) expansion gives the first two for orders of at least 64, with an error below
1e-15. Smaller orders follow by the recurrence of the ratios, which is stable for decreasing
orders.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from textkin._base import Float64Array

__all__ = ["LEAST_KAPPA", "bessel_ratio", "kappa_of", "log_normalizer"]

LEAST_KAPPA = 1e-6  # with a smaller kappa, a distribution is uniform in practice
_ORDER = 64  # smallest order for which the expansion has the precision of float64
_TERMS = 10
_LOG_2_PI = float(np.log(2 * np.pi))
_ROUNDING = 4e-16  # rounding error of a ratio
_MOST_STEPS = 100  # never needed in practice; bisection of an interval would need fewer


def log_normalizer(d: int, kappa: ArrayLike) -> Float64Array:
    """Compute log C_d(kappa), the log normalizing constant of a von Mises-Fisher density."""
    x = np.asarray(kappa, dtype=np.float64)
    order, quotients = _quotients(d, x)
    # log(I_V/x^V) = V (s - log(1 + s) - log V) - log(2 pi V s) / 2 + log U
    s = np.hypot(1.0, x / order)
    u, _ = _debye_sums(1 / s, order)
    scaled = order * (s - np.log1p(s) - np.log(order)) - 0.5 * (_LOG_2_PI + np.log(order * s))
    scaled = scaled + np.log(u) - np.log(quotients[1:]).sum(axis=0)
    return np.asarray(-0.5 * d * _LOG_2_PI - scaled)


def bessel_ratio(d: int, kappa: ArrayLike) -> Float64Array:
    """Compute A_d(kappa) = I_{d/2}(kappa) / I_{d/2-1}(kappa), the mean's length."""
    x = np.asarray(kappa, dtype=np.float64)
    return np.asarray(x * _quotients(d, x)[1][-1])


def kappa_of(d: int, lengths: ArrayLike, most: float) -> Float64Array:
    """Compute the maximum-likelihood kappa from mean lengths r, by solving A_d(kappa) = r.

    Newton's method starts from the approximation of Banerjee et al., and is kept between bounds
    that converge to the root.
    """
    r = np.atleast_1d(np.asarray(lengths, dtype=np.float64))
    low, high = np.full(r.shape, LEAST_KAPPA), np.full(r.shape, float(most))
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = np.clip(np.nan_to_num(r * (d - r * r) / (1 - r * r), nan=most), low, high)
    for _ in range(_MOST_STEPS):
        a = bessel_ratio(d, kappa)
        above = a > r
        low, high = np.where(above, low, kappa), np.where(above, kappa, high)
        slope = np.maximum(1 - a * a - (d - 1) * a / kappa, np.finfo(np.float64).tiny)
        step = kappa - (a - r) / slope
        # A step beyond the bounds is replaced by a bound; from the ends, it may return to them.
        outside = (step < low) | (step > high)
        step = np.where(outside, np.sqrt(low) * np.sqrt(high), step)
        done = (np.abs(step - kappa) <= 1e-14 * kappa) | (np.abs(a - r) <= _ROUNDING * r)
        kappa = np.where(done, kappa, step)
        if done.all():
            break
    return kappa


def _quotients(d: int, x: Float64Array) -> tuple[float, Float64Array]:
    """Return an order V for the expansion, and I_{k+1}(x) / (x I_k(x)) from k = V to d/2 - 1."""
    v = 0.5 * d - 1
    steps = max(0, int(np.ceil(_ORDER - v)))
    order = v + steps
    # With z = x/V, s = sqrt(1 + z^2), and p = 1/s; nothing is subtracted from a similar number:
    # I_{V+1}/(x I_V) = [1/(1 + s) + p W/U] / V
    s = np.hypot(1.0, x / order)
    u, w = _debye_sums(1 / s, order)
    found = np.empty((steps + 1, *x.shape))
    found[0] = (1 / (1 + s) + w / (s * u)) / order
    square = x * x
    for below in range(1, steps + 1):
        found[below] = 1 / (2 * (order - below + 1) + square * found[below - 1])
    return order, found


def _debye_sums(p: Float64Array, order: float) -> tuple[Float64Array, Float64Array]:
    """Compute U = sum u_k(p)/V^k, and W with I'_V/I_V = s/z (1 + z^2 p^2 W/U)."""
    us, ws = _debye_coefficients()
    powers = order ** -np.arange(_TERMS + 1.0)
    u = np.polynomial.polynomial.polyval(p, powers @ us)
    w = np.polynomial.polynomial.polyval(p, powers @ ws)
    return np.asarray(u, dtype=np.float64), np.asarray(w, dtype=np.float64)


@lru_cache(maxsize=1)
def _debye_coefficients() -> tuple[Float64Array, Float64Array]:
    """Compute the coefficients of u_k and w_k (Abramowitz and Stegun, 9.3.9 to 9.3.14).

    u_{k+1} = p^2 (1 - p^2) u_k' / 2 + int_0^p (1 - 5 t^2) u_k(t) dt / 8, and the polynomials
    v_k = u_k + (1 - p^2) w_k of the derivative have w_{k+1} = -p u_k / 2 - p^2 u_k'.
    """
    size = 3 * _TERMS + 3
    us, ws = np.zeros((_TERMS + 1, size)), np.zeros((_TERMS + 1, size))
    u = {0: Fraction(1)}
    us[0, 0] = 1
    for k in range(_TERMS):
        after: dict[int, Fraction] = {}
        for power, value in u.items():
            for shift, factor in (
                (1, Fraction(power, 2) + Fraction(1, 8 * (power + 1))),
                (3, -Fraction(power, 2) - Fraction(5, 8 * (power + 3))),
            ):
                after[power + shift] = after.get(power + shift, Fraction(0)) + factor * value
            ws[k + 1, power + 1] = float(-value * (Fraction(1, 2) + power))
        u = after
        for power, value in u.items():
            us[k + 1, power] = float(value)
    return us, ws
