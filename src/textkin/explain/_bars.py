"""Drawing of nested, named numbers as bars: text, SVG, and HTML."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textkin.explain._characters import draw_bar, escape_markup, pad, shortened, text_width
from textkin.explain._page import (
    DARK,
    LIGHT,
    Pair,
    draw_frame,
    draw_text,
    render_page,
    svg_style,
    to_hex,
)

__all__ = ["BARS_STYLE", "Bar", "bars_html", "bars_svg", "bars_text"]

# ------------------------------------------------------------------ data


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: name, value, note, and position in the nesting.

    Attributes
    ----------
    name : str
        Name, not yet escaped.
    value, share : float
        Contribution (negative if it lowers the score), and its fraction of the score.
    note : str
        Additional note.
    last : tuple of bool
        For each sum that contains the bar, and for the bar: True if it is the last of its level.
    summed : bool
        True if the bar is the sum of several parts.
    """

    name: str
    value: float
    share: float
    note: str
    last: tuple[bool, ...]
    summed: bool = False

    @property
    def depth(self) -> int:
        """Nesting level of the bar; 0 for the outermost parts."""
        return len(self.last) - 1

    @property
    def length(self) -> float:
        """Length of the bar: the absolute value, or 0 for NaN."""
        return abs(self.value) if math.isfinite(self.value) else 0.0


def _number_format(bars: Sequence[Bar]) -> str:
    """Return the format of the numbers of a drawing: ".3f", or ".3g" for very small or large."""
    largest = max((bar.length for bar in bars), default=0.0)
    return ".3f" if 0.1 <= largest < 1e5 or largest == 0 else ".3g"


def _percent(share: float) -> str:
    if not math.isfinite(share) or abs(share) >= 10:
        # A share is not meaningful if the sum is nearly 0.
        return ""
    return f"{_number(100 * share, '.0f')} %"


def _number(value: float, form: str) -> str:
    """Format a number of a drawing, with "0" in place of "-0"."""
    shown = f"{value:{form}}"
    return shown.lstrip("-") if math.isfinite(value) and not float(shown) else shown


# ------------------------------------------------------------------ characters

_NAME = 30  # maximum width of the column of names
_BAR, _BAR_BESIDE_NOTES = 24, 16
_SHORTEST_BAR = 4
_NOTE = 12  # minimum width of notes; narrower notes are omitted


def bars_text(bars: Sequence[Bar], *, width: int, unicode: bool, color: bool) -> str:
    """Draw bars as lines of text; see `Contributions.to_text`."""
    form = _number_format(bars)
    names = [_branch(bar, unicode) + _name(bar, unicode) for bar in bars]
    numbers = [_number(bar.value, form) for bar in bars]
    name_width = max(map(text_width, names), default=0)
    number_width = max(map(len, numbers), default=0)
    used = name_width + number_width + 12
    longest = _BAR_BESIDE_NOTES if any(bar.note for bar in bars) else _BAR
    bar_width = min(longest, width - used) if width - used >= _SHORTEST_BAR else 0
    most = max((bar.length for bar in bars), default=0.0)
    room = width - used - bar_width - 2
    lines = []
    for bar, name, number in zip(bars, names, numbers, strict=True):
        line = f"{pad(name, name_width)}  {number:>{number_width}}"
        if bar_width:
            drawn = pad(_fill_bar(bar, bar_width, most, unicode), bar_width)
            line += f"  {_color_bar(drawn, bar) if color else drawn}"
        line += f" {_percent(bar.share):>6}"
        if bar.note and room >= _NOTE:
            line += f"  {shortened(bar.note, room, unicode=unicode)}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def _branch(bar: Bar, unicode: bool) -> str:
    """Return the tree characters that connect a nested bar to its parent."""
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


def _fill_bar(bar: Bar, width: int, most: float, unicode: bool) -> str:
    """Return a bar as characters: solid for positive, hatched for negative values."""
    eighths = round(8 * width * (bar.length / most)) if most else 0
    if bar.value < 0:
        return ("░" if unicode else "-") * max(1, round(eighths / 8))
    return draw_bar(eighths, unicode)


def _color_bar(text: str, bar: Bar) -> str:
    if bar.summed:
        return text
    red, green, blue = DARK[-1 if bar.value < 0 else 0]
    return f"\x1b[38;2;{red};{green};{blue}m{text}\x1b[0m"


# ------------------------------------------------------------------ SVG

_MARGIN = 14.0
_LINE = 24.0
_LABELS = 120.0, 320.0  # minimum and maximum width of the column of names
_NUMBERS = 130.0  # width of the column of numbers
_INDENT = 14.0
_DEEPEST = 6  # maximum indent; deeper parts have the same indent
_LETTER = 8.6  # pixels per letter at 14 pixels; wider letters are clipped
_CELL = 200  # maximum number of letters in a table cell
_REST: Pair = ("#9a9aa6", "#6a6a76")


BARS_STYLE = svg_style(
    "textkin-bars",
    {".inner": "opacity:.6"},
    {
        "rest": _REST,
        "adds": (to_hex(LIGHT[0]), to_hex(DARK[0])),
        "takes": (to_hex(LIGHT[-1]), to_hex(DARK[-1])),
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
    legend: str = "bar: contribution",
    number_format: str = "",
) -> str:
    """Draw bars as SVG; see `Contributions.to_svg`.

    Parameters
    ----------
    bars : sequence of Bar
        Bars from top to bottom.
    title : str
        Title above the figure. If empty, none.
    about : str
        Text alternative: what the bars are together.
    width : int
        Width, in pixels.
    embedded : bool
        If True, omit the style, which the surrounding page has.
    legend : str
        Meaning of a bar.
    number_format : str
        Format of the values. If empty, three decimals, or as many as the values need.
    """
    top = _MARGIN + (34 if title else 0)
    height = top + _LINE * len(bars) + 34
    form = number_format or _number_format(bars)
    labels = _label_width(bars, width)
    left, right = _MARGIN + labels, width - _MARGIN - _NUMBERS
    below = max((bar.length for bar in bars if bar.value < 0), default=0.0)
    above = max((bar.length for bar in bars if bar.value >= 0), default=0.0)
    # Dividing before adding avoids overflow of huge numbers.
    most = max(below, above)
    scale = (right - left) / (below / most + above / most) if most else 0.0
    zero = left + scale * (below / most if most else 0.0)
    words = "; ".join(_describe_bar(bar) for bar in bars)
    lines = []
    if title:
        shown = escape_markup(shortened(title, width // 11))
        lines.append(draw_text(_MARGIN, _MARGIN + 16, shown, classes="ink title"))
    for at, bar in enumerate(bars):
        length = scale * (bar.length / most) if most else 0.0
        start = zero - length if bar.value < 0 else zero
        lines += _row(bar, top + _LINE * at, start, length, (labels, width), form)
    if bars:
        ends = f'y1="{top:.1f}" y2="{top + _LINE * len(bars):.1f}"'
        lines.append(f'<line class="axis" x1="{zero:.1f}" x2="{zero:.1f}" {ends}/>')
    lines += _legend(bars, legend, height - _MARGIN + 2)
    return draw_frame(
        BARS_STYLE,
        width,
        height,
        lines,
        title=title or about.removesuffix("."),
        about=f"{about} {words}." if bars else about,
        embedded=embedded,
    )


def _label_width(bars: Sequence[Bar], width: int) -> float:
    """Return the width of the name column in pixels, within limits."""
    least, most = _LABELS
    longest = (
        _INDENT * min(bar.depth, _DEEPEST) + _LETTER * text_width(shortened(bar.name, _NAME + 10))
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
    # Isolated, so that a name keeps its own text direction; the nested frame clips long names.
    word = draw_text(0, 17, f"\u2068{escape_markup(label)}\u2069", classes=ink)
    frame = f'x="{_MARGIN + indent:.1f}" y="{y:.1f}" width="{labels - 8 - indent:.1f}"'
    yield f'<svg {frame} height="{_LINE:.0f}">{word}</svg>'
    kind = "rest" if bar.summed else "takes" if bar.value < 0 else "adds"
    inner = " inner" if bar.depth else ""
    thick = _LINE - (10 if bar.depth else 6)
    yield (
        f'<rect class="{kind}{inner}" x="{start:.1f}" y="{y + (_LINE - thick) / 2:.1f}" '
        f'width="{max(length, 0.5):.1f}" height="{thick:.0f}" rx="1">'
        f"<title>{escape_markup(_describe_bar(bar))}</title></rect>"
    )
    number, share = _minus(_number(bar.value, form)), _minus(_percent(bar.share))
    right = width - _MARGIN
    yield draw_text(right - 52, y + 17, number, anchor="end", classes=f"{ink} number")
    yield draw_text(right, y + 17, share, anchor="end", classes="muted small number")


def _minus(number: str) -> str:
    return f"\u2212{number[1:]}" if number.startswith("-") else number


def _legend(bars: Sequence[Bar], words: str, y: float) -> Iterator[str]:
    if not bars:
        yield draw_text(_MARGIN, y, "no part contributes to the score", classes="muted small")
        return
    if any(bar.value < 0 for bar in bars):
        words += " · orange, to the left: lowers the score"
    if any(bar.depth for bar in bars):
        words += " · indented: parts of the part above"
    if any(bar.summed for bar in bars):
        words += " · gray: sum of the remaining parts"
    yield draw_text(_MARGIN, y, words, classes="muted small")


def _describe_bar(bar: Bar) -> str:
    if math.isnan(bar.share):  # a bar that is not a part of a sum
        note = f" ({shortened(bar.note, _CELL)})" if bar.note else ""
        return f"{shortened(bar.name, _CELL)}: {bar.value:.4g}{note}"
    verb = "subtracts" if bar.value < 0 else "adds"
    share = f" ({_percent(bar.share)})" if _percent(bar.share) else ""
    note = f", {shortened(bar.note, _CELL)}" if bar.note else ""
    return f"{shortened(bar.name, _CELL)} {verb} {abs(bar.value):.4g}{share}{note}"


# ------------------------------------------------------------------ HTML


def bars_html(picture: str, bars: Sequence[Bar], *, title: str, score: float) -> str:
    """Return an HTML page with a figure and a table of bars; see `Contributions.to_html`."""
    return render_page(
        title,
        [
            f'<div class="wide">{picture}</div>',
            '<div class="wide">',
            "<table>",
            f"<caption>All {len(bars)} parts; the parts without indent sum to {score:.6g}."
            "</caption>",
            '<tr><th scope="col">part</th><th scope="col" class="number">adds</th>'
            '<th scope="col" class="number">share</th><th scope="col">note</th></tr>',
            *map(_table_row, bars),
            "</table>",
            "</div>",
        ],
    )


def _table_row(bar: Bar) -> str:
    indent = f' style="padding-left:{0.6 + 1.2 * min(bar.depth, _DEEPEST):.1f}rem"'
    name, note = (escape_markup(shortened(text, _CELL)) for text in (bar.name, bar.note))
    return (
        f'<tr><td class="words"{indent if bar.depth else ""}>{name}</td>'
        f'<td class="number">{bar.value:.6g}</td><td class="number">{_percent(bar.share)}</td>'
        f'<td class="words">{note}</td></tr>'
    )
