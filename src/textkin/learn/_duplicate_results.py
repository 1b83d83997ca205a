"""Base class of the results of `find_duplicates`, and their output as tables."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from operator import index as whole_number
from typing import Any, TypeVar, overload

import numpy as np

from textkin._base import DrawnResult, Float64Array, Int64Array, TableResult, integer
from textkin.explain import (
    Bar,
    Contributions,
    bars_svg,
    escape_markup,
    pad,
    render_page,
    shortened,
    text_width,
)
from textkin.learn._documents import are_numbers, part
from textkin.learn._equal_rows import keys_of_texts
from textkin.learn._measure import Measure
from textkin.text import StopWords, text_of
from textkin.transport import Comparison, PairBlock

__all__ = ["ComparedDocuments", "Duplicate", "DuplicateResult", "Table"]


_MAX_COLUMNS = 40  # cell width in text; the last cell takes the rest of the line
_MAX_LENGTH = 300  # maximum length of a cell in HTML
_CELL = '<td class="words" style="text-align:left;vertical-align:top">'
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Duplicate of another document, with its position, ID, distance, and the reason.

    Attributes
    ----------
    position : int
        Position among the documents.
    id : str or None
        ID, or None for a document without an ID.
    text : str
        Text, or words separated by spaces. Empty for rows of numbers.
    distance : float
        Distance from the document that it duplicates; 0 for equal documents.
    reason : str
        Reason: "same text", "same words", or the distance and the radius. "representative"
        for the representative of a group.
    """

    position: int
    id: str | None
    text: str
    distance: float
    reason: str

    @property
    def name(self) -> str:
        """ID of the document, or its position as a string if it has no ID."""
        return str(self.position) if self.id is None else self.id

    def to_dict(self) -> dict[str, Any]:
        """Return position, ID, distance, and reason as a dict of JSON types."""
        return {
            "position": self.position,
            "id": self.id,
            "distance": self.distance,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, eq=False)
class ComparedDocuments:
    """Documents that `find_duplicates` compares, with metric, radius, and fitted measure.

    Attributes
    ----------
    documents : list, or rows of numbers
        Documents of the set, then documents of the other set.
    n_documents : int
        Number of documents of the set.
    metric : str
        "text", "bag", or the name of a metric.
    radius : float or None
        Largest distance of duplicates. None for equal documents.
    measure : Measure or None
        Measure, fitted to all documents. None for equal documents.
    stop_words : str, None, path or collection of str
        Ignored words.
    index : pandas index or None
        Index of the documents of the set, if they came from a Series or a DataFrame.
    """

    documents: Any
    n_documents: int
    metric: str
    radius: float | None
    measure: Measure | None
    stop_words: StopWords
    index: Any = None

    def id(self, position: int) -> str | None:
        """Return the ID of a document, or None for a document without an ID."""
        if are_numbers(self.documents):
            return None
        found = getattr(self.documents[position], "id", None)
        return found if isinstance(found, str) else None

    def text(self, position: int) -> str:
        """Return the text or joined tokens of a document, or "" for a row of numbers."""
        if are_numbers(self.documents):
            return ""
        text = text_of(self.documents[position])
        if isinstance(text, str):
            return text
        return " ".join(text) if isinstance(text, list | tuple) else ""

    def duplicates(
        self, of: int, positions: Int64Array, distances: Float64Array
    ) -> tuple[Duplicate, ...]:
        """Create a `Duplicate` for each document that duplicates the document `of`."""
        reasons = self._reasons(of, positions, distances)
        return tuple(
            self.duplicate(at, distance, reason)
            for at, distance, reason in zip(
                positions.tolist(), distances.tolist(), reasons, strict=True
            )
        )

    def duplicate(self, at: int, distance: float, reason: str) -> Duplicate:
        """Create the `Duplicate` of a document from its position, distance, and reason."""
        position = at if at < self.n_documents else at - self.n_documents
        return Duplicate(position, self.id(at), self.text(at), distance, reason)

    def explain(self, position: int, of: int) -> Comparison | Contributions | None:
        """Explain the distance of two documents by its parts, or return None for equality."""
        if self.measure is None:
            return None
        numbers = are_numbers(self.documents)
        query = part(self.documents, [position]) if numbers else self.documents[position]
        return self.measure.explain(query, of)

    def criterion(self) -> str:
        """Return the criterion for duplicates as text, such as "wmd at most 0.5"."""
        if self.radius is None:
            return "the same text" if self.metric == "text" else "the same words"
        return f"{self.metric} at most {self.radius:g}"

    def _reasons(self, of: int, positions: Int64Array, distances: Float64Array) -> list[str]:
        if self.metric == "text":
            return ["same text"] * len(positions)
        reasons = [self._reason(distance) for distance in distances.tolist()]
        equal = np.flatnonzero(distances == 0)
        if are_numbers(self.documents) or not len(equal):
            return reasons
        documents = part(self.documents, [of, *positions[equal].tolist()])
        if not self.text(of) and any(_has_vectors(document) for document in documents):
            return reasons  # token vectors have no words
        for same, of_words in (("same words", False), ("same text", True)):
            stop_words = None if of_words else self.stop_words
            keys = keys_of_texts(documents, ordered=of_words, stop_words=stop_words)
            for at, key in zip(equal.tolist(), keys[1:], strict=True):
                if key == keys[0]:
                    reasons[at] = same
        return reasons

    def _reason(self, distance: float) -> str:
        if self.radius is None:
            return "same words"
        if distance <= self.radius:
            return f"{self.metric} {distance:.4g} <= {self.radius:g}"
        return f"{self.metric} {distance:.4g}, linked by others"


def _has_vectors(document: object) -> bool:
    return hasattr(document, "vectors") or isinstance(document, np.ndarray)


@dataclass(frozen=True, slots=True)
class Table:
    """Table of duplicates: title, column names, and rows, to print as text or HTML.

    Attributes
    ----------
    title : str
        Title; may be empty.
    heads : tuple of str
        Column headers. The last column has texts.
    rows : sequence of tuple of str
        Cells, not escaped.
    more : int
        Number of rows that are not shown.
    """

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    more: int


class DuplicateResult(DrawnResult, TableResult, Sequence[_Item]):
    """Base class of results: a lazy sequence of groups or repeats that prints as a table."""

    _compared: ComparedDocuments
    _pairs: PairBlock | None

    @abstractmethod
    def _item(self, at: int) -> _Item:
        """Create the group or repeat at an index of the sequence."""

    @overload
    def __getitem__(self, at: int) -> _Item: ...
    @overload
    def __getitem__(self, at: slice) -> list[_Item]: ...
    def __getitem__(self, at: int | slice) -> _Item | list[_Item]:
        places = range(len(self))
        if isinstance(at, slice):
            return [self._item(place) for place in places[at]]
        try:
            return self._item(places[whole_number(at)])
        except IndexError:
            raise IndexError(f"position must be below {len(self)}; got {at}") from None

    @property
    def n_documents(self) -> int:
        """Number of documents in the collection that was searched."""
        return self._compared.n_documents

    @property
    def metric(self) -> str:
        """Criterion for duplicates: "text", "bag", or the name of a metric."""
        return self._compared.metric

    @property
    def radius(self) -> float | None:
        """Maximum distance of duplicates, or None if only equal documents count."""
        return self._compared.radius

    @property
    def pairs(self) -> PairBlock:
        """All pairs of duplicates as positions and distances, sorted by position.

        Raises
        ------
        ValueError
            If there are more than 33 million pairs, which are not kept.
        """
        if self._pairs is None:
            raise ValueError(
                f"There are more pairs within {self._compared.criterion()} than are kept; choose a "
                "smaller radius. Groups and counts are complete."
            )
        return self._pairs

    def _frame_index(self) -> Any:  # noqa: ANN401 (a pandas index, or None)
        index = self._compared.index
        if index is None:
            return None
        return index[[record["position"] for record in self.to_records()]]

    @abstractmethod
    def _summary(self) -> str:
        """Return one line that counts the groups or repeats, and names the criterion."""

    @abstractmethod
    def _tables(self, limit: int) -> tuple[list[Table], str]:
        """Return tables of the first `limit` groups or repeats, and a note on the others."""

    def to_text(self, *, limit: int = 10, width: int = 80) -> str:
        """Return the duplicates as a text table for a terminal.

        Parameters
        ----------
        limit : int, default=10
            Maximum number of groups or repeats, and of members of each.
        width : int, default=80
            Width in columns, at least 40.

        Returns
        -------
        str
            Lines without a final newline. Control characters in documents are replaced.
        """
        integer(1).check("limit", limit)
        return _draw_text(self._summary(), *self._tables(limit), width=width)

    @abstractmethod
    def _bars(self, limit: int) -> list[tuple[str, int, str]]:
        """Return name, number of documents, and note of the first `limit` items."""

    def to_svg(
        self, *, title: str = "", limit: int = 50, width: int = 780, embedded: bool = False
    ) -> str:
        """Draw the number of documents of each group, or of duplicates of each document, as a bar.

        Parameters
        ----------
        title : str, optional
            Title above the figure. The default counts the duplicates.
        limit : int, default=50
            Maximum number of groups or repeats.
        width : int, default=780
            Width in pixels, at least 500; the figure scales.
        embedded : bool, default=False
            If True, omit the style sheet, because the page contains
            `textkin.explain.stylesheet`.

        Returns
        -------
        str
            An ``<svg>`` element with escaped text.
        """
        integer(1).check("limit", limit)
        integer(500).check("width", width)
        shown = self._bars(limit)
        bars = [
            Bar(name, value, nan, note, (at == len(shown) - 1,))
            for at, (name, value, note) in enumerate(shown)
        ]
        return bars_svg(
            bars,
            title=title or self._summary(),
            about=f"{self._summary()}.",
            width=width,
            embedded=embedded,
            legend="bar: documents",
            number_format=",.0f",
        )

    def to_html(self, *, limit: int = 100) -> str:
        """Return the duplicates as a self-contained HTML page.

        Parameters
        ----------
        limit : int, default=100
            Maximum number of groups or repeats, and of members of each.

        Returns
        -------
        str
            HTML document without scripts. Texts are escaped.
        """
        integer(1).check("limit", limit)
        return _draw_page(self._summary(), *self._tables(limit))

    def __repr__(self) -> str:
        return self._summary()

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return _draw_html(self._summary(), *self._tables(10))


def _draw_text(summary: str, tables: Sequence[Table], more: str, *, width: int) -> str:
    """Format a summary, tables, and the note `more` as text."""
    integer(40).check("width", width)
    lines = [summary]
    for table in tables:
        lines += [table.title] if table.title else []
        lines += _lines(table, width)
    return "\n".join([*lines, more] if more else lines)


def _draw_html(summary: str, tables: Sequence[Table], more: str) -> str:
    """Format a summary, tables, and the note `more` as HTML for a notebook."""
    return "\n".join([f"<p>{escape_markup(summary)}</p>", *_markup(tables), _paragraph(more)])


def _draw_page(summary: str, tables: Sequence[Table], more: str) -> str:
    """Format a summary, tables, and the note `more` as a self-contained HTML page."""
    title, _, rest = summary.partition(": ")
    return render_page(title, [f"<p>{escape_markup(rest)}</p>", *_markup(tables), _paragraph(more)])


def _lines(table: Table, width: int) -> Iterator[str]:
    cells = [[shortened(cell, _MAX_COLUMNS) for cell in row[:-1]] for row in table.rows]
    sizes = [max(map(text_width, column)) for column in zip(*cells, strict=True)]
    left = width - sum(sizes) - 2 * len(sizes) - 2
    for row, shown in zip(table.rows, cells, strict=True):
        start = "  ".join(pad(cell, size) for cell, size in zip(shown, sizes, strict=True))
        text = shortened(row[-1], left) if left >= 8 else ""
        yield f"  {start}  {text}".rstrip()
    if table.more:
        yield f"  and {table.more:,} more"


def _markup(tables: Sequence[Table]) -> Iterator[str]:
    for table in tables:
        yield "<table>"
        if table.title:
            yield f"<caption>{escape_markup(table.title)}</caption>"
        *narrow, wide = (escape_markup(head) for head in table.heads)
        heads = "".join(f'<th scope="col" style="width:20%">{head}</th>' for head in narrow)
        yield f'<tr>{heads}<th scope="col">{wide}</th></tr>'
        for row in table.rows:
            cells = "".join(
                f"{_CELL}{escape_markup(shortened(cell, _MAX_LENGTH))}</td>" for cell in row
            )
            yield f"<tr>{cells}</tr>"
        yield "</table>"
        if table.more:
            yield f"<p>and {table.more:,} more</p>"


def _paragraph(text: str) -> str:
    return f"<p>{escape_markup(text)}</p>" if text else ""
