"""The words of a text."""

from math import isnan

from textkin import _core

__all__ = ["described", "normalise", "text_of", "tokenize"]


def tokenize(text: str, *, lowercase: bool = True) -> list[str]:
    """Split a text into its words.

    A word is a run of letters, marks and numbers (Unicode categories L, M and N) that begins
    with a letter or a number; single apostrophes inside it belong to it. All else, the
    underscore and the hyphen included, separates words. Scripts that are written without spaces
    (Chinese and Japanese; Thai, Lao, Khmer and Burmese) give overlapping pairs of characters,
    each with its marks; a character alone is a word.

    The text is first brought into the normal form NFKC, so that one spelling has one form:
    ``ﬁ`` becomes ``fi``, full-width letters become plain ones, and ``e`` with a combining accent
    becomes ``é``. The typographic apostrophe (U+2019) becomes ``'``. Invisible characters (soft
    hyphens, joiners, direction marks, variation selectors) are left out; a zero-width space
    separates.

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
    BagOfWords : Count the words of many texts, with this tokeniser or one of your own.

    Notes
    -----
    What a character is comes from a table of Unicode 15.1 that is part of textkin, so a text has
    the same words on every machine and in every version of Python; characters that are newer
    separate words. The time is linear in the length of the text. Korean is written with spaces
    and is split at them.

    A mark without a letter or number before it is no word. Lower case is that of the Unicode
    standard, with a final sigma at the end of Greek words; German ``ß`` stays.

    References
    ----------
    The Unicode Consortium, Unicode Standard Annex 15, "Unicode Normalization Forms".

    Examples
    --------
    >>> tokenize("The President doesn't greet the snake_case press!")
    ['the', 'president', "doesn't", 'greet', 'the', 'snake', 'case', 'press']
    >>> tokenize("Illinois, 2015", lowercase=False)
    ['Illinois', '2015']
    >>> tokenize("東京都 2015年")
    ['東京', '京都', '2015', '年']
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str; got {described(text)}.")
    return _core.tokenise(text, lowercase)


def normalise(text: str) -> str:
    """Return `text` as the tokeniser reads it: NFKC, plain apostrophes, nothing invisible."""
    return text if text.isascii() else _core.normalise(text)


def text_of(given: object) -> object:
    """Return the text of a document that was read, and anything else as it is."""
    if isinstance(given, str):
        return given
    text = getattr(given, "text", None)
    return text if isinstance(text, str) else given


def described(value: object) -> str:
    """Say what came instead of a text, with the way out if there is one."""
    name = type(value).__name__
    if isinstance(value, bytes | bytearray):
        return f"{name}: decode it first, as in text.decode('utf-8')"
    if value is None or (isinstance(value, float) and isnan(value)):
        return f"{name} ({value}), a missing value: drop it, or put '' in its place"
    return name
