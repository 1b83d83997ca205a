"""Mixins of results: conversion to DataFrame and CSV, and saving of drawings."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from textkin._base._lazy_imports import import_extra
from textkin.exceptions import ParameterError

__all__ = ["DrawnResult", "TableResult"]


_SHOWN = 20  # maximum number of records in a notebook
_LONGEST = 200  # maximum length of a cell in a notebook, in characters


class TableResult:
    """Mixin that adds `to_frame`, `to_csv`, and a table in notebooks to `to_records`."""

    __slots__ = ()
    _record_fields: ClassVar[tuple[str, ...]] = ()  # columns of a table without rows

    def to_records(self) -> Sequence[Mapping[str, Any]]:
        """Return the result as a list of dicts of plain types, one per row."""
        raise NotImplementedError

    def _frame_index(self) -> Any:  # noqa: ANN401 (a pandas index, or None)
        """Return the index for `to_frame`, or None to number the rows."""
        return None

    def to_frame(self) -> Any:  # noqa: ANN401 (pandas is untyped)
        """Return the result as a pandas DataFrame, one row per record.

        Returns
        -------
        pandas.DataFrame
            The columns are the fields of `to_records`. Where the result is about documents of a
            Series or a DataFrame, rows have the index of their documents.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = import_extra("pandas", "pandas", "pandas", "to_frame()")
        records = list(self.to_records())
        frame = pandas.DataFrame.from_records(
            records, columns=_columns(records) or [*self._record_fields]
        )
        index = self._frame_index()
        return frame if index is None else frame.set_axis(index, axis=0)

    def to_csv(self, path: str | PathLike[str] | None = None) -> str | None:
        """Write the records to a CSV file with a header, or return them as a string.

        Parameters
        ----------
        path : str, path or None, default=None
            File to write, in UTF-8. If None, return the text.

        Returns
        -------
        str or None
            The text, or None if it was written to a file. Lists and mappings are JSON, missing
            values are empty.
        """
        records = list(self.to_records())
        names = _columns(records) or list(self._record_fields)
        rows = ([_cell(record.get(name)) for name in names] for record in records)
        text = _csv_line(names) + "".join(map(_csv_line, rows))
        if path is None:
            return text
        Path(path).write_text(text, encoding="utf-8", newline="")
        return None

    def _repr_html_(self) -> str:
        """Return the first records as a table for notebooks."""
        records = list(self.to_records())
        names = _columns(records)
        heads = "".join(f"<th>{escape(name)}</th>" for name in names)
        lines = [f"<table><thead><tr>{heads}</tr></thead><tbody>"]
        for record in records[:_SHOWN]:
            cells = "".join(f"<td>{_html_cell(record.get(name))}</td>" for name in names)
            lines.append(f"<tr>{cells}</tr>")
        lines.append("</tbody></table>")
        more = len(records) - _SHOWN
        return "\n".join([*lines, f"<p>and {more:,} more</p>"] if more > 0 else lines)


class DrawnResult:
    """Mixin that adds `save` to results with drawings, and shows SVG in notebooks."""

    __slots__ = ()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the drawing to a file; its suffix (such as .svg) determines the format.

        Parameters
        ----------
        path : str or path
            File that ends in ``.svg`` (the image), ``.html`` (a page without scripts), or ``.txt``
            (characters), in UTF-8. An existing file is replaced.

        Raises
        ------
        ValueError
            If the result has no drawing of that format.
        """
        target = Path(path)
        makers = {
            ending: getattr(self, f"to_{name}")
            for ending, name in _FORMATS.items()
            if hasattr(self, f"to_{name}")
        }
        if target.suffix.lower() not in makers:
            known = ", ".join(repr(ending) for ending in makers)
            raise ParameterError("path", f"a file that ends in one of {known}", repr(str(path)))
        text = makers[target.suffix.lower()]()
        target.write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8")

    def _repr_svg_(self) -> str | None:
        """Return the SVG figure that notebooks display."""
        draw = getattr(self, "to_svg", None)
        return None if draw is None else draw()


_FORMATS = {".svg": "svg", ".html": "html", ".htm": "html", ".txt": "text"}


def _columns(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys of all records in the order of their first occurrence."""
    return list(dict.fromkeys(name for record in records for name in record))


def _csv_line(cells: Sequence[object]) -> str:
    line = io.StringIO()
    # With this line end, csv quotes a lone \r, which readers would take for the end of a row.
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue().removesuffix("\r\n") + "\n"


def _html_cell(value: object) -> str:
    shown = f"{value:.6g}" if isinstance(value, float) else str(_cell(value))
    return escape(shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…")


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value
