"""The choice of a word normaliser."""

from collections.abc import Callable
from typing import TypeAlias

from textkin.text._lemma import Lemmatizer
from textkin.text._stem import Stemmer
from textkin.text._wordnet import WordNetLemmas

__all__ = ["WordNormalizer", "word_normalizer"]

WordNormalizer: TypeAlias = Callable[[str], str]
"""From a word to the form that it is counted under."""

_BY_NAME: dict[str, Callable[[], WordNormalizer]] = {
    "stem": Stemmer,
    "lemma": Lemmatizer,
    "wordnet": WordNetLemmas,
}


def word_normalizer(value: str | WordNormalizer | None) -> WordNormalizer | None:
    """Return the word normaliser that `value` stands for.

    Parameters
    ----------
    value : "stem", "lemma", "wordnet", callable or None
        ``stem`` stands for ``Stemmer()``, ``lemma`` for ``Lemmatizer()`` and ``wordnet`` for
        ``WordNetLemmas()``, all English; a callable from word to word stands for itself, None
        for none.

    Returns
    -------
    callable or None
        From a word to the form that it is counted under.

    Raises
    ------
    ValueError
        If `value` is nothing of these.
    ImportError
        If the extra behind the name is not installed.

    See Also
    --------
    Stemmer, Lemmatizer, WordNetLemmas : The normalisers, some for other languages.

    Examples
    --------
    >>> word_normalizer("wordnet")
    WordNetLemmas()
    >>> word_normalizer(str.upper)("press")
    'PRESS'
    >>> word_normalizer(None) is None
    True
    """
    if value is None:
        return None
    if isinstance(value, str) and value in _BY_NAME:
        return _BY_NAME[value]()
    if callable(value) and not isinstance(value, type):
        return value
    raise ValueError(
        f"a word normaliser must be one of {', '.join(map(repr, _BY_NAME))}, None or a callable "
        f"from word to word; got {value!r}. "
        "For another language pass an object, such as Stemmer('german')."
    )
