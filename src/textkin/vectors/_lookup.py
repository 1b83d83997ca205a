"""Finding one word among the rows, and what to say when it is not there."""

from collections.abc import Mapping
from difflib import get_close_matches

__all__ = ["find_row", "unknown_word"]

_POSSESSIVE = ("'s", "'S", "\u2019s", "\u2019S")


def find_row(rows: Mapping[str, int], word: str) -> int:
    """Return the row of a word, in the first spelling that has one, else -1.

    As written, else in lower case, else in title case; for a possessive (``Obama's``) that is
    nowhere, the same without its ending.
    """
    if not isinstance(word, str):
        raise TypeError(f"a word must be a string; got {type(word).__name__} {word!r}.")
    row = _row_of_spelling(rows, word)
    if row < 0 and word.endswith(_POSSESSIVE):
        row = _row_of_spelling(rows, word[:-2])
    return row


def _row_of_spelling(rows: Mapping[str, int], word: str) -> int:
    row = rows.get(word)
    if row is None:
        row = rows.get(word.lower())
    if row is None:
        row = rows.get(word.title(), -1)
    return row


def unknown_word(rows: Mapping[str, int], word: str) -> KeyError:
    """Return the error for a word without a vector; it names words spelled alike."""
    first = (word[:1].lower(), word[:1].upper())
    alike = [other for other in rows if other[:1] in first and abs(len(other) - len(word)) <= 2]
    near = get_close_matches(word.lower(), alike, n=3)
    hint = f"near in spelling: {', '.join(near)}" if near else "none is near in spelling"
    return KeyError(f"no vector for {word!r} among {len(rows)} words; {hint}")
