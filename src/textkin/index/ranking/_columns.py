"""The fields of documents as columns, and which rows a filter lets through.

A column is read from the catalogue once for each state of an index: the values of a field, each
distinct one once and in order, and which row has which. A condition is then a range or a few
places in the order of values, found by bisection, and one pass over the rows.
"""

import json
import sys
import threading
from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from textkin._typing import BoolArray, Int32Array
from textkin.exceptions import DamagedIndexError
from textkin.index._catalogue import CATALOGUE
from textkin.index.ranking._filters import Condition, Filter, Group, Scalar
from textkin.index.ranking._view import View

__all__ = ["Column", "Columns", "Passed"]

_CHUNK = 4096  # documents that are read at a time; others may read in between
_COLUMN_BYTES = 256 << 20  # of columns that are kept
_MASK_BYTES = 32 << 20  # of masks that are kept
_OWN = ("id", "label")  # fields that are not of the metadata
_FALSE, _TRUE, _NULL, _OTHER = range(4)  # codes of single values, before numbers and strings
_FIRST = 4


@dataclass(frozen=True, slots=True, eq=False)
class Passed:
    """Which documents a filter lets through.

    Attributes
    ----------
    rows : ndarray of bool
        For each row of the view; not to be written to. Rows of deleted documents may be True.
    unknown_fields : tuple of str
        Fields that no document has.
    """

    rows: BoolArray
    unknown_fields: tuple[str, ...]

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
    nbytes : int
        About how much memory all of it takes.
    """

    rows: Int32Array
    codes: Int32Array
    numbers: Sequence[float]
    strings: Sequence[str]
    nbytes: int

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


class _Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


_Kept = TypeVar("_Kept", bound=_Sized)
_Key = TypeVar("_Key")


class _Recent(Generic[_Key, _Kept]):
    """What was used last, up to so many bytes, and always the very last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()

    def get(self, key: _Key) -> _Kept | None:
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: _Key, value: _Kept) -> None:
        self._kept[key] = value
        size = sum(kept.nbytes for kept in self._kept.values())
        while size > self._most and len(self._kept) > 1:
            size -= self._kept.popitem(last=False)[1].nbytes


class Columns:
    """The columns of a view, read when a filter asks for them; safe to be used by several threads.

    Kept are columns of up to 256 MB in all (a column takes 8 bytes a value and its distinct values)
    and the answers of up to 32 MB (a byte a document each), those that were used last.

    Parameters
    ----------
    view : View
        The documents.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._mutex = threading.Lock()
        self._columns: _Recent[str, Column] = _Recent(_COLUMN_BYTES)
        self._passed: _Recent[Filter, Passed] = _Recent(_MASK_BYTES)

    @classmethod
    def of(cls, view: View) -> "Columns":
        """Return those of a view, made once."""
        return view.once("columns", lambda: cls(view))

    def passed(self, asked: Filter) -> Passed:
        """Return which documents a filter lets through."""
        with self._mutex:
            found = self._passed.get(asked)
            if found is None:
                columns = self._read(asked.fields)
                rows = self._rows(asked, columns)
                rows.flags.writeable = False
                unknown = tuple(name for name in asked.fields if not len(columns[name].rows))
                found = Passed(rows, unknown)
                self._passed.put(asked, found)
            return found

    def _rows(self, asked: Filter, columns: dict[str, Column]) -> BoolArray:
        if isinstance(asked, Condition):
            return columns[asked.field].where(asked, self._view.n_rows)
        assert isinstance(asked, Group)
        parts = [self._rows(part, columns) for part in asked.parts]
        if asked.operator == "not":
            return ~parts[0]
        join = np.logical_and if asked.operator == "and" else np.logical_or
        found = np.full(self._view.n_rows, asked.operator == "and")
        for part in parts:
            join(found, part, out=found)
        return found

    def _read(self, fields: Sequence[str]) -> dict[str, Column]:
        """Return columns, with one pass over the catalogue for those that are not kept."""
        found = {field: self._columns.get(field) for field in fields}
        missing = [field for field, column in found.items() if column is None]
        makers = {field: _Making() for field in missing}
        if makers:
            for row, document in self._documents(missing):
                try:
                    for field, making in makers.items():
                        making.add(row, document, field)
                except RecursionError as error:
                    raise self._damaged(document["id"], error) from error
        for field, making in makers.items():
            found[field] = column = making.done()
            self._columns.put(field, column)
        return {field: column for field, column in found.items() if column is not None}

    def _documents(self, fields: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Give each document's row with what is asked for of it, in the order of rows."""
        view, snapshot = self._view, self._view.snapshot
        nested = any(field not in _OWN for field in fields)
        columns = f"position, id, label, {'metadata' if nested else repr('{}')}"
        last = -1
        while True:
            with snapshot.catalogue() as catalogue:
                chunk = catalogue.execute(
                    f"SELECT {columns} FROM documents WHERE position > ? "
                    f"ORDER BY position LIMIT {_CHUNK}",
                    (last,),
                ).fetchall()
            if not chunk:
                return
            last = chunk[-1][0]
            rows = np.searchsorted(view.positions, [position for position, *_ in chunk])
            for row, (_, id, label, metadata) in zip(rows.tolist(), chunk, strict=True):
                try:
                    document = json.loads(metadata)
                    document["id"] = id
                    document["label"] = json.loads(label)
                except (RecursionError, TypeError, ValueError) as error:
                    raise self._damaged(id, error) from error
                yield row, document

    def _damaged(self, id: str, error: Exception) -> DamagedIndexError:
        return DamagedIndexError(
            f"{self._view.snapshot.folder / CATALOGUE}: the document {id!r} is damaged ({error}).",
            [f"{CATALOGUE}: document {id!r}"],
        )


class _Making:
    """A column that is being read."""

    def __init__(self) -> None:
        self._rows = array("i")
        self._codes = array("i")
        # In the order in which they come: numbers get even codes, strings odd ones.
        self._numbers: dict[float, int] = {}
        self._strings: dict[str, int] = {}
        self._size = 0

    def add(self, row: int, document: dict[str, Any], field: str) -> None:
        if field in document:
            value = document[field]
            if type(value) is str or type(value) is int:  # the many
                self._value(row, value)
            else:
                self._inside(row, value, None)
        else:
            self._inside(row, document, field)

    def _inside(self, row: int, value: object, path: str | None) -> None:
        """Add what a path leads to; the path None is a place itself."""
        if isinstance(value, list):
            for item in value:
                self._inside(row, item, path)
        elif path is None:
            self._value(row, value)
        elif isinstance(value, dict):
            if path in value:
                self._inside(row, value[path], None)
            else:
                first, dot, rest = path.partition(".")
                if dot and first in value:
                    self._inside(row, value[first], rest)

    def _value(self, row: int, value: object) -> None:
        if isinstance(value, str):
            code = self._strings.get(value, -1)
            if code < 0:
                code = self._strings[value] = _FIRST + 2 * len(self._strings) + 1
                self._size += sys.getsizeof(value)
        elif isinstance(value, bool):
            code = _TRUE if value else _FALSE
        elif isinstance(value, int | float) and value == value:
            code = self._numbers.get(value, -1)
            if code < 0:
                code = self._numbers[value] = _FIRST + 2 * len(self._numbers)
                self._size += sys.getsizeof(value)
        else:
            code = _NULL if value is None else _OTHER
        self._rows.append(row)
        self._codes.append(code)

    def done(self) -> Column:
        """Put the distinct values in order."""
        numbers, strings = sorted(self._numbers), sorted(self._strings)
        coded = np.zeros(_FIRST + 2 * max(len(numbers), len(strings)), np.int32)
        coded[:_FIRST] = range(_FIRST)
        for at, number in enumerate(numbers):
            coded[self._numbers[number]] = _FIRST + at
        for at, string in enumerate(strings):
            coded[self._strings[string]] = _FIRST + len(numbers) + at
        rows = np.array(self._rows, np.int32)
        codes = coded[np.array(self._codes, np.int32)]
        size = rows.nbytes + codes.nbytes + self._size + 8 * (len(numbers) + len(strings))
        return Column(rows, codes, numbers, strings, size)
