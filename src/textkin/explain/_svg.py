"""A flow drawn as a picture: two columns of words and ribbons between them."""

import math
from collections.abc import Iterator

from textkin._validation import integer
from textkin.explain._colour import DARK, LEVELS, LIGHT, CostScale, hexadecimal
from textkin.explain._flow import Flow
from textkin.explain._frame import framed, picture_style, text
from textkin.explain._layout import Node, Picture, Ribbon, lay_out
from textkin.explain._words import markup, shortened

__all__ = ["FLOW_STYLE", "flow_svg"]

_LABELS = 190.0  # width of a column of words
_BAR = 8.0  # width of a node
_MARGIN = 14.0
_SWATCH = 20  # width of a colour of the legend
_LETTER, _SMALL_LETTER = 8.7, 7.7  # what columns of 14 and of 12 pixels take
_LETTERS = int((_LABELS - 8) / _LETTER)  # of a word; on the left a number follows
_TITLE_LETTERS = 44
_HINT_LETTERS = 60  # of a word where it is pointed at, and in the text alternative
_NOTE_LETTERS = 105
_LABEL_HEIGHT = 12.0  # a ribbon at least so thick has room for its number


_LEVEL_FILLS = {
    f"q{level}": (hexadecimal(LIGHT[level]), hexadecimal(DARK[level])) for level in range(LEVELS)
}
FLOW_STYLE = picture_style(
    "textkin-flow",
    {
        ".head": "font-style:italic",
        ".ribbon": "opacity:.62",
        ".ribbon:hover": "opacity:.9",
    },
    {**_LEVEL_FILLS, "bar": ("#4a4a55", "#b8b8c4"), "free": ("#c9c9d1", "#4a4a55")},
)


def flow_svg(
    flow: Flow,
    *,
    title: str = "",
    source_title: str = "",
    target_title: str = "",
    note: str = "",
    limit: int = 20,
    width: int = 780,
    embedded: bool = False,
) -> str:
    """Draw a flow as SVG: ribbons as thick as the mass, coloured by cost, with what they add.

    Light or dark with the reader's setting; the colours, blue to orange, can be told apart with
    any colour vision. The text alternative says the same in words.

    Parameters
    ----------
    flow : Flow
        Any flow.
    title : str, optional
        Above the picture, and the name of its text alternative.
    source_title, target_title : str, optional
        Above the two columns.
    note : str, optional
        Below the picture.
    limit : int, default=20
        How many moves to draw, the largest contributions first; the rest is summed up.
    width : int, default=780
        In pixels; the picture scales.
    embedded : bool, default=False
        Leave the style to the page around it, which has the rules of `stylesheet`.

    Returns
    -------
    str
        An ``<svg>`` element. Texts are escaped.

    Examples
    --------
    >>> from textkin.explain import Flow
    >>> flow = Flow.of([("media", 1.0)], [("press", 1.0)], [(0, 0, 1.0, 2.5)])
    >>> flow_svg(flow, title="2.5").startswith("<svg")
    True
    """
    integer(1).check("limit", limit)
    integer(500).check("width", width)
    picture = lay_out(flow, limit)
    single = (node.contribution for node in picture.left if not node.summed)
    form = _form(max(single, default=0.0))
    top = _MARGIN + (30 if title else 0) + (32 if source_title or target_title else 0)
    height = top + picture.height + 2 * _MARGIN + 34 + (22 if note else 0)
    body = [
        *_titles(title, source_title, target_title, width),
        f'<g transform="translate(0 {top:.1f})">',
        *(_ribbon(ribbon, flow, width) for ribbon in picture.ribbons),
        *(_bar(node, x) for node, x in _places(picture, width)),
        *_numbers(picture, form),
        *(_left_label(node, form) for node in picture.left),
        *(_right_label(node, width) for node in picture.right),
        "</g>",
        *_legend(picture, width, height - _MARGIN - 12 - (22 if note else 0)),
        *_note(note, height - _MARGIN - 10),
    ]
    return framed(
        FLOW_STYLE,
        width,
        height,
        body,
        title=title or f"Flow with a score of {flow.score:.4g}",
        about=_in_words(flow, picture),
        embedded=embedded,
    )


def _titles(title: str, source: str, target: str, width: int) -> Iterator[str]:
    y = _MARGIN + 16
    if title:
        shown = markup(shortened(title, width // 11))
        yield text(width / 2, y, shown, anchor="middle", classes="ink title")
        y += 30
    if source:
        yield text(_MARGIN, y, markup(shortened(source, _TITLE_LETTERS)), classes="muted head")
    if target:
        content = markup(shortened(target, _TITLE_LETTERS))
        yield text(width - _MARGIN, y, content, anchor="end", classes="muted head")


def _places(picture: Picture, width: int) -> Iterator[tuple[Node, float]]:
    for node in picture.left:
        yield node, _LABELS
    for node in picture.right:
        yield node, width - _LABELS - _BAR


def _bar(node: Node, x: float) -> str:
    return (
        f'<rect class="bar" x="{x:.1f}" y="{node.y:.1f}" width="{_BAR:.0f}" '
        f'height="{max(node.height, 1):.1f}" rx="2"/>'
    )


def _ribbon(ribbon: Ribbon, flow: Flow, width: int) -> str:
    x0, x1 = _LABELS + _BAR, width - _LABELS - _BAR
    middle = (x0 + x1) / 2
    y0, y1, thick = ribbon.y0, ribbon.y1, ribbon.thickness
    path = (
        f"M{x0:.1f} {y0:.1f}C{middle:.1f} {y0:.1f} {middle:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
        f"V{y1 + thick:.1f}"
        f"C{middle:.1f} {y1 + thick:.1f} {middle:.1f} {y0 + thick:.1f} {x0:.1f} {y0 + thick:.1f}Z"
    )
    colour = "free" if ribbon.level is None else f"q{ribbon.level}"
    hint = markup(_move_in_words(ribbon, flow.score))
    return f'<path class="ribbon {colour}" d="{path}"><title>{hint}</title></path>'


def _form(largest: float) -> str:
    """Return the form of numbers: decimals that give the largest three digits, while there is room.

    Of very small and very large ones each has its own three digits.
    """
    if largest <= 0:
        return ".0f"
    return f".{max(0, 2 - math.floor(math.log10(largest)))}f" if 1e-3 < largest < 1e5 else ".3g"


def _numbers(picture: Picture, form: str) -> Iterator[str]:
    """Write what a ribbon adds beside its source, where the source has several and there is room.

    Beside the source, ribbons lie one below the other and never cross, so numbers never collide.
    """
    split = {id(r.source) for r in picture.ribbons if r.mass < r.source.mass * (1 - 1e-9)}
    for ribbon in picture.ribbons:
        has_room = ribbon.thickness >= _LABEL_HEIGHT and ribbon.contribution > 0
        if id(ribbon.source) in split and has_room:
            y = ribbon.y0 + ribbon.thickness / 2 + 4
            number = f"{ribbon.contribution:{form}}"
            yield text(_LABELS + _BAR + 6, y, number, classes="ink small")


def _left_label(node: Node, form: str) -> str:
    y = node.y + node.height / 2 + 5
    number = f"+{node.contribution:{form}}" if node.contribution > 0 else ""
    letter = _SMALL_LETTER if node.summed else _LETTER
    room = _LABELS - 8 - (_SMALL_LETTER * (len(number) + 0.5) if number else 0)
    letters = int(room / letter)
    content = _word(node.label, letters)
    if number:
        content += f' <tspan class="muted small">{number}</tspan>'
    return text(_LABELS - 8, y, content, anchor="end", classes=_ink(node))


def _right_label(node: Node, width: int) -> str:
    y = node.y + node.height / 2 + 5
    return text(width - _LABELS + 8, y, _word(node.label, _LETTERS), classes=_ink(node))


def _word(label: str, letters: int) -> str:
    """Return a word that keeps its own direction of writing to itself."""
    return f"\u2068{markup(shortened(label, letters))}\u2069"


def _ink(node: Node) -> str:
    return "muted small" if node.summed else "ink"


def _legend(picture: Picture, width: int, y: float) -> Iterator[str]:
    scale: CostScale = picture.scale
    if not picture.ribbons:
        yield text(_MARGIN, y, "nothing moves", classes="muted small")
        return
    words = "ribbon: mass that moves · number: what it adds"
    if any(node.summed for node in picture.left):
        words += " · grey: summed up, not to scale"
    yield text(_MARGIN, y, words, classes="muted small")
    if scale.high <= 0:
        return
    high = f"{scale.high:.3g}"
    left = width - _MARGIN - 8 - max(32.0, _SMALL_LETTER * len(high)) - LEVELS * _SWATCH
    yield text(left - 8, y, f"cost {scale.low:.3g}", anchor="end", classes="muted small")
    for level in range(LEVELS):
        place = f'x="{left + level * _SWATCH:.1f}" y="{y - 10:.1f}" width="{_SWATCH}" height="12"'
        yield f'<rect class="ribbon q{level}" {place}/>'
    yield text(left + LEVELS * _SWATCH + 8, y, high, classes="muted small")


def _note(note: str, y: float) -> Iterator[str]:
    if note:
        yield text(_MARGIN, y, markup(shortened(note, _NOTE_LETTERS)), classes="muted small")


def _move_in_words(ribbon: Ribbon, score: float) -> str:
    mass = f"{100 * ribbon.mass:.3g} % of the mass"
    source, target = (shortened(end.label, _HINT_LETTERS) for end in (ribbon.source, ribbon.target))
    if ribbon.cost is None:
        return f"{source}: {mass}, adding {ribbon.contribution:.4g}"
    way = f"{source} to {target}: {mass}"
    if ribbon.contribution <= 0:
        return f"{way} at no cost"
    share = f" ({100 * ribbon.contribution / score:.0f} %)" if score > 0 else ""
    return f"{way} at {ribbon.cost:.4g} adds {ribbon.contribution:.4g}{share}"


def _in_words(flow: Flow, picture: Picture) -> str:
    moves = "; ".join(_move_in_words(ribbon, flow.score) for ribbon in picture.ribbons)
    return f"Contributions sum to {flow.score:.6g}." + (f" {moves}." if moves else "")
