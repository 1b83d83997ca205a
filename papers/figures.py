"""Figures of results as SVG: bars by data set, and lines.

Figures are light or dark, following the reader's setting. Colors are distinguishable with any color
vision (Okabe and Ito 2002), and lines also have different marks.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from textkin.explain import escape_markup, shortened

__all__ = ["Value", "bar_figure", "line_figure"]

_WIDTH = 780
_MARGIN = 14.0
_COLOURS = ("#0072b2", "#cd5400", "#009e73", "#e69f00", "#8f5aa8", "#56748c", "#b3446c")
_DARK_COLOURS = ("#56b4e9", "#ff8a4c", "#2fbf94", "#f0b429", "#c79be0", "#a9bccb", "#ee8fb0")
_MARKS = ("circle", "square", "diamond", "triangle")


def _rules(ground: str, ink: str, muted: str, line: str, colours: Sequence[str]) -> str:
    fills = {"ground": ground, "ink": ink, "muted": muted}
    rules = "".join(f".textkin-figure .{name}{{fill:{fill}}}" for name, fill in fills.items())
    rules += f".textkin-figure .rule{{stroke:{line}}}.textkin-figure .edge{{stroke:{ink}}}"
    for at, colour in enumerate(colours):
        rules += f".textkin-figure .f{at}{{fill:{colour}}}.textkin-figure .s{at}{{stroke:{colour}}}"
    return rules


_STYLE = (
    ".textkin-figure text{font:13px system-ui,'Segoe UI',Helvetica,Arial,sans-serif}"
    ".textkin-figure .title{font-size:17px;font-weight:600}"
    ".textkin-figure .head{font-weight:600}"
    ".textkin-figure .number{font-variant-numeric:tabular-nums}"
    ".textkin-figure .curve{fill:none;stroke-width:2}"
    ".textkin-figure .other{stroke-width:1.6}"
    + _rules("#ffffff", "#1b1b22", "#5c5c68", "#dcdce3", _COLOURS)
    + "@media (prefers-color-scheme:dark){"
    + _rules("#17171c", "#ececf1", "#a5a5b2", "#3a3a44", _DARK_COLOURS)
    + "}"
)


@dataclass(frozen=True, slots=True)
class Value:
    """Value of a bar.

    Attributes
    ----------
    number : float
        Our number.
    error : float
        Standard error of the number. If 0, no error bar.
    other : float or None
        Number from a paper, drawn as an open diamond.
    """

    number: float
    error: float = 0.0
    other: float | None = None


def bar_figure(
    groups: Mapping[str, Mapping[str, Value]],
    *,
    title: str,
    legend: str = "",
    form: str = ".1f",
    highlight: Sequence[str] = (),
) -> str:
    """Draw horizontal bars, in one group with a heading for each data set.

    Parameters
    ----------
    groups : mapping of str to mapping of str to Value
        Bars by group and name.
    title : str
        Title, also used as text alternative.
    legend : str
        Text below the figure.
    form : str, default=".1f"
        Format of numbers.
    highlight : sequence of str
        Names of the bars that have the second color.

    Returns
    -------
    str
        Self-contained ``<svg>`` element. Texts are escaped.

    Examples
    --------
    >>> bar_figure({"r8": {"WMD": Value(4.5, 0.2, 3.5)}}, title="Error").startswith("<svg")
    True
    """
    line, head, labels, numbers = 20.0, 34.0, 210.0, 96.0
    top = _MARGIN + 30
    height = top + sum(head + line * len(bars) for bars in groups.values()) + 30
    left, right = _MARGIN + labels, _WIDTH - _MARGIN - numbers
    drawn: list[str] = []
    y = top
    said = []
    for group, bars in groups.items():
        ends = [v.number + v.error for v in bars.values()]
        ends += [v.other for v in bars.values() if v.other is not None]
        scale = (right - left) / (max([0.0, *ends]) or 1.0)
        drawn.append(_text(_MARGIN, y + 22, escape_markup(group), classes="ink head"))
        y += head
        for name, value in bars.items():
            kind = 1 if name in highlight else 0
            drawn += _bar(name, value, (left, y, scale), kind, form)
            other = "" if value.other is None else f", others {value.other:{form}}"
            said.append(f"{group}, {name}: {value.number:{form}}{other}")
            y += line
        drawn.append(
            f'<line class="rule" x1="{left:.1f}" x2="{left:.1f}" '
            f'y1="{y - line * len(bars):.1f}" y2="{y:.1f}"/>'
        )
    return _svg(title, "; ".join(said), legend, height, drawn)


def line_figure(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    title: str,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    log_y: bool = False,
    legend: str = "",
) -> str:
    """Draw one line with marks and a label for each series of points.

    Parameters
    ----------
    series : mapping of str to sequence of (float, float)
        Points by name. Points without a logarithm are omitted from logarithmic axes.
    title : str
        Title, also used as text alternative.
    x_label, y_label : str
        Labels of the axes.
    log_x, log_y : bool, default=False
        If True, the axis is logarithmic.
    legend : str
        Text below the figure.

    Examples
    --------
    >>> points = [(10, 5.2), (100, 4.5)]
    >>> line_figure({"r8": points}, title="Error", x_label="m", y_label="%").startswith("<svg")
    True
    """
    shown = {
        name: [
            (x, y)
            for x, y in sorted(points)
            if math.isfinite(x)
            and math.isfinite(y)
            and (x > 0 or not log_x)
            and (y > 0 or not log_y)
        ]
        for name, points in series.items()
    }
    every = [point for points in shown.values() for point in points]
    across = _Axis.of([x for x, _ in every], log_x, whole=False)
    up = _Axis.of([y for _, y in every], log_y, whole=not log_y)
    top, left, right, bottom = _MARGIN + 60, 80.0, _WIDTH - 170.0, 346.0
    drawn = []
    for tick in up.ticks:
        y = bottom - (bottom - top) * up.place(tick)
        drawn.append(f'<line class="rule" x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        drawn.append(_text(left - 8, y + 4, f"{tick:g}", anchor="end", classes="muted number"))
    for tick in across.ticks:
        x = left + (right - left) * across.place(tick)
        drawn.append(_text(x, bottom + 20, f"{tick:g}", anchor="middle", classes="muted number"))
    drawn.append(_text((left + right) / 2, bottom + 42, escape_markup(x_label), anchor="middle"))
    drawn.append(_text(left - 40, top - 12, escape_markup(y_label)))
    named = []
    for at, (name, points) in enumerate(shown.items()):
        if not points:
            continue
        places = [
            (left + (right - left) * across.place(x), bottom - (bottom - top) * up.place(y))
            for x, y in points
        ]
        kind, mark = at % len(_COLOURS), _MARKS[at % len(_MARKS)]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        drawn.append(f'<path class="curve s{kind}" d="M{path}"/>')
        for (x, y), point in zip(places, points, strict=True):
            hint = escape_markup(f"{name}: {point[0]:g}, {point[1]:g}")
            drawn.append(_mark(mark, x, y, f"f{kind}", hint))
        named.append((places[-1][1], name, kind, mark))
    named.sort()
    for y, (_, name, kind, mark) in zip(_apart([y for y, *_ in named]), named, strict=True):
        drawn.append(_mark(mark, right + 14, y, f"f{kind}", escape_markup(name)))
        drawn.append(_text(right + 24, y + 4, escape_markup(shortened(name, 19))))
    said = "; ".join(
        f"{name}: " + ", ".join(f"{x:g} {y:g}" for x, y in points) for name, points in shown.items()
    )
    height = max([bottom + 84, *(y + 30 for y in _apart([y for y, *_ in named]))])
    return _svg(title, said, legend, height, drawn)


def _apart(places: Sequence[float]) -> list[float]:
    """Move ascending positions down until labels do not overlap."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + 17) if moved else place)
    return moved


@dataclass(frozen=True, slots=True)
class _Axis:
    """Axis that maps numbers to positions between 0 and 1."""

    low: float
    high: float
    log: bool
    ticks: tuple[float, ...]

    @classmethod
    def of(cls, numbers: Sequence[float], log: bool, *, whole: bool) -> "_Axis":
        low, high = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
        if log:
            steps = (1, 2, 5) if high < 100 * low else (1,)
            ticks = [m * 10.0**e for e in range(-12, 13) for m in steps]
            within = [tick for tick in ticks if low / 1.01 <= tick <= high * 1.01]
            return cls(low / 1.05, high * 1.05, log, tuple(within[:: 1 + len(within) // 8]))
        low = min(low, 0.0) if whole else low
        if high <= low:
            high = low + 1.0
        rough = (high - low) / 5
        size = 10.0 ** math.floor(math.log10(rough))
        step = next(m * size for m in (1, 2, 5, 10) if m * size >= rough)
        first, last = math.floor(low / step), math.ceil(high / step - 1e-9)
        ticks = [at * step for at in range(first, last + 1)]
        return cls(ticks[0], ticks[-1], log, tuple(ticks))

    def place(self, number: float) -> float:
        """Return the position of a number."""
        if self.log:
            return math.log(number / self.low) / math.log(self.high / self.low)
        return (number - self.low) / (self.high - self.low)


def _bar(
    name: str, value: Value, place: tuple[float, float, float], kind: int, form: str
) -> Iterator[str]:
    left, y, scale = place
    middle = y + 10
    yield _text(left - 8, y + 14, escape_markup(shortened(name, 30)), anchor="end")
    hint = escape_markup(f"{name}: {value.number:{form}}")
    yield (
        f'<rect class="f{kind}" x="{left:.1f}" y="{y + 3:.1f}" '
        f'width="{max(scale * value.number, 0.5):.1f}" height="14"><title>{hint}</title></rect>'
    )
    if value.error:
        low, high = (
            left + scale * end
            for end in (max(value.number - value.error, 0), value.number + value.error)
        )
        ends = "".join(f"M{end:.1f} {middle - 3:.1f}v6" for end in (low, high))
        yield f'<path class="edge" d="M{low:.1f} {middle:.1f}H{high:.1f}{ends}"/>'
    if value.other is not None:
        hint = escape_markup(f"{name}, others: {value.other:{form}}")
        yield _mark("diamond", left + scale * value.other, middle, "other ground edge", hint)
    error = f" ± {value.error:{form}}" if value.error else ""
    number = f"{value.number:{form}}{error}"
    yield _text(_WIDTH - _MARGIN, y + 14, number, anchor="end", classes="ink number")


def _mark(shape: str, x: float, y: float, classes: str, hint: str) -> str:
    paths = {
        "circle": "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
        "square": "m-3.6 -3.6h7.2v7.2h-7.2z",
        "diamond": "m0 -5l5 5l-5 5l-5 -5z",
        "triangle": "m0 -5l5 9h-10z",
    }
    path = f"M{x:.1f} {y:.1f}{paths[shape]}"
    return f'<path class="{classes}" d="{path}"><title>{hint}</title></path>'


def _text(x: float, y: float, content: str, *, anchor: str = "start", classes: str = "ink") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{classes}">{content}</text>'
    )


def _svg(title: str, said: str, legend: str, height: float, drawn: Sequence[str]) -> str:
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" class="textkin-figure" role="img" '
        f'viewBox="0 0 {_WIDTH} {height:.0f}" width="{_WIDTH}" height="{height:.0f}" '
        'style="max-width:100%;height:auto">',
        f"<title>{escape_markup(title)}</title>",
        f"<desc>{escape_markup(said)}</desc>",
        f"<style>{_STYLE}</style>",
        f'<rect class="ground" width="{_WIDTH}" height="{height:.0f}" rx="6"/>',
        _text(_MARGIN, _MARGIN + 16, escape_markup(shortened(title, 80)), classes="ink title"),
        *drawn,
    ]
    if legend:
        lines.append(
            _text(_MARGIN, height - 10, escape_markup(shortened(legend, 120)), classes="muted")
        )
    return "\n".join([*lines, "</svg>"])
