"""Filters on ID, label, and metadata, as immutable expression trees.

A filter is a value: conditions on fields, joined by and, or, and not. It is made from a mapping or
from text, can be hashed and compared, and converts to text that parses to the same filter.
`_columns` evaluates filters on documents.
"""

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from textkin._base import abbreviate
from textkin.index.store import is_text

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
    "number_in",
    "read_scalar",
    "scalar",
]

Kind: TypeAlias = Literal["null", "boolean", "number", "string"]
DEEPEST = 32  # maximum nesting depth of filters
KEYWORDS = frozenset({"and", "or", "not", "in"})
_LONGEST_NUMBER = 4096  # bits; Python cannot convert much longer numbers to text
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_BARE = re.compile(r"""[^\s()=!<>,"'{}]+""")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_CONSTANTS = {"null": None, "true": True, "false": False}
_HOW = (
    "Write {'field': value}, {'field': [values]} or {'field': {operator: value}} with the "
    "operators ==, !=, <, <=, >, >=, in, exists."
)


class Scalar(NamedTuple):
    """Typed value in a filter: 1, True, and "1" differ, but 1 equals 1.0."""

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
    """Base class of filter expressions over the ID, label, and metadata of a document.

    `parse_filter` makes a filter from text or a mapping. `Index.search` and `Index.similar` accept
    all three as ``where``. Filters with the same conditions in the same order are equal, and can be
    dictionary keys.

    See Also
    --------
    parse_filter : Parse a filter.
    """

    @property
    @abstractmethod
    def fields(self) -> tuple[str, ...]:
        """Names of the fields in the filter, without duplicates."""

    @abstractmethod
    def __str__(self) -> str: ...

    def __repr__(self) -> str:
        return f"Filter({str(self)!r})"


Where: TypeAlias = Filter | Mapping[str, Any] | str
"""Filter, or text or a mapping that `parse_filter` converts to one."""


@dataclass(frozen=True, slots=True, repr=False)
class Condition(Filter):
    """Comparison of one field with values; true if any value of the field satisfies it.

    Attributes
    ----------
    field : str
        ``id``, ``label``, or the name of a metadata field; dots separate nested names.
    operator : {"in", "!=", "<", "<=", ">", ">=", "exists"}
        Operator. Equality is "in" with one value.
    values : tuple of Scalar
        Values to compare with: one for comparisons, empty for "exists".
    """

    field: str
    operator: str
    values: tuple[Scalar, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """Name of the compared field, as a tuple with one element."""
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
    """Filters joined by "and" or "or", or one filter negated by "not".

    Attributes
    ----------
    operator : {"and", "or", "not"}
        Operator that joins the parts.
    parts : tuple of Filter
        Joined filters; one for "not". An empty "and" selects every document.
    """

    operator: str
    parts: tuple[Filter, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields in all parts, without duplicates."""
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
    """Create a condition in canonical form, with the values of "in" sorted."""
    found = tuple(values)
    if operator in ("=", "=="):
        operator = "in"
    if operator in ("<", "<=", ">", ">=") and found[0].kind not in ("number", "string"):
        raise TypeError(
            f"the filter on {field!r}: {operator} compares with a number or a string; got "
            f"{found[0]}. Use = for equality, or exists(...) for fields that exist."
        )
    if field == "id":  # IDs are strings, but users write numeric IDs without quotes
        found = tuple(
            Scalar("string", str(one.value)) if isinstance(one.value, int) else one for one in found
        )
    if operator == "in":
        found = tuple(sorted(set(found)))
    return Condition(field, operator, found)


def group(operator: str, parts: Iterable[Filter]) -> Filter:
    """Join filters by an operator; nested groups with the same operator are flattened."""
    found: list[Filter] = []
    for part in parts:
        same = isinstance(part, Group) and part.operator == operator != "not"
        found += part.parts if same and isinstance(part, Group) else [part]
    if len(found) == 1 and operator != "not":
        return found[0]
    return Group(operator, tuple(found))


def mapping_filter(where: Mapping[str, Any]) -> Filter:
    """Convert a mapping from fields to values, such as {"year": 2015}, to a filter.

    Raises
    ------
    ValueError, TypeError
        If the mapping is not a valid filter.
    """
    return group("and", []) if not where else _of_mapping(where, 1)


def scalar(value: object, where: str) -> Scalar:
    """Convert a Python value to a `Scalar`; raise TypeError for unsupported types.

    Raises
    ------
    TypeError, ValueError
        If the value has a type that documents cannot have.
    """
    if value is None:
        return Scalar("null", None)
    if isinstance(value, bool | np.bool_):
        return Scalar("boolean", bool(value))
    if isinstance(value, str):
        if not is_text(value):
            raise ValueError(f"{where} must be valid Unicode; got an unpaired surrogate.")
        return Scalar("string", str(value))
    if isinstance(value, Integral):
        if int(value).bit_length() > _LONGEST_NUMBER:
            raise ValueError(f"{where} must have at most {_LONGEST_NUMBER} bits.")
        return Scalar("number", int(value))
    if isinstance(value, Real):
        if not math.isfinite(value):
            raise ValueError(f"{where} must be a finite number; got {value}.")
        return Scalar("number", float(value))
    hint = ""
    if hasattr(value, "isoformat"):
        hint = " Dates are stored as strings: pass value.isoformat()."
    raise TypeError(
        f"{where} must be a string, a number, True, False or None; got {abbreviate(value, 40)} "
        f"({type(value).__name__}).{hint}"
    )


def read_scalar(text: str) -> Scalar:
    """Convert an unquoted word of a filter to a number, JSON constant, or string."""
    if text in _CONSTANTS:
        return scalar(_CONSTANTS[text], text)
    if _NUMBER.fullmatch(text):
        try:
            return scalar(json.loads(text), "a number")
        except ValueError:
            raise ValueError("this number is too large") from None
    return Scalar("string", text)


def number_in(text: str) -> float | None:
    """Return the number that a string is written as, such as 20 for "20", or None."""
    if text[:1] not in "-0123456789" or not _NUMBER.fullmatch(text):
        return None
    with suppress(ValueError, OverflowError):  # too many digits
        found: float = json.loads(text)
        return found if math.isfinite(found) else None
    return None


def checked_field(field: object) -> str:
    """Return a field name unchanged, or raise if it is invalid."""
    if not isinstance(field, str):
        raise TypeError(
            f"the fields of a filter must be strings; got {type(field).__name__}. {_HOW}"
        )
    if not field or not is_text(field):
        raise ValueError(f"a field of a filter must have a name; got {field!r}. {_HOW}")
    return field


def _of_mapping(where: object, depth: int) -> Filter:
    if depth > DEEPEST:
        raise ValueError(f"filters must not be nested deeper than {DEEPEST}.")
    if not isinstance(where, Mapping):
        raise TypeError(
            f"a filter must be a mapping; got {abbreviate(where, 40)} ({type(where).__name__}). "
            + _HOW
        )
    if not where:
        raise ValueError(f"a nested filter must have at least one condition; got {{}}. {_HOW}")
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
                f"{name!r} must have a list of filters, or a list of values if it is a field; "
                f"got {abbreviate(asked, 60)}."
            )
    if name == "not" and isinstance(asked, Mapping):
        return group("not", [_of_mapping(asked, depth + 1)])
    if name in _COMPARISONS or name == "=":
        raise ValueError(
            f"the field of a condition must come first; got the operator {name!r}. "
            f"Pass {{'field': {{{name!r}: value}}}}."
        )
    if isinstance(asked, Mapping):
        if not asked:
            raise ValueError(f"the filter on {name!r} must not be empty. {_HOW}")
        return group("and", [_of_operator(name, op, value) for op, value in asked.items()])
    if isinstance(asked, list | tuple | set | frozenset):
        return _of_operator(name, "in", asked)
    return _of_operator(name, "==", asked)


def _of_operator(field: str, operator: object, value: object) -> Filter:
    where = f"the filter on {field!r}"
    if operator == "exists":
        if not isinstance(value, bool):
            raise TypeError(f"{where}: exists must be True or False; got {abbreviate(value, 40)}.")
        found = condition(field, "exists")
        return found if value else group("not", [found])
    if operator == "in":
        if not isinstance(value, list | tuple | set | frozenset):
            raise TypeError(
                f"{where}: in must have a list of values; got {abbreviate(value, 40)} "
                f"({type(value).__name__})."
            )
        return condition(field, "in", [scalar(item, f"{where}: a value of in") for item in value])
    if operator in _COMPARISONS or operator == "=":
        return condition(field, str(operator), [scalar(value, f"{where}: the value")])
    nested = ""
    if isinstance(operator, str):
        nested = f" For nested metadata, use '{field}.{operator}'."
    raise ValueError(
        f"{where}: unknown operator {abbreviate(operator, 40)}; expected one of "
        f"{', '.join(map(repr, _COMPARISONS))}, 'in', 'exists'.{nested}"
    )


def _field_text(field: str) -> str:
    plain = _BARE.fullmatch(field) and field.isprintable()
    return field if plain and field.lower() not in KEYWORDS else _quoted(field)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=not text.isprintable())
