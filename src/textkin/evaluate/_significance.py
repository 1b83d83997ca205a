"""Paired significance tests of two systems: bootstrap, randomization, and t-test.

Both systems have a value for each of the same queries, documents, or splits. The tests use only the
differences of the values.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from textkin._base import Constraint, Float64Array, integer, one_of
from textkin.evaluate._retrieval import QueryScores
from textkin.exceptions import ParameterError, ParameterTypeError

__all__ = ["PairedTest", "paired_bootstrap", "paired_randomization", "paired_t_test"]

_BLOCK = 1 << 20  # random numbers per block
_ROUNDED = 1e-12  # rounding error of a mean, relative to the largest difference
_SAME = 1e-9  # relative; smaller differences are rounding errors
_INSIDE = Constraint(
    lambda value: isinstance(value, float) and 0 < value < 1, "a number between 0 and 1"
)


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Result of a paired significance test: mean difference, p-value, and interval.

    Attributes
    ----------
    method : str
        Name of the test.
    difference : float
        Mean of the first system minus mean of the second.
    p_value : float
        Probability of a difference at least as large, in either direction, if the systems do not
        differ.
    interval : tuple of two floats, or None
        Confidence interval of the difference. None for a test without an interval.
    confidence : float or None
        Confidence level of the interval.
    n : int
        Number of pairs.
    resamples : int or None
        Number of samples. None for the t-test.
    exact : bool
        True if the p-value is computed from all possible samples or from a formula, False if it is
        estimated from random samples.
    """

    method: str
    difference: float
    p_value: float
    interval: tuple[float, float] | None
    confidence: float | None
    n: int
    resamples: int | None
    exact: bool

    def __str__(self) -> str:
        found = f"difference {self.difference:+.4f}"
        if self.interval is not None and self.confidence is not None:
            low, high = self.interval
            found += f" ({100 * self.confidence:g} % from {low:+.4f} to {high:+.4f})"
        return f"{found}, p = {self.p_value:.4f}, {self.n} pairs ({self.method})"


def paired_bootstrap(
    first: ArrayLike | QueryScores,
    second: ArrayLike | QueryScores,
    *,
    resamples: int = 10_000,
    confidence: float = 0.95,
    random_state: int | None = 0,
) -> PairedTest:
    r"""Test by a paired bootstrap whether two systems differ on the same queries.

    Parameters
    ----------
    first, second : QueryScores, or array-like of shape (n,)
        Values of each system for the same queries, documents or splits, in the same order. For a
        classifier, pass the correctness of each prediction (``predicted == true``).
    resamples : int, default=10000
        Number of samples of n pairs, with replacement.
    confidence : float, default=0.95
        Confidence level of the interval.
    random_state : int or None, default=0
        Random seed. If None, a different seed for each call.

    Returns
    -------
    PairedTest
        Result with an interval.

    Raises
    ------
    ValueError
        If lengths differ, there are fewer than two pairs, a value is not finite, or `QueryScores`
        have different queries.

    See Also
    --------
    paired_randomization : Test with fewer assumptions and without an interval.

    Notes
    -----
    Let d be the mean difference, and :math:`d^*` the mean difference of a sample. The interval
    lies between two percentiles of :math:`d^*`. The p-value is the fraction of samples with
    :math:`|d^* - d| \ge |d|`. The observed sample is counted, so p is never 0.

    References
    ----------
    Efron and Tibshirani, An Introduction to the Bootstrap, Chapman and Hall 1993, chapters 13, 16.

    Examples
    --------
    >>> from textkin.evaluate import paired_bootstrap
    >>> ours, theirs = [0.8, 0.6, 0.7, 0.9, 0.5], [0.7, 0.5, 0.7, 0.6, 0.4]
    >>> found = paired_bootstrap(ours, theirs)
    >>> round(found.difference, 3), found.p_value < 0.05
    (0.12, True)
    >>> [round(end, 3) for end in found.interval]
    [0.04, 0.22]
    """
    integer(low=1).check("resamples", resamples)
    _INSIDE.check("confidence", confidence)
    apart = _differences(first, second)
    n, observed = len(apart), float(apart.mean())
    drawn = _random(random_state)
    means = np.concatenate(
        [apart[drawn.integers(n, size=(rows, n))].mean(axis=1) for rows in _blocks(resamples, n)]
    )
    as_far = np.abs(means - observed) >= _at_least(apart)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return PairedTest(
        "paired bootstrap",
        observed,
        (1 + int(as_far.sum())) / (1 + resamples),
        (float(low), float(high)),
        confidence,
        n,
        resamples,
        exact=False,
    )


def paired_randomization(
    first: ArrayLike | QueryScores,
    second: ArrayLike | QueryScores,
    *,
    resamples: int = 10_000,
    random_state: int | None = 0,
) -> PairedTest:
    r"""Test by Fisher's randomization whether two systems differ on the same queries.

    Parameters
    ----------
    first, second : QueryScores, or array-like of shape (n,)
        See `paired_bootstrap`.
    resamples : int, default=10000
        Number of random permutations. If there are at most as many permutations in all
        (:math:`2^n`; with the default, up to 13 pairs), all are used and the p-value is exact.
    random_state : int or None, default=0
        Random seed. If None, a different seed for each call.

    Returns
    -------
    PairedTest
        Result without an interval.

    Raises
    ------
    ValueError
        See `paired_bootstrap`.

    Notes
    -----
    If the systems do not differ, both signs of each difference are equally likely. The p-value is
    the fraction of sign assignments whose mean is at least as far from 0 as the observed mean. The
    observed assignment is counted among random ones.

    References
    ----------
    Smucker, Allan and Carterette, "A Comparison of Statistical Significance Tests for Information
    Retrieval Evaluation", CIKM 2007.

    Examples
    --------
    >>> from textkin.evaluate import paired_randomization
    >>> found = paired_randomization([0.8, 0.6, 0.7, 0.9], [0.7, 0.5, 0.7, 0.6])
    >>> found.p_value, found.exact
    (0.25, True)
    >>> print(found)
    difference +0.1250, p = 0.2500, 4 pairs (paired randomization)
    """
    integer(low=1).check("resamples", resamples)
    apart = _differences(first, second)
    n, observed = len(apart), float(apart.mean())
    limit = _at_least(apart)
    exact = n < 64 and 2**n <= resamples
    resamples = 2**n if exact else resamples
    drawn = _random(random_state)
    as_far = done = 0
    for rows in _blocks(resamples, n):
        if exact:
            flipped = np.arange(done, done + rows)[:, None] >> np.arange(n) & 1
        else:
            flipped = drawn.integers(2, size=(rows, n), dtype=np.int8)
        as_far += int((np.abs((1 - 2 * flipped) @ apart) / n >= limit).sum())
        done += rows
    p_value = as_far / resamples if exact else (1 + as_far) / (1 + resamples)
    return PairedTest("paired randomization", observed, p_value, None, None, n, resamples, exact)


def paired_t_test(
    first: ArrayLike | QueryScores,
    second: ArrayLike | QueryScores,
    *,
    confidence: float = 0.95,
) -> PairedTest:
    r"""Test by Student's paired t-test (two-sided) whether two systems differ.

    Parameters
    ----------
    first, second : QueryScores, or array-like of shape (n,)
        See `paired_bootstrap`.
    confidence : float, default=0.95
        Confidence level of the interval.

    Returns
    -------
    PairedTest
        Result with an interval. If all differences are 0, the p-value is 1.

    Raises
    ------
    ValueError
        See `paired_bootstrap`; also if all differences are equal and not 0, because their variance
        is then 0.

    Notes
    -----
    The statistic :math:`t = \bar d \sqrt{n} / s`, where s is the standard deviation of the
    differences, has Student's distribution with n - 1 degrees of freedom. The test assumes that the
    mean of the differences is normally distributed, which five splits cannot confirm. Values on
    splits of the same documents are also less independent than the test assumes.

    Examples
    --------
    >>> from textkin.evaluate import paired_t_test
    >>> print(paired_t_test([0.8, 0.6, 0.7, 0.9], [0.7, 0.5, 0.7, 0.6]))
    difference +0.1250 (95 % from -0.0752 to +0.3252), p = 0.1411, 4 pairs (paired t-test)
    """
    from scipy import stats  # importing takes a second

    _INSIDE.check("confidence", confidence)
    apart = _differences(first, second)
    n, observed = len(apart), float(apart.mean())
    if not apart.any():
        return PairedTest("paired t-test", 0.0, 1.0, (0.0, 0.0), confidence, n, None, exact=True)
    if np.ptp(apart) <= _SAME * np.abs(apart).max():
        raise ValueError(
            f"first and second must not differ by a constant; got {observed:g} for all {n} "
            "pairs. Call paired_randomization instead."
        )
    spread = float(apart.std(ddof=1)) / n**0.5
    p_value = 2 * float(stats.t.sf(abs(observed) / spread, n - 1))
    reach = spread * float(stats.t.ppf((1 + confidence) / 2, n - 1))
    interval = (observed - reach, observed + reach)
    return PairedTest("paired t-test", observed, p_value, interval, confidence, n, None, exact=True)


def _differences(first: Any, second: Any) -> Float64Array:  # noqa: ANN401 (as callers pass it)
    if isinstance(first, QueryScores) and isinstance(second, QueryScores):
        if first.values.keys() != second.values.keys():
            other = len(first.values.keys() ^ second.values.keys())
            raise ValueError(
                "first and second must have the same queries; "
                f"{other} of them are only in one. Compute both from the same judgments."
            )
        second = [second.values[query] for query in first.values]
    sides = [_numbers(name, side) for name, side in (("first", first), ("second", second))]
    if sides[0].ndim != 1 or sides[0].shape != sides[1].shape:
        raise ValueError(
            "first and second must be lists of values for the same things; got shapes "
            f"{sides[0].shape} and {sides[1].shape}."
        )
    if len(sides[0]) < 2:
        raise ValueError(f"first and second must have at least 2 values; got {len(sides[0])}.")
    for name, side in zip(("first", "second"), sides, strict=True):
        if not np.isfinite(side).all():
            at = int(np.flatnonzero(~np.isfinite(side))[0])
            raise ParameterError(name, "finite numbers", f"{side[at]} at position {at}")
    apart: Float64Array = sides[0] - sides[1]
    return apart


def _numbers(name: str, side: Any) -> Float64Array:  # noqa: ANN401 (as callers pass it)
    try:
        return np.asarray(side, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ParameterTypeError(
            name,
            "a QueryScores, or a list of one number for each query, document or split",
            f"{type(side).__name__}: {problem}",
        ) from problem


def _at_least(apart: Float64Array) -> float:
    """Return the absolute mean difference, lowered by the rounding error of sums.

    The tolerance is relative to the largest difference: a mean of 0 can be computed as 1e-17.
    """
    return abs(float(apart.mean())) - _ROUNDED * float(np.abs(apart).max())


def _random(random_state: int | None) -> np.random.Generator:
    (one_of(None) | integer(low=0)).check("random_state", random_state)
    return np.random.default_rng(random_state)


def _blocks(resamples: int, n: int) -> Iterator[int]:
    """Yield the numbers of samples to draw at a time, so that memory stays limited."""
    most = max(1, _BLOCK // n)
    for start in range(0, resamples, most):
        yield min(most, resamples - start)
