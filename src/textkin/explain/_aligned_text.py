"""Two aligned texts in characters, for terminals and logs."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from textkin.explain._aligned_words import Atom, Line, kind_of, lines_of
from textkin.explain._colour import DARK
from textkin.explain._words import columns, shortened

if TYPE_CHECKING:
    from textkin.explain._aligned import AlignedPiece, AlignedText

__all__ = ["aligned_text"]

_RAISED = "⁰¹²³⁴⁵⁶"
_FAINT, _UNDERLINED, _OFF = "\x1b[2m", "\x1b[4m", "\x1b[0m"


def aligned_text(aligned: "AlignedText", *, width: int, unicode: bool, color: bool) -> str:
    """Draw both texts; see `AlignedText.to_text`."""
    mark = _no_mark if color else _raised if unicode else _bracketed
    show = _painted if color else _plain
    rule = "─" if unicode else "-"
    lines = []
    for head, pieces in (("from", aligned.source), ("to", aligned.target)):
        lines.append(f"{head} {rule * (width - len(head) - 1)}")
        lines += [_joined(line, show) for line in lines_of(pieces, width, mark)]
    lines.append(rule * width)
    lines += _fitted(_legend(aligned, color), width, unicode)
    return "\n".join(lines)


def _joined(line: Line, show: Callable[[Atom], str]) -> str:
    text, at = "", 0
    for column, atom in line:
        text += " " * (column - at) + show(atom)
        at = column + columns(atom.shown)
    return text


def _no_mark(piece: "AlignedPiece") -> str:
    return ""


def _raised(piece: "AlignedPiece") -> str:
    if piece.level is not None:
        return _RAISED[piece.level]
    return {"free": "⁼", "unknown": "ˣ"}.get(kind_of(piece), "")


def _bracketed(piece: "AlignedPiece") -> str:
    if piece.level is not None:
        return f"({piece.level})"
    return {"free": "(=)", "unknown": "(x)"}.get(kind_of(piece), "")


def _plain(atom: Atom) -> str:
    return atom.shown


def _painted(atom: Atom) -> str:
    piece = atom.piece
    if piece.level is not None:
        red, green, blue = DARK[piece.level]
        return f"\x1b[38;2;{red};{green};{blue}m{atom.text}{_OFF}"
    return f"{_UNDERLINED if piece.word is not None else _FAINT}{atom.text}{_OFF}"


def _legend(aligned: "AlignedText", color: bool) -> Iterator[str]:
    scale = aligned.scale
    kinds = {kind_of(piece) for piece in (*aligned.source, *aligned.target)}
    if scale.high > 0:
        yield "blue near, orange far" if color else "0 near to 6 far"
        yield f"cost {scale.low:.3g} to {scale.high:.3g}"
    if "free" in kinds:
        yield f"{'underlined' if color else '='} stays at no cost"
    if color:
        yield "faint does not count"
    elif "unknown" in kinds:
        yield "x has no vector"


def _fitted(said: Iterator[str], width: int, unicode: bool) -> Iterator[str]:
    """Put remarks on as few lines as they need."""
    between, line = " · " if unicode else "; ", ""
    for one in said:
        if line and len(line) + len(between) + len(one) > width:
            yield line
            line = ""
        line += f"{between if line else ''}{shortened(one, width, unicode=unicode)}"
    if line:
        yield line
