"""Words and bars in columns of characters: whatever words hold, they cannot break the picture."""

import re
import unicodedata
from collections.abc import Iterable
from xml.sax.saxutils import escape

__all__ = [
    "clean",
    "columns",
    "filled",
    "kept_markup",
    "markup",
    "padded",
    "reads_leftwards",
    "shortened",
]

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_SPACES = re.compile(r"(\s+)")
_REPLACEMENT = "\ufffd"
# Control characters (escape sequences of terminals among them), surrogates, unassigned, private
# use; and the format characters that turn the direction of what follows.
_HIDDEN_CATEGORIES = {"Cc", "Cs", "Cn", "Co"}
_TURNING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(text: str) -> str:
    """Return `text` on one line, with all that does not show or turns the line replaced."""
    text = " ".join(text.split())
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _REPLACEMENT
        if character in _TURNING or unicodedata.category(character) in _HIDDEN_CATEGORIES
        else character
        for character in text
    )


def shortened(text: str, width: int, *, unicode: bool = True) -> str:
    """Return `text`, clean and at most so many columns wide; an ellipsis marks a cut.

    Where the drawing keeps to ASCII, a tilde does.

    Examples
    --------
    >>> shortened("one two three", 8)
    'one two…'
    """
    text = clean(text)
    most = 4 * width  # characters, whatever their columns: marks may be heaped up without end
    if columns(text) <= width and len(text) <= most:
        return text
    kept, used = [], 0
    for character in text[:most]:
        used += columns(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept).rstrip() + ("\u2026" if unicode else "~")


def columns(text: str) -> int:
    """Return how many columns of a terminal `text` takes."""
    if text.isascii():
        return len(text)
    return sum(_character_columns(character) for character in text)


def reads_leftwards(texts: Iterable[str]) -> bool:
    """Return whether a text is read from right to left: the first letter with a direction says it.

    Browsers decide it so for ``dir="auto"``.

    Examples
    --------
    >>> reads_leftwards(["2. ", "\u05e9\u05dc\u05d5\u05dd world"])
    True
    """
    for text in texts:
        for character in text:
            direction = unicodedata.bidirectional(character)
            if direction in ("L", "R", "AL"):
                return direction != "L"
    return False


def padded(text: str, width: int) -> str:
    """Return `text` with spaces after it up to a width."""
    return text + " " * (width - columns(text))


def filled(eighths: int, unicode: bool) -> str:
    """Draw a bar that is so many eighths of a column long, in ASCII to the column."""
    if not unicode:
        return "#" * round(eighths / 8)
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")


def markup(text: str) -> str:
    """Return `text`, clean and escaped for SVG and HTML, attributes included."""
    return escape(clean(text), {'"': "&quot;", "'": "&#39;"})


def kept_markup(text: str) -> str:
    """Return `text` escaped as `markup` does it, but with its spaces and line breaks."""
    parts = _SPACES.split(text)
    return "".join(_spaces(part) if at % 2 else markup(part) for at, part in enumerate(parts))


def _spaces(text: str) -> str:
    return "".join("\n" if one == "\n" else " " for one in text.replace("\r\n", "\n"))


def _character_columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
