"""Tests of the log-odds of words, with values computed by hand."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from textkin.learn._cluster_words import log_odds


def test_log_odds_match_worked_example():
    # One of two words: y = 8 inside, 2 outside; both sums are 10; a prior of 1 per word.
    delta = np.log(9 / 3) - np.log(3 / 9)
    z = delta / np.sqrt(1 / 9 + 1 / 3)
    assert_allclose(log_odds(np.array([8.0, 2]), np.array([2.0, 8]), prior=2.0), [z, -z])
    # Three words, a_0 = 6: the shares 6/12, 4/12, 2/12 give priors of 3, 2, and 1.
    inside, outside = np.array([4.0, 1, 1]), np.array([2.0, 3, 1])
    first = np.log(7 / (6 + 6 - 7)) - np.log(5 / (6 + 6 - 5))
    assert_allclose(
        log_odds(inside, outside, prior=6.0)[0], first / np.sqrt(1 / 7 + 1 / 5), rtol=1e-12
    )


def test_log_odds_of_absent_and_single_words_are_zero():
    assert_array_equal(log_odds(np.zeros(2), np.zeros(2)), [0, 0])
    assert log_odds(np.array([3.0, 0.0, 2]), np.array([1.0, 0.0, 9]))[1] == 0
    assert_array_equal(log_odds(np.array([3.0]), np.array([1.0])), [0])
    assert_allclose(log_odds(np.array([3.0, 5]), np.zeros(2)), [0, 0], atol=1e-12)
