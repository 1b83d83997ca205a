"""Filters: what is asked of the id, the label and the metadata of documents.

A filter is a value: conditions on fields, joined by and, or, not. It is made from a mapping or
from a line of text, can be hashed and compared, and prints itself as a line that reads as the same
filter again. `_columns` says which documents it lets through.
"""

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from textkin.index._records import is_text
from textkin.text.reading._document import shortened

__all__ = [
    "DEEPEST",
    "KEYWORDS",
    "Condition",
    "Filter",
    "Group",
    "Kind",
    "Scalar",
    "Where",
    "checked_field",
    "condition",
    "group",
    "mapping_filter",
    "read_scalar",
    "scalar",
]

Kind: TypeAlias = Literal["null", "boolean", "number", "string"]
DEEPEST = 32  # filters within each other
KEYWORDS = frozenset({"and", "or", "not", "in"})
_LONGEST_NUMBER = 4096  # bits; Python refuses to write much longer ones
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_BARE = re.compile(r"""[^\s()=!<>,"'{}]+""")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_CONSTANTS = {"null": None, "true": True, "false": False}
_HOW = (
    "Write {'field': value}, {'field': [values]} or {'field': {operator: value}} with the "
    "operators ==, !=, <, <=, >, >=, in, exists."
)


class Scalar(NamedTuple):
    """A value with its kind, so that 1, True and "1" are three values and 1 and 1.0 are one."""

    kind: Kind
    value: Any

    def __str__(self) -> str:
        if self.kind != "string":
            return json.dumps(self.value)
        bare = _BARE.fullmatch(self.value) and self.value.isprintable()
        if bare and self.value.lower() not in KEYWORDS and read_scalar(self.value) == self:
            return str(self.value)
        return _quoted(self.value)


class Filter(ABC):
    """What is asked of documents: conditions on their fields, joined by and, or, not.

    Made by `parse_filter` from text or a mapping; `Index.search` and `Index.similar` take any of
    the three as ``where``. Filters that ask the same in the same order are equal, and can be keys.

    See Also
    --------
    parse_filter : Make one.
    """

    @property
    @abstractmethod
    def fields(self) -> tuple[str, ...]:
        """The fields that are asked for, each once."""

    @abstractmethod
    def __str__(self) -> str: ...

    def __repr__(self) -> str:
        return f"Filter({str(self)!r})"


Where: TypeAlias = Filter | Mapping[str, Any] | str
"""A filter, or what one is made from."""


@dataclass(frozen=True, slots=True, repr=False)
class Condition(Filter):
    """A condition on one field: some value of it is one of these, or stands so to this one.

    Attributes
    ----------
    field : str
        ``id``, ``label``, or the name of a field of the metadata, with dots to reach inside.
    operator : {"in", "!=", "<", "<=", ">", ">=", "exists"}
        Equality is "in" with one value.
    values : tuple of Scalar
        One for comparisons, none for "exists".
    """

    field: str
    operator: str
    values: tuple[Scalar, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The field."""
        return (self.field,)

    def __str__(self) -> str:
        name = _field_text(self.field)
        if self.operator == "exists":
            return f"exists({name})"
        if self.operator != "in":
            return f"{name} {self.operator} {self.values[0]}"
        if len(self.values) == 1:
            return f"{name} = {self.values[0]}"
        return f"{name} in ({', '.join(map(str, self.values))})"


@dataclass(frozen=True, slots=True, repr=False)
class Group(Filter):
    """Filters that all ("and"), or of which some ("or"), or of which the one must not hold.

    Attributes
    ----------
    operator : {"and", "or", "not"}
        How they are joined.
    parts : tuple of Filter
        One for "not"; none, only in an "and", lets every document through.
    """

    operator: str
    parts: tuple[Filter, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of all parts, each once."""
        return tuple(dict.fromkeys(chain.from_iterable(part.fields for part in self.parts)))

    def __str__(self) -> str:
        if not self.parts:
            return "{}"
        shown = [
            f"({part})" if isinstance(part, Group) and part.operator in ("and", "or") else str(part)
            for part in self.parts
        ]
        return f"not {shown[0]}" if self.operator == "not" else f" {self.operator} ".join(shown)


def condition(field: str, operator: str, values: Iterable[Scalar] = ()) -> Filter:
    """Return a condition in the one form that it has: values of "in" in order, each once."""
    found = tuple(values)
    if operator in ("=", "=="):
        operator = "in"
    if operator in ("<", "<=", ">", ">=") and found[0].kind not in ("number", "string"):
        raise TypeError(
            f"the filter on {field!r}: {operator} compares with a number or a string; got "
            f"{found[0]}. For equality write =, for fields that are there exists."
        )
    if field == "id":  # always a string, but a number is easily written for one
        found = tuple(
            Scalar("string", str(one.value)) if isinstance(one.value, int) else one for one in found
        )
    if operator == "in":
        found = tuple(sorted(set(found)))
    return Condition(field, operator, found)


def group(operator: str, parts: Iterable[Filter]) -> Filter:
    """Join filters; a group within one of the same kind is dissolved, and one of a single part."""
    found: list[Filter] = []
    for part in parts:
        same = isinstance(part, Group) and part.operator == operator != "not"
        found += part.parts if same and isinstance(part, Group) else [part]
    if len(found) == 1 and operator != "not":
        return found[0]
    return Group(operator, tuple(found))


def mapping_filter(where: Mapping[str, Any]) -> Filter:
    """Return the filter that a mapping is; an empty one lets every document through.

    Raises
    ------
    ValueError, TypeError
        If it is none, with what was expected and what came.
    """
    return group("and", []) if not where else _of_mapping(where, 1)


def scalar(value: object, where: str) -> Scalar:
    """Return a value of a filter with its kind.

    Raises
    ------
    TypeError, ValueError
        If documents have no such values.
    """
    if value is None:
        return Scalar("null", None)
    if isinstance(value, bool | np.bool_):
        return Scalar("boolean", bool(value))
    if isinstance(value, str):
        if not is_text(value):
            raise ValueError(f"{where} holds half of a surrogate pair, which no document has.")
        return Scalar("string", str(value))
    if isinstance(value, Integral):
        if int(value).bit_length() > _LONGEST_NUMBER:
            raise ValueError(f"{where} must have at most {_LONGEST_NUMBER} bits.")
        return Scalar("number", int(value))
    if isinstance(value, Real):
        if not math.isfinite(value):
            raise ValueError(f"{where} must be a finite number; got {value}.")
        return Scalar("number", float(value))
    way_out = ""
    if hasattr(value, "isoformat"):
        way_out = " Dates are kept as strings: write value.isoformat()."
    raise TypeError(
        f"{where} must be a string, a number, True, False or None; got {shortened(value, 40)} "
        f"({type(value).__name__}).{way_out}"
    )


def read_scalar(text: str) -> Scalar:
    """Return what a word that is not in quotes stands for: JSON's constants, or a string."""
    if text in _CONSTANTS:
        return scalar(_CONSTANTS[text], text)
    if _NUMBER.fullmatch(text):
        try:
            return scalar(json.loads(text), "a number")
        except ValueError:
            raise ValueError("this number is too large") from None
    return Scalar("string", text)


def checked_field(field: object) -> str:
    """Return the name of a field, unless it can be none."""
    if not isinstance(field, str):
        raise TypeError(f"the fields of a filter must be str; got {type(field).__name__}. {_HOW}")
    if not field or not is_text(field):
        raise ValueError(f"a field of a filter must have a name; got {field!r}. {_HOW}")
    return field


def _of_mapping(where: object, depth: int) -> Filter:
    if depth > DEEPEST:
        raise ValueError(f"filters must not be nested deeper than {DEEPEST}.")
    if not isinstance(where, Mapping):
        raise TypeError(
            f"a filter must be a mapping; got {shortened(where, 40)} ({type(where).__name__}). "
            + _HOW
        )
    if not where:
        raise ValueError(f"a filter within a filter must not be empty. {_HOW}")
    parts = [_of_entry(field, asked, depth) for field, asked in where.items()]
    return group("and", parts)


def _of_entry(field: object, asked: object, depth: int) -> Filter:
    name = checked_field(field)
    if name in ("and", "or") and isinstance(asked, list | tuple):
        inner = [isinstance(part, Mapping) for part in asked]
        if all(inner):
            if not inner:
                raise ValueError(f"{name!r} must have a list of at least one filter; got [].")
            return group(name, [_of_mapping(part, depth + 1) for part in asked])
        if any(inner):
            raise TypeError(
                f"{name!r} must have a list of filters only, or of values only if it is a field; "
                f"got {shortened(asked, 60)}."
            )
    if name == "not" and isinstance(asked, Mapping):
        return group("not", [_of_mapping(asked, depth + 1)])
    if name in _COMPARISONS or name == "=":
        raise ValueError(
            f"{name!r} is an operator and no field: write {{'field': {{{name!r}: value}}}}."
        )
    if isinstance(asked, Mapping):
        if not asked:
            raise ValueError(f"the filter on {name!r} is empty. {_HOW}")
        return group("and", [_of_operator(name, op, value) for op, value in asked.items()])
    if isinstance(asked, list | tuple | set | frozenset):
        return _of_operator(name, "in", asked)
    return _of_operator(name, "==", asked)


def _of_operator(field: str, operator: object, value: object) -> Filter:
    where = f"the filter on {field!r}"
    if operator == "exists":
        if not isinstance(value, bool):
            raise TypeError(f"{where}: exists must be True or False; got {shortened(value, 40)}.")
        found = condition(field, "exists")
        return found if value else group("not", [found])
    if operator == "in":
        if not isinstance(value, list | tuple | set | frozenset):
            raise TypeError(
                f"{where}: in must have a list of values; got {shortened(value, 40)} "
                f"({type(value).__name__})."
            )
        return condition(field, "in", [scalar(item, f"{where}: a value of in") for item in value])
    if operator in _COMPARISONS or operator == "=":
        return condition(field, str(operator), [scalar(value, f"{where}: the value")])
    nested = ""
    if isinstance(operator, str):
        nested = f" To reach into nested metadata write '{field}.{operator}'."
    raise ValueError(
        f"{where}: unknown operator {shortened(operator, 40)}; expected one of "
        f"{', '.join(map(repr, _COMPARISONS))}, 'in', 'exists'.{nested}"
    )


def _field_text(field: str) -> str:
    plain = _BARE.fullmatch(field) and field.isprintable()
    return field if plain and field.lower() not in KEYWORDS else _quoted(field)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=not text.isprintable())
