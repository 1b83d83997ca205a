"""Text for terminals and markup: display width, truncation, padding, escaping."""

import re
import unicodedata
from collections.abc import Iterable
from xml.sax.saxutils import escape

__all__ = [
    "clean",
    "draw_bar",
    "escape_keeping_spaces",
    "escape_markup",
    "is_right_to_left",
    "pad",
    "shortened",
    "text_width",
]

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_SPACES = re.compile(r"(\s+)")
_REPLACEMENT = "\ufffd"
# Control characters (including escape sequences of terminals), surrogates, unassigned and private
# characters, and format characters that change the text direction.
_HIDDEN_CATEGORIES = {"Cc", "Cs", "Cn", "Co"}
_TURNING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(text: str) -> str:
    """Return `text` on one line, with control and direction characters replaced."""
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
    """Return `text` on one line, truncated to `width` columns with an ellipsis.

    With `unicode` False, a tilde marks it.

    Examples
    --------
    >>> shortened("one two three", 8)
    'one two…'
    """
    text = clean(text)
    most = 4 * width  # characters; combining marks take no column and may repeat without limit
    if text_width(text) <= width and len(text) <= most:
        return text
    kept, used = [], 0
    for character in text[:most]:
        used += text_width(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept).rstrip() + ("\u2026" if unicode else "~")


def text_width(text: str) -> int:
    """Return the number of terminal columns of `text`."""
    if text.isascii():
        return len(text)
    return sum(_character_columns(character) for character in text)


def is_right_to_left(texts: Iterable[str]) -> bool:
    """Return True if the first letter with a direction is right-to-left.

    Browsers use this rule for ``dir="auto"``.

    Examples
    --------
    >>> is_right_to_left(["2. ", "\u05e9\u05dc\u05d5\u05dd world"])
    True
    """
    for text in texts:
        for character in text:
            direction = unicodedata.bidirectional(character)
            if direction in ("L", "R", "AL"):
                return direction != "L"
    return False


def pad(text: str, width: int) -> str:
    """Return `text` padded on the right to a width in columns."""
    return text + " " * (width - text_width(text))


def draw_bar(eighths: int, unicode: bool) -> str:
    """Return a bar of block characters whose length is given in eighths of a column."""
    if not unicode:
        return "#" * round(eighths / 8)
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")


def escape_markup(text: str) -> str:
    """Return `text` on one line, escaped for SVG and HTML including attributes."""
    return escape(clean(text), {'"': "&quot;", "'": "&#39;"})


def escape_keeping_spaces(text: str) -> str:
    """Return `text` escaped for HTML, with spaces and line breaks kept."""
    parts = _SPACES.split(text)
    return "".join(
        _spaces(part) if at % 2 else escape_markup(part) for at, part in enumerate(parts)
    )


def _spaces(text: str) -> str:
    return "".join("\n" if one == "\n" else " " for one in text.replace("\r\n", "\n"))


def _character_columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
