"""Checks of parameters and arguments, with one wording for all rooms.

An estimator declares what its parameters may be in ``_constraints`` and calls
`check_params` first thing in ``fit``; ``__init__`` only stores.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["Constraint", "check_params", "instance_of", "integer", "one_of", "real"]


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a parameter may be: a test, and the words that describe what passes."""

    accepts: Callable[[Any], bool]
    expected: str
    wrong_type: Callable[[Any], bool] = lambda _value: False

    def __or__(self, other: "Constraint") -> "Constraint":
        """Accept what either constraint accepts."""
        return Constraint(
            lambda value: self.accepts(value) or other.accepts(value),
            f"{self.expected} or {other.expected}",
            lambda value: self.wrong_type(value) and other.wrong_type(value),
        )

    def check(self, name: str, value: object) -> None:
        """Raise `ValueError`, or `TypeError` for a wrong type, unless `value` passes."""
        if self.accepts(value):
            return
        error = TypeError if self.wrong_type(value) else ValueError
        raise error(f"{name} must be {self.expected}; got {_shown(value)}.")


def one_of(*choices: object) -> Constraint:
    """Accept exactly the given values (None among them if given)."""
    shown = [repr(choice) for choice in choices]
    expected = shown[0] if len(shown) == 1 else f"one of {', '.join(shown)}"
    return Constraint(lambda value: any(_same(value, choice) for choice in choices), expected)


def integer(low: int | None = None, high: int | None = None) -> Constraint:
    """Accept whole numbers from `low` to `high`, both included; no booleans."""
    return _number("a whole number", _is_integer, low, high)


def real(low: float | None = None, high: float | None = None) -> Constraint:
    """Accept finite numbers from `low` to `high`, both included; no booleans."""
    return _number("a finite number", _is_real, low, high)


def instance_of(kind: type | tuple[type, ...], described: str) -> Constraint:
    """Accept instances of `kind`; anything else is a `TypeError`."""
    return Constraint(
        lambda value: isinstance(value, kind),
        described,
        lambda value: not isinstance(value, kind),
    )


def check_params(estimator: object) -> None:
    """Check every parameter of `estimator` that has a constraint."""
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
            and (kind == "a whole number" or _is_finite(value))
            and (low is None or value >= low)
            and (high is None or value <= high)
        ),
        " ".join([kind, " and ".join(limits)]).strip(),
        lambda value: not is_kind(value),
    )


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:  # a whole number, or a fraction, beyond all floats
        return False


def _is_integer(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _same(value: object, choice: object) -> bool:
    if isinstance(value, np.bool_):  # as grids of parameters have them
        value = bool(value)
    if value is None or choice is None or isinstance(choice, bool):
        return value is choice
    return isinstance(value, type(choice)) and value == choice


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
