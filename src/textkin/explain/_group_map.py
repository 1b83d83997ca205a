"""`GroupMap`: groups of documents on a two-dimensional map, with words."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from textkin._base import DrawnResult, Float64Array, Int64Array, integer
from textkin.explain._characters import draw_bar, escape_markup, pad, shortened, text_width
from textkin.explain._page import (
    GROUPS_DARK,
    GROUPS_LIGHT,
    PAPER,
    draw_frame,
    draw_text,
    render_page,
    svg_style,
    to_hex,
)

__all__ = ["GROUPS_STYLE", "Group", "GroupMap"]

_POINTS = 2000  # maximum number of drawn points
_BAR, _WORDS = 12, 10  # columns of a bar; words per line
_MARGIN, _LINE = 14.0, 24.0
_LOWEST, _HIGHEST = 200.0, 470.0  # minimum and maximum height of a map, in pixels
_EDGE = 26.0  # margin between the border of a map and its points, for labels
_LETTER = 8.6  # pixels per letter at 14 pixels; wider letters are clipped
_STRETCH = 1.5
_LABEL = 18.0  # height of a label
_LABEL_WORDS = 2
_MOST_LABELS_WITH_WORDS = 24
_LONGEST, _LONGEST_EXAMPLE = 40, 300  # columns of a word or name, and of an example, in tooltips
_SHAPES = ("circle", "square", "triangle", "diamond")

GROUPS_STYLE = svg_style(
    "textkin-groups",
    {
        ".label": "font-size:13px;font-weight:600;paint-order:stroke;stroke-width:4px;"
        "stroke-linejoin:round",
        ".mark": "opacity:.72",
    },
    {
        "paper": PAPER,
        **{
            f"g{at}": (to_hex(light), to_hex(dark))
            for at, (light, dark) in enumerate(zip(GROUPS_LIGHT, GROUPS_DARK, strict=True))
        },
    },
    {"label": PAPER},
)


@dataclass(frozen=True, slots=True)
class Group:
    """Group of points on a map: name, size, distinctive words, and an example text.

    Attributes
    ----------
    name : str
        Short name, shown on the map.
    size : int
        Number of members, drawn or not.
    words : tuple of (str, float)
        Typical words with a weight each; the map shows the first ones.
    example : str
        Member of the group, or its start.
    note : str
        Additional note.
    """

    name: str
    size: int
    words: tuple[tuple[str, float], ...] = ()
    example: str = ""
    note: str = ""

    def first_words(self, n: int) -> str:
        """Return the first `n` distinctive words on one line."""
        return " ".join(shortened(word, _LONGEST) for word, _ in self.words[:n])


@dataclass(frozen=True, slots=True, eq=False)
class GroupMap(DrawnResult):
    """Points in the plane in groups (such as clusters), drawn as a map with words.

    Attributes
    ----------
    groups : tuple of Group
        Groups in the order of their lines.
    points : ndarray of shape (n, 2), float64
        Positions of the points: to the right, and up.
    members : ndarray of shape (n,), int64
        Group of each point.
    without : int
        Number of items without a group and without a point.

    Examples
    --------
    >>> import numpy as np
    >>> groups = Group("0", 2, (("cat", 2.0), ("purr", 1.5))), Group("1", 1, (("stock", 1.0),))
    >>> print(GroupMap(groups, np.array([[0, 0], [1, 0], [4, 3.0]]), np.array([0, 0, 1])))
    0  2  ████████████  cat purr
    1  1  ██████        stock
    """

    groups: tuple[Group, ...]
    points: Float64Array
    members: Int64Array
    without: int = 0

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, width: int = 80, unicode: bool = True) -> str:
        """Return a line per group with a bar for its size, its words, and an example.

        Parameters
        ----------
        width : int, default=80
            Width in columns, at least 20.
        unicode : bool, default=True
            If False, draw in ASCII; words are unchanged.

        Returns
        -------
        str
            Lines without a newline at the end.
        """
        integer(20).check("width", width)
        names = [shortened(group.name, 12, unicode=unicode) for group in self.groups]
        sizes = [f"{group.size:,}" for group in self.groups]
        most = max((group.size for group in self.groups), default=0) or 1
        name_width = max(map(text_width, names), default=0)
        size_width = max(map(len, sizes), default=0)
        bar_width = _BAR if width >= name_width + size_width + _BAR + 30 else 0
        indent = name_width + size_width + bar_width + (6 if bar_width else 4)
        room = max(8, width - indent)
        lines = []
        for group, name, number in zip(self.groups, names, sizes, strict=True):
            line = f"{pad(name, name_width)}  {number:>{size_width}}  "
            if bar_width:
                eighths = max(1, round(8 * bar_width * group.size / most))
                line += pad(draw_bar(eighths, unicode), bar_width) + "  "
            words = shortened(_fit_words(group, room), room, unicode=unicode)
            lines.append((line + words).rstrip())
            if group.example:
                lines.append(" " * indent + shortened(group.example, room, unicode=unicode))
        if self.without:
            lines.append(f"{self.without:,} in no group")
        return "\n".join(lines)

    def to_svg(self, *, title: str = "", width: int = 780, embedded: bool = False) -> str:
        """Draw the points as a map, and a line with words per group, as SVG.

        The figure is light or dark by the reader's setting. Groups differ by color, from the ninth
        also by shape, and have their names on the map.

        Parameters
        ----------
        title : str, optional
            Title above the figure.
        width : int, default=780
            Width in pixels, at least 400; the figure scales.
        embedded : bool, default=False
            If True, omit the style; the surrounding page must have the rules of `stylesheet`.

        Returns
        -------
        str
            An ``<svg>`` element. Texts are escaped.
        """
        integer(400).check("width", width)
        top = _MARGIN + (30 if title else 0)
        places, high = _lay_out(self.points, width)
        lines_at = top + high + _MARGIN
        note = self._note()
        height = lines_at + _LINE * len(self.groups) + _MARGIN + (20 if note else 0)
        lines = []
        if title:
            shown = escape_markup(shortened(title, width // 11))
            lines.append(draw_text(_MARGIN, _MARGIN + 16, shown, classes="ink title"))
        lines += [
            f'<g transform="translate(0 {top:.1f})">',
            f'<rect class="paper" x="{_MARGIN}" width="{width - 2 * _MARGIN:.0f}" '
            f'height="{high:.0f}" rx="4"/>',
            *self._marks(places),
            *self._labels(places, width, high),
            "</g>",
        ]
        most = max((group.size for group in self.groups), default=0) or 1
        for at, group in enumerate(self.groups):
            lines += _row(group, at, lines_at + _LINE * at, width, most)
        if note:
            lines.append(draw_text(_MARGIN, height - _MARGIN, note, classes="muted small"))
        return draw_frame(
            GROUPS_STYLE,
            width,
            height,
            lines,
            title=title or f"{len(self.groups)} groups",
            about=self._describe(),
            embedded=embedded,
        )

    def to_html(self, *, title: str = "Groups") -> str:
        """Return an HTML page with the map and a table of the groups.

        Parameters
        ----------
        title : str, default="Groups"
            Heading.

        Returns
        -------
        str
            An HTML document without scripts. Texts are escaped.
        """
        return render_page(
            title,
            [
                f'<div class="wide">{self.to_svg()}</div>',
                '<div class="wide">',
                "<table>",
                f"<caption>All {len(self.groups)} groups.</caption>",
                '<tr><th scope="col">group</th><th scope="col" class="number">size</th>'
                '<th scope="col">words</th><th scope="col">example</th></tr>',
                *map(_table_row, self.groups),
                "</table>",
                "</div>",
            ],
        )

    def _repr_html_(self) -> str:
        return self.to_svg()

    def _note(self) -> str:
        parts = [] if self.groups else ["no groups"]
        if len(self.points) > _POINTS:
            parts.append(f"{_POINTS:,} of {len(self.points):,} are drawn")
        if self.without:
            parts.append(f"{self.without:,} are in no group")
        return " · ".join(parts)

    def _describe(self) -> str:
        lists = (
            f"{shortened(group.name, _LONGEST)}, {group.size}: "
            f"{group.first_words(_WORDS) or 'no words'}"
            for group in self.groups
        )
        return ("; ".join(lists) or "No groups") + "."

    def _marks(self, places: Float64Array) -> Iterator[str]:
        drawn = np.arange(len(places))
        if len(places) > _POINTS:  # an even sample
            drawn = np.linspace(0, len(places) - 1, _POINTS).astype(np.int64)
        radius = 3.2 if len(drawn) > 300 else 4.2
        for at, group in enumerate(self.groups):
            some = places[drawn[self.members[drawn] == at]]
            path = "".join(_mark(at, x, y, radius) for x, y in some.tolist())
            yield f'<path class="g{at % len(GROUPS_LIGHT)} mark" d="{path}">{_hint(group)}</path>'

    def _labels(self, places: Float64Array, width: int, high: float) -> Iterator[str]:
        """Yield the SVG labels of the groups, placed so that they do not overlap."""
        taken: list[tuple[float, float, float]] = []
        for at, group in enumerate(self.groups):
            own = places[self.members == at]
            if not len(own):
                continue
            label = group.name
            if len(self.groups) <= _MOST_LABELS_WITH_WORDS and group.words:
                label = f"{label} {group.first_words(_LABEL_WORDS)}"
            label = shortened(label, 28)
            half = _LETTER * text_width(label) / 2 + 3
            x, y = np.median(own, axis=0).tolist()
            x = min(max(x, _MARGIN + half), width - _MARGIN - half)
            y = _find_free_height(x, y, half, taken, high)
            taken.append((x, y, half))
            yield draw_text(
                x,
                y + 4,
                f"\u2068{escape_markup(label)}\u2069",
                anchor="middle",
                classes="ink label",
            )


def _fit_words(group: Group, room: int) -> str:
    """Return as many of a group's words as fit on a line, but at least one."""
    line = ""
    for word, _ in group.words[:_WORDS]:
        longer = f"{line} {word}" if line else word
        if line and text_width(longer) > room:
            break
        line = longer
    return line


def _lay_out(points: Float64Array, width: int) -> tuple[Float64Array, float]:
    """Convert coordinates of points to pixels; return them with the height of the map.

    The horizontal scale may be up to 1.5 times the vertical scale, which leaves space for labels.
    """
    wide = width - 2 * (_MARGIN + _EDGE)
    if not len(points):
        return np.empty((0, 2)), _LOWEST
    low, high = points.min(axis=0), points.max(axis=0)
    span = high - low
    inner = _HIGHEST - 2 * _EDGE
    across, up = (
        (room / size if size > 0 else np.inf)
        for room, size in zip((wide, inner), span.tolist(), strict=True)
    )
    across, up = min(across, _STRETCH * up), min(across, up)
    if not np.isfinite(across):  # all points are equal
        across = up = 0.0
    height = max(_LOWEST, span[1] * up + 2 * _EDGE)
    middle = np.array([width / 2, height / 2])
    return middle + (points - (low + high) / 2) * np.array([across, -up]), float(height)


def _mark(group: int, x: float, y: float, r: float) -> str:
    """Return the SVG path of a point, whose shape depends on the group."""
    shape = _SHAPES[group // len(GROUPS_LIGHT) % len(_SHAPES)]
    if shape == "circle":
        return f"M{x - r:.1f} {y:.1f}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0"
    if shape == "square":
        return f"M{x - r:.1f} {y - r:.1f}h{2 * r}v{2 * r}h{-2 * r}z"
    if shape == "triangle":
        return f"M{x:.1f} {y - r:.1f}l{r} {2 * r}h{-2 * r}z"
    return f"M{x:.1f} {y - 1.3 * r:.1f}l{r} {1.3 * r:.1f}l{-r} {1.3 * r:.1f}l{-r} {-1.3 * r:.1f}z"


def _find_free_height(
    x: float, y: float, half: float, taken: list[tuple[float, float, float]], high: float
) -> float:
    """Return the y coordinate closest to `y` where a label overlaps no other label."""
    lowest, highest = _LABEL / 2, high - _LABEL / 2
    y = min(max(y, lowest), highest)
    for step in range(int(2 * high / _LABEL)):
        for sign in (1, -1):
            at = y + sign * step * _LABEL / 2
            apart = (
                abs(at - other_y) >= _LABEL or abs(x - other_x) >= half + other_half
                for other_x, other_y, other_half in taken
            )
            if lowest <= at <= highest and all(apart):
                return at
    return y


def _row(group: Group, at: int, y: float, width: int, most: int) -> Iterator[str]:
    color = f"g{at % len(GROUPS_LIGHT)}"
    yield f'<path class="{color}" d="{_mark(at, _MARGIN + 6, y + 12, 5.0)}"/>'
    name = f"\u2068{escape_markup(shortened(group.name, 8))}\u2069"
    yield draw_text(_MARGIN + 20, y + 17, name, classes="ink number")
    yield draw_text(_MARGIN + 130, y + 17, f"{group.size:,}", anchor="end", classes="ink number")
    long = max(1.0, 110 * group.size / most)
    place = f'x="{_MARGIN + 140:.1f}" y="{y + 5:.1f}" width="{long:.1f}" height="14" rx="1"'
    yield f'<rect class="{color} mark" {place}>{_hint(group)}</rect>'
    left = _MARGIN + 262
    letters = int((width - _MARGIN - left) / _LETTER)
    words = escape_markup(shortened(_fit_words(group, letters) or group.example, letters))
    shown = draw_text(0, 17, f"\u2068{words}\u2069", classes="ink")
    # The nested frame clips text if a font is wider than expected.
    frame = f'x="{left:.1f}" y="{y:.1f}" width="{width - _MARGIN - left:.1f}"'
    yield f'<svg {frame} height="{_LINE:.0f}">{shown}</svg>'


def _hint(group: Group) -> str:
    name, example = shortened(group.name, _LONGEST), shortened(group.example, _LONGEST_EXAMPLE)
    parts = [f"{name}: {group.size:,}", group.first_words(_WORDS), example]
    return f"<title>{escape_markup(' · '.join(part for part in parts if part))}</title>"


def _table_row(group: Group) -> str:
    listed = (f"{shortened(word, _LONGEST)} {number:.1f}" for word, number in group.words)
    words, name = escape_markup(", ".join(listed)), escape_markup(shortened(group.name, _LONGEST))
    example, note = (
        escape_markup(shortened(one, _LONGEST_EXAMPLE)) for one in (group.example, group.note)
    )
    said = example + (f"<br/><small>{note}</small>" if note else "")
    return (
        f'<tr><th scope="row">{name}</th><td class="number">{group.size:,}</td>'
        f'<td class="words">{words}</td><td class="words">{said}</td></tr>'
    )
