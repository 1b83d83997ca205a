"""Shared parts of drawings: colors, CSS, SVG frames, and HTML pages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from textkin.explain._characters import escape_markup

__all__ = [
    "DARK",
    "FONT",
    "GROUND",
    "GROUPS_DARK",
    "GROUPS_LIGHT",
    "INK",
    "LEVELS",
    "LIGHT",
    "LINE",
    "MUTED",
    "PAPER",
    "CostScale",
    "Pair",
    "Rgb",
    "Style",
    "draw_frame",
    "draw_text",
    "render_page",
    "stylesheet",
    "svg_style",
    "to_hex",
]

# ------------------------------------------------------------------ colors

LEVELS = 7

Rgb = tuple[int, int, int]

# Blue to vermilion through a neutral gray: the ends differ for every common color vision
# deficiency (Okabe and Ito 2002). On a dark background both are lighter.
_LIGHT_STOPS: tuple[Rgb, Rgb, Rgb] = ((0, 114, 178), (150, 146, 158), (205, 84, 0))
_DARK_STOPS: tuple[Rgb, Rgb, Rgb] = ((86, 180, 233), (152, 148, 158), (240, 150, 50))


def _ramp(stops: tuple[Rgb, Rgb, Rgb]) -> tuple[Rgb, ...]:
    low, middle, high = stops
    half = (LEVELS - 1) / 2
    colors = []
    for level in range(LEVELS):
        start, end = (low, middle) if level <= half else (middle, high)
        part = level / half if level <= half else (level - half) / half
        colors.append(
            (
                round(start[0] + (end[0] - start[0]) * part),
                round(start[1] + (end[1] - start[1]) * part),
                round(start[2] + (end[2] - start[2]) * part),
            )
        )
    return tuple(colors)


LIGHT = _ramp(_LIGHT_STOPS)
DARK = _ramp(_DARK_STOPS)

# Eight categories, after Okabe and Ito; their yellow is too pale for a light background.
GROUPS_LIGHT: tuple[Rgb, ...] = (
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 121, 167),
    (230, 159, 0),
    (86, 180, 233),
    (122, 106, 0),
    (92, 92, 104),
)
GROUPS_DARK: tuple[Rgb, ...] = (
    (74, 163, 223),
    (240, 127, 60),
    (47, 195, 154),
    (227, 163, 198),
    (245, 192, 74),
    (143, 208, 245),
    (217, 207, 74),
    (184, 184, 196),
)


def to_hex(color: Rgb) -> str:
    """Convert an RGB color to ``#rrggbb``."""
    return "#{:02x}{:02x}{:02x}".format(*color)


@dataclass(frozen=True, slots=True)
class CostScale:
    """Range of the costs of a drawing, divided into color levels."""

    low: float
    high: float

    @classmethod
    def of(cls, costs: Iterable[float]) -> "CostScale":
        """Create the scale from the smallest to the largest positive cost."""
        positive = [cost for cost in costs if cost > 0]
        return cls(min(positive, default=0.0), max(positive, default=0.0))

    @property
    def levels(self) -> range:
        """Color levels in use; only the highest if all costs look equal."""
        is_single = f"{self.low:.3g}" == f"{self.high:.3g}"
        return range(LEVELS - 1, LEVELS) if is_single else range(LEVELS)

    def level(self, cost: float) -> int:
        """Return the color level of a cost, 0 (low) to `LEVELS` - 1 (high)."""
        if len(self.levels) == 1:
            return self.levels[0]
        part = (cost - self.low) / (self.high - self.low)
        return min(LEVELS - 1, max(0, int(part * LEVELS)))


# ------------------------------------------------------------------ SVG

Pair = tuple[str, str]
"""Colors on a light and on a dark background."""

GROUND: Pair = ("#ffffff", "#17171c")
PAPER: Pair = ("#f6f6f9", "#202027")
INK: Pair = ("#1b1b22", "#ececf1")
MUTED: Pair = ("#5c5c68", "#a5a5b2")
LINE: Pair = ("#dcdce3", "#3a3a44")
FONT = "system-ui,'Segoe UI',Helvetica,Arial,sans-serif"


@dataclass(frozen=True, slots=True)
class Style:
    """CSS rules of one kind of drawing, for light and dark backgrounds.

    Attributes
    ----------
    kind : str
        CSS class of the drawing.
    rules : mapping of str to str
        Declarations by selector; "" is the drawing itself.
    colors : mapping of (str, str) to Pair
        Colors by selector and property.
    """

    kind: str
    rules: Mapping[str, str] = field(default_factory=dict)
    colors: Mapping[tuple[str, str], Pair] = field(default_factory=dict)

    @property
    def css(self) -> str:
        """CSS text with a media query for dark backgrounds."""
        plain = "".join(self._rule(selector, text) for selector, text in self.rules.items())
        dark = (
            f"@media (prefers-color-scheme:dark){{{self._color_rules(1)}}}" if self.colors else ""
        )
        return plain + self._color_rules(0) + dark

    def _color_rules(self, ground: int) -> str:
        return "".join(
            self._rule(selector, f"{name}:{pair[ground]}")
            for (selector, name), pair in self.colors.items()
        )

    def _rule(self, selector: str, declarations: str) -> str:
        return f".{self.kind}{' ' if selector else ''}{selector}{{{declarations}}}"


def svg_style(
    kind: str,
    rules: Mapping[str, str],
    fills: Mapping[str, Pair],
    strokes: Mapping[str, Pair] | None = None,
    font: str = "14px",
) -> Style:
    """Create the style of an SVG drawing from common rules and its own rules."""
    common = {
        "": "max-width:100%;height:auto",
        "text": f"font:{font} {FONT};unicode-bidi:isolate",
        ".title": "font-size:17px;font-weight:600",
        ".small": "font-size:12px",
        ".number": "font-variant-numeric:tabular-nums",
    }
    colors = {"ground": GROUND, "ink": INK, "muted": MUTED, **fills}
    return Style(
        kind,
        {**common, **rules},
        {
            **{(f".{name}", "fill"): pair for name, pair in colors.items()},
            **{(f".{name}", "stroke"): pair for name, pair in (strokes or {}).items()},
        },
    )


def draw_frame(
    style: Style,
    width: int,
    height: float,
    body: Iterable[str],
    *,
    title: str,
    about: str,
    embedded: bool,
) -> str:
    """Return an ``<svg>`` element with title, description, style, and a body of markup.

    Parameters
    ----------
    style : Style
        Rules of the drawing, included unless `embedded`.
    width, height : float
        Size in pixels; the drawing scales.
    body : iterable of str
        Markup of the drawing.
    title, about : str
        Name and text alternative.
    embedded : bool
        Omit the rules, which the surrounding page has.
    """
    high = f"{height:.0f}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{style.kind}" role="img" '
            f'viewBox="0 0 {width} {high}" width="{width}" height="{high}">',
            f"<title>{escape_markup(title)}</title>",
            f"<desc>{escape_markup(about)}</desc>",
            *([] if embedded else [f"<style>{style.css}</style>"]),
            f'<rect class="ground" width="{width}" height="{high}" rx="6"/>',
            *body,
            "</svg>",
        ]
    )


def draw_text(
    x: float, y: float, content: str, *, anchor: str = "start", classes: str = "ink"
) -> str:
    """Return an SVG ``<text>`` element at a position; `content` is markup."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{classes}">{content}</text>'
    )


# ------------------------------------------------------------------ HTML and CSS

_PAGE_COLORS = {"ground": GROUND, "ink": INK, "muted": MUTED, "line": LINE}
_LIGHT_VARIABLES, _DARK_VARIABLES = (
    ";".join(f"--{name}:{pair[ground]}" for name, pair in _PAGE_COLORS.items()) for ground in (0, 1)
)
_PAGE_STYLE = f"""
:root{{color-scheme:light dark;{_LIGHT_VARIABLES}}}
@media (prefers-color-scheme:dark){{:root{{{_DARK_VARIABLES}}}}}
body{{font:16px/1.5 {FONT};background:var(--ground);
color:var(--ink);max-width:820px;margin:2rem auto;padding:0 1rem}}
h1{{font-size:1.4rem;overflow-wrap:anywhere}}
h2{{font-size:1.1rem;overflow-wrap:anywhere}}
svg{{max-width:100%;height:auto}}
blockquote{{margin:.5rem 0;padding:.2rem 1rem;border-left:3px solid var(--line);
white-space:pre-wrap;overflow-wrap:anywhere;max-height:12rem;overflow:auto}}
table{{border-collapse:collapse;width:100%;margin:1rem 0}}
th,td{{text-align:left;padding:.25rem .6rem;border-bottom:1px solid var(--line)}}
td.words{{overflow-wrap:anywhere}}
.wide{{overflow-x:auto}}
.wide svg{{min-width:560px}}
td.number,th.number{{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}}
th[scope=row]{{white-space:nowrap;vertical-align:top}}
caption{{text-align:left;color:var(--muted);padding:.3rem 0}}
summary{{cursor:pointer;padding:.25rem 0}}
"""


def render_page(title: str, body: Iterable[str], style: str = "") -> str:
    """Return an HTML page with a heading, a style, and a body of markup.

    The page is also well-formed XML, so that tests can find errors in its body.
    """
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8"/>',
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
            f"<title>{escape_markup(title)}</title>",
            f"<style>{_PAGE_STYLE}{style}</style>",
            "</head>",
            "<body>",
            f"<h1>{escape_markup(title)}</h1>",
            *body,
            "</body>",
            "</html>",
            "",
        ]
    )


def stylesheet() -> str:
    """Return the CSS that embedded drawings need, for light and dark backgrounds.

    All rules apply to classes inside ``.textkin-…``, so they change nothing else on a page. Served
    as a separate file, the stylesheet satisfies a content security policy with ``style-src
    'self'``.

    Returns
    -------
    str
        CSS.

    Notes
    -----
    Pass ``embedded=True`` to `to_svg` or `to_html` to omit these rules from a drawing.

    Examples
    --------
    >>> ".textkin-flow .ground{fill:#ffffff}" in stylesheet()
    True
    """
    # These modules import this one.
    from textkin.explain._aligned_drawing import ALIGNED_STYLE, WORDS_STYLE
    from textkin.explain._bars import BARS_STYLE
    from textkin.explain._flow_svg import FLOW_STYLE
    from textkin.explain._group_map import GROUPS_STYLE
    from textkin.explain._topics import TOPICS_STYLE
    from textkin.explain._word_map import MAP_STYLE

    styles = (
        FLOW_STYLE,
        WORDS_STYLE,
        ALIGNED_STYLE,
        BARS_STYLE,
        TOPICS_STYLE,
        MAP_STYLE,
        GROUPS_STYLE,
    )
    return "\n".join(style.css for style in styles) + "\n"
