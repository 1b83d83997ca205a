"""Results as tables and files: `to_frame` and `to_csv` from records, `save` of drawings."""

import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from textkin._base._lazy import import_extra
from textkin.exceptions import ParameterError

__all__ = ["DrawnResult", "TableResult", "frame_index"]


_SHOWN = 20  # maximum number of records in a notebook
_LONGEST = 200  # maximum length of a cell in a notebook, in characters


class TableResult:
    """Mixin of results with `to_records`: `to_frame`, `to_csv`, and a table in notebooks."""

    __slots__ = ()

    def to_records(self) -> Sequence[Mapping[str, Any]]:
        """Return one record per row, in plain types."""
        raise NotImplementedError

    def _frame_index(self) -> Any:  # noqa: ANN401 (a pandas index, or None)
        """Return the index of the rows of `to_frame`, or None to number the rows."""
        return None

    def to_frame(self) -> Any:  # noqa: ANN401 (pandas is untyped)
        """Return the records as a pandas DataFrame, one row per record.

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
        frame = pandas.DataFrame.from_records(records, columns=_columns(records))
        index = self._frame_index()
        return frame if index is None else frame.set_axis(index, axis=0)

    def to_csv(self, path: str | PathLike[str] | None = None) -> str | None:
        """Write the records as CSV with a header.

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
        lines = io.StringIO(newline="")
        names = _columns(records)
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_cell(record.get(name)) for name in names] for record in records)
        if path is None:
            return lines.getvalue()
        Path(path).write_text(lines.getvalue(), encoding="utf-8", newline="")
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
    """Mixin of results that draw themselves: `save`, and SVG in notebooks."""

    __slots__ = ()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the drawing to a file, in the format of its ending.

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
        """Return the image for notebooks and other viewers."""
        draw = getattr(self, "to_svg", None)
        return None if draw is None else draw()


_FORMATS = {".svg": "svg", ".html": "html", ".htm": "html", ".txt": "text"}


def frame_index(values: object) -> Any:  # noqa: ANN401 (a pandas index, or None)
    """Return the index of a pandas Series or DataFrame, or None for other input."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(values, pandas.Series | pandas.DataFrame):
        return None
    return values.index


def _columns(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the fields of all records in the order of their first occurrence."""
    return list(dict.fromkeys(name for record in records for name in record))


def _html_cell(value: object) -> str:
    shown = f"{value:.6g}" if isinstance(value, float) else str(_cell(value))
    return escape(shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…")


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value
