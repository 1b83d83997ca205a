"""`WordMap`: a grid of cells with their most probable words, as in counting grids."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textkin._base import DrawnResult, Float64Array, integer
from textkin.explain._characters import escape_markup, pad, shortened, text_width
from textkin.explain._page import (
    DARK,
    FONT,
    LIGHT,
    PAPER,
    draw_frame,
    draw_text,
    render_page,
    svg_style,
    to_hex,
)
from textkin.explain._topics import top_words

__all__ = ["MAP_STYLE", "MapCell", "WordMap"]

_WORD, _SHORTEST_WORD = 14, 6  # maximum and minimum width of a column of words
_LONGEST = 40  # columns of a word in tooltips and in the text alternative
_SHADES = " ░▒▓█"  # shades of a cell, by its weight relative to the heaviest cell
_CELL_WIDTH, _NARROWEST = 84, 40  # default and minimum width of a cell, in pixels
_LARGEST, _SMALLEST = 17.0, 8.0  # maximum and minimum font size, in pixels
_LETTER = 0.58  # width of a letter relative to its font size; wider letters are clipped
_LEADING, _PAD, _MARGIN, _GAP = 1.2, 5, 14, 2
_PALEST, _DEEPEST = 0.04, 0.5  # opacity of the lightest and heaviest cells; words stay readable

MAP_STYLE = svg_style(
    "textkin-map",
    {"text": f"font-family:{FONT};unicode-bidi:isolate"},  # font sizes differ per word
    {"cell": (to_hex(LIGHT[0]), to_hex(DARK[0])), "paper": PAPER},
)


@dataclass(frozen=True, slots=True)
class MapCell:
    """One cell of a word map: its most probable words, and its weight.

    Attributes
    ----------
    weight : float
        Fraction of all tokens.
    words : tuple of (str, float)
        Words and their probabilities in the cell, in descending order.
    """

    weight: float
    words: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class WordMap(DrawnResult, Sequence[tuple[MapCell, ...]]):
    """Grid of cells with their most probable words, drawn as text, SVG, and HTML.

    Examples
    --------
    >>> import numpy as np
    >>> words = WordMap.of(
    ...     np.array([[[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]]), ["oil", "price", "gold"],
    ...     weights=np.array([[0.4, 0.6]]), n_words=2,
    ... )
    >>> words[0][1].words
    (('gold', 0.75), ('price', 0.25))
    >>> print(words)
    ▓ oil    █ gold
      price    price
    """

    rows: tuple[tuple[MapCell, ...], ...]

    @classmethod
    def of(
        cls,
        probabilities: Float64Array,
        feature_names: Sequence[str],
        *,
        weights: Float64Array,
        n_words: int = 3,
    ) -> "WordMap":
        """Create a map from an array of word probabilities (rows, columns, words).

        Parameters
        ----------
        probabilities : ndarray of shape (rows, columns, n_words)
            Probability of each word in each cell.
        feature_names : sequence of str
            Word of each column of a cell.
        weights : ndarray of shape (rows, columns)
            Fraction of each cell.
        n_words : int, default=3
            Maximum number of words per cell; words with probability 0 are omitted.

        Returns
        -------
        WordMap
            Map of words; words with equal probabilities are sorted by column.
        """
        integer(1).check("n_words", n_words)
        rows = []
        for row, row_weights in zip(probabilities, weights, strict=True):
            cells = []
            for cell, weight in zip(row, row_weights, strict=True):
                cells.append(MapCell(float(weight), top_words(cell, feature_names, n_words)))
            rows.append(tuple(cells))
        return cls(tuple(rows))

    def __getitem__(self, at):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN204
        """Return one row of cells, or a slice of rows as `WordMap`."""
        return WordMap(self.rows[at]) if isinstance(at, slice) else self.rows[at]

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, width: int = 80) -> str:
        """Return the map as a text table, with a mark for the weight of each cell.

        Parameters
        ----------
        width : int, default=80
            Width in columns. Words are truncated to fit, but to no fewer than six letters. A map
            that is still too wide is split into parts, from left to right, each with its column
            numbers.

        Returns
        -------
        str
            Lines without a newline at the end.
        """
        integer(1).check("width", width)
        across = max(map(len, self.rows), default=0)
        if not across:
            return ""
        longest = max(
            (
                text_width(shortened(word, _WORD))
                for cell in self._cells()
                for word, _ in cell.words
            ),
            default=1,
        )
        room = min(longest, max(_SHORTEST_WORD, (width + 2) // across - 4))
        beside = max(1, min(across, (width + 2) // (room + 4)))
        parts = []
        for start in range(0, across, beside):
            end = min(start + beside, across)
            head = [f"columns {start} to {end - 1}"] if beside < across else []
            lines = [self._lines(row[start:end], room) for row in self.rows]
            parts.append("\n\n".join(["\n".join(part) for part in [head, *lines] if part]))
        return "\n\n".join(parts)

    def to_svg(self, *, title: str = "", width: int | None = None, embedded: bool = False) -> str:
        """Draw the map as SVG: a grid of cells, each with its most probable words.

        Parameters
        ----------
        title : str, optional
            Title above the figure.
        width : int or None, default=None
            Width in pixels; the figure scales. If None, all cells have the same default width.
        embedded : bool, default=False
            If True, omit the style; the surrounding page must have the rules of `stylesheet`.

        Returns
        -------
        str
            An ``<svg>`` element. Words are escaped.
        """
        across = max(map(len, self.rows), default=0)
        least = 2 * _MARGIN + max(across, 4) * _NARROWEST
        if width is None:
            width = 2 * _MARGIN + max(across, 4) * _CELL_WIDTH
        integer(least).check("width", width)
        wide = (width - 2 * _MARGIN) / max(across, 1)
        most_words = max((len(cell.words) for cell in self._cells()), default=0)
        high = 2 * _PAD + _GAP + max(1, most_words) * _LARGEST * _LEADING
        above = _MARGIN + (30 if title else 0)
        height = round(above + _MARGIN + len(self.rows) * high + 22)
        weights = [cell.weight for cell in self._cells()]
        span = min(weights, default=0.0), max(weights, default=0.0)
        top = max((p for cell in self._cells() for _, p in cell.words), default=1.0)
        drawn = (
            line
            for r, row in enumerate(self.rows)
            for c, cell in enumerate(row)
            for line in _cell(
                cell, (r, c), _MARGIN + c * wide, above + r * high, (wide, high), span, top
            )
        )
        note = "darker cell: more tokens · larger word: more probable"
        head = escape_markup(shortened(title, width // 11))
        return draw_frame(
            MAP_STYLE,
            width,
            height,
            [
                *([draw_text(_MARGIN, _MARGIN + 16, head, classes="ink title")] if title else []),
                *drawn,
                draw_text(_MARGIN, height - _MARGIN, note, classes="muted small"),
            ],
            title=title or "Map of words: the most probable words of each cell",
            about=self._describe(),
            embedded=embedded,
        )

    def to_html(self, *, title: str = "A map of words") -> str:
        """Return a self-contained HTML page with the SVG figure.

        Parameters
        ----------
        title : str, default="A map of words"
            Heading.

        Returns
        -------
        str
            An HTML document without scripts.
        """
        return render_page(title, [f'<div class="wide">{self.to_svg()}</div>'])

    def _repr_html_(self) -> str:
        return self.to_svg()

    def _cells(self) -> Iterator[MapCell]:
        for row in self.rows:
            yield from row

    def _describe(self) -> str:
        cells = (
            f"Row {r}, column {c}, {100 * cell.weight:.2g} %: "
            + (", ".join(shortened(word, _LONGEST) for word, _ in cell.words) or "no words")
            for r, row in enumerate(self.rows)
            for c, cell in enumerate(row)
        )
        return ("; ".join(cells) or "No cells") + "."

    def _lines(self, cells: Sequence[MapCell], room: int) -> list[str]:
        """Format one row of the grid's cells as lines of text."""
        most = max((cell.weight for cell in self._cells()), default=0.0)
        lines = []
        for at in range(max((len(cell.words) for cell in cells), default=0) or 1):
            parts = []
            for cell in cells:
                word = shortened(cell.words[at][0], room) if at < len(cell.words) else ""
                mark = _shade(cell.weight, most) if at == 0 else " "
                parts.append(pad(f"{mark} {word}", room + 2))
            lines.append("  ".join(parts).rstrip())
        return lines


def _shade(weight: float, most: float) -> str:
    part = weight / most if most > 0 else 0.0
    return _SHADES[math.ceil(part * (len(_SHADES) - 1))]


def _opacity(weight: float, least: float, most: float) -> float:
    """Return the opacity of a cell from its weight and the range of weights."""
    part = (weight - least) / (most - least) if most > least else 0.5
    return _PALEST + (_DEEPEST - _PALEST) * part


def _cell(
    cell: MapCell,
    at: tuple[int, int],
    x: float,
    y: float,
    size: tuple[float, float],
    span: tuple[float, float],
    top: float,
) -> Iterator[str]:
    wide, high = size[0] - _GAP, size[1] - _GAP
    box = f'x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}"'
    shade = _opacity(cell.weight, *span)
    hint = f"Row {at[0]}, column {at[1]}: {100 * cell.weight:.2g} % of all tokens"
    # The nested frame clips text if a font is wider than expected.
    yield f"<svg {box}><title>{hint}</title>"
    yield '<rect class="paper" width="100%" height="100%" rx="3"/>'
    yield f'<rect class="cell" width="100%" height="100%" rx="3" opacity="{shade:.3f}"/>'
    letters = [_letters(word, p / top, wide - 2 * _PAD) for word, p in cell.words]
    line = (high - _LEADING * sum(letters)) / 2
    for (word, probability), letter in zip(cell.words, letters, strict=True):
        line += _LEADING * letter
        shown = escape_markup(shortened(word, int((wide - 2 * _PAD) / (_LETTER * letter))))
        yield (
            f'<text class="ink" x="{wide / 2:.1f}" y="{line - 0.3 * letter:.1f}" '
            f'text-anchor="middle" font-size="{letter:.1f}">\u2068{shown}\u2069'
            f"<title>{escape_markup(shortened(word, _LONGEST))}: {probability:.3g}</title></text>"
        )
    yield "</svg>"


def _letters(word: str, part: float, room: float) -> float:
    """Return the font size of a word from its probability and the room in the cell."""
    wanted = _SMALLEST + (_LARGEST - _SMALLEST) * math.sqrt(min(1.0, max(0.0, part)))
    fitting = room / (_LETTER * max(1, text_width(shortened(word, 4 * _WORD))))
    return max(_SMALLEST, min(wanted, fitting))
