"""The frame of every picture: its name, what it says in words, and the style it is drawn in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from textkin.explain._words import markup

__all__ = [
    "FONT",
    "GROUND",
    "INK",
    "LINE",
    "MUTED",
    "PAPER",
    "Pair",
    "Style",
    "framed",
    "picture_style",
    "text",
]

Pair = tuple[str, str]
"""A colour on a light and on a dark ground."""

GROUND: Pair = ("#ffffff", "#17171c")
PAPER: Pair = ("#f6f6f9", "#202027")
INK: Pair = ("#1b1b22", "#ececf1")
MUTED: Pair = ("#5c5c68", "#a5a5b2")
LINE: Pair = ("#dcdce3", "#3a3a44")
FONT = "system-ui,'Segoe UI',Helvetica,Arial,sans-serif"


@dataclass(frozen=True, slots=True)
class Style:
    """The rules of one kind of drawing, all of them about classes inside of it.

    Attributes
    ----------
    kind : str
        The class of the drawing.
    rules : mapping of str to str
        Declarations by what they are about; "" is the drawing itself.
    colours : mapping of (str, str) to Pair
        Colours by what has them, and the property.
    """

    kind: str
    rules: Mapping[str, str] = field(default_factory=dict)
    colours: Mapping[tuple[str, str], Pair] = field(default_factory=dict)

    @property
    def css(self) -> str:
        """The rules for light and for dark, as the reader has it."""
        plain = "".join(self._rule(selector, said) for selector, said in self.rules.items())
        dark = f"@media (prefers-color-scheme:dark){{{self._coloured(1)}}}" if self.colours else ""
        return plain + self._coloured(0) + dark

    def _coloured(self, ground: int) -> str:
        return "".join(
            self._rule(selector, f"{name}:{pair[ground]}")
            for (selector, name), pair in self.colours.items()
        )

    def _rule(self, selector: str, declarations: str) -> str:
        return f".{self.kind}{' ' if selector else ''}{selector}{{{declarations}}}"


def picture_style(
    kind: str,
    rules: Mapping[str, str],
    fills: Mapping[str, Pair],
    strokes: Mapping[str, Pair] | None = None,
    font: str = "14px",
) -> Style:
    """Return the style of a picture: that of all of them, and what is its own."""
    common = {
        "": "max-width:100%;height:auto",
        "text": f"font:{font} {FONT};unicode-bidi:isolate",
        ".title": "font-size:17px;font-weight:600",
        ".small": "font-size:12px",
        ".number": "font-variant-numeric:tabular-nums",
    }
    colours = {"ground": GROUND, "ink": INK, "muted": MUTED, **fills}
    return Style(
        kind,
        {**common, **rules},
        {
            **{(f".{name}", "fill"): pair for name, pair in colours.items()},
            **{(f".{name}", "stroke"): pair for name, pair in (strokes or {}).items()},
        },
    )


def framed(
    style: Style,
    width: int,
    height: float,
    body: Iterable[str],
    *,
    title: str,
    about: str,
    embedded: bool,
) -> str:
    """Return a picture as an ``<svg>`` element.

    Parameters
    ----------
    style : Style
        Its rules; they are part of the picture unless it is embedded.
    width, height : float
        In pixels; the picture scales.
    body : iterable of str
        What is drawn, as markup.
    title, about : str
        Its name and what it says in words, for those who do not see it.
    embedded : bool
        Whether the page around it has the rules.
    """
    high = f"{height:.0f}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{style.kind}" role="img" '
            f'viewBox="0 0 {width} {high}" width="{width}" height="{high}">',
            f"<title>{markup(title)}</title>",
            f"<desc>{markup(about)}</desc>",
            *([] if embedded else [f"<style>{style.css}</style>"]),
            f'<rect class="ground" width="{width}" height="{high}" rx="6"/>',
            *body,
            "</svg>",
        ]
    )


def text(x: float, y: float, content: str, *, anchor: str = "start", classes: str = "ink") -> str:
    """Return a line of a picture; the content is markup already."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{classes}">{content}</text>'
    )
