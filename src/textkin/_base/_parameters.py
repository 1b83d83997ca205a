"""Validation of parameters and arguments, with the same messages everywhere.

An estimator declares valid parameters in ``_constraints``, and calls `check_params` at the start of
``fit``; ``__init__`` only stores.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from textkin.exceptions import ParameterError, ParameterTypeError

__all__ = [
    "DEVICE",
    "PROGRESS",
    "Constraint",
    "check_params",
    "instance_of",
    "integer",
    "one_of",
    "positive",
    "real",
]


@dataclass(frozen=True, slots=True)
class Constraint:
    """Test of a parameter's value, with a description of the valid values.

    Attributes
    ----------
    accepts : callable
        Function that returns True for a valid value.
    expected : str
        Description of valid values, for messages.
    wrong_type : callable
        Function that returns True if an invalid value has a wrong type.
    choices : tuple of str
        All valid strings, if there is a fixed set.
    """

    accepts: Callable[[Any], bool]
    expected: str
    wrong_type: Callable[[Any], bool] = lambda _value: False
    choices: tuple[str, ...] = ()

    def __or__(self, other: "Constraint") -> "Constraint":
        """Return a constraint that accepts a value if either constraint accepts it."""
        return Constraint(
            lambda value: self.accepts(value) or other.accepts(value),
            f"{self.expected} or {other.expected}",
            lambda value: self.wrong_type(value) and other.wrong_type(value),
            (*self.choices, *other.choices),
        )

    def check(self, name: str, value: object, hint: str = "") -> None:
        """Raise `ParameterError` or `ParameterTypeError` if a value is invalid."""
        if self.accepts(value):
            return
        error = ParameterTypeError if self.wrong_type(value) else ParameterError
        raise error(name, self.expected, _shown(value), hint, choices=self.choices)


def one_of(*choices: object) -> Constraint:
    """Return a constraint that accepts exactly the given values."""
    shown = [repr(choice) for choice in choices]
    expected = shown[0] if len(shown) == 1 else f"one of {', '.join(shown)}"
    return Constraint(
        lambda value: any(_same(value, choice) for choice in choices),
        expected,
        choices=tuple(choice for choice in choices if isinstance(choice, str)),
    )


def integer(low: int | None = None, high: int | None = None) -> Constraint:
    """Return a constraint that accepts integers from `low` to `high` (inclusive), no booleans."""
    return _number("an integer", _is_integer, low, high)


def real(low: float | None = None, high: float | None = None) -> Constraint:
    """Return a constraint that accepts finite numbers from `low` to `high` (inclusive)."""
    return _number("a finite number", _is_real, low, high)


def positive(high: float | None = None) -> Constraint:
    """Return a constraint that accepts finite numbers above 0, up to `high` (inclusive)."""
    within = real(0, high)
    return Constraint(
        lambda value: within.accepts(value) and value > 0,
        "a finite number above 0" if high is None else f"a number above 0 and at most {high}",
        within.wrong_type,
    )


def instance_of(kind: type | tuple[type, ...], described: str) -> Constraint:
    """Return a constraint that accepts instances of `kind`, and raises TypeError for others."""
    return Constraint(
        lambda value: isinstance(value, kind),
        described,
        lambda value: not isinstance(value, kind),
    )


_DEVICES = re.compile(r"cpu|cuda(:[0-9]{1,4})?")

DEVICE = Constraint(
    lambda value: (
        value is None or (isinstance(value, str) and _DEVICES.fullmatch(value) is not None)
    ),
    "None, 'cpu', 'cuda' or one of several, such as 'cuda:1'",
    lambda value: not isinstance(value, str),
)
"""Constraint of a parameter ``device``."""

PROGRESS = Constraint(
    lambda value: value is None or callable(value),
    "None or a function of (done, total)",
    lambda value: True,  # any other value has the wrong type
)
"""Constraint of an argument ``progress``."""


def check_params(estimator: object) -> None:
    """Validate every parameter of an estimator by its `_constraints`."""
    constraints: Mapping[str, Constraint] = getattr(estimator, "_constraints", {})
    for name, constraint in constraints.items():
        constraint.check(name, getattr(estimator, name))


def _number(
    kind: str, is_kind: Callable[[Any], bool], low: float | None, high: float | None
) -> Constraint:
    limits = []
    if low is not None:
        limits.append(f"at least {low}")
    if high is not None:
        limits.append(f"at most {high}")
    return Constraint(
        lambda value: (
            is_kind(value)
            and (kind == "an integer" or _is_finite(value))
            and (low is None or value >= low)
            and (high is None or value <= high)
        ),
        " ".join([kind, " and ".join(limits)]).strip(),
        lambda value: not is_kind(value),
    )


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:  # an integer, or a fraction, beyond the range of floats
        return False


def _is_integer(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _same(value: object, choice: object) -> bool:
    if isinstance(value, np.bool_):  # grids of parameters may have NumPy booleans
        value = bool(value)
    if value is None or choice is None or isinstance(choice, bool):
        return value is choice
    return isinstance(value, type(choice)) and value == choice


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
