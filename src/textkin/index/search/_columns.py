"""Metadata fields as columns in memory, and evaluation of filters on them.

A column stores the sorted distinct values of a field, and the value code of each row. A condition
selects a range of codes or a few codes by bisection, and then needs one pass over the rows.

Documents at a position of the catalog never change; they can only be deleted. Therefore an open
index reads each value once: a later snapshot reads only the documents that were added since.
"""

import json
import os
import sys
import threading
from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from textkin._base import BoolArray, Int32Array, Int64Array
from textkin.exceptions import DamagedIndexError
from textkin.index.search._filters import Condition, Filter, Group, Scalar, number_in
from textkin.index.search._query_parser import ParsedQuery
from textkin.index.search._state import IndexState
from textkin.index.store import CATALOG
from textkin.reading import Document

if TYPE_CHECKING:
    from textkin.index.search._phrases import Phrases

__all__ = [
    "OWN_FIELDS",
    "Column",
    "Columns",
    "Field",
    "Passed",
    "Recent",
    "filter_documents",
    "passed_by",
]

_CHUNK = 4096  # documents read at a time; other threads may read in between
_VALUE_BYTES = 256 << 20  # maximum size of the values cached while an index is open
_COLUMN_BYTES = 256 << 20  # maximum size of the columns cached per snapshot
_MASK_BYTES = 32 << 20  # maximum size of the row masks cached per snapshot
OWN_FIELDS = ("id", "label")  # fields that are not metadata
_FALSE, _TRUE, _NULL, _OTHER = range(4)  # codes of single values, before numbers and strings
_FIRST = 4
_ENTRY = 100  # size of a dictionary entry and its code, in bytes
_MOST_KEPT = 1000  # maximum number of cached entries of any size
_KEPT = 1000  # overhead per cached entry, in bytes; an unknown field needs memory too
_OF_KEY = 50  # bytes per character of a key, because a filter consists of many small objects
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True, eq=False)
class Passed:
    """Result of filtering: a mask of rows (None: all), unknown fields, and notes.

    Attributes
    ----------
    rows : ndarray of bool, or None
        True for each selected row of the snapshot; read-only. Rows of deleted documents may be
        True. If None, all rows are selected.
    unknown_fields : tuple of str
        Fields of the filter that occur in no document.
    notes : tuple of str
        Sentences about fields whose values have another type than the values of the filter.
    phrases : Phrases or None
        Check of the texts of `rows`, for a query with phrases. If None, all `rows` pass.
    parsed : ParsedQuery or None
        Query text with its operators; None for a query without characters of operators.
    """

    rows: BoolArray | None = None
    unknown_fields: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    phrases: "Phrases | None" = None
    parsed: ParsedQuery | None = None

    @property
    def nbytes(self) -> int:
        """Memory used by the mask, in bytes."""
        return 0 if self.rows is None else self.rows.nbytes


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Sorted values of one metadata field, with the rows that have each value.

    Attributes
    ----------
    rows, codes : ndarrays of int32
        Row and value code of each value of each document.
    numbers, strings : sequences
        Distinct values in ascending order. The first number has the code 4; strings follow.
    written : sequence of (float, int)
        Number and code of each string that is written as a number, in ascending order.
    """

    rows: Int32Array
    codes: Int32Array
    numbers: Sequence[float]
    strings: Sequence[str]
    written: Sequence[tuple[float, int]] = ()

    @property
    def nbytes(self) -> int:
        """Memory used in bytes, without the distinct values themselves."""
        return 8 * (len(self.rows) + len(self.numbers) + len(self.strings))

    def where(self, asked: Condition, n_rows: int) -> BoolArray:
        """Return a mask of the rows with a value that satisfies a condition."""
        wanted = np.zeros(_FIRST + len(self.numbers) + len(self.strings), np.bool_)
        if asked.operator == "exists":
            wanted[:] = True
            wanted[_NULL] = False
        elif asked.operator in ("in", "!="):
            for value in asked.values:
                wanted[self._places(value, "==")] = True
                if value.kind == "number":
                    wanted[self._written(value.value, "==")] = True
            if asked.operator == "!=":
                wanted = ~wanted
        else:
            (value,) = asked.values
            wanted[self._places(value, asked.operator)] = True
            number = value.value if value.kind == "number" else number_in(value.value)
            if number is not None:  # "9" and "10" are in the order of numbers
                wanted[[code for _, code in self.written]] = False
                wanted[self._written(number, asked.operator)] = True
        found = np.zeros(n_rows, np.bool_)
        found[self.rows[wanted[self.codes]]] = True
        return found

    def note(self, asked: Condition) -> str:
        """Return a note if a condition compares numbers with strings, or ""."""
        kinds = {value.kind for value in asked.values}
        if asked.operator in ("exists", "!=") or len(kinds) != 1:
            return ""
        if kinds == {"number"} and self.strings and not (self.numbers or self.written):
            return (
                f"The values of {asked.field!r} are strings that are not numbers: quote the value, "
                f"as in {asked.field} {'=' if asked.operator == 'in' else asked.operator} "
                f"'{asked.values[0].value}'."
            )
        if kinds == {"string"} and self.numbers and not self.strings:
            return f"The values of {asked.field!r} are numbers: write the value without quotes."
        return ""

    def _places(self, value: Scalar, operator: str) -> slice:
        """Return the range of sorted values that satisfy a comparison with `value`."""
        if value.kind == "null":
            return slice(_NULL, _NULL + 1)
        if value.kind == "boolean":
            code = _TRUE if value.value else _FALSE
            return slice(code, code + 1)
        order: Sequence[Any] = self.numbers if value.kind == "number" else self.strings
        first = _FIRST if value.kind == "number" else _FIRST + len(self.numbers)
        low, high = _between(order, value.value, operator)
        return slice(first + low, first + high)

    def _written(self, number: float, operator: str) -> list[int]:
        """Return the codes of the strings written as numbers that satisfy a comparison."""
        low, high = _between(self.written, number, operator, key=itemgetter(0))
        return [code for _, code in self.written[low:high]]


def _between(
    order: Sequence[Any],
    value: Any,  # noqa: ANN401 (a number or a string)
    operator: str,
    key: Callable[[Any], Any] | None = None,
) -> tuple[int, int]:
    """Return the range of sorted values that satisfy a comparison."""
    low, high = 0, len(order)
    if operator in ("==", ">="):
        low = bisect_left(order, value, key=key)
    if operator == ">":
        low = bisect_right(order, value, key=key)
    if operator in ("==", "<="):
        high = bisect_right(order, value, key=key)
    if operator == "<":
        high = bisect_left(order, value, key=key)
    return low, max(low, high)


class Columns:
    """Columns of a snapshot, read when a filter first needs them; thread-safe.

    Each value takes 12 bytes, and each distinct value some hundred. At most 256 MB of values are
    cached while the index is open. Per snapshot, at most 256 MB of columns (8 bytes per value) and
    32 MB of results (1 byte per document) are cached. The least recently used are dropped first.

    Parameters
    ----------
    state : IndexState
        Snapshot of the index.
    """

    def __init__(self, state: IndexState) -> None:
        self._state = state
        self._mutex = threading.Lock()
        self._columns: Recent[str, Column] = Recent(_COLUMN_BYTES)
        self._passed: Recent[Filter, Passed] = Recent(_MASK_BYTES)
        # After a fork, a lock that another thread held is never released: the key has the PID.
        kept = state.kept.setdefault(("columns", os.getpid()), _Values())
        assert isinstance(kept, _Values)
        self._values = kept

    def passed(self, asked: Filter) -> Passed:
        """Return the documents that a filter selects; results are cached."""
        with self._mutex:
            found = self._passed.get(asked)
            if found is None:
                columns = self._of_fields(asked.fields)
                found = passed_by(asked, columns, self._state.n_rows)
                self._passed.put(asked, found)
            return found

    def _of_fields(self, fields: Sequence[str]) -> dict[str, Column]:
        found = {field: self._columns.get(field) for field in fields}
        missing = [field for field, column in found.items() if column is None]
        if missing:
            for field, column in self._values.columns(self._state, missing).items():
                found[field] = column
                self._columns.put(field, column)
        return {field: column for field, column in found.items() if column is not None}


def passed_by(asked: Filter, columns: dict[str, Column], n_rows: int) -> Passed:
    """Evaluate a filter on columns, and return the selected rows with notes."""
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
    """Cache of metadata values, shared by all snapshots of an open index."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._kept: Recent[str, Field] = Recent(_VALUE_BYTES)
        self._file: object = None

    def columns(self, state: IndexState, fields: Sequence[str]) -> dict[str, Column]:
        """Return the columns of fields in a snapshot; only new documents are read."""
        with state.snapshot.catalog() as catalog:
            file = catalog.file
        with self._mutex:
            if file != self._file:  # the catalog was replaced by another index
                self._file, self._kept = file, Recent(_VALUE_BYTES)
            numbers = state.snapshot.state
            values: dict[str, Field] = {}
            for field in fields:
                one = self._kept.get(field)
                # Values read in a later snapshot lack the documents deleted in between.
                values[field] = one if one and one.number <= numbers.number else Field(field)
            for first in sorted({one.end for one in values.values()}):
                _read(state, first, [one for one in values.values() if one.end == first])
            found = {}
            for field, one in values.items():
                one.number, one.end = numbers.number, numbers.next_position
                found[field] = one.column(state)
                newest = self._kept.get(field)
                if newest is None or newest.number <= numbers.number:
                    # Values of deleted documents stay until they are the majority.
                    mostly_there = 2 * len(found[field].rows) >= one.mark()
                    self._kept.put(field, one if mostly_there else Field(field))
            return found


def _read(state: IndexState, first: int, fields: "Sequence[Field]") -> None:
    """Read the values of fields from all documents after a position; on an error, add none."""
    names = [field.name for field in fields]
    wanted = ["position", "id", "label" if "label" in names else "'null'"]
    wanted.append("'{}'" if all(name in OWN_FIELDS for name in names) else "metadata")
    marks = [field.mark() for field in fields]
    last = first - 1
    try:
        while True:
            with state.snapshot.catalog() as catalog:
                chunk = catalog.execute(
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
                        raise TypeError("the metadata must be a JSON object")
                    for field in fields:
                        field.add(position, id, label, nested)
                except (RecursionError, TypeError, ValueError) as error:
                    raise DamagedIndexError(
                        f"{state.snapshot.folder / CATALOG}: the document {id!r} is corrupt "
                        f"({error}).",
                        [f"{CATALOG}: document {id!r}"],
                    ) from error
    except BaseException:  # includes KeyboardInterrupt
        for field, mark in zip(fields, marks, strict=True):
            field.back_to(mark)
        raise


class Field:
    """Growing list of one field's values, with the positions of their documents.

    Parameters
    ----------
    name : str
        Name of the field.

    Attributes
    ----------
    end : int
        Position after the last document that was read.
    number : int
        Number of the snapshot in which the documents were read.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.end = 0
        self.number = 0
        self._positions = array("q")
        self._codes = array("i")
        # Codes in order of first occurrence: even codes for numbers, odd codes for strings.
        self._numbers: dict[float, int] = {}
        self._strings: dict[str, int] = {}
        self._written: list[tuple[float, str]] = []  # strings that are written as numbers
        self._size = 0

    @property
    def nbytes(self) -> int:
        """Approximate memory use of the field's values in bytes."""
        return 12 * len(self._codes) + self._size

    def mark(self) -> int:
        """Return the current number of values, to which `back_to` can return."""
        return len(self._codes)

    def back_to(self, mark: int) -> None:
        """Remove the values that were added since `mark`."""
        del self._positions[mark:], self._codes[mark:]

    def add(self, position: int, id: str, label: str, metadata: dict[str, Any]) -> None:
        """Add the values that one document has in this field, with the document's position."""
        if self.name == "id":
            self._value(position, id)
        elif self.name == "label":
            self._inside(position, _DECODER.decode(label), None)
        elif self.name in metadata:
            self._inside(position, metadata[self.name], None)
        else:
            self._inside(position, metadata, self.name)

    def _inside(self, position: int, value: object, path: str | None) -> None:
        """Add the values at a path such as "author.name" inside a nested value."""
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
                number = number_in(value)
                if number is not None:
                    self._written.append((number, value))
                    self._size += _ENTRY
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

    def column(self, state: IndexState) -> Column:
        """Return the `Column` of this field for the rows of a snapshot."""
        positions, codes, numbers, strings, written = self._sorted()
        rows = np.searchsorted(state.positions, positions)
        there = rows < state.n_rows
        there[there] = state.live[rows[there]] & (state.positions[rows[there]] == positions[there])
        return Column(rows[there].astype(np.int32), codes[there], numbers, strings, written)

    def whole_column(self) -> Column:
        """Return the `Column` of all added values, with positions as rows."""
        positions, codes, numbers, strings, written = self._sorted()
        return Column(positions.astype(np.int32), codes, numbers, strings, written)

    def _sorted(
        self,
    ) -> tuple[Int64Array, Int32Array, list[float], list[str], list[tuple[float, int]]]:
        """Return positions, codes in the order of values, and the sorted values of a column."""
        numbers, strings = sorted(self._numbers), sorted(self._strings)
        coded = np.zeros(_FIRST + 2 * max(len(numbers), len(strings)), np.int32)
        coded[:_FIRST] = range(_FIRST)
        coded[_codes_of(self._numbers, numbers)] = np.arange(len(numbers)) + _FIRST
        coded[_codes_of(self._strings, strings)] = np.arange(len(strings)) + _FIRST + len(numbers)
        written = sorted(
            (number, int(coded[self._strings[text]])) for number, text in self._written
        )
        positions = np.array(self._positions, np.int64)
        return positions, coded[np.array(self._codes, np.int32)], numbers, strings, written


def _codes_of(codes: "dict[Any, int]", values: Sequence[Any]) -> Int32Array:
    return np.fromiter((codes[value] for value in values), np.int32, len(values))


def filter_documents(documents: Sequence[Document], asked: Filter) -> Passed:
    """Filter a list of documents, with the same result as in an index.

    Parameters
    ----------
    documents : sequence of Document
        Documents from any source. If a document has no label, the field ``label`` of its metadata
        is used.
    asked : Filter
        Filter to evaluate; see `parse_filter`.

    Examples
    --------
    >>> from textkin.index import filter_documents, parse_filter
    >>> from textkin.reading import Document
    >>> documents = [Document("a", "", metadata={"year": 2010})]
    >>> found = filter_documents(documents, parse_filter("year>=2015"))
    >>> found.rows.tolist(), found.unknown_fields
    ([False], ())
    """
    fields = [Field(name) for name in asked.fields]
    for row, document in enumerate(documents):
        metadata = dict(document.metadata)
        own = document.label
        label = metadata.get("label") if own is None else own
        for field in fields:
            field.add(row, document.id, json.dumps(label, default=str), metadata)
    columns = {field.name: field.whole_column() for field in fields}
    return passed_by(asked, columns, len(documents))


class _Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


_Kept = TypeVar("_Kept", bound=_Sized)
_Key = TypeVar("_Key")


class Recent(Generic[_Key, _Kept]):
    """Least-recently-used (LRU) cache of values, limited by their memory size.

    Parameters
    ----------
    most : int
        Maximum size, in bytes.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[_Key, tuple[_Kept, int]] = OrderedDict()

    def get(self, key: _Key) -> _Kept | None:
        """Return the cached value of a key and mark it as used, or None."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def put(self, key: _Key, value: _Kept) -> None:
        """Store a value; evict the least recently used values above the size limit."""
        self._kept[key] = value, _KEPT + _OF_KEY * len(str(key))
        self._kept.move_to_end(key)
        size = sum(kept.nbytes + own for kept, own in self._kept.values())
        while len(self._kept) > 1 and (size > self._most or len(self._kept) > _MOST_KEPT):
            kept, own = self._kept.popitem(last=False)[1]
            size -= kept.nbytes + own
