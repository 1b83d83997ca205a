"""Two aligned texts as a part of a page: words that say their partners, without any script."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textkin.explain._aligned_words import in_words, kind_of
from textkin.explain._colour import DARK, LEVELS, LIGHT, hexadecimal
from textkin.explain._frame import FONT, GROUND, INK, LINE, MUTED, PAPER, Style
from textkin.explain._page import page
from textkin.explain._words import kept_markup, markup

if TYPE_CHECKING:
    from textkin.explain._aligned import AlignedPiece, AlignedText

__all__ = ["ALIGNED_STYLE", "aligned_html", "aligned_page"]

_FOCUSED = 40  # words of a text that the keyboard stops at: those that add most
_LINKED = 200  # words of a text that light up their partners
_TINT = "3d"  # how much of its colour lies behind a word

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
        # Below its line, and as wide as the text, so that nothing cuts it off.
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
            (f".q{level}", name): (hexadecimal(LIGHT[level]) + end, hexadecimal(DARK[level]) + end)
            for level in range(LEVELS)
            for name, end in (("background-color", _TINT), ("border-color", ""))
        },
    },
)


def aligned_page(aligned: "AlignedText", *, title: str) -> str:
    """Return a page of its own; see `AlignedText.to_html`."""
    return page(title or f"Score {aligned.score:.4g}", [aligned_html(aligned)])


def aligned_html(aligned: "AlignedText") -> str:
    """Return both texts with their style, as a part of a page."""
    name = f"textkin-aligned-{_fingerprint(aligned)}"
    return "\n".join(
        [
            f'<div class="textkin-aligned {name}">',
            f"<style>{ALIGNED_STYLE.css}{''.join(_links(aligned, name))}</style>",
            '<div class="texts">',
            _text(aligned.source, aligned.score, source=True),
            _text(aligned.target, aligned.score, source=False),
            "</div>",
            f'<p class="legend">{"".join(_legend(aligned))}</p>',
            "</div>",
        ]
    )


def _fingerprint(aligned: "AlignedText") -> str:
    """Tell texts apart that are shown in one page, as notebooks do."""
    texts = "\0".join(piece.text for piece in (*aligned.source, *aligned.target))
    said = f"{aligned.score!r} {len(aligned.source)} {texts}".encode("utf-8", "replace")
    return hashlib.blake2s(said, digest_size=5).hexdigest()


def _text(pieces: Sequence["AlignedPiece"], score: float, *, source: bool) -> str:
    said = "first text: its words go to those of the other"
    if not source:
        said = "second text: its words come from those of the other"
    focused = _first_places(pieces, _FOCUSED)
    shown = "".join(
        _piece(piece, score, source=source, focused=at in focused)
        for at, piece in enumerate(pieces)
    )
    return f'<div class="text" dir="auto" role="group" aria-label="{said}">{shown}</div>'


def _first_places(pieces: Sequence["AlignedPiece"], limit: int) -> set[int]:
    """Return where the words that add most stand first."""
    first: dict[int, int] = {}
    for at, piece in enumerate(pieces):
        if piece.word is not None and piece.level is not None:
            first.setdefault(piece.word, at)
    return set(sorted(first.values(), key=lambda at: -(pieces[at].adds or 0.0))[:limit])


def _piece(piece: "AlignedPiece", score: float, *, source: bool, focused: bool) -> str:
    text, kind = kept_markup(piece.text), kind_of(piece)
    if kind in ("", "stop"):
        return text
    said = markup(in_words(piece, score, source=source))
    classes = f"w {kind}" if piece.level is not None else kind
    if piece.word is not None:
        classes += f" {'a' if source else 'b'}{piece.word}"
    if not focused:
        return f'<span class="{classes}" title="{said}">{text}</span>'
    hidden = f'<span class="sr"> ({said}) </span>'
    return f'<span class="{classes}" title="{said}" tabindex="0">{text}{hidden}</span>'


def _links(aligned: "AlignedText", name: str) -> Iterator[str]:
    """Light up the partners of a word that is pointed at."""
    for pieces, here, there in ((aligned.source, "a", "b"), (aligned.target, "b", "a")):
        seen: set[int] = set()
        for piece in sorted(pieces, key=lambda piece: -(piece.adds or 0.0)):
            if piece.word is None or piece.word in seen or len(seen) >= _LINKED:
                continue
            seen.add(piece.word)
            partners = ",".join(f".{there}{one.number}" for one in piece.partners)
            pointed = f".{here}{piece.word}:is(:hover,:focus)"
            yield f".{name}:has({pointed}) :is({partners}){{outline:3px solid}}"


def _legend(aligned: "AlignedText") -> Iterator[str]:
    kinds = {kind_of(piece) for piece in (*aligned.source, *aligned.target)}
    scale = aligned.scale
    if scale.high > 0:
        swatches = "".join(f'<span class="w q{level}"></span>' for level in range(LEVELS))
        yield f"<span>near {scale.low:.3g} {swatches} {scale.high:.3g} far</span>"
    if "free" in kinds:
        yield '<span><span class="free">word</span> stays at no cost</span>'
    if "unknown" in kinds:
        yield '<span><span class="unknown">word</span> has no vector</span>'
    yield "<span>grey: does not count</span>"
