"""Duplicates as people look at them: tables in a terminal, in a notebook and on a page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textkin._validation import integer
from textkin.explain._page import page
from textkin.explain._words import columns, markup, padded, shortened

__all__ = ["Table", "tables_html", "tables_page", "tables_text"]

_WIDEST = 24  # of a cell but the last, which has the text
_LONGEST = 300  # of a text in HTML
_CELL = '<td class="words" style="text-align:left;vertical-align:top">'


@dataclass(frozen=True, slots=True)
class Table:
    """Some documents that belong together.

    Attributes
    ----------
    title : str
        Above them; may be empty.
    heads : tuple of str
        Of the columns, the last of which has texts.
    rows : sequence of tuple of str
        Cells, not yet escaped.
    more : int
        How many further rows are not shown.
    """

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    more: int


def tables_text(head: str, tables: Sequence[Table], more: str, *, width: int) -> str:
    """Draw tables as lines below a heading; `more` says what is left out."""
    integer(40).check("width", width)
    lines = [head]
    for table in tables:
        lines += [table.title] if table.title else []
        lines += _lines(table, width)
    return "\n".join([*lines, more] if more else lines)


def tables_html(head: str, tables: Sequence[Table], more: str) -> str:
    """Draw tables as HTML for a notebook."""
    return "\n".join([f"<p>{markup(head)}</p>", *_markup(tables), _paragraph(more)])


def tables_page(head: str, tables: Sequence[Table], more: str) -> str:
    """Return a page of its own with the tables."""
    title, _, rest = head.partition(": ")
    return page(title, [f"<p>{markup(rest)}</p>", *_markup(tables), _paragraph(more)])


def _lines(table: Table, width: int) -> Iterator[str]:
    cells = [[shortened(cell, _WIDEST + 16) for cell in row[:-1]] for row in table.rows]
    sizes = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    left = width - sum(sizes) - 2 * len(sizes) - 2
    for row, shown in zip(table.rows, cells, strict=True):
        start = "  ".join(padded(cell, size) for cell, size in zip(shown, sizes, strict=True))
        text = shortened(row[-1], left) if left >= 8 else ""
        yield f"  {start}  {text}".rstrip()
    if table.more:
        yield f"  and {table.more:,} more"


def _markup(tables: Sequence[Table]) -> Iterator[str]:
    for table in tables:
        yield "<table>"
        if table.title:
            yield f"<caption>{markup(table.title)}</caption>"
        *narrow, wide = (markup(head) for head in table.heads)
        heads = "".join(f'<th scope="col" style="width:20%">{head}</th>' for head in narrow)
        yield f'<tr>{heads}<th scope="col">{wide}</th></tr>'
        for row in table.rows:
            cells = "".join(f"{_CELL}{markup(shortened(cell, _LONGEST))}</td>" for cell in row)
            yield f"<tr>{cells}</tr>"
        yield "</table>"
        if table.more:
            yield f"<p>and {table.more:,} more</p>"


def _paragraph(text: str) -> str:
    return f"<p>{markup(text)}</p>" if text else ""
