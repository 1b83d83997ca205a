"""Named numbers as bars, some inside of others, in characters, as SVG and as HTML."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textkin.explain._colour import DARK, LIGHT, hexadecimal
from textkin.explain._frame import Pair, framed, picture_style, text
from textkin.explain._page import page
from textkin.explain._words import columns, filled, markup, padded, shortened

__all__ = ["BARS_STYLE", "Bar", "bars_html", "bars_svg", "bars_text"]

# ------------------------------------------------------------------ what is drawn


@dataclass(frozen=True, slots=True)
class Bar:
    """A named number.

    Attributes
    ----------
    name : str
        Not yet escaped.
    value, share : float
        What it adds, or takes away if below 0; and that as a part of the whole.
    note : str
        What else is to be said.
    last : tuple of bool
        For each sum that it is inside of, and for itself: whether it is the last one there.
    summed : bool
        Whether it stands for many.
    """

    name: str
    value: float
    share: float
    note: str
    last: tuple[bool, ...]
    summed: bool = False

    @property
    def depth(self) -> int:
        """How many sums it is inside of, but for the outermost."""
        return len(self.last) - 1

    @property
    def length(self) -> float:
        """Its size; 0 if it is no number."""
        return abs(self.value) if math.isfinite(self.value) else 0.0


def _form(bars: Sequence[Bar]) -> str:
    """Return the form of numbers: three decimals, unless they are too small or large for them."""
    largest = max((bar.length for bar in bars), default=0.0)
    return ".3f" if 0.1 <= largest < 1e5 or largest == 0 else ".3g"


def _percent(share: float) -> str:
    if not math.isfinite(share) or abs(share) >= 10:  # of a sum that is nearly nothing
        return ""
    return f"{_number(100 * share, '.0f')} %"


def _number(value: float, form: str) -> str:
    """Return a number, without the sign where it is rounded to nothing."""
    shown = f"{value:{form}}"
    return shown.lstrip("-") if math.isfinite(value) and not float(shown) else shown


# ------------------------------------------------------------------ characters

_NAME = 30  # widest column of names
_BAR, _BAR_BESIDE_NOTES = 24, 16
_SHORTEST_BAR = 4
_NOTE = 12  # narrower notes are left out


def bars_text(bars: Sequence[Bar], *, width: int, unicode: bool, color: bool) -> str:
    """Draw bars as lines; see `Contributions.to_text`."""
    form = _form(bars)
    names = [_branch(bar, unicode) + _name(bar, unicode) for bar in bars]
    numbers = [_number(bar.value, form) for bar in bars]
    name_width = max(map(columns, names), default=0)
    number_width = max(map(len, numbers), default=0)
    used = name_width + number_width + 12
    longest = _BAR_BESIDE_NOTES if any(bar.note for bar in bars) else _BAR
    bar_width = min(longest, width - used) if width - used >= _SHORTEST_BAR else 0
    most = max((bar.length for bar in bars), default=0.0)
    room = width - used - bar_width - 2
    lines = []
    for bar, name, number in zip(bars, names, numbers, strict=True):
        line = f"{padded(name, name_width)}  {number:>{number_width}}"
        if bar_width:
            drawn = padded(_drawn(bar, bar_width, most, unicode), bar_width)
            line += f"  {_painted(drawn, bar) if color else drawn}"
        line += f" {_percent(bar.share):>6}"
        if bar.note and room >= _NOTE:
            line += f"  {shortened(bar.note, room, unicode=unicode)}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def _branch(bar: Bar, unicode: bool) -> str:
    """Draw the lines that lead to a part of a part."""
    if not bar.depth:
        return ""
    through = "".join("  " if last else ("│ " if unicode else "| ") for last in bar.last[1:-1])
    if unicode:
        return through + ("└ " if bar.last[-1] else "├ ")
    return through + ("` " if bar.last[-1] else "| ")


def _name(bar: Bar, unicode: bool) -> str:
    room = max(8, _NAME - 2 * bar.depth)
    if bar.summed:
        return f"{'…' if unicode else '...'} {bar.name}"
    return shortened(bar.name, room, unicode=unicode)


def _drawn(bar: Bar, width: int, most: float, unicode: bool) -> str:
    """Draw what adds in full, to the eighth of a column, and what takes away hatched."""
    eighths = round(8 * width * (bar.length / most)) if most else 0
    if bar.value < 0:
        return ("░" if unicode else "-") * max(1, round(eighths / 8))
    return filled(eighths, unicode)


def _painted(text: str, bar: Bar) -> str:
    if bar.summed:
        return text
    red, green, blue = DARK[-1 if bar.value < 0 else 0]
    return f"\x1b[38;2;{red};{green};{blue}m{text}\x1b[0m"


# ------------------------------------------------------------------ SVG

_MARGIN = 14.0
_LINE = 24.0
_LABELS = 120.0, 320.0  # widths of the column of names
_NUMBERS = 130.0  # and of that of numbers
_INDENT = 14.0
_DEEPEST = 6  # indents; further ones are drawn like this
_LETTER = 8.6  # what a column of 14 pixels takes; wider letters are cut off at the edge
_CELL = 200  # letters of a cell of a table
_REST: Pair = ("#9a9aa6", "#6a6a76")


BARS_STYLE = picture_style(
    "textkin-bars",
    {".inner": "opacity:.6"},
    {
        "rest": _REST,
        "adds": (hexadecimal(LIGHT[0]), hexadecimal(DARK[0])),
        "takes": (hexadecimal(LIGHT[-1]), hexadecimal(DARK[-1])),
    },
    {"axis": _REST},
)


def bars_svg(
    bars: Sequence[Bar],
    *,
    title: str,
    about: str,
    width: int,
    embedded: bool = False,
    legend: str = "bar: what it adds",
) -> str:
    """Draw bars as a picture; see `Contributions.to_svg`.

    Parameters
    ----------
    bars : sequence of Bar
        From top to bottom.
    title : str
        Above the picture, if there is one.
    about : str
        What they are together, in a sentence.
    width : int
        In pixels.
    embedded : bool
        Whether the page around it has the style.
    legend : str
        What a bar is.
    """
    top = _MARGIN + (34 if title else 0)
    height = top + _LINE * len(bars) + 34
    form = _form(bars)
    labels = _label_width(bars, width)
    left, right = _MARGIN + labels, width - _MARGIN - _NUMBERS
    below = max((bar.length for bar in bars if bar.value < 0), default=0.0)
    above = max((bar.length for bar in bars if bar.value >= 0), default=0.0)
    # Divided before they are added, so that huge numbers do not overflow.
    most = max(below, above)
    scale = (right - left) / (below / most + above / most) if most else 0.0
    zero = left + scale * (below / most if most else 0.0)
    words = "; ".join(_in_words(bar) for bar in bars)
    lines = []
    if title:
        shown = markup(shortened(title, width // 11))
        lines.append(text(_MARGIN, _MARGIN + 16, shown, classes="ink title"))
    for at, bar in enumerate(bars):
        length = scale * (bar.length / most) if most else 0.0
        start = zero - length if bar.value < 0 else zero
        lines += _row(bar, top + _LINE * at, start, length, (labels, width), form)
    if bars:
        ends = f'y1="{top:.1f}" y2="{top + _LINE * len(bars):.1f}"'
        lines.append(f'<line class="axis" x1="{zero:.1f}" x2="{zero:.1f}" {ends}/>')
    lines += _legend(bars, legend, height - _MARGIN + 2)
    return framed(
        BARS_STYLE,
        width,
        height,
        lines,
        title=title or about.removesuffix("."),
        about=f"{about} {words}." if bars else about,
        embedded=embedded,
    )


def _label_width(bars: Sequence[Bar], width: int) -> float:
    """Return how wide the names are, between limits."""
    least, most = _LABELS
    longest = (
        _INDENT * min(bar.depth, _DEEPEST) + _LETTER * columns(shortened(bar.name, _NAME + 10))
        for bar in bars
    )
    return min(max(least, *longest, 0.0) + 20, most, 0.4 * width)


def _row(
    bar: Bar, y: float, start: float, length: float, widths: tuple[float, int], form: str
) -> Iterator[str]:
    labels, width = widths
    indent = _INDENT * min(bar.depth, _DEEPEST)
    letters = int((labels - 10 - indent) / _LETTER)
    label = f"… {bar.name}" if bar.summed else shortened(bar.name, letters)
    ink = "muted" if bar.summed or bar.depth else "ink"
    # Isolated, so that a word keeps its own direction of writing to itself; in a frame that cuts.
    word = text(0, 17, f"\u2068{markup(label)}\u2069", classes=ink)
    frame = f'x="{_MARGIN + indent:.1f}" y="{y:.1f}" width="{labels - 8 - indent:.1f}"'
    yield f'<svg {frame} height="{_LINE:.0f}">{word}</svg>'
    kind = "rest" if bar.summed else "takes" if bar.value < 0 else "adds"
    inner = " inner" if bar.depth else ""
    thick = _LINE - (10 if bar.depth else 6)
    yield (
        f'<rect class="{kind}{inner}" x="{start:.1f}" y="{y + (_LINE - thick) / 2:.1f}" '
        f'width="{max(length, 0.5):.1f}" height="{thick:.0f}" rx="1">'
        f"<title>{markup(_in_words(bar))}</title></rect>"
    )
    number, share = _minus(_number(bar.value, form)), _minus(_percent(bar.share))
    right = width - _MARGIN
    yield text(right - 52, y + 17, number, anchor="end", classes=f"{ink} number")
    yield text(right, y + 17, share, anchor="end", classes="muted small number")


def _minus(number: str) -> str:
    return f"\u2212{number[1:]}" if number.startswith("-") else number


def _legend(bars: Sequence[Bar], words: str, y: float) -> Iterator[str]:
    if not bars:
        yield text(_MARGIN, y, "no part adds anything", classes="muted small")
        return
    if any(bar.value < 0 for bar in bars):
        words += " · orange, to the left: takes away"
    if any(bar.depth for bar in bars):
        words += " · indented: parts of the part above"
    if any(bar.summed for bar in bars):
        words += " · grey: summed up"
    yield text(_MARGIN, y, words, classes="muted small")


def _in_words(bar: Bar) -> str:
    verb = "takes away" if bar.value < 0 else "adds"
    share = f" ({_percent(bar.share)})" if _percent(bar.share) else ""
    note = f", {shortened(bar.note, _CELL)}" if bar.note else ""
    return f"{shortened(bar.name, _CELL)} {verb} {abs(bar.value):.4g}{share}{note}"


# ------------------------------------------------------------------ HTML


def bars_html(picture: str, bars: Sequence[Bar], *, title: str, score: float) -> str:
    """Return a page of a picture and a table of bars; see `Contributions.to_html`."""
    return page(
        title,
        [
            f'<div class="wide">{picture}</div>',
            '<div class="wide">',
            "<table>",
            f"<caption>All {len(bars)} parts; those that are not indented sum to {score:.6g}."
            "</caption>",
            '<tr><th scope="col">part</th><th scope="col" class="number">adds</th>'
            '<th scope="col" class="number">share</th><th scope="col">how</th></tr>',
            *map(_table_row, bars),
            "</table>",
            "</div>",
        ],
    )


def _table_row(bar: Bar) -> str:
    indent = f' style="padding-left:{0.6 + 1.2 * min(bar.depth, _DEEPEST):.1f}rem"'
    name, note = (markup(shortened(text, _CELL)) for text in (bar.name, bar.note))
    return (
        f'<tr><td class="words"{indent if bar.depth else ""}>{name}</td>'
        f'<td class="number">{bar.value:.6g}</td><td class="number">{_percent(bar.share)}</td>'
        f'<td class="words">{note}</td></tr>'
    )
