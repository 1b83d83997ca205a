"""What is said of a word of an aligned text, and lines of such words."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textkin.explain._words import clean, columns

if TYPE_CHECKING:
    from textkin.explain._aligned import AlignedPiece

__all__ = ["Atom", "in_words", "kind_of", "lines_of"]

_PARTNERS = 4  # that are named
_HEAPED = 4  # characters in a column at most: marks may be heaped up without end


@dataclass(frozen=True, slots=True)
class Atom:
    """A part of a line that has one look.

    Attributes
    ----------
    text : str
        Clean, and without spaces.
    mark : str
        What stands behind it.
    piece : AlignedPiece
        Where it comes from.
    """

    text: str
    mark: str
    piece: "AlignedPiece"

    @property
    def shown(self) -> str:
        """The text and its mark."""
        return self.text + self.mark


Line = list[tuple[int, Atom]]
"""Atoms with the column that each begins in."""


def kind_of(piece: "AlignedPiece") -> str:
    """Return how a piece looks: q0 to q6, free, unknown, stop, or "" for all else."""
    if piece.level is not None:
        return f"q{piece.level}"
    return "free" if piece.word is not None else piece.reason or ""


def in_words(piece: "AlignedPiece", score: float, *, source: bool) -> str:
    """Say where a word goes, or comes from, and what that adds."""
    if piece.reason is not None:
        return "stop word" if piece.reason == "stop" else "no vector"
    if piece.word is None:
        return ""
    if piece.level is None:
        return "stays at no cost"
    way = "to" if source else "from"
    named = [
        f"{100 * one.mass:.3g} % {way} {clean(one.word)} at {one.cost:.3g}"
        for one in piece.partners[:_PARTNERS]
    ]
    if len(piece.partners) > _PARTNERS:
        named.append(f"{len(piece.partners) - _PARTNERS} more")
    adds = piece.adds or 0.0
    share = f" ({100 * adds / score:.0f} %)" if score > 0 else ""
    return f"{', '.join(named)}; adds {adds:.3g}{share}"


def lines_of(
    pieces: Iterable["AlignedPiece"], width: int, mark: Callable[["AlignedPiece"], str]
) -> Iterator[Line]:
    """Break a text into lines of whole words; one that is wider than a line is cut.

    Line breaks of the text stay, but of empty lines one; other white space is one space.
    """
    line: Line = []
    used = 0
    blank = True  # whether the last line was empty
    for unit in _units(pieces, mark):
        if unit is None:
            if line or not blank:
                yield line
            blank = not line
            line, used = [], 0
            continue
        size = sum(columns(atom.shown) for atom in unit)
        if line and used + 1 + size > width:
            yield line
            line, used = [], 0
        used += 1 if line else 0
        for atom in unit:
            for part in _cut(atom, width):
                wide = columns(part.shown)
                if line and used + wide > width:
                    yield line
                    line, used = [], 0
                line.append((used, part))
                used += wide
        blank = False
    if line:
        yield line


def _units(
    pieces: Iterable["AlignedPiece"], mark: Callable[["AlignedPiece"], str]
) -> Iterator[list[Atom] | None]:
    """Give what stands between spaces, as atoms; None is a line break."""
    unit: list[Atom] = []
    for piece in pieces:
        text = piece.text.replace("\r\n", "\n").replace("\r", "\n")
        start = 0
        for at, character in enumerate(text + " "):
            ends = at == len(text)
            if not ends and not character.isspace():
                continue
            if start < at:
                unit.append(Atom(clean(text[start:at]), mark(piece), piece))
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


def _cut(atom: Atom, width: int) -> Iterator[Atom]:
    """Cut what is wider than a line; the mark stands behind the last part."""
    if columns(atom.shown) <= width and len(atom.text) <= _HEAPED * width:
        yield atom
        return
    part, used = "", 0
    for character in atom.text:
        wide = columns(character)
        if part and (used + wide > width - len(atom.mark) or len(part) >= _HEAPED * width):
            yield Atom(part, "", atom.piece)
            part, used = "", 0
        part += character
        used += wide
    yield Atom(part, atom.mark, atom.piece)
