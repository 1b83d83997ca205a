"""Drawing of a flow as lines of text, and as an HTML page."""

from collections.abc import Iterable, Iterator

from textkin._base import integer
from textkin.explain._aligned_drawing import aligned_html
from textkin.explain._aligned_text import AlignedText
from textkin.explain._characters import draw_bar, escape_markup, pad, shortened, text_width
from textkin.explain._flow import Flow, Move, Rest
from textkin.explain._flow_svg import flow_svg
from textkin.explain._page import DARK, CostScale, render_page

__all__ = ["flow_html", "flow_text"]

_MAX_COLUMN = 22  # maximum width of a column of words
_MIN_COLUMN = 8  # words are cut to this width before numbers are omitted
_MAX_BAR = 16


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
        Maximum number of moves, the largest contributions first; the rest is summed up.
    width : int, default=80
        Width in columns. A narrow drawing first omits the bars, then truncates words, then omits
        shares, and finally masses and costs. The minimum is about 20.
    unicode : bool, default=True
        If True, draw with lines and blocks; otherwise the drawing (not the words) is ASCII.
    color : bool, default=False
        If True, color moves by cost with terminal escape sequences.

    Returns
    -------
    str
        Lines without a newline at the end. Control characters in words are replaced.

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
    """Layout of a flow as text: column widths, number format, and symbols."""

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
        """Choose column widths, and which numbers to show, for a line width."""
        self.width = width
        self.from_width = self._widest(move.source for move in self.shown)
        self.to_width = self._widest(move.target for move in self.shown)
        wanted = self.from_width + self.to_width
        # Width of the numbers: all, without shares, and contributions only.
        needs = 2 * self.digits + 28, 2 * self.digits + 21, self.digits + 8
        least = min(wanted, 2 * _MIN_COLUMN)
        fitting = [at for at, need in enumerate(needs) if width - need >= least]
        choice = fitting[0] if fitting else len(needs) - 1
        self.shares, self.products = choice == 0, choice < len(needs) - 1
        room = max(2, width - needs[choice])
        if wanted > room:  # truncate the wider column first
            narrow = min(self.from_width, self.to_width, room // 2)
            if self.from_width <= self.to_width:
                self.from_width, self.to_width = narrow, room - narrow
            else:
                self.from_width, self.to_width = room - narrow, narrow
        left = width - needs[choice] - self.from_width - self.to_width - 1
        self.bar_width = min(_MAX_BAR, max(0, left)) if self.shares else 0

    @staticmethod
    def _widest(words: Iterator[str]) -> int:
        return max((text_width(shortened(word, _MAX_COLUMN)) for word in words), default=0)

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
        """Return the moves grouped by source word, by descending contribution."""
        groups: dict[int, list[Move]] = {}
        for move in self.shown:
            groups.setdefault(move.source_at, []).append(move)
        return sorted(groups.values(), key=lambda moves: -sum(m.contribution for m in moves))

    def _move(self, move: Move, position: int, of: int) -> str:
        word = self._cut(move.source, self.from_width) if position == 0 else ""
        target = pad(self._cut(move.target, self.to_width), self.to_width)
        arrow = self._paint(self._arrow(position, of), move)
        return f"{pad(word, self.from_width)} {arrow} {target}  {self._sum(move)}"

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
        """Format the contribution of a move, and its share of the distance if there is room."""
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
        room = max(words, self.width - text_width(numbers))
        return f"{pad(self._cut(label, room), words)}{numbers}".rstrip()

    def _bar(self, part: Move | Rest) -> str:
        """Return a bar of characters for the share of a move in the distance."""
        if self.bar_width < 4:
            return ""
        longest = max([self.flow.share(m) for m in self.shown] + [self.flow.share(self.smaller)])
        eighths = round(8 * self.bar_width * self.flow.share(part) / longest) if longest else 0
        bar = pad(draw_bar(eighths, self.unicode), self.bar_width)
        return f"{self._paint(bar, part) if isinstance(part, Move) else bar} "

    def _paint(self, text: str, move: Move) -> str:
        if not self.color or move.contribution <= 0:
            return text
        red, green, blue = DARK[self.scale.level(move.cost)]
        return f"\x1b[38;2;{red};{green};{blue}m{text}\x1b[0m"


_MAX_ROWS = 500  # rows of the table
_MAX_WORD = 60  # columns of a word in the table


def flow_html(
    flow: Flow,
    *,
    title: str,
    source_text: str = "",
    target_text: str = "",
    aligned: AlignedText | None = None,
    facts: Iterable[tuple[str, str]] = (),
    limit: int = 20,
) -> str:
    """Return an HTML page with a flow: figure, facts, and a table of all moves.

    Parameters
    ----------
    flow : Flow
        Any flow.
    title : str
        Heading.
    source_text, target_text : str, optional
        Full texts of the two columns.
    aligned : AlignedText, optional
        Both texts with their aligned words, shown instead of the full texts.
    facts : iterable of (str, str)
        Additional rows: a name and a value.
    limit : int, default=20
        Number of moves in the figure; the table has all moves.

    Returns
    -------
    str
        An HTML document without scripts. Texts are escaped.

    Examples
    --------
    >>> from textkin.explain import Flow, Rest
    >>> flow = Flow.of([("<b>", 1.0)], [("press", 1.0)], [(0, 0, 1.0, 2.5)])
    >>> page = flow_html(flow, title="Two words")
    >>> "<td>&lt;b&gt;</td>" in page
    True
    """
    picture = flow_svg(flow, source_title=source_text, target_title=target_text, limit=limit)
    return render_page(
        title,
        [
            *_text_blocks(aligned, source_text, target_text),
            f'<div class="wide">{picture}</div>',
            *_facts_table(facts),
            '<div class="wide">',
            *_moves_table(flow),
            "</div>",
        ],
    )


def _text_blocks(aligned: AlignedText | None, *texts: str) -> Iterator[str]:
    if aligned is not None:
        yield aligned_html(aligned)
        return
    for text in texts:
        if text:
            yield f'<blockquote dir="auto">{_escape_lines(text)}</blockquote>'


def _escape_lines(text: str) -> str:
    return "\n".join(escape_markup(line) for line in text.splitlines())


def _facts_table(facts: Iterable[tuple[str, str]]) -> Iterator[str]:
    rows = [
        f'<tr><th scope="row">{escape_markup(k)}</th><td class="words">{escape_markup(v)}</td></tr>'
        for k, v in facts
    ]
    if rows:
        yield "<table>"
        yield from rows
        yield "</table>"


def _moves_table(flow: Flow) -> Iterator[str]:
    yield "<table>"
    shown, rest = flow.moves[:_MAX_ROWS], flow.moves[_MAX_ROWS:]
    first = f"The first {len(shown)} of" if rest else "All"
    said = f"{first} {len(flow.moves)} moves; all contributions sum to {flow.score:.6g}."
    yield f"<caption>{said}</caption>"
    heads = ("mass", "cost", "adds", "share")
    numbers = "".join(f'<th scope="col" class="number">{head}</th>' for head in heads)
    yield f'<tr><th scope="col">from</th><th scope="col">to</th>{numbers}</tr>'
    for move in shown:
        values = (
            f"{100 * move.mass:.2f} %",
            f"{move.cost:.4f}",
            f"{move.contribution:.4f}",
            f"{100 * flow.share(move):.1f} %",
        )
        cells = "".join(f'<td class="number">{value}</td>' for value in values)
        words = (escape_markup(shortened(word, _MAX_WORD)) for word in (move.source, move.target))
        yield f"<tr>{''.join(f'<td>{word}</td>' for word in words)}{cells}</tr>"
    if rest:
        left = Rest.of(rest)
        yield (
            f'<tr><td colspan="2">{left.count} more</td>'
            f'<td class="number">{100 * left.mass:.2f} %</td><td></td>'
            f'<td class="number">{left.contribution:.4f}</td>'
            f'<td class="number">{100 * flow.share(left):.1f} %</td></tr>'
        )
    yield "</table>"
