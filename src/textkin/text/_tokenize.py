"""Tokenizer, which splits texts of all languages into words."""

from textkin import _core
from textkin._base import describe_non_text
from textkin.exceptions import ParameterTypeError

__all__ = ["normalize_text", "tokenize"]


def tokenize(text: str, *, lowercase: bool = True) -> list[str]:
    """Split a text into words, in lowercase by default.

    A word is a run of letters, marks, and numbers (Unicode categories L, M, and N) that starts
    with a letter or a number; single apostrophes inside it belong to it. All other characters
    separate words, including the underscore and the hyphen. In scripts without spaces (Chinese and
    Japanese; Thai, Lao, Khmer, and Burmese), the words are overlapping pairs of characters, each
    with its marks; a single character is a word.

    The text is first normalized to NFKC, so that equivalent spellings are equal: ``ﬁ`` becomes
    ``fi``, full-width letters become plain letters, and ``e`` with a combining accent becomes
    ``é``. The typographic apostrophe (U+2019) becomes ``'``. Invisible characters (soft hyphens,
    joiners, direction marks, variation selectors) are removed; a zero-width space separates words.

    Parameters
    ----------
    text : str
        Text in any script.
    lowercase : bool, default=True
        Convert each word to lowercase.

    Returns
    -------
    list of str
        Words in the order of the text; empty if there are none.

    Raises
    ------
    TypeError
        If `text` is not a str.

    See Also
    --------
    BagOfWords : Count the words of many texts, with this or another tokenizer.

    Notes
    -----
    The categories of characters come from a table of Unicode 15.1 that is part of textkin, so a
    text has the same words on every machine and in every version of Python; newer characters
    separate words. The time is linear in the length of the text. Korean text has spaces, and is
    split at them.

    A mark without a letter or number before it is not a word. Lowercase follows the Unicode
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
        raise ParameterTypeError("text", "a str", describe_non_text(text))
    return _core.tokenise(text, lowercase)


def normalize_text(text: str) -> str:
    """Normalize a text as the tokenizer does: NFKC, plain apostrophes, no invisible characters."""
    return text if text.isascii() else _core.normalise(text)
