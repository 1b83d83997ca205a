"""The fields of documents as columns, and which rows a filter lets through.

A column has the values of a field, each distinct one once and in order, and which row has which. A
condition is then a range or a few places in the order of values, found by bisection, and one pass
over the rows.

What is at a position of the catalogue never changes, it is only deleted. So values are read once
while an index is open: a later state reads those of the documents that were added since.
"""

import json
import os
import sys
import threading
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textkin._typing import BoolArray, Int32Array, Int64Array
from textkin.exceptions import DamagedIndexError
from textkin.index._catalogue import CATALOGUE
from textkin.index.ranking._filters import Condition, Filter, Group, Scalar
from textkin.index.ranking._recent import Recent
from textkin.index.ranking._view import View

__all__ = ["Column", "Columns", "Field", "Passed", "passed_by"]

_CHUNK = 4096  # documents that are read at a time; others may read in between
_VALUE_BYTES = 256 << 20  # of values that are kept while an index is open
_COLUMN_BYTES = 256 << 20  # of columns that are kept for a state
_MASK_BYTES = 32 << 20  # of answers that are kept for a state
_OWN = ("id", "label")  # fields that are not of the metadata
_FALSE, _TRUE, _NULL, _OTHER = range(4)  # codes of single values, before numbers and strings
_FIRST = 4
_ENTRY = 100  # bytes of a place in a dictionary and its code
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True, eq=False)
class Passed:
    """Which documents a filter lets through.

    Attributes
    ----------
    rows : ndarray of bool
        For each row of the view; not to be written to. Rows of deleted documents may be True.
    unknown_fields : tuple of str
        Fields that no document has.
    notes : tuple of str
        Fields whose values are of another kind than what they are compared with, in sentences.
    """

    rows: BoolArray
    unknown_fields: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.rows.nbytes


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The values of a field.

    Attributes
    ----------
    rows, codes : ndarrays of int32
        A pair for each value of each document.
    numbers, strings : sequences
        The distinct values, ascending; the first number has the code 4, strings come after them.
    """

    rows: Int32Array
    codes: Int32Array
    numbers: Sequence[float]
    strings: Sequence[str]

    @property
    def nbytes(self) -> int:
        """How much memory it takes, but for the values themselves."""
        return 8 * (len(self.rows) + len(self.numbers) + len(self.strings))

    def where(self, asked: Condition, n_rows: int) -> BoolArray:
        """Return the rows some value of which fulfils a condition."""
        wanted = np.zeros(_FIRST + len(self.numbers) + len(self.strings), np.bool_)
        if asked.operator == "exists":
            wanted[:] = True
            wanted[_NULL] = False
        elif asked.operator in ("in", "!="):
            for value in asked.values:
                wanted[self._places(value, "==")] = True
            if asked.operator == "!=":
                wanted = ~wanted
        else:
            wanted[self._places(asked.values[0], asked.operator)] = True
        found = np.zeros(n_rows, np.bool_)
        found[self.rows[wanted[self.codes]]] = True
        return found

    def note(self, asked: Condition) -> str:
        """Say that numbers are compared with strings, or the other way round; else nothing."""
        kinds = {value.kind for value in asked.values}
        if asked.operator in ("exists", "!=") or len(kinds) != 1:
            return ""
        if kinds == {"number"} and self.strings and not self.numbers:
            return (
                f"The values of {asked.field!r} are strings here: compare with one in quotes, such "
                f"as {asked.field} {'=' if asked.operator == 'in' else asked.operator} "
                f"'{asked.values[0].value}'."
            )
        if kinds == {"string"} and self.numbers and not self.strings:
            return f"The values of {asked.field!r} are numbers here, and are in no quotes."
        return ""

    def _places(self, value: Scalar, operator: str) -> slice:
        """Return the codes of values that stand so to this one."""
        if value.kind == "null":
            return slice(_NULL, _NULL + 1)
        if value.kind == "boolean":
            code = _TRUE if value.value else _FALSE
            return slice(code, code + 1)
        order: Sequence[Any] = self.numbers if value.kind == "number" else self.strings
        first = _FIRST if value.kind == "number" else _FIRST + len(self.numbers)
        low, high = 0, len(order)
        if operator in ("==", ">="):
            low = bisect_left(order, value.value)
        if operator == ">":
            low = bisect_right(order, value.value)
        if operator in ("==", "<="):
            high = bisect_right(order, value.value)
        if operator == "<":
            high = bisect_left(order, value.value)
        return slice(first + low, first + max(low, high))


class Columns:
    """The columns of a view, made when a filter asks for them; safe to be used by several threads.

    Values take 12 bytes each, and each distinct one some hundred; up to 256 MB of them are kept
    while the index is open. Of each state columns of up to 256 MB (8 bytes a value) are kept, and
    answers of up to 32 MB (a byte a document each). Those that were used last stay.

    Parameters
    ----------
    view : View
        The documents.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._mutex = threading.Lock()
        self._columns: Recent[str, Column] = Recent(_COLUMN_BYTES)
        self._passed: Recent[Filter, Passed] = Recent(_MASK_BYTES)
        # A lock that was taken while the process was forked is never given back.
        kept = view.kept.setdefault(("columns", os.getpid()), _Values())
        assert isinstance(kept, _Values)
        self._values = kept

    @classmethod
    def of(cls, view: View) -> "Columns":
        """Return those of a view, made once."""
        return view.once("columns", lambda: cls(view))

    def passed(self, asked: Filter) -> Passed:
        """Return which documents a filter lets through."""
        with self._mutex:
            found = self._passed.get(asked)
            if found is None:
                columns = self._of_fields(asked.fields)
                found = passed_by(asked, columns, self._view.n_rows)
                self._passed.put(asked, found)
            return found

    def _of_fields(self, fields: Sequence[str]) -> dict[str, Column]:
        found = {field: self._columns.get(field) for field in fields}
        missing = [field for field, column in found.items() if column is None]
        if missing:
            for field, column in self._values.columns(self._view, missing).items():
                found[field] = column
                self._columns.put(field, column)
        return {field: column for field, column in found.items() if column is not None}


def passed_by(asked: Filter, columns: dict[str, Column], n_rows: int) -> Passed:
    """Return which rows a filter lets through, by the columns of its fields."""
    rows = _rows(asked, columns, n_rows)
    rows.flags.writeable = False
    unknown = tuple(name for name in asked.fields if not len(columns[name].rows))
    notes = [columns[one.field].note(one) for one in _conditions(asked)]
    return Passed(rows, unknown, tuple(dict.fromkeys(filter(None, notes))))


def _rows(asked: Filter, columns: dict[str, Column], n_rows: int) -> BoolArray:
    if isinstance(asked, Condition):
        return columns[asked.field].where(asked, n_rows)
    assert isinstance(asked, Group)
    parts = [_rows(part, columns, n_rows) for part in asked.parts]
    if asked.operator == "not":
        return ~parts[0]
    join = np.logical_and if asked.operator == "and" else np.logical_or
    found = np.full(n_rows, asked.operator == "and")
    for part in parts:
        join(found, part, out=found)
    return found


def _conditions(asked: Filter) -> Iterator[Condition]:
    if isinstance(asked, Condition):
        yield asked
    elif isinstance(asked, Group):
        for part in asked.parts:
            yield from _conditions(part)


class _Values:
    """The values of fields as they were read last; those of an open index."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._kept: Recent[str, Field] = Recent(_VALUE_BYTES)
        self._file: object = None

    def columns(self, view: View, fields: Sequence[str]) -> dict[str, Column]:
        """Return the columns of a view, after a look at the documents that are new."""
        with view.snapshot.catalogue() as catalogue:
            file = catalogue.file
        with self._mutex:
            if file != self._file:  # another index lies there now
                self._file, self._kept = file, Recent(_VALUE_BYTES)
            state = view.snapshot.state
            values: dict[str, Field] = {}
            for field in fields:
                one = self._kept.get(field)
                # What a later state has read lacks what was deleted in between.
                values[field] = one if one and one.number <= state.number else Field(field)
            for first in sorted({one.end for one in values.values()}):
                _read(view, first, [one for one in values.values() if one.end == first])
            found = {}
            for field, one in values.items():
                one.number, one.end = state.number, state.next_position
                found[field] = one.column(view)
                newest = self._kept.get(field)
                if newest is None or newest.number <= state.number:
                    # Values of deleted documents are carried along until they are the most.
                    mostly_there = 2 * len(found[field].rows) >= one.mark()
                    self._kept.put(field, one if mostly_there else Field(field))
            return found


def _read(view: View, first: int, fields: "Sequence[Field]") -> None:
    """Add the values of documents from a position on, in one pass; all of them, or none."""
    names = [field.name for field in fields]
    wanted = ["position", "id", "label" if "label" in names else "'null'"]
    wanted.append("'{}'" if all(name in _OWN for name in names) else "metadata")
    marks = [field.mark() for field in fields]
    last = first - 1
    try:
        while True:
            with view.snapshot.catalogue() as catalogue:
                chunk = catalogue.execute(
                    f"SELECT {', '.join(wanted)} FROM documents WHERE position > ? "
                    f"ORDER BY position LIMIT {_CHUNK}",
                    (last,),
                ).fetchall()
            if not chunk:
                return
            last = chunk[-1][0]
            for position, id, label, metadata in chunk:
                try:
                    nested = _DECODER.decode(metadata)
                    if not isinstance(nested, dict):
                        raise TypeError("its metadata are no JSON object")
                    for field in fields:
                        field.add(position, id, label, nested)
                except (RecursionError, TypeError, ValueError) as error:
                    raise DamagedIndexError(
                        f"{view.snapshot.folder / CATALOGUE}: the document {id!r} is damaged "
                        f"({error}).",
                        [f"{CATALOGUE}: document {id!r}"],
                    ) from error
    except BaseException:  # Ctrl-C too
        for field, mark in zip(fields, marks, strict=True):
            field.back_to(mark)
        raise


class Field:
    """The values of a field, by the positions of their documents.

    Parameters
    ----------
    name : str
        The field.

    Attributes
    ----------
    end : int
        The position up to which documents were read.
    number : int
        Of the state in which they were.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.end = 0
        self.number = 0
        self._positions = array("q")
        self._codes = array("i")
        # In the order in which they come: numbers get even codes, strings odd ones.
        self._numbers: dict[float, int] = {}
        self._strings: dict[str, int] = {}
        self._size = 0

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return 12 * len(self._codes) + self._size

    def mark(self) -> int:
        """Return how many values there are, to come back to."""
        return len(self._codes)

    def back_to(self, mark: int) -> None:
        """Forget the values that were added since; distinct ones that nobody has do no harm."""
        del self._positions[mark:], self._codes[mark:]

    def add(self, position: int, id: str, label: str, metadata: dict[str, Any]) -> None:
        """Add what a document has in the field."""
        if self.name == "id":
            self._value(position, id)
        elif self.name == "label":
            self._inside(position, _DECODER.decode(label), None)
        elif self.name in metadata:
            self._inside(position, metadata[self.name], None)
        else:
            self._inside(position, metadata, self.name)

    def _inside(self, position: int, value: object, path: str | None) -> None:
        """Add what a path leads to; the path None is a place itself."""
        if isinstance(value, list):
            for item in value:
                self._inside(position, item, path)
        elif path is None:
            self._value(position, value)
        elif isinstance(value, dict):
            if path in value:
                self._inside(position, value[path], None)
            else:
                first, dot, rest = path.partition(".")
                if dot and first in value:
                    self._inside(position, value[first], rest)

    def _value(self, position: int, value: object) -> None:
        if isinstance(value, str):
            code = self._strings.get(value, -1)
            if code < 0:
                code = self._strings[value] = _FIRST + 2 * len(self._strings) + 1
                self._size += sys.getsizeof(value) + _ENTRY
        elif isinstance(value, bool):
            code = _TRUE if value else _FALSE
        elif isinstance(value, int | float) and value == value:
            code = self._numbers.get(value, -1)
            if code < 0:
                code = self._numbers[value] = _FIRST + 2 * len(self._numbers)
                self._size += sys.getsizeof(value) + _ENTRY
        else:
            code = _NULL if value is None else _OTHER
        self._positions.append(position)
        self._codes.append(code)

    def column(self, view: View) -> Column:
        """Return the values that documents of a view have, the distinct ones in order."""
        positions, codes, numbers, strings = self._sorted()
        rows = np.searchsorted(view.positions, positions)
        there = rows < view.n_rows
        there[there] = view.live[rows[there]] & (view.positions[rows[there]] == positions[there])
        return Column(rows[there].astype(np.int32), codes[there], numbers, strings)

    def whole_column(self) -> Column:
        """Return all values that were added; positions are rows."""
        positions, codes, numbers, strings = self._sorted()
        return Column(positions.astype(np.int32), codes, numbers, strings)

    def _sorted(self) -> tuple[Int64Array, Int32Array, list[float], list[str]]:
        """Return positions and codes by the order of distinct values, and those."""
        numbers, strings = sorted(self._numbers), sorted(self._strings)
        coded = np.zeros(_FIRST + 2 * max(len(numbers), len(strings)), np.int32)
        coded[:_FIRST] = range(_FIRST)
        coded[_codes_of(self._numbers, numbers)] = np.arange(len(numbers)) + _FIRST
        coded[_codes_of(self._strings, strings)] = np.arange(len(strings)) + _FIRST + len(numbers)
        positions = np.array(self._positions, np.int64)
        return positions, coded[np.array(self._codes, np.int32)], numbers, strings


def _codes_of(codes: "dict[Any, int]", values: Sequence[Any]) -> Int32Array:
    return np.fromiter((codes[value] for value in values), np.int32, len(values))
