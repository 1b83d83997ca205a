"""Formatting of values, counts, and hints for error messages and notes."""

from math import isnan
from typing import Any, TypeVar

__all__ = [
    "abbreviate",
    "describe_non_text",
    "describe_value",
    "format_count",
    "hinted",
    "without_hint",
]

_Error = TypeVar("_Error", bound=Exception)


def abbreviate(value: object, length: int = 80) -> str:
    """Return the repr of a value, truncated to about `length` characters.

    Examples
    --------
    >>> abbreviate("a long text", 6)
    "'a long...'"
    """
    if isinstance(value, str) and len(value) > length:  # repr of a very long text is slow
        value = f"{value[:length]}..."
    text = repr(value)
    return text if len(text) <= length + 10 else f"{text[:length]}..."


def describe_value(value: object) -> str:
    """Describe a value for a message: its shortened repr and its type, or "None".

    Examples
    --------
    >>> describe_value(3)
    '3 (int)'
    """
    return "None" if value is None else f"{abbreviate(value, 40)} ({type(value).__name__})"


def describe_non_text(value: object) -> str:
    """Describe the type of a value that should be a text, with a fix if one is known.

    Examples
    --------
    >>> describe_non_text(b"cat")
    "bytes: decode it first, as in text.decode('utf-8')"
    """
    name = type(value).__name__
    if isinstance(value, bytes | bytearray):
        return f"{name}: decode it first, as in text.decode('utf-8')"
    if value is None or (isinstance(value, float) and isnan(value)):
        return f"{name} ({value}), a missing value: drop it, or replace it by ''"
    return name


def format_count(number: int, noun: str) -> str:
    """Format a number with its noun, such as "1 document" or "2,000 documents".

    Examples
    --------
    >>> format_count(1, "field"), format_count(2, "field")
    ('1 field', '2 fields')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def hinted(kind: type[_Error], message: str, hint: str) -> _Error:
    """Create a built-in exception with a message and a hint.

    Parameters
    ----------
    kind : type
        Class of the exception.
    message : str
        Description of the error.
    hint : str
        How to fix it, with code in backticks; added to the message unless it is a part of it.

    Examples
    --------
    >>> error = hinted(KeyError, "no document has the id 'a'.", "Test with `id in index`.")
    >>> error.args[0], error.hint
    ("no document has the id 'a'. Test with `id in index`.", 'Test with `id in index`.')
    """
    error: Any = kind(message if hint in message else f"{message} {hint}")
    error.hint = hint
    found: _Error = error
    return found


def without_hint(error: Exception) -> str:
    """Return the message of an exception with the hint (the advice at its end) removed.

    Examples
    --------
    >>> without_hint(hinted(KeyError, "no document has the id 'a'.", "Test with `id in index`."))
    "no document has the id 'a'."
    """
    message = str(error.args[0]) if error.args else ""
    hint = getattr(error, "hint", "")
    return message.replace(hint, "").rstrip(" ;") if hint else message
