"""Groups of points on a map, with their sizes and words; drawn as text, SVG and HTML."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from textkin._typing import Float64Array, Int64Array
from textkin._validation import integer
from textkin.explain._colour import GROUPS_DARK, GROUPS_LIGHT, hexadecimal
from textkin.explain._frame import PAPER, framed, picture_style, text
from textkin.explain._page import page
from textkin.explain._words import columns, filled, markup, padded, shortened

__all__ = ["GROUPS_STYLE", "Group", "GroupMap"]

_POINTS = 2000  # most that are drawn
_BAR, _WORDS = 12, 10  # columns of a bar; words of a line
_MARGIN, _LINE = 14.0, 24.0
_LOWEST, _HIGHEST = 200.0, 470.0  # of a map, in pixels
_EDGE = 26.0  # between the border of a map and its points, for labels
_LETTER = 8.6  # what a column of 14 pixels takes; wider letters are cut off at the edge
_STRETCH = 1.5
_LABEL = 18.0  # how high a label is
_LABEL_WORDS = 2
_MOST_LABELS_WITH_WORDS = 24
_LONGEST, _LONGEST_EXAMPLE = 40, 300  # columns of a word or name, and of an example, in hints
_SHAPES = ("circle", "square", "triangle", "diamond")

GROUPS_STYLE = picture_style(
    "textkin-groups",
    {
        ".label": "font-size:13px;font-weight:600;paint-order:stroke;stroke-width:4px;"
        "stroke-linejoin:round",
        ".mark": "opacity:.72",
    },
    {
        "paper": PAPER,
        **{
            f"g{at}": (hexadecimal(light), hexadecimal(dark))
            for at, (light, dark) in enumerate(zip(GROUPS_LIGHT, GROUPS_DARK, strict=True))
        },
    },
    {"label": PAPER},
)


@dataclass(frozen=True, slots=True)
class Group:
    """What is to be said of a group.

    Attributes
    ----------
    name : str
        Short: it stands on the map.
    size : int
        How many it has, drawn or not.
    words : tuple of (str, float)
        Words of its own, with a number each; the first ones stand on the map.
    example : str
        One of the group, or the beginning of it.
    note : str
        What else is to be said.
    """

    name: str
    size: int
    words: tuple[tuple[str, float], ...] = ()
    example: str = ""
    note: str = ""

    def first_words(self, n: int) -> str:
        """Return its first words on one line."""
        return " ".join(shortened(word, _LONGEST) for word, _ in self.words[:n])


@dataclass(frozen=True, slots=True, eq=False)
class GroupMap:
    """Points in groups; draws itself as text, SVG and HTML.

    Attributes
    ----------
    groups : tuple of Group
        In the order of their lines.
    points : ndarray of shape (n, 2), float64
        Where each point lies: to the right, and up.
    members : ndarray of shape (n,), int64
        The group of each point.
    without : int
        How many are in no group, and have no point.

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
        """Return a line for each group, with a bar as long as it is large, and an example below.

        Parameters
        ----------
        width : int, default=80
            Columns to fill; at least 20.
        unicode : bool, default=True
            Whether other characters than ASCII may be drawn; words are as they are.

        Returns
        -------
        str
            Lines without a newline at the end.
        """
        integer(20).check("width", width)
        names = [shortened(group.name, 12, unicode=unicode) for group in self.groups]
        sizes = [f"{group.size:,}" for group in self.groups]
        most = max((group.size for group in self.groups), default=0) or 1
        name_width = max(map(columns, names), default=0)
        size_width = max(map(len, sizes), default=0)
        bar_width = _BAR if width >= name_width + size_width + _BAR + 30 else 0
        indent = name_width + size_width + bar_width + (6 if bar_width else 4)
        room = max(8, width - indent)
        lines = []
        for group, name, number in zip(self.groups, names, sizes, strict=True):
            line = f"{padded(name, name_width)}  {number:>{size_width}}  "
            if bar_width:
                eighths = max(1, round(8 * bar_width * group.size / most))
                line += padded(filled(eighths, unicode), bar_width) + "  "
            words = shortened(_fitting(group, room), room, unicode=unicode)
            lines.append((line + words).rstrip())
            if group.example:
                lines.append(" " * indent + shortened(group.example, room, unicode=unicode))
        if self.without:
            lines.append(f"{self.without:,} in no group")
        return "\n".join(lines)

    def to_svg(self, *, title: str = "", width: int = 780, embedded: bool = False) -> str:
        """Return a picture: a map of the points, and a line for each group.

        Light or dark with the reader's setting. Groups differ by colour, by shape from the ninth
        on, and have their names on the map.

        Parameters
        ----------
        title : str, optional
            Above the picture.
        width : int, default=780
            In pixels, at least 400; the picture scales.
        embedded : bool, default=False
            Leave the style to the page around it, which has the rules of `stylesheet`.

        Returns
        -------
        str
            An ``<svg>`` element. Texts are escaped.
        """
        integer(400).check("width", width)
        top = _MARGIN + (30 if title else 0)
        places, high = _laid_out(self.points, width)
        lines_at = top + high + _MARGIN
        note = self._note()
        height = lines_at + _LINE * len(self.groups) + _MARGIN + (20 if note else 0)
        lines = []
        if title:
            shown = markup(shortened(title, width // 11))
            lines.append(text(_MARGIN, _MARGIN + 16, shown, classes="ink title"))
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
            lines.append(text(_MARGIN, height - _MARGIN, note, classes="muted small"))
        return framed(
            GROUPS_STYLE,
            width,
            height,
            lines,
            title=title or f"{len(self.groups)} groups",
            about=self._in_words(),
            embedded=embedded,
        )

    def to_html(self, *, title: str = "Groups") -> str:
        """Return a page with the picture and a table; it needs nothing from outside.

        Parameters
        ----------
        title : str, default="Groups"
            The heading.

        Returns
        -------
        str
            An HTML document without scripts. Texts are escaped.
        """
        return page(
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

    def _in_words(self) -> str:
        lists = (
            f"{shortened(group.name, _LONGEST)}, {group.size}: "
            f"{group.first_words(_WORDS) or 'no words'}"
            for group in self.groups
        )
        return ("; ".join(lists) or "No groups") + "."

    def _marks(self, places: Float64Array) -> Iterator[str]:
        drawn = np.arange(len(places))
        if len(places) > _POINTS:  # evenly through all of them
            drawn = np.linspace(0, len(places) - 1, _POINTS).astype(np.int64)
        radius = 3.2 if len(drawn) > 300 else 4.2
        for at, group in enumerate(self.groups):
            some = places[drawn[self.members[drawn] == at]]
            path = "".join(_mark(at, x, y, radius) for x, y in some.tolist())
            yield f'<path class="g{at % len(GROUPS_LIGHT)} mark" d="{path}">{_hint(group)}</path>'

    def _labels(self, places: Float64Array, width: int, high: float) -> Iterator[str]:
        """Name each group in its middle, or as near to it as there is room."""
        taken: list[tuple[float, float, float]] = []
        for at, group in enumerate(self.groups):
            own = places[self.members == at]
            if not len(own):
                continue
            label = group.name
            if len(self.groups) <= _MOST_LABELS_WITH_WORDS and group.words:
                label = f"{label} {group.first_words(_LABEL_WORDS)}"
            label = shortened(label, 28)
            half = _LETTER * columns(label) / 2 + 3
            x, y = np.median(own, axis=0).tolist()
            x = min(max(x, _MARGIN + half), width - _MARGIN - half)
            y = _free(x, y, half, taken, high)
            taken.append((x, y, half))
            yield text(
                x, y + 4, f"\u2068{markup(label)}\u2069", anchor="middle", classes="ink label"
            )


def _fitting(group: Group, room: int) -> str:
    """Return as many of the first words of a group as there is room for, at least one."""
    line = ""
    for word, _ in group.words[:_WORDS]:
        longer = f"{line} {word}" if line else word
        if line and columns(longer) > room:
            break
        line = longer
    return line


def _laid_out(points: Float64Array, width: int) -> tuple[Float64Array, float]:
    """Return where points lie in pixels, and how high the map is.

    Across they may be up to half as far apart again as up and down, for the labels.
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
    if not np.isfinite(across):  # all points are one
        across = up = 0.0
    height = max(_LOWEST, span[1] * up + 2 * _EDGE)
    middle = np.array([width / 2, height / 2])
    return middle + (points - (low + high) / 2) * np.array([across, -up]), float(height)


def _mark(group: int, x: float, y: float, r: float) -> str:
    """Draw one point: the shape tells groups of one colour apart."""
    shape = _SHAPES[group // len(GROUPS_LIGHT) % len(_SHAPES)]
    if shape == "circle":
        return f"M{x - r:.1f} {y:.1f}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0"
    if shape == "square":
        return f"M{x - r:.1f} {y - r:.1f}h{2 * r}v{2 * r}h{-2 * r}z"
    if shape == "triangle":
        return f"M{x:.1f} {y - r:.1f}l{r} {2 * r}h{-2 * r}z"
    return f"M{x:.1f} {y - 1.3 * r:.1f}l{r} {1.3 * r:.1f}l{-r} {1.3 * r:.1f}l{-r} {-1.3 * r:.1f}z"


def _free(
    x: float, y: float, half: float, taken: list[tuple[float, float, float]], high: float
) -> float:
    """Return the height nearest to `y` at which a label covers no other, if there is one."""
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
    colour = f"g{at % len(GROUPS_LIGHT)}"
    yield f'<path class="{colour}" d="{_mark(at, _MARGIN + 6, y + 12, 5.0)}"/>'
    name = f"\u2068{markup(shortened(group.name, 8))}\u2069"
    yield text(_MARGIN + 20, y + 17, name, classes="ink number")
    yield text(_MARGIN + 130, y + 17, f"{group.size:,}", anchor="end", classes="ink number")
    long = max(1.0, 110 * group.size / most)
    place = f'x="{_MARGIN + 140:.1f}" y="{y + 5:.1f}" width="{long:.1f}" height="14" rx="1"'
    yield f'<rect class="{colour} mark" {place}>{_hint(group)}</rect>'
    left = _MARGIN + 262
    letters = int((width - _MARGIN - left) / _LETTER)
    words = markup(shortened(_fitting(group, letters) or group.example, letters))
    shown = text(0, 17, f"\u2068{words}\u2069", classes="ink")
    # In a frame, which cuts off what a font draws wider than most do.
    frame = f'x="{left:.1f}" y="{y:.1f}" width="{width - _MARGIN - left:.1f}"'
    yield f'<svg {frame} height="{_LINE:.0f}">{shown}</svg>'


def _hint(group: Group) -> str:
    name, example = shortened(group.name, _LONGEST), shortened(group.example, _LONGEST_EXAMPLE)
    parts = [f"{name}: {group.size:,}", group.first_words(_WORDS), example]
    return f"<title>{markup(' · '.join(part for part in parts if part))}</title>"


def _table_row(group: Group) -> str:
    listed = (f"{shortened(word, _LONGEST)} {number:.1f}" for word, number in group.words)
    words, name = markup(", ".join(listed)), markup(shortened(group.name, _LONGEST))
    example, note = (
        markup(shortened(one, _LONGEST_EXAMPLE)) for one in (group.example, group.note)
    )
    said = example + (f"<br/><small>{note}</small>" if note else "")
    return (
        f'<tr><th scope="row">{name}</th><td class="number">{group.size:,}</td>'
        f'<td class="words">{words}</td><td class="words">{said}</td></tr>'
    )
