"""The beginnings of two aligned texts as a picture."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from textkin.explain._aligned_words import Line, in_words, kind_of, lines_of
from textkin.explain._colour import DARK, LEVELS, LIGHT, hexadecimal
from textkin.explain._frame import PAPER, framed, picture_style, text
from textkin.explain._words import columns, markup, reads_leftwards, shortened

if TYPE_CHECKING:
    from textkin.explain._aligned import AlignedPiece, AlignedText

__all__ = ["WORDS_STYLE", "aligned_svg"]

_MARGIN, _GAP, _PAD = 14.0, 16.0, 10.0
_COLUMN = 8.43  # what a letter of 14 pixels takes in the fonts of fixed width
_LINE = 24.0
_SWATCH = 20

WORDS_STYLE = picture_style(
    "textkin-words",
    {
        ".word": "font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace",
        ".tint": "opacity:.28",
    },
    {
        "paper": PAPER,
        "free": ("#8a8a96", "#8a8a96"),
        **{f"q{at}": (hexadecimal(LIGHT[at]), hexadecimal(DARK[at])) for at in range(LEVELS)},
    },
)


def aligned_svg(
    aligned: "AlignedText", *, title: str, limit: int, width: int, embedded: bool
) -> str:
    """Draw two columns of words; see `AlignedText.to_svg`."""
    top = _MARGIN + (30 if title else 0)
    wide = (width - 2 * _MARGIN - _GAP) / 2
    room = int((wide - 2 * _PAD) / _COLUMN)
    sides = [_lines(pieces, room, limit) for pieces in (aligned.source, aligned.target)]
    high = 2 * _PAD + _LINE * max(len(lines) for lines, _ in sides)
    body = []
    if title:
        shown = markup(shortened(title, width // 11))
        body.append(text(_MARGIN, _MARGIN + 16, shown, classes="ink title"))
    for at, (lines, left) in enumerate(sides):
        pieces = aligned.target if at else aligned.source
        edge = wide if reads_leftwards(piece.text for piece in pieces) else None
        x = _MARGIN + at * (wide + _GAP)
        box = f'x="{x:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{high:.1f}"'
        body.append(f'<rect class="paper" {box} rx="4"/>')
        # In a frame, which cuts off what a font draws wider than most do.
        body.append(f"<svg {box}>")
        for number, line in enumerate(lines):
            y = _PAD + _LINE * number
            body += _words(line, y, edge, aligned.score, source=at == 0)
        body.append("</svg>")
        if left:
            note = f"{left:,} more lines"
            place = x + wide, top + high + 16
            body.append(text(*place, note, anchor="end", classes="muted small"))
    height = top + high + 20 + 24
    body += _legend(aligned, height - _MARGIN)
    return framed(
        WORDS_STYLE,
        width,
        height,
        body,
        title=title or f"Two texts with a score of {aligned.score:.4g}",
        about=_about(aligned),
        embedded=embedded,
    )


def _lines(pieces: Sequence["AlignedPiece"], room: int, limit: int) -> tuple[list[Line], int]:
    """Return the first lines, and how many there are more; one more where one would be left."""
    broken = lines_of(pieces, room, lambda piece: "")
    lines = list(islice(broken, limit + 1))
    left = sum(1 for _ in broken)
    return (lines[:limit], left + 1) if left else (lines, 0)


def _words(
    line: Line, y: float, edge: float | None, score: float, *, source: bool
) -> Iterator[str]:
    """Draw a line from the left, or from an edge where the text is read from right to left."""
    for column, atom in line:
        kind = kind_of(atom.piece)
        x, wide = _PAD + _COLUMN * column, _COLUMN * columns(atom.text)
        if edge is not None:
            x = edge - x - wide
        hint = f"<title>{markup(in_words(atom.piece, score, source=source))}</title>"
        if atom.piece.level is not None:
            box = f'x="{x - 1:.1f}" y="{y:.1f}" width="{wide + 2:.1f}" height="{_LINE - 5}" rx="3"'
            yield f'<rect class="tint {kind}" {box}>{hint}</rect>'
        if atom.piece.word is not None:
            thick = 2 if kind == "free" else 2.5
            box = f'x="{x - 1:.1f}" y="{y + 17:.1f}" width="{wide + 2:.1f}" height="{thick}"'
            yield f'<rect class="{kind}" {box}/>'
        ink = "ink" if atom.piece.word is not None else "muted"
        shown = f"\u2068{markup(atom.text)}\u2069" + (hint if kind else "")
        if edge is None:
            yield text(x, y + 14, shown, classes=f"{ink} word")
        else:
            yield text(x + wide, y + 14, shown, anchor="end", classes=f"{ink} word")


def _legend(aligned: "AlignedText", y: float) -> Iterator[str]:
    scale = aligned.scale
    x = _MARGIN
    if scale.high > 0:
        low = f"near {scale.low:.3g}"
        yield text(x, y, low, classes="muted small")
        x += 8 * len(low)
        for level in range(LEVELS):
            place = f'x="{x + level * _SWATCH:.1f}" y="{y - 10:.1f}" width="{_SWATCH}" height="12"'
            yield f'<rect class="q{level}" {place}/>'
        x += LEVELS * _SWATCH + 8
        yield text(x, y, f"{scale.high:.3g} far", classes="muted small")
        x += 90
    said = "grey line: stays at no cost · grey word: does not count"
    yield text(x, y, said, classes="muted small")


def _about(aligned: "AlignedText") -> str:
    """Say which words add most; the texts are in the picture."""
    seen: dict[int, str] = {}
    for piece in sorted(aligned.source, key=lambda piece: -(piece.adds or 0.0)):
        if piece.word is not None and piece.word not in seen and len(seen) < 12:
            seen[piece.word] = f"{piece.text}: {in_words(piece, aligned.score, source=True)}"
    return ". ".join(seen.values()) + "." if seen else "No word of the first text counts."
