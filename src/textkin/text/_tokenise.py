"""The words of a text."""

import re
import unicodedata
from functools import cache
from math import isnan

__all__ = ["described", "normalise", "tokenize"]

_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*")
# Every mark of Unicode lies in planes 0 and 1, but for the variation selectors in plane 14.
_WHERE_MARKS_LIE = (range(0x20000), range(0xE0000, 0xE1000))


def tokenize(text: str, *, lowercase: bool = True) -> list[str]:
    """Split a text into its words.

    A word is a run of letters, marks and numbers (Unicode categories L, M and N) that begins
    with a letter or a number; single apostrophes inside it belong to it. All else, the
    underscore included, separates words. Text that is not ASCII is first brought into the
    normal form NFKC, so that one spelling has one form: ``ﬁ`` becomes ``fi``, full-width
    letters become plain ones, and ``e`` with a combining accent becomes ``é``. The typographic
    apostrophe (U+2019) becomes ``'``.

    Parameters
    ----------
    text : str
        Any text, in any script.
    lowercase : bool, default=True
        Turn each word into lower case.

    Returns
    -------
    list of str
        The words in the order of the text; empty if it has none.

    Raises
    ------
    TypeError
        If `text` is not a str.

    See Also
    --------
    BagOfWords : Count the words of many texts.

    Notes
    -----
    The time is linear in the length of the text. Scripts that are written without spaces
    (Chinese, Japanese, Thai) are not segmented: a run of their characters stays one whole word
    for now.

    A mark without a letter or number before it is no word: the invisible selector that follows
    many emoji, for example.

    References
    ----------
    The Unicode Consortium, Unicode Standard Annex 15, "Unicode Normalization Forms".

    Examples
    --------
    >>> tokenize("The President doesn't greet the snake_case press!")
    ['the', 'president', "doesn't", 'greet', 'the', 'snake', 'case', 'press']
    >>> tokenize("Illinois, 2015", lowercase=False)
    ['Illinois', '2015']
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str; got {described(text)}.")
    if text.isascii():
        return _ASCII_WORD.findall(text.lower() if lowercase else text)
    words: list[str] = _any_word().findall(normalise(text).replace("_", " "))
    # Word by word: the lower case of a Greek sigma depends on the letters around it.
    return [word.lower() for word in words] if lowercase else words


def normalise(text: str) -> str:
    """Return `text` in the form NFKC, with plain apostrophes."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text).replace("\u2019", "'")


@cache
def _any_word() -> re.Pattern[str]:
    """Build the pattern of a word once; to `re`, marks are no word characters."""
    marks = "".join(
        chr(code)
        for codes in _WHERE_MARKS_LIE
        for code in codes
        if unicodedata.category(chr(code)).startswith("M")
    )
    # The look ahead only saves time: no mark is below U+0300, as most characters are.
    piece = rf"\w+(?:(?![\0-\u02ff])[{marks}]+\w*)*"
    return re.compile(f"{piece}(?:'{piece})*")


def described(value: object) -> str:
    """Say what came instead of a text, with the way out if there is one."""
    name = type(value).__name__
    if isinstance(value, bytes | bytearray):
        return f"{name}: decode it first, as in text.decode('utf-8')"
    if value is None or (isinstance(value, float) and isnan(value)):
        return f"{name} ({value}), a missing value: drop it, or put '' in its place"
    return name
