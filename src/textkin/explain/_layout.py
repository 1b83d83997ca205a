"""Where everything of a flow picture goes, before it is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

from textkin.explain._colour import CostScale
from textkin.explain._flow import Flow, Move

__all__ = ["Node", "Picture", "Ribbon", "lay_out"]

_SLOT = 22.0  # least height of a word's place: a line of text
_GAP = 6.0  # between two words
_THIN = 1.0  # least thickness of a ribbon
_THICK = 56.0  # most; also that of what is summed up, which is not to scale


@dataclass(slots=True)
class Node:
    """A word of one column, or the words that are summed up.

    Attributes
    ----------
    label : str
        The word, not yet escaped.
    contribution : float
        What its moves add to the score.
    mass : float
        How much of it moves.
    y, height : float
        Its bar.
    summed : bool
        Whether it stands for many. Its height is then not to scale.
    """

    label: str
    contribution: float = 0.0
    mass: float = 0.0
    y: float = 0.0
    height: float = 0.0
    summed: bool = False


@dataclass(slots=True)
class Ribbon:
    """Mass between two nodes.

    Attributes
    ----------
    source, target : Node
        Its ends.
    mass, contribution : float
        How much moves, and what that adds.
    cost : float or None
        None for moves that are summed up.
    level : int or None
        Step of the colours; None for what costs nothing or is summed up.
    y0, y1, thickness : float
        Its upper edge at both ends, and how thick it is.
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
    """Two columns of nodes and the ribbons between them.

    Attributes
    ----------
    left, right : list of Node
        From top to bottom; the left ones by what they add.
    ribbons : list of Ribbon
        The largest contribution first.
    scale : CostScale
        What the colours mean.
    height : float
        Of the higher column.
    """

    left: list[Node]
    right: list[Node]
    ribbons: list[Ribbon]
    scale: CostScale
    height: float


def lay_out(flow: Flow, limit: int) -> Picture:
    """Place the largest moves of a flow, and the rest summed up at the bottom."""
    shown, smaller, free = flow.split(limit)
    scale = CostScale.of(move.cost for move in flow.moves)
    sources: dict[int, Node] = {}
    targets: dict[int, Node] = {}
    ribbons = [_ribbon(move, sources, targets, scale) for move in shown]
    left = sorted(sources.values(), key=lambda node: -node.contribution)
    right = _in_order_of_partners(list(targets.values()), left, ribbons)
    for rest, label in ((smaller, "smaller moves"), (free, "moves at no cost")):
        if rest.count:
            name = f"{rest.count} {label}"
            left.append(Node(name, rest.contribution, rest.mass, summed=True))
            right.append(Node(f"{100 * rest.mass:.0f} % of the mass", mass=rest.mass, summed=True))
            ends = (left[-1], right[-1])
            ribbons.append(Ribbon(*ends, rest.mass, rest.contribution, None, None))
    _scale(ribbons, max(len(left), len(right)))
    height = max(_stack(left, ribbons, "source"), _stack(right, ribbons, "target"))
    for column in (left, right):
        _centre(column, height)
    _attach(left, right, ribbons)
    return Picture(left, right, ribbons, scale, height)


def _ribbon(
    move: Move, sources: dict[int, Node], targets: dict[int, Node], scale: CostScale
) -> Ribbon:
    source = sources.setdefault(move.source_at, Node(move.source))
    target = targets.setdefault(move.target_at, Node(move.target))
    for node in (source, target):
        node.mass += move.mass
        node.contribution += move.contribution
    level = scale.level(move.cost) if move.contribution > 0 else None
    return Ribbon(source, target, move.mass, move.contribution, move.cost, level)


def _in_order_of_partners(
    nodes: list[Node], left: Sequence[Node], ribbons: Sequence[Ribbon]
) -> list[Node]:
    """Sort by the mean place of the partners, weighed by mass: few ribbons then cross."""
    place = {id(node): at for at, node in enumerate(left)}
    means = {
        id(node): sum(place[id(r.source)] * r.mass for r in ribbons if r.target is node)
        / (node.mass or 1.0)
        for node in nodes
    }
    return sorted(nodes, key=lambda node: means[id(node)])


def _scale(ribbons: Sequence[Ribbon], n_places: int) -> None:
    """Make ribbons as thick as their mass: about two lines of text for a place on average."""
    single = [ribbon for ribbon in ribbons if ribbon.cost is not None]
    shown = sum(ribbon.mass for ribbon in single)
    largest = max((ribbon.mass for ribbon in single), default=0.0)
    scale = min(2 * _SLOT * n_places / shown, _THICK / largest) if largest > 0 else 0.0
    for ribbon in ribbons:
        ribbon.thickness = min(_THICK, max(_THIN, ribbon.mass * scale))


def _stack(nodes: Sequence[Node], ribbons: Sequence[Ribbon], side: str) -> float:
    """Give the nodes of a column their heights and places; return the height of the column."""
    y = 0.0
    for node in nodes:
        node.height = sum(r.thickness for r in ribbons if getattr(r, side) is node)
        slot = max(_SLOT, node.height)
        node.y = y + (slot - node.height) / 2
        y += slot + _GAP
    return max(0.0, y - _GAP)


def _centre(nodes: Sequence[Node], height: float) -> None:
    last = nodes[-1] if nodes else None
    if last is None:
        return
    bottom = last.y + last.height + max(0.0, (_SLOT - last.height) / 2)
    for node in nodes:
        node.y += (height - bottom) / 2


def _attach(left: Sequence[Node], right: Sequence[Node], ribbons: Sequence[Ribbon]) -> None:
    """Stack the ribbons on their nodes in the order of the other ends."""
    left_place = {id(node): at for at, node in enumerate(left)}
    right_place = {id(node): at for at, node in enumerate(right)}
    used = {id(node): node.y for node in (*left, *right)}
    for ribbon in sorted(ribbons, key=lambda r: right_place[id(r.target)]):
        ribbon.y0 = used[id(ribbon.source)]
        used[id(ribbon.source)] += ribbon.thickness
    for ribbon in sorted(ribbons, key=lambda r: left_place[id(r.source)]):
        ribbon.y1 = used[id(ribbon.target)]
        used[id(ribbon.target)] += ribbon.thickness
