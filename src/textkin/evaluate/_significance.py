"""Is one system better than another, or was it chance: three tests on paired values.

Both systems are measured on the same queries, documents or splits, and only the differences count.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from textkin._typing import Float64Array
from textkin._validation import Constraint, integer, one_of
from textkin.evaluate._retrieval import QueryScores

__all__ = ["PairedTest", "paired_bootstrap", "paired_randomisation", "paired_t_test"]

_BLOCK = 1 << 20  # numbers drawn at a time
_ROUNDED = 1e-12  # what rounding may change a mean by, of the largest difference
_SAME = 1e-9  # differences that are this near, of their size, differ by rounding only
_INSIDE = Constraint(
    lambda value: isinstance(value, float) and 0 < value < 1, "a number between 0 and 1"
)


@dataclass(frozen=True, slots=True)
class PairedTest:
    """What a test says of two systems.

    Attributes
    ----------
    method : str
        The name of the test.
    difference : float
        The mean of the first less that of the second.
    p_value : float
        How often, if the two were alike, a difference at least as large would come about by
        chance, in either direction.
    interval : tuple of two floats, or None
        Where the true difference lies, by the stated confidence; None from a test that does not
        tell.
    confidence : float or None
        Of the interval.
    n : int
        The number of pairs.
    resamples : int or None
        How many samples were looked at; None from the t-test.
    exact : bool
        Whether the p-value is of all possible samples, or follows from a formula; False where it
        is of some that were drawn.
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
    r"""Compare two systems by drawing queries or documents again and again.

    Parameters
    ----------
    first, second : QueryScores, or array-like of shape (n,)
        A value of each system for the same queries, documents or splits, in the same order; of a
        classifier, whether each document was right (``predicted == true``).
    resamples : int, default=10000
        How many samples of n pairs are drawn, with replacement.
    confidence : float, default=0.95
        Of the interval.
    random_state : int or None, default=0
        The seed. None takes another each time.

    Returns
    -------
    PairedTest
        With an interval.

    Raises
    ------
    ValueError
        For lists of different length, fewer than two pairs, values that are not finite, or
        `QueryScores` of different queries.

    See Also
    --------
    paired_randomisation : Has no interval, and fewer assumptions.

    Notes
    -----
    With d the mean difference and :math:`d^*` that of a sample, the interval goes from one
    percentile of the :math:`d^*` to another. The p-value is the share of samples with
    :math:`|d^* - d| \ge |d|`: as far from d as d is from 0. The observed sample counts as one of
    them, so p is never 0.

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


def paired_randomisation(
    first: ArrayLike | QueryScores,
    second: ArrayLike | QueryScores,
    *,
    resamples: int = 10_000,
    random_state: int | None = 0,
) -> PairedTest:
    r"""Compare two systems by exchanging their values at random (Fisher's test).

    Parameters
    ----------
    first, second : QueryScores, or array-like of shape (n,)
        As for `paired_bootstrap`.
    resamples : int, default=10000
        How many exchanges are looked at. Where there are no more than that (:math:`2^n`, so 13
        pairs), all of them are, and the p-value is exact.
    random_state : int or None, default=0
        The seed. None takes another each time.

    Returns
    -------
    PairedTest
        Without an interval.

    Raises
    ------
    ValueError
        As for `paired_bootstrap`.

    Notes
    -----
    If the systems were alike, each difference might as well have the other sign. The p-value is
    the share of all choices of signs whose mean is at least as far from 0 as the observed one; of
    drawn choices, the observed one counted among them.

    References
    ----------
    Smucker, Allan and Carterette, "A Comparison of Statistical Significance Tests for Information
    Retrieval Evaluation", CIKM 2007.

    Examples
    --------
    >>> from textkin.evaluate import paired_randomisation
    >>> found = paired_randomisation([0.8, 0.6, 0.7, 0.9], [0.7, 0.5, 0.7, 0.6])
    >>> found.p_value, found.exact
    (0.25, True)
    >>> print(found)
    difference +0.1250, p = 0.2500, 4 pairs (paired randomisation)
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
    return PairedTest("paired randomisation", observed, p_value, None, None, n, resamples, exact)


def paired_t_test(
    first: ArrayLike | QueryScores,
    second: ArrayLike | QueryScores,
    *,
    confidence: float = 0.95,
) -> PairedTest:
    r"""Compare two systems by Student's test of paired values, two-tailed.

    Parameters
    ----------
    first, second : QueryScores, or array-like of shape (n,)
        As for `paired_bootstrap`.
    confidence : float, default=0.95
        Of the interval.

    Returns
    -------
    PairedTest
        With an interval. Where all differences are 0 the p-value is 1.

    Raises
    ------
    ValueError
        As for `paired_bootstrap`; also where all differences are the same, and not 0, for then
        there is nothing to estimate their spread from.

    Notes
    -----
    :math:`t = \bar d \sqrt{n} / s` with s the standard deviation of the differences, against
    Student's distribution with n - 1 degrees of freedom. It takes the mean of the differences for
    normal, which five splits cannot show; two systems on five splits of the same documents are
    less independent than the test believes.

    Examples
    --------
    >>> from textkin.evaluate import paired_t_test
    >>> print(paired_t_test([0.8, 0.6, 0.7, 0.9], [0.7, 0.5, 0.7, 0.6]))
    difference +0.1250 (95 % from -0.0752 to +0.3252), p = 0.1411, 4 pairs (paired t-test)
    """
    from scipy import stats  # a second to import

    _INSIDE.check("confidence", confidence)
    apart = _differences(first, second)
    n, observed = len(apart), float(apart.mean())
    if not apart.any():
        return PairedTest("paired t-test", 0.0, 1.0, (0.0, 0.0), confidence, n, None, exact=True)
    if np.ptp(apart) <= _SAME * np.abs(apart).max():
        raise ValueError(
            f"first and second must not always differ by the same; got {observed:g} for all {n} "
            "pairs. paired_randomisation can judge that."
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
                "first and second must be of the same queries; "
                f"{other} of them are in one only. Measure both by the same judgements."
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
            raise ValueError(f"{name} must be finite numbers; got {side[at]} at position {at}.")
    apart: Float64Array = sides[0] - sides[1]
    return apart


def _numbers(name: str, side: Any) -> Float64Array:  # noqa: ANN401 (as callers pass it)
    try:
        return np.asarray(side, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise TypeError(
            f"{name} must be a QueryScores, or a list of one number for each query, document or "
            f"split; got {type(side).__name__}: {problem}."
        ) from problem


def _at_least(apart: Float64Array) -> float:
    """Return what a mean in another order must reach to be as large; the order of sums rounds.

    As the differences are large, not as their mean is: one of 0 may come out as 1e-17.
    """
    return abs(float(apart.mean())) - _ROUNDED * float(np.abs(apart).max())


def _random(random_state: int | None) -> np.random.Generator:
    (one_of(None) | integer(low=0)).check("random_state", random_state)
    return np.random.default_rng(random_state)


def _blocks(resamples: int, n: int) -> Iterator[int]:
    """Give the rows of one block of samples after the other, so that memory stays bounded."""
    most = max(1, _BLOCK // n)
    for start in range(0, resamples, most):
        yield min(most, resamples - start)
