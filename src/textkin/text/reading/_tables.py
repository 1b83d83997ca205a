"""The rows of CSV and TSV, and how to go on behind one that is broken."""

import csv
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from textkin.text.reading._document import counted, shortened
from textkin.text.reading._encoding import Lines, Refused, TooLong
from textkin.text.reading._fields import delimiter_in
from textkin.text.reading._rows import Bad, Place, Row

__all__ = ["checked_names", "table_rows"]


def table_rows(lines: Lines, place: Place, delimiter: str, quoted: bool) -> Iterator[Row]:
    """Give the rows of a table whose first record names the columns.

    A quotation mark that stands alone opens a field that swallows the rows behind it. So of a
    record that is not valid, or too long, only the first line is given up, and the next may begin
    a record of its own. The same goes for one with the wrong number of fields or a wrong byte
    where all lines that it took are rows by themselves; else it is given up as a whole.

    Parameters
    ----------
    lines : Lines
        Those of the file, their ends as they are.
    place : Place
        The file.
    delimiter : str
        The character between two fields.
    quoted : bool
        Whether quotation marks wrap fields.

    Yields
    ------
    Row
        At the line in which it begins.
    """
    # The limit is one for the whole process, and short for a document. It is only ever raised:
    # lowering it again would cut short whoever else reads; `Lines` holds records to their size.
    longest = min(lines.max_bytes, sys.maxsize // 2)
    if csv.field_size_limit() < longest:
        csv.field_size_limit(longest)
    dialect = {
        "delimiter": delimiter,
        "quoting": csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        "strict": True,
    }
    marks = "are plain text, pass quoted=False" if quoted else "wrap fields, pass quoted=True"
    header: list[str] | None = None
    for number, cells in records(lines, dialect):
        if isinstance(cells, Bad):
            problem = cells.reason
        elif lines.problem is not None:
            problem = lines.problem
        else:
            if header is None:
                header = checked_names(cells)
                continue
            if len(cells) == len(header):
                record = dict(zip(header, cells, strict=True))
                yield Row(place.at("line", number), record, fixed=True)
                continue
            problem = f"has {counted(len(cells), 'field')} and the header {len(header)}"
            if other := delimiter_in(header):
                problem = f"{problem}; if {other!r} parts its columns, pass delimiter={other!r}"
        if not isinstance(cells, Bad) and lines.number > number:
            if header is not None and _are_rows(lines.others(), len(header), dialect):
                lines.resume()
            else:
                problem = f"{problem}; it goes on to line {lines.number}"
        if lines.quotes:
            problem = f"{problem}; if its quotation marks {marks}"
        if header is None:
            raise Refused(f"its header {problem}")
        yield Row(place.at("line", number), Bad(problem), fixed=True)
    if header is None:
        raise Refused("is empty; the first line must name the columns")


def records(lines: Lines, dialect: dict[str, Any]) -> Iterator[tuple[int, list[str] | Bad]]:
    """Give the cells of each record with the number of its first line; blank lines are none."""
    reader = csv.reader(lines, **dialect)
    while True:
        lines.begin()
        number = lines.number + 1
        try:
            cells = next(reader, None)
        except (csv.Error, TooLong) as error:
            invalid = isinstance(error, csv.Error)
            yield number, Bad(f"is not valid CSV ({error})" if invalid else str(error))
            lines.resume()  # only now: it may be far, and nobody may want what follows
        else:
            if cells is None:
                return
            if cells:
                yield number, cells


def checked_names(names: list[str]) -> list[str]:
    """Return the names of columns, once they differ."""
    if len(set(names)) < len(names):
        [(name, _)] = Counter(names).most_common(1)
        raise Refused(f"has several columns named {shortened(name)}; rename them")
    return names


def _are_rows(lines: Iterable[str], width: int, dialect: dict[str, Any]) -> bool:
    """Return whether each line by itself is a row; of one column every line would be."""
    try:
        found = (next(csv.reader([line], **dialect), []) for line in lines)
        return width > 1 and all(len(cells) in (0, width) for cells in found)
    except csv.Error:
        return False
