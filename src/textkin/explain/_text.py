"""A flow drawn in characters, for terminals and logs."""

from collections.abc import Iterator

from textkin._validation import integer
from textkin.explain._colour import DARK, CostScale
from textkin.explain._flow import Flow, Move, Rest
from textkin.explain._words import columns, filled, padded, shortened

__all__ = ["flow_text"]

_WORD = 22  # widest column of words
_SHORT_WORD = 8  # words are cut to this before numbers are left out
_WIDEST_BAR = 16


def flow_text(
    flow: Flow,
    *,
    limit: int = 12,
    width: int = 80,
    unicode: bool = True,
    color: bool = False,
) -> str:
    """Draw a flow as lines of text: each word with its partners, mass x cost = contribution.

    Parameters
    ----------
    flow : Flow
        Any flow.
    limit : int, default=12
        How many moves to show, the largest contributions first; the rest is summed up.
    width : int, default=80
        Columns to fill. Where they are few the bars are left out first, then words are cut, then
        the shares and in the end masses and costs are left out; some 20 are always needed.
    unicode : bool, default=True
        Draw with lines and blocks; False keeps the drawing (not the words) to ASCII.
    color : bool, default=False
        Colour the moves by their cost with the escape sequences of terminals.

    Returns
    -------
    str
        Lines without a newline at the end. Control characters of words are replaced.

    Examples
    --------
    >>> from textkin.explain import Flow
    >>> flow = Flow.of(
    ...     sources=[("media", 1.0)],
    ...     targets=[("press", 0.75), ("media", 0.25)],
    ...     moves=[(0, 0, 0.75, 2.0), (0, 1, 0.25, 0.0)],
    ... )
    >>> print(flow_text(flow, unicode=False, width=60))
                         mass x cost  = adds
    media +--> press   75.0 % x 2.000 = 1.500  ########### 100 %
          `--> media   25.0 % at no cost
    """
    integer(1).check("limit", limit)
    integer(1).check("width", width)
    return "\n".join(_Lines(flow, limit, width, unicode, color).draw())


class _Lines:
    """The widths and marks of one drawing."""

    def __init__(self, flow: Flow, limit: int, width: int, unicode: bool, color: bool) -> None:
        self.flow = flow
        self.shown, self.smaller, self.free = flow.split(limit)
        self.scale = CostScale.of(move.cost for move in flow.moves)
        self.color = color
        self.unicode = unicode
        self.times = "\u00d7" if unicode else "x"
        # Three decimals, unless the costs are too small or too large for them.
        self.form = ".3f" if 0.1 <= self.scale.high < 1e5 or self.scale.high == 0 else ".3g"
        numbers = [number for move in self.shown for number in (move.cost, move.contribution)]
        self.digits = max((len(f"{number:{self.form}}") for number in numbers), default=5)
        self._fit(width)

    def _fit(self, width: int) -> None:
        """Choose what is shown beside the words, and how wide these may be."""
        self.width = width
        self.from_width = self._widest(move.source for move in self.shown)
        self.to_width = self._widest(move.target for move in self.shown)
        wanted = self.from_width + self.to_width
        # What each choice needs beside the words: everything, no shares, only what moves add.
        needs = 2 * self.digits + 28, 2 * self.digits + 21, self.digits + 8
        least = min(wanted, 2 * _SHORT_WORD)
        fitting = [at for at, need in enumerate(needs) if width - need >= least]
        choice = fitting[0] if fitting else len(needs) - 1
        self.shares, self.products = choice == 0, choice < len(needs) - 1
        room = max(2, width - needs[choice])
        if wanted > room:  # the longer column gives way first
            narrow = min(self.from_width, self.to_width, room // 2)
            if self.from_width <= self.to_width:
                self.from_width, self.to_width = narrow, room - narrow
            else:
                self.from_width, self.to_width = room - narrow, narrow
        left = width - needs[choice] - self.from_width - self.to_width - 1
        self.bar_width = min(_WIDEST_BAR, max(0, left)) if self.shares else 0

    @staticmethod
    def _widest(words: Iterator[str]) -> int:
        return max((columns(shortened(word, _WORD)) for word in words), default=0)

    def draw(self) -> Iterator[str]:
        if self.shown:
            indent = " " * (self.from_width + self.to_width + 8)
            product = f"{'mass':>7} {self.times} {'cost':<{self.digits}} = "
            yield f"{indent}{product if self.products else ''}adds"
        for moves in self._by_source():
            for position, move in enumerate(moves):
                yield self._move(move, position, len(moves))
        for rest, kind in ((self.smaller, "smaller move"), (self.free, "move at no cost")):
            if rest.count:
                yield self._rest(rest, kind)

    def _by_source(self) -> list[list[Move]]:
        """Group the moves by their source; the group that adds most comes first."""
        groups: dict[int, list[Move]] = {}
        for move in self.shown:
            groups.setdefault(move.source_at, []).append(move)
        return sorted(groups.values(), key=lambda moves: -sum(m.contribution for m in moves))

    def _move(self, move: Move, position: int, of: int) -> str:
        word = self._cut(move.source, self.from_width) if position == 0 else ""
        target = padded(self._cut(move.target, self.to_width), self.to_width)
        arrow = self._paint(self._arrow(position, of), move)
        return f"{padded(word, self.from_width)} {arrow} {target}  {self._sum(move)}"

    def _cut(self, text: str, width: int) -> str:
        return shortened(text, width, unicode=self.unicode)

    def _arrow(self, position: int, of: int) -> str:
        if of == 1:
            return "━━━▶" if self.unicode else "--->"
        if position == 0:
            return "┳━━▶" if self.unicode else "+-->"
        if position == of - 1:
            return "┗━━▶" if self.unicode else "`-->"
        return "┣━━▶" if self.unicode else "|-->"

    def _sum(self, move: Move) -> str:
        if not self.products:
            return self._adds(move)
        mass = f"{100 * move.mass:5.1f} %"
        if move.contribution <= 0:
            return f"{mass} at no cost"
        cost = f"{move.cost:{self.form}}"
        return f"{mass} {self.times} {cost:>{self.digits}} = {self._adds(move)}"

    def _adds(self, part: Move | Rest) -> str:
        """Return what a part adds, and its share where there is room."""
        adds = f"{part.contribution:{self.form}}"
        if not self.shares:
            return adds
        return f"{adds:<{self.digits}}  {self._bar(part)}{100 * self.flow.share(part):3.0f} %"

    def _rest(self, rest: Rest, kind: str) -> str:
        dots = "…" if self.unicode else "..."
        label = f"{dots} {rest.count} {kind.replace('move', 'moves') if rest.count > 1 else kind}"
        costs = rest.contribution > 0
        numbers = self._adds(rest) if costs else ""
        if self.products:
            gap = f"{' ' * (self.digits + 3)} = " if costs else ""
            numbers = f"{100 * rest.mass:5.1f} %{gap}{numbers}"
        words = self.from_width + self.to_width + 8
        room = max(words, self.width - columns(numbers))
        return f"{padded(self._cut(label, room), words)}{numbers}".rstrip()

    def _bar(self, part: Move | Rest) -> str:
        """Draw the share of the score, to the eighth of a column."""
        if self.bar_width < 4:
            return ""
        longest = max([self.flow.share(m) for m in self.shown] + [self.flow.share(self.smaller)])
        eighths = round(8 * self.bar_width * self.flow.share(part) / longest) if longest else 0
        bar = padded(filled(eighths, self.unicode), self.bar_width)
        return f"{self._paint(bar, part) if isinstance(part, Move) else bar} "

    def _paint(self, text: str, move: Move) -> str:
        if not self.color or move.contribution <= 0:
            return text
        red, green, blue = DARK[self.scale.level(move.cost)]
        return f"\x1b[38;2;{red};{green};{blue}m{text}\x1b[0m"
