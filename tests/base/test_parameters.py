"""Messages of parameter checks."""

import numpy as np
import pytest

from textkin._base._parameters import check_params, instance_of, integer, one_of, real


@pytest.mark.parametrize("value", [1, np.int32(3), 10])
def test_integer_accepts_integers(value):
    integer(1, 10).check("n", value)


@pytest.mark.parametrize(
    ("value", "error"), [(0, ValueError), (11, ValueError), (1.0, TypeError), (True, TypeError)]
)
def test_integer_rejects_other_values(value, error):
    expected = "n must be an integer at least 1 and at most 10; got"
    with pytest.raises(error, match=expected):
        integer(1, 10).check("n", value)


def test_real_accepts_finite_numbers_only():
    real(0).check("a", 0.5)
    for value in (np.nan, np.inf, -0.1):
        with pytest.raises(ValueError, match="a must be a finite number at least 0; got"):
            real(0).check("a", value)
    with pytest.raises(TypeError, match="a must be a finite number"):
        real().check("a", "1")


def test_one_of_compares_types():
    choice = one_of("l1", None, True)
    for value in ("l1", None, True):
        choice.check("norm", value)
    for value in ("L1", 1, False, np.array(["l1"])):
        with pytest.raises(ValueError, match="norm must be one of 'l1', None, True; got"):
            choice.check("norm", value)


def test_union_accepts_either():
    either = one_of(None) | integer(1)
    either.check("n", None)
    either.check("n", 5)
    with pytest.raises(ValueError, match="n must be None or an integer at least 1; got 0"):
        either.check("n", 0)


def test_instance_of():
    with pytest.raises(TypeError, match="words must be a list; got 3"):
        instance_of(list, "a list").check("words", 3)


def test_long_values_are_truncated():
    with pytest.raises(ValueError, match=r"got 'x{76}\.\.\.\."):
        one_of("a").check("name", "x" * 500)


def test_check_params_checks_each_parameter():
    class Estimator:
        _constraints = {"n": integer(1)}  # noqa: RUF012
        n = 0

    with pytest.raises(ValueError, match="n must be"):
        check_params(Estimator())
    check_params(object())
