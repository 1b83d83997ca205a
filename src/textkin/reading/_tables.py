"""Rows of CSV and TSV files, with recovery after invalid rows."""

import csv
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from textkin._base import abbreviate, format_count, without_hint
from textkin.reading._document import BadRow, Place, Row
from textkin.reading._encoding import LineReader, TooLongError, UnreadableError
from textkin.reading._fields import guess_delimiter

__all__ = ["check_names", "table_rows"]


def table_rows(lines: LineReader, place: Place, delimiter: str, quoted: bool) -> Iterator[Row]:
    """Yield the rows of a CSV or TSV file as records, by the column names of its header.

    An unmatched quotation mark opens a field that absorbs the rows after it. If a record is invalid
    or too long, only its first line is skipped, and the next line may start a record. The same
    applies to a record with a wrong number of fields or an invalid byte if all of its lines are
    rows by themselves; otherwise the whole record is skipped.

    Parameters
    ----------
    lines : Lines
        Lines of the file, with unchanged line ends.
    place : Place
        Position of the file.
    delimiter : str
        Character between two fields.
    quoted : bool
        True if quotation marks enclose fields.

    Yields
    ------
    Row
        Row at the position of its first line.
    """
    # This limit is global and too low for documents. It is only raised, since lowering it could
    # break another reader of the process; `LineReader` limits the size of records.
    longest = min(lines.max_bytes, sys.maxsize // 2)
    if csv.field_size_limit() < longest:
        csv.field_size_limit(longest)
    dialect = {
        "delimiter": delimiter,
        "quoting": csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        "strict": True,
    }
    marks = "are plain text, pass `quoted=False`" if quoted else "wrap fields, pass `quoted=True`"
    header: list[str] | None = None
    for number, cells in parse_records(lines, dialect):
        hints: list[str] = []
        if isinstance(cells, BadRow):
            problem = cells.reason
            hints += filter(None, [cells.hint])
        elif lines.problem is not None:
            problem = without_hint(lines.problem)
            hints += filter(None, [lines.problem.hint])
        else:
            if header is None:
                header = check_names(cells)
                continue
            if len(cells) == len(header):
                record = dict(zip(header, cells, strict=True))
                yield Row(place.at("line", number), record, fixed=True)
                continue
            problem = f"has {format_count(len(cells), 'field')}, but the header has {len(header)}"
            if other := guess_delimiter(header):
                hints.append(f"if {other!r} separates its columns, pass `delimiter={other!r}`")
        if not isinstance(cells, BadRow) and lines.number > number:
            if header is not None and _are_rows(lines.later_lines(), len(header), dialect):
                lines.resume()
            else:
                problem = f"{problem}; it continues to line {lines.number}"
        if lines.quotes:
            hints.append(f"if its quotation marks {marks}")
        hint = "; ".join(hints)
        if header is None:
            raise UnreadableError(f"its header {problem}{';' if hint else ''}", hint)
        yield Row(place.at("line", number), BadRow(problem, hint=hint), fixed=True)
    if header is None:
        raise UnreadableError("is empty; the first line must name the columns")


def parse_records(
    lines: LineReader, dialect: dict[str, Any]
) -> Iterator[tuple[int, list[str] | BadRow]]:
    """Yield the line number and the cells of each record of a table."""
    reader = csv.reader(lines, **dialect)
    while True:
        lines.begin()
        number = lines.number + 1
        try:
            cells = next(reader, None)
        except (csv.Error, TooLongError) as error:
            invalid = BadRow(f"is not valid CSV ({error})")
            yield number, BadRow.from_error(error) if isinstance(error, TooLongError) else invalid
            lines.resume()  # after the yield: it may read far, and the caller may stop here
        else:
            if cells is None:
                return
            if cells:
                yield number, cells


def check_names(names: list[str]) -> list[str]:
    """Return the column names of a table; raise if two are equal."""
    if len(set(names)) < len(names):
        [(name, _)] = Counter(names).most_common(1)
        raise UnreadableError(f"has several columns named {abbreviate(name)}; rename them")
    return names


def _are_rows(lines: Iterable[str], width: int, dialect: dict[str, Any]) -> bool:
    """Return True if every line has as many cells as the header."""
    try:
        found = (next(csv.reader([line], **dialect), []) for line in lines)
        return width > 1 and all(len(cells) in (0, width) for cells in found)
    except csv.Error:
        return False
