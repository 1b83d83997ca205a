"""Drawing of a flow as SVG: two columns of words with ribbons between them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textkin._base import integer
from textkin.explain._characters import escape_markup, shortened
from textkin.explain._flow import Flow, Move
from textkin.explain._page import (
    DARK,
    LEVELS,
    LIGHT,
    CostScale,
    draw_frame,
    draw_text,
    svg_style,
    to_hex,
)

__all__ = ["FLOW_STYLE", "Node", "Picture", "Ribbon", "flow_svg", "lay_out"]

# ------------------------------------------------------------------ layout

_MIN_SLOT = 22.0  # pixels per word: a line of text
_NODE_GAP = 6.0  # pixels between two words
_MIN_THICKNESS = 1.0  # pixels of a ribbon
_MAX_THICKNESS = 56.0  # pixels; also of summed ribbons, which are not to scale


@dataclass(slots=True)
class Node:
    """Rectangle of a drawn flow: a word, or the sum of several words.

    Attributes
    ----------
    label : str
        Word, not yet escaped.
    contribution : float
        Sum that its moves add to the score.
    mass : float
        Mass that its moves transport.
    y, height : float
        Position of its bar, in pixels.
    summed : bool
        True if it stands for several words. Its height is then not to scale.
    """

    label: str
    contribution: float = 0.0
    mass: float = 0.0
    y: float = 0.0
    height: float = 0.0
    summed: bool = False


@dataclass(slots=True)
class Ribbon:
    """Ribbon of a drawn flow: mass transported between two nodes.

    Attributes
    ----------
    source, target : Node
        Ends of the ribbon.
    mass, contribution : float
        Transported mass and its contribution to the score.
    cost : float or None
        Cost per unit of mass; None for summed moves.
    level : int or None
        Color level; None for moves at no cost and for summed moves.
    y0, y1, thickness : float
        Upper edge at both ends, and thickness, in pixels.
    """

    source: Node
    target: Node
    mass: float
    contribution: float
    cost: float | None
    level: int | None
    y0: float = 0.0
    y1: float = 0.0
    thickness: float = 0.0


@dataclass(frozen=True, slots=True)
class Picture:
    """Layout of a drawn flow: nodes of both columns, and ribbons, with coordinates.

    Attributes
    ----------
    left, right : list of Node
        Nodes from top to bottom; the left ones in descending order of contribution.
    ribbons : list of Ribbon
        Ribbons in descending order of contribution.
    scale : CostScale
        Meaning of the color levels.
    height : float
        Height of the taller column, in pixels.
    """

    left: list[Node]
    right: list[Node]
    ribbons: list[Ribbon]
    scale: CostScale
    height: float


def lay_out(flow: Flow, limit: int) -> Picture:
    """Compute the layout of the `limit` largest moves of a flow, with sums of the rest."""
    shown, smaller, free = flow.split(limit)
    scale = CostScale.of(move.cost for move in flow.moves)
    sources: dict[int, Node] = {}
    targets: dict[int, Node] = {}
    ribbons = [_make_ribbon(move, sources, targets, scale) for move in shown]
    left = sorted(sources.values(), key=lambda node: -node.contribution)
    right = _sort_by_partners(list(targets.values()), left, ribbons)
    for rest, label in ((smaller, "smaller moves"), (free, "moves at no cost")):
        if rest.count:
            name = f"{rest.count} {label}"
            left.append(Node(name, rest.contribution, rest.mass, summed=True))
            right.append(Node(f"{100 * rest.mass:.0f} % of the mass", mass=rest.mass, summed=True))
            ends = (left[-1], right[-1])
            ribbons.append(Ribbon(*ends, rest.mass, rest.contribution, None, None))
    _scale_ribbons(ribbons, max(len(left), len(right)))
    height = max(_stack_nodes(left, ribbons, "source"), _stack_nodes(right, ribbons, "target"))
    for column in (left, right):
        _center(column, height)
    _attach_ribbons(left, right, ribbons)
    return Picture(left, right, ribbons, scale, height)


def _make_ribbon(
    move: Move, sources: dict[int, Node], targets: dict[int, Node], scale: CostScale
) -> Ribbon:
    source = sources.setdefault(move.source_at, Node(move.source))
    target = targets.setdefault(move.target_at, Node(move.target))
    for node in (source, target):
        node.mass += move.mass
        node.contribution += move.contribution
    level = scale.level(move.cost) if move.contribution > 0 else None
    return Ribbon(source, target, move.mass, move.contribution, move.cost, level)


def _sort_by_partners(
    nodes: list[Node], left: Sequence[Node], ribbons: Sequence[Ribbon]
) -> list[Node]:
    """Sort the nodes of a column by the mean position of their partners, to avoid crossings."""
    place = {id(node): at for at, node in enumerate(left)}
    means = {
        id(node): sum(place[id(r.source)] * r.mass for r in ribbons if r.target is node)
        / (node.mass or 1.0)
        for node in nodes
    }
    return sorted(nodes, key=lambda node: means[id(node)])


def _scale_ribbons(ribbons: Sequence[Ribbon], n_places: int) -> None:
    """Set the thickness of ribbons in proportion to their mass."""
    single = [ribbon for ribbon in ribbons if ribbon.cost is not None]
    shown = sum(ribbon.mass for ribbon in single)
    largest = max((ribbon.mass for ribbon in single), default=0.0)
    scale = min(2 * _MIN_SLOT * n_places / shown, _MAX_THICKNESS / largest) if largest > 0 else 0.0
    for ribbon in ribbons:
        ribbon.thickness = min(_MAX_THICKNESS, max(_MIN_THICKNESS, ribbon.mass * scale))


def _stack_nodes(nodes: Sequence[Node], ribbons: Sequence[Ribbon], side: str) -> float:
    """Set heights and y positions of a column's nodes; return the column's height."""
    y = 0.0
    for node in nodes:
        node.height = sum(r.thickness for r in ribbons if getattr(r, side) is node)
        slot = max(_MIN_SLOT, node.height)
        node.y = y + (slot - node.height) / 2
        y += slot + _NODE_GAP
    return max(0.0, y - _NODE_GAP)


def _center(nodes: Sequence[Node], height: float) -> None:
    last = nodes[-1] if nodes else None
    if last is None:
        return
    bottom = last.y + last.height + max(0.0, (_MIN_SLOT - last.height) / 2)
    for node in nodes:
        node.y += (height - bottom) / 2


def _attach_ribbons(left: Sequence[Node], right: Sequence[Node], ribbons: Sequence[Ribbon]) -> None:
    """Set the ends of ribbons on their nodes, in the order of their other ends."""
    left_place = {id(node): at for at, node in enumerate(left)}
    right_place = {id(node): at for at, node in enumerate(right)}
    used = {id(node): node.y for node in (*left, *right)}
    for ribbon in sorted(ribbons, key=lambda r: right_place[id(r.target)]):
        ribbon.y0 = used[id(ribbon.source)]
        used[id(ribbon.source)] += ribbon.thickness
    for ribbon in sorted(ribbons, key=lambda r: left_place[id(r.source)]):
        ribbon.y1 = used[id(ribbon.target)]
        used[id(ribbon.target)] += ribbon.thickness


# ------------------------------------------------------------------ drawing

_LABELS = 190.0  # width of a column of words
_BAR = 8.0  # width of a node
_MARGIN = 14.0
_SWATCH = 20  # width of a color in the legend
_LETTER, _SMALL_LETTER = 8.7, 7.7  # pixels per letter at 14 and at 12 pixels
_LETTERS = int((_LABELS - 8) / _LETTER)  # letters of a word; on the left a number follows
_TITLE_LETTERS = 44
_HINT_LETTERS = 60  # letters of a word in tooltips and in the text alternative
_NOTE_LETTERS = 105
_LABEL_HEIGHT = 12.0  # minimum thickness of a ribbon with a number


_LEVEL_FILLS = {f"q{level}": (to_hex(LIGHT[level]), to_hex(DARK[level])) for level in range(LEVELS)}
FLOW_STYLE = svg_style(
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
    """Draw a flow as SVG: thickness is mass, color is cost, and numbers are contributions.

    The figure is light or dark by the reader's setting. Its colors, blue to orange, are
    distinguishable with any color vision. A text alternative describes the moves.

    Parameters
    ----------
    flow : Flow
        Any flow.
    title : str, optional
        Title above the figure, and name of its text alternative.
    source_title, target_title : str, optional
        Titles above the two columns.
    note : str, optional
        Note below the figure.
    limit : int, default=20
        Maximum number of moves, the largest contributions first; the rest is summed up.
    width : int, default=780
        Width in pixels; the figure scales.
    embedded : bool, default=False
        If True, omit the style; the surrounding page must have the rules of `stylesheet`.

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
    form = _number_format(max(single, default=0.0))
    top = _MARGIN + (30 if title else 0) + (32 if source_title or target_title else 0)
    height = top + picture.height + 2 * _MARGIN + 34 + (22 if note else 0)
    body = [
        *_draw_titles(title, source_title, target_title, width),
        f'<g transform="translate(0 {top:.1f})">',
        *(_draw_ribbon(ribbon, flow, width) for ribbon in picture.ribbons),
        *(_draw_node(node, x) for node, x in _node_positions(picture, width)),
        *_draw_numbers(picture, form),
        *(_draw_left_label(node, form) for node in picture.left),
        *(_draw_right_label(node, width) for node in picture.right),
        "</g>",
        *_draw_legend(picture, width, height - _MARGIN - 12 - (22 if note else 0)),
        *_draw_note(note, height - _MARGIN - 10),
    ]
    return draw_frame(
        FLOW_STYLE,
        width,
        height,
        body,
        title=title or f"Flow with a score of {flow.score:.4g}",
        about=_describe_flow(flow, picture),
        embedded=embedded,
    )


def _draw_titles(title: str, source: str, target: str, width: int) -> Iterator[str]:
    y = _MARGIN + 16
    if title:
        shown = escape_markup(shortened(title, width // 11))
        yield draw_text(width / 2, y, shown, anchor="middle", classes="ink title")
        y += 30
    if source:
        yield draw_text(
            _MARGIN, y, escape_markup(shortened(source, _TITLE_LETTERS)), classes="muted head"
        )
    if target:
        content = escape_markup(shortened(target, _TITLE_LETTERS))
        yield draw_text(width - _MARGIN, y, content, anchor="end", classes="muted head")


def _node_positions(picture: Picture, width: int) -> Iterator[tuple[Node, float]]:
    for node in picture.left:
        yield node, _LABELS
    for node in picture.right:
        yield node, width - _LABELS - _BAR


def _draw_node(node: Node, x: float) -> str:
    return (
        f'<rect class="bar" x="{x:.1f}" y="{node.y:.1f}" width="{_BAR:.0f}" '
        f'height="{max(node.height, 1):.1f}" rx="2"/>'
    )


def _draw_ribbon(ribbon: Ribbon, flow: Flow, width: int) -> str:
    x0, x1 = _LABELS + _BAR, width - _LABELS - _BAR
    middle = (x0 + x1) / 2
    y0, y1, thick = ribbon.y0, ribbon.y1, ribbon.thickness
    path = (
        f"M{x0:.1f} {y0:.1f}C{middle:.1f} {y0:.1f} {middle:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
        f"V{y1 + thick:.1f}"
        f"C{middle:.1f} {y1 + thick:.1f} {middle:.1f} {y0 + thick:.1f} {x0:.1f} {y0 + thick:.1f}Z"
    )
    color = "free" if ribbon.level is None else f"q{ribbon.level}"
    hint = escape_markup(_describe_move(ribbon, flow.score))
    return f'<path class="ribbon {color}" d="{path}"><title>{hint}</title></path>'


def _number_format(largest: float) -> str:
    """Return a number format that gives the largest number three significant digits.

    Very small and very large numbers each have three significant digits.
    """
    if largest <= 0:
        return ".0f"
    return f".{max(0, 2 - math.floor(math.log10(largest)))}f" if 1e-3 < largest < 1e5 else ".3g"


def _draw_numbers(picture: Picture, form: str) -> Iterator[str]:
    """Yield the SVG of each ribbon's contribution, for sources with several ribbons.

    Next to the source, ribbons never cross, so numbers never overlap.
    """
    split = {id(r.source) for r in picture.ribbons if r.mass < r.source.mass * (1 - 1e-9)}
    for ribbon in picture.ribbons:
        has_room = ribbon.thickness >= _LABEL_HEIGHT and ribbon.contribution > 0
        if id(ribbon.source) in split and has_room:
            y = ribbon.y0 + ribbon.thickness / 2 + 4
            number = f"{ribbon.contribution:{form}}"
            yield draw_text(_LABELS + _BAR + 6, y, number, classes="ink small")


def _draw_left_label(node: Node, form: str) -> str:
    y = node.y + node.height / 2 + 5
    number = f"+{node.contribution:{form}}" if node.contribution > 0 else ""
    letter = _SMALL_LETTER if node.summed else _LETTER
    room = _LABELS - 8 - (_SMALL_LETTER * (len(number) + 0.5) if number else 0)
    letters = int(room / letter)
    content = _isolate(node.label, letters)
    if number:
        content += f' <tspan class="muted small">{number}</tspan>'
    return draw_text(_LABELS - 8, y, content, anchor="end", classes=_label_class(node))


def _draw_right_label(node: Node, width: int) -> str:
    y = node.y + node.height / 2 + 5
    return draw_text(
        width - _LABELS + 8, y, _isolate(node.label, _LETTERS), classes=_label_class(node)
    )


def _isolate(label: str, letters: int) -> str:
    """Return a shortened word between Unicode directional isolates, escaped for SVG."""
    return f"\u2068{escape_markup(shortened(label, letters))}\u2069"


def _label_class(node: Node) -> str:
    return "muted small" if node.summed else "ink"


def _draw_legend(picture: Picture, width: int, y: float) -> Iterator[str]:
    scale: CostScale = picture.scale
    if not picture.ribbons:
        yield draw_text(_MARGIN, y, "no word moves", classes="muted small")
        return
    words = "ribbon: transported weight · number: contribution"
    if any(node.summed for node in picture.left):
        words += " · gray: summed up, not to scale"
    yield draw_text(_MARGIN, y, words, classes="muted small")
    if scale.high <= 0:
        return
    levels = scale.levels
    high = f"{scale.high:.3g}" if len(levels) > 1 else ""
    right = width - _MARGIN - 8 - (max(32.0, _SMALL_LETTER * len(high)) if high else 0.0)
    left = right - len(levels) * _SWATCH
    yield draw_text(left - 8, y, f"cost {scale.low:.3g}", anchor="end", classes="muted small")
    for at, level in enumerate(levels):
        place = f'x="{left + at * _SWATCH:.1f}" y="{y - 10:.1f}" width="{_SWATCH}" height="12"'
        yield f'<rect class="ribbon q{level}" {place}/>'
    if high:
        yield draw_text(right + 8, y, high, classes="muted small")


def _draw_note(note: str, y: float) -> Iterator[str]:
    if note:
        yield draw_text(
            _MARGIN, y, escape_markup(shortened(note, _NOTE_LETTERS)), classes="muted small"
        )


def _describe_move(ribbon: Ribbon, score: float) -> str:
    mass = f"{100 * ribbon.mass:.3g} % of the mass"
    source, target = (shortened(end.label, _HINT_LETTERS) for end in (ribbon.source, ribbon.target))
    if ribbon.cost is None:
        return f"{source}: {mass}, adding {ribbon.contribution:.4g}"
    way = f"{source} to {target}: {mass}"
    if ribbon.contribution <= 0:
        return f"{way} at no cost"
    share = f" ({100 * ribbon.contribution / score:.0f} %)" if score > 0 else ""
    return f"{way} at {ribbon.cost:.4g} adds {ribbon.contribution:.4g}{share}"


def _describe_flow(flow: Flow, picture: Picture) -> str:
    moves = "; ".join(_describe_move(ribbon, flow.score) for ribbon in picture.ribbons)
    return f"Contributions sum to {flow.score:.6g}." + (f" {moves}." if moves else "")
