"""One wording for all checks of parameters."""

import numpy as np
import pytest

from textkin._validation import check_params, instance_of, integer, one_of, real


@pytest.mark.parametrize("value", [1, np.int32(3), 10])
def test_integers_pass(value):
    integer(1, 10).check("n", value)


@pytest.mark.parametrize(
    ("value", "error"), [(0, ValueError), (11, ValueError), (1.0, TypeError), (True, TypeError)]
)
def test_other_integers_do_not(value, error):
    expected = "n must be a whole number at least 1 and at most 10; got"
    with pytest.raises(error, match=expected):
        integer(1, 10).check("n", value)


def test_real_numbers_are_finite():
    real(0).check("a", 0.5)
    for value in (np.nan, np.inf, -0.1):
        with pytest.raises(ValueError, match="a must be a finite number at least 0; got"):
            real(0).check("a", value)
    with pytest.raises(TypeError, match="a must be a finite number"):
        real().check("a", "1")


def test_choices_are_of_their_type():
    choice = one_of("l1", None, True)
    for value in ("l1", None, True):
        choice.check("norm", value)
    for value in ("L1", 1, False, np.array(["l1"])):
        with pytest.raises(ValueError, match="norm must be one of 'l1', None, True; got"):
            choice.check("norm", value)


def test_either_constraint_may_pass():
    either = one_of(None) | integer(1)
    either.check("n", None)
    either.check("n", 5)
    with pytest.raises(ValueError, match="n must be None or a whole number at least 1; got 0"):
        either.check("n", 0)


def test_instances():
    with pytest.raises(TypeError, match="words must be a list; got 3"):
        instance_of(list, "a list").check("words", 3)


def test_long_values_are_cut_short():
    with pytest.raises(ValueError, match=r"got 'x{76}\.\.\.\."):
        one_of("a").check("name", "x" * 500)


def test_estimators_are_checked_parameter_by_parameter():
    class Estimator:
        _constraints = {"n": integer(1)}  # noqa: RUF012
        n = 0

    with pytest.raises(ValueError, match="n must be"):
        check_params(Estimator())
    check_params(object())
