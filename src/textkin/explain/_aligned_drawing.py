"""Drawing of aligned texts as lines of text, SVG, and HTML."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from textkin.explain._characters import (
    clean,
    escape_keeping_spaces,
    escape_markup,
    is_right_to_left,
    shortened,
    text_width,
)
from textkin.explain._page import (
    DARK,
    FONT,
    GROUND,
    INK,
    LEVELS,
    LIGHT,
    LINE,
    MUTED,
    PAPER,
    Style,
    draw_frame,
    draw_text,
    render_page,
    svg_style,
    to_hex,
)

if TYPE_CHECKING:
    from textkin.explain._aligned_text import AlignedPiece, AlignedText

__all__ = [
    "ALIGNED_STYLE",
    "WORDS_STYLE",
    "StyledWord",
    "aligned_html",
    "aligned_page",
    "aligned_svg",
    "aligned_text",
    "break_lines",
    "describe_word",
    "style_class",
]

_MAX_PARTNERS = 4  # partners named for a word
_MAX_MARKS = 4  # characters per column; combining marks may repeat without limit


@dataclass(frozen=True, slots=True)
class StyledWord:
    """Text fragment of a line with its style and mark.

    Attributes
    ----------
    text : str
        Clean text without spaces.
    mark : str
        Mark after the text.
    piece : AlignedPiece
        Piece that the text belongs to.
    """

    text: str
    mark: str
    piece: "AlignedPiece"

    @property
    def marked_text(self) -> str:
        """Text of the fragment, followed by its mark."""
        return self.text + self.mark


Line = list[tuple[int, StyledWord]]
"""Styled words, each with its start column."""


def style_class(piece: "AlignedPiece") -> str:
    """Return the CSS class of a piece of text: cost level, free, unknown, stop word, or ""."""
    if piece.level is not None:
        return f"q{piece.level}"
    return "free" if piece.word is not None else piece.reason or ""


def describe_word(piece: "AlignedPiece", score: float, *, source: bool) -> str:
    """Return a sentence with the partners of a word and its contribution."""
    if piece.reason is not None:
        return "stop word" if piece.reason == "stop" else "no vector"
    if piece.word is None:
        return ""
    if piece.level is None:
        return "does not move"
    way = "to" if source else "from"
    named = [
        f"{100 * one.mass:.3g} % {way} {clean(one.word)} at {one.cost:.3g}"
        for one in piece.partners[:_MAX_PARTNERS]
    ]
    if len(piece.partners) > _MAX_PARTNERS:
        named.append(f"{len(piece.partners) - _MAX_PARTNERS} more")
    adds = piece.adds or 0.0
    share = f" ({100 * adds / score:.0f} %)" if score > 0 else ""
    return f"{', '.join(named)}; adds {adds:.3g}{share}"


def break_lines(
    pieces: Iterable["AlignedPiece"], width: int, mark: Callable[["AlignedPiece"], str]
) -> Iterator[Line]:
    """Break a text into lines of limited width at spaces; split words that are too wide.

    Line breaks are kept, consecutive empty lines become one, and other whitespace becomes one
    space.
    """
    line: Line = []
    used = 0
    blank = True  # whether the last line was empty
    for unit in _split_units(pieces, mark):
        if unit is None:
            if line or not blank:
                yield line
            blank = not line
            line, used = [], 0
            continue
        size = sum(text_width(atom.marked_text) for atom in unit)
        if line and used + 1 + size > width:
            yield line
            line, used = [], 0
        used += 1 if line else 0
        for atom in unit:
            for part in _split_atom(atom, width):
                wide = text_width(part.marked_text)
                if line and used + wide > width:
                    yield line
                    line, used = [], 0
                line.append((used, part))
                used += wide
        blank = False
    if line:
        yield line


def _split_units(
    pieces: Iterable["AlignedPiece"], mark: Callable[["AlignedPiece"], str]
) -> Iterator[list[StyledWord] | None]:
    """Yield runs of fragments without a space between them, and None for a line break."""
    unit: list[StyledWord] = []
    for piece in pieces:
        text = piece.text.replace("\r\n", "\n").replace("\r", "\n")
        start = 0
        for at, character in enumerate(text + " "):
            ends = at == len(text)
            if not ends and not character.isspace():
                continue
            if start < at:
                unit.append(StyledWord(clean(text[start:at]), mark(piece), piece))
            start = at + 1
            if ends:
                break
            if unit:
                yield unit
                unit = []
            if character == "\n":
                yield None
    if unit:
        yield unit


def _split_atom(atom: StyledWord, width: int) -> Iterator[StyledWord]:
    """Split a fragment that is wider than a line; the last piece keeps the mark."""
    if text_width(atom.marked_text) <= width and len(atom.text) <= _MAX_MARKS * width:
        yield atom
        return
    part, used = "", 0
    for character in atom.text:
        wide = text_width(character)
        if part and (used + wide > width - len(atom.mark) or len(part) >= _MAX_MARKS * width):
            yield StyledWord(part, "", atom.piece)
            part, used = "", 0
        part += character
        used += wide
    yield StyledWord(part, atom.mark, atom.piece)


_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶"
_FAINT, _UNDERLINE, _RESET = "\x1b[2m", "\x1b[4m", "\x1b[0m"


def aligned_text(aligned: "AlignedText", *, width: int, unicode: bool, color: bool) -> str:
    """Draw two aligned texts as lines of text; see `AlignedText.to_text`."""
    mark = _no_mark if color else _superscript if unicode else _bracketed_level
    show = _colored_atom if color else _plain_atom
    rule = "─" if unicode else "-"
    lines = []
    for head, pieces in (("from", aligned.source), ("to", aligned.target)):
        lines.append(f"{head} {rule * (width - len(head) - 1)}")
        lines += [_join_atoms(line, show) for line in break_lines(pieces, width, mark)]
    lines.append(rule * width)
    lines += _fill_lines(_text_legend(aligned, color), width, unicode)
    return "\n".join(lines)


def _join_atoms(line: Line, show: Callable[[StyledWord], str]) -> str:
    text, at = "", 0
    for column, atom in line:
        text += " " * (column - at) + show(atom)
        at = column + text_width(atom.marked_text)
    return text


def _no_mark(piece: "AlignedPiece") -> str:
    return ""


def _superscript(piece: "AlignedPiece") -> str:
    if piece.level is not None:
        return _SUPERSCRIPTS[piece.level]
    return {"free": "⁼", "unknown": "ˣ"}.get(style_class(piece), "")


def _bracketed_level(piece: "AlignedPiece") -> str:
    if piece.level is not None:
        return f"({piece.level})"
    return {"free": "(=)", "unknown": "(x)"}.get(style_class(piece), "")


def _plain_atom(atom: StyledWord) -> str:
    return atom.marked_text


def _colored_atom(atom: StyledWord) -> str:
    piece = atom.piece
    if piece.level is not None:
        red, green, blue = DARK[piece.level]
        return f"\x1b[38;2;{red};{green};{blue}m{atom.text}{_RESET}"
    return f"{_UNDERLINE if piece.word is not None else _FAINT}{atom.text}{_RESET}"


def _text_legend(aligned: "AlignedText", color: bool) -> Iterator[str]:
    scale = aligned.scale
    kinds = {style_class(piece) for piece in (*aligned.source, *aligned.target)}
    if scale.high > 0:
        if len(scale.levels) > 1:
            yield (
                "blue: small distance, orange: large"
                if color
                else "distance: 0 (small) to 6 (large)"
            )
            yield f"cost {scale.low:.3g} to {scale.high:.3g}"
        else:
            yield f"{'orange' if color else scale.levels[0]} moves at cost {scale.high:.3g}"
    if "free" in kinds:
        yield f"{'underlined' if color else '='} does not move"
    if color:
        yield "faint: not compared"
    elif "unknown" in kinds:
        yield "x no vector"


def _fill_lines(said: Iterator[str], width: int, unicode: bool) -> Iterator[str]:
    """Join sentences into lines of at most `width` columns."""
    between, line = " · " if unicode else "; ", ""
    for one in said:
        if line and len(line) + len(between) + len(one) > width:
            yield line
            line = ""
        line += f"{between if line else ''}{shortened(one, width, unicode=unicode)}"
    if line:
        yield line


_MARGIN, _GAP, _PAD = 14.0, 16.0, 10.0
_COLUMN_WIDTH = 8.43  # pixels per letter in a 14-pixel monospace font
_LINE_HEIGHT = 24.0
_SWATCH = 20

WORDS_STYLE = svg_style(
    "textkin-words",
    {
        ".word": "font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace",
        ".tint": "opacity:.28",
    },
    {
        "paper": PAPER,
        "free": ("#8a8a96", "#8a8a96"),
        **{f"q{at}": (to_hex(LIGHT[at]), to_hex(DARK[at])) for at in range(LEVELS)},
    },
)


def aligned_svg(
    aligned: "AlignedText", *, title: str, limit: int, width: int, embedded: bool
) -> str:
    """Draw two aligned texts side by side as SVG; see `AlignedText.to_svg`."""
    top = _MARGIN + (30 if title else 0)
    wide = (width - 2 * _MARGIN - _GAP) / 2
    room = int((wide - 2 * _PAD) / _COLUMN_WIDTH)
    sides = [_first_lines(pieces, room, limit) for pieces in (aligned.source, aligned.target)]
    high = 2 * _PAD + _LINE_HEIGHT * max(len(lines) for lines, _ in sides)
    body = []
    if title:
        shown = escape_markup(shortened(title, width // 11))
        body.append(draw_text(_MARGIN, _MARGIN + 16, shown, classes="ink title"))
    for at, (lines, left) in enumerate(sides):
        pieces = aligned.target if at else aligned.source
        edge = wide if is_right_to_left(piece.text for piece in pieces) else None
        x = _MARGIN + at * (wide + _GAP)
        box = f'x="{x:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{high:.1f}"'
        body.append(f'<rect class="paper" {box} rx="4"/>')
        # The nested frame clips text if a font is wider than expected.
        body.append(f"<svg {box}>")
        for number, line in enumerate(lines):
            y = _PAD + _LINE_HEIGHT * number
            body += _draw_words(line, y, edge, aligned.score, source=at == 0)
        body.append("</svg>")
        if left:
            note = f"{left:,} more lines"
            place = x + wide, top + high + 16
            body.append(draw_text(*place, note, anchor="end", classes="muted small"))
    height = top + high + 20 + 24
    body += _draw_legend(aligned, height - _MARGIN)
    return draw_frame(
        WORDS_STYLE,
        width,
        height,
        body,
        title=title or f"Two texts with a score of {aligned.score:.4g}",
        about=_describe_words(aligned),
        embedded=embedded,
    )


def _first_lines(pieces: Sequence["AlignedPiece"], room: int, limit: int) -> tuple[list[Line], int]:
    """Return at most `limit` lines of a text, and the number of hidden lines."""
    broken = break_lines(pieces, room, lambda piece: "")
    lines = list(islice(broken, limit + 1))
    left = sum(1 for _ in broken)
    return (lines[:limit], left + 1) if left else (lines, 0)


def _draw_words(
    line: Line, y: float, edge: float | None, score: float, *, source: bool
) -> Iterator[str]:
    """Yield the SVG of one line of words, from the right for right-to-left text."""
    for column, atom in line:
        kind = style_class(atom.piece)
        x, wide = _PAD + _COLUMN_WIDTH * column, _COLUMN_WIDTH * text_width(atom.text)
        if edge is not None:
            x = edge - x - wide
        hint = f"<title>{escape_markup(describe_word(atom.piece, score, source=source))}</title>"
        if atom.piece.level is not None:
            high = _LINE_HEIGHT - 5
            box = f'x="{x - 1:.1f}" y="{y:.1f}" width="{wide + 2:.1f}" height="{high}" rx="3"'
            yield f'<rect class="tint {kind}" {box}>{hint}</rect>'
        if atom.piece.word is not None:
            thick = 2 if kind == "free" else 2.5
            box = f'x="{x - 1:.1f}" y="{y + 17:.1f}" width="{wide + 2:.1f}" height="{thick}"'
            yield f'<rect class="{kind}" {box}/>'
        ink = "ink" if atom.piece.word is not None else "muted"
        shown = f"\u2068{escape_markup(atom.text)}\u2069" + (hint if kind else "")
        if edge is None:
            yield draw_text(x, y + 14, shown, classes=f"{ink} word")
        else:
            yield draw_text(x + wide, y + 14, shown, anchor="end", classes=f"{ink} word")


def _draw_legend(aligned: "AlignedText", y: float) -> Iterator[str]:
    scale = aligned.scale
    x = _MARGIN
    if scale.high > 0:
        levels = scale.levels
        low = f"cost {scale.low:.3g}"
        yield draw_text(x, y, low, classes="muted small")
        x += 8 * len(low)
        for at, level in enumerate(levels):
            place = f'x="{x + at * _SWATCH:.1f}" y="{y - 10:.1f}" width="{_SWATCH}" height="12"'
            yield f'<rect class="q{level}" {place}/>'
        x += len(levels) * _SWATCH + 8
        if len(levels) > 1:
            yield draw_text(x, y, f"{scale.high:.3g}", classes="muted small")
            x += 90
    said = "gray line: does not move · gray word: not compared"
    yield draw_text(x, y, said, classes="muted small")


def _describe_words(aligned: "AlignedText") -> str:
    """Return a sentence with the largest contributions, for screen readers."""
    seen: dict[int, str] = {}
    for piece in sorted(aligned.source, key=lambda piece: -(piece.adds or 0.0)):
        if piece.word is not None and piece.word not in seen and len(seen) < 12:
            seen[piece.word] = f"{piece.text}: {describe_word(piece, aligned.score, source=True)}"
    return ". ".join(seen.values()) + "." if seen else "No word of the first text is compared."


_FOCUSED = 40  # words per text with keyboard focus, by contribution
_LINKED = 200  # words per text that highlight their partners
_TINT = "3d"  # opacity of the background of a word, in hexadecimal

ALIGNED_STYLE = Style(
    "textkin-aligned",
    {
        "": f"font:16px/1.75 {FONT}",
        ".texts": "display:grid;gap:1rem;"
        "grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr))",
        ".text": "white-space:pre-wrap;overflow-wrap:anywhere;padding:.6rem .8rem;margin:0;"
        "border:1px solid;border-radius:6px;max-height:26rem;overflow:auto;position:relative",
        ".w": "border-bottom:2px solid;border-radius:3px;padding:0 1px;cursor:help",
        ".free": "border-bottom:2px dotted;padding:0 1px;cursor:help",
        ".unknown": "text-decoration:underline wavy 1px;cursor:help",
        ".w:focus": "outline:3px solid;outline-offset:1px",
        # Below the line and as wide as the text, so that it is not clipped.
        ".w:focus::after": "content:attr(title);position:absolute;display:block;left:.5rem;"
        "right:.5rem;margin-top:.2rem;z-index:9;padding:.3rem .5rem;border:1px solid;"
        "border-radius:4px;font-size:.8125rem;line-height:1.4;white-space:normal",
        ".sr": "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);"
        "white-space:nowrap;user-select:none",
        ".legend": "font-size:.8125rem;margin:.4rem 0;display:flex;flex-wrap:wrap;gap:.3rem 1rem",
        ".legend .w": "padding:0 .5rem;cursor:auto",
        ".legend .free": "cursor:auto",
        ".legend .unknown": "cursor:auto",
    },
    {
        (".text", "border-color"): LINE,
        (".text", "background-color"): GROUND,
        (".text", "color"): MUTED,
        (".w", "color"): INK,
        (".free", "color"): INK,
        (".w:focus::after", "background-color"): PAPER,
        (".w:focus::after", "color"): INK,
        (".legend", "color"): MUTED,
        **{
            (f".q{level}", name): (to_hex(LIGHT[level]) + end, to_hex(DARK[level]) + end)
            for level in range(LEVELS)
            for name, end in (("background-color", _TINT), ("border-color", ""))
        },
    },
)


def aligned_page(aligned: "AlignedText", *, title: str) -> str:
    """Return an HTML page with two aligned texts; see `AlignedText.to_html`."""
    return render_page(title or f"Score {aligned.score:.4g}", [aligned_html(aligned)])


def aligned_html(aligned: "AlignedText") -> str:
    """Return two aligned texts as HTML with its style, to embed in a page."""
    name = f"textkin-aligned-{_fingerprint(aligned)}"
    return "\n".join(
        [
            f'<div class="textkin-aligned {name}">',
            f"<style>{ALIGNED_STYLE.css}{''.join(_partner_rules(aligned, name))}</style>",
            '<div class="texts">',
            _html_text(aligned.source, aligned.score, source=True),
            _html_text(aligned.target, aligned.score, source=False),
            "</div>",
            f'<p class="legend">{"".join(_html_legend(aligned))}</p>',
            "</div>",
        ]
    )


def _fingerprint(aligned: "AlignedText") -> str:
    """Return a hash that makes the CSS names of this drawing unique on a page."""
    texts = "\0".join(piece.text for piece in (*aligned.source, *aligned.target))
    said = f"{aligned.score!r} {len(aligned.source)} {texts}".encode("utf-8", "replace")
    return hashlib.blake2s(said, digest_size=5).hexdigest()


def _html_text(pieces: Sequence["AlignedPiece"], score: float, *, source: bool) -> str:
    said = "first text: its words move to words of the second"
    if not source:
        said = "second text: words of the first text move to its words"
    focused = _strongest_words(pieces, _FOCUSED)
    shown = "".join(
        _html_piece(piece, score, source=source, focused=at in focused)
        for at, piece in enumerate(pieces)
    )
    return f'<div class="text" dir="auto" role="group" aria-label="{said}">{shown}</div>'


def _strongest_words(pieces: Sequence["AlignedPiece"], limit: int) -> set[int]:
    """Return the indices of the words with the largest contributions."""
    first: dict[int, int] = {}
    for at, piece in enumerate(pieces):
        if piece.word is not None and piece.level is not None:
            first.setdefault(piece.word, at)
    return set(sorted(first.values(), key=lambda at: -(pieces[at].adds or 0.0))[:limit])


def _html_piece(piece: "AlignedPiece", score: float, *, source: bool, focused: bool) -> str:
    text, kind = escape_keeping_spaces(piece.text), style_class(piece)
    if kind in ("", "stop"):
        return text
    said = escape_markup(describe_word(piece, score, source=source))
    classes = f"w {kind}" if piece.level is not None else kind
    if piece.word is not None:
        classes += f" {'a' if source else 'b'}{piece.word}"
    if not focused:
        return f'<span class="{classes}" title="{said}">{text}</span>'
    hidden = f'<span class="sr"> ({said}) </span>'
    return f'<span class="{classes}" title="{said}" tabindex="0">{text}{hidden}</span>'


def _partner_rules(aligned: "AlignedText", name: str) -> Iterator[str]:
    """Yield CSS rules that highlight a word's partners while it is hovered over."""
    for pieces, here, there in ((aligned.source, "a", "b"), (aligned.target, "b", "a")):
        seen: set[int] = set()
        for piece in sorted(pieces, key=lambda piece: -(piece.adds or 0.0)):
            if piece.word is None or piece.word in seen or len(seen) >= _LINKED:
                continue
            seen.add(piece.word)
            partners = ",".join(f".{there}{one.number}" for one in piece.partners)
            pointed = f".{here}{piece.word}:is(:hover,:focus)"
            yield f".{name}:has({pointed}) :is({partners}){{outline:3px solid}}"


def _html_legend(aligned: "AlignedText") -> Iterator[str]:
    kinds = {style_class(piece) for piece in (*aligned.source, *aligned.target)}
    scale = aligned.scale
    if scale.high > 0:
        swatches = "".join(f'<span class="w q{level}"></span>' for level in scale.levels)
        if len(scale.levels) > 1:
            yield f"<span>cost {scale.low:.3g} {swatches} {scale.high:.3g}</span>"
        else:
            yield f"<span>cost {scale.low:.3g} {swatches}</span>"
    if "free" in kinds:
        yield '<span><span class="free">word</span> does not move</span>'
    if "unknown" in kinds:
        yield '<span><span class="unknown">word</span> has no vector</span>'
    yield "<span>gray: not compared</span>"
